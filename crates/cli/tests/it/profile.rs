//! `prony profile` and `[profile]` as a user runs them: on the reference target, a JVM and PHP.

use crate::command::{bad, done, is_there, measured, turn};
use crate::load::check_schema;
use crate::run::read;
use serde_json::Value;
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
    assert!(go["remedy"]["text"].as_str().unwrap().contains("go_pprof"), "{go}");
    if let Some(perf) = refused("perf") {
        assert!(
            !is_there("perf") || !perf["why"]["text"].as_str().unwrap().contains("not installed"),
            "{perf}"
        );
        assert!(perf["remedy"]["text"].as_str().unwrap().contains("linux-perf"), "{perf}");
        assert_eq!(done.code, 2, "{}\n{}", done.out, done.err);
        eprintln!("skipped: perf gives nothing here ({}) (apt-get install linux-perf)", perf["why"]["text"]);
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

/// The folded stacks of a profile, which must be among what was taken.
fn folded(out: &Path, name: &str) -> String {
    let profiles = read(&out.join("profiles.json"));
    let cell = &profiles["cells"][0];
    let is_taken = cell["taken"].as_array().unwrap().iter().any(|taken| taken["name"] == name);
    assert!(is_taken, "no {name}: {cell:#}");
    let id = cell["cell"].as_str().unwrap();
    std::fs::read_to_string(out.join(format!("{id}/{name}.folded"))).unwrap()
}

#[test]
#[ignore = "compiles and profiles a JVM, twenty seconds; run by `make test-all`"]
fn a_jvm_tells_where_it_runs_what_it_allocates_and_what_it_waits_for() {
    if let Some(program) = ["jcmd", "java"].into_iter().find(|program| !is_there(program)) {
        eprintln!("skipped: {program} is missing (apt-get install openjdk-17-jdk-headless)");
        return;
    }
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("targets/java/locked");
    std::fs::create_dir_all(&target).unwrap();
    std::fs::write(target.join("target.toml"), include_str!("jvm/target.toml")).unwrap();
    std::fs::write(target.join("Locked.java"), include_str!("jvm/Locked.java")).unwrap();
    let file = lab(folder.path(), "");
    let text = std::fs::read_to_string(&file).unwrap();
    let text = text.replace("name = \"known\"\nreference = { burn = \"200us\" }", "use = \"java/locked\"");
    assert!(text.contains("java/locked"));
    std::fs::write(&file, text).unwrap();
    let out = folder.path().join("out");
    let take = |seconds: &str| {
        let (file, out) = (file.to_str().unwrap(), out.to_str().unwrap());
        let args = ["profile", file, "--cell", "c2", "--kind", "jfr", "--seconds", seconds];
        done(&[&args[..], &["--out", out, "--pin", "off"]].concat())
    };
    let taken = take("3");
    assert_eq!(taken.code, 0, "{}\n{}", taken.out, taken.err);
    check_schema("profiles", &read(&out.join("profiles.json")));
    assert!(folded(&out, "jfr").contains("Locked.work "), "where it runs");
    assert!(folded(&out, "jfr-allocations").contains("Locked.work;long[] "), "what it allocates");
    let waits = folded(&out, "jfr-waits");
    // Deeper than five frames, with which `jfr print` is content.
    let deep =
        waits.lines().find(|line| line.contains("Locked.work;waits for java.lang.Class ")).expect(&waits);
    assert!(deep.starts_with("java.lang.Thread.run;") && deep.matches(';').count() > 5, "{deep}");
    // Taken again it stands there once.
    assert_eq!(take("1").code, 0);
    let again = read(&out.join("profiles.json"));
    let windows: Vec<&Value> =
        again["cells"].as_array().unwrap().iter().map(|cell| &cell["window_ns"]).collect();
    assert_eq!(windows, [1_000_000_000_u64], "{again:#}");
}

#[test]
fn php_behind_fpm_is_profiled_where_excimer_is_installed() {
    if let Some(program) = ["php", "php-fpm8.2", "nginx"].into_iter().find(|program| !is_there(program)) {
        eprintln!("skipped: {program} is missing (`prony targets` says how to get it)");
        return;
    }
    let modules = std::process::Command::new("php").arg("-m").output().unwrap();
    if !String::from_utf8_lossy(&modules.stdout).contains("excimer") {
        eprintln!("skipped: PHP has no Excimer (apt-get install php-excimer)");
        return;
    }
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let taken = done(&[
        "profile",
        "experiments/php-fpm-layers.toml",
        "--cell",
        "c7",
        "--kind",
        "php",
        "--seconds",
        "3",
        "--out",
        out.to_str().unwrap(),
        "--pin",
        "off",
    ]);
    assert_eq!(taken.code, 0, "{}\n{}", taken.out, taken.err);
    assert!(folded(&out, "php").contains("index.php"), "{}", folded(&out, "php"));
}

#[test]
#[ignore = "a quarter of a minute of load; part of make test-all, a profile of one load is in make test"]
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
    // Two, and those that were run again because a busy host made them void.
    let planned = read(&run.join("run.json"))["plan"]["order"].as_array().unwrap().len();
    let trials = std::fs::read_dir(run.join("trials")).unwrap().count();
    assert_eq!(trials, planned, "a profile is no trial");
    let analysis = read(&run.join("analysis.json"));
    assert_eq!(analysis["trials"].as_array().unwrap().len(), planned);
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
