//! `prony export`: each format against what the result itself says.

use crate::command::{Server, bad, done, good};
use crate::run::{Lab, read};
use serde_json::Value;

const ONE: &str = "[[target]]\nname = \"one\"\nreference = { mean = \"1ms\" }\n[[target]]\nname = \"two\"\nreference = { mean = \"1ms\" }\n";

#[test]
fn a_trial_is_exported_as_its_own_files_say() {
    let lab = Lab::new(ONE, "", "blocks = 1");
    // Void on a busy host, which is all the same here: what was measured is exported.
    done(&lab.args());
    let run = lab.run();
    let run = run.to_str().unwrap();
    let trial = read(&lab.run().join("trials/0001/trial.json"));
    let p50_ms = trial["load"]["latency_ns"]["response"]["p50"].as_f64().unwrap() / 1e6;
    let hgrm = good(&["export", run, "--trial", "1", "--format", "hgrm"]).out;
    let row = hgrm.lines().find(|line| line.contains("0.500000000000")).expect("a median");
    let value: f64 = row.split_whitespace().next().unwrap().parse().unwrap();
    assert!((value / p50_ms - 1.0).abs() < 0.002, "{value} for {p50_ms}\n{hgrm}");
    assert!(hgrm.contains("#[Mean") && hgrm.contains("Total count"), "{hgrm}");
    let csv = good(&["export", run, "--trial", "1", "--format", "csv"]).out;
    let intervals = std::fs::read_to_string(lab.run().join("trials/0001/intervals.ndjson")).unwrap();
    assert_eq!(csv.lines().count(), intervals.lines().count() + 1, "{csv}");
    let file = lab.folder.path().join("summary.json");
    good(&["export", run, "--trial", "1", "--format", "k6", "-o", file.to_str().unwrap()]);
    let summary = read(&file);
    let service = &summary["metrics"]["http_req_duration"]["med"];
    let wanted = trial["load"]["latency_ns"]["service"]["p50"].as_f64().unwrap() / 1e6;
    assert_eq!(service.as_f64(), Some(wanted), "{summary:#}");
    check_benchmarks(run, &read(&lab.run().join("analysis.json")));
    bad(
        &["export", run, "--format", "hgrm"],
        1,
        &[" trials that ended", "name one with --trial, from 1 to "],
    );
    bad(&["export", run, "--trial", "99", "--format", "csv"], 1, &["trial 99 has not ended", "from 1 to "]);
    bad(&["export", "/nonexistent", "--format", "csv"], 1, &["is no run folder", "remedy"]);
}

/// What Bencher and github-action-benchmark are given is the value of each cell.
fn check_benchmarks(run: &str, analysis: &Value) {
    let exported = |format: &str, more: &[&str]| -> Value {
        serde_json::from_str(&good(&[&["export", run, "--format", format][..], more].concat()).out).unwrap()
    };
    let center = |cell: &Value, metric: &str| {
        let found =
            cell["metrics"].as_array().unwrap().iter().find(|found| found["metric"] == metric).cloned();
        found.map_or(Value::Null, |found| found["center"].clone())
    };
    let bencher = exported("bencher", &[]);
    let bigger = exported("github-bigger", &["--target", "one"]);
    let smaller = exported("github-smaller", &["--target", "one"]);
    for cell in analysis["cells"].as_array().unwrap() {
        let label = cell["label"].as_str().unwrap();
        // Void on a busy host: then there is no value, and none is made up.
        for metric in ["throughput", "p50", "error_rate"] {
            assert_eq!(bencher[label][metric]["value"], center(cell, metric), "{label} {metric}");
        }
        let is_one = cell["target"] == "one";
        let has = |list: &Value, name: &str| {
            let name = format!("{label}: {name}");
            list.as_array().unwrap().iter().any(|row| row["name"] == *name)
        };
        let is_known = |metric: &str| is_one && !center(cell, metric).is_null();
        assert_eq!(has(&bigger, "Throughput"), is_known("throughput"), "{bigger:#}");
        assert_eq!(has(&smaller, "p50"), is_known("p50"), "{smaller:#}");
        assert!(!has(&smaller, "Throughput") && !has(&bigger, "p50"));
    }
    let none = ["export", run, "--format", "bencher", "--target", "three"];
    bad(&none, 1, &["has no target `three`", "one of: one, two"]);
    bad(&["export", run, "--format", "bencher", "--trial", "1"], 1, &["--trial is for formats of one trial"]);
    bad(
        &["export", run, "--format", "hgrm", "--target", "one"],
        1,
        &["--target is for formats of a whole run"],
    );
}

#[test]
fn a_load_is_exported_for_k6_and_jmeter() {
    let server = Server::start(&["--fault", "status-500@every:5"]);
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (result, rows, jtl) = (at("result.json"), at("rows.jsonl"), at("result.jtl"));
    let url = server.url("/a,b");
    good(&["load", &url, "-c", "2", "-n", "50", "--errors-ok", "-o", &result, "--each", &rows, "--quiet"]);
    let summary: Value = serde_json::from_str(&good(&["export", &result, "--format", "k6"]).out).unwrap();
    assert_eq!(summary["metrics"]["http_reqs"]["count"], 50, "{summary:#}");
    assert_eq!(summary["metrics"]["http_req_failed"]["value"], 0.2, "{summary:#}");
    good(&["export", &rows, "--format", "jtl", "-o", &jtl]);
    let text = std::fs::read_to_string(&jtl).unwrap();
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    let (code, success) = (3, 7);
    assert_eq!((head[code], head[success], head.len()), ("responseCode", "success", 17));
    let all: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert_eq!(all.len(), 50, "{text}");
    for line in &all {
        assert_eq!(line.len(), 17, "{line:?}");
        assert_eq!(
            (line[code] == "200", line[success] == "true"),
            (line[code] != "500", line[code] == "200"),
            "{line:?}"
        );
        let began: i64 = line[0].parse().unwrap();
        assert!((jiff_now_ms() - began).abs() < 600_000, "{line:?}");
    }
    assert_eq!(all.iter().filter(|line| line[success] == "false").count(), 10, "{text}");
    let piped = crate::command::prony(&["export", "-", "--format", "jtl"])
        .stdin(std::fs::File::open(&rows).unwrap())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(piped.stdout).unwrap(), text);
    bad(&["export", &result, "--format", "jtl"], 1, &["result.json:1: ", "--each rows.jsonl"]);
    bad(&["export", &rows, "--format", "k6"], 1, &["is no result of a load", "remedy"]);
    bad(&["export", &result, "--format", "hgrm"], 1, &["is no run folder"]);
}

fn jiff_now_ms() -> i64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    i64::try_from(now.as_millis()).unwrap()
}
