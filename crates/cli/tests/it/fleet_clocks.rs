//! Agents whose clock is another machine's: each in a time namespace of its own, so that the true offset is known.

use crate::command::Server;
use crate::fleet::json;
use crate::load::stats;
use std::process::Command;

/// How far the agents' clocks are from the controller's. A machine that runs the tests has been up for longer than the
/// last one: no clock may be below 0.
const AHEAD_S: [i64; 3] = [86_400, 1_000, -60];

fn in_namespace(ahead_s: i64, program: &[&str]) -> Vec<String> {
    let ahead = ahead_s.to_string();
    let words = ["unshare", "--time", "--fork", "--kill-child", "--monotonic", &ahead, "--boottime", &ahead];
    words.iter().chain(program).map(|word| (*word).to_owned()).collect()
}

fn can_be_had() -> bool {
    let words = in_namespace(AHEAD_S[2], &["true"]);
    Command::new(&words[0]).args(&words[1..]).output().is_ok_and(|done| done.status.success())
}

#[test]
fn agents_whose_clocks_are_hours_apart_begin_together() {
    if !can_be_had() {
        eprintln!("skipped: no time namespace can be had here (unshare of util-linux 2.36, as root)");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fleet.toml");
    let agents = AHEAD_S.map(|ahead_s| {
        let command = in_namespace(ahead_s, &[env!("CARGO_BIN_EXE_prony"), "agent", "--stdio"]);
        format!("[[agent]]\ncommand = {command:?}\n")
    });
    std::fs::write(&file, agents.concat()).unwrap();
    let server = Server::start(&[]);
    let load = ["-R", "300", "-n", "900", "-c", "6", "--warmup", "0s"];
    let report =
        json(&[&[server.url("/ping").as_str(), "--fleet", file.to_str().unwrap()], &load[..]].concat());
    assert_eq!((report["requests"]["completed"].as_u64(), stats(&server)), (Some(900), 900), "{report:#}");
    let agents = report["fleet"]["agents"].as_array().unwrap();
    for (agent, ahead_s) in agents.iter().zip(AHEAD_S) {
        assert_eq!(agent["completed"], 300, "each third is sent by its agent: {agent}");
        let [offset_ns, bound_ns] =
            ["offset_ns", "bound_ns"].map(|key| agent["clock"][key].as_i64().unwrap());
        // A begin is a moment of the controller's clock plus the offset, so this is by how much an agent begins wrongly.
        let wrong_ns = (offset_ns - ahead_s * 1_000_000_000).abs();
        println!("{ahead_s} s ahead: begins {wrong_ns} ns off, bound {bound_ns} ns");
        assert!(wrong_ns <= bound_ns && bound_ns <= 1_000_000, "{agent}");
    }
    // Whoever begins by the wrong clock is late by as much for each of its requests: by a minute at least.
    let longest_ns = report["latency_ns"]["response"]["max"].as_u64().unwrap();
    assert!(longest_ns < 60_000_000_000, "{longest_ns}");
}
