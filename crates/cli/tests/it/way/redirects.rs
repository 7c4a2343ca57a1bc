//! Redirects that are followed, as a user sees them. What a hostile server makes of them is in `hostile`.

use super::server::{Request, Server, read};
use crate::command::{bad, done, good};
use crate::load::check_report;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};

type Lines = Arc<Mutex<BTreeMap<String, u64>>>;

/// A server that answers by `answer`, and counts request lines.
fn server(answer: fn(&Request) -> String) -> (Server, Lines) {
    let lines = Lines::default();
    let seen = lines.clone();
    let server = Server::start(move |mut stream| {
        let mut rest = Vec::new();
        while let Some(request) = read(&mut stream, &mut rest) {
            *seen.lock().unwrap().entry(request.line().to_owned()).or_default() += 1;
            if stream.write_all(answer(&request).as_bytes()).is_err() {
                return;
            }
        }
    });
    (server, lines)
}

fn to(status: u16, location: &str) -> String {
    format!("HTTP/1.1 {status} There\r\nLocation: {location}\r\nContent-Length: 2\r\n\r\nno")
}

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

fn report(args: &[&str]) -> Value {
    let mut all = vec!["load"];
    all.extend(args);
    all.extend(["--format", "json", "--quiet"]);
    let done = done(&all);
    let value = serde_json::from_str(&done.out).unwrap_or_else(|error| panic!("{error}: {done:?}"));
    check_report(&value);
    value
}

fn written(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Two hops to `/end`.
fn chain(request: &Request) -> String {
    match request.line().split(' ').nth(1) {
        Some("/end") => OK.to_owned(),
        Some("/middle") => to(307, "/end"),
        _ => to(302, "middle"),
    }
}

#[test]
fn a_followed_request_is_one_request_and_its_hops_are_counted_apart() {
    let (server, lines) = server(chain);
    for driver in ["epoll", "io_uring"] {
        let report =
            report(&[&server.url("/"), "--follow", "-n", "30", "-c", "3", "--driver", driver, "-b", "hi"]);
        assert_eq!(report["requests"]["completed"], 30);
        assert_eq!(report["status"], serde_json::json!({ "200": 30 }));
        assert_eq!(report["redirects"], serde_json::json!({ "302": 30, "307": 30 }));
        let seen = std::mem::take(&mut *lines.lock().unwrap());
        let expected = ["POST / HTTP/1.1", "GET /middle HTTP/1.1", "GET /end HTTP/1.1"];
        assert_eq!(seen, expected.map(|line| (line.to_owned(), 30)).into_iter().collect());
    }
    let text = good(&["load", &server.url("/"), "--follow=2", "-n", "30", "-c", "3", "--quiet"]).out;
    let line = text.lines().find(|line| line.contains("redirects")).unwrap_or(&text);
    assert_eq!(
        line.split_whitespace().collect::<Vec<_>>().join(" "),
        "redirects followed 30 (302), 30 (307)"
    );
}

#[test]
fn without_the_option_a_redirect_is_an_answer() {
    let (server, _) = server(chain);
    let report = report(&[&server.url("/"), "-n", "30", "-c", "3"]);
    assert_eq!(report["status"], serde_json::json!({ "302": 30 }));
    assert_eq!(report["requests"]["completed"], 30);
    assert!(report.get("redirects").is_none(), "{}", report["redirects"]);
}

#[test]
fn what_is_not_followed_says_why() {
    let (server, _) = server(chain);
    let report = report(&[&server.url("/"), "--follow=1", "-n", "4", "-c", "1"]);
    assert_eq!(report["errors"]["redirect"], 4);
    assert_eq!(report["status"], serde_json::json!({ "307": 4 }), "the status of the last answer");
    assert_eq!(report["error_examples"]["redirect"], serde_json::json!(["more than 1 redirect"]));
    bad(&["load", &server.url("/"), "--follow=0", "-n", "1"], 1, &["--follow: 0 redirects are out of range"]);
}

#[test]
fn another_origin_is_named_and_never_asked() {
    let (server, _) = server(|_| to(302, "https://example.com/there"));
    let report = report(&[&server.url("/"), "--follow", "-n", "4", "-c", "1"]);
    assert_eq!(report["errors"]["redirect"], 4);
    let said = report["error_examples"]["redirect"][0].as_str().unwrap();
    assert_eq!(said, "redirected to https://example.com/there: another origin; give that URL");
}

/// A login that sets a cookie and sends its user on, to where the cookie is asked for.
fn login(request: &Request) -> String {
    match (request.line(), request.field("cookie")) {
        ("POST /login HTTP/1.1", None) => {
            to(303, "/home").replace("Content", "Set-Cookie: sid=7; Path=/\r\nContent")
        }
        ("GET /home HTTP/1.1" | "GET /more HTTP/1.1", Some("sid=7")) => OK.to_owned(),
        (line, cookie) => format!("HTTP/1.1 400 {line} {cookie:?}\r\nContent-Length: 0\r\n\r\n"),
    }
}

#[test]
fn cookies_of_a_hop_are_sent_with_the_next_and_stay_with_the_session() {
    let (server, lines) = server(login);
    let folder = tempfile::tempdir().unwrap();
    let scenario = written(
        folder.path(),
        "login.toml",
        "schema = \"prony.scenario/1\"\nname = \"login\"\n[session]\nsteps = [\"login\", \"more\"]\ncookies = true\n\
         [[requests]]\nname = \"login\"\nmethod = \"POST\"\npath = \"/login\"\nbody = \"u=1\"\n\
         [[requests]]\nname = \"more\"\npath = \"/more\"\n",
    );
    let report = report(&[&server.url(""), "--scenario", &scenario, "--follow", "-n", "10", "-c", "2"]);
    assert_eq!(report["sessions"]["completed"], 10, "{}", report["error_examples"]);
    assert_eq!(report["redirects"], serde_json::json!({ "303": 10 }));
    let expected = ["POST /login HTTP/1.1", "GET /home HTTP/1.1", "GET /more HTTP/1.1"];
    assert_eq!(*lines.lock().unwrap(), expected.map(|line| (line.to_owned(), 10)).into_iter().collect());
}

#[test]
fn a_script_sees_last_answers_and_sends_one_request_at_a_time() {
    let (server, _) = server(chain);
    let folder = tempfile::tempdir().unwrap();
    let script = written(
        folder.path(),
        "one.lua",
        "local n = 0\nrequest = function() n = n + 1; return wrk.format(nil, '/' .. n) end\n\
         response = function(status, headers, body)\n if status ~= 200 or body ~= 'ok' or headers.Location then error('not the last') end\n\
         end\n",
    );
    let seen = report(&[&server.url("/"), "-s", &script, "--follow", "-n", "20", "-c", "2"]);
    assert_eq!(seen["requests"]["completed"], 20, "{}", seen["error_examples"]);
    let script = written(
        folder.path(),
        "two.lua",
        "request = function() return wrk.format(nil, '/a') .. wrk.format(nil, '/b') end\n",
    );
    let refused = report(&[&server.url("/"), "-s", &script, "--follow", "-n", "2", "-c", "1"]);
    let said = refused["error_examples"]["script"][0].as_str().unwrap();
    assert!(said.contains("returned 2 requests") && said.contains("it may return one"), "{said}");
}
