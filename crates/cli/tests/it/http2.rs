//! `prony load --http 2`: a server that frames by hand counts what the report counts; the plan says what was spoken; what cannot
//! go together is refused.

use crate::command::{Done, bad, done};
use crate::load::check_report;
use serde_json::Value;
use std::sync::atomic::Ordering::SeqCst;
use testkit::http2::{Act, Raw};

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
        (&["--http", "2", "--follow"], "--follow: redirects are followed over HTTP/1.1 only"),
        (&["--streams", "4"], "--streams: a connection of HTTP/1.1 carries one request"),
        (&["--http", "2", "--streams", "0"], "--streams: 0 is out of range"),
        (&["--http", "2", "--streams", "2", "--disable-keepalive"], "--streams: without keep-alive"),
        (&["--http", "2", "-c", "200", "--streams", "10000"], "--streams: 2000000 requests at a time"),
        (&["--http", "3"], "1.1, 2"),
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
