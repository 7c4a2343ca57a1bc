//! `prony calibrate`: measured, kept, shown, and used by loads and runs before they begin.

use crate::command::{Done, Server, prony, turn};
use crate::load::{check_report, check_schema};
use crate::run::{Lab, read};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Runs with this folder for the state.
fn with(state: &Path, args: &[&str]) -> Done {
    prony(args).env("XDG_STATE_HOME", state).output().expect("prony starts").into()
}

fn good(state: &Path, args: &[&str]) -> Done {
    let done = with(state, args);
    assert!(done.is_good(), "{args:?}: {}\n{}\n{}", done.code, done.out, done.err);
    done
}

/// The one file that is kept.
fn kept(state: &Path) -> PathBuf {
    let folder = state.join("prony/calibration");
    let mut files = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let file = files.next().expect("a calibration is kept");
    assert!(files.next().is_none(), "one file a host, and nothing half written");
    file
}

/// Every spread within: the smallest is not above the median, nor that above the largest.
fn check_spreads(value: &Value) -> usize {
    let own = value.get("median").and_then(Value::as_f64).map(|median| {
        let end = |key: &str| value[key].as_f64().unwrap();
        assert!(end("min") <= median && median <= end("max"), "{value}");
    });
    let parts: Vec<&Value> = match value {
        Value::Object(map) => map.values().collect(),
        Value::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    };
    own.map_or(0, |()| 1) + parts.into_iter().map(check_spreads).sum::<usize>()
}

#[test]
fn the_instrument_is_measured_kept_and_shown() {
    let _turn = turn();
    let state = tempfile::tempdir().unwrap();
    let none = with(state.path(), &["calibrate", "--show"]);
    assert_eq!(none.code, 1);
    assert!(none.err.contains("not calibrated; run `prony calibrate`"), "{}", none.err);
    let done = good(state.path(), &["calibrate", "--quick", "--for", "3s", "--format", "json"]);
    let found: Value = serde_json::from_str(&done.out).unwrap();
    check_schema("calibration", &found);
    assert!(check_spreads(&found) > 20);
    let error = found["histogram"]["relative_max"].as_f64().unwrap();
    assert!(error > 0.0 && error <= 0.001, "3 significant digits, not {error}");
    let limits = &found["drivers"][0];
    assert_eq!(limits["driver"], "epoll");
    for kind in ["max_rate_by_connections", "lag_by_rate", "overhead_per_request"] {
        assert!(!limits[kind].as_array().unwrap().is_empty(), "{kind}: {limits}");
    }
    let max = limits["max_rate_by_connections"].as_array().unwrap();
    assert!(max.iter().all(|point| point["limit_per_s"].as_f64() >= point["rate_per_s"]["median"].as_f64()));
    assert_eq!(read(&kept(state.path())), found);
    let shown = good(state.path(), &["calibrate", "--show", "--format", "json"]);
    assert_eq!(serde_json::from_str::<Value>(&shown.out).unwrap(), found);
    let file = state.path().join("out.txt");
    good(state.path(), &["calibrate", "--show", "-o", file.to_str().unwrap()]);
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.contains("What it means") && text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn mistakes_are_told_before_anything_is_measured() {
    let state = tempfile::tempdir().unwrap();
    for (args, said) in [
        (&["calibrate", "--for", "1s"][..], "--for 1s is out of range"),
        (&["calibrate", "--pin", "99999:0"], "99999"),
        (&["calibrate", "--show", "--quick"], "cannot be used with"),
    ] {
        let done = with(state.path(), args);
        assert_eq!(done.code, 1, "{args:?}");
        assert!(done.err.contains(said), "{args:?}: {}", done.err);
    }
    assert!(!state.path().join("prony").exists());
}

/// A calibration of this host by hand: one worker, 100/s, 1 ms late at 50/s.
pub(crate) fn plant(state: &Path, kernel: Option<&str>) {
    let spread = |value: f64| json!({ "median": value, "min": value, "max": value });
    let mut host = serde_json::to_value(runner::calibrate::identity().unwrap()).unwrap();
    if let Some(kernel) = kernel {
        host["kernel"] = kernel.into();
    }
    let nothing = spread(0.0);
    let file = json!({
        "schema": "prony.calibration/2", "host": host, "measured_wall": "2026-11-21T09:30:00Z", "took_ns": 1,
        "pin": { "generator": null, "target": null, "weakness": null }, "repeats": 3, "seed": 1,
        "clock": { "step_ns": nothing, "read_ns": nothing, "wake_late_p50_ns": nothing, "wake_late_p99_ns": nothing },
        "histogram": { "values": 1, "relative_max": 0.0, "at_ns": 1 },
        "fixed_work": { "runs": 1, "median_ns": 1.0, "variation": 0.0, "p99_over_median": 1.0 },
        "disturbed": null,
        "drivers": [{
            "driver": "epoll",
            "max_rate_by_connections": [{
                "connections": 1, "rate_per_s": spread(100.0), "cpu_per_request_ns": spread(1e7),
                "busy_share": spread(1.0), "server_limited": false, "limit_per_s": 100.0
            }],
            "lag_by_rate": [{
                "rate_per_s": 50.0, "requests": 50, "lag_p50_ns": spread(1e3), "lag_p99_ns": spread(1e6),
                "lag_max_ns": spread(1e6), "achieved_share": spread(1.0)
            }],
            "overhead_per_request": []
        }]
    });
    check_schema("calibration", &file);
    let host: schema::calibration::CalibrationFile = serde_json::from_value(file).unwrap();
    runner::calibrate::write(&state.join("prony/calibration"), &host).unwrap();
}

#[test]
fn a_load_beyond_the_instrument_is_told_before_it_starts_and_recorded() {
    let _turn = turn();
    let state = tempfile::tempdir().unwrap();
    let server = Server::start(&[]);
    let url = server.url("/");
    let load = |more: &[&str]| {
        let mut args = vec!["load", &url, "-d", "100ms", "-c", "2", "-t", "1", "--driver", "epoll"];
        args.extend(more);
        good(state.path(), &args)
    };
    let before = load(&[]);
    assert!(before.out.contains("instrument   not calibrated: run `prony calibrate`"), "{}", before.out);
    plant(state.path(), None);
    let asked = load(&["-R", "1000"]);
    assert!(
        asked.err.contains("the instrument gives at most 100 per second there, 10 times that is asked for")
    );
    assert!(asked.err.contains("remedy: use 13 workers"), "{}", asked.err);
    assert!(
        asked.out.contains("instrument   max 100/s on 2 connections with 1 worker (epoll)"),
        "{}",
        asked.out
    );
    let late = load(&["-R", "40"]);
    assert!(late.err.contains("1 ms late there (p99)") && late.err.contains("above 20 ms"), "{}", late.err);
    let report: Value = serde_json::from_str(&load(&["-R", "1000", "--format", "json"]).out).unwrap();
    check_report(&report);
    assert_eq!(report["instrument_limit"]["max_rate_per_s"], 100.0);
    assert_eq!(report["instrument_limit"]["shortfalls"].as_array().unwrap().len(), 1);
    assert!(!load(&[]).err.contains("warning"), "a closed load asks for no rate");
    plant(state.path(), Some("1.2.3"));
    let stale = load(&[]).out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(stale.contains("stale, the kernel was 1.2.3 and is"), "{stale}");
    std::fs::write(kept(state.path()), "{}").unwrap();
    let damaged = load(&[]);
    assert!(damaged.err.contains("not readable as prony.calibration/2"), "{}", damaged.err);
    assert!(damaged.out.contains("not calibrated"), "{}", damaged.out);
}

#[test]
fn a_run_beyond_the_instrument_is_told_before_it_starts_and_is_a_reservation_of_it() {
    let lab = Lab::new("[[target]]\nname = \"one\"\nreference = { mean = \"0s\" }", "", "blocks = 1");
    let text = std::fs::read_to_string(&lab.file).unwrap();
    std::fs::write(
        &lab.file,
        text.replace("model = \"closed\"", "model = \"open\"\nrate = 400\ndriver = \"epoll\""),
    )
    .unwrap();
    let state = tempfile::tempdir().unwrap();
    plant(state.path(), None);
    let file = lab.file.to_str().unwrap();
    let dry = good(state.path(), &["run", file, "--dry-run"]);
    assert!(dry.err.contains("warning: ") && dry.err.contains("at most 100 per second"), "{}", dry.err);
    assert!(dry.out.contains("instrument\n  max 100/s on 4 connections"), "{}", dry.out);
    let plan = good(state.path(), &["run", file, "--dry-run", "--format", "json"]);
    assert!(serde_json::from_str::<Value>(&plan.out).is_ok() && plan.err.contains("warning: "));
    // A busy machine may void the one trial; that it was reported beforehand does not depend on it.
    let done = with(state.path(), &lab.args());
    let told = done.err.find("at most 100 per second").expect("it is told");
    assert!(told < done.err.find("preparing").expect("the target is prepared"), "{}", done.err);
    let run = lab.run();
    let stored = read(&run.join("run.json"));
    check_schema("run", &stored);
    assert_eq!(stored["calibration"]["max_rate_per_s"], 100.0);
    let notes = read(&run.join("analysis.json"))["belief"]["notes"].to_string();
    assert!(notes.contains("at most 100 per second"), "{notes}");
    for format in ["markdown", "html-plain"] {
        let text = with(state.path(), &["report", run.to_str().unwrap(), "--format", format]).out;
        assert!(text.contains("Instrument: max 100/s on 4 connections"), "{format}");
    }
    let trial = read(&run.join("trials/0001/trial.json"));
    check_schema("trial", &trial);
    assert!(trial["canary"]["before"]["median_ns"].as_f64() > Some(0.0), "{}", trial["canary"]);
    let gates = trial["load"]["validity"]["gates"].as_array().unwrap();
    let gate = gates.iter().find(|gate| gate["gate"] == "canary").expect("the canary is a gate");
    assert_eq!(gate["value"].as_f64(), trial["canary"]["drift"].as_f64().map(f64::abs));
}
