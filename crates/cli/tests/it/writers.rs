//! What one command writes, the next takes: every writer of scenarios and experiments, and a dry run of what it wrote.

use crate::command::{Server, done, good, root};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The plan of an experiment, which nobody runs.
fn takes(experiment: &Path) -> String {
    let plan = good(&["run", text(experiment), "--dry-run"]);
    assert!(plan.out.contains("phases"), "{}", plan.out);
    plan.out
}

/// An access log of a request every `step_s` seconds for `span_s` seconds, from 2026-11-20.
fn log(path: &Path, span_s: u64, step_s: u64) {
    let mut lines = String::new();
    for at in (0..=span_s).step_by(usize::try_from(step_s).unwrap()) {
        let (day, second) = (20 + at / 86_400, at % 86_400);
        let (h, m, s) = (second / 3600, second / 60 % 60, second % 60);
        let path = ["/", "/items/7?q=a", "/items/8?q=%22b%22"][(at / step_s % 3) as usize];
        let _ = writeln!(
            lines,
            "10.0.0.{} - - [{day}/Nov/2026:{h:02}:{m:02}:{s:02} +0000] \"GET {path} HTTP/1.1\" 200 12",
            at % 7
        );
    }
    std::fs::write(path, lines).unwrap();
}

#[test]
fn a_run_takes_what_model_writes_however_long_the_log_and_odd_its_name() {
    let folder = tempfile::tempdir().unwrap();
    for (name, span_s, step_s, send) in [
        ("short.log", 120, 1, "recorded"),
        ("three days.log", 259_199, 977, "recorded"),
        ("access.log.1", 259_199, 977, "auto"),
        ("(odd) näme!.log", 100_000, 400, "recorded"),
        (".hidden.log", 90_000, 300, "fitted"),
    ] {
        let (file, out) = (folder.path().join(name), folder.path().join(format!("out-{name}")));
        log(&file, span_s, step_s);
        let made = done(&["model", text(&file), "--out", text(&out), "--send", send]);
        if send == "fitted" && made.err.contains("no law could be fitted") {
            continue;
        }
        assert_eq!(made.code, 0, "{name}: {}", made.err);
        let experiments: Vec<PathBuf> =
            std::fs::read_dir(out.join("experiments")).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(experiments.len(), 1, "{name}");
        let plan = takes(&experiments[0]);
        let days = usize::try_from(span_s / 86_400).unwrap() + 1;
        let samples = if days == 1 { "1 sample of".to_owned() } else { format!("{days} samples of") };
        assert!(plan.contains(&samples), "{name}: all of the log is measured: {plan}");
    }
}

#[test]
fn a_run_takes_what_import_writes() {
    let folder = tempfile::tempdir().unwrap();
    for (number, input) in ["targets.vegeta.json", "shop.har", "h2load.txt"].into_iter().enumerate() {
        let fixture = root().join("crates/import/tests/fixtures").join(input);
        let scenario = folder.path().join(format!("scenarios/s{number}.toml"));
        std::fs::create_dir_all(scenario.parent().unwrap()).unwrap();
        good(&["import", text(&fixture), "-o", text(&scenario)]);
        let experiment = folder.path().join(format!("e{number}.toml"));
        let lines = format!(
            "[experiment]\nname = \"imported\"\n[[target]]\nurl = \"http://127.0.0.1:9\"\n[scenario]\nuse = \"s{number}\"\n\
             [load]\nmodel = \"closed\"\nconnections = 2\n"
        );
        std::fs::write(&experiment, lines).unwrap();
        takes(&experiment);
    }
}

#[test]
fn a_run_takes_the_experiment_that_a_knee_kept() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(&[]);
    // Whatever a busy machine makes of the trials, the experiment is kept.
    let ran = done(&[
        "knee",
        &server.url("/a?b=c"),
        "--ladder",
        "1,2",
        "--blocks",
        "1",
        "-d",
        "200ms",
        "--warmup",
        "0s",
        "--runs",
        text(folder.path()),
    ]);
    let run = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.join("trials").is_dir())
        .unwrap_or_else(|| panic!("{}", ran.err));
    // The text of the experiment is kept in `run.json`, for whoever wants to run it again.
    let kept = crate::run::read(&run.join("run.json"));
    let experiment = folder.path().join("again.toml");
    std::fs::write(&experiment, kept["experiment_text"].as_str().expect("the text is kept")).unwrap();
    let plan = takes(&experiment);
    assert!(plan.contains("knee-127-0-0-1"), "{plan}");
}

#[test]
fn a_replay_is_of_the_logs_window_and_named_by_its_request() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("access.json");
    let mut lines = String::new();
    for at in 0..60_u64 {
        let ns = at * 20_000_000;
        let _ = writeln!(
            lines,
            "{{\"time\": \"2026-11-20T10:00:{:02}.{:03}Z\", \"method\": \"GET\", \"path\": \"/item/{at}\", \"status\": 200}}",
            ns / 1_000_000_000,
            ns / 1_000_000 % 1000
        );
    }
    std::fs::write(&file, lines).unwrap();
    let server = Server::start(&[]);
    let url = server.url("");
    let replayed =
        done(&["replay", text(&file), "--url", url.trim_end_matches('/'), "--", "--format", "json"]);
    assert!(replayed.is_good(), "{}", replayed.err);
    assert!(!replayed.err.contains("${"), "{}", replayed.err);
    assert!(replayed.err.contains("replay: GET requests to http://127.0.0.1"), "{}", replayed.err);
    let report: serde_json::Value = serde_json::from_str(&replayed.out).unwrap();
    // 60 requests with gaps of 20 ms are 1.2 s, at 50 a second.
    assert_eq!(report["window"]["duration_ns"], 1_200_000_000_u64, "{}", report["window"]);
    assert_eq!(report["requests"]["scheduled"], 60, "{}", report["requests"]);
    let asked = report["plan"]["load"]["rate_per_s"].as_f64().unwrap();
    let rate = report["requests"]["scheduled"].as_f64().unwrap() / 1.2;
    assert!((asked - 50.0).abs() < 0.1 && (rate - asked).abs() < 0.1, "{asked} {rate}");
}
