//! What `prony load` leaves: formats, files, thresholds, progress, and the command lines of other tools.

use crate::command::{Done, Server, bad, done, good, prony};
use crate::load::check_report;
use serde_json::Value;
use std::io::BufRead as _;
use std::process::Stdio;

#[test]
fn every_format_and_file_is_written_by_its_ending() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let read = |name: &str| std::fs::read_to_string(path(name)).unwrap();
    for (name, mark) in [
        ("r.json", "prony.load/3"),
        ("r.csv", "url,scenario,method,path,model"),
        ("r.md", "right answers"),
        ("r.html", "<!DOCTYPE html>"),
        ("r.txt", "1,000 scheduled = 1,000 completed"),
    ] {
        let done = good(&["load", &server.url("/"), "-n", "1000", "-c", "2", "-o", &path(name)]);
        assert!(done.out.is_empty(), "{name}: {}", done.out);
        assert!(read(name).contains(mark), "{name}: {}", read(name));
    }
    let args = ["load", &server.url("/"), "-c", "2", "-d", "2s", "-t", "1"];
    let files = ["--timeseries", &path("s.csv"), "--hgrm", &path("r.hgrm"), "--hlog", &path("r.hlog")];
    good(&[&args[..], &files[..]].concat());
    assert_eq!(read("s.csv").lines().filter(|line| line.contains(",sample,")).count(), 2);
    assert!(read("r.hgrm").contains("#[Mean    ="), "{}", read("r.hgrm"));
    assert!(read("r.hlog").contains("Tag=service,"));
    good(&["load", &server.url("/"), "-n", "100", "-c", "2", "--timeseries", &path("s.ndjson")]);
    read("s.ndjson").lines().for_each(|line| {
        crate::load::check_schema("interval", &serde_json::from_str(line).unwrap());
    });
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().ends_with(".tmp")), "{left:?}");
}

#[test]
fn a_crossed_threshold_gives_exit_code_3() {
    let server = Server::start(&["--error-rate", "0.5"]);
    let url = server.url("/");
    let run = |limits: &[&str]| {
        let fail = limits.iter().flat_map(|limit| ["--fail", limit]);
        let args: Vec<&str> =
            ["load", &url, "-n", "1000", "-c", "4", "--format", "json"].into_iter().chain(fail).collect();
        let done = done(&args);
        let report: Value = serde_json::from_str(&done.out).unwrap();
        check_report(&report);
        (if done.is_good() { 0 } else { done.code }, report["thresholds"].clone())
    };
    assert_eq!(run(&["errors>99%", "rate<0.001"]).0, 0, "kept limits fail nothing");
    let (code, answers) = run(&["errors>10%", "errors>99%"]);
    assert_eq!((code, &answers[0]["failed"], &answers[1]["failed"]), (3, &true.into(), &false.into()));
    let (code, answers) = run(&["p99.9>1h"]);
    assert_eq!((code, &answers[0]["decided"]), (3, &false.into()), "a refused percentile decides nothing");
    assert!(answers[0]["text"]["text"].as_str().unwrap().contains("needs 3,688 requests"), "{answers}");
    let text = done(&["load", &url, "-n", "100", "-c", "1", "--fail", "errors>1%"]);
    assert!(text.code == 3 && text.out.contains("✗ errors>1% crossed: "), "{}", text.out);
}

#[test]
fn failed_requests_are_said_beside_the_verdict_and_by_the_exit_code() {
    let run = |error_rate: &str, more: &[&str]| {
        let server = Server::start(&["--error-rate", error_rate]);
        let url = server.url("/");
        let mut ran = done(&[&["load", &url, "-n", "2000", "-c", "4", "--quiet"], more].concat());
        // Lines of a terminal break anywhere.
        ran.out = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
        // A busy host may void the load besides.
        ran.code = if ran.is_good() { 0 } else { ran.code };
        ran
    };
    let few = run("0.003", &[]);
    assert!(few.code == 0 && few.out.contains(" of the requests failed ("), "{}", few.out);
    let some = run("0.05", &["--format", "markdown"]);
    assert_eq!(some.code, 0, "{}", some.out);
    // A busy host may void the load besides.
    assert!(some.out.contains("1 reservation") || some.out.contains("must not be used"), "{}", some.out);
    for said in ["**failures**: ", "times and rate are of the right answers only"] {
        assert!(some.out.contains(said), "no `{said}` in {}", some.out);
    }
    let third = run("0.33", &[]);
    assert_eq!(third.code, 2, "{}", third.out);
    for said in ["✗ These numbers must not be used:", "failures: 3", "--errors-ok"] {
        assert!(third.out.contains(said), "no `{said}` in {}", third.out);
    }
    assert!(!third.out.contains("can be believed"), "{}", third.out);
    let page = run("0.33", &["--format", "html"]);
    assert!(page.code == 2 && page.out.contains("<b>failures</b>"), "{}", page.code);
    let json = run("0.33", &["--format", "json"]);
    let report: Value = serde_json::from_str(&json.out).unwrap();
    check_report(&report);
    assert_eq!((json.code, &report["validity"]["failures"]["level"]), (2, &"no".into()));
    // Whoever accepts failures, or limits them, has decided.
    assert_eq!(run("0.33", &["--errors-ok"]).code, 0);
    assert_eq!(run("0.33", &["--fail", "errors>50%"]).code, 0);
    assert_eq!(run("0.33", &["--fail", "errors>5%"]).code, 3);
}

#[test]
fn a_gate_that_fails_is_told_by_the_exit_code_in_every_format() {
    let server = Server::start(&[]);
    let (prony, url) = (env!("CARGO_BIN_EXE_prony"), server.url("/"));
    for format in ["text", "json", "csv"] {
        // Fewer connections than asked for, and enough for every request: all answers are right.
        let line = format!(
            "ulimit -n 120; exec {prony} load {url} -c 200 -t 1 --processes 1 -R 200 -d 500ms --quiet --format {format}"
        );
        let done: Done = std::process::Command::new("sh").args(["-c", &line]).output().unwrap().into();
        let said = "prony: exit code 2: these numbers must not be used (";
        let gates = done.err.split_once(said).unwrap_or_else(|| panic!("{done:?}")).1;
        assert!(done.code == 2 && gates.contains("connections"), "{format}: {done:?}");
        if format == "json" {
            let report: Value = serde_json::from_str(&done.out).unwrap();
            let requests = &report["requests"];
            assert_eq!(requests["completed"], requests["scheduled"], "{requests}");
        }
    }
    let line = format!(
        "ulimit -n 120; exec {prony} load {url} -c 200 -t 1 --processes 1 -R 200 -d 500ms --fail 'p50>0s'"
    );
    let done: Done = std::process::Command::new("sh").args(["-c", &line]).output().unwrap().into();
    assert_eq!(done.code, 3, "the user's own limit goes before: {done:?}");
}

#[test]
fn another_tools_command_line_is_told_and_run() {
    let server = Server::start(&[]);
    let done =
        good(&["load", "--compat", "hey", "-n", "105", "-c", "10", &server.url("/"), "--format", "json"]);
    assert!(done.err.contains(&format!("prony load {} -c 10 -n 100 ", server.url("/"))), "{}", done.err);
    assert!(done.err.contains("100 of 105"), "{}", done.err);
    let report: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(report["requests"]["completed"], 100);
    assert!(good(&["load", "--compat", "ab", "--help"]).out.contains("Keep connections alive"));
    bad(&["load", "--compat"], 1, &["--compat knows wrk"]);
}

#[test]
fn progress_is_lines_where_there_is_no_terminal_and_nothing_when_quiet() {
    let server = Server::start(&[]);
    let args = ["load", &server.url("/"), "-c", "1", "-d", "2s", "--format", "json"];
    let told = good(&args);
    assert_eq!(
        told.err.lines().filter(|line| line.contains("p50")).count(),
        2,
        "the drain is no second of the load: {}",
        told.err
    );
    assert!(drains(&told.err) <= 1, "{}", told.err);
    assert!(!told.err.contains('\u{1b}'));
    serde_json::from_str::<Value>(&told.out).unwrap();
    assert_eq!(good(&[&args[..], &["--quiet"]].concat()).err, "");
}

/// The drain has a line of its own where it was seen.
fn drains(err: &str) -> usize {
    err.lines().filter(|line| line.starts_with("  drain ") && !line.contains("/s")).count()
}

#[test]
fn a_reader_that_leaves_is_no_error_of_a_load() {
    let server = Server::start(&[]);
    let mut child = prony(&["load", &server.url("/"), "-n", "100", "-c", "1", "--format", "html", "--quiet"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let done = Done::from(child.wait_with_output().unwrap());
    assert!(done.is_good() && (done.code == 2 || done.err.is_empty()), "{done:?}");
}

#[test]
fn readers_of_everything_that_leave_are_no_error_of_a_load() {
    let server = Server::start(&[]);
    // As `prony load … 2>&1 | head -1`: progress, result and reasons have no reader.
    let mut child = prony(&["load", &server.url("/"), "-d", "1200ms", "-c", "1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let stderr = child.stderr.take().unwrap();
    let mut first = String::new();
    std::io::BufReader::with_capacity(1, stderr).read_line(&mut first).unwrap();
    assert!(first.contains("closed loop"), "{first}");
    drop(child.stdout.take());
    // A busy host may void the load; nobody is there to be notified. A panic would have 101, a signal no code.
    let code = child.wait().unwrap().code();
    assert!([Some(0), Some(2)].contains(&code), "{code:?}");
}
