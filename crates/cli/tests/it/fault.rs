//! The fault server from the command line: the list, exact counts against `prony load`, and mistakes.

use crate::command::{bad, done, good, prony};
use crate::load::check_schema;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

#[test]
fn faults_are_listed_for_people_and_machines() {
    let text = good(&["reference", "--list-faults"]).out;
    assert!(text.contains("reset-mid-body") && text.contains("--fault NAME"), "{text}");
    let list: Value =
        serde_json::from_str(&good(&["reference", "--list-faults", "--format", "json"]).out).unwrap();
    check_schema("faults", &list);
    let faults = list["faults"].as_array().unwrap();
    assert!(faults.len() >= 36, "{}", faults.len());
    for fault in faults {
        assert!(text.contains(fault["name"].as_str().unwrap()), "{fault}");
    }
}

#[test]
fn a_fault_is_played_as_often_as_it_says_and_told_at_the_end() {
    let mut server = prony(&["reference", "--fault", "reset-mid-body@every:3"])
        .stderr(Stdio::piped())
        .spawn()
        .expect("prony starts");
    let mut said = BufReader::new(server.stderr.take().expect("stderr is piped"));
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    let url = format!("http://{}/", line.trim().strip_prefix("listening on ").expect("an address"));
    let load = done(&["load", &url, "-c", "1", "-n", "10", "--format", "json", "--no-tui"]);
    let report: Value = serde_json::from_str(&load.out).unwrap_or_else(|error| panic!("{error}: {load:?}"));
    kill_process(Pid::from_child(&server), Signal::INT).unwrap();
    let mut rest = String::new();
    said.read_to_string(&mut rest).unwrap();
    assert!(server.wait().unwrap().success());
    assert_eq!(report["errors"], serde_json::json!({ "reset": 3 }));
    assert_eq!((&report["requests"]["completed"], &report["requests"]["censored"]), (&7.into(), &0.into()));
    let wanted = "reset-mid-body@every:3: 4 connections, 10 requests seen, 3 faults played";
    assert!(rest.contains(wanted), "{rest}");
}

#[test]
fn mistakes_are_told() {
    bad(&["reference", "--fault", "reset-midbody"], 1, &["did you mean `reset-mid-body`?"]);
    bad(&["reference", "--fault", "drip@every:0"], 1, &["every:N"]);
    bad(&["reference", "--fault", "refused@every:2"], 1, &["whole listener"]);
    bad(&["reference", "--fault", "drip", "--mean", "1ms"], 1, &["cannot be used with"]);
    bad(&["reference", "--fault", "drip", "--ca-out", "/no/such/file"], 1, &["no fault of TLS"]);
    bad(&["reference", "--fault", "drip", "--tls"], 1, &["no fault of HTTP/2", "leave --tls out"]);
    bad(
        &["reference", "--fault", "h2-window-zero", "--tls", "--tls-ca-out", "x"],
        1,
        &["cannot be used with"],
    );
    bad(&["reference", "--fault", "drip", "--listen", "0.0.0.0:0"], 1, &["--public"]);
}
