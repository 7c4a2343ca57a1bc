//! The page of a run and its charts, of a run folder that another test made.

use crate::command::{bad, good};
use crate::load::check_schema;
use crate::run::read;
use serde_json::Value;
use std::path::Path;

const PLACE: &str = "<script type=\"application/json\" id=\"prony-page\">";

/// The page holds what the files of the run hold, in each of its forms, and each chart can be had.
pub(crate) fn check(run: &Path, trials: usize) {
    let path = run.to_str().unwrap();
    let page: Value =
        serde_json::from_str(&good(&["report", path, "--format", "page", "--against", path]).out).unwrap();
    check_schema("page", &page);
    assert_eq!(page["run"], read(&run.join("run.json")));
    assert_eq!(page["analysis"], read(&run.join("analysis.json")));
    let details = page["details"].as_array().unwrap();
    assert_eq!((details.len(), &page["details_left_out"]), (trials, &Value::Null));
    details.iter().for_each(|detail| check_detail(run, detail));
    let difference = &page["environment_difference"];
    assert!(difference["same"].as_u64() > Some(3) && difference["differences"] == Value::Array(vec![]));
    check_html(path, &page);
    check_charts(run, path);
}

fn check_detail(run: &Path, detail: &Value) {
    let trial = run.join(format!("trials/{:04}", detail["id"].as_u64().unwrap()));
    let intervals = std::fs::read_to_string(trial.join("intervals.ndjson")).unwrap();
    let lines: Vec<Value> = intervals.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ends: Vec<&Value> = lines.iter().map(|line| &line["end_ns"]).collect();
    assert_eq!(detail["t_ns"].as_array().unwrap().iter().collect::<Vec<_>>(), ends);
    let counters = detail["counters"].as_array().unwrap();
    assert!(counters.iter().all(|counter| counter["values"].as_array().unwrap().len() == ends.len()));
    let memory = |c: &&Value| c["source"] == "target.process" && c["name"] == "rss_bytes";
    // A trial shorter than a tick has no gauges.
    if let Some(memory) = counters.iter().find(memory) {
        assert_eq!((&memory["kind"], &memory["unit"]), (&Value::from("gauge"), &Value::from("bytes")));
    }
    // The answers are in the map, but for those of the warm-up that come within the samples: a connection has one.
    let answers: u64 = lines.iter().map(|line| line["completed"].as_u64().unwrap()).sum();
    let rows = detail["heat"]["rows"].as_array().unwrap();
    let counted: u64 =
        rows.iter().flat_map(|row| row.as_array().unwrap()).map(|count| count.as_u64().unwrap()).sum();
    let borders = 64;
    assert!(counted + borders >= answers && counted > answers / 2, "{counted} of {answers}");
    let log = detail["log_tail"].as_array().unwrap();
    assert!(log[0].as_str().unwrap().starts_with("listening on"), "{log:?}");
    assert_eq!(detail.get("missing"), None);
}

/// The page holds the same data, also where the run folder's own one was made by the run itself.
fn check_html(path: &str, page: &Value) {
    let html = good(&["report", path, "--format", "html", "--lang", "zh"]).out;
    let Some((_, rest)) = html.split_once(PLACE) else {
        assert!(html.contains("<svg") && !html.contains("<script"), "it is the plain page");
        return println!("skipped: the page, because prony was built without its front end (make ui)");
    };
    let data: Value = serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap();
    assert_eq!((&data["lang"], &page["lang"]), (&Value::from("zh"), &Value::from("en")));
    assert_eq!((&data["details"], &data["analysis"]), (&page["details"], &page["analysis"]));
    let stored = std::fs::read_to_string(Path::new(path).join("report.html")).unwrap();
    assert!(stored.contains(PLACE));
}

fn check_charts(run: &Path, path: &str) {
    let listed = good(&["report", path, "--chart"]).out;
    assert!(listed.contains("strips") && listed.contains("Throughput of each trial"), "{listed}");
    let (svg, png) = (run.join("strips.svg"), run.join("strips.png"));
    let (svg_name, png_name) = (svg.to_str().unwrap(), png.to_str().unwrap());
    good(&["report", path, "--chart", "strips", "--svg", svg_name]);
    assert!(std::fs::read_to_string(&svg).unwrap().starts_with("<svg xmlns="));
    let arguments = ["report", path, "--chart", "strips", "--png", png_name, "--width", "300"];
    let done = crate::command::done(&arguments);
    if done.err.contains("fonts-dejavu-core") {
        assert_eq!(done.code, 1);
        println!("skipped: the PNG, because no font is installed");
    } else {
        let bytes = std::fs::read(&png).unwrap();
        assert_eq!(bytes[..8], *b"\x89PNG\r\n\x1a\n");
        assert_eq!(bytes[16..20], 300_u32.to_be_bytes(), "its width");
    }
    bad(&["report", path, "--chart", "pie"], 1, &["no chart `pie`", "strips"]);
    bad(&["report", path, "--chart", "strips"], 1, &["--svg FILE", "--png FILE"]);
}
