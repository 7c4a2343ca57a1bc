//! Starting an experiment: only files of the lab's folder, one at a time, and unlike the lab itself.

use crate::http::{change, get};
use crate::runs::{Lab, Runs, options};
use serde_json::Value;
use serve::Options;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const EXPERIMENT: &str = "[experiment]\nname = \"small\"\nquestion = \"Is <b>it</b> fast?\"\n";

/// A folder of experiments, and in prony's place a program that tells what it was asked and waits for a word.
struct Place {
    folder: tempfile::TempDir,
    runs: Runs,
}

impl Place {
    fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap(), runs: Runs::new() };
        let experiments = place.experiments();
        fs::create_dir_all(experiments.join("more")).unwrap();
        fs::write(experiments.join("small.toml"), EXPERIMENT).unwrap();
        fs::write(experiments.join("more/other.toml"), EXPERIMENT.replace("small", "other")).unwrap();
        fs::write(experiments.join("wrong.toml"), "[experiment]\nnaem = 1\n").unwrap();
        fs::write(experiments.join("notes.txt"), "no experiment").unwrap();
        fs::write(place.folder.path().join("outside.toml"), EXPERIMENT).unwrap();
        std::os::unix::fs::symlink("../outside.toml", experiments.join("linked.toml")).unwrap();
        let script = "#!/bin/sh\necho \"asked: $*\"\necho \"by: $PRONY_LAUNCHED_BY\"\necho \"nice: $(nice)\"\n\
                      read word < \"$(dirname \"$0\")/fifo\"\necho \"told: $word\"\nexit 3\n";
        fs::write(place.launcher(), script).unwrap();
        fs::set_permissions(place.launcher(), fs::Permissions::from_mode(0o755)).unwrap();
        let made = std::process::Command::new("mkfifo").arg(place.fifo()).status().unwrap();
        assert!(made.success());
        place
    }

    fn experiments(&self) -> PathBuf {
        self.folder.path().join("experiments")
    }

    fn launcher(&self) -> PathBuf {
        self.folder.path().join("prony")
    }

    fn fifo(&self) -> PathBuf {
        self.folder.path().join("fifo")
    }

    fn lab(&self) -> Lab {
        Lab::open(Options {
            experiments: Some(self.experiments()),
            launcher: self.launcher(),
            is_quiet: true,
            only_metrics: false,
            ..options(self.runs.path())
        })
    }
}

/// Asks again until what is asked for holds.
#[track_caller]
fn until(lab: &Lab, holds: impl Fn(&Value) -> bool) -> Value {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let list = get(lab.addr, "/api/experiments").json();
        if holds(&list) {
            return list;
        }
        assert!(Instant::now() < end, "it never held: {list}");
        std::thread::yield_now();
    }
}

fn own_nice() -> String {
    let nice = std::process::Command::new("nice").output().unwrap().stdout;
    String::from_utf8(nice).unwrap().trim().to_owned()
}

#[test]
fn files_of_the_folder_are_listed_with_what_is_wrong_with_them() {
    let place = Place::new();
    let lab = place.lab();
    let list = get(lab.addr, "/api/experiments").json();
    let cards = list["experiments"].as_array().unwrap();
    let files: Vec<_> = cards.iter().map(|card| card["file"].as_str().unwrap()).collect();
    assert_eq!(files, ["small.toml", "wrong.toml", "more/other.toml"]);
    assert_eq!(
        (cards[0]["question"].as_str(), &cards[0]["error"]),
        (Some("Is <b>it</b> fast?"), &Value::Null)
    );
    assert!(cards[1]["error"]["text"].as_str().unwrap().contains("naem"), "{}", cards[1]);
    assert!(list["busy"].is_null());
}

#[test]
fn only_listed_files_are_started_and_only_one_at_a_time() {
    let place = Place::new();
    let nice = own_nice();
    let lab = place.lab();
    let start = |file: &str| change(lab.addr, "POST", &format!("/api/experiments/{file}/start"), "");
    for foreign in [
        "none.toml",
        "..%2Foutside.toml",
        "linked.toml",
        "notes.txt",
        "small.toml%20--consent%20x",
        "--help",
        "%2Fetc%2Fpasswd",
        "small.toml%00",
        "more",
        ".%2Fsmall.toml",
    ] {
        start(foreign).refused(404, "no such experiment file");
    }
    start("wrong.toml").refused(422, "naem");
    assert!(!place.runs.path().join(".prony-starts").exists(), "nothing was started");

    let accepted = start("more%2Fother.toml");
    assert_eq!(accepted.status, 202, "{}", accepted.text());
    let id = accepted.json()["start"].as_str().unwrap().to_owned();
    start("small.toml").refused(409, "in progress");
    let list = until(&lab, |list| list["starts"][0]["log_tail"].as_array().is_some_and(|log| log.len() == 3));
    assert_eq!(list["starts"][0]["is_running"], true);
    assert!(list["busy"]["text"].as_str().unwrap().contains("more/other.toml"));
    let log = list["starts"][0]["log_tail"].to_string();
    let (file, runs) = (place.experiments().join("more/other.toml"), place.runs.path());
    assert!(log.contains(&format!("asked: run {} --runs {}", file.display(), runs.display())), "{log}");
    assert!(log.contains(&format!("by: lab:{id}")), "{log}");
    assert!(log.contains(&format!("nice: {nice}")), "the lab is quiet, what it starts is not: {log}");

    let mut fifo = OpenFifo::write_to(&place.fifo());
    fifo.0.write_all(b"end\n").unwrap();
    drop(fifo);
    let list = until(&lab, |list| list["starts"][0]["is_running"] == false);
    assert_eq!(list["starts"][0]["exit_code"], 3);
    assert!(list["busy"].is_null());
    let log = get(lab.addr, &format!("/api/starts/{id}/log"));
    assert!(log.text().ends_with("told: end\n"), "{}", log.text());
    get(lab.addr, "/api/starts/none/log").refused(404, "no such start");
}

#[test]
fn what_was_started_goes_on_when_the_lab_ends() {
    let place = Place::new();
    let lab = place.lab();
    assert_eq!(change(lab.addr, "POST", "/api/experiments/small.toml/start", "").status, 202);
    drop(lab);
    // It still waits for its word, and takes it.
    let mut fifo = OpenFifo::write_to(&place.fifo());
    fifo.0.write_all(b"on\n").unwrap();
    drop(fifo);
    let logs = place.runs.path().join(".prony-starts");
    let log = fs::read_dir(logs).unwrap().next().unwrap().unwrap().path();
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let mut text = String::new();
        File::open(&log).unwrap().read_to_string(&mut text).unwrap();
        if text.ends_with("told: on\n") {
            return;
        }
        assert!(Instant::now() < end, "{text}");
        std::thread::yield_now();
    }
}

/// Opening a fifo for writing waits until somebody reads.
struct OpenFifo(File);

impl OpenFifo {
    fn write_to(path: &Path) -> Self {
        Self(File::options().write(true).open(path).unwrap())
    }
}
