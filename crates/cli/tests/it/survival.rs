//! What is left when prony is interrupted or killed: whole files, no process, and a run that can be finished.

use crate::command::{Done, measured, prony};
use crate::load::{pid, wait_until};
use crate::run::{Lab, read};
use rustix::process::{Signal, kill_process};
use std::path::Path;
use std::process::{Child, Stdio};

/// Targets whose command line carries a number that no other test uses.
fn lab(mark: &str) -> Lab {
    let targets = format!(
        "[[target]]\nname = \"one\"\nreference = {{ mean = \"1ms\", seed = {mark} }}\n\
         [[target]]\nname = \"two\"\nreference = {{ mean = \"2ms\", seed = {mark} }}"
    );
    Lab::new(&targets, "", "blocks = 3")
}

/// Processes of this machine whose command line contains `mark`, prony itself aside.
fn processes(mark: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    entries
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(&format!("--seed={mark}")))
        .collect()
}

fn start(lab: &Lab) -> Child {
    prony(&lab.args()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until the first trial has ended and the second is under way.
fn wait_for_second_trial(lab: &Lab) {
    let run = || {
        let mut entries = std::fs::read_dir(lab.folder.path()).unwrap().map(|entry| entry.unwrap().path());
        entries.find(|path| path.join("trials").is_dir())
    };
    wait_until("the second trial has intervals", || {
        run().is_some_and(|run| {
            run.join("trials/0001/trial.json").is_file() && run.join("trials/0002/intervals.ndjson").is_file()
        })
    });
}

/// All JSON files below are whole.
fn check_whole(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            check_whole(&entry);
        } else if entry.extension().is_some_and(|ending| ending == "json") {
            read(&entry);
        }
    }
}

#[test]
fn kill_9_in_a_trial_leaves_no_process_and_whole_files_and_resume_completes() {
    let mark = "715001";
    let lab = lab(mark);
    let mut child = start(&lab);
    wait_for_second_trial(&lab);
    kill_process(pid(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    wait_until("the target is gone", || processes(mark).is_empty());
    let run = lab.run();
    check_whole(&run);
    assert!(!run.join("trials/0002/trial.json").exists(), "a trial that was cut off has not ended");
    let first = std::fs::read(run.join("trials/0001/trial.json")).unwrap();
    let done = measured(&["run", "--resume", run.to_str().unwrap()]);
    // Void ones among the six are run again, so there may be more.
    let planned = read(&run.join("run.json"))["plan"]["order"].as_array().unwrap().len();
    assert!((6..=8).contains(&planned), "{planned}");
    assert!(done.out.contains(&format!("{planned} of {planned} planned trials")), "{}", done.out);
    assert!(
        first == std::fs::read(run.join("trials/0001/trial.json")).unwrap(),
        "finished trials are not run again"
    );
    assert!(processes(mark).is_empty());
    // A run that is complete has nothing to resume, and says the same.
    measured(&["run", "--resume", run.to_str().unwrap()]);
}

#[test]
fn an_interrupt_ends_cleanly_with_a_report_of_what_there_is() {
    let mark = "715002";
    let lab = lab(mark);
    let child = start(&lab);
    wait_for_second_trial(&lab);
    kill_process(pid(&child), Signal::INT).unwrap();
    let done: Done = child.wait_with_output().unwrap().into();
    assert_eq!(done.code, 130, "{done:?}");
    assert!(done.out.contains("--resume"), "{}", done.out);
    let run = lab.run();
    assert!(run.join("report.html").is_file());
    check_whole(&run);
    wait_until("the target is gone", || processes(mark).is_empty());
}
