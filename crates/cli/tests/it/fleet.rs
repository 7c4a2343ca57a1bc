//! One load by several agents: what is sent is what one machine sends, and nothing goes on when an end is lost.

use crate::command::{Server, done, good, measured, prony};
use crate::load::{check_report, pid, stats, wait_until};
use crate::processes::{children, is_gone};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};

pub(crate) fn json(args: &[&str]) -> Value {
    let done = good(&[&["load"], args, &["--format", "json"]].concat());
    let report = serde_json::from_str(&done.out).unwrap_or_else(|error| panic!("{error}: {done:?}"));
    check_report(&report);
    report
}

/// Answers every request with 200 and keeps its first line.
pub(crate) struct Listener {
    pub(crate) addr: SocketAddr,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Listener {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (addr, lines) = (listener.local_addr().unwrap(), Arc::<Mutex<Vec<String>>>::default());
        let kept = lines.clone();
        // Ends with the test's process: nobody connects any more.
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let kept = kept.clone();
                std::thread::spawn(move || {
                    let mut reader = BufReader::new(stream.try_clone().unwrap());
                    let (mut stream, mut line, mut is_first) = (stream, String::new(), true);
                    while reader.read_line(&mut line).is_ok_and(|bytes| bytes > 0) {
                        if std::mem::take(&mut is_first) {
                            kept.lock().unwrap().push(line.trim().to_owned());
                        } else if line == "\r\n" {
                            is_first = true;
                            if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").is_err() {
                                return;
                            }
                        }
                        line.clear();
                    }
                });
            }
        });
        Self { addr, lines }
    }

    /// What was asked for since the last time, each with how often.
    pub(crate) fn take(&self) -> BTreeMap<String, u64> {
        let mut counts = BTreeMap::new();
        for line in std::mem::take(&mut *self.lines.lock().unwrap()) {
            *counts.entry(line).or_insert(0) += 1;
        }
        counts
    }
}

#[test]
fn a_count_of_requests_is_met_exactly_by_agents_of_this_host() {
    let server = Server::start(&[]);
    let report = json(&[&server.url("/ping"), "--fleet", "3", "-c", "30", "-n", "3001"]);
    assert_eq!(report["requests"]["completed"], 3001);
    assert_eq!(report["connections"], serde_json::json!({ "asked": 30, "established": 30, "reconnects": 0 }));
    assert_eq!(stats(&server), 3001, "the server counts the same");
    let agents = report["fleet"]["agents"].as_array().unwrap();
    assert_eq!(agents.len(), 3);
    let sum = |key: &str| agents.iter().map(|agent| agent[key].as_u64().unwrap()).sum::<u64>();
    assert_eq!((sum("completed"), sum("workers")), (3001, report["generator"]["workers"].as_u64().unwrap()));
    assert_eq!(sum("repeated") + sum("reconnects"), 0);
    for (agent, name) in agents.iter().zip(["here-1", "here-2", "here-3"]) {
        assert_eq!(agent["name"], name);
        assert!(agent["facts"]["cpus"].as_u64().unwrap() > 0, "{agent}");
        assert!(agent["clock"]["bound_ns"].as_u64().unwrap() <= 1_000_000, "{agent}");
        assert!(agent["clock"]["exchanges"].as_u64().unwrap() >= 32, "{agent}");
        // One host has one clock: what is found is the error of the way.
        let offset_ns = agent["clock"]["offset_ns"].as_i64().unwrap().unsigned_abs();
        assert!(offset_ns <= agent["clock"]["bound_ns"].as_u64().unwrap(), "{agent}");
    }
}

#[test]
fn agents_together_send_what_one_machine_sends() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..400).map(|id| format!("{id}\n")).collect();
    std::fs::write(folder.path().join("items.csv"), format!("id\n{rows}")).unwrap();
    let scenario = folder.path().join("items.toml");
    let text = "schema = \"prony.scenario/1\"\nname = \"items\"\n[feeders.items]\nfile = \"items.csv\"\n\
                order = \"shuffled\"\n[request]\npath = \"/${items.id}/${uniform(1, 1000000)}\"\n";
    std::fs::write(&scenario, text).unwrap();
    let listener = Listener::start();
    let url = format!("http://{}", listener.addr);
    for arrivals in ["constant", "poisson"] {
        let load = ["--scenario", scenario.to_str().unwrap(), "-R", "400", "-n", "400", "-c", "8", "-t", "4"];
        let args = [&[url.as_str()], &load[..], &["--arrivals", arrivals]].concat();
        let alone = json(&args);
        let by_one = listener.take();
        let fleet = json(&[&args[..], &["--fleet", "4"]].concat());
        let by_four = listener.take();
        assert_eq!(by_one.values().sum::<u64>(), 400);
        assert!(by_one == by_four, "{arrivals}: rows and numbers of requests are those of one machine");
        assert_eq!(alone["requests"]["scheduled"], fleet["requests"]["scheduled"]);
    }
}

/// A fleet that stays, from `prony fleet up`.
struct Up {
    child: Child,
    file: PathBuf,
}

impl Up {
    fn start(folder: &Path, agents: &str) -> Self {
        let folder = folder.join("fleet");
        let args = ["fleet", "up", "--agents", agents, "--folder", folder.to_str().unwrap()];
        // Agents keep the files of loads there.
        let parent = folder.parent().unwrap();
        let mut child = prony(&args).env("TMPDIR", parent).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let said: Vec<String> = lines.take_while(|line| !line.starts_with("prony load --fleet")).collect();
        assert!(said.iter().any(|line| line.contains("known within")), "{said:?}");
        Self { child, file: folder.join("fleet.toml") }
    }

    fn file(&self) -> &str {
        self.file.to_str().unwrap()
    }

    fn agents(&self) -> Vec<u32> {
        children(self.child.id()).into_iter().map(|(pid, _)| pid).collect()
    }

    /// As Ctrl-C does.
    fn end(mut self) {
        kill_process(pid(&self.child), Signal::INT).unwrap();
        assert!(self.child.wait().unwrap().success());
        let folder = self.file.parent().unwrap();
        assert!(!self.file.exists() && !folder.exists(), "nothing is left");
        let left =
            std::fs::read_dir(folder.parent().unwrap()).unwrap().map(|entry| entry.unwrap().file_name());
        let left: Vec<_> = left.filter(|name| name.to_string_lossy().starts_with("prony-agent-")).collect();
        assert!(left.is_empty(), "nor files of loads: {left:?}");
    }
}

#[test]
fn agents_that_stay_go_with_the_process_that_keeps_them() {
    let folder = tempfile::tempdir().unwrap();
    let mut up = Up::start(folder.path(), "2");
    let agents = up.agents();
    assert_eq!(agents.len(), 2);
    up.child.kill().unwrap();
    up.child.wait().unwrap();
    wait_until("the agents are gone", || agents.iter().all(|agent| is_gone(*agent)));
}

#[test]
fn agents_that_stay_take_one_load_after_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let (server, up) = (Server::start(&[]), Up::start(folder.path(), "2"));
    for number in 1..=2 {
        let report = json(&[&server.url("/ping"), "--fleet", up.file(), "-c", "4", "-n", "500"]);
        assert_eq!(report["requests"]["completed"], 500);
        assert_eq!(stats(&server), 500 * number);
    }
    let listed = good(&["fleet", "list", up.file()]);
    assert!(listed.out.contains("agent-1") && listed.out.contains("agent-2"), "{}", listed.out);
    assert!(listed.out.contains("known within"), "{}", listed.out);
    up.end();
}

/// An experiment of one target in so many blocks.
fn experiment(folder: &Path, blocks: u32) -> PathBuf {
    let file = folder.join("e.toml");
    let text = format!(
        "[experiment]\nname = \"fleet\"\nquestion = \"Do agents make trials?\"\nblocks = {blocks}\n[[target]]\n\
         name = \"a\"\nreference = {{ law = \"constant\", mean = \"1ms\" }}\n[scenario]\n\
         request = {{ path = \"/ping\" }}\n[load]\nmodel = \"open\"\nrate = 200\nconnections = 8\n[phases]\n\
         warmup = {{ at_least = \"1s\", at_most = \"1s\" }}\nsample = \"1s\"\nsamples = 1\n"
    );
    std::fs::write(&file, text).unwrap();
    file
}

/// The run in a folder of runs, once it is there.
pub(crate) fn run_in(runs: &Path) -> Option<PathBuf> {
    let mut entries = std::fs::read_dir(runs).ok()?.map(|entry| entry.unwrap().path());
    entries.find(|path| path.join("trials").is_dir())
}

#[test]
fn an_experiment_over_a_fleet_has_the_same_run_folder_and_names_every_agent() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fleet.toml");
    std::fs::write(
        &file,
        "[[agent]]\nname = \"left\"\nhere = true\n[[agent]]\nname = \"right\"\nhere = true\n",
    )
    .unwrap();
    let experiment = experiment(folder.path(), 2);
    let runs = folder.path().join("runs");
    let words =
        [experiment.to_str().unwrap(), "--runs", runs.to_str().unwrap(), "--fleet", file.to_str().unwrap()];
    measured(&[&["run"], &words[..]].concat());
    let run = run_in(&runs).unwrap();
    let read = |name: &str| -> Value {
        serde_json::from_str(&std::fs::read_to_string(run.join(name)).unwrap()).unwrap()
    };
    let recorded = read("run.json");
    crate::load::check_schema("run", &recorded);
    let names = |agents: &Value| -> Vec<String> {
        agents.as_array().unwrap().iter().map(|agent| agent["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&recorded["agents"]), ["left", "right"]);
    assert_eq!(recorded["agents"][0]["share"], 0.5);
    for trial in ["trials/0001", "trials/0002"] {
        let file = read(&format!("{trial}/trial.json"));
        assert_eq!(names(&file["load"]["fleet"]["agents"]), ["left", "right"]);
        assert_eq!(file["load"]["requests"]["scheduled"], 200);
        assert!(
            run.join(trial).join("intervals.ndjson").is_file()
                && run.join(trial).join("latency.hlog").is_file()
        );
    }
    // Those that a busy host made void are run again.
    assert!(read("analysis.json")["trials"].as_array().unwrap().len() >= 2);
}

#[test]
fn a_run_over_a_fleet_goes_on_after_its_controller_was_killed() {
    let folder = tempfile::tempdir().unwrap();
    let (experiment, runs) = (experiment(folder.path(), 3), folder.path().join("runs"));
    let words = ["run", experiment.to_str().unwrap(), "--runs", runs.to_str().unwrap(), "--fleet", "2"];
    let mut first = prony(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("the second trial is under way", || {
        run_in(&runs).is_some_and(|run| run.join("trials/0002/intervals.ndjson").is_file())
    });
    kill(first.id(), Signal::KILL);
    first.wait().unwrap();
    let run = run_in(&runs).unwrap();
    assert!(!run.join("trials/0002/trial.json").exists(), "the trial in progress is lost, and no more");
    let before = std::fs::read(run.join("trials/0001/trial.json")).unwrap();
    measured(&["run", "--resume", run.to_str().unwrap()]);
    for trial in 1..=3 {
        let file = std::fs::read_to_string(run.join(format!("trials/000{trial}/trial.json"))).unwrap();
        let file: Value = serde_json::from_str(&file).unwrap();
        assert_eq!(file["load"]["fleet"]["agents"].as_array().unwrap().len(), 2, "trial {trial}");
        assert_eq!(file["load"]["requests"]["scheduled"], 200);
    }
    let outcome = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap()["outcome"].clone();
    if outcome(&before) == "valid" {
        assert_eq!(std::fs::read(run.join("trials/0001/trial.json")).unwrap(), before, "it is not run again");
    }
}

/// What a run of three planned trials has to show: each with its place, its requests and the sum of its agents' parts. Those
/// that repeat void trials, which a busy host makes, come behind them and have to balance, too.
fn accounts(run: &Path) -> Vec<(Value, u64, u64)> {
    let read = |name: String| -> Value {
        serde_json::from_str(&std::fs::read_to_string(run.join(name)).unwrap()).unwrap()
    };
    let order = read("run.json".to_owned())["plan"]["order"].as_array().unwrap().clone();
    let of = |planned: Value| {
        let load = read(format!("trials/{:04}/trial.json", planned["id"].as_u64().unwrap()))["load"].clone();
        let agents = load["fleet"]["agents"].as_array().unwrap();
        let sum = agents.iter().map(|agent| agent["scheduled"].as_u64().unwrap()).sum();
        (planned, load["requests"]["scheduled"].as_u64().unwrap(), sum)
    };
    let mut all: Vec<_> = order.into_iter().map(of).collect();
    assert!(all.iter().all(|(_, scheduled, sum)| (*scheduled, *sum) == (200, 200)), "{all:?}");
    all.truncate(3);
    all
}

/// Where a run is: a file or a folder that is there, with so many lines.
type Point = (String, usize);

/// From the first `run.json` on, before which there is no run, to the end of the last trial.
fn points() -> Vec<Point> {
    let of_trial = |trial: u32| {
        let file = |name: &str| format!("trials/{trial:04}/{name}");
        let lines = (0..=2).map(|lines| (file("intervals.ndjson"), lines)).collect::<Vec<_>>();
        let around = [(file(""), 0), (file("counters.ndjson"), 0), (file("trial.json"), 0)];
        lines.into_iter().chain(around).collect::<Vec<_>>()
    };
    let first = [("run.json".to_owned(), 0), ("trials/0001/latency.hlog".to_owned(), 0)];
    first.into_iter().chain((1..=3).flat_map(of_trial)).collect()
}

/// Whether a run has come to a point.
fn has_come_to(run: &Path, (path, lines): &Point) -> bool {
    let path = run.join(path);
    path.exists()
        && (*lines == 0
            || std::fs::read_to_string(path).is_ok_and(|text| text.matches('\n').count() >= *lines))
}

#[test]
#[ignore = "forty runs of three trials, ten minutes; run by `make test-all`"]
fn a_controller_killed_at_any_point_resumes_to_the_run_that_it_would_have_been() {
    let folder = tempfile::tempdir().unwrap();
    let experiment = experiment(folder.path(), 3);
    let runs = |name: &str| folder.path().join(name);
    let words = |runs: &Path| {
        let runs = runs.to_str().unwrap().to_owned();
        ["run", experiment.to_str().unwrap(), "--runs", &runs, "--fleet", "2"].map(str::to_owned)
    };
    let whole = runs("undisturbed");
    measured(&words(&whole).each_ref().map(String::as_str));
    let undisturbed = accounts(&run_in(&whole).unwrap());
    assert_eq!(undisturbed.len(), 3);
    assert_eq!(points().len(), 20);
    for (number, point) in points().iter().enumerate() {
        let runs = runs(&format!("killed-{number}"));
        let mut first = prony(&words(&runs).each_ref().map(String::as_str))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let name = format!("{point:?}");
        wait_until(&name, || run_in(&runs).is_some_and(|run| has_come_to(&run, point)));
        let agents = below(&[first.id()]);
        kill(first.id(), Signal::KILL);
        first.wait().unwrap();
        wait_until("nothing is left of it", || agents.iter().all(|pid| is_gone(*pid)));
        let run = run_in(&runs).unwrap();
        measured(&["run", "--resume", run.to_str().unwrap()]);
        assert_eq!(accounts(&run), undisturbed, "killed at {name}");
    }
}

/// A load that goes on until somebody ends it.
pub(crate) fn endless(server: &Server, fleet: &str) -> Child {
    let load = ["load", &server.url("/ping"), "--fleet", fleet, "-c", "8", "-R", "200", "-d", "10m"];
    let child = prony(&load).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("requests arrive", || stats(server) > 50);
    child
}

pub(crate) fn kill(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), signal).unwrap();
}

/// All processes below these.
pub(crate) fn below(parents: &[u32]) -> Vec<u32> {
    parents.iter().flat_map(|parent| children(*parent)).map(|(pid, _)| pid).collect()
}

#[test]
fn a_controller_that_is_killed_leaves_no_load_behind() {
    let folder = tempfile::tempdir().unwrap();
    let (server, up) = (Server::start(&[]), Up::start(folder.path(), "2"));
    let mut load = endless(&server, up.file());
    let generators = below(&up.agents());
    assert_eq!(generators.len(), 2, "{generators:?}");
    kill(load.id(), Signal::KILL);
    load.wait().unwrap();
    // Nobody renews the lease of 10 s.
    wait_until("every generator is gone", || generators.iter().all(|pid| is_gone(*pid)));
    let sent = stats(&server);
    let report = json(&[&server.url("/ping"), "--fleet", up.file(), "-c", "4", "-n", "100"]);
    assert_eq!(report["requests"]["completed"], 100, "the agents take the next load");
    assert_eq!(stats(&server), sent + 100, "and nothing of the first was sent beside it");
    up.end();
}

#[test]
fn agents_over_pipes_end_with_their_controller() {
    let server = Server::start(&[]);
    let mut load = endless(&server, "2");
    let agents = below(&[load.id()]);
    let generators = below(&agents);
    assert_eq!((agents.len(), generators.len()), (2, 2));
    kill(load.id(), Signal::KILL);
    load.wait().unwrap();
    wait_until("all are gone", || agents.iter().chain(&generators).all(|pid| is_gone(*pid)));
}

#[test]
fn ctrl_c_ends_every_agent_and_keeps_the_results() {
    let server = Server::start(&[]);
    let mut load = endless(&server, "2");
    let agents = below(&[load.id()]);
    kill(load.id(), Signal::INT);
    let mut out = String::new();
    load.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert_eq!(load.wait().unwrap().code(), Some(130), "{out}");
    assert!(out.contains("here-1") && out.contains("here-2"), "the agents are in the report: {out}");
    wait_until("the agents are gone", || agents.iter().all(|pid| is_gone(*pid)));
}

#[test]
fn an_agent_that_is_killed_is_named_and_ends_the_others() {
    let server = Server::start(&[]);
    let load = endless(&server, "2");
    let agents = below(&[load.id()]);
    let generators = below(&agents);
    let second = children(load.id()).into_iter().map(|(pid, _)| pid).max().unwrap();
    kill(second, Signal::KILL);
    let ended = load.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(2), "{said}");
    assert!(said.contains("was lost in the middle of the load") && said.contains("agent here-"), "{said}");
    wait_until("all are gone", || agents.iter().chain(&generators).all(|pid| is_gone(*pid)));
}

#[test]
fn an_agent_that_is_stopped_is_named_once_it_was_silent_for_a_lease() {
    let server = Server::start(&[]);
    let load = endless(&server, "2");
    let agents = below(&[load.id()]);
    let generators = below(&agents);
    kill(agents[0], Signal::STOP);
    let ended = load.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(2), "{said}");
    assert!(said.contains("nothing was heard of agent here-") && said.contains(" for 10 s"), "{said}");
    wait_until("all are gone", || agents.iter().chain(&generators).all(|pid| is_gone(*pid)));
}

#[test]
fn an_agent_on_a_loopback_port_makes_its_part() {
    let folder = tempfile::tempdir().unwrap();
    let mut agent = prony(&["agent", "--listen", "127.0.0.1:0"]).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(agent.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let address: SocketAddr = line.trim().strip_prefix("listening on ").unwrap().parse().unwrap();
    let file = folder.path().join("fleet.toml");
    std::fs::write(&file, format!("[[agent]]\ntcp = \"{address}\"\n[[agent]]\nhere = true\n")).unwrap();
    let server = Server::start(&[]);
    let report = json(&[&server.url("/ping"), "--fleet", file.to_str().unwrap(), "-c", "4", "-n", "1000"]);
    assert_eq!((report["requests"]["completed"].as_u64(), stats(&server)), (Some(1000), 1000));
    assert_eq!(report["fleet"]["agents"][0]["name"], "agent-1");
    kill(agent.id(), Signal::TERM);
    assert!(agent.wait().unwrap().success(), "a signal ends it in order");
}

/// A fleet file whose only agent is a program.
fn by_command(folder: &Path, more: &[&str]) -> PathBuf {
    let command = [&[env!("CARGO_BIN_EXE_prony"), "agent", "--stdio"], more].concat();
    let file = folder.join("fleet.toml");
    std::fs::write(&file, format!("[[agent]]\nname = \"far\"\ncommand = {command:?}\n")).unwrap();
    file
}

#[test]
fn an_agent_loads_what_its_own_list_allows_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let file = by_command(folder.path(), &[]);
    let fleet = file.to_str().unwrap();
    let server = Server::start(&[]);
    let report = json(&[&server.url("/ping"), "--fleet", fleet, "-c", "2", "-n", "100"]);
    assert_eq!(report["fleet"]["agents"][0]["name"], "far");
    assert_eq!(stats(&server), 100);
    // Private, so free for the controller; the agent opens no connection to it.
    let refused = done(&["load", "http://10.255.255.1:9/", "--fleet", fleet, "-d", "1s"]);
    assert_eq!(refused.code, 2, "{refused:?}");
    let words = "agent far refuses: 10.255.255.1 (10.255.255.1) is not on its list";
    assert!(refused.err.contains(words), "{}", refused.err);
}

#[test]
fn an_agent_has_no_variable_of_its_surroundings_that_nobody_named() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("s.toml");
    std::fs::write(
        &scenario,
        "schema = \"prony.scenario/1\"\nname = \"s\"\n[request]\npath = \"/${env('PRONY_TEST_WORD')}\"\n",
    )
    .unwrap();
    let listener = Listener::start();
    let url = format!("http://{}", listener.addr);
    let load = |more: &[&str]| {
        let file = by_command(folder.path(), more);
        let fleet = file.to_str().unwrap();
        let args =
            ["load", &url, "--scenario", scenario.to_str().unwrap(), "-c", "1", "-n", "1", "--fleet", fleet];
        let output = prony(&args).env("PRONY_TEST_WORD", "seen").output().unwrap();
        crate::command::Done::from(output)
    };
    let refused = load(&[]);
    assert_ne!(refused.code, 0, "{refused:?}");
    assert!(refused.err.contains("agent far") && refused.err.contains("PRONY_TEST_WORD"), "{}", refused.err);
    assert!(listener.take().is_empty(), "nothing was sent");
    let named = load(&["--env", "PRONY_TEST_WORD"]);
    assert!(named.is_good(), "{named:?}");
    assert_eq!(listener.take().into_keys().collect::<Vec<_>>(), ["GET /seen HTTP/1.1"]);
}

#[test]
fn what_a_fleet_cannot_make_is_refused_before_an_agent_is_reached() {
    let url = "http://127.0.0.1:9/";
    for (args, words) in [
        (&["--fleet", "0"][..], "from 1 to 200"),
        (&["--fleet", "/nonexistent/f.toml"], "/nonexistent/f.toml"),
        (&["--fleet", "9", "-c", "8"], "cannot share 8 connections"),
        (&["--fleet", "2", "--each", "rows.csv"], "rows of single requests"),
        (&["--fleet", "2", "--unix-socket", "/run/x"], "a Unix socket is on one machine"),
        (&["--fleet", "2", "--connect-to", "127.0.0.1:9"], "--connect-to"),
        (&["--fleet", "2", "--proxy", "http://127.0.0.1:9"], "agents make no tunnels"),
    ] {
        let refused = done(&[&["load", url], args].concat());
        assert_ne!(refused.code, 0, "{args:?}");
        assert!(refused.err.contains(words), "{args:?}: {}", refused.err);
    }
    let outside = done(&["agent", "--listen", "0.0.0.0:0"]);
    assert!(outside.code == 1 && outside.err.contains("remedy: "), "{outside:?}");
    let nobody = tempfile::tempdir().unwrap();
    let file = nobody.path().join("f.toml");
    std::fs::write(&file, "[[agent]]\nname = \"gone\"\nunix = \"/nonexistent/agent.sock\"\n").unwrap();
    let gone = done(&["fleet", "list", file.to_str().unwrap()]);
    assert!(gone.code == 2 && gone.out.contains("agent gone cannot be reached"), "{gone:?}");
}
