//! `prony soak` against the reference target with leaks of known size: verdicts, exit codes, files, resumption.

use crate::command::{Done, bad, done, good, measured, prony, turn};
use crate::load::check_schema;
use crate::run::read;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// A soak of the reference target with these settings, at a rate of 200 per second.
struct Soak {
    folder: tempfile::TempDir,
    file: PathBuf,
    _turn: std::sync::MutexGuard<'static, ()>,
}

impl Soak {
    fn new(target: &str) -> Self {
        let turn = turn();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("soak.toml");
        let text = format!(
            "[experiment]\nname = \"soak\"\n[[target]]\nname = \"svc\"\n{target}\n\
             [scenario]\nrequest = {{ path = \"/ping\" }}\n\
             [load]\nmodel = \"open\"\nrate = 200\nconnections = 4\n\
             [phases]\nwarmup = {{ at_least = \"500ms\", at_most = \"500ms\" }}\n"
        );
        std::fs::write(&file, text).unwrap();
        Self { folder, file, _turn: turn }
    }

    fn args<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        let mut args =
            vec!["soak", self.file.to_str().unwrap(), "--runs", self.folder.path().to_str().unwrap()];
        args.extend(more);
        args
    }

    fn run(&self) -> PathBuf {
        let is_run = |path: &PathBuf| path.join("trials").is_dir();
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        entries.map(|entry| entry.unwrap().path()).find(is_run).expect("there is a run folder")
    }
}

fn trend<'a>(soak: &'a Value, counter: &str) -> &'a Value {
    let trends = soak["trends"].as_array().unwrap();
    trends
        .iter()
        .find(|trend| trend["counter"] == counter)
        .unwrap_or_else(|| panic!("no {counter} in {soak:#}"))
}

fn check_files(run: &Path, segments: usize) -> Value {
    let analysis = read(&run.join("analysis.json"));
    check_schema("analysis", &analysis);
    check_schema("soak", &analysis["soak"]);
    assert_eq!(analysis["answer"], analysis["soak"]["answer"]);
    for number in 1..=segments {
        let trial = run.join(format!("trials/{number:04}"));
        check_schema("segment", &read(&trial.join("segment.json")));
        let text = std::fs::read_to_string(trial.join("windows.ndjson")).unwrap();
        for line in text.lines() {
            check_schema("window", &serde_json::from_str(line).unwrap());
        }
    }
    for name in ["report.md", "report.html", "results.csv"] {
        assert!(run.join(name).metadata().unwrap().len() > 300, "{name}");
    }
    analysis["soak"].clone()
}

fn exit_code(done: &Done, wanted: i32) {
    assert_eq!(done.code, wanted, "{}\n{}", done.out, done.err);
}

#[test]
fn a_leak_of_memory_and_descriptors_is_found_and_ends_the_soak() {
    // 64 KiB a request at 200 a second are 12.5 MiB a second.
    let soak = Soak::new("reference = { leak_memory = \"64KiB\", leak_descriptors = 20 }");
    let done = done(&soak.args(&["--for", "30s", "--window", "300ms", "--horizon", "12h"]));
    exit_code(&done, 3);
    assert!(done.out.contains("leaks") && done.out.contains("Soak"), "{}", done.out);
    assert!(done.err.contains("leak ("), "the verdict is printed while it runs: {}", done.err);
    let report = check_files(&soak.run(), 1);
    assert_eq!(report["verdict"], "leak");
    assert!(report["windows"].as_u64().unwrap() < 100, "it ended before its time: {report:#}");
    for (counter, per_h) in [("memory", 200.0 * 65_536.0 * 3600.0), ("descriptors", 10.0 * 3600.0)] {
        let trend = trend(&report, counter);
        let (class, slope) = (&trend["class"], trend["slope_per_h"].as_f64().unwrap());
        assert!((slope / per_h - 1.0).abs() < 0.1, "{counter}: {slope} for {per_h}");
        assert!(class == "leak" || class == "cannot_tell", "{counter}: {class}");
        assert!(trend["limit"]["value"].as_f64().unwrap() > 0.0);
    }
    // The report is a function of the folder, and says the same.
    let again = crate::command::done(&["report", soak.run().to_str().unwrap()]);
    exit_code(&again, 3);
    assert_eq!(check_files(&soak.run(), 1), report);
    for (format, mark) in [("markdown", "## Soak"), ("html-plain", "id=\"soak\""), ("json", "prony.soak/3")] {
        let printed = crate::command::done(&["report", soak.run().to_str().unwrap(), "--format", format]);
        assert!(printed.out.contains(mark), "{format}");
    }
}

#[test]
#[ignore = "soaks a third time, ten seconds; run by `make test-all`"]
fn a_leak_beyond_the_horizon_rises_and_is_not_steady() {
    // 64 KiB a request at 200 a second are 45 GiB an hour: after the horizon of 10 s, but no steady memory.
    let soak = Soak::new("reference = { leak_memory = \"64KiB\" }");
    let done = done(&soak.args(&["--for", "9s", "--window", "300ms", "--horizon", "10s"]));
    let report = check_files(&soak.run(), 1);
    let memory = trend(&report, "memory");
    assert_eq!((&report["verdict"], &memory["class"]), (&"rising".into(), &"rising".into()), "{}", done.out);
    assert!(memory["exhausted_in_ns"].as_u64().is_some_and(|ns| ns > 10_000_000_000), "{memory}");
    assert!(done.out.contains("memory: rising - rises by"), "{}", done.out);
    // A busy host may void the load; then the exit code says so.
    let believed = read(&soak.run().join("analysis.json"))["belief"]["level"] != "no";
    exit_code(&done, if believed { 0 } else { 2 });
}

#[test]
fn a_dry_run_shows_windows_thresholds_and_alarms_and_makes_no_folder() {
    let soak = Soak::new(
        "reference = { mean = \"200us\" }\n[[threshold]]\ntext = \"fast enough\"\nmetric = \"p99\"\nis = \"< 50ms\"",
    );
    let wanted = ["--for", "1h", "--horizon", "7d", "--dry-run", "--alarm", "errors > 5% for 2m"];
    let plan = good(&soak.args(&wanted)).out;
    for said in [
        "phases\n  warm-up 500ms, then 60 samples of 1m\n",
        "soak\n  each sample is a window; counters are read every 1s; it ends once a leak is certain\n",
        "  what is not exhausted within 168h is no leak\n",
        "  thresholds: fast enough\n",
        "  alarms: errors > 5% for 2m\n",
        "\n1 trial, 60.0 minutes of load\n",
    ] {
        assert!(plan.contains(said), "no `{said}` in\n{plan}");
    }
    let plan: Value =
        serde_json::from_str(&good(&soak.args(&[&wanted[..], &["--format", "json"]].concat())).out).unwrap();
    assert_eq!(plan["soak"]["windows"], 60);
    assert_eq!(
        std::fs::read_dir(soak.folder.path()).unwrap().count(),
        1,
        "only the experiment file is there"
    );
    bad(&["soak", "--resume", "runs/none", "--dry-run"], 1, &["--dry-run", "--resume"]);
}

#[test]
fn a_threshold_on_a_counter_is_held_against_every_window() {
    let soak = Soak::new(
        "reference = { mean = \"200us\" }\n\
         [[threshold]]\ntext = \"few threads\"\nmetric = { counter = \"target.process/threads\" }\nis = \"< 1\"\n\
         [[threshold]]\nmetric = { counter = \"target.process/cpu_ns\", per = \"request\" }\nis = \"< 1s\"",
    );
    let done = done(&soak.args(&["--for", "9s", "--window", "300ms", "--horizon", "10s"]));
    assert!(done.err.contains("window 1 crosses a threshold: few threads"), "reported at once: {}", done.err);
    assert!(done.out.contains("Thresholds") && done.out.contains("few threads"), "{}", done.out);
    let report = check_files(&soak.run(), 1);
    let [threads, cpu] = [0, 1].map(|place| &report["thresholds"][place]);
    assert_eq!((&threads["verdict"], &threads["crossed"]), (&"crossed".into(), &report["windows"]));
    assert_eq!(cpu["verdict"], "kept", "{cpu:#}");
    trend(&report, "cpu_per_request");
    // The report alone does not ask whether the load can be believed.
    exit_code(&crate::command::done(&["report", soak.run().to_str().unwrap()]), 3);
}

#[test]
fn without_a_leak_it_runs_to_its_end_and_is_resumed_in_a_new_segment() {
    let soak = Soak::new("reference = { mean = \"200us\" }");
    let mut child =
        prony(&soak.args(&["--for", "12s", "--window", "200ms", "--horizon", "60s", "--format", "json"]))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
    let windows = |run: &Path| {
        let text = std::fs::read_to_string(run.join("trials/0001/windows.ndjson")).unwrap_or_default();
        text.lines().count()
    };
    let began = Instant::now();
    let has_run =
        || std::fs::read_dir(soak.folder.path()).unwrap().any(|e| e.unwrap().path().join("trials").is_dir());
    while !(has_run() && windows(&soak.run()) >= 35) {
        assert!(began.elapsed() < Duration::from_secs(60), "no windows came");
        if child.try_wait().unwrap().is_some() {
            let ended: Done = child.wait_with_output().unwrap().into();
            panic!("it ended by itself, with {}:\n{}\n{}", ended.code, ended.err, ended.out);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let first: Done = child.wait_with_output().unwrap().into();
    exit_code(&first, 130);
    assert!(first.err.contains("prony soak --resume"), "{}", first.err);
    let run = soak.run();
    let report = check_files(&run, 1);
    let so_far = report["windows"].as_u64().unwrap();
    assert!((35..60).contains(&so_far), "{so_far}");
    assert_eq!(report["segments"].as_array().unwrap().len(), 1);

    // As an experiment it is not resumed: that would throw the windows away.
    bad(&["run", "--resume", run.to_str().unwrap()], 1, &["is a soak", "prony soak --resume"]);
    let second = measured(&["soak", "--resume", run.to_str().unwrap()]);
    assert!(second.err.contains("segment 2"), "{}", second.err);
    let report = check_files(&run, 2);
    let segments = report["segments"].as_array().unwrap();
    assert_eq!(segments.len(), 2);
    assert_eq!(segments[1]["windows"].as_u64(), Some(30.max(60 - so_far)));
    assert_ne!(report["verdict"], "leak");
    assert!(report["notes"][0]["text"].as_str().unwrap().contains("2 times"), "{report:#}");
    for counter in ["memory", "descriptors", "threads", "connections", "throughput"] {
        trend(&report, counter);
    }
    // A window of 40 requests gives a median and no p99.
    trend(&report, "p50");
    assert!(report["trends"].as_array().unwrap().iter().all(|trend| trend["counter"] != "p99"), "{report:#}");
    assert_eq!(trend(&report, "threads")["class"], "steady");

    // There is nothing left to do.
    let third = measured(&["soak", "--resume", run.to_str().unwrap()]);
    assert!(third.err.contains("has ended"), "{}", third.err);
    assert_eq!(check_files(&run, 2), report);
}

#[test]
fn mistakes_are_told_before_anything_runs() {
    let soak = Soak::new("reference = { mean = \"200us\" }");
    bad(&soak.args(&[]), 1, &["--for"]);
    bad(&soak.args(&["--for", "1s"]), 1, &["windows of", "--window"]);
    bad(&soak.args(&["--for", "10m", "--window", "1m"]), 1, &["10 windows", "from 30 to 2000"]);
    bad(&soak.args(&["--for", "1m", "--cell", "c9"]), 1, &["there is no cell c9", "c1"]);
    bad(&soak.args(&["--for", "1m", "--horizon", "0s"]), 1, &["horizon"]);
    bad(&["soak", "--resume", "/nonexistent/prony"], 1, &["no run folder"]);
    // Only one may have its turn.
    drop(soak);
    let soak = Soak::new("reference = { mean = \"200us\" }\n[[threshold]]\nmetric = \"p95\"\nis = \"< 1s\"");
    bad(&soak.args(&["--for", "1m"]), 1, &["does not keep p95 of each window", "error_rate", "a counter"]);
}
