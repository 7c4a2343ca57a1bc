//! Ladders, soaks and replays by agents of this host: the same folders and accounts as by one machine, and what is refused.

use crate::command::{bad, done, good, measured, prony, turn};
use crate::fleet::{Listener, kill, run_in};
use crate::load::{check_schema, wait_until};
use crate::run::read;
use rustix::process::Signal;
use serde_json::Value;
use std::path::Path;
use std::process::Stdio;

/// A reference target under this load.
fn experiment(folder: &Path, load: &str) -> String {
    let file = folder.join("lab.toml");
    let text = format!(
        "[experiment]\nname = \"lab\"\n[[target]]\nname = \"known\"\nreference = {{ mean = \"1ms\" }}\n\
         [scenario]\nrequest = {{ path = \"/ping\" }}\n[load]\n{load}\n\
         [phases]\nwarmup = {{ at_least = \"200ms\", at_most = \"200ms\" }}\nsample = \"400ms\"\nsamples = 1\n"
    );
    std::fs::write(&file, text).unwrap();
    file.display().to_string()
}

/// A trial that two agents made: every request has an end, the agents' accounts add up to that of the trial, and the target
/// counted as many.
fn check_trial(file: &Value) {
    let load = &file["load"];
    let count = |value: &Value| value.as_u64().unwrap_or_else(|| panic!("no count in {load}"));
    let requests = &load["requests"];
    let ended = ["completed", "failed", "censored"].map(|end| count(&requests[end])).iter().sum::<u64>();
    assert_eq!(count(&requests["scheduled"]), ended, "{requests}");
    let agents = load["fleet"]["agents"].as_array().unwrap();
    let names: Vec<_> = agents.iter().map(|agent| agent["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["here-1", "here-2"]);
    for key in ["scheduled", "completed", "failed", "censored"] {
        let sum: u64 = agents.iter().map(|agent| count(&agent[key])).sum();
        assert_eq!(sum, count(&requests[key]), "{key} of {agents:?}");
    }
    assert!(agents.iter().all(|agent| agent["repeated"] == 0), "{agents:?}");
    let gates = load["validity"]["gates"].as_array().unwrap();
    let counted = gates.iter().find(|gate| gate["gate"] == "server_counts").expect("the target counts");
    assert_eq!(counted["ok"], true, "{counted}");
}

fn check_agents(run: &Path) {
    let file = read(&run.join("run.json"));
    check_schema("run", &file);
    let agents = file["agents"].as_array().unwrap();
    assert_eq!(agents.len(), 2);
    assert!(agents.iter().all(|agent| agent["share"] == 0.5), "{agents:?}");
}

#[test]
fn a_ladder_over_a_fleet_is_a_ladder_and_is_resumed() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let file = experiment(folder.path(), "model = \"closed\"\nconnections = [2, 4, 8]");
    let runs = folder.path().join("runs");
    let words =
        ["knee", &file, "--runs", runs.to_str().unwrap(), "--pin", "off", "--blocks", "2", "--fleet", "2"];
    let mut first = prony(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("the second trial has ended", || {
        run_in(&runs).is_some_and(|run| run.join("trials/0002/trial.json").is_file())
    });
    kill(first.id(), Signal::KILL);
    first.wait().unwrap();
    let run = run_in(&runs).unwrap();
    measured(&["run", "--resume", run.to_str().unwrap()]);
    check_agents(&run);
    let analysis = read(&run.join("analysis.json"));
    check_schema("analysis", &analysis);
    assert_eq!(analysis["capacity"][0]["rows"].as_array().unwrap().len(), 3);
    for trial in 1..=6 {
        check_trial(&read(&run.join(format!("trials/000{trial}/trial.json"))));
    }
}

#[test]
fn a_search_over_a_fleet_adds_trials_that_the_agents_make() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let file = experiment(folder.path(), "model = \"open\"\nrate = 200\nconnections = 40");
    let runs = folder.path().join("runs");
    let words = ["knee", &file, "--runs", runs.to_str().unwrap(), "--pin", "off", "--fleet", "2"];
    // Room for several trials, and for those that a busy machine makes void.
    let search = ["--objective", "errors < 1%", "--budget", "15s", "--max-rate", "800"];
    let ended = done(&[&words[..], &search].concat());
    // 2 where a busy machine left no trial valid, 3 where nothing is verified yet.
    assert!([0, 2, 3].contains(&ended.code), "{}\n{}", ended.out, ended.err);
    let run = run_in(&runs).unwrap();
    check_agents(&run);
    let plan = read(&run.join("run.json"))["plan"].clone();
    let cells = plan["cells"].as_array().unwrap();
    let rate_of = |planned: &Value| {
        let cell = cells.iter().find(|cell| cell["id"] == planned["cell"]).expect("each trial has its cell");
        cell["load"]["rate_per_s"].as_f64().unwrap()
    };
    let order = plan["order"].as_array().unwrap();
    let planned: Vec<_> = order.iter().map(|one| (one["id"].as_u64().unwrap(), rate_of(one))).collect();
    assert!(planned.len() >= 2, "the search added no trial to its first: {planned:?}\n{}", ended.err);
    let analysis = read(&run.join("analysis.json"));
    let steps = analysis["capacity"][0]["search"]["steps"].as_array().unwrap();
    let step = |step: &Value| (step["trial"].as_u64().unwrap(), step["rate_per_s"].as_f64().unwrap());
    assert_eq!(steps.iter().map(step).collect::<Vec<_>>(), planned, "each step is a trial of the folder");
    // What passed or failed moves the search on; only what is void is tried again.
    let judged =
        steps.windows(2).filter(|pair| pair[0]["purpose"] == "bracket" && !pair[0]["passed"].is_null());
    for pair in judged {
        assert_ne!(step(&pair[0]).1, step(&pair[1]).1, "{pair:?}");
    }
    for (trial, _) in planned {
        check_trial(&read(&run.join(format!("trials/{trial:04}/trial.json"))));
    }
}

#[test]
#[ignore = "a quarter of a minute of load; part of make test-all, a ladder over a fleet is in make test"]
fn a_soak_over_a_fleet_keeps_its_windows_and_goes_on_in_a_new_segment() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let file = experiment(folder.path(), "model = \"open\"\nrate = 200\nconnections = 4");
    let runs = folder.path().join("runs");
    let words = ["soak", &file, "--runs", runs.to_str().unwrap(), "--pin", "off", "--fleet", "2"];
    let length = ["--for", "12s", "--window", "200ms", "--horizon", "60s"];
    let first =
        prony(&[&words[..], &length].concat()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let windows =
        |run: &Path| std::fs::read_to_string(run.join("trials/0001/windows.ndjson")).unwrap_or_default();
    wait_until("35 windows are there", || {
        run_in(&runs).is_some_and(|run| windows(&run).lines().count() >= 35)
    });
    kill(first.id(), Signal::INT);
    let first: crate::command::Done = first.wait_with_output().unwrap().into();
    assert_eq!(first.code, 130, "{}", first.err);
    let run = run_in(&runs).unwrap();
    measured(&["soak", "--resume", run.to_str().unwrap()]);
    check_agents(&run);
    for trial in ["0001", "0002"] {
        check_trial(&read(&run.join(format!("trials/{trial}/trial.json"))));
    }
    let report = read(&run.join("analysis.json"))["soak"].clone();
    assert_eq!(report["segments"].as_array().unwrap().len(), 2, "{report}");
    assert!(report["windows"].as_u64().unwrap() >= 60, "{report}");
}

#[test]
fn agents_share_the_lines_of_a_log_and_its_times() {
    let folder = tempfile::tempdir().unwrap();
    let line = |n: u32| {
        let (second, milli) = (1_700_000_000 + n / 20, n % 20 * 50);
        format!("{{\"msec\":{second}.{milli:03},\"request\":\"GET /p/{n} HTTP/1.1\",\"status\":200}}\n")
    };
    let log = folder.path().join("access.json");
    std::fs::write(&log, (0..60).map(line).collect::<String>()).unwrap();
    let listener = Listener::start();
    let url = format!("http://{}", listener.addr);
    let replay = ["replay", log.to_str().unwrap(), "--url", &url, "--speed", "2x"];
    let load = ["--", "--format", "json", "--quiet", "-c", "4", "-t", "2"];
    let report = |more: &[&str]| -> Value {
        serde_json::from_str(&good(&[&replay[..], more, &load[..]].concat()).out).unwrap()
    };
    let alone = report(&[]);
    let by_one = listener.take();
    let fleet = report(&["--fleet", "2"]);
    assert_eq!(listener.take(), by_one, "each line once, as by one machine");
    assert!(by_one.len() == 60 && by_one.values().all(|times| *times == 1), "{by_one:?}");
    assert_eq!(fleet["requests"], alone["requests"]);
    let agents = fleet["fleet"]["agents"].as_array().unwrap();
    let halves: Vec<_> = agents.iter().map(|agent| agent["completed"].as_u64().unwrap()).collect();
    assert_eq!(halves, [30, 30]);
}

#[test]
fn what_a_fleet_cannot_run_is_refused_before_an_agent_is_reached() {
    let folder = tempfile::tempdir().unwrap();
    // Nobody is there: who tried to reach the agent would say so.
    let fleet = folder.path().join("fleet.toml");
    let agent = |name: &str| format!("[[agent]]\nname = \"{name}\"\nunix = \"/nonexistent/{name}.sock\"\n");
    std::fs::write(&fleet, [agent("a"), agent("b"), agent("c")].concat()).unwrap();
    let fleet = fleet.to_str().unwrap();
    let ladder = experiment(folder.path(), "model = \"closed\"\nconnections = [2, 8]");
    let few = ["cannot share 2 connections", "remedy: give at least one connection an agent"];
    bad(&["knee", &ladder, "--fleet", fleet], 1, &few);
    bad(&["soak", &ladder, "--for", "1m", "--fleet", fleet], 1, &few);
    bad(&["run", &ladder, "--fleet", fleet], 1, &few);
    let unix = experiment(
        folder.path(),
        "model = \"closed\"\nconnections = [4, 8]\nconnection = { device = \"lo\" }",
    );
    let device = ["connection.device", "a network device is of one machine", "remedy: leave it out"];
    bad(&["knee", &unix, "--fleet", fleet], 1, &device);
    bad(&["soak", &unix, "--for", "1m", "--fleet", fleet], 1, &device);
    let log = folder.path().join("access.log");
    let line =
        |second: u32| format!("10.0.0.1 - - [10/Oct/2026:13:55:0{second} +0000] \"GET / HTTP/1.1\" 200 12\n");
    std::fs::write(&log, [line(1), line(2)].concat()).unwrap();
    let replay = ["replay", log.to_str().unwrap(), "--url", "http://127.0.0.1:9", "--fleet", fleet];
    bad(&[&replay[..], &["--", "--each", "rows.csv"]].concat(), 1, &["rows of single requests", "remedy: "]);
    bad(&[&replay[..], &["--", "-c", "2"]].concat(), 1, &few);
    bad(&["soak", "--resume", "runs/x", "--fleet", "2"], 1, &["cannot be used with"]);
}
