//! Scenarios, scripts and recorded traffic as a user runs them with `prony load` and `prony replay`.

use crate::command::{Server, bad, good};
use std::path::Path;

fn written(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn report(arguments: &[&str]) -> serde_json::Value {
    let done = good(&[arguments, &["--format", "json", "--quiet", "--errors-ok"]].concat());
    serde_json::from_str(&done.out).unwrap()
}

const SHOP: &str = r#"
schema = "prony.scenario/1"
name = "shop"

[vars]
user_id = "uniform(1, 1000)"

[[requests]]
name = "list"
weight = 3
path = "/user/${user_id % 100}"

[[requests]]
name = "buy"
path = "/buy"
json = '{"id": ${user_id}, "n": ${counter()}}'
expect = { contains = ["no answer has this"] }
"#;

#[test]
fn a_mix_has_results_by_request_and_nothing_is_lost() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let scenario = written(folder.path(), "shop.toml", SHOP);
    let report = report(&["load", &server.url(""), "--scenario", &scenario, "-n", "4000", "-c", "4"]);
    let entries = report["by_request"].as_array().unwrap();
    let count = |place: usize, key: &str| entries[place]["requests"][key].as_u64().unwrap();
    assert_eq!(count(0, "scheduled") + count(1, "scheduled"), 4000);
    assert!((2850..3150).contains(&count(0, "completed")), "{entries:?}");
    assert_eq!((count(0, "failed"), count(1, "completed")), (0, 0));
    assert_eq!(count(1, "failed"), report["errors"]["check"].as_u64().unwrap());
    let kept = &report["failed_answers"][0];
    assert_eq!((kept["request"].as_str(), kept["status"].as_u64()), (Some("buy"), Some(200)));
    assert!(kept["check"].as_str().unwrap().contains("no answer has this"), "{kept}");
}

/// Lines of a time series by request: over all of them they are the interval's, and those of the samples and the drain
/// together are the result's.
#[test]
fn each_interval_of_a_mix_has_its_requests_over_threads_and_processes() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let scenario = written(folder.path(), "shop.toml", SHOP);
    let series = folder.path().join("series.ndjson");
    for generators in [&["-t", "2"][..], &["--processes", "2"]] {
        let load = ["load", &server.url(""), "--scenario", &scenario, "-c", "4", "-R", "900", "-d", "2s"];
        let files = ["--warmup", "1s", "--timeseries", series.to_str().unwrap()];
        let report = report(&[&load[..], generators, &files].concat());
        let text = std::fs::read_to_string(&series).unwrap();
        let lines: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let number = |of: &serde_json::Value, key: &str| of[key].as_u64().unwrap_or(0);
        let mut completed = [0_u64; 2];
        let mut left_by_warmup = 0;
        for line in &lines {
            let requests = line["by_request"].as_array().unwrap();
            let names: Vec<_> = requests.iter().map(|one| one["name"].as_str().unwrap()).collect();
            assert_eq!(names, ["list", "buy"]);
            let sum = |key: &str| requests.iter().map(|one| number(one, key)).sum::<u64>();
            assert_eq!(sum("completed"), number(line, "completed"), "{line}");
            let failed: u64 = line["failed"].as_object().unwrap().values().filter_map(|n| n.as_u64()).sum();
            assert_eq!(sum("failed"), failed, "{line}");
            if line["phase"] != "warmup" {
                completed.iter_mut().zip(requests).for_each(|(sum, one)| *sum += number(one, "completed"));
            } else {
                left_by_warmup = number(line, "backlog") + number(line, "in_flight");
            }
            if line["phase"] == "sample" {
                assert!(number(&requests[0], "p50_ns") <= number(&requests[0], "p99_ns"), "{line}");
                assert!(number(&requests[0], "max_ns") > 0 && requests[1].get("p50_ns").is_none(), "{line}");
            }
        }
        assert!(lines.len() >= 4, "warm-up, two seconds and the drain: {}", lines.len());
        // What the warm-up left waiting or in flight is answered within the samples and belongs to no result. So is what
        // was due and not yet booked by a worker that the host held back, which its longest delay bounds.
        let late_s = report["latency_ns"]["pacer_lag"]["max"].as_f64().unwrap() / 1e9;
        let left_by_warmup = left_by_warmup + (900.0 * late_s) as u64;
        let result = report["by_request"][0]["requests"]["completed"].as_u64().unwrap();
        assert!(
            completed[0] >= result && completed[0] - result <= left_by_warmup && completed[1] == 0,
            "{completed:?}, {result}, {left_by_warmup}"
        );
    }
}

#[test]
fn sessions_think_capture_and_balance() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    for connection in ["own", "pool"] {
        let text = format!(
            r#"
schema = "prony.scenario/1"
name = "visit"

[[requests]]
name = "enter"
path = "/enter/${{session()}}"
capture = {{ kind = {{ header = "content-type" }} }}

[[requests]]
name = "look"
path = "/look"
headers = {{ X-Kind = "${{kind}}" }}

[session]
steps = ["enter", "look", "look"]
think = "1ms"
connection = "{connection}"
"#
        );
        let scenario = written(folder.path(), "visit.toml", &text);
        for load in [&["-c", "4"][..], &["-R", "200", "-c", "4"]] {
            let url = server.url("");
            let arguments = [&["load", &url, "--scenario", &scenario, "-d", "1s"], load].concat();
            let report = report(&arguments);
            let sessions = &report["sessions"];
            let count = |key: &str| sessions[key].as_u64().unwrap();
            assert_eq!(
                count("started"),
                count("completed") + count("failed") + count("censored"),
                "{sessions}"
            );
            assert!(count("completed") > 50 && count("failed") == 0, "{connection} {load:?}: {sessions}");
            let requests =
                |place: usize| report["by_request"][place]["requests"]["completed"].as_u64().unwrap();
            assert!(requests(1) >= 2 * count("completed"), "{connection} {load:?}: {report}");
            assert_eq!(report["errors"], serde_json::json!({}));
            // Users who think leave their connections idle: the law is not held against the number of those.
            let reasons = report["validity"]["reasons"].as_array().unwrap();
            assert!(reasons.iter().all(|gate| gate["gate"] != "littles_law"), "{reasons:?}");
            assert_ne!(report["arrivals"]["verdict"], "schedule", "only first steps are arrivals");
        }
    }
}

#[test]
fn users_come_from_business_numbers() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let url = server.url("");
    let own = report(&["load", &server.url("/"), "--users", "3000 × 0.002", "-n", "60"]);
    assert_eq!(own["plan"]["load"]["connections"].as_u64(), Some(6));
    let text = "schema = \"prony.scenario/1\"\nname = \"v\"\n[[requests]]\nname = \"a\"\npath = \"/a\"\n\
                [session]\nsteps = [\"a\", \"a\"]\nthink = \"5ms\"\nconnection = \"pool\"\n";
    let scenario = written(folder.path(), "v.toml", text);
    let pooled = report(&["load", &url, "--scenario", &scenario, "--users", "20", "-c", "2", "-d", "1s"]);
    assert_eq!(pooled["plan"]["load"]["users"].as_u64(), Some(20));
    assert_eq!(pooled["connections"]["asked"].as_u64(), Some(2));
    assert!(pooled["sessions"]["completed"].as_u64().unwrap() > 100, "{}", pooled["sessions"]);
    bad(&["load", &url, "--users", "10", "-c", "5"], 1, &["--users", "connection of its own"]);
    bad(&["load", &url, "--users", "many"], 1, &["no number of users"]);
}

#[test]
fn a_wrong_scenario_is_told_before_anything_is_sent() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    for (name, text, cause) in [
        ("a.toml", SHOP.replace("user_id % 100", "user_ib % 100"), "user_ib"),
        ("b.toml", SHOP.replace("uniform(1, 1000)", "unifrom(1, 1000)"), "unifrom"),
        ("c.toml", SHOP.replace("weight = 3", "weigth = 3"), "weigth"),
        ("d.toml", SHOP.replace("name = \"buy\"", "name = \"list\""), "given twice"),
    ] {
        let scenario = written(folder.path(), name, &text);
        bad(&["load", &server.url(""), "--scenario", &scenario, "-n", "1"], 1, &[cause, name]);
    }
}

#[test]
fn a_wrk_script_runs_and_its_done_is_called() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let script = written(
        folder.path(),
        "count.lua",
        "local n = 0\n\
         request = function() n = n + 1; return wrk.format(nil, '/' .. n) end\n\
         response = function(status) if status ~= 200 then error('status') end end\n\
         done = function(summary) print('done with ' .. summary.requests) end\n",
    );
    let done = good(&["load", &server.url("/"), "-s", &script, "-n", "50", "-c", "2", "--quiet"]);
    assert!(
        done.out.contains("50 scheduled = 50 completed") && done.out.ends_with("done with 50\n"),
        "{}",
        done.out
    );
    let script = written(
        folder.path(),
        "throw.lua",
        "local n = 0\nrequest = function()\n n = n + 1\n if n > 10 then error('boom') end\n return wrk.format()\nend\n",
    );
    let done = report(&["load", &server.url("/"), "-s", &script, "-n", "20", "-c", "1"]);
    assert_eq!(done["requests"]["scheduled"].as_u64(), Some(20));
    let thrown = done["errors"]["script"].as_u64().unwrap();
    assert!((9..=11).contains(&thrown), "{}", done["errors"]);
    assert!(done["error_examples"]["script"][0].as_str().unwrap().contains("throw.lua:4"), "{done}");
    let script = written(folder.path(), "wrong.lua", "request = function(\n");
    bad(&["load", &server.url("/"), "-s", &script, "-n", "1"], 1, &["wrong.lua"]);
}

#[test]
fn a_log_is_replayed_at_its_times() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let line = |second: u32, path: &str| {
        format!("10.0.0.1 - - [10/Oct/2026:13:55:{second:02} +0000] \"GET {path} HTTP/1.1\" 200 12\n")
    };
    let text: String = (0..40).map(|n| line(n / 10, &format!("/p/{n}"))).collect();
    let log = written(folder.path(), "access.log", &text);
    let done = good(&[
        "replay",
        &log,
        "--url",
        &server.url(""),
        "--speed",
        "4x",
        "--",
        "--format",
        "json",
        "--quiet",
    ]);
    let report: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(report["requests"]["completed"].as_u64(), Some(40), "{report}");
    assert_eq!(report["status"]["200"].as_u64(), Some(40));
}

#[test]
fn logged_bodies_are_sent_in_their_order_where_that_is_asked_for() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let line = |n: u32, method: &str, body: &str| {
        format!(
            "{{\"msec\":{}.{:03},\"request\":\"{method} /p/{n} HTTP/1.1\",\"status\":200,\"content_type\":\
             \"application/json\",\"request_body\":\"{body}\"}}\n",
            1_700_000_000 + n / 10,
            n % 10 * 100
        )
    };
    let text: String =
        (0..30).map(|n| if n % 3 == 0 { line(n, "POST", "{}") } else { line(n, "GET", "") }).collect();
    let log = written(folder.path(), "bodies.json", &text);
    let url = server.url("");
    let replay = ["replay", &log, "--url", &url, "--speed", "4x"];
    let load = ["--", "--format", "json", "--quiet"];
    let report = |more: &[&str]| -> serde_json::Value {
        serde_json::from_str(&good(&[&replay[..], more, &load[..]].concat()).out).unwrap()
    };
    let reads = report(&[]);
    assert_eq!(reads["requests"]["completed"].as_u64(), Some(20), "{reads}");
    let all = report(&["--writes"]);
    assert_eq!(all["requests"]["completed"].as_u64(), Some(30), "{all}");
    let completed: Vec<_> = all["by_request"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| (entry["name"].as_str().unwrap(), entry["requests"]["completed"].as_u64().unwrap()))
        .collect();
    assert_eq!(completed, [("GET", 20), ("POST application/json", 10)], "{all}");
}
