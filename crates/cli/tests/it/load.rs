//! `prony load`: counts that agree with the server, JSON that keeps its schema, exit codes.

use crate::command::{Done, Server, done, good, hears_hang_ups, prony, root};
use rustix::process::Signal;
use serde_json::Value;
use std::process::Stdio;

/// Parses a load report, holds it against its schema and against its own sums.
pub(crate) fn check_report(value: &Value) {
    check_schema("load", value);
    let count = |key: &str| value["requests"][key].as_u64().unwrap();
    assert_eq!(
        count("scheduled"),
        count("completed") + count("failed") + count("censored"),
        "nothing is lost"
    );
    if let Some(messages) = value.get("messages") {
        let count = |key: &str| messages[key].as_u64().unwrap();
        let ended = count("completed") + count("failed") + count("censored");
        assert_eq!(count("scheduled"), ended, "no message is lost: {messages}");
    }
    let errors: u64 = value["errors"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
    assert_eq!(errors, count("failed"));
}

/// Holds a value against a generated schema.
pub(crate) fn check_schema(name: &str, value: &Value) {
    let path = root().join(format!("docs/schemas/{name}.schema.json"));
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{name}: {errors:#?}");
}

fn json(args: &[&str]) -> (Value, Done) {
    let mut all = vec!["load"];
    all.extend(args);
    all.extend(["--format", "json"]);
    let done = done(&all);
    let value = serde_json::from_str(&done.out).unwrap_or_else(|error| panic!("{error}: {done:?}"));
    check_report(&value);
    (value, done)
}

#[test]
fn a_count_of_requests_is_met_exactly() {
    let server = Server::start(&[]);
    let (report, done) = json(&[&server.url("/ping"), "-n", "2k", "-c", "8", "-t", "2"]);
    assert!(done.is_good(), "{done:?}");
    assert_eq!(report["requests"]["completed"], 2000);
    assert_eq!(report["status"]["200"], 2000);
    assert_eq!(report["connections"], serde_json::json!({ "asked": 8, "established": 8, "reconnects": 0 }));
    assert_eq!(report["generator"]["workers"], 2);
    let stats = json(&[&server.url("/stats"), "-n", "1", "--expect-body", "never this"]);
    assert_eq!(stats.0["errors"]["wrong_body"], 1);
    assert_eq!(stats.1.code, 2, "no right answer at all is a failed run");
}

#[test]
fn a_rate_is_the_total_and_exact() {
    let server = Server::start(&[]);
    let (report, _) = json(&[&server.url("/"), "-R", "500", "-d", "2s", "-c", "4", "-t", "2"]);
    assert_eq!(report["requests"]["scheduled"], 1000);
    assert_eq!(report["requests"]["completed"], 1000);
    assert_eq!(report["plan"]["load"]["rate_per_s"], 500.0);
    let response = &report["latency_ns"]["response"];
    assert!(
        response["p99"].is_u64() && response["p999"].is_null(),
        "1,000 requests carry a p99, not a p99.9"
    );
    assert!(response["refused"]["p999"]["text"].as_str().unwrap().contains("3,688"), "{response}");
}

#[test]
fn warm_up_is_kept_out() {
    let server = Server::start(&[]);
    let (report, _) = json(&[&server.url("/"), "-R", "200", "-d", "1s", "--warmup", "1s", "-c", "2"]);
    assert_eq!(report["requests"]["scheduled"], 200);
    assert_eq!(report["window"]["duration_ns"], 1_000_000_000_u64);
    assert_eq!(
        report["status"]["200"], report["requests"]["completed"],
        "answers to warm-up are not counted"
    );
}

#[test]
fn nothing_listening_is_a_failed_run_with_its_class() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (report, done) = json(&[&format!("http://{free}/"), "-c", "5", "-d", "1s"]);
    assert_eq!(done.code, 2);
    assert_eq!(report["errors"]["refused"], 5);
    assert_eq!(report["validity"]["ok"], false);
    assert!(done.err.contains("nothing listens at"), "{}", done.err);
}

#[test]
fn a_port_where_nothing_listens_is_told_in_a_line() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let found = done(&["load", &format!("http://{free}/"), "-d", "1s"]);
    assert_eq!((found.code, found.out.as_str()), (2, ""), "no table of dashes");
    let said = format!("prony: nothing listens at {free}\n  remedy: start the target");
    assert!(found.err.contains(&said) && !found.err.contains("os error"), "{}", found.err);
}

#[test]
fn a_descriptor_limit_is_named_and_what_could_be_opened_is_counted() {
    let server = Server::start(&[]);
    let prony = env!("CARGO_BIN_EXE_prony");
    let line = format!(
        "ulimit -n 40 && exec {prony} load {} -c 100 -t 1 --processes 1 -d 1s --format json",
        server.url("/")
    );
    let done: Done = std::process::Command::new("sh").args(["-c", &line]).output().unwrap().into();
    let report: Value = serde_json::from_str(&done.out).unwrap_or_else(|error| panic!("{error}: {done:?}"));
    check_report(&report);
    assert!(report["errors"]["descriptor_limit"].as_u64().unwrap() > 0, "{}", report["errors"]);
    let established = report["connections"]["established"].as_u64().unwrap();
    assert!((1..=40).contains(&established), "{established}");
    let failed = report["validity"]["reasons"].as_array().unwrap();
    assert!(failed.iter().any(|gate| gate["gate"] == "connections"), "{failed:?}");
}

#[test]
fn wrong_answers_have_their_class_and_faults_their_rate() {
    let server = Server::start(&["--error-rate", "0.5"]);
    let (report, done) = json(&[&server.url("/"), "-n", "1000", "-c", "4"]);
    assert_eq!(done.code, 2, "half of the requests failed");
    let wrong = report["errors"]["unexpected_status"].as_u64().unwrap();
    assert!((400..600).contains(&wrong), "{wrong} of 1000 at a rate of one half");
    let (report, _) = json(&[
        &server.url("/"),
        "-n",
        "1000",
        "-c",
        "4",
        "--expect-status",
        "500",
        "--expect-status",
        "200",
    ]);
    assert_eq!(report["requests"]["completed"], 1000);
}

#[test]
fn bodies_and_headers_are_sent() {
    let server = Server::start(&[]);
    let args =
        [&server.url("/x")[..], "-n", "10", "-c", "1", "-H", "X-Test: yes", "-b", "hello", "-m", "PUT"];
    let (report, _) = json(&args);
    let plan = &report["plan"]["scenario"]["requests"][0]["request"];
    assert_eq!((plan["method"].as_str(), plan["body"].as_str()), (Some("PUT"), Some("hello")));
    let request = "PUT /x HTTP/1.1\r\nHost: \r\nX-Test: yes\r\nContent-Length: 5\r\n\r\nhello".len()
        + server.addr.to_string().len();
    assert_eq!(report["bytes"]["written"].as_u64(), Some(10 * request as u64));
}

#[test]
fn the_text_says_what_happened_and_whether_to_believe_it() {
    let server = Server::start(&[]);
    let done = good(&["load", &server.url("/"), "-n", "1000", "-c", "2", "--latency"]);
    for text in ["1,000 completed", "response", "pacer lag", "p99"] {
        assert!(done.out.contains(text), "no `{text}` in\n{}", done.out);
    }
    assert!(
        done.err.contains("closed loop, 1000 requests in total, 2 connections, 1 worker"),
        "{}",
        done.err
    );
    assert!(!done.out.contains('\u{1b}'), "no colours into a pipe");
}

#[test]
fn a_signal_that_ends_a_load_keeps_the_result() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        if signal == Signal::HUP && !hears_hang_ups() {
            continue;
        }
        let (folder, done) = signalled(&[signal], "60s");
        assert_eq!(done.code, 130, "{signal:?}: {done:?}");
        let report = std::fs::read_to_string(folder.path().join("result.json")).unwrap();
        let report: Value = serde_json::from_str(&report).unwrap();
        check_report(&report);
        assert!(report["requests"]["completed"].as_u64().unwrap() > 0);
        let log = std::fs::read_to_string(folder.path().join("result.hlog")).unwrap();
        assert!(log.contains("Tag=response,"), "the log is whole");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is left beside the files");
    }
}

#[test]
fn a_terminal_that_hangs_up_twice_costs_no_result() {
    if !hears_hang_ups() {
        return;
    }
    let (folder, done) = signalled(&[Signal::HUP, Signal::HUP], "60s");
    assert_eq!(done.code, 130, "{done:?}");
    assert!(folder.path().join("result.json").is_file());
}

#[test]
fn a_load_that_ignores_hang_ups_runs_on() {
    let server = Server::start(&["--mean", "1ms"]);
    let prony = env!("CARGO_BIN_EXE_prony");
    let line = format!("trap '' HUP; exec {prony} load {} -c 2 -d 1s --quiet", server.url("/"));
    let child = std::process::Command::new("sh").args(["-c", &line]).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("requests arrive", || stats(&server) > 100);
    rustix::process::kill_process(pid(&child), Signal::HUP).unwrap();
    let done = Done::from(child.wait_with_output().unwrap());
    assert!(done.is_good(), "{done:?}");
}

/// A load with files that gets these signals once its requests arrive.
fn signalled(signals: &[Signal], duration: &str) -> (tempfile::TempDir, Done) {
    let server = Server::start(&["--mean", "1ms"]);
    let folder = tempfile::tempdir().unwrap();
    let (result, log) = (folder.path().join("result.json"), folder.path().join("result.hlog"));
    let (result, log) = (result.to_str().unwrap(), log.to_str().unwrap());
    let url = server.url("/");
    let args = ["load", &url, "-c", "2", "-d", duration, "-o", result, "--hlog", log];
    let child = prony(&args).stderr(Stdio::piped()).spawn().unwrap();
    // The server tells when load has come; only then is there something to keep.
    wait_until("requests arrive", || stats(&server) > 100);
    for signal in signals {
        rustix::process::kill_process(pid(&child), *signal).unwrap();
    }
    (folder, child.wait_with_output().unwrap().into())
}

pub(crate) fn stats(server: &Server) -> u64 {
    use std::io::{Read, Write};
    let mut stream = std::net::TcpStream::connect(server.addr).unwrap();
    stream.write_all(b"GET /stats HTTP/1.1\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let body: Value = serde_json::from_str(text.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    body["requests"].as_u64().unwrap()
}

pub(crate) fn pid(child: &std::process::Child) -> rustix::process::Pid {
    rustix::process::Pid::from_child(child)
}

/// Polls a condition; panics after 30 s.
pub(crate) fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let begin = std::time::Instant::now();
    while !condition() {
        assert!(begin.elapsed().as_secs() < 30, "waited in vain until {what}");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// Answers every request with 200 and gives the text of the first.
fn first_request(args: &[&str], url: impl Fn(std::net::SocketAddr) -> String) -> (String, Done) {
    use std::io::{Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = url(listener.local_addr().unwrap());
    let child = prony(&[&["load", &url, "-n", "1", "-c", "1"], args].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut stream, _) = listener.accept().unwrap();
    let mut text = Vec::new();
    let mut bytes = [0; 4096];
    let is_whole = |text: &[u8]| {
        let text = String::from_utf8_lossy(text);
        let length = text.lines().find_map(|line| line.strip_prefix("Content-Length: ")?.parse().ok());
        text.split_once("\r\n\r\n").is_some_and(|(_, body)| body.len() >= length.unwrap_or(0))
    };
    while !is_whole(&text) {
        let read = stream.read(&mut bytes).unwrap();
        assert!(read > 0, "the request ends early");
        text.extend_from_slice(&bytes[..read]);
    }
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
    (String::from_utf8(text).unwrap(), child.wait_with_output().unwrap().into())
}

#[test]
fn a_login_in_the_url_is_sent_and_never_shown() {
    for format in ["json", "text", "html", "markdown", "csv"] {
        let args = ["--format", format, "--latency"];
        let (sent, done) = first_request(&args, |addr| format!("http://user:pass%21word@{addr}/x"));
        assert!(sent.contains("\r\nAuthorization: Basic dXNlcjpwYXNzIXdvcmQ=\r\n"), "{sent}");
        assert!(sent.contains("\r\nHost: 127.0.0.1:") && done.is_good(), "{sent} {done:?}");
        let all = done.out + &done.err;
        for secret in ["pass!word", "pass%21word", "dXNlcjpwYXNzIXdvcmQ"] {
            assert!(!all.contains(secret), "{format}: {all}");
        }
        if format == "json" {
            let report: Value = serde_json::from_str(
                all.split("\n{")
                    .last()
                    .map_or("", |_| &all[all.find('{').unwrap()..=all.rfind('}').unwrap()]),
            )
            .unwrap();
            let headers = &report["plan"]["scenario"]["requests"][0]["request"]["headers"];
            assert_eq!(headers.to_string(), r#"[["Authorization","Basic ***"]]"#);
        }
    }
    let own = ["-H", "authorization: Bearer x"];
    let (sent, _) = first_request(&own, |addr| format!("http://user:password@{addr}/"));
    assert!(sent.contains("Bearer x") && !sent.contains("Basic"), "{sent}");
    let compat = ["load", "--compat", "wrk", "-d", "1s", "ftp://user:secret@h/"];
    let done = done(&compat);
    assert_eq!(done.code, 1);
    assert!(done.err.contains("user:***@h") && !done.err.contains("secret"), "{}", done.err);
}

#[test]
fn a_file_is_uploaded_as_curl_does() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a b.txt");
    std::fs::write(&file, "content").unwrap();
    let file = file.to_str().unwrap();
    let (sent, _) = first_request(&["-T", file], |addr| format!("http://{addr}/up/"));
    assert!(
        sent.starts_with("PUT /up/a%20b.txt HTTP/1.1\r\n") && sent.ends_with("\r\n\r\ncontent"),
        "{sent}"
    );
    let (sent, _) = first_request(&["-T", file, "-m", "POST"], |addr| format!("http://{addr}/up?q"));
    assert!(sent.starts_with("POST /up?q HTTP/1.1\r\n") && sent.ends_with("\r\n\r\ncontent"), "{sent}");
    let missing = done(&["load", "http://127.0.0.1:9/", "-T", "/nope"]);
    assert_eq!(missing.code, 1);
    assert!(missing.err.contains("cannot read the body from /nope: No such file"), "{}", missing.err);
}

#[test]
fn an_open_load_ends_after_its_requests() {
    let server = Server::start(&[]);
    for (args, seconds) in [
        (&["-R", "1000", "-n", "500"][..], 0.5),
        (&["-R", "1000", "-n", "1500", "--arrivals", "poisson", "-t", "2", "--warmup", "300ms"], 1.5),
        (&["-R", "1000", "-n", "700", "--processes", "2", "-c", "4"], 0.7),
    ] {
        let before = stats(&server);
        let (report, _) = json(&[&[&server.url("/")[..]], args].concat());
        let requests: u64 = args[3].parse().unwrap();
        assert_eq!(report["requests"]["scheduled"], requests, "{args:?}");
        assert_eq!(report["requests"]["completed"], requests, "{args:?}");
        let window_s = report["window"]["duration_ns"].as_f64().unwrap() / 1e9;
        assert!((window_s / seconds - 1.0).abs() < 0.2, "{args:?}: {window_s}");
        let sent = stats(&server) - before;
        let warm = if args.contains(&"--warmup") { 200..1000 } else { 0..1 };
        assert!(warm.contains(&(sent - requests)), "{args:?}: the server saw {sent}");
    }
    let (report, _) = json(&[&server.url("/"), "-R", "100", "-n", "1000000", "-d", "1"]);
    assert_eq!(report["requests"]["scheduled"], 100, "the sooner end counts");
}
