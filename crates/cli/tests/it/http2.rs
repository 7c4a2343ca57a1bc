//! `prony load --http 2`: a server that frames by hand counts what the report counts; the plan says what was spoken; what cannot
//! go together is refused.

use crate::command::{Done, Server, bad, done};
use crate::load::check_report;
use serde_json::Value;
use std::sync::atomic::Ordering::SeqCst;
use testkit::certs::Pki;
use testkit::http2::{Act, Raw};
use testkit::tls_peer::{TlsAct, TlsPeer};

fn serving(streams: u32) -> Raw {
    Raw::start(vec![vec![Act::Settings(vec![(3, streams)]), Act::Serve]])
}

fn load(peer: &Raw, args: &[&str]) -> Done {
    let url = format!("http://{}/", peer.addr());
    done(&[&["load", &url][..], args].concat())
}

fn report(peer: &Raw, args: &[&str]) -> Value {
    let done = load(peer, &[args, &["--format", "json"]].concat());
    assert!(done.is_good(), "{done:?}");
    let value = serde_json::from_str(&done.out).unwrap();
    check_report(&value);
    value
}

#[test]
fn a_load_over_http2_counts_what_the_server_counts() {
    for driver in ["epoll", "auto"] {
        let peer = serving(100);
        let args = ["--http", "2", "--streams", "5", "-c", "2", "-n", "200", "--driver", driver];
        let report = report(&peer, &args);
        assert_eq!(report["requests"]["completed"], 200);
        assert_eq!(peer.seen().requests.load(SeqCst), 200);
        assert_eq!(peer.seen().connections.load(SeqCst), 2);
        let plan = &report["plan"]["load"]["connection"];
        assert_eq!((&plan["http"], &plan["streams"]), (&Value::from("2"), &Value::from(5)));
        assert_eq!((&report["streams"]["asked"], &report["streams"]["granted"]), (&5.into(), &5.into()));
    }
}

#[test]
fn the_reference_target_keeps_its_law_over_http2() {
    let server = Server::start(&["--mean", "2ms", "--servers", "16"]);
    for driver in ["epoll", "auto"] {
        let args = ["--http", "2", "--streams", "8", "-c", "2", "-n", "300", "--driver", driver];
        let done = done(&[&["load", &server.url("/"), "--format", "json"][..], &args].concat());
        assert!(done.is_good(), "{done:?}");
        let report: Value = serde_json::from_str(&done.out).unwrap();
        check_report(&report);
        assert_eq!(
            (&report["requests"]["completed"], &report["streams"]["granted"]),
            (&300.into(), &8.into())
        );
        // As many servers as requests at a time: no answer comes before its service time.
        let fastest = report["latency_ns"]["response"]["min"].as_u64().unwrap();
        assert!(fastest >= 1_998_000, "{fastest} ns");
    }
}

#[test]
fn fewer_streams_than_asked_for_are_said() {
    let peer = serving(3);
    let args = ["--http", "2", "--streams", "10", "-c", "1", "-n", "50", "--format", "text"];
    let done = load(&peer, &args);
    assert!(done.is_good(), "{done:?}");
    assert!(done.out.contains("10 streams were asked for on each connection"), "{}", done.out);
}

#[test]
fn what_cannot_go_together_is_refused_before_a_connection_is_made() {
    let peer = serving(1);
    let url = format!("http://{}/", peer.addr());
    for (args, cause) in [
        (&["--http", "2", "--pipeline", "4"][..], "--pipeline: HTTP/2 has no pipelines"),
        (&["--streams", "4"], "--streams: a connection of HTTP/1.1 carries one request"),
        (&["--http", "2", "--streams", "0"], "--streams: 0 is out of range"),
        (&["--http", "2", "--streams", "2", "--disable-keepalive"], "--streams: without keep-alive"),
        (&["--http", "2", "-c", "200", "--streams", "10000"], "--streams: 2000000 requests at a time"),
        (&["--http", "3"], "1.1, 2, auto"),
    ] {
        bad(&[&["load", &url][..], args].concat(), 1, &[cause]);
    }
    assert_eq!(peer.seen().connections.load(SeqCst), 0);
}

#[test]
fn a_server_of_http1_is_named() {
    let peer = Raw::start(vec![vec![Act::Send(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()), Act::Hold]]);
    let done = load(&peer, &["--http", "2", "-c", "1", "-n", "1"]);
    assert_eq!(done.code, 2, "{done:?}");
    assert!(done.err.contains("the peer speaks HTTP/1, not HTTP/2"), "{}", done.err);
}

/// A server of TLS that takes both versions, and answers one of them.
fn over_tls(pki: &Pki, alpn: &[&[u8]], script: Vec<Act>) -> Raw {
    Raw::start_tls(pki.server_config(pki.server(), false, alpn).unwrap(), vec![script])
}

#[test]
fn auto_is_what_the_server_chooses_by_alpn() {
    let loaded = |url: &str, chosen: &str| {
        let load = ["load", url, "-k", "--http", "auto", "-c", "2", "-n", "20", "--format", "json"];
        let done = done(&load);
        assert!(done.is_good(), "{done:?}");
        assert!(done.err.contains(&format!("--http auto: the server chose HTTP/{chosen}")), "{}", done.err);
        let report: Value = serde_json::from_str(&done.out).unwrap();
        check_report(&report);
        assert_eq!(report["requests"]["completed"], 20);
        report["plan"]["load"]["connection"]["http"].clone()
    };
    // The reference target takes both, and likes HTTP/2 better.
    let server = Server::start(&["--tls"]);
    assert_eq!(loaded(&format!("https://{}/", server.addr), "2"), "2");
    let pki = Pki::new().unwrap();
    let peer = over_tls(&pki, &[b"h2"], vec![Act::Settings(vec![]), Act::Serve]);
    assert_eq!(loaded(&format!("https://{}/", peer.addr()), "2"), "2");
    // The connection that asked, and those of the load.
    assert_eq!((peer.seen().connections.load(SeqCst), peer.seen().requests.load(SeqCst)), (3, 20));
    // One that takes HTTP/1.1 only, and one that chooses nothing.
    for alpn in [&[&b"http/1.1"[..]][..], &[]] {
        let answer = TlsAct::send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        let config = pki.server_config(pki.server(), false, alpn).unwrap();
        let peer = TlsPeer::start(config, vec![TlsAct::AwaitRequest, answer, TlsAct::Again]);
        assert_eq!(loaded(&format!("https://{}/", peer.addr()), "1.1"), Value::Null);
        assert_eq!(peer.finish().handshakes.len(), 3);
    }
}

#[test]
fn auto_without_tls_is_http1_and_asks_nobody() {
    let server = Server::start(&[]);
    let done = done(&["load", &server.url("/"), "--http", "auto", "-c", "1", "-n", "5"]);
    assert!(done.is_good() && done.err.contains("--http auto: without TLS it is HTTP/1.1"), "{done:?}");
}

#[test]
fn auto_says_what_keeps_it_from_asking() {
    let pki = Pki::new().unwrap();
    let peer = over_tls(&pki, &[b"h2"], vec![Act::Hold]);
    let url = format!("https://{}/", peer.addr());
    // Without -k the authority is not known.
    bad(&["load", &url, "--http", "auto", "-n", "1"], 2, &["does not say which version", "name the version"]);
    let way = ["load", &url, "--http", "auto", "--proxy", "http://127.0.0.1:9"];
    bad(&way, 1, &["--http: the server would be asked first", "name the version, 1.1 or 2"]);
}

/// A load of the reference target over HTTP/2 by a script of wrk.
fn scripted(script: &str, format: &str) -> Done {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("script.lua");
    std::fs::write(&file, script).unwrap();
    let server = Server::start(&[]);
    let url = server.url("/");
    let load = ["load", &url, "--http", "2", "--streams", "4", "-c", "1", "-t", "1", "-n", "60"];
    done(&[&load[..], &["-s", file.to_str().unwrap(), "--format", format]].concat())
}

#[test]
fn a_script_of_wrk_makes_requests_and_sees_answers() {
    let done = scripted(
        "n, right = 0, 0
        request = function() n = n + 1; return wrk.format('POST', '/ping?n=' .. n, { ['X-N'] = n }, 'body ' .. n) end
        response = function(status, headers, body)
            if status == 200 and headers['content-type'] == 'application/json' and body:find('\"code\":0') then
                right = right + 1
            end
        end
        setup = function(thread) the_thread = thread end
        done = function() print('right answers: ' .. the_thread:get('right')) end",
        "text",
    );
    assert!(done.is_good(), "{done:?}");
    // Answers of the drain are shown, too.
    let right = done.out.lines().find_map(|line| line.strip_prefix("right answers: ")).expect(&done.out);
    assert!(right.parse::<u32>().unwrap() >= 60, "{}", done.out);
}

#[test]
fn a_script_that_is_the_same_every_time_is_asked_once() {
    let done =
        scripted("wrk.method = 'POST'; wrk.body = 'a=1'; wrk.headers['Content-Type'] = 'text/plain'", "json");
    assert!(done.is_good(), "{done:?}");
    check_report(&serde_json::from_str(&done.out).unwrap());
}

#[test]
fn what_a_script_cannot_send_over_http2_fails_and_says_so() {
    for (text, cause) in [
        ("'GET /a HTTP/1.1\\r\\nHost: x\\r\\n\\r\\nGET /b HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n'", "over HTTP/2"),
        ("'POST / HTTP/1.1\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\n'", "HTTP/2 cannot carry"),
    ] {
        let done = scripted(&format!("request = function() return {text} end"), "json");
        assert_eq!(done.code, 2, "{done:?}");
        let report: Value = serde_json::from_str(&done.out).unwrap();
        check_report(&report);
        assert_eq!(report["errors"]["script"], report["requests"]["scheduled"], "{}", done.out);
        assert!(done.out.contains(cause), "{}", done.out);
    }
}
