//! `prony why` and `prony intervene` on real runs: a planted quota is found, tried and confirmed.

use crate::command::{bad, done, good};
use crate::load::check_schema;
use crate::run::{Lab, read};
use serde_json::Value;

/// A target that burns a millisecond of CPU for each request, held to half a CPU.
const THROTTLED: &str =
    "[[target]]\nname = \"held\"\nreference = { burn = \"1ms\" }\nlimits = { cpus = 0.5 }";

#[test]
fn a_quota_is_found_and_an_intervention_confirms_it() {
    let lab = Lab::new(THROTTLED, "", "blocks = 2");
    let text = std::fs::read_to_string(&lab.file).unwrap();
    let longer = text.replace("sample = \"400ms\"", "sample = \"1500ms\"");
    assert!(longer != text);
    std::fs::write(&lab.file, longer).unwrap();
    let ran = done(&lab.args());
    assert!([0, 2].contains(&ran.code), "{}\n{}", ran.out, ran.err);
    let run = lab.run();
    let path = run.to_str().unwrap();
    let file: Value = serde_json::from_str(&good(&["why", path, "--format", "json"]).out).unwrap();
    check_schema("why", &file);
    for signals in ["0001", "0002"] {
        check_schema("signals", &read(&run.join("trials").join(signals).join("signals.json")));
    }
    bad(&["why", path, "--cell", "c9"], 1, &["there is no cell `c9`", "c1"]);
    bad(&["intervene", path, "--cause", "nonsense"], 1, &["there is no finding `nonsense`", "name one of"]);
    // On a busy machine other findings may come first, rightly.
    let found = throttling(&file["cells"][0]);
    let weak = read(&run.join("run.json"))["weaknesses"].as_array().map_or(0, Vec::len);
    if found.is_null() {
        // No control groups on this host, or all trials void: then it must be said, and nothing claimed.
        assert!(weak > 0 || file["cells"][0]["void_only"] == true, "{file}");
        println!("skipped: no quota could be set, or the hypervisor made the trials void");
        return;
    }
    assert_eq!(found["certainty"], "consistent_with");
    // Told as soon as one trial showed it, not only at the end.
    let first = read(&run.join("trials/0001/trial.json"));
    if first["outcome"] == "valid" && found["severity"] == "high" {
        let (so_far, rest) = ran.err.split_once("found so far: held, throttling").expect(&ran.err);
        assert!(so_far.contains("1/2 ") && rest.contains("2/2 "), "{}", ran.err);
    }
    let told = good(&["why", path, "--all"]);
    assert!(
        told.out.contains("consistent with throttling") && told.out.contains("Ruled out"),
        "{}",
        told.out
    );
    let proposed = good(&["intervene", path, "--cause", "throttling"]);
    assert!(proposed.out.contains("the CPU quota from 0.5 to 1"), "{}", proposed.out);
    let runs = lab.folder.path().join("tried");
    let went = done(&[
        "intervene",
        path,
        "--cause",
        "throttling",
        "--go",
        "--runs",
        runs.to_str().unwrap(),
        "--format",
        "json",
    ]);
    let answer: Value =
        serde_json::from_str(&went.out).unwrap_or_else(|_| panic!("{}\n{}", went.out, went.err));
    check_schema("intervention", &answer);
    if answer["verdict"] == "inconclusive" {
        assert_eq!(went.code, 2);
        println!("skipped: too few valid trials on this host: {}", answer["refused"]);
        return;
    }
    assert_eq!((answer["verdict"].as_str(), went.code), (Some("holds"), 0), "{answer}");
    assert_eq!(throttling(&read(&run.join("analysis.json"))["why"][0])["certainty"], "because");
    let again = good(&["why", path]);
    assert!(again.out.contains("because of throttling"), "{}", again.out);
    let report: Value = serde_json::from_str(&good(&["report", path, "--format", "json"]).out).unwrap();
    assert_eq!(throttling(&report["why"][0])["certainty"], "because");
    // Among the news too, where it is one.
    let news = throttling(&report);
    assert!(news.is_null() || news["certainty"] == "because", "{news}");
}

/// The finding of a cell, or of a whole report; or null.
fn throttling(cell: &Value) -> Value {
    let mut findings = cell["findings"].as_array().into_iter().flatten();
    findings.find(|finding| finding["cause"] == "throttling").cloned().unwrap_or_default()
}
