//! Factors of an experiment from the file to the report: knobs of the run and of the build.

use crate::command::{bad, done, good, turn};
use crate::run::read;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What the runtime of a test says of itself when it is reloaded.
const RELOAD: &str = r#"[reload]
command = ["sh", "-c", "echo {port} {pid} >> {folder}/reloads"]
picks_up = "nothing"
"#;

/// A project with one target: prony's reference server, started by a script that the build writes.
struct Project {
    folder: tempfile::TempDir,
    _turn: std::sync::MutexGuard<'static, ()>,
}

/// The build writes its variable into the script and counts itself; the run prints its own to the log. `{prony}` is
/// replaced by the binary.
const MANIFEST: &str = r#"schema = "prony.target/1"
name = "sh/echo"
description = "the reference target, with its knobs in its log"
language = "sh"
[build]
command = ["sh", "build.sh", "{build}"]
[run]
command = ["sh", "{build}/serve.sh", "{host}:{port}"]
env = { FOLDER = "{folder}" }
[[run.needs]]
check = ["sh", "-c", "exit 0"]
install = "apt-get install dash"
[ready]
path = "/health"
[[knob]]
name = "level"
about = "printed when it starts"
type = "integer"
default = "1"
env = "LEVEL"
[[knob]]
name = "flavour"
about = "built in"
type = "choice"
choices = ["plain", "rich"]
default = "plain"
build_env = "FLAVOUR"
"#;

const BUILD: &str = "set -e\necho x >> builds\n\
                     echo \"echo flavour=$FLAVOUR level=\\$LEVEL folder=\\$FOLDER; exec '{prony}' reference --listen \\$1\" \
                     > \"$1/serve.sh\"\n";

impl Project {
    fn new() -> Self {
        let turn = turn();
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("targets/sh/echo");
        std::fs::create_dir_all(&target).unwrap();
        std::fs::write(target.join("target.toml"), format!("{MANIFEST}{RELOAD}")).unwrap();
        std::fs::write(target.join("build.sh"), BUILD.replace("{prony}", env!("CARGO_BIN_EXE_prony")))
            .unwrap();
        Self { folder, _turn: turn }
    }

    fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    /// Writes the experiment: its design, target and scenario, the rest as short as can be.
    fn experiment(&self, rest: &str) -> String {
        let file = self.path("lab.toml");
        let text = format!(
            "{rest}\n[load]\nmodel = \"closed\"\nconnections = 1\n[phases]\n\
             warmup = {{ at_least = \"100ms\", at_most = \"100ms\" }}\nsample = \"200ms\"\nsamples = 2\n"
        );
        std::fs::write(&file, text).unwrap();
        file.display().to_string()
    }

    /// Runs it; the run folder. Trials may be void on a busy host, none may fail.
    fn run(&self, rest: &str) -> PathBuf {
        let file = self.experiment(rest);
        let runs = self.path("runs");
        let done = done(&["run", &file, "--runs", runs.to_str().unwrap()]);
        assert!(!done.out.contains("failed"), "{}\n{}", done.out, done.err);
        let mut found = std::fs::read_dir(runs).unwrap();
        found.next().expect("there is a run folder").unwrap().path()
    }
}

const INLINE: &str = "[scenario]\nrequest = { path = \"/ping\" }";

/// `target.log` of each trial, by the name of its target.
fn logs(run: &Path) -> Vec<(String, String)> {
    let plan = read(&run.join("run.json"))["plan"].clone();
    let find = |list: &str, key: &str, wanted: &Value| {
        plan[list].as_array().unwrap().iter().find(|item| item[key] == *wanted).unwrap().clone()
    };
    let mut logs: Vec<(String, String)> = plan["order"]
        .as_array()
        .unwrap()
        .iter()
        .map(|trial| {
            let cell = find("cells", "id", &trial["cell"]);
            let log = run.join(format!("trials/{:04}/target.log", trial["id"].as_u64().unwrap()));
            (cell["target"].as_str().unwrap().to_owned(), std::fs::read_to_string(log).unwrap())
        })
        .collect();
    logs.sort();
    logs
}

#[test]
fn knobs_reach_the_run_and_the_build_and_stand_in_the_report() {
    let project = Project::new();
    let run = project.run(&format!(
        "[experiment]\nname = \"lab\"\nblocks = 1\n[[target]]\nuse = \"sh/echo\"\n\
         knobs = {{ level = [1, 7], flavour = [\"plain\", \"rich\"] }}\n{INLINE}"
    ));
    let logs = logs(&run);
    // A trial that others made void is run again.
    let targets: BTreeSet<&str> = logs.iter().map(|(target, _)| &**target).collect();
    assert_eq!(targets.len(), 4);
    for (target, log) in &logs {
        let words: Vec<&str> = target.split(' ').collect();
        let ["sh/echo", flavour, level] = words[..] else { panic!("{target}") };
        assert!(log.starts_with(&format!("{flavour} {level} folder=")), "{target}: {log}");
        assert!(log.contains("targets/sh/echo"), "{log}");
    }
    let target = project.path("targets/sh/echo");
    assert!(
        target.join(".build/serve.sh").is_file() && target.join(".build/flavour=rich/serve.sh").is_file()
    );
    let builds = std::fs::read_to_string(target.join("builds")).unwrap();
    assert_eq!(builds.lines().count(), 2, "each variant is built once");
    let report = good(&["report", run.to_str().unwrap(), "--format", "markdown"]).out;
    assert!(report.contains("| Knobs | sh/echo flavour=rich level=7: flavour=rich, level=7 |"), "{report}");
}

#[test]
fn a_wrong_knob_is_refused_before_anything_is_built() {
    let project = Project::new();
    let file = project.experiment(&format!(
        "[experiment]\nname = \"lab\"\n[[target]]\nuse = \"sh/echo\"\nknobs = {{ levle = 2 }}\n{INLINE}"
    ));
    bad(&["run", &file], 1, &["lab.toml:5:", "sh/echo has no knob `levle`", "did you mean `level`?"]);
    assert!(!project.path("targets/sh/echo/builds").exists());
}

/// Two scenarios beside the target, and a claim for each kind of level.
#[test]
fn scenarios_make_cells_and_claims_name_them() {
    let project = Project::new();
    std::fs::create_dir_all(project.path("scenarios")).unwrap();
    for (name, path) in [("small", "/small"), ("large", "/large")] {
        let text =
            format!("schema = \"prony.scenario/1\"\nname = \"{name}\"\n[request]\npath = \"{path}\"\n");
        std::fs::write(project.path(&format!("scenarios/{name}.toml")), text).unwrap();
    }
    let text = |scenarios: &str, at: &str| {
        format!(
            "[experiment]\nname = \"lab\"\nblocks = 1\n[[target]]\nuse = \"sh/echo\"\n\
             [scenario]\nuse = {scenarios}\n[[claim]]\ntext = \"small costs less\"\nmetric = \"throughput\"\n\
             better = \"sh/echo\"\nthan = \"sh/echo\"\n{at}\nratio = \"> 1.0\"\n"
        )
    };
    let both = "[\"small\", \"large\"]";
    let at = "at = { scenario = \"small\" }\nthan_at = { scenario = \"large\" }";
    let run = project.run(&text(both, at));
    let file = read(&run.join("run.json"));
    let cells = file["plan"]["cells"].as_array().unwrap();
    let labels: Vec<&str> = cells.iter().map(|cell| cell["label"].as_str().unwrap()).collect();
    assert_eq!(labels, ["sh/echo, small, 1 connection", "sh/echo, large, 1 connection"]);
    assert_eq!(file["plan"]["claims"][0]["numerator"], "c1");
    assert_eq!(file["plan"]["claims"][0]["denominator"], "c2");
    for trial in file["plan"]["order"].as_array().unwrap() {
        let sent = read(&run.join(format!("trials/{:04}/trial.json", trial["id"].as_u64().unwrap())));
        let wanted = cells.iter().find(|cell| cell["id"] == trial["cell"]).unwrap();
        assert_eq!(sent["load"]["plan"]["scenario"]["name"], wanted["scenario"]);
    }
    // Files of before had one scenario and cells that name none; the report is the same.
    let mut old = file.clone();
    let plan = old["plan"].as_object_mut().unwrap();
    let scenarios = plan.remove("scenarios").unwrap();
    plan.insert("scenario".into(), scenarios[0].clone());
    plan["cells"].as_array_mut().unwrap().iter_mut().for_each(|cell| {
        cell.as_object_mut().unwrap().remove("scenario");
    });
    std::fs::write(run.join("run.json"), old.to_string()).unwrap();
    assert!(
        good(&["report", run.to_str().unwrap(), "--format", "markdown"]).out.contains("| Scenario | small:")
    );

    for (scenarios, at, expected) in [
        (both, "", "scenario = \"…\""),
        (both, "at = { scenario = \"smal\" }", "no cell has this scenario"),
        (both, "at = { scenario = \"small\" }", "another level in than_at"),
        ("[]", at, "the list is empty"),
        ("[\"small\", \"small\"]", at, "`small` is named twice"),
        ("[\"small\", \"larg\"]", at, "did you mean `large`?"),
    ] {
        let file = project.experiment(&text(scenarios, at));
        bad(&["run", &file, "--dry-run"], 1, &[expected]);
    }
}

#[test]
fn every_trial_builds_anew_where_that_is_asked_for() {
    let project = Project::new();
    let run = project.run(&format!(
        "[experiment]\nname = \"lab\"\nblocks = 3\nreplicas = \"rebuild\"\n[[target]]\nuse = \"sh/echo\"\n{INLINE}"
    ));
    let builds = std::fs::read_to_string(project.path("targets/sh/echo/builds")).unwrap();
    // A trial that others made void is run again.
    let trials = read(&run.join("run.json"))["plan"]["order"].as_array().unwrap().len();
    assert!(trials >= 3, "{trials}");
    assert_eq!(builds.lines().count(), 1 + trials, "once to try it, and once for each trial");
    assert!(run.join("trials/0003/build.log").is_file());
}

#[test]
fn events_reload_the_target_and_change_its_knobs() {
    let project = Project::new();
    let file = project.experiment(&format!(
        "[experiment]\nname = \"lab\"\nblocks = 1\n[[target]]\nuse = \"sh/echo\"\n{INLINE}\n\
         [[event]]\nat = \"50ms\"\nreload = true\n[[event]]\nat = \"100ms\"\nknob = {{ level = 7 }}"
    ));
    let longer = std::fs::read_to_string(&file).unwrap().replace("sample = \"200ms\"", "sample = \"3s\"");
    std::fs::write(&file, longer).unwrap();
    let runs = project.path("runs");
    done(&["run", &file, "--runs", runs.to_str().unwrap()]);
    let run = std::fs::read_dir(runs).unwrap().next().unwrap().unwrap().path();
    let trial = read(&run.join("trials/0001/trial.json"));
    let (reload, knob) = (&trial["events"][0], &trial["events"][1]);
    assert!(reload["error"].is_null() && reload["name"] == "reload", "{reload}");
    assert!(knob["error"].is_null() && knob["name"] == "level = 7", "{knob}");
    let told = std::fs::read_to_string(project.path("targets/sh/echo/reloads")).unwrap();
    // A trial that a busy host made void is run again, and its target is reloaded again.
    let trials = std::fs::read_dir(run.join("trials")).unwrap().count();
    assert_eq!(told.lines().count(), trials, "once a trial: {told}");
    for line in told.lines() {
        let words: Vec<u32> = line.split_whitespace().map(|word| word.parse().unwrap()).collect();
        assert!(words.len() == 2 && words[0] > 1024, "port and process of the target: {line}");
    }
    let log = std::fs::read_to_string(run.join("trials/0001/target.log")).unwrap();
    let levels: Vec<&str> = log.lines().filter(|line| line.starts_with("flavour=")).collect();
    assert!(levels.len() == 2 && levels[0].contains("level=1 ") && levels[1].contains("level=7 "), "{log}");
    for (event, expected) in [
        ("knob = { flavour = \"rich\" }", "takes effect when it is built"),
        ("knob = { levle = 1 }", "did you mean `level`?"),
        ("knob = { level = \"x\" }", "write a whole number"),
    ] {
        let text = format!(
            "[experiment]\nname = \"lab\"\n[[target]]\nuse = \"sh/echo\"\n{INLINE}\n[[event]]\nat = \"50ms\"\n{event}"
        );
        bad(&["run", &project.experiment(&text)], 1, &[expected, "lab.toml:"]);
    }
}

#[test]
fn layers_are_resolved_in_a_dry_run_and_mistakes_name_line_key_and_the_factor_meant() {
    let project = Project::new();
    let text = |layers: &str| {
        format!(
            "[experiment]\nname = \"lab\"\nblocks = 5\n[[target]]\nuse = \"sh/echo\"\nknobs = {{ level = [3, 1, 7] }}\n\
             {INLINE}\n[design]\nlayers = \"{layers}\""
        )
    };
    for name in ["level", "knobs.level"] {
        let file = project.experiment(&text(name));
        let plan = good(&["run", &file, "--dry-run", "--format", "json"]).out;
        let plan: Value = serde_json::from_str(&plan).unwrap();
        let wanted = serde_json::json!({
            "factor": { "kind": "knob", "name": "level" }, "levels": ["3", "1", "7"]
        });
        assert_eq!(plan["design"]["layers"], wanted, "the order of the file");
    }
    for (name, expected) in [("levels", "did you mean `level`?"), ("scenario", "name one of: level")] {
        let file = project.experiment(&text(name));
        bad(&["run", &file, "--dry-run"], 1, &["lab.toml:10:", "design.layers", expected]);
    }
}
