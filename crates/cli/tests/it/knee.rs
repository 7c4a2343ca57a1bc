//! `prony knee`: ladders and searches as a user runs them, against the reference target, whose capacity is known.

use crate::command::{bad, done, good, turn};
use crate::load::check_schema;
use crate::run::read;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Answers per second at most, in both laws.
const CAPACITY: f64 = 800.0;
/// All busy from four connections on.
const SHARP: &str = "mean = \"5ms\", servers = 4";
/// The generator may be some milliseconds late before a trial is void.
const PATIENT: &str = "mean = \"50ms\", servers = 40";

fn experiment(law: &str, load: &str) -> String {
    format!(
        "[experiment]\nname = \"lab\"\n[[target]]\nname = \"known\"\n\
         reference = {{ law = \"constant\", {law} }}\n\
         [scenario]\nrequest = {{ path = \"/ping\" }}\n[load]\n{load}\n\
         [phases]\nwarmup = {{ at_least = \"100ms\", at_most = \"100ms\" }}\nsample = \"400ms\"\nsamples = 1\n"
    )
}

/// A folder with this experiment in it.
struct Lab {
    folder: tempfile::TempDir,
    file: PathBuf,
}

impl Lab {
    fn new(law: &str, load: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("lab.toml");
        std::fs::write(&file, experiment(law, load)).unwrap();
        Self { folder, file }
    }

    fn args<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        let runs = self.folder.path().to_str().unwrap();
        [&["knee", self.file.to_str().unwrap(), "--runs", runs, "--pin", "off"], more].concat()
    }

    fn run(&self) -> PathBuf {
        let mut found = std::fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap().path());
        found.find(|path| path.join("trials").is_dir()).expect("there is a run folder")
    }
}

fn capacity(run: &Path) -> Value {
    let analysis = read(&run.join("analysis.json"));
    check_schema("analysis", &analysis);
    analysis["capacity"][0].clone()
}

#[test]
#[ignore = "half a minute of load; part of make test-all, a ladder over a fleet is in make test"]
fn a_ladder_finds_the_known_capacity_and_tells_it_in_every_file() {
    let _turn = turn();
    let lab = Lab::new(SHARP, "model = \"closed\"\nconnections = [1, 2, 4, 8, 16, 32]");
    let done = done(&lab.args(&["--blocks", "5"]));
    // 2 where a busy machine left no trial valid.
    assert!([0, 2].contains(&done.code), "{}\n{}", done.out, done.err);
    let run = lab.run();
    let found = capacity(&run);
    let rows = found["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 6);
    for row in rows {
        let Some(seen) = row["throughput_per_s"]["value"].as_f64() else { continue };
        assert!(seen < 1.02 * CAPACITY, "no level can give more: {row}");
    }
    // A busy machine may void trials; then, and only then, there is a refusal in its place.
    match found["highest"]["per_s"].as_f64() {
        Some(highest) => assert!((0.8..1.02).contains(&(highest / CAPACITY)), "{found}"),
        None => assert!(!found["highest_refused"]["text"].as_str().unwrap().is_empty()),
    }
    let knee = &found["knees"][0];
    match knee["at"].as_f64() {
        Some(at) => assert!((2.0..8.0).contains(&at), "{knee}"),
        None => assert!(!knee["refused"]["text"].as_str().unwrap().is_empty()),
    }
    assert!(done.out.contains("Capacity") && done.out.contains("Knee of throughput"), "{}", done.out);
    assert!(std::fs::read_to_string(run.join("report.md")).unwrap().contains("## Capacity"));
    let plain = crate::command::done(&["report", run.to_str().unwrap(), "--format", "html-plain"]);
    assert!(plain.out.contains("id=\"capacity\""));
    // From files alone, the same again.
    good(&["report", run.to_str().unwrap()]);
    assert_eq!(capacity(&run), found);
    check_schema("run", &read(&run.join("run.json")));
}

#[test]
#[ignore = "searches twice, half a minute; run by `make test-all`"]
fn a_search_ends_by_its_budget_and_goes_on_where_it_was() {
    let _turn = turn();
    let lab = Lab::new(PATIENT, "model = \"open\"\nrate = 600\nconnections = 200");
    let cut = done(&lab.args(&["--objective", "errors < 1%", "--budget", "4s", "--max-rate", "10k"]));
    // 2 where a busy machine left no trial valid, 3 where nothing is verified yet.
    assert!([0, 2, 3].contains(&cut.code), "{}\n{}", cut.out, cut.err);
    let run = lab.run();
    let search = || capacity(&run)["search"].clone();
    let steps = |search: &Value| search["steps"].as_array().unwrap().clone();
    let mut known = steps(&search());
    assert!(!known.is_empty());
    for _ in 0..12 {
        if search()["end"] != "cut_off" {
            break;
        }
        let again = done(&["run", "--resume", run.to_str().unwrap()]);
        assert!([0, 2, 3].contains(&again.code), "{}\n{}", again.out, again.err);
        let now = steps(&search());
        assert_eq!(now[..known.len()], known[..], "what was measured stays");
        assert!(now.len() > known.len(), "it goes on");
        known = now;
    }
    let search = search();
    // A busy machine may pass nothing, or be too slow for the resumptions; it never passes more than there is.
    match search["verified_per_s"].as_f64() {
        Some(verified) => assert!((0.5..1.03).contains(&(verified / CAPACITY)), "{search}"),
        None => assert!(!search["refused"]["text"].as_str().unwrap().is_empty(), "{search}"),
    }
    let order = read(&run.join("run.json"))["plan"]["order"].as_array().unwrap().len();
    assert_eq!(order, known.len(), "every trial is an ordinary trial of the folder");
    assert!(run.join("trials/0001/latency.hlog").is_file());
}

/// A search has no plan that ends, so it is the more worth to know early why nothing passes.
#[test]
fn a_search_tells_what_it_found_between_its_trials() {
    let _turn = turn();
    let law = format!("{PATIENT}, error_rate = 0.2, seed = 3");
    let lab = Lab::new(&law, "model = \"open\"\nrate = 1200\nconnections = 100");
    let ran = done(&lab.args(&["--objective", "errors < 1%", "--budget", "4s", "--max-rate", "2k"]));
    let first = read(&lab.run().join("trials/0001/trial.json"));
    if first["outcome"] != "valid" {
        println!("skipped: the first trial is void: {}", first["load"]["validity"]["reasons"]);
        return;
    }
    let (before, after) = ran.err.split_once("found so far: known, failed requests").expect(&ran.err);
    assert!(before.contains("trial 1") && !before.contains("trial 2"), "{}", ran.err);
    assert!(after.contains("trial 2"), "{}", ran.err);
    // The worst cell is another now, which the search has added: the same cause at the same target is no news.
    assert!(!after.contains("known, failed requests"), "{}", ran.err);
}

#[test]
fn a_dry_run_shows_the_ladder_of_a_url_and_sends_nothing() {
    let url = "http://127.0.0.1:1/x?a=\"b\"";
    let text =
        good(&["knee", url, "--dry-run", "--pin", "off", "--order", "up-down", "--ladder", "2,8,4"]).out;
    for part in ["rising and falling in turn", "GET /x?a=\"b\"", "block 10", "2 connections"] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    let json = good(&["knee", url, "--dry-run", "--pin", "off", "--format", "json"]).out;
    let plan: Value = serde_json::from_str(&json).unwrap();
    let connections: Vec<u64> = plan["cells"]
        .as_array()
        .unwrap()
        .iter()
        .map(|cell| cell["load"]["connections"].as_u64().unwrap())
        .collect();
    assert_eq!((connections[0], connections[connections.len() - 1]), (100, 50_000));
    assert_eq!(plan["capacity"]["axis"], "connections");
    let search =
        good(&["knee", url, "--dry-run", "--pin", "off", "--objective", "p99.9 < 50ms and errors < 0.1%"]);
    assert!(search.out.contains("p99.9 < 50ms and errors < 0.1%") && search.out.contains("5 confirmations"));
    assert!(search.err.contains("3688 requests"), "{}", search.err);
}

#[test]
fn mistakes_are_told_with_their_remedy() {
    let lab = Lab::new(SHARP, "model = \"closed\"\nconnections = 8");
    bad(&lab.args(&["--dry-run"]), 1, &["lab.toml:", "one level of load is no ladder", "--ladder 1,2,4,8"]);
    bad(&lab.args(&["--objective", "p99 < 5ms"]), 1, &["a search varies the rate of an open load"]);
    bad(&lab.args(&["--objective", "p98 < 5ms"]), 1, &["there is no metric `p98`"]);
    bad(&lab.args(&["--objective", "p50 < 5ms", "--ladder", "1,2"]), 1, &["cannot be used with"]);
    bad(&lab.args(&["--ladder", "1,2", "--blocks", "0"]), 1, &["--blocks 0 would measure nothing"]);
    bad(&lab.args(&["--ladder", "1,2", "--budget", "1s"]), 1, &["give a larger --budget"]);
    bad(&lab.args(&["--ladder", "1,two"]), 1, &["two"]);
    bad(&["knee", "/nonexistent/x.toml"], 1, &["cannot read /nonexistent/x.toml"]);
    bad(&["knee", "http://"], 1, &["cannot be loaded"]);
}
