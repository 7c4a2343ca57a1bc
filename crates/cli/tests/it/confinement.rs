//! `[limits]` from the file to the report: what was asked for holds, is counted right, and leaves nothing.
//!
//! Where this host does not allow a control, what needs it is skipped with the weakness that the run reported, which
//! must then stand in its report, too.

use crate::command::{bad, done, good, prony};
use crate::run::{Lab, read};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, SystemTime};

/// A target whose only limit is its CPU.
const BURNING: &str = "[[target]]\nname = \"one\"\nreference = { burn = \"300us\" }";

/// A lab with limits whose one sample has this length.
fn lab(targets: &str, limits: &str, design: &str, sample: &str) -> Lab {
    let lab = Lab::new(targets, &format!("[limits]\n{limits}\n"), design);
    let text = std::fs::read_to_string(&lab.file).unwrap();
    std::fs::write(&lab.file, text.replace("sample = \"400ms\"", &format!("sample = \"{sample}\""))).unwrap();
    lab
}

fn trials(run: &Path) -> Vec<Value> {
    let mut folders: Vec<PathBuf> =
        std::fs::read_dir(run.join("trials")).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    folders.iter().map(|folder| read(&folder.join("trial.json"))).collect()
}

/// Whether all that a trial asked for was had; else prints why not, having looked that the report says so.
fn all_had(trial: &Value, report: &str) -> bool {
    let weaknesses = trial["target"]["confinement"]["weaknesses"].as_array().expect("limits were asked for");
    for weakness in weaknesses.iter().map(|said| said["text"].as_str().unwrap()) {
        println!("skipped here: {weakness}");
        let begin: String = weakness.chars().take(30).collect();
        assert!(report.contains(&begin), "the report tells `{begin}`:\n{report}");
    }
    weaknesses.is_empty()
}

/// What `cpu.stat` of a group said at a moment.
#[derive(Clone, Copy, Debug)]
struct Stat {
    at: SystemTime,
    throttled_ns: f64,
    quota_us: f64,
}

/// Reads all groups of prony's while a run goes on, by their folders; not through prony.
fn watch(mut child: std::process::Child) -> BTreeMap<PathBuf, Vec<Stat>> {
    let mut seen: BTreeMap<PathBuf, Vec<Stat>> = BTreeMap::new();
    while child.try_wait().unwrap().is_none() {
        for folder in groups() {
            if let Some(stat) = stat(&folder) {
                seen.entry(folder).or_default().push(stat);
            }
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    seen
}

fn groups() -> Vec<PathBuf> {
    let found = std::process::Command::new("find")
        .args(["/sys/fs/cgroup", "-name", "prony-*", "-type", "d"])
        .output()
        .expect("find is there");
    String::from_utf8_lossy(&found.stdout).lines().map(PathBuf::from).collect()
}

fn stat(folder: &Path) -> Option<Stat> {
    let text = std::fs::read_to_string(folder.join("cpu.stat")).ok()?;
    let number = |key: &str| {
        text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.parse::<f64>().ok())
    };
    let throttled_ns = number("throttled_time").or_else(|| Some(number("throttled_usec")? * 1e3))?;
    let quota = std::fs::read_to_string(folder.join("cpu.cfs_quota_us"))
        .or_else(|_| std::fs::read_to_string(folder.join("cpu.max")));
    let quota_us = quota.ok()?.split_ascii_whitespace().next()?.parse().unwrap_or(-1.0);
    Some(Stat { at: SystemTime::now(), throttled_ns, quota_us })
}

/// Runs a lab to its end beside independent readings of its groups.
fn run_watched(lab: &Lab) -> BTreeMap<PathBuf, Vec<Stat>> {
    let child = prony(&lab.args()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    watch(child)
}

/// Start and end of the samples on the wall clock.
fn window(trial: &Value) -> (SystemTime, SystemTime) {
    let origin: jiff::Timestamp = trial["origin_wall"].as_str().unwrap().parse().unwrap();
    let samples: Vec<&Value> =
        trial["phases"].as_array().unwrap().iter().filter(|phase| phase["phase"] == "sample").collect();
    let at = |ns: u64| SystemTime::from(origin) + Duration::from_nanos(ns);
    let number = |value: &Value| value.as_u64().unwrap();
    (at(number(&samples[0]["start_ns"])), at(number(&samples.last().unwrap()["end_ns"])))
}

/// The readings around a moment: prony's own is taken within so much after it, on a busy host.
fn around(stats: &[Stat], moment: SystemTime) -> Vec<f64> {
    const LATE: Duration = Duration::from_millis(400);
    let is_near = |stat: &&Stat| stat.at + Duration::from_millis(100) >= moment && stat.at <= moment + LATE;
    stats.iter().filter(is_near).map(|stat| stat.throttled_ns).collect()
}

/// The throttled time of a trial is that of its group's own counters, read beside the run.
fn counted_right(trial: &Value, seen: &BTreeMap<PathBuf, Vec<Stat>>) {
    let reported = trial["target"]["group"]["throttled_ns"].as_f64().expect("the group tells");
    let folder = Path::new(trial["target"]["confinement"]["groups"]["cpu"].as_str().unwrap());
    let stats = seen.get(folder).expect("the group was seen by others");
    let (begin, end) = window(trial);
    let (first, last) = (around(stats, begin), around(stats, end));
    let least = last.first().unwrap() - first.last().unwrap();
    let most = last.last().unwrap() - first.first().unwrap();
    println!("throttled: prony {reported:.3e} ns, read beside it {least:.3e} to {most:.3e} ns");
    assert!(reported >= 0.9 * least && reported <= 1.1 * most);
}

#[test]
#[ignore = "half a minute of load; part of make test-all, a quota that an event changes is in make test"]
fn a_quota_is_counted_as_the_kernel_counts_it_and_takes_its_share_of_the_throughput() {
    let lab = lab(BURNING, "cpus = [0.05, 0.5, 1]", "blocks = 1", "4s");
    let seen = run_watched(&lab);
    let run = lab.run();
    let report = good(&["report", run.to_str().unwrap(), "--format", "markdown"]).out;
    let all = trials(&run);
    let by_quota = |quota: f64| {
        let cell = read(&run.join("run.json"))["plan"]["cells"]
            .as_array()
            .unwrap()
            .iter()
            .find(|cell| cell["limits"]["cpus"] == quota)
            .unwrap()["id"]
            .clone();
        all.iter().find(|trial| trial["cell"] == cell).unwrap()
    };
    let (half, whole) = (by_quota(0.5), by_quota(1.0));
    if !all_had(half, &report) {
        return;
    }
    all.iter().for_each(|trial| counted_right(trial, &seen));
    // So little is used up on the busiest host.
    let group = &by_quota(0.05)["target"]["group"];
    assert!(group["throttled_ns"].as_u64().unwrap() > 0, "{group}");
    assert!(group["throttled_share"].as_f64().unwrap() > 0.05, "{group}");
    let throughput = |trial: &Value| trial["load"]["throughput_per_s"].as_f64().unwrap();
    let ratio = throughput(half) / throughput(whole);
    let had = whole["target"]["cpu_s"].as_f64().unwrap() / 4.0;
    println!(
        "throughput of half a CPU over that of one: {ratio:.3}; the one was had to {:.0} %",
        had * 100.0
    );
    // On a host whose CPUs are busy with others, a whole CPU is not to be had.
    assert!(ratio < 0.8 || had < 0.85, "{ratio}");
    assert!(report.contains("| Limits | c2: 0.5 CPUs |"), "{report}");
    if by_quota(0.05)["outcome"] == "valid" {
        assert!(report.contains("throttled in ") && report.contains("as the experiment asks"), "{report}");
    }
    let counters = std::fs::read_to_string(run.join("trials/0001/counters.ndjson")).unwrap();
    assert!(counters.lines().any(|line| line.contains("\"target.cgroup\"")), "each tick is kept");
}

#[test]
fn isolated_networks_are_new_each_time_and_have_the_settings_asked_for() {
    let limits = "network = \"isolated\"\nsysctls = { \"net.ipv4.tcp_fin_timeout\" = 7, \
                  \"net.ipv4.ip_local_port_range\" = \"2000 3000\" }";
    let lab = lab("[[target]]\nname = \"one\"\nreference = {}", limits, "blocks = 2", "400ms");
    let text = std::fs::read_to_string(&lab.file).unwrap();
    let text = text.replace("connections = 4", "connections = 4\nconnection = { keepalive = false }");
    std::fs::write(&lab.file, text).unwrap();
    let out = done(&lab.args());
    let report = good(&["report", lab.run().to_str().unwrap(), "--format", "markdown"]).out;
    for trial in trials(&lab.run()) {
        assert_ne!(trial["outcome"], "failed", "{}\n{}", trial["reasons"], out.err);
        if !all_had(&trial, &report) {
            return;
        }
        let network = &trial["target"]["confinement"]["network"];
        assert_eq!(network["time_wait_at_start"], 0);
        let connects = trial["load"]["connections"].clone();
        assert!(trial["load"]["requests"]["completed"].as_u64().unwrap() > 0, "{connects}");
        assert_eq!(
            network["sysctls"],
            serde_json::json!({
                "net.ipv4.tcp_fin_timeout": "7", "net.ipv4.ip_local_port_range": "2000 3000"
            })
        );
    }
}

/// Two kinds of client of one server: with `tcp_tw_reuse` off ports are gone, with it on those in TIME_WAIT serve again.
#[test]
#[ignore = "waits until ports are gone, twenty seconds; run by `make test-all`"]
fn the_generators_ports_run_out_unless_they_are_reused() {
    let target = |name: &str, reuse: u32| {
        format!(
            "[[target]]\nname = \"{name}\"\nreference = {{}}\n\
             limits = {{ generator = {{ sysctls = {{ \"net.ipv4.tcp_tw_reuse\" = {reuse} }} }} }}\n"
        )
    };
    let limits = "network = \"isolated\"\ngenerator = { network = \"isolated\", \
                  sysctls = { \"net.ipv4.ip_local_port_range\" = \"30000 30299\" } }";
    let lab = lab(&(target("off", 0) + &target("on", 1)), limits, "blocks = 1", "3s");
    let text = std::fs::read_to_string(&lab.file).unwrap();
    let load =
        "model = \"open\"\nrate = 150\nconnections = 2\nmax_connections = 50\nconnection = { requests = 1 }";
    let text = text.replace("model = \"closed\"\nconnections = 4", load);
    assert!(text.contains(load), "{text}");
    std::fs::write(&lab.file, text).unwrap();
    let out = done(&lab.args());
    let report = good(&["report", lab.run().to_str().unwrap(), "--format", "markdown"]).out;
    let cells = read(&lab.run().join("run.json"))["plan"]["cells"].clone();
    for (number, trial) in trials(&lab.run()).iter().enumerate() {
        assert_ne!(trial["outcome"], "failed", "{}\n{}", trial["reasons"], out.err);
        if !all_had(trial, &report) {
            return;
        }
        let cell = cells.as_array().unwrap().iter().find(|cell| cell["id"] == trial["cell"]).unwrap();
        let is_on = cell["label"].as_str().unwrap().starts_with("on");
        let settings = &trial["target"]["confinement"]["generator"]["sysctls"];
        assert_eq!(settings["net.ipv4.tcp_tw_reuse"], if is_on { "1" } else { "0" });
        let file = lab.run().join(format!("trials/{:04}/counters.ndjson", number + 1));
        let counters = std::fs::read_to_string(file).unwrap();
        let lines = counters.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let sum = |source: &str, key: &str| -> f64 {
            lines
                .clone()
                .filter(|line| line["source"] == source)
                .filter_map(|line| line["deltas"][key].as_f64())
                .sum()
        };
        let (opened, reused) = (sum("tcp.snmp", "ActiveOpens"), sum("tcp.netstat", "TWRecycled"));
        let gone = trial["load"]["errors"]["address_not_available"].as_u64().unwrap_or_default();
        println!("reuse {is_on}: {opened} opened, {reused} of them in TIME_WAIT, {gone} without a port");
        let waiting =
            lines.clone().filter_map(|line| line["gauges"]["time_wait"].as_f64()).fold(0.0, f64::max);
        assert!((100.0..=300.0).contains(&waiting), "of its own network's 300 ports: {waiting}");
        let ports = lines.clone().find_map(|line| line["gauges"]["ports_available"].as_f64());
        assert_eq!(ports, Some(300.0));
        if is_on {
            assert!(reused > 0.0 && gone == 0, "{reused} {gone}");
        } else {
            assert!(reused == 0.0 && gone > 0, "{reused} {gone}");
        }
    }
}

#[test]
fn a_target_that_takes_too_much_memory_fails_its_trial_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let flag = folder.path().join("tried-out");
    let exe = env!("CARGO_BIN_EXE_prony");
    // Modest when it is tried out, greedy in its trial.
    let script = format!(
        "if [ -e {flag} ]; then {exe} reference --listen {{host}}:{{port}} & exec tail /dev/zero; fi; \
         touch {flag}; exec {exe} reference --listen {{host}}:{{port}}",
        flag = flag.display()
    );
    let target = format!("[[target]]\nname = \"one\"\ncommand = [\"sh\", \"-c\", {script:?}]");
    // Without the limit it would take what the machine has: not where this host cannot set one.
    let probe = lab(
        "[[target]]\nname = \"one\"\nreference = {}",
        "memory = \"64MiB\"\nswap = false",
        "blocks = 1",
        "200ms",
    );
    done(&probe.args());
    let had =
        all_had(&trials(&probe.run())[0], &std::fs::read_to_string(probe.run().join("report.md")).unwrap());
    drop(probe);
    if !had {
        return;
    }
    let lab = lab(&target, "memory = \"64MiB\"\nswap = false", "blocks = 1", "2s");
    let out = done(&lab.args());
    let trial = &trials(&lab.run())[0];
    assert_eq!(trial["outcome"], "failed", "{trial}");
    let reasons = trial["reasons"].to_string();
    assert!(reasons.contains("OOM kill") && reasons.contains("64MiB"), "{reasons}");
    assert!(out.out.contains("OOM kill"), "{}", out.out);
}

#[test]
fn the_dry_run_shows_limits_and_mistakes_are_refused_before_anything_runs() {
    let lab = lab(BURNING, "cpus = [0.5, 1]\nmemory = \"1GiB\"", "blocks = 1", "400ms");
    let file = lab.file.to_str().unwrap();
    let plan = good(&["run", file, "--dry-run"]).out;
    assert!(plan.contains("c1     one, 0.5 CPUs, 4 connections"), "{plan}");
    assert!(plan.contains("limits: 0.5 CPUs, 1GiB"), "{plan}");
    std::fs::write(&lab.file, std::fs::read_to_string(file).unwrap() + "loss = 0.1\n").unwrap();
    bad(
        &lab.args(),
        1,
        &["lab.toml:", "`loss` would change the host's own network", "network = \"isolated\""],
    );
}

/// The quotas that a group was seen to have, in order.
fn quotas(stats: &[Stat]) -> Vec<f64> {
    let mut quotas: Vec<f64> = stats.iter().map(|stat| stat.quota_us).collect();
    quotas.dedup();
    quotas
}

#[test]
fn an_event_changes_the_quota_and_counters_follow_a_restart() {
    let lab = lab(
        BURNING,
        "cpus = 0.8\n[[event]]\nat = \"1s\"\nlimit = { cpus = 0.4 }\n\
         [[event]]\nat = \"2s\"\nrestart = true",
        "blocks = 1",
        "6s",
    );
    let seen = run_watched(&lab);
    let report = good(&["report", lab.run().to_str().unwrap(), "--format", "markdown"]).out;
    let trial = &trials(&lab.run())[0];
    let (limit, restart) = (&trial["events"][0], &trial["events"][1]);
    assert_eq!((&limit["name"], &restart["name"]), (&"0.4 CPUs".into(), &"restart".into()));
    assert!(restart["error"].is_null(), "{restart}");
    let counters = std::fs::read_to_string(lab.run().join("trials/0001/counters.ndjson")).unwrap();
    let ended_ns = restart["ended_ns"].as_u64().unwrap();
    let later = counters.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).filter(|line| {
        line["source"] == "target.process"
            && line["t_ns"].as_u64().unwrap() > ended_ns
            && line["deltas"].is_object()
    });
    assert!(later.count() > 0, "the target's counters go on after the restart");
    if !all_had(trial, &report) {
        return;
    }
    assert!(limit["error"].is_null(), "{limit}");
    let folder = Path::new(trial["target"]["confinement"]["groups"]["cpu"].as_str().unwrap());
    let quotas = quotas(&seen[folder]);
    assert!(quotas.ends_with(&[80_000.0, 40_000.0]), "changed once, also over the restart: {quotas:?}");
    assert!(!folder.exists());
}

/// Tables of packet filters by the name of their owner.
fn tables() -> Vec<String> {
    let shown = std::process::Command::new("nft").args(["list", "tables"]).output();
    let text = shown.map(|out| String::from_utf8_lossy(&out.stdout).into_owned()).unwrap_or_default();
    text.lines().filter_map(|line| line.split_whitespace().last()).map(str::to_owned).collect()
}

#[test]
fn packets_are_dropped_for_the_time_of_the_event_only() {
    let lab = lab(
        "[[target]]\nname = \"one\"\nreference = {}",
        "network = \"isolated\"\n[[event]]\nat = \"1s\"\ndrop = { share = 0.02, for = \"1s\" }",
        "blocks = 1",
        "4s",
    );
    let mut child = prony(&lab.args()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut seen = Vec::new();
    while child.try_wait().unwrap().is_none() {
        seen.extend(tables());
        std::thread::sleep(Duration::from_millis(50));
    }
    let report = good(&["report", lab.run().to_str().unwrap(), "--format", "markdown"]).out;
    let trial = &trials(&lab.run())[0];
    if !all_had(trial, &report) {
        return;
    }
    let event = &trial["events"][0];
    if let Some(error) = event["error"]["text"].as_str() {
        assert!(error.contains("nft"), "{error}");
        println!("skipped here: {error}");
        return;
    }
    let lasted = event["ended_ns"].as_u64().unwrap() - event["began_ns"].as_u64().unwrap();
    assert!(lasted >= 1_000_000_000, "{event}");
    let name = trial["target"]["confinement"]["name"].as_str().unwrap().replace('-', "_");
    assert!(seen.contains(&name), "{name} was there: {seen:?}");
    assert!(!tables().contains(&name), "and is gone");
}

#[test]
fn events_that_a_target_cannot_have_are_refused() {
    for (limits, event, expected) in [
        ("memory = \"1GiB\"", "limit = { cpus = 1 }", "has no CPU quota that could be changed"),
        ("cpus = 1", "limit = { cpus = 0 }", "give from 0.01"),
        ("cpus = 1", "limit = { cpu = 1 }", "did you mean `cpus`?"),
        ("cpus = 1", "drop = { share = 0.1, for = \"1s\" }", "add network = \"isolated\""),
        ("network = \"isolated\"", "drop = { share = 0, for = \"1s\" }", "above 0 up to 1"),
        ("cpus = 1", "reload = true", "has no [reload] in a target.toml"),
        ("cpus = 1", "knob = { gogc = 1 }", "only a target with a target.toml"),
        ("cpus = 1", "knob = {}", "no knob is named"),
    ] {
        let limits = format!("{limits}\n[[event]]\nat = \"100ms\"\n{event}");
        let lab = lab(BURNING, &limits, "blocks = 1", "400ms");
        bad(&lab.args(), 1, &[expected, "lab.toml:"]);
    }
}
