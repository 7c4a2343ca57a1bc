//! `prony profile` and `[profile]` as a user runs them, on the reference target.

use crate::command::{bad, done, measured, turn};
use crate::load::check_schema;
use crate::run::read;
use std::path::{Path, PathBuf};

/// The target burns CPU time, so that there is something to see.
fn lab(folder: &Path, more: &str) -> PathBuf {
    let file = folder.join("lab.toml");
    let text = format!(
        "[experiment]\nname = \"lab\"\nblocks = 1\n[[target]]\nname = \"known\"\nreference = {{ burn = \"200us\" }}\n\
         [scenario]\nrequest = {{ path = \"/ping\" }}\n[load]\nmodel = \"closed\"\nconnections = [2, 4]\n\
         [phases]\nwarmup = {{ at_least = \"100ms\", at_most = \"100ms\" }}\nsample = \"300ms\"\nsamples = 1\n{more}\n"
    );
    std::fs::write(&file, text).unwrap();
    file
}

fn has_perf() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join("perf").is_file())
}

#[test]
fn the_reference_target_is_profiled_or_the_refusal_says_what_is_missing() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let file = lab(folder.path(), "");
    let out = folder.path().join("out");
    let (file, out_text) = (file.to_str().unwrap(), out.to_str().unwrap());
    // Go's kind cannot be had of it, which costs the others nothing.
    let args = [
        "profile",
        file,
        "--cell",
        "c1",
        "--compare",
        "c2",
        "--kind",
        "cpu,perf",
        "--seconds",
        "1",
        "--out",
        out_text,
        "--pin",
        "off",
    ];
    let done = done(&args);
    let profiles = read(&out.join("profiles.json"));
    check_schema("profiles", &profiles);
    assert!(done.out.contains("outside all trials"), "{}", done.out);
    let cell = &profiles["cells"][0];
    let refused = |kind: &str| {
        let all = cell["refused"].as_array().unwrap();
        all.iter().find(|one| one["kind"] == kind).cloned()
    };
    let go = refused("cpu").expect("the reference target has no pprof");
    assert!(go["remedy"].as_str().unwrap().contains("go_pprof"), "{go}");
    if let Some(perf) = refused("perf") {
        assert!(!has_perf() || !perf["why"].as_str().unwrap().contains("not installed"), "{perf}");
        assert!(perf["remedy"].as_str().unwrap().contains("linux-perf"), "{perf}");
        assert_eq!(done.code, 2, "{}\n{}", done.out, done.err);
        eprintln!("skipped: perf gives nothing here ({}) (apt-get install linux-perf)", perf["why"]);
        return;
    }
    assert_eq!(done.code, 0, "{}\n{}", done.out, done.err);
    let perf = &cell["taken"][0];
    assert!(perf["unit"] == "cpu_ns" && perf["total"].as_u64().unwrap() > 0, "{perf}");
    for ending in ["svg", "folded", "top.txt", "script.txt"] {
        assert!(out.join(format!("c1/perf.{ending}")).metadata().unwrap().len() > 0, "{ending}");
    }
    let svg = std::fs::read_to_string(out.join("perf-c2-against-c1.svg")).unwrap();
    assert!(svg.contains("</svg>"));
    assert_eq!(profiles["comparisons"][0]["base"], "c1");
}

#[test]
fn a_run_takes_its_profiles_after_its_trials_and_outside_of_them() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let file = lab(folder.path(), "[profile]\nkinds = [\"perf\"]\nwindow = \"1s\"\nat = \"all\"");
    let runs = folder.path().to_str().unwrap();
    let done = measured(&["run", file.to_str().unwrap(), "--runs", runs, "--pin", "off"]);
    let mut entries = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let run = entries.find(|path| path.join("trials").is_dir()).expect("there is a run folder");
    let profiles = read(&run.join("profiles/profiles.json"));
    check_schema("profiles", &profiles);
    let cells: Vec<&str> =
        profiles["cells"].as_array().unwrap().iter().map(|cell| cell["cell"].as_str().unwrap()).collect();
    assert_eq!(cells, ["c1", "c2"]);
    assert!(done.err.contains("outside all trials"), "{}", done.err);
    let trials = std::fs::read_dir(run.join("trials")).unwrap().count();
    assert_eq!(trials, 2, "a profile is no trial");
    let analysis = read(&run.join("analysis.json"));
    assert_eq!(analysis["trials"].as_array().unwrap().len(), 2);
}

#[test]
fn mistakes_are_told_before_anything_is_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let file = lab(folder.path(), "");
    let file = file.to_str().unwrap();
    bad(&["profile", file, "--cell", "c9"], 1, &["no cell `c9`", "c1 ("]);
    bad(&["profile", file, "--seconds", "0"], 1, &["out of range", "1 to 300"]);
    bad(&["profile", file, "--compare", "c1"], 1, &["--compare names c1"]);
    bad(&["profile", file, "--kind", "perf,perf"], 1, &["perf twice"]);
    bad(&["profile", file, "--kind", "prf"], 1, &["perf"]);
    bad(&["profile", runs_nowhere(folder.path())], 1, &["is no run folder"]);
}

fn runs_nowhere(folder: &Path) -> &str {
    folder.to_str().unwrap()
}
