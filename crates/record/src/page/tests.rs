//! Pages of run folders that are made here: whole ones, too long ones, and damaged ones.

use super::*;
use schema::analysis::MetricValue;
use schema::metric::Metric;
use schema::run::Instrument;
use schema::said::{Joint, Said};
use schema::trial::{CounterLine, IntervalLine, PauseCount, Phase, TrialFile, TrialOutcome};
use std::path::Path;

/// Two reference targets under closed load, as `prony run --dry-run --format json` prints it.
const PLAN: &str = include_str!("../../fixtures/plan.json");

fn run_file(id: &str) -> RunFile {
    RunFile {
        schema: Default::default(),
        id: id.to_owned(),
        started_wall: "2026-11-22T00:00:00Z".to_owned(),
        command: Vec::new(),
        plan: serde_json::from_str(PLAN).expect("the fixture is a plan"),
        experiment_text: String::new(),
        environment: Default::default(),
        versions: BTreeMap::from([("prony".to_owned(), id.to_owned())]),
        services: Vec::new(),
        weaknesses: Vec::new(),
        instrument: Instrument::default(),
        calibration: None,
        agents: Vec::new(),
    }
}

fn trial_file(id: u32, cell: &str) -> TrialFile {
    serde_json::from_value(serde_json::json!({
        "schema": "prony.trial/1", "id": id, "cell": cell, "block": 1, "outcome": "valid", "reasons": [],
        "origin_wall": "", "phases": [], "level": false, "load": null, "samples": [], "target": {},
        "ready_ns": null, "counter_gaps": {},
        "events": [{"name": "kill", "began_ns": 5, "ended_ns": 9, "unavailable_ns": null, "still_down": false,
                    "error": null, "effect": null}],
    }))
    .unwrap()
}

fn lines<T: serde::Serialize>(values: &[T]) -> String {
    values.iter().map(|value| serde_json::to_string(value).unwrap() + "\n").collect()
}

fn write_trial(folder: &Path, id: u32, cell: &str) {
    let trial = folder.join(format!("trials/{id:04}"));
    std::fs::create_dir_all(&trial).unwrap();
    let second = 1_000_000_000;
    let intervals: Vec<IntervalLine> = (0..3)
        .map(|at| IntervalLine {
            start_ns: at * second,
            end_ns: (at + 1) * second,
            phase: Some(if at == 0 { Phase::Warmup } else { Phase::Sample }),
            ..IntervalLine::default()
        })
        .collect();
    let counters: Vec<CounterLine> = (0..4)
        .map(|at| CounterLine {
            t_ns: at * second,
            source: "target.process".to_owned(),
            gauges: BTreeMap::from([("rss_bytes".to_owned(), at as f64)]),
            ..CounterLine::default()
        })
        .chain((0..4).map(|at| {
            CounterLine {
                t_ns: at * second,
                source: "go.runtime".to_owned(),
                pauses: (at == 2)
                    .then_some(PauseCount { from_ns: 40_000, to_ns: 50_000, count: 6 })
                    .into_iter()
                    .collect(),
                ..CounterLine::default()
            }
        }))
        .collect();
    std::fs::write(trial.join("intervals.ndjson"), lines(&intervals)).unwrap();
    std::fs::write(trial.join("counters.ndjson"), lines(&counters) + "{\"t_ns\":").unwrap();
    std::fs::write(trial.join("target.log"), b"listening\n\xffbad\x1b[2J bytes\n").unwrap();
    std::fs::write(trial.join("trial.json"), serde_json::to_vec(&trial_file(id, cell)).unwrap()).unwrap();
}

/// A run folder with all trials of the plan.
fn run_folder(parent: &Path) -> (RunFolder, RunFile, AnalysisFile) {
    let folder = RunFolder::create(parent, "r").unwrap();
    let run = run_file("r");
    folder.write_json("run.json", &run).unwrap();
    run.plan.order.iter().for_each(|trial| write_trial(folder.path(), trial.id, &trial.cell));
    let analysis = analyze::analyze(&run, &folder.read_trials(&run).unwrap());
    (folder, run, analysis)
}

#[test]
fn a_page_holds_what_the_folder_has_and_is_read_back() {
    let parent = tempfile::tempdir().unwrap();
    let (folder, run, analysis) = run_folder(parent.path());
    let wishes = PageWishes { lang: PageLanguage::Zh, against: Some(run_file("other")) };
    let page = page(&folder, run, analysis, &wishes);
    assert_eq!((page.details.len(), page.details_left_out.as_deref()), (10, None));
    let detail = &page.details[3];
    assert_eq!((detail.id, detail.t_ns.len()), (4, 3));
    assert_eq!(detail.cell, page.run.plan.order[3].cell);
    assert_eq!(detail.counters[0].values, [Some(1.0), Some(2.0), Some(3.0)], "warm-up too");
    assert_eq!(detail.events[0].name, "kill");
    assert_eq!(detail.log_tail, ["listening", "\u{fffd}bad[2J bytes"]);
    assert_eq!((&detail.heat, &detail.missing), (&None, &Vec::new()));
    let pauses = detail.pauses.as_ref().expect("pauses were counted");
    assert_eq!((&pauses.rows[..], pauses.start_ns), (&[vec![0], vec![6], vec![0]][..], 0));
    assert_eq!(page.environment_difference.as_ref().unwrap().versions.len(), 1);
    let text = serde_json::to_string(&page).unwrap();
    let again: PageFile = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&again).unwrap(), text);
}

#[test]
fn too_much_is_left_out_and_said() {
    let parent = tempfile::tempdir().unwrap();
    let (folder, run, mut analysis) = run_folder(parent.path());
    let all = details(&folder, &run, &analysis, usize::MAX).0;
    let one = serde_json::to_vec(&all[0]).unwrap().len();
    let cells: Vec<String> = analysis.cells.iter().map(|cell| cell.cell.clone()).collect();
    for trial in &mut analysis.trials {
        let value = Some(f64::from(if trial.cell == cells[0] { trial.id } else { 100 - trial.id }));
        trial.values = vec![MetricValue { metric: Metric::Throughput, value }];
    }
    let (kept, left_out) = details(&folder, &run, &analysis, 5 * one);
    let middle = |cell: &String| {
        let mut ids: Vec<u32> = analysis.trials.iter().filter(|t| &t.cell == cell).map(|t| t.id).collect();
        ids.sort_unstable();
        ids[2]
    };
    let mut expected: Vec<u32> = cells.iter().map(middle).collect();
    expected.sort_unstable();
    assert_eq!(kept.iter().map(|detail| detail.id).collect::<Vec<_>>(), expected);
    let said = left_out.unwrap();
    assert!(said.starts_with("8 of 10 trials") && !said.contains("as many"), "{said}");
    let (kept, left_out) = details(&folder, &run, &analysis, one + one / 2);
    assert_eq!(kept.len(), 1);
    assert!(left_out.unwrap().contains("as many cells as fit"));
    // What went wrong is shown where nothing went well.
    analysis.trials.iter_mut().for_each(|trial| trial.outcome = TrialOutcome::Failed);
    let last = |cell: &String| analysis.trials.iter().rfind(|t| &t.cell == cell).unwrap().id;
    assert_eq!(analyze::shown_first(&analysis), cells.iter().map(last).collect::<Vec<_>>());
}

#[test]
fn damage_costs_its_part_and_is_said() {
    let parent = tempfile::tempdir().unwrap();
    let (folder, run, analysis) = run_folder(parent.path());
    let trial = folder.path().join("trials/0002");
    std::fs::write(trial.join("latency.hlog"), "Tag=response,0,1,1,nonsense\n").unwrap();
    std::fs::write(trial.join("intervals.ndjson"), "{").unwrap();
    std::fs::remove_file(folder.path().join("trials/0003/counters.ndjson")).unwrap();
    std::fs::write(folder.path().join("trials/0003/trial.json"), "{").unwrap();
    std::fs::create_dir_all(folder.path().join("profiles")).unwrap();
    std::fs::write(folder.path().join("profiles/profiles.json"), "[]").unwrap();
    let page = page(&folder, run.clone(), analysis, &PageWishes::default());
    let missing = |at: usize| Said::list(Joint::Space, &page.details[at].missing);
    assert!(missing(1).contains("no counters over time") && missing(1).contains("line 1"), "{}", missing(1));
    assert!(missing(2).contains("counters.ndjson") && missing(2).contains("trial.json"), "{}", missing(2));
    assert_eq!((missing(0), page.details.len()), (Said::default(), 10));
    assert!(page.profiles_note.unwrap().contains("cannot be read"));
    assert!(trial_error(&folder, &run, 11).contains("no trial 11"));
    assert_eq!(super::trial(&folder, &run, 1).unwrap().id, 1);
}

fn trial_error(folder: &RunFolder, run: &RunFile, id: u32) -> String {
    super::trial(folder, run, id).unwrap_err().to_string()
}

#[test]
fn profiles_are_trees_and_no_file_outside_is_read() {
    let parent = tempfile::tempdir().unwrap();
    let (folder, run, analysis) = run_folder(parent.path());
    std::fs::write(parent.path().join("secret.folded"), "secret 1\n").unwrap();
    let cell = folder.path().join("profiles/c1");
    std::fs::create_dir_all(&cell).unwrap();
    std::fs::write(cell.join("cpu.folded"), "main;work 90\nmain 10\n").unwrap();
    std::os::unix::fs::symlink(parent.path().join("secret.folded"), cell.join("link.folded")).unwrap();
    let taken = |name: &str, file: &str| {
        serde_json::json!({"kind": "cpu", "name": name, "unit": "cpu_ns", "total": 100, "stacks": 2,
                           "files": [file], "top": []})
    };
    let file = serde_json::json!({
        "schema": "prony.profiles/1", "run": "r", "note": "of a load of its own",
        "cells": [{
            "cell": "c1", "label": "a", "target": "a", "chosen": "", "window_ns": 1, "throughput_per_s": null, "failed": 0,
            "taken": [
                taken("cpu", "c1/cpu.folded"),
                taken("up", "../../secret.folded"),
                taken("link", "c1/link.folded"),
                taken("gone", "c1/gone.folded"),
            ],
            "refused": [{"kind": "perf", "why": "not installed", "remedy": "apt-get install linux-perf"}],
        }],
    });
    std::fs::write(folder.path().join("profiles/profiles.json"), file.to_string()).unwrap();
    let page = page(&folder, run, analysis, &PageWishes::default());
    let cpu = &page.profiles[0];
    assert_eq!((cpu.frames.value, cpu.frames.children[0].children[0].value), (100, 90));
    assert_eq!((cpu.origin.as_str(), cpu.top[0].function.as_str()), ("profiles/c1/cpu.folded", "work"));
    assert!(page.profiles[1..].iter().all(|one| one.frames.children.is_empty() && !one.notes.is_empty()));
    assert_eq!(page.profiles_note.as_deref(), Some("of a load of its own"));
    assert_eq!(page.profiles_refused[0].refused.why, "not installed");
}
