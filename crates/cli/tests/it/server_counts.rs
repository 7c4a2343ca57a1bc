//! Client against server through the whole run: the reference target and a server at a URL are asked what they counted,
//! and a count that is wrong voids the trial.

use crate::command::{Server, bad, done};
use crate::load::check_schema;
use crate::run::{Lab, read};
use serde_json::Value;

/// The one trial of an experiment, which may be void where the machine is busy.
fn trial(lab: &Lab) -> Value {
    let done = done(&lab.args());
    assert!([0, 2].contains(&done.code), "{done:?}");
    let trial = read(&lab.run().join("trials/0001/trial.json"));
    check_schema("trial", &trial);
    trial
}

fn gate<'a>(trial: &'a Value, name: &str) -> Option<&'a Value> {
    trial["load"]["validity"]["gates"].as_array().unwrap().iter().find(|gate| gate["gate"] == name)
}

#[test]
fn the_reference_target_is_held_against_the_client() {
    let lab = Lab::new("[[target]]\nreference = { mean = \"1ms\", servers = 8 }", "", "blocks = 1");
    let text = std::fs::read_to_string(&lab.file).unwrap();
    let text = text.replace("connections = 4", "connections = 8").replace("400ms", "1500ms");
    std::fs::write(&lab.file, text).unwrap();
    let trial = trial(&lab);
    let seen = &trial["target"]["server"];
    assert!(seen["missing"].is_null(), "{seen}");
    let (counted, answers) =
        (seen["requests"].as_f64().unwrap(), seen["client"]["answers"].as_f64().unwrap());
    assert!(answers > 100.0 && (counted - answers).abs() < 0.2 * answers, "{seen}");
    // 1 ms by its own clock, in buckets of an eighth; the middle of 8 servers is never below.
    assert!(seen["p95"]["up_to_ns"].as_u64().unwrap() >= 1_000_000, "{seen}");
    assert!(gate(&trial, "server_counts").unwrap()["ok"].as_bool().unwrap(), "{trial}");
    assert_eq!(gate(&trial, "server_p95").is_some(), trial["load"]["latency_ns"]["service"]["p95"].is_u64());
}

#[test]
fn a_wrong_count_voids_and_a_missing_one_is_told() {
    let server = Server::start(&["--mean", "1ms"]);
    let of = |pointer: &str, checks: &str| {
        let metrics = format!("metrics = {{ requests = {{ path = \"/stats\", pointer = \"{pointer}\" }} }}");
        let target = format!("[[target]]\nurl = \"{}\"\n{metrics}\n{checks}", server.url(""));
        trial(&Lab::new(&target, "", "blocks = 1"))
    };
    let right = of("/requests", "");
    assert!(gate(&right, "server_counts").unwrap()["ok"].as_bool().unwrap(), "{right}");
    let wrong = of("/connections", "");
    assert_eq!(wrong["outcome"], "void");
    let gate_of_wrong = gate(&wrong, "server_counts").unwrap();
    assert!(!gate_of_wrong["ok"].as_bool().unwrap(), "{gate_of_wrong}");
    // All that it may differ by is allowed now, so that the count passes again.
    let allowed = of("/connections", "[checks]\ncounts = 1.0");
    assert!(gate(&allowed, "server_counts").unwrap()["ok"].as_bool().unwrap());
    let missing = of("/nothing", "");
    assert!(gate(&missing, "server_counts").is_none());
    let notes = missing["load"]["notes"].to_string();
    assert!(notes.contains("at /nothing is no whole number"), "{notes}");
}

#[test]
fn mistakes_in_metrics_and_checks_are_told_with_their_place() {
    for (lines, texts) in [
        ("[checks]\ncounts = 0.0", &["checks.counts", "above 0 and at most 1"][..]),
        ("[checks]\ncounts = nan", &["checks.counts"]),
        ("[checks]\ncounts = 2", &["checks.counts"]),
        ("[checks]\np95 = \"0s\"", &["checks.p95", "give a time such as"]),
        ("[checks]\np96 = \"1s\"", &["did you mean `p95`?"]),
        (
            "metrics = { requests = { path = \"stats\", pointer = \"/a\" } }",
            &["target.0.metrics.requests.path", "begin it with `/`"],
        ),
        ("metrics = { requests = { path = \"/stats\", pointer = \"a\" } }", &["is not a JSON pointer"]),
        ("metrics = { prometheus = { path = \"/metrics\" } }", &["names nothing that could be read"]),
        ("metrics = { prometheus = { path = \"/metrics\", countr = \"a\" } }", &["did you mean `counter`?"]),
    ] {
        let lab = Lab::new(&format!("[[target]]\nurl = \"http://127.0.0.1:1\"\n{lines}"), "", "blocks = 1");
        bad(&["run", lab.file.to_str().unwrap(), "--dry-run"], 1, texts);
    }
    let lab = Lab::new("[[target]]\nreference = {}\nmetrics = { go_runtime = \"/a\" }", "", "blocks = 1");
    bad(&["run", lab.file.to_str().unwrap(), "--dry-run"], 1, &["target.0.metrics", "is known", "remove it"]);
}
