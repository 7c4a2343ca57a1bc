//! Runs in progress: a folder that grows, viewers who come late, and stopping only what is proven to be a run.

use crate::http::{Events, change, get};
use crate::runs::{Lab, Runs, copy};
use record::live::Live;
use serde_json::{Value, json};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command};

const ID: &str = "2026-11-22T05-14-56Z-demo";

/// A run whose second trial has not begun; `aside` holds it.
fn cut() -> (Runs, tempfile::TempDir) {
    let (runs, aside) = (Runs::new(), tempfile::tempdir().unwrap());
    let run = runs.add(ID, |_| {});
    copy(&run.join("trials/0002"), aside.path());
    fs::remove_dir_all(run.join("trials/0002")).unwrap();
    (runs, aside)
}

fn append(path: &Path, lines: &str) {
    let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
    file.write_all(lines.as_bytes()).unwrap();
}

#[test]
fn a_folder_that_grows_is_told_line_by_line_to_all_its_viewers() {
    let (runs, aside) = cut();
    let live = Live::begin(&runs.run(ID)).unwrap();
    let lab = Lab::over(&runs);
    assert_eq!(get(lab.addr, "/api/runs").json()["runs"][0]["state"], "running");
    let path = format!("/api/runs/{ID}/events");
    let mut viewer = Events::open(lab.addr, &path);
    let (name, hello) = viewer.next().unwrap();
    assert_eq!((name.as_str(), hello["progress"]["state"].as_str()), ("hello", Some("running")));
    assert_eq!(hello["trials"].as_array().unwrap().len(), 1);
    assert_eq!(hello["progress"]["trials_planned"], 2);

    // The second trial begins and writes two intervals, the second not whole yet.
    let trial = runs.run(ID).join("trials/0002");
    fs::create_dir(&trial).unwrap();
    let intervals = fs::read_to_string(aside.path().join("intervals.ndjson")).unwrap();
    let lines: Vec<&str> = intervals.lines().collect();
    append(
        &trial.join("counters.ndjson"),
        &fs::read_to_string(aside.path().join("counters.ndjson")).unwrap(),
    );
    let file = trial.join("intervals.ndjson");
    append(&file, &format!("{}\n{}", lines[0], &lines[1][..20]));
    let first = viewer.wait_for("interval");
    let written: Value = serde_json::from_str(lines[0]).unwrap();
    assert_eq!((first["trial"].as_u64(), &first["t_ns"]), (Some(2), &written["end_ns"]));
    assert_eq!((&first["p50_ns"], &first["p99_ns"]), (&written["p50_ns"], &written["p99_ns"]));
    let progress = viewer.wait_for("progress");
    assert_eq!(progress["trial"]["id"], 2);
    assert!(
        progress["left_ns"].as_u64().is_some() && progress["share"].as_f64().unwrap() >= 0.5,
        "{progress}"
    );
    assert!(!progress["counters"].as_array().unwrap().is_empty(), "{progress}");

    // One who comes later gets what was missed, and then the same.
    let mut late = Events::open(lab.addr, &path);
    assert_eq!(late.next().unwrap().1["intervals"].as_array().unwrap().len(), 1);
    append(&file, &format!("{}\n", &lines[1][20..]));
    assert_eq!(viewer.wait_for("interval"), late.wait_for("interval"));

    // The trial ends, then the run.
    copy(aside.path(), &trial);
    let ended = viewer.wait_for("trial");
    assert_eq!((ended["id"].as_u64(), ended["outcome"].as_str()), (Some(2), Some("valid")));
    assert!(ended["throughput_per_s"].as_f64().unwrap() > 0.0 && ended["p50_ns"].as_u64().is_some());
    drop(live);
    for events in [&mut viewer, &mut late] {
        let end = events.wait_for("end");
        assert_eq!(
            (end["card"]["state"].as_str(), end["card"]["trials_done"].as_u64()),
            (Some("done"), Some(2))
        );
        assert_eq!(events.next(), None, "the stream ends");
    }
}

#[test]
fn a_plan_that_grows_is_told() {
    let (runs, _aside) = cut();
    let live = Live::begin(&runs.run(ID)).unwrap();
    let lab = Lab::over(&runs);
    let mut viewer = Events::open(lab.addr, &format!("/api/runs/{ID}/events"));
    assert_eq!(viewer.wait_for("hello")["order"].as_array().unwrap().len(), 2);
    let file = runs.run(ID).join("run.json");
    let mut run: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    run["plan"]["order"].as_array_mut().unwrap().push(json!({ "id": 3, "block": 2, "cell": "c1" }));
    record::write_whole(&file, &serde_json::to_vec(&run).unwrap()).unwrap();
    assert_eq!(viewer.wait_for("plan").as_array().unwrap().len(), 3);
    drop(live);
    assert_eq!(viewer.wait_for("end")["card"]["state"], "interrupted");
}

#[test]
fn a_run_that_has_ended_is_told_as_a_whole_and_ends_at_once() {
    let runs = Runs::new();
    runs.add(ID, |_| {});
    // What a crash left behind does not make it a run in progress.
    let live = Live::begin(&runs.run(ID)).unwrap();
    let mark = fs::read_to_string(runs.run(ID).join("live.json")).unwrap();
    drop(live);
    let mut stale: Value = serde_json::from_str(&mark).unwrap();
    stale["start_ticks"] = json!(1);
    fs::write(runs.run(ID).join("live.json"), stale.to_string()).unwrap();
    let lab = Lab::over(&runs);
    let mut viewer = Events::open(lab.addr, &format!("/api/runs/{ID}/events"));
    let hello = viewer.wait_for("hello");
    assert_eq!(hello["trials"].as_array().unwrap().len(), 2);
    assert_eq!(viewer.wait_for("end")["card"]["state"], "done");
    assert_eq!(viewer.next(), None);
}

/// A process that does nothing, ended with its handle.
struct Idle(Child);

impl Idle {
    fn new() -> Self {
        // Of a test that runs in the background of a shell, SIGINT is ignored, and so it would be here.
        let command = ["--default-signal=INT", "sleep", "600"];
        Self(Command::new("env").args(command).spawn().expect("env and sleep are there"))
    }

    /// The mark of this process, as it would write it itself.
    fn mark(&self) -> Value {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.0.id())).unwrap();
        let start = stat.rsplit_once(')').unwrap().1.split_ascii_whitespace().nth(19).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let own = Live::begin(folder.path()).unwrap();
        let mut mark: Value =
            serde_json::from_slice(&fs::read(folder.path().join("live.json")).unwrap()).unwrap();
        drop(own);
        mark["pid"] = self.0.id().into();
        mark["start_ticks"] = start.parse::<u64>().unwrap().into();
        mark
    }
}

impl Drop for Idle {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn only_a_process_that_is_proven_to_be_the_runs_is_stopped() {
    let (runs, _aside) = cut();
    let lab = Lab::over(&runs);
    let mut idle = Idle::new();
    let path = format!("/api/runs/{ID}/stop");
    let mark = runs.run(ID).join("live.json");
    change(lab.addr, "POST", &path, "").refused(409, "no process can be proven");
    let mut earlier = idle.mark();
    earlier["start_ticks"] = (earlier["start_ticks"].as_u64().unwrap() - 1).into();
    let mut other_boot = idle.mark();
    other_boot["boot"] = "another".into();
    let mut elsewhere = idle.mark();
    elsewhere["pid_namespace"] = 1.into();
    let mut nobody = idle.mark();
    nobody["pid"] = 0.into();
    for foreign in [earlier, other_boot, elsewhere, nobody, json!({}), json!("x")] {
        fs::write(&mark, foreign.to_string()).unwrap();
        change(lab.addr, "POST", &path, "").refused(409, "no process can be proven");
        assert!(idle.0.try_wait().unwrap().is_none(), "{foreign} was no proof");
    }
    fs::write(&mark, idle.mark().to_string()).unwrap();
    let accepted = change(lab.addr, "POST", &path, "");
    assert_eq!(accepted.status, 202, "{}", accepted.text());
    assert_eq!(idle.0.wait().unwrap().signal(), Some(2), "it was interrupted, as by Ctrl-C");
    change(lab.addr, "POST", &path, "").refused(409, "no process can be proven");
}
