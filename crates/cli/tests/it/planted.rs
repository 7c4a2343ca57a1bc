//! Planted causes: each of `experiments/planted` has one known fault, or none, and `prony why` must say so.
//!
//! A case is judged by the finding that comes first; decoys and clean runs by none being of high severity. What cannot
//! be planted here is skipped with its reason, and so is a case whose trials are all void by the host's doing: decided
//! before its findings are looked at, so that no wrong answer is ever excused. At most a third may be skipped.
//!
//! Absent on purpose: `steal` and `clock_drift`, which only a hypervisor can plant; `swap`, for which the host itself
//! would have to be changed; `slow_replica`, which `levels.rs` plants.

use crate::command::{done, is_there, prony, root, turn};
use crate::levels::Quota;
use crate::run::read;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Expect {
    /// The finding that comes first, in the last cell.
    Cause(&'static str),
    /// The same of a black box, with what its text must say.
    Seen(&'static str, &'static str),
    /// No finding of high severity.
    Nothing,
}

/// What goes on beside the run.
#[derive(Clone, Copy, Debug)]
enum Beside {
    /// So many programs that compute on this CPU.
    Busy { cpu: usize, programs: usize },
    /// A program that computes on this CPU when nobody else wants it.
    Polite { cpu: usize },
    /// A program that computes, with a tenth of a CPU.
    Throttled,
    /// Connections that somebody else closed just now.
    TimeWait,
    /// Another run, over a network that loses packets.
    Lossy,
}

struct Case {
    file: &'static str,
    expect: Expect,
    beside: Option<Beside>,
    /// Programs without which there is no target.
    needs: &'static [&'static str],
}

const fn cause(file: &'static str, cause: &'static str, needs: &'static [&'static str]) -> Case {
    Case { file, expect: Expect::Cause(cause), beside: None, needs }
}

const fn seen(file: &'static str, cause: &'static str, says: &'static str) -> Case {
    Case { file, expect: Expect::Seen(cause, says), beside: None, needs: GO }
}

const fn nothing(file: &'static str, needs: &'static [&'static str]) -> Case {
    Case { file, expect: Expect::Nothing, beside: None, needs }
}

impl Case {
    const fn beside(self, beside: Beside) -> Self {
        Self { beside: Some(beside), ..self }
    }
}

const GO: &[&str] = &["go"];
const GO_MARIADB: &[&str] = &["go", "mariadbd", "mariadb", "mariadb-install-db"];
const GO_REDIS: &[&str] = &["go", "redis-server", "redis-cli"];
const GO_NGINX: &[&str] = &["go", "nginx"];
const NODE: &[&str] = &["node", "npm"];
const PHP: &[&str] = &["php", "php-fpm8.2", "nginx"];
const PHP_BACKEND: &[&str] = &["php", "php-fpm8.2", "nginx", "go", "ss"];

const CASES: &[Case] = &[
    cause("throttling", "throttling", &[]),
    cause("cpu-user", "cpu_saturated", GO),
    cause("cpu-system", "cpu_saturated", GO),
    cause("run-queue", "run_queue", GO),
    cause("host-busy", "host_busy", GO).beside(Beside::Busy { cpu: 1, programs: 2 }),
    cause("core-full", "core_full", GO).beside(Beside::Busy { cpu: 1, programs: 1 }),
    cause("memory-limit", "memory_limit", GO),
    cause("gc-pauses", "gc_pauses", GO),
    cause("allocation-pressure", "allocation_pressure", GO),
    cause("thread-growth", "thread_growth", GO),
    cause("memory-growth", "memory_growth", &[]),
    cause("descriptor-leak", "descriptor_leak", &[]),
    cause("descriptor-limit", "descriptor_limit", GO),
    cause("pool-wait", "pool_wait", GO),
    cause("database-saturated", "database_saturated", GO_MARIADB),
    cause("cache-slow", "cache_slow", GO_REDIS),
    cause("lock-contention", "lock_contention", GO),
    cause("event-loop-blocked", "event_loop_blocked", NODE),
    cause("workers-exhausted", "workers_exhausted", PHP_BACKEND),
    cause("accept-queue", "accept_queue", GO),
    cause("port-exhaustion", "port_exhaustion", GO),
    cause("connection-churn", "connection_churn", GO),
    cause("retransmission", "retransmission", &[]),
    cause("delayed-ack", "delayed_ack", GO),
    cause("bandwidth", "bandwidth", GO),
    cause("cold-code", "cold_code", GO),
    cause("uneven-workers", "uneven_workers", GO),
    cause("uneven-replicas", "uneven_workers", GO_NGINX),
    cause("errors", "errors", &[]),
    cause("generator-saturated", "generator_saturated", GO),
    seen("black-box-pool", "concurrency_limit", "about 4 requests at a time"),
    seen("black-box-lock", "concurrency_limit", "one request at a time"),
    seen("black-box-pause", "stalls", ", one every "),
    seen("black-box-cpu", "cpu_saturated", "of its CPU set"),
    nothing("decoy-black-box-slow", GO),
    nothing("decoy-throttled-neighbour", &[]).beside(Beside::Throttled),
    nothing("decoy-gc", GO),
    nothing("decoy-time-wait", &[]).beside(Beside::TimeWait),
    nothing("decoy-slow-database", GO_MARIADB),
    nothing("decoy-steal", &[]),
    nothing("decoy-warm-cache", GO_REDIS),
    nothing("decoy-other-retransmissions", &[]).beside(Beside::Lossy),
    nothing("decoy-busy-core", &[]).beside(Beside::Busy { cpu: 1, programs: 1 }),
    nothing("decoy-polite-neighbour", &[]).beside(Beside::Polite { cpu: 1 }),
    nothing("clean-reference", &[]),
    nothing("clean-go", GO),
    nothing("clean-node", NODE),
    nothing("clean-php", PHP),
];

/// Connections left in TIME_WAIT: a tenth of the ports that there are by default.
const TIME_WAITS: usize = 3_000;

/// A neighbour that outlives its test by some accident ends by itself.
const NEIGHBOUR_S: &str = "120";

/// What a case came to.
enum Outcome {
    Right,
    Wrong(String),
    Skipped(String),
}

#[test]
#[ignore = "forty runs take ten minutes and need two quiet cores; run by `make test-all`"]
fn what_was_planted_is_found_and_nothing_else() {
    let _turn = turn();
    let (mut judged, mut wrong, mut skipped) = (0, Vec::new(), Vec::new());
    let mut false_alarms = Vec::new();
    for case in CASES {
        let is_cause = case.expect != Expect::Nothing;
        match judge(case) {
            Outcome::Right => judged += usize::from(is_cause),
            Outcome::Wrong(found) if is_cause => {
                judged += 1;
                wrong.push(format!("{}: {found}", case.file));
            }
            Outcome::Wrong(found) => false_alarms.push(format!("{}: {found}", case.file)),
            Outcome::Skipped(reason) => {
                println!("skipped: {}: {reason}", case.file);
                skipped.push(case.file);
            }
        }
    }
    println!("{} of {judged} planted causes found; {} cases skipped", judged - wrong.len(), skipped.len());
    assert!(3 * skipped.len() <= CASES.len(), "too much was skipped to say anything: {skipped:?}");
    assert!(
        wrong.len() * 20 <= judged,
        "fewer than 95 % of {judged} causes were found:\n{}",
        wrong.join("\n")
    );
    assert!(false_alarms.is_empty(), "found where nothing is:\n{}", false_alarms.join("\n"));
}

/// The files of the folder are the cases of the table, and the neighbour that one of them has.
#[test]
fn every_planted_experiment_is_a_case() {
    let folder = root().join("experiments/planted");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| name.strip_suffix(".toml").map(str::to_owned))
        .filter(|name| name != "neighbour-lossy")
        .collect();
    files.sort();
    let mut cases: Vec<&str> = CASES.iter().map(|case| case.file).collect();
    cases.sort_unstable();
    assert_eq!(files, cases);
}

fn judge(case: &Case) -> Outcome {
    if let Some(program) = case.needs.iter().find(|program| !is_there(program)) {
        return Outcome::Skipped(format!("{program} is missing (`prony targets` says how to get it)"));
    }
    let folder = tempfile::tempdir().unwrap();
    let beside = match case.beside.map(|beside| Neighbours::start(beside, folder.path())).transpose() {
        Ok(beside) => beside,
        Err(reason) => return Outcome::Skipped(reason),
    };
    let runs = folder.path().join("runs");
    let file = format!("experiments/planted/{}.toml", case.file);
    // Void trials end a run with code 2; whether there are any is read below.
    let ran = done(&["run", &file, "--runs", runs.to_str().unwrap()]);
    drop(beside);
    let Some(run) = run_folder(&runs) else {
        panic!("{}: no run folder; exit code {}\n{}\n{}", case.file, ran.code, ran.out, ran.err);
    };
    if let Some(reason) = host_spoiled(case, &run) {
        return Outcome::Skipped(reason);
    }
    let why = done(&["why", run.to_str().unwrap(), "--format", "json"]);
    assert_eq!(why.code, 0, "{}: {}\n{}", case.file, why.out, why.err);
    let why: Value = serde_json::from_str(&why.out).expect("`prony why` writes JSON");
    compare(case, &why)
}

/// Prints what was expected and found.
fn compare(case: &Case, why: &Value) -> Outcome {
    let cells = why["cells"].as_array().expect("there are cells");
    let of_cell = |cell: &Value| cell["findings"].as_array().expect("a cell has findings").clone();
    // A ladder of connections shows its cause at its upper end; nothing may be found anywhere.
    let findings: Vec<Value> = match case.expect {
        Expect::Nothing => cells.iter().flat_map(of_cell).collect(),
        Expect::Cause(_) | Expect::Seen(..) => of_cell(cells.last().expect("there is a cell")),
    };
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or("?").to_owned();
    let all: Vec<String> = findings
        .iter()
        .map(|finding| format!("{} ({})", text(finding, "cause"), text(finding, "severity")))
        .collect();
    let is_right = match case.expect {
        Expect::Cause(expected) => findings.first().is_some_and(|first| first["cause"] == expected),
        Expect::Seen(expected, says) => findings
            .first()
            .is_some_and(|first| first["cause"] == expected && text(&first["text"], "text").contains(says)),
        Expect::Nothing => findings.iter().all(|finding| finding["severity"] != "high"),
    };
    let said: Vec<String> = findings.iter().map(|finding| text(&finding["text"], "text")).collect();
    println!(
        "{:28} {} expected {:?}, found {}\n    {}",
        case.file,
        if is_right { "right" } else { "WRONG" },
        case.expect,
        if all.is_empty() { "nothing".to_owned() } else { all.join(", ") },
        said.join("\n    ")
    );
    if is_right { Outcome::Right } else { Outcome::Wrong(format!("found {all:?}")) }
}

/// Why this host cannot tell: a control that it lacks, or no trial that it did not spoil.
fn host_spoiled(case: &Case, run: &Path) -> Option<String> {
    let trials = trials(run);
    let lacks = trials
        .iter()
        .find_map(|trial| trial["target"]["confinement"]["weaknesses"].as_array()?.first()?["text"].as_str());
    if let Some(weakness) = lacks {
        return Some(weakness.to_owned());
    }
    if trials.is_empty() {
        return None;
    }
    let reasons: Option<Vec<String>> = trials.iter().map(|trial| spoiled(case, trial)).collect();
    reasons.map(|reasons| reasons.join("; "))
}

/// The reason why a trial is void, where it is the host's.
fn spoiled(case: &Case, trial: &Value) -> Option<String> {
    // A late generator is what a saturated one is known by.
    let gates: &[&str] = match case.expect {
        Expect::Cause("generator_saturated") => &["steal", "canary"],
        _ => &["steal", "canary", "pacer_lag", "arrivals"],
    };
    if trial["outcome"] != "void" {
        return None;
    }
    let reasons = trial["load"]["validity"]["reasons"].as_array()?;
    let reason = reasons.iter().find(|reason| gates.iter().any(|gate| reason["gate"] == *gate))?;
    reason["text"]["text"].as_str().map(str::to_owned)
}

fn trials(run: &Path) -> Vec<Value> {
    let mut folders: Vec<PathBuf> =
        std::fs::read_dir(run.join("trials")).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    let files = folders.iter().map(|folder| folder.join("trial.json"));
    files.filter(|file| file.exists()).map(|file| read(&file)).collect()
}

/// The one run below a folder that may not be there.
fn run_folder(runs: &Path) -> Option<PathBuf> {
    let mut paths = std::fs::read_dir(runs).ok()?.map(|entry| entry.unwrap().path());
    paths.find(|path| path.join("trials").is_dir())
}

/// Processes of this test, ended when dropped; then the group they were in.
struct Neighbours {
    children: Vec<Child>,
    _quota: Option<Quota>,
}

impl Neighbours {
    /// `Err` says why there are none here.
    fn start(beside: Beside, folder: &Path) -> Result<Self, String> {
        let mut all = Self { children: Vec::new(), _quota: None };
        match beside {
            Beside::Busy { cpu, programs } => {
                let cpus = std::thread::available_parallelism().map_or(1, usize::from);
                if cpu >= cpus {
                    return Err(format!("there is no CPU {cpu}, only {cpus} CPUs"));
                }
                for _ in 0..programs {
                    all.spawn(&format!("exec taskset -c {cpu} {}", computing()))?;
                }
            }
            Beside::Polite { cpu } => {
                let cpus = std::thread::available_parallelism().map_or(1, usize::from);
                if cpu >= cpus {
                    return Err(format!("there is no CPU {cpu}, only {cpus} CPUs"));
                }
                all.spawn(&format!("exec taskset -c {cpu} chrt --idle 0 {}", computing()))?;
            }
            Beside::Throttled => {
                let quota = Quota::new().map_err(|reason| format!("no control group: {reason}"))?;
                quota.set().map_err(|error| format!("no CPU quota: {error}"))?;
                let procs = quota.folder.join("cgroup.procs");
                all._quota = Some(quota);
                all.spawn(&format!("echo $$ > {} && exec {}", procs.display(), computing()))?;
            }
            Beside::TimeWait => leave_time_waits().map_err(|error| format!("no connections: {error}"))?,
            Beside::Lossy => all.children.push(lossy(&folder.join("beside"))?),
        }
        Ok(all)
    }

    fn spawn(&mut self, script: &str) -> Result<(), String> {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::null()).stdout(Stdio::null());
        self.children.push(command.spawn().map_err(|error| format!("cannot start sh: {error}"))?);
        Ok(())
    }
}

impl Drop for Neighbours {
    fn drop(&mut self) {
        for child in &mut self.children {
            // `timeout` ends its program, and prony its target, when asked; killed, they could not.
            let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
            let _ = pid.map(|pid| kill_process(pid, Signal::TERM));
            let _ = child.wait();
        }
    }
}

/// A command that computes until it is ended.
fn computing() -> String {
    format!("timeout {NEIGHBOUR_S} sh -c 'while :; do :; done'")
}

/// Connections between two others than generator and target, closed by the side that connected.
fn leave_time_waits() -> std::io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    for _ in 0..TIME_WAITS {
        let client = TcpStream::connect(address)?;
        let (server, _) = listener.accept()?;
        drop(client);
        drop(server);
    }
    Ok(())
}

/// A run over a lossy network, once its load has begun.
fn lossy(runs: &Path) -> Result<Child, String> {
    let args = ["run", "experiments/planted/neighbour-lossy.toml", "--runs", runs.to_str().unwrap()];
    let mut child = prony(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("prony starts");
    while !run_folder(runs).is_some_and(|run| run.join("trials/0001").is_dir()) {
        if let Some(status) = child.try_wait().expect("it is our child") {
            return Err(format!("the neighbour ended before its load began: {status}"));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(child)
}
