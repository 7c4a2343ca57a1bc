//! One load by several processes: counts as exact as over threads, and nothing left behind however an end comes.

use crate::command::{Done, Server, done, good, hears_hang_ups, prony};
use crate::load::{check_report, pid, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::process::{Child, Stdio};

fn json(server: &Server, args: &[&str]) -> Value {
    let url = server.url("/ping");
    let mut all = vec!["load", &url, "--processes", "3", "-c", "30", "--format", "json"];
    all.extend(args);
    let done = good(&all);
    let report = serde_json::from_str(&done.out).unwrap();
    check_report(&report);
    report
}

/// Children of a process: identifier and command line.
pub(crate) fn children(parent: u32) -> Vec<(u32, String)> {
    let entries = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| status(*pid).is_some_and(|(state, of)| state != 'Z' && of == parent))
        .filter_map(|pid| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
            Some((pid, String::from_utf8_lossy(&line).replace('\0', " ")))
        })
        .collect()
}

/// State and parent of a process, `None` where there is none.
fn status(pid: u32) -> Option<(char, u32)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before it is in brackets and may hold anything.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

pub(crate) fn is_gone(pid: u32) -> bool {
    status(pid).is_none_or(|(state, _)| state == 'Z')
}

/// A load that goes on until somebody ends it, its three generator processes at work.
fn endless(server: &Server) -> (Child, Vec<u32>) {
    let url = server.url("/ping");
    let load = ["-c", "30", "-R", "300", "-d", "10m", "--timeout", "1s"];
    let args = [&["load", &url, "--processes", "3", "--format", "json"][..], &load].concat();
    let child = prony(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("requests arrive", || crate::load::stats(server) > 100);
    let generators = children(child.id());
    assert_eq!(generators.len(), 3, "{generators:?}");
    assert!(generators.iter().all(|(_, line)| line.contains("generator")), "{generators:?}");
    (child, generators.into_iter().map(|(pid, _)| pid).collect())
}

fn kill(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), signal).unwrap();
}

#[test]
fn a_count_of_requests_is_met_exactly_over_processes() {
    let server = Server::start(&[]);
    let report = json(&server, &["-n", "3001", "-t", "4"]);
    assert_eq!(report["requests"]["completed"], 3001);
    assert_eq!(report["status"]["200"], 3001);
    assert_eq!(report["connections"], serde_json::json!({ "asked": 30, "established": 30, "reconnects": 0 }));
    assert_eq!(report["plan"]["load"]["processes"], 3);
    assert_eq!(report["generator"]["workers"], 4);
    assert!(report["generator"]["cpu_s"].as_f64().unwrap() > 0.0);
    assert_eq!(crate::load::stats(&server), 3001, "the server counts the same");
}

#[test]
fn a_rate_is_the_total_over_processes_and_warm_up_is_kept_out() {
    let server = Server::start(&[]);
    let report = json(&server, &["-R", "500", "-d", "2s", "--warmup", "1s", "--arrivals", "poisson"]);
    let alone = good(&[
        "load",
        &server.url("/ping"),
        "-c",
        "30",
        "-R",
        "500",
        "-d",
        "2s",
        "--warmup",
        "1s",
        "--arrivals",
        "poisson",
        "--processes",
        "1",
        "--format",
        "json",
    ]);
    let alone: Value = serde_json::from_str(&alone.out).unwrap();
    assert_eq!(
        report["requests"]["scheduled"], alone["requests"]["scheduled"],
        "one seed is one schedule, whoever makes it"
    );
    let constant = json(&server, &["-R", "500", "-d", "2s"]);
    assert_eq!(constant["requests"]["scheduled"], 1000);
    assert_eq!(constant["window"]["duration_ns"], 2_000_000_000_u64);
}

#[test]
fn nobody_listening_is_told_with_every_attempt_counted() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{free}/");
    let done = done(&["load", &url, "--processes", "3", "-c", "30", "-d", "1s", "--format", "json"]);
    assert_eq!(done.code, 2, "{done:?}");
    let report: Value = serde_json::from_str(&done.out).unwrap();
    check_report(&report);
    assert_eq!(report["errors"]["refused"], 30);
}

#[test]
fn more_connections_than_a_process_has_descriptors_for_take_more_processes() {
    let server = Server::start(&[]);
    let line = format!(
        "ulimit -n 64 && exec {} load {} -c 100 -n 5000 --format json",
        env!("CARGO_BIN_EXE_prony"),
        server.url("/")
    );
    let done: Done = std::process::Command::new("sh").args(["-c", &line]).output().unwrap().into();
    let report: Value = serde_json::from_str(&done.out).unwrap_or_else(|error| panic!("{error}: {done:?}"));
    check_report(&report);
    assert_eq!(report["plan"]["load"]["processes"], 4, "32 connections each");
    assert_eq!(report["connections"]["established"], 100);
    assert_eq!(report["requests"]["completed"], 5000);
}

#[test]
fn a_killed_generator_process_is_an_error_and_leaves_none() {
    let server = Server::start(&[]);
    let (child, generators) = endless(&server);
    kill(generators[1], Signal::KILL);
    let done: Done = child.wait_with_output().unwrap().into();
    assert_eq!(done.code, 2, "{done:?}");
    assert!(done.err.contains(&generators[1].to_string()) && done.err.contains("signal: 9"), "{}", done.err);
    assert!(generators.iter().all(|pid| is_gone(*pid)), "{generators:?}");
}

#[test]
fn a_stopped_generator_process_is_named_and_not_waited_for() {
    let server = Server::start(&[]);
    let (child, generators) = endless(&server);
    kill(generators[2], Signal::STOP);
    let done: Done = child.wait_with_output().unwrap().into();
    assert_eq!(done.code, 2, "{done:?}");
    let said = format!("generator process {} has said nothing for ", generators[2]);
    assert!(done.err.contains(&said) && done.err.contains("it is stopped"), "{}", done.err);
    assert!(generators.iter().all(|pid| is_gone(*pid)), "{generators:?}");
}

#[test]
fn a_killed_prony_leaves_no_generator_process() {
    let server = Server::start(&[]);
    let (mut child, generators) = endless(&server);
    child.kill().unwrap();
    child.wait().unwrap();
    wait_until("the generator processes are gone", || generators.iter().all(|pid| is_gone(*pid)));
}

#[test]
fn a_signal_to_every_process_of_a_load_keeps_the_results_of_all() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        if signal == Signal::HUP && !hears_hang_ups() {
            continue;
        }
        let server = Server::start(&[]);
        let (child, generators) = endless(&server);
        generators.iter().for_each(|pid| kill(*pid, signal));
        ends_with_its_results(child, signal, &generators);
    }
}

#[test]
fn an_interrupt_collects_the_results_of_all_processes() {
    let server = Server::start(&[]);
    let (child, generators) = endless(&server);
    ends_with_its_results(child, Signal::INT, &generators);
}

fn ends_with_its_results(child: Child, signal: Signal, generators: &[u32]) {
    kill_process(pid(&child), signal).unwrap();
    let done: Done = child.wait_with_output().unwrap().into();
    assert_eq!(done.code, 130, "{done:?}");
    let report: Value = serde_json::from_str(&done.out).unwrap_or_else(|error| panic!("{error}: {done:?}"));
    check_report(&report);
    assert!(report["requests"]["completed"].as_u64().unwrap() > 50);
    assert!(generators.iter().all(|pid| is_gone(*pid)), "{generators:?}");
}

#[test]
fn the_reference_target_serves_in_several_processes_that_end_together() {
    let server = Server::start(&["--processes", "3"]);
    let others = children(server.pid());
    assert_eq!(others.len(), 2, "{others:?}");
    let report = json(&server, &["-n", "3000"]);
    assert_eq!(report["requests"]["completed"], 3000);
    let pids: Vec<u32> = others.into_iter().map(|(pid, _)| pid).collect();
    drop(server);
    wait_until("the other processes are gone", || pids.iter().all(|pid| is_gone(*pid)));
}

#[test]
fn a_reference_process_that_dies_ends_the_others() {
    let mut server = Server::start(&["--processes", "3"]);
    let others = children(server.pid());
    kill(others[0].0, Signal::KILL);
    assert_eq!(server.wait(), Some(2), "the first process fails");
    wait_until("the other process is gone", || is_gone(others[1].0));
}

#[test]
fn one_law_of_service_is_one_process() {
    crate::command::bad(&["reference", "--processes", "2", "--mean", "1ms"], 1, &["--mean", "one process"]);
}
