//! Mistakes in files and arguments: the cause, the place and the remedy, and exit code 1.

use crate::command::{bad, done, good};
use std::path::PathBuf;

/// An experiment with one part replaced, in a temporary folder.
fn experiment(folder: &tempfile::TempDir, from: &str, to: &str) -> PathBuf {
    let good = "\
[experiment]
name = \"t\"
[[target]]
name = \"a\"
reference = { mean = \"1ms\" }
[[target]]
name = \"b\"
reference = { mean = \"2ms\" }
[scenario]
request = { path = \"/\" }
[load]
model = \"closed\"
connections = [2, 4]
[phases]
sample = \"1s\"
[[claim]]
text = \"c\"
metric = \"p50\"
better = \"a\"
than = \"b\"
at = { connections = 2 }
ratio = \"< 1\"
";
    assert!(good.contains(from), "the example has no `{from}`");
    let path = folder.path().join("e.toml");
    std::fs::write(&path, good.replacen(from, to, 1)).unwrap();
    path
}

#[test]
fn mistakes_in_an_experiment_are_told_with_place_and_remedy() {
    let folder = tempfile::tempdir().unwrap();
    for (from, to, texts) in [
        (
            "connections = [2, 4]",
            "conections = 2",
            &["e.toml:13:1", "unknown key `conections`", "did you mean `connections`?"][..],
        ),
        ("model = \"closed\"", "model = \"open\"", &["e.toml:11:", "an open load needs a rate"]),
        ("[2, 4]", "[]", &["e.toml:13:1", "the list is empty"]),
        ("[2, 4]", "200001", &["out of range", "200000"]),
        ("name = \"b\"", "name = \"a\"", &["e.toml:6:", "two targets are called `a`"]),
        (
            "reference = { mean = \"1ms\" }",
            "",
            &["e.toml:3:", "exactly one of use, url, image, command, reference"],
        ),
        ("reference = { mean = \"1ms\" }", "use = \"go/jin\"", &["no target `go/jin`"]),
        ("reference = { mean = \"1ms\" }", "url = \"ftp://127.0.0.1\"", &["https://"]),
        (
            "reference = { mean = \"1ms\" }",
            "url = \"http://127.0.0.1\"\ntls = { insecure = true }",
            &["plain text", "https://"],
        ),
        (
            "reference = { mean = \"1ms\" }",
            "url = \"https://127.0.0.1\"\ntls = { versionz = [\"1.3\"] }",
            &["versionz", "versions"],
        ),
        ("metric = \"p50\"", "metric = \"p51\"", &["e.toml:18:10", "did you mean `p50`?"]),
        ("better = \"a\"", "better = \"aa\"", &["e.toml:19:1", "no target `aa`", "did you mean `a`?"]),
        ("ratio = \"< 1\"", "ratio = \"about 1\"", &["e.toml:22:1", "no comparison"]),
        ("at = { connections = 2 }", "", &["several levels", "at = {"]),
        (
            "at = { connections = 2 }",
            "at = { connections = 3 }",
            &["e.toml:21", "no cell has this scenario and load"],
        ),
        ("sample = \"1s\"", "sample = \"1\"", &["e.toml:15:10", "unit is missing"]),
        ("sample = \"1s\"", "sample = \"1ms\"", &["out of range", "100ms"]),
        ("connections = [2, 4]", "connections = [2, \"x\"]", &["e.toml:13:", "does not begin with a number"]),
        ("connections = [2, 4]", "connections = 2.5", &["e.toml:13:", "not a whole number"]),
        (
            "reference = { mean = \"1ms\" }",
            "reference = { servers = 0 }",
            &["e.toml:5:", "servers must be from 1"],
        ),
        (
            "reference = { mean = \"1ms\" }",
            "reference = {}\nenv = { A = \"b\" }",
            &["e.toml:6:", "env", "remove it"],
        ),
        ("name = \"t\"", "name = \"t\"\nconfidence = 0.3", &["e.toml:3:1", "above 0.5"]),
        ("request = { path = \"/\" }", "use = \"../ping\"", &["is no name of a file in scenarios/"]),
        ("name = \"t\"", "name = \"../t\"", &["e.toml:2:1", "folder's name"]),
        ("path = \"/\"", "path = \"no slash\"", &["valid request target"]),
        ("[scenario]\nrequest = { path = \"/\" }", "[scenario]\nuse = \"pong\"", &["pong.toml"]),
        ("[experiment]", "[experiment", &["e.toml:1:"]),
    ] {
        let path = experiment(&folder, from, to);
        bad(&["run", path.to_str().unwrap(), "--dry-run"], 1, texts);
    }
    let path = experiment(&folder, "name", "name");
    let plan = good(&["run", path.to_str().unwrap(), "--dry-run"]);
    assert!(plan.out.contains("24 trials"), "{}", plan.out);
}

#[test]
fn the_order_is_a_randomised_block_design_and_a_function_of_the_seed() {
    let order = |seed: &str| {
        let folder = tempfile::tempdir().unwrap();
        let path = experiment(&folder, "name = \"t\"", &format!("name = \"t\"\nseed = {seed}"));
        let plan = good(&["run", path.to_str().unwrap(), "--dry-run", "--format", "json"]);
        let plan: serde_json::Value = serde_json::from_str(&plan.out).unwrap();
        let order = plan["order"].as_array().unwrap().clone();
        for block in 1..=5 {
            let mut cells: Vec<_> =
                order.iter().filter(|t| t["block"] == block).map(|t| t["cell"].to_string()).collect();
            cells.sort();
            assert_eq!(
                cells,
                ["\"c1\"", "\"c2\"", "\"c3\"", "\"c4\""],
                "block {block} visits every cell once"
            );
        }
        order
    };
    assert_eq!(order("1"), order("1"));
    assert_ne!(order("1"), order("2"));
}

#[test]
fn mistakes_in_arguments_are_told_before_anything_is_sent() {
    bad(&["load"], 1, &["<URL>"]);
    bad(&["load", "ftp://h"], 1, &["only http://"]);
    bad(&["load", "127.0.0.1:1", "-d", "10x"], 1, &["not one of its units", "30s"]);
    bad(&["load", "127.0.0.1:1", "-c", "0"], 1, &["-c: 0 connections are out of range", "from 1"]);
    bad(&["load", "127.0.0.1:1", "-c", "2", "-t", "3"], 1, &["3 workers cannot share 2 connections"]);
    bad(&["load", "127.0.0.1:1", "-R", "0"], 1, &["-R: a rate of 0/s is out of range"]);
    bad(&["load", "127.0.0.1:1", "-n", "0"], 1, &["-n: 0 would send nothing"]);
    bad(&["load", "127.0.0.1:1", "-H", "nocolon"], 1, &["no header field"]);
    bad(&["load", "127.0.0.1:1", "-H", "a b: c"], 1, &["not a valid header name"]);
    bad(&["load", "127.0.0.1:1", "-b", "@/no/such/file"], 1, &["/no/such/file"]);
    bad(&["load", "127.0.0.1:1", "--pin", "99999"], 1, &["99999"]);
    bad(&["load", "192.0.2.1", "-d", "1s"], 1, &["neither loopback nor private", "--consent 192.0.2.1"]);
    bad(&["load", "127.0.0.1:1", "--fail", "p98>1ms"], 1, &["p98>1ms", "did you mean `p9"]);
    bad(&["load", "127.0.0.1:1", "--hgrm", "/no/such/folder/x"], 1, &["/no/such/folder"]);
    bad(&["load", "--compat", "ab", "-X", "p", "http://127.0.0.1:1"], 1, &["`-X` cannot be translated"]);
    bad(&["load", "--compat", "wrj", "127.0.0.1:1"], 1, &["did you mean `wrk`?"]);
    bad(&["run", "/no/such/file.toml"], 1, &["/no/such/file.toml"]);
    bad(&["run", "--resume", "/tmp"], 1, &["no run folder"]);
    bad(&["report", "/no/such/run"], 1, &["no run folder"]);
    bad(&["reference", "--listen", "0.0.0.0:0"], 1, &["--public"]);
    bad(&["reference", "--error-rate", "2"], 1, &["shares from 0 to 1"]);
    bad(&["schema", "lod"], 1, &["did you mean `load`?"]);
}

#[test]
fn help_shows_examples_and_every_shell_has_completions() {
    for command in ["run", "load", "report", "reference", "doctor", "calibrate", "completions"] {
        assert!(good(&[command, "--help"]).out.contains("Examples:"), "{command}");
    }
    for shell in ["bash", "zsh", "fish"] {
        assert!(good(&["completions", shell]).out.contains("prony"), "{shell}");
    }
    assert!(good(&["--version"]).out.starts_with("prony "));
}

#[test]
fn the_host_and_the_targets_are_listed() {
    let doctor: serde_json::Value = serde_json::from_str(&good(&["doctor", "--format", "json"]).out).unwrap();
    assert_eq!(doctor["schema"], "prony.doctor/2");
    assert!(doctor["facts"].as_array().unwrap().len() >= 20);
    assert!(good(&["doctor"]).out.contains("facts:"));
    let targets = good(&["targets"]).out;
    for name in ["go/nethttp", "go/gin", "go/echo", "reference"] {
        assert!(targets.contains(name), "{targets}");
    }
    let listed: serde_json::Value =
        serde_json::from_str(&good(&["targets", "--format", "json"]).out).unwrap();
    let names: Vec<&str> =
        listed["targets"].as_array().unwrap().iter().map(|target| target["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"go/nethttp") && names.is_sorted(), "{names:?}");
    crate::load::check_schema("targets", &listed);
    crate::load::check_schema("doctor", &doctor);
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let mut child =
        crate::command::prony(&["schema", "analysis"]).stdout(std::process::Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().code().is_some_and(|code| code == 0));
    assert_eq!(done(&["nonsense"]).code, 1);
}
