//! Designs from the file to the run folder: blocks that are decided upon while a run goes on, the hidden control, and
//! what plan, compare and history make of the folder.

use crate::command::{bad, done, good};
use crate::load::check_schema;
use crate::run::{Lab, TWO, read};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

const ONE: &str = "[[target]]\nname = \"one\"\nreference = { mean = \"2ms\" }";

fn stopping(run: &Path) -> Value {
    read(&run.join("run.json"))["plan"]["design"]["stopping"].clone()
}

/// Trials that have ended.
fn ended(run: &Path) -> usize {
    trials(run).len()
}

/// Cells in blocks of which a trial has ended; one that was run again because it was void counts once.
fn places(run: &Path) -> usize {
    let places = trials(run).into_iter().map(|trial| format!("{} {}", trial["block"], trial["cell"]));
    places.collect::<BTreeSet<_>>().len()
}

fn trials(run: &Path) -> Vec<Value> {
    let folders = std::fs::read_dir(run.join("trials")).unwrap();
    let files = folders.map(|entry| entry.unwrap().path().join("trial.json")).filter(|file| file.is_file());
    files.map(|file| read(&file)).collect()
}

fn json(args: &[&str], schema: &str) -> Value {
    let mut all = args.to_vec();
    all.extend(["--format", "json"]);
    let found = serde_json::from_str(&good(&all).out).unwrap();
    check_schema(schema, &found);
    found
}

#[test]
#[ignore = "measures until it is precise, half a minute; run by `make test-all`"]
fn a_run_ends_when_it_is_precise_enough_and_goes_on_where_it_was_cut() {
    let lab = Lab::new(ONE, "[design]\ncontrol = true\nprecision = \"40%\"\n", "blocks = 9");
    let first = done(&lab.args());
    // On a busy machine trials may be void, and then the most blocks are run.
    assert!([0, 2].contains(&first.code), "{}\n{}", first.out, first.err);
    let run = lab.run();
    let (file, decided) = (read(&run.join("run.json")), stopping(&run));
    check_schema("run", &file);
    let blocks = file["plan"]["blocks"].as_u64().unwrap();
    let wanted = if decided["stopped"]["reason"] == "precision" { 8..=9 } else { 9..=9 };
    assert!(wanted.contains(&blocks), "{decided}");
    let planned = file["plan"]["order"].as_array().unwrap().len();
    assert_eq!(ended(&run), planned);
    let reruns = planned as u64 - blocks * 2;
    assert!(
        reruns <= (blocks * 2).div_ceil(4),
        "the control is in each block; {reruns} trials were run again"
    );
    assert_eq!(decided["looks"].as_array().unwrap().len() as u64, blocks - 4);
    let analysis = read(&run.join("analysis.json"));
    check_schema("analysis", &analysis);
    let notes = analysis["belief"]["notes"].to_string();
    assert!(notes.contains("the run ended after") && notes.contains("hidden control"), "{notes}");

    if reruns > 0 {
        println!("skipped: the cut, because void trials were run again after the last block");
        return;
    }
    // Cut off within the last block: the decision and its look are not there yet.
    let cut = run.join(format!("trials/{:04}", blocks * 2));
    std::fs::remove_dir_all(cut).unwrap();
    let mut before = file.clone();
    let design = &mut before["plan"]["design"]["stopping"];
    design.as_object_mut().unwrap().remove("stopped");
    design["looks"].as_array_mut().unwrap().pop();
    std::fs::write(run.join("run.json"), before.to_string()).unwrap();
    let resumed = done(&["run", "--resume", run.to_str().unwrap()]);
    assert!([0, 2].contains(&resumed.code), "{}\n{}", resumed.out, resumed.err);
    let again = stopping(&run);
    assert!(again["stopped"].is_object(), "it ends as it would have: {again}");
    assert_eq!(
        ended(&run) as u64,
        read(&run.join("run.json"))["plan"]["order"].as_array().unwrap().len() as u64
    );
    // And what has ended stays so.
    let last = ended(&run);
    done(&["run", "--resume", run.to_str().unwrap()]);
    assert_eq!((ended(&run), stopping(&run)), (last, again));

    if all_valid(&run) {
        check_plan_compare_and_history(&lab, &run);
    } else {
        println!("not looked at: plan, compare and history, because the hypervisor made trials void");
    }
}

/// Whether no trial is void, as a busy host makes them.
fn all_valid(run: &Path) -> bool {
    let analysis = read(&run.join("analysis.json"));
    analysis["trials"].as_array().unwrap().iter().all(|trial| trial["outcome"] == "valid")
}

/// The same folder, looked at across runs.
fn check_plan_compare_and_history(lab: &Lab, run: &Path) {
    let (file, folder) = (lab.file.to_str().unwrap(), lab.folder.path().to_str().unwrap());
    let plan = json(&["plan", file, "--runs", folder], "plan");
    assert_eq!(plan["wanted"]["precision"], 0.4, "that of the file");
    assert_eq!(plan["trial_is_measured"], true);
    let text = good(&["plan", file, "--runs", folder, "--precision", "1%", "--difference", "3%"]).out;
    assert!(text.contains("± 1 %") && text.contains("difference of 3 %"), "{text}");
    let dry = good(&["run", file, "--runs", folder, "--dry-run"]).out;
    for said in ["hidden control", "until ± 40 %", "at most 9", "with starts and stops: a trial took"] {
        assert!(dry.contains(said), "no `{said}` in\n{dry}");
    }
    let path = run.to_str().unwrap();
    let same = json(&["compare", path, path], "compare");
    assert_eq!(same["cells"].as_array().unwrap().len(), 2);
    assert!(good(&["compare", path, path]).out.contains("throughput"));
    let history = json(&["history", "lab", "--runs", folder], "history");
    let reason = history["series"][0]["refused"]["text"].as_str().unwrap();
    assert!(reason.contains("8 runs needed"), "{reason}");
    assert!(good(&["history", "lab", "--runs", folder]).out.contains("1 run"));
    assert!(good(&["history", "--runs", folder]).out.contains("1 runs  lab"));
    bad(&["history", "lap", "--runs", folder], 1, &["no run of lap", "did you mean `lab`?"]);
}

#[test]
fn a_budget_ends_a_run_with_whole_blocks() {
    let lab = Lab::new(TWO, "[design]\nbudget = \"3s\"\n", "");
    let out = done(&lab.args());
    assert!([0, 2].contains(&out.code), "{}\n{}", out.out, out.err);
    let run = lab.run();
    let plan = read(&run.join("run.json"))["plan"].clone();
    let blocks = plan["blocks"].as_u64().unwrap();
    assert_eq!(plan["design"]["stopping"]["stopped"]["reason"], "budget", "{plan}");
    assert!((1..5).contains(&blocks), "3 s are at most three blocks of two trials of 600 ms: {blocks}");
    assert_eq!(places(&run) as u64, blocks * 2);
    assert!(out.err.contains("the budget of 3s has no room"), "{}", out.err);
}

#[test]
fn a_plan_without_a_past_asks_for_a_pilot() {
    let lab = Lab::new(TWO, "", "blocks = 3");
    let (file, folder) = (lab.file.to_str().unwrap(), lab.folder.path().to_str().unwrap());
    bad(&["plan", file, "--runs", folder], 1, &["there is no run of lab", "--pilot"]);
    bad(&["plan", file, "--runs", folder, "--power", "1"], 1, &["--power 1 is out of range"]);
    let done = done(&["plan", file, "--runs", folder, "--pilot"]);
    assert_eq!(places(&lab.run()), 10, "five blocks of two, whatever the file asks for");
    if all_valid(&lab.run()) {
        assert_eq!(done.code, 0, "{}\n{}", done.out, done.err);
        assert!(done.out.contains("To find a difference of 5 %"), "{}", done.out);
    }
}

#[test]
fn folders_that_are_no_runs_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    bad(&["compare", path, path], 1, &["is no run folder", "remedy"]);
    bad(&["history", "--runs", path], 1, &["there are no runs", "remedy"]);
    std::fs::write(folder.path().join("run.json"), "{\"schema\":\"prony.run/9\"}").unwrap();
    bad(&["compare", path, path], 1, &["is not readable as prony.run/2", "another version"]);
    bad(&["history", "x", "--runs", "/nonexistent/runs"], 1, &["there is no folder /nonexistent/runs"]);
}
