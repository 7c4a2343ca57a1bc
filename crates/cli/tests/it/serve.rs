//! `prony serve` as a user runs it: its address, its errors, an experiment from start to stop, and fifty viewers.

use crate::command::{bad, prony, turn};
use analyze::stats::student::MeanTest;
use jiff::Timestamp;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Longest that a test waits for anything.
const WAIT: Duration = Duration::from_secs(120);

/// A lab as a process.
struct Lab {
    child: Child,
    /// What it printed.
    line: String,
    addr: SocketAddr,
}

impl Lab {
    fn open(runs: &Path, args: &[&str]) -> Self {
        let runs = runs.to_str().unwrap();
        let mut all = vec!["serve", runs, "--listen", "127.0.0.1:0"];
        all.extend(args);
        let mut child =
            prony(&all).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("prony starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).expect("it says where it listens");
        let after = line.split_once("http://").expect("an address").1;
        let addr = after.split('/').next().unwrap().parse().expect("an address");
        Self { child, line, addr }
    }

    fn ask(&self, method: &str, path: &str) -> (u16, Value) {
        let mut stream = self.connect();
        let mark = if method == "GET" { "" } else { "X-Prony: 1\r\n" };
        write!(stream, "{method} {path} HTTP/1.0\r\nHost: {}\r\n{mark}\r\n", self.addr).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("an answer");
        let (head, body) = text.split_once("\r\n\r\n").expect("a head");
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap_or_default())
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.addr).expect("the lab listens");
        stream.set_read_timeout(Some(WAIT)).unwrap();
        stream
    }

    fn events(&self, run: &str) -> BufReader<TcpStream> {
        let mut stream = self.connect();
        write!(stream, "GET /api/runs/{run}/events HTTP/1.0\r\nHost: {}\r\n\r\n", self.addr).unwrap();
        BufReader::new(stream)
    }

    /// Asks again until it holds.
    fn until(&self, path: &str, holds: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + WAIT;
        loop {
            let (_, value) = self.ask("GET", path);
            if holds(&value) {
                return value;
            }
            assert!(Instant::now() < end, "it never held: {value}");
            std::thread::yield_now();
        }
    }

    /// Ctrl-C.
    fn interrupt(mut self) -> Option<i32> {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The data of the next event of a name.
fn wait_for(events: &mut impl BufRead, wanted: &str) -> Value {
    let mut name = String::new();
    loop {
        let mut line = String::new();
        assert!(events.read_line(&mut line).expect("events come") > 0, "no `{wanted}` came");
        if let Some(event) = line.strip_prefix("event: ") {
            event.trim_end().clone_into(&mut name);
        } else if let Some(data) = line.strip_prefix("data: ")
            && name == wanted
        {
            return serde_json::from_str(data).expect("events are JSON");
        }
    }
}

#[test]
fn it_says_where_it_listens_and_ctrl_c_ends_it_cleanly() {
    let folder = tempfile::tempdir().unwrap();
    let lab = Lab::open(folder.path(), &[]);
    assert!(
        lab.line.starts_with("prony lab: http://127.0.0.1:") && !lab.line.contains("token"),
        "{}",
        lab.line
    );
    let (status, info) = lab.ask("GET", "/api/lab");
    assert_eq!((status, info["needs_token"].as_bool()), (200, Some(false)));
    assert_eq!(lab.interrupt(), Some(0));
}

#[test]
fn another_address_gets_a_token_which_is_printed_once() {
    let folder = tempfile::tempdir().unwrap();
    let runs = folder.path().to_str().unwrap();
    let mut child = prony(&["serve", runs, "--listen", "0.0.0.0:0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let token = line.trim_end().rsplit_once("/#token=").expect("the token is in the address").1;
    assert!(token.len() == 48 && token.bytes().all(|byte| byte.is_ascii_hexdigit()), "{line}");
}

#[test]
fn mistakes_are_told_with_their_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let runs = folder.path().to_str().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = taken.local_addr().unwrap().to_string();
    bad(&["serve", runs, "--listen", &addr], 1, &["cannot listen on", "remedy: choose another port"]);
    bad(&["serve", "/nonexistent/runs"], 1, &["there is no folder", "remedy"]);
    bad(&["serve", runs, "--experiments", "/nonexistent"], 1, &["there is no folder", "--experiments"]);
    bad(&["serve", runs, "--token-file", "/nonexistent"], 1, &["token", "remedy"]);
    let open = folder.path().join("token");
    fs::write(&open, "0123456789abcdef0123").unwrap();
    fs::set_permissions(&open, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    bad(&["serve", runs, "--token-file", open.to_str().unwrap()], 1, &["other users", "chmod 600"]);
}

const EXPERIMENT: &str = r#"
[experiment]
name = "watched"
question = "Is it seen?"
blocks = 40
[[target]]
name = "reference"
reference = { mean = "1ms" }
[scenario]
request = { path = "/ping" }
[load]
model = "open"
connections = 4
rate = 200
[phases]
warmup = { at_least = "1s", at_most = "1s" }
sample = "1s"
samples = 1
"#;

#[test]
fn an_experiment_is_started_watched_and_stopped_from_the_lab() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let (runs, experiments) = (folder.path().join("runs"), folder.path().join("experiments"));
    fs::create_dir_all(&runs).unwrap();
    fs::create_dir_all(&experiments).unwrap();
    fs::write(experiments.join("watched.toml"), EXPERIMENT).unwrap();
    let lab = Lab::open(&runs, &["--experiments", experiments.to_str().unwrap()]);
    assert_eq!(lab.ask("POST", "/api/experiments/watched.toml/start").0, 202);
    let list = lab.until("/api/experiments", |list| list["starts"][0]["run"].is_string());
    let run = list["starts"][0]["run"].as_str().unwrap().to_owned();
    assert_eq!(lab.ask("POST", "/api/experiments/watched.toml/start").0, 409, "one at a time");
    let mut events = lab.events(&run);
    let hello = wait_for(&mut events, "hello");
    assert_eq!(
        (hello["card"]["state"].as_str(), hello["order"].as_array().unwrap().len()),
        (Some("running"), 40)
    );
    let interval = wait_for(&mut events, "interval");
    assert!(interval["p50_ns"].as_u64().is_some() && interval["throughput_per_s"].as_f64().unwrap() > 0.0);
    let trial = wait_for(&mut events, "trial");
    assert!(runs.join(&run).join("trials").join(format!("{:04}", trial["id"].as_u64().unwrap())).is_dir());
    assert_eq!(lab.ask("POST", &format!("/api/runs/{run}/stop")).0, 202);
    let end = wait_for(&mut events, "end");
    assert_eq!(end["card"]["state"], "interrupted");
    assert!(
        end["card"]["answer"]["text"].is_string(),
        "the report is written before the run counts as ended: {end}"
    );
    let list = lab.until("/api/experiments", |list| list["starts"][0]["is_running"] == false);
    assert_eq!(list["starts"][0]["exit_code"], 130);
    assert!(!runs.join(&run).join("live.json").exists());
    assert_eq!(lab.interrupt(), Some(0));
}

/// How often fifty viewers come and go, and how long they stay and stay away.
const VISITS: usize = 12;
const SPELL: Duration = Duration::from_secs(10);
const VIEWERS: usize = 50;

#[test]
#[ignore = "measures for more than four minutes"]
fn fifty_viewers_cost_the_generator_nothing_measurable() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("watched.toml");
    // A closed load without think time: its generator sleeps until an answer comes, and works for nothing but requests,
    // so that what viewers cost it shows in its CPU time. An open load spins before intended times.
    let (open, closed) =
        ("model = \"open\"\nconnections = 4\nrate = 200\n", "model = \"closed\"\nconnections = 8\n");
    assert!(EXPERIMENT.contains(open));
    let long = EXPERIMENT
        .replace("blocks = 40", "blocks = 1")
        .replace(open, closed)
        .replace("sample = \"1s\"\nsamples = 1", "sample = \"10s\"\nsamples = 26");
    fs::write(&file, long).unwrap();
    let runs = folder.path().join("runs");
    fs::create_dir(&runs).unwrap();
    let mut child = prony(&["run", file.to_str().unwrap(), "--runs", runs.to_str().unwrap()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lab = Lab::open(&runs, &[]);
    let list = lab.until("/api/runs?state=running", |list| list["total"] == 1);
    let run = list["runs"][0]["id"].as_str().unwrap().to_owned();
    let mut events = lab.events(&run);
    while wait_for(&mut events, "interval")["phase"] != "sample" {}
    drop(events);
    // Viewers come and go within one trial: from run to run the cost of a request differs by more than they could.
    let cpus = off_the_generator(&runs.join(&run));
    let visits: Vec<[Spell; 2]> =
        (0..VISITS).map(|_| [0, VIEWERS].map(|viewers| spell(&lab, &run, &cpus, viewers))).collect();
    child.wait().unwrap();
    let trial = runs.join(&run).join("trials/0001");
    let file: Value = serde_json::from_slice(&fs::read(trial.join("trial.json")).unwrap()).unwrap();
    let intervals = fs::read_to_string(trial.join("intervals.ndjson")).unwrap();
    let intervals: Vec<Value> = intervals.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let origin = file["origin_wall"].as_str().unwrap().parse().unwrap();
    let mut ratios = Vec::new();
    for [alone, watched] in &visits {
        // Each viewer saw the intervals.
        assert!(watched.events >= VIEWERS as u64 * 8, "{} events", watched.events);
        let [alone, watched] = [alone, watched].map(|spell| spell.cost_ns(&intervals, origin));
        println!("generator: {alone:.0} ns of CPU a request alone, {watched:.0} ns with {VIEWERS} viewers");
        ratios.push((watched / alone).ln());
    }
    let test = MeanTest::of(&ratios).unwrap();
    let (low, high) = test.interval(0.95);
    println!(
        "watched over alone: {:.3}, 95 % interval {:.3} to {:.3}, {VISITS} visits; {:.0} requests/s, {} {}",
        test.mean.exp(),
        low.exp(),
        high.exp(),
        file["load"]["throughput_per_s"].as_f64().unwrap_or_default(),
        file["outcome"],
        file["reasons"]
    );
    let reasons = file["reasons"].as_array().unwrap();
    let is_green = |reason: &Value| !reason["text"].as_str().unwrap().contains("generator");
    assert!(reasons.iter().all(is_green), "the generator's gates stay green: {reasons:?}");
}

/// CPUs that the generator of a run does not use: real viewers are on other hosts; here they keep off, as the lab does.
fn off_the_generator(run: &Path) -> Vec<u32> {
    let plan: Value = serde_json::from_slice(&fs::read(run.join("run.json")).unwrap()).unwrap();
    let generator: Vec<u64> =
        plan["plan"]["pin"]["generator"].as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
    let usable = launch::pin::usable_cpus().unwrap();
    usable.into_iter().filter(|cpu| !generator.contains(&u64::from(*cpu))).collect()
}

/// A time during which so many watched, or nobody.
struct Spell {
    from: Timestamp,
    to: Timestamp,
    /// What all viewers got.
    events: u64,
}

impl Spell {
    /// The generator's CPU time for a right answer in the intervals that lie wholly within.
    fn cost_ns(&self, intervals: &[Value], origin: Timestamp) -> f64 {
        let at = |line: &Value, key: &str| origin + Duration::from_nanos(line[key].as_u64().unwrap());
        let within: Vec<&Value> = intervals
            .iter()
            .filter(|line| at(line, "start_ns") >= self.from && at(line, "end_ns") <= self.to)
            .collect();
        let sum = |key: &str| within.iter().map(|line| line[key].as_u64().unwrap()).sum::<u64>() as f64;
        assert!(within.len() >= 8, "{} intervals", within.len());
        sum("generator_cpu_ns") / sum("completed")
    }
}

fn spell(lab: &Lab, run: &str, cpus: &[u32], viewers: usize) -> Spell {
    let seen = Arc::new(AtomicU64::new(0));
    let view = |_| {
        let (events, seen, cpus) = (lab.events(run), seen.clone(), cpus.to_vec());
        let stream = events.get_ref().try_clone().unwrap();
        let reader = std::thread::spawn(move || {
            if !cpus.is_empty() {
                launch::pin::confine_this_thread(&cpus).unwrap();
            }
            let lines = events.lines().map_while(Result::ok);
            seen.fetch_add(
                lines.filter(|line| line.starts_with("event: ")).count() as u64,
                Ordering::Relaxed,
            );
        });
        (stream, reader)
    };
    let open: Vec<_> = (0..viewers).map(view).collect();
    let from = Timestamp::now();
    // What is measured is this time, not an order of events.
    std::thread::sleep(SPELL);
    let to = Timestamp::now();
    for (stream, reader) in open {
        stream.shutdown(Shutdown::Both).unwrap();
        reader.join().unwrap();
    }
    Spell { from, to, events: seen.load(Ordering::Relaxed) }
}
