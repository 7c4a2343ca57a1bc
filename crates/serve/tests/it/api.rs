//! Each address of the lab against real run folders.

use crate::http::{change, get};
use crate::runs::{Lab, Runs};
use serde_json::Value;
use std::fs;

const A: &str = "2026-11-22T05-14-56Z-demo";
const B: &str = "2026-11-23T05-14-56Z-demo";
const HOSTILE: &str = "<script>alert(1)</script>\u{1b}[31m'\"&";

fn lab() -> (Runs, Lab) {
    let runs = Runs::new();
    runs.add(A, |_| {});
    runs.add(B, |run| run["started_wall"] = "2026-11-23T05:14:56Z".into());
    let lab = Lab::over(&runs);
    (runs, lab)
}

#[track_caller]
fn json(lab: &Lab, path: &str) -> Value {
    let answer = get(lab.addr, path);
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    assert_eq!(answer.header("content-type"), Some("application/json"));
    answer.json()
}

#[test]
fn the_library_lists_searches_and_pages() {
    let (_runs, lab) = lab();
    let list = json(&lab, "/api/runs");
    assert_eq!(list["schema"], "prony.lab/4");
    assert_eq!((list["total"].as_u64(), list["runs"][0]["id"].as_str()), (Some(2), Some(B)));
    assert_eq!(list["runs"][0]["state"], "done");
    assert_eq!(json(&lab, "/api/runs?limit=1&offset=1")["runs"][0]["id"], A);
    assert_eq!(json(&lab, "/api/runs?q=no-such-thing")["total"], 0);
    assert_eq!(json(&lab, "/api/runs?state=running")["total"], 0);
    assert_eq!(json(&lab, "/api/runs?name=demo")["total"], 2);
    get(lab.addr, "/api/runs?limit=many").refused(400, "not a whole number");
    get(lab.addr, "/api/runs?state=asleep").refused(400, "not a state");
    assert_eq!(json(&lab, "/api/lab")["needs_token"], false);
}

#[test]
fn labels_are_kept_and_found_and_never_touch_the_run_folder() {
    let (runs, lab) = lab();
    let before: Vec<_> = fs::read_dir(runs.run(A)).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    let said = serde_json::json!({ "tags": ["beta", "alpha"], "note": HOSTILE.replace('\u{1b}', "") });
    let kept = change(lab.addr, "PUT", &format!("/api/runs/{A}/label"), &said.to_string());
    assert_eq!(kept.json()["tags"], serde_json::json!(["alpha", "beta"]));
    let tagged = json(&lab, "/api/runs?tag=alpha");
    assert_eq!((tagged["total"].as_u64(), tagged["runs"][0]["id"].as_str()), (Some(1), Some(A)));
    assert_eq!(tagged["runs"][0]["note"], said["note"]);
    assert_eq!(tagged["tags"][0], serde_json::json!({ "tag": "alpha", "runs": 1 }));
    assert_eq!(json(&lab, "/api/runs?q=alert(1)")["total"], 1);
    let after: Vec<_> = fs::read_dir(runs.run(A)).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(before, after);
    change(lab.addr, "PUT", "/api/runs/none/label", &said.to_string()).refused(404, "no run");
}

#[test]
fn a_run_gives_its_page_its_trials_and_its_files() {
    let (runs, lab) = lab();
    let page = json(&lab, &format!("/api/runs/{A}/page"));
    assert_eq!((page["schema"].as_str(), page["lang"].as_str()), (Some("prony.page/3"), Some("en")));
    assert_eq!(page["run"]["id"], A);
    assert_eq!(page["analysis"]["trials"].as_array().unwrap().len(), 2);
    assert_eq!(json(&lab, &format!("/api/runs/{A}/page?lang=zh"))["lang"], "zh");
    let trial = json(&lab, &format!("/api/runs/{A}/trials/1"));
    assert_eq!(trial["id"], 1);
    assert_eq!(trial["t_ns"].as_array().unwrap().len(), 7);
    get(lab.addr, &format!("/api/runs/{A}/trials/77")).refused(422, "77");
    let detail = json(&lab, &format!("/api/runs/{A}"));
    assert_eq!(detail["card"]["id"], A);
    let names: Vec<_> =
        detail["files"].as_array().unwrap().iter().map(|file| file["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["run.json", "analysis.json", "report.md", "results.csv"]);
    for (path, file) in
        [("files/results.csv", "results.csv"), ("trials/1/files/latency.hlog", "trials/0001/latency.hlog")]
    {
        let download = get(lab.addr, &format!("/api/runs/{A}/{path}"));
        assert_eq!(download.status, 200);
        let disposition = download.header("content-disposition").unwrap();
        let name = path
            .strip_prefix("trials/1/")
            .map_or_else(|| path.replace("files/", ""), |_| "trials-0001-latency.hlog".to_owned());
        assert_eq!(disposition, format!("attachment; filename=\"{A}-{name}\""));
        assert_eq!(download.header("content-type"), Some("application/octet-stream"));
        assert_eq!(download.body, fs::read(runs.run(A).join(file)).unwrap(), "{path}");
    }
    let experiment = get(lab.addr, &format!("/api/runs/{A}/files/experiment.toml")).text();
    assert!(experiment.contains("[experiment]"), "{experiment}");
    get(lab.addr, &format!("/api/runs/{A}/files/report.html")).refused(404, "");
    get(lab.addr, "/api/runs/none/page").refused(404, "no run");
}

#[test]
fn a_page_is_made_again_when_a_trial_is_new() {
    let (runs, lab) = lab();
    let path = format!("/api/runs/{A}/page");
    let trial = runs.run(A).join("trials/0002");
    let aside = runs.path().join("aside");
    fs::rename(&trial, &aside).unwrap();
    assert_eq!(json(&lab, &path)["analysis"]["trials"].as_array().unwrap().len(), 1);
    fs::rename(&aside, &trial).unwrap();
    assert_eq!(json(&lab, &path)["analysis"]["trials"].as_array().unwrap().len(), 2);
}

#[test]
fn runs_are_compared_with_the_first_and_refusals_are_told() {
    let (runs, lab) = lab();
    runs.add("other", |run| run["plan"]["name"] = "other".into());
    let set = json(&lab, &format!("/api/compare?runs={A},{B},other"));
    assert_eq!(set["runs"].as_array().unwrap().len(), 3);
    assert_eq!(set["pairs"][0]["compare"]["schema"], "prony.compare/3");
    assert_eq!(set["pairs"][0]["compare"]["a"]["id"], A);
    assert!(set["pairs"][1]["compare"].is_null());
    assert!(
        set["pairs"][1]["refused"]["text"].as_str().unwrap().contains("other"),
        "{}",
        set["pairs"][1]["refused"]
    );
    get(lab.addr, &format!("/api/compare?runs={A}")).refused(400, "1 runs");
    get(lab.addr, "/api/compare").refused(400, "0 runs");
    get(lab.addr, &format!("/api/compare?runs={A},none")).refused(404, "no run");
    get(lab.addr, &format!("/api/compare?runs={A},..%2F{B}")).refused(404, "no run");
}

#[test]
fn an_experiment_has_its_history_and_its_values() {
    let (_runs, lab) = lab();
    let history = json(&lab, "/api/experiments/demo/history");
    assert_eq!(history["schema"], "prony.history/3");
    let ids: Vec<_> =
        history["runs"].as_array().unwrap().iter().map(|run| run["id"].as_str().unwrap()).collect();
    assert_eq!(ids, [A, B]);
    let values = json(&lab, "/api/experiments/demo/values");
    assert_eq!(values[0]["run"], A);
    assert!(values[0]["value"].as_f64().unwrap() > 0.0);
    get(lab.addr, "/api/experiments/none/history").refused(404, "no run of none");
    get(lab.addr, "/api/experiments/%3Cb%3E/history").refused(404, "no run of <b>");
}

#[test]
fn damaged_and_hostile_runs_are_listed_as_what_they_are() {
    let (runs, lab) = lab();
    fs::write(runs.run(B).join("run.json"), "{\"schema\": 1}").unwrap();
    runs.add("hostile", |run| {
        run["plan"]["name"] = HOSTILE.into();
        run["plan"]["question"] = HOSTILE.into();
        run["plan"]["cells"][0]["label"] = HOSTILE.into();
    });
    fs::write(runs.run("hostile").join("trials/0001/target.log"), format!("{HOSTILE}\n")).unwrap();
    let list = json(&lab, "/api/runs");
    let card =
        |id: &str| list["runs"].as_array().unwrap().iter().find(|run| run["id"] == id).unwrap().clone();
    assert_eq!(card(B)["state"], "damaged");
    assert!(card(B)["cause"]["text"].as_str().unwrap().contains("run.json"), "{}", card(B)["cause"]);
    // JSON carries it as text; that pages show it as text is the browser test's part.
    assert_eq!(card("hostile")["name"], HOSTILE);
    let text = get(lab.addr, "/api/runs").text();
    assert!(!text.contains('\u{1b}'), "control characters are escaped in JSON");
    get(lab.addr, &format!("/api/runs/{B}/page")).refused(422, "run.json");
    get(lab.addr, &format!("/api/runs/{B}/events")).refused(422, "run.json");
    assert_eq!(json(&lab, "/api/runs/hostile/page")["run"]["plan"]["question"], HOSTILE);
    let log = json(&lab, "/api/runs/hostile/trials/1")["log_tail"].to_string();
    assert!(log.contains("<script>"), "{log}");
}
