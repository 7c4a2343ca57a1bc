//! Peers that break the protocol, ask for too much, or say nothing: each ends in its class, within the time-out, and with the
//! same counts on every driver.

use super::{closed, ends, get, on_every_driver, run};
use crate::common::{MS, prepared};
use engine::{EngineError, Generator};
use schema::load::ErrorClass;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering::SeqCst;
use testkit::http2::{Act, Raw, frame, settings};

/// Requests of a case, two at a time.
const REQUESTS: u64 = 6;

/// What two requests at a time come to on a connection that does this once they are there.
fn check(name: &str, acts: &[Act], class: ErrorClass, example: &str) {
    on_every_driver(|driver| {
        let script = [vec![Act::Settings(vec![]), Act::Await(2)], acts.to_vec()].concat();
        let peer = Raw::start(vec![script]);
        let mut job = closed(peer.addr(), driver, (1, 2), REQUESTS);
        job.load.timeout_ns = 5_000 * MS;
        let sum = run(&job);
        assert_eq!(ends(&sum), [REQUESTS, 0, REQUESTS, 0], "{name} on {driver:?}");
        assert_eq!(
            sum.counts.measured.failed_by_class(),
            BTreeMap::from([(class, REQUESTS)]),
            "{name} on {driver:?}"
        );
        let examples = &sum.examples[&class];
        assert!(examples.iter().any(|text| text.contains(example)), "{name}: {examples:?}");
        let seen = peer.end();
        assert_eq!(seen.connections.load(SeqCst), REQUESTS / 2, "{name} on {driver:?}");
        // A peer that reads on learns why its connection ends.
        if matches!(acts.last(), Some(Act::Hold)) {
            assert_eq!(seen.goaways.load(SeqCst), REQUESTS / 2, "{name} on {driver:?}");
        }
    });
}

#[test]
fn floods_end_in_their_class() {
    let pings = frame(6, 0, 0, b"12345678").repeat(100);
    check("pings", &[Act::Flood(pings)], ErrorClass::Flood, "flood of");
    let many = settings(&[(3, 100)]).repeat(50);
    check("settings", &[Act::Flood(many)], ErrorClass::Flood, "flood of");
    let priorities = frame(2, 0, 1, &[0, 0, 0, 0, 1]).repeat(200);
    check("priorities", &[Act::Flood(priorities)], ErrorClass::Flood, "flood of");
    let block = frame(1, 0, 1, &[0x88]);
    let more = frame(9, 0, 1, &[]);
    let endless = [block, more.repeat(20)].concat();
    check("continuations", &[Act::Send(endless), Act::Hold], ErrorClass::Flood, "CONTINUATION");
}

#[test]
fn broken_protocol_ends_in_its_class() {
    let cases: [(&str, Vec<u8>, &str); 6] = [
        ("garbage", vec![0xff; 40], "a frame of"),
        ("a push", frame(5, 4, 1, &[0, 0, 0, 2, 0x88]), "push"),
        ("an idle stream", frame(1, 5, 99, &[0x88]), "stream 99"),
        ("data on stream 0", frame(0, 1, 0, b"x"), "stream 0"),
        ("a bad header block", frame(1, 5, 1, &[0x80]), ""),
        ("a window beyond all", frame(8, 0, 0, &[0x7f, 0xff, 0xff, 0xff]), "2^31 - 1"),
    ];
    for (name, bytes, example) in cases {
        check(name, &[Act::Send(bytes), Act::Hold], ErrorClass::Protocol, example);
    }
}

#[test]
fn a_fault_of_one_stream_ends_that_stream() {
    on_every_driver(|driver| {
        // The first answer has a body after HEADERS that say it has none, the second is right.
        let bad = [frame(1, 4, 1, &[0x88, 0x0f, 0x0d, 1, b'0']), frame(0, 1, 1, b"x")].concat();
        let right = frame(1, 5, 3, &[0x88]);
        let script = vec![Act::Settings(vec![]), Act::Await(2), Act::Send([bad, right].concat()), Act::Hold];
        let peer = Raw::start(vec![script]);
        let sum = run(&closed(peer.addr(), driver, (1, 2), 2));
        assert_eq!(ends(&sum), [2, 1, 1, 0], "{driver:?}");
        assert_eq!(sum.counts.measured.failed[ErrorClass::Protocol.index()], 1, "{driver:?}");
        assert_eq!(peer.seen().connections.load(SeqCst), 1);
    });
}

#[test]
fn a_window_of_zero_for_ever_ends_in_the_time_out_and_the_stream_is_reset() {
    on_every_driver(|driver| {
        let peer = Raw::start(vec![vec![Act::Settings(vec![(4, 0)]), Act::Hold]]);
        let mut job = closed(peer.addr(), driver, (1, 2), REQUESTS);
        job.traffic = prepared("POST", b"body".to_vec(), None);
        job.load.timeout_ns = 200 * MS;
        let sum = run(&job);
        assert_eq!(ends(&sum), [REQUESTS, 0, REQUESTS, 0], "{driver:?}");
        assert_eq!(sum.counts.measured.failed[ErrorClass::Timeout.index()], REQUESTS, "{driver:?}");
        assert_eq!(peer.seen().connections.load(SeqCst), 1, "{driver:?}: the connection goes on");
        assert_eq!(sum.counts.streams.stalls, REQUESTS, "{driver:?}");
    });
}

#[test]
fn time_outs_reset_streams_up_to_a_limit() {
    on_every_driver(|driver| {
        let peer = Raw::start(vec![vec![Act::Settings(vec![]), Act::Hold]]);
        let mut job = closed(peer.addr(), driver, (1, 15), 15);
        job.load.timeout_ns = 200 * MS;
        let sum = run(&job);
        assert_eq!(ends(&sum), [15, 0, 15, 0], "{driver:?}");
        assert_eq!(sum.counts.measured.failed[ErrorClass::Timeout.index()], 15, "{driver:?}");
        drop(job);
        assert!(peer.seen().cancels.load(SeqCst) <= 10, "{driver:?}: {:?}", peer.seen());
    });
}

#[test]
fn a_server_that_allows_no_stream_ends_in_the_time_out() {
    on_every_driver(|driver| {
        let peer = Raw::start(vec![vec![Act::Settings(vec![(3, 0)]), Act::Hold]]);
        let mut job = closed(peer.addr(), driver, (1, 2), REQUESTS);
        job.load.timeout_ns = 200 * MS;
        let sum = run(&job);
        assert_eq!(ends(&sum), [REQUESTS, 0, REQUESTS, 0], "{driver:?}");
        assert_eq!(sum.counts.measured.failed[ErrorClass::Timeout.index()], REQUESTS, "{driver:?}");
        assert_eq!((peer.seen().requests.load(SeqCst), sum.counts.streams.granted_min), (0, Some(0)));
    });
}

#[test]
fn a_server_of_http1_and_one_that_is_silent_are_told_before_anything_is_sent() {
    on_every_driver(|driver| {
        let http1 = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n".to_vec();
        for (act, class, example) in [
            (Act::Send(http1), ErrorClass::Protocol, "HTTP/1"),
            (Act::Hold, ErrorClass::ConnectTimeout, "SETTINGS"),
        ] {
            let peer = Raw::start(vec![vec![act, Act::Hold]]);
            let mut job = closed(peer.addr(), driver, (1, 2), REQUESTS);
            job.load.connect_timeout_ns = 300 * MS;
            match Generator::start(&job) {
                Err(EngineError::NothingConnected { failures, example: text, .. }) => {
                    assert_eq!(failures.keys().collect::<Vec<_>>(), [&class], "{driver:?}");
                    assert!(text.contains(example), "{text}");
                }
                other => panic!("{driver:?}: {other:?}"),
            }
        }
    });
}

#[test]
fn what_http2_cannot_carry_is_refused_before_the_load() {
    let peer = Raw::start(vec![vec![Act::Hold]]);
    let job = || {
        let mut job = closed(peer.addr(), schema::plan::DriverChoice::Auto, (1, 1), 1);
        job.traffic = get();
        job
    };
    let mut piped = job();
    piped.load.connection.pipeline = 2;
    let mut without_streams = job();
    without_streams.load.connection.streams = 0;
    for job in [piped, without_streams] {
        assert!(matches!(Generator::start(&job), Err(EngineError::Plan(_))));
    }
}
