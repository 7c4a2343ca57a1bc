//! Damaged run folders (issue 6, "Bad input"): a small run is made once, copied, and one thing in the copy is spoilt.
//! `prony report` must refuse in words or say what it left out; nothing it writes may hold a number that is none.

use crate::command::{Done, done};
use crate::load::check_schema;
use crate::run::{Lab, TWO, read};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

const BLOCKS: u64 = 5;

/// What must come of a damaged folder.
enum Outcome {
    /// No report: exit code 1 and this on standard error.
    Refused(&'static [&'static str]),
    /// A report with these sentences in it.
    Told(&'static [&'static str]),
}
use Outcome::{Refused, Told};

type Damage = fn(&Path);

const CASES: [(&str, Damage, Outcome); 31] = [
    ("nothing", |_| (), Told(&["holds", "all 10 trials are valid"])),
    // Folders.
    ("an empty folder", |run| empty(run), Refused(&["no run folder"])),
    (
        "no trial folders",
        |run| fs::remove_dir_all(run.join("trials")).unwrap(),
        Told(&["no trial was run to its end"]),
    ),
    (
        "no trial.json",
        |run| each_trial(run, |trial| fs::remove_file(trial.join("trial.json")).unwrap()),
        Told(&["no trial was run to its end"]),
    ),
    ("one trial", |run| keep(run, 1), Told(&["5 trials needed, had 1", "run 4 more blocks"])),
    (
        "four blocks",
        |run| keep(run, 8),
        Told(&["valid trial of both needed, had 4", "run 1 more block", "ended after 8 of 10"]),
    ),
    (
        "a run.json of another version",
        |run| edit(&run.join("run.json"), |file| file["schema"] = "prony.run/9".into()),
        Refused(&["run.json", "another version"]),
    ),
    (
        "an empty run.json",
        |run| fs::write(run.join("run.json"), "").unwrap(),
        Refused(&["run.json", "damaged"]),
    ),
    (
        "a trial of another version",
        |run| edit(&file(run, 3), |file| file["schema"] = "prony.trial/9".into()),
        Refused(&["0003/trial.json", "another version"]),
    ),
    ("half a trial.json", |run| halve(&file(run, 3)), Refused(&["0003/trial.json", "damaged"])),
    (
        "a trial of another run's cell",
        |run| edit(&file(run, 3), |file| file["cell"] = "c9".into()),
        Told(&["trial 3 of a cell that the plan does not have"]),
    ),
    (
        "twice the same trial",
        |run| {
            edit(&file(run, 3), |file| {
                file["id"] = 1.into();
                file["block"] = 1.into();
            });
        },
        Told(&["had 4"]),
    ),
    // Values.
    ("zero throughput", |run| throughput(run, |_, _| 0.0), Told(&["5 of 5 values are 0"])),
    (
        "zero throughput of one trial",
        |run| throughput(run, |cell, block| if (cell, block) == (0, 3) { 0.0 } else { usual(cell, block) }),
        Told(&["1 of 5 values are 0"]),
    ),
    (
        "the same throughput in all trials",
        |run| throughput(run, |_, _| 1000.0),
        Told(&["the same value in all 5 trials", "the same ratio in all"]),
    ),
    (
        "a throughput beyond all",
        |run| throughput(run, |cell, block| if cell == 0 { 1e308 / block as f64 } else { 1e-308 }),
        Told(&["throughput"]),
    ),
    ("a throughput below 0", |run| throughput(run, |_, _| -1.0), Told(&["a valid trial has no value"])),
    (
        "a throughput that is no number",
        |run| replace(&file(run, 3), "\"throughput_per_s\":", "\"throughput_per_s\":NaN,\"was\":"),
        Refused(&["0003/trial.json"]),
    ),
    (
        "a throughput beyond all numbers",
        |run| replace(&file(run, 3), "\"throughput_per_s\":", "\"throughput_per_s\":1e999,\"was\":"),
        Refused(&["0003/trial.json"]),
    ),
    (
        "a throughput that is null",
        |run| edit(&file(run, 3), |file| file["load"]["throughput_per_s"] = Value::Null),
        Refused(&["0003/trial.json"]),
    ),
    (
        "a latency below 0",
        |run| edit(&file(run, 3), |file| file["load"]["latency_ns"]["response"]["p50"] = (-5).into()),
        Refused(&["0003/trial.json", "-5"]),
    ),
    (
        "a mean below 0",
        |run| each_file(run, |file| file["load"]["latency_ns"]["response"]["mean"] = json!(-5.0)),
        Told(&["a valid trial has no value"]),
    ),
    // Clocks.
    (
        "a clock that went backwards",
        |run| edit_lines(&run.join("trials/0003/intervals.ndjson"), |lines| lines.reverse()),
        Told(&["the clock ran backwards in trial 3, left out", "had 4"]),
    ),
    (
        "a phase that ends before it begins",
        |run| edit(&file(run, 3), |file| file["phases"][1]["end_ns"] = 0.into()),
        Told(&["the clock ran backwards in trial 3"]),
    ),
    (
        "all clocks backwards",
        |run| each_file(run, |file| file["phases"].as_array_mut().unwrap().reverse()),
        Told(&["the clock ran backwards in trials 1, 2, 3, 4, 5 and 5 more"]),
    ),
    // Files beside.
    (
        "no intervals",
        |run| each_trial(run, |trial| fs::remove_file(trial.join("intervals.ndjson")).unwrap()),
        Told(&["holds"]),
    ),
    (
        "half a line of intervals",
        |run| halve(&run.join("trials/0003/intervals.ndjson")),
        Refused(&["intervals.ndjson", "line "]),
    ),
    (
        "no interval log",
        |run| each_trial(run, |trial| fs::remove_file(trial.join("latency.hlog")).unwrap()),
        Told(&["holds"]),
    ),
    (
        "an empty interval log",
        |run| each_trial(run, |trial| fs::write(trial.join("latency.hlog"), "").unwrap()),
        Told(&["holds"]),
    ),
    (
        "half an interval log",
        |run| halve(&run.join("trials/0003/latency.hlog")),
        Refused(&["latency.hlog", "line "]),
    ),
    (
        "an interval log of something else",
        |run| fs::write(run.join("trials/0003/latency.hlog"), b"\x7fELF\0\0\n").unwrap(),
        Refused(&["latency.hlog", "line 1"]),
    ),
];

#[test]
fn damaged_folders_are_refused_or_told() {
    let lab = Lab::new(TWO, CLAIM, "blocks = 1");
    done(&lab.args());
    let run = lab.run();
    grow(&run);
    for (what, damage, expected) in &CASES {
        let copy = lab.folder.path().join("copy");
        copy_folder(&run, &copy);
        damage(&copy);
        check(what, &copy, &done(&["report", copy.to_str().unwrap()]), expected);
        fs::remove_dir_all(&copy).unwrap();
    }
}

const CLAIM: &str = "[[claim]]\ntext = \"one is faster\"\nmetric = \"throughput\"\nbetter = \"one\"\nthan = \"two\"\n\
                     ratio = \">= 1.5\"\n";

fn check(what: &str, run: &Path, done: &Done, expected: &Outcome) {
    let (Refused(texts) | Told(texts)) = expected;
    if matches!(expected, Refused(_)) {
        assert_eq!(done.code, 1, "{what}: {done:?}");
        texts.iter().for_each(|text| assert!(done.err.contains(text), "{what}: no `{text}` in {}", done.err));
        return;
    }
    assert!([0, 3].contains(&done.code), "{what}: {done:?}");
    let analysis = read(&run.join("analysis.json"));
    check_schema("analysis", &analysis);
    let report = fs::read_to_string(run.join("report.md")).unwrap();
    let told = format!("{analysis}{report}{}", done.out);
    texts.iter().for_each(|text| assert!(told.contains(text), "{what}: no `{text}` in {told}"));
    let csv = fs::read_to_string(run.join("results.csv")).unwrap();
    for (name, text) in [("report.md", &report), ("results.csv", &csv), ("standard output", &done.out)] {
        let bad = text.split(|c: char| !c.is_alphanumeric()).find(|word| {
            ["nan", "inf", "infinity", "null", "undefined"].contains(&word.to_ascii_lowercase().as_str())
        });
        assert_eq!(bad, None, "{what}: in {name}\n{text}");
    }
    check_intervals(what, &analysis);
}

/// What has no interval says why, and what has one is finite.
fn check_intervals(what: &str, analysis: &Value) {
    let metrics =
        analysis["cells"].as_array().unwrap().iter().flat_map(|cell| cell["metrics"].as_array().unwrap());
    for summary in metrics.chain(analysis["comparisons"].as_array().unwrap()) {
        // A comparison of values that are 0 rests on their differences.
        let interval = if summary["basis"] == "difference" { "difference_interval" } else { "interval" };
        assert_ne!(summary[interval].is_null(), summary["refused"].is_null(), "{what}: {summary}");
        assert!(
            summary["refused"].is_null()
                || summary["refused"]["text"].as_str().is_some_and(|why| why.len() > 10)
        );
    }
}

/// Makes five blocks of the one that was run, with known throughputs; a busy machine must not decide.
fn grow(run: &Path) {
    edit(&run.join("run.json"), |file| {
        // A busy machine made trials void, which were run again: those are left out.
        let order = file["plan"]["order"].as_array().unwrap()[..2].to_vec();
        let ids = (0..BLOCKS).flat_map(|block| {
            order.iter().enumerate().map(move |(place, trial)| {
                json!({"id": block * 2 + place as u64 + 1, "block": block + 1, "cell": trial["cell"]})
            })
        });
        file["plan"]["order"] = ids.collect();
        file["plan"]["blocks"] = BLOCKS.into();
        file["environment"]["facts"] = json!([]);
    });
    let trials = run.join("trials");
    for id in 3..=BLOCKS * 2 {
        let _ = fs::remove_dir_all(trials.join(format!("{id:04}")));
        copy_folder(&trials.join(format!("{:04}", 2 - id % 2)), &trials.join(format!("{id:04}")));
        edit(&file(run, id), |file| {
            file["id"] = id.into();
            file["block"] = ((id - 1) / 2 + 1).into();
        });
    }
    each_file(run, |file| {
        file["outcome"] = "valid".into();
        file["reasons"] = json!([]);
        file["load"]["validity"] = json!({"ok": true, "reasons": [], "gates": []});
        file["canary"] = Value::Null;
    });
    throughput(run, usual);
}

fn usual(cell: u64, block: u64) -> f64 {
    (1000.0 - 500.0 * cell as f64) + ((block * 7) % 5) as f64
}

/// Sets the throughput of every trial by its cell, 0 for the faster, and its block.
fn throughput(run: &Path, of: fn(u64, u64) -> f64) {
    each_file(run, |file| {
        let cell = u64::from(file["cell"] != "c1");
        file["load"]["throughput_per_s"] = of(cell, file["block"].as_u64().unwrap()).into();
    });
}

fn file(run: &Path, id: u64) -> std::path::PathBuf {
    run.join(format!("trials/{id:04}/trial.json"))
}

fn each_trial(run: &Path, act: impl Fn(&Path)) {
    fs::read_dir(run.join("trials")).unwrap().for_each(|entry| act(&entry.unwrap().path()));
}

fn each_file(run: &Path, change: impl Fn(&mut Value)) {
    each_trial(run, |trial| edit(&trial.join("trial.json"), &change));
}

fn edit(path: &Path, change: impl Fn(&mut Value)) {
    let mut value = read(path);
    change(&mut value);
    fs::write(path, value.to_string()).unwrap();
}

fn edit_lines(path: &Path, change: fn(&mut Vec<&str>)) {
    let text = fs::read_to_string(path).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    change(&mut lines);
    fs::write(path, lines.join("\n")).unwrap();
}

fn replace(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{from}");
    fs::write(path, text.replacen(from, to, 1)).unwrap();
}

/// Cuts a file in its middle, within a line.
fn halve(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let mut at = bytes.len() / 2;
    while at > 1 && (bytes[at - 1] == b'\n' || bytes[at] == b'\n') {
        at -= 1;
    }
    bytes.truncate(at);
    fs::write(path, bytes).unwrap();
}

/// Leaves the trials up to this number.
fn keep(run: &Path, last: u64) {
    (last + 1..=BLOCKS * 2).for_each(|id| fs::remove_dir_all(run.join(format!("trials/{id:04}"))).unwrap());
}

fn empty(run: &Path) {
    fs::remove_dir_all(run).unwrap();
    fs::create_dir(run).unwrap();
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (from, to) = (entry.as_ref().unwrap().path(), to.join(entry.unwrap().file_name()));
        if from.is_dir() { copy_folder(&from, &to) } else { fs::copy(&from, &to).map(drop).unwrap() }
    }
}
