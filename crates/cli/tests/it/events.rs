//! `[[event]]` in experiments: what happens at its time, and what the run says of it.

use crate::command::{bad, done};
use crate::run::{Lab, read};
use std::path::Path;

const ONE: &str = "[[target]]\nname = \"one\"\nreference = { mean = \"1ms\" }";

/// A lab whose samples last six seconds: events need whole intervals of a second around them.
fn lab(target: &str, events: &str) -> Lab {
    let lab = Lab::new(target, events, "blocks = 1");
    let text = std::fs::read_to_string(&lab.file).unwrap();
    std::fs::write(&lab.file, text.replace("sample = \"400ms\"", "sample = \"6s\"")).unwrap();
    lab
}

fn trial(run: &Path) -> serde_json::Value {
    read(&run.join("trials/0001/trial.json"))
}

#[test]
fn a_killed_target_comes_back_and_the_run_tells_what_it_cost() {
    let lab = lab(ONE, "[[event]]\nat = \"2500ms\"\nkill = true\n");
    let output = done(&lab.args()).out;
    let file = trial(&lab.run());
    let event = &file["events"][0];
    assert_eq!(event["name"], "kill");
    assert!(event["error"].is_null() && event["still_down"] == false, "{event}");
    assert!(event["unavailable_ns"].as_u64().unwrap() > 0, "{event}");
    let effect = &event["effect"];
    assert!(effect["lost"].as_u64().unwrap() > 0, "{event}");
    let (before, worst) = (&effect["before"]["throughput_per_s"], &effect["worst"]["throughput_per_s"]);
    assert!(worst.as_f64().unwrap() < before.as_f64().unwrap(), "{event}");
    let requests = &file["load"]["requests"];
    let sum: u64 =
        ["completed", "failed", "censored"].iter().map(|key| requests[key].as_u64().unwrap()).sum();
    assert_eq!(requests["scheduled"].as_u64().unwrap(), sum);
    // A void trial's events are in its file only.
    if file["outcome"] == "void" {
        return;
    }
    assert!(output.contains("Events") && output.contains("kill in one"), "{output}");
    for format in ["markdown", "html-plain"] {
        let report = done(&["report", lab.run().to_str().unwrap(), "--format", format]).out;
        assert!(report.contains("Requests lost"), "{format}");
    }
}

#[test]
fn a_command_that_fails_is_told_and_the_target_goes_on() {
    let lab = lab(
        ONE,
        "[[event]]\nat = \"2s\"\nrun = [\"sh\", \"-c\", \"echo broken {port} >&2; exit 3\"]\nname = \"deploy\"\n\
         [[event]]\nat = \"1s\"\neat_cpu = { cores = 1, for = \"500ms\" }\n",
    );
    let output = done(&lab.args()).out;
    let file = trial(&lab.run());
    let (first, second) = (&file["events"][0], &file["events"][1]);
    assert!(first["error"].is_null() && first["name"] == "1 cores busy for 500ms", "{first}");
    assert!(
        first["ended_ns"].as_u64().unwrap() - first["began_ns"].as_u64().unwrap() >= 500_000_000,
        "{first}"
    );
    let error = second["error"]["text"].as_str().unwrap();
    assert!(error.contains("`sh` failed") && error.contains("broken "), "{error}");
    assert!(second["unavailable_ns"].is_null() && second["still_down"] == false, "{second}");
    assert!(file["outcome"] == "void" || output.contains("could not be carried out"), "{output}");
}

#[test]
fn wrong_events_are_refused_with_their_place() {
    for (event, expected) in [
        ("at = \"7s\"\nkill = true", "not within the samples"),
        ("at = \"1s\"", "exactly one of"),
        ("at = \"1s\"\nkill = true\nrestart = true", "exactly one of"),
        ("at = \"1s\"\nkill = false", "does not happen"),
        ("at = \"1s\"\nrun = []", "name a program"),
        ("at = \"1s\"\neat_cpu = { cores = 0, for = \"1s\" }", "1 to 1024"),
        ("at = \"1s\"\nsignal = \"KILL\"", "unknown value `KILL`"),
        ("at = \"1s\"\nkil = true", "kill"),
    ] {
        let lab = lab(ONE, &format!("[[event]]\n{event}\n"));
        bad(&lab.args(), 1, &[expected, "lab.toml:"]);
    }
    let lab = lab("[[target]]\nurl = \"http://127.0.0.1:1\"", "[[event]]\nat = \"1s\"\nkill = true\n");
    bad(&lab.args(), 1, &["did not start"]);
}
