//! Loads against a server that keeps to the protocol: what the client counts is what the server counts.

use super::server::{Server, Setup};
use super::{closed, ends, on_every_driver, open, run};
use crate::common::prepared;
use h2::Reason;
use schema::load::{ErrorClass, Time};
use schema::plan::{EntryPlan, RequestPlan, ScenarioPlan, SessionPlan};
use schema::scenario::UserConnection;
use std::sync::atomic::Ordering::SeqCst;
use testkit::http2::{Act, Raw};

#[test]
fn closed_loads_count_what_the_server_counts() {
    on_every_driver(|driver| {
        for (connections, streams) in [(1, 1), (1, 100), (16, 10)] {
            let server = Server::start(Setup::default());
            let sum = run(&closed(server.addr, driver, (connections, streams), 2_000));
            let shape = (driver, connections, streams);
            assert_eq!(ends(&sum), [2_000, 2_000, 0, 0], "{shape:?}");
            assert_eq!(server.seen.get(), [2_000, 2_000, 0], "{shape:?}");
            assert_eq!(server.seen.connections.load(SeqCst), u64::from(connections), "{shape:?}");
            assert!(server.seen.open_max.load(SeqCst) <= u64::from(connections * streams), "{shape:?}");
            assert_eq!(sum.counts.streams.granted_min, Some(streams), "{shape:?}");
            assert_eq!(sum.times[Time::Service].len(), 2_000);
        }
    });
}

#[test]
fn open_loads_count_what_the_server_counts() {
    on_every_driver(|driver| {
        for shape in [(1, 100), (16, 10)] {
            let server = Server::start(Setup::default());
            let sum = run(&open(server.addr, driver, shape, 500));
            assert_eq!(ends(&sum), [500, 500, 0, 0], "{driver:?} {shape:?}");
            assert_eq!(server.seen.get(), [500, 500, 0], "{driver:?} {shape:?}");
            assert_eq!(server.seen.connections.load(SeqCst), u64::from(shape.0));
        }
    });
}

#[test]
fn a_server_that_grants_fewer_streams_is_sent_no_more() {
    on_every_driver(|driver| {
        for is_open in [false, true] {
            let server = Server::start(Setup { streams_max: 10, ..Setup::default() });
            let make = if is_open { open } else { closed };
            let sum = run(&make(server.addr, driver, (1, 100), 1_000));
            assert_eq!(ends(&sum), [1_000, 1_000, 0, 0], "{driver:?}");
            assert_eq!(server.seen.get(), [1_000, 1_000, 0]);
            assert!(server.seen.open_max.load(SeqCst) <= 10);
            let streams = sum.counts.streams;
            assert_eq!((streams.granted_min, streams.resets), (Some(10), 0), "{streams:?}");
        }
    });
}

#[test]
fn bodies_wait_for_windows_and_arrive_whole() {
    let (sent, answered) = (vec![b'x'; 300_000], vec![b'y'; 200_000]);
    on_every_driver(|driver| {
        for window in [1_000, 65_535, 1 << 22] {
            let server = Server::start(Setup { window, body: answered.clone(), ..Setup::default() });
            let mut job = closed(server.addr, driver, (2, 5), 40);
            job.traffic = prepared("POST", sent.clone(), Some(std::str::from_utf8(&answered).unwrap()));
            let sum = run(&job);
            assert_eq!(ends(&sum), [40, 40, 0, 0], "{driver:?}, a window of {window}");
            assert_eq!(server.seen.body_bytes.load(SeqCst), 40 * 300_000);
            // Whether a large window is there before the first request is chance.
            assert!(sum.counts.streams.stalls > 0 || window > 65_535, "{:?}", sum.counts.streams);
        }
    });
}

#[test]
fn the_windows_that_were_asked_for_are_offered() {
    on_every_driver(|driver| {
        for (bits, stream, connection) in [
            ((None, None), (1 << 30) - 1, (1 << 30) - 1),
            ((Some(18), Some(20)), (1 << 18) - 1, (1 << 20) - 1),
        ] {
            let peer = Raw::start(vec![vec![Act::Settings(vec![]), Act::Serve]]);
            let mut job = closed(peer.addr(), driver, (1, 1), 1);
            (job.load.connection.window_bits, job.load.connection.connection_window_bits) = bits;
            assert_eq!(ends(&run(&job)), [1, 1, 0, 0], "{driver:?}");
            let seen = peer.end();
            let offered = (seen.window.load(SeqCst), seen.widened.load(SeqCst) + 65_535);
            assert_eq!(offered, (stream, connection), "{driver:?}");
        }
    });
}

#[test]
fn heads_and_interim_answers_are_answers() {
    on_every_driver(|driver| {
        for method in ["HEAD", "GET"] {
            let server = Server::start(Setup { interim: true, ..Setup::default() });
            let mut job = closed(server.addr, driver, (2, 3), 60);
            job.traffic = prepared(method, Vec::new(), (method == "GET").then_some("ok"));
            assert_eq!(ends(&run(&job)), [60, 60, 0, 0], "{driver:?} {method}");
            assert_eq!(server.seen.get(), [60, 60, 0]);
        }
    });
}

#[test]
fn wrong_bodies_and_templates_are_judged_as_over_http1() {
    on_every_driver(|driver| {
        let server = Server::start(Setup::default());
        let mut job = closed(server.addr, driver, (2, 3), 60);
        job.traffic = prepared("GET", Vec::new(), Some("no"));
        let sum = run(&job);
        assert_eq!(ends(&sum), [60, 0, 60, 0], "{driver:?}");
        assert_eq!(sum.counts.measured.failed[ErrorClass::WrongBody.index()], 60);

        let request = RequestPlan {
            method: "POST".into(),
            path: "/${counter()}".into(),
            headers: vec![("X-A".into(), "${counter()}".into())],
            body: b"${counter()}".to_vec(),
        };
        let entry =
            EntryPlan { name: "one".into(), weight: 1.0, request, is_template: true, ..EntryPlan::default() };
        let scenario = ScenarioPlan { name: "t".into(), requests: vec![entry], ..ScenarioPlan::default() };
        job.traffic = request::Traffic::new(&scenario, "h", units::Seed(1), &[]).unwrap();
        assert_eq!(ends(&run(&job)), [60, 60, 0, 0], "{driver:?}");
        assert!(server.seen.body_bytes.load(SeqCst) > 60);
    });
}

#[test]
fn streams_that_the_server_resets_fail_by_themselves() {
    on_every_driver(|driver| {
        for (reason, class) in [
            (Reason::INTERNAL_ERROR, ErrorClass::StreamReset),
            (Reason::REFUSED_STREAM, ErrorClass::RefusedStream),
        ] {
            let server = Server::start(Setup { resets: Some((10, reason)), ..Setup::default() });
            let sum = run(&closed(server.addr, driver, (2, 10), 500));
            assert_eq!(ends(&sum), [500, 450, 50, 0], "{driver:?} {reason:?}");
            assert_eq!(sum.counts.measured.failed[class.index()], 50, "{driver:?} {reason:?}");
            assert_eq!(server.seen.get(), [500, 450, 50]);
            assert_eq!(server.seen.connections.load(SeqCst), 2, "connections go on");
            assert_eq!(sum.counts.streams.resets, 50);
        }
    });
}

#[test]
fn a_connection_serves_as_long_as_the_plan_says() {
    on_every_driver(|driver| {
        let server = Server::start(Setup::default());
        let mut job = closed(server.addr, driver, (1, 4), 100);
        job.load.connection.requests_max = Some(10);
        assert_eq!(ends(&run(&job)), [100, 100, 0, 0], "{driver:?}");
        let connections = server.seen.connections.load(SeqCst);
        assert!((10..=11).contains(&connections), "{driver:?}: {connections} connections");
    });
}

#[test]
fn users_take_their_steps_over_http2() {
    let step = |name: &str, path: &str| EntryPlan {
        name: name.into(),
        weight: 1.0,
        request: RequestPlan { method: "GET".into(), path: path.into(), ..RequestPlan::default() },
        is_template: true,
        ..EntryPlan::default()
    };
    on_every_driver(|driver| {
        for connection in [UserConnection::Own, UserConnection::Pool] {
            let server = Server::start(Setup::default());
            let mut job = closed(server.addr, driver, (2, 5), 50);
            job.load.users = Some(10);
            let mut scenario = ScenarioPlan {
                name: "users".into(),
                requests: vec![step("one", "/a-${session()}"), step("two", "/b-${session()}")],
                ..ScenarioPlan::default()
            };
            scenario.session = Some(SessionPlan { steps: vec![0, 1], connection, ..SessionPlan::default() });
            job.traffic = request::Traffic::new(&scenario, "h", units::Seed(1), &[]).unwrap();
            let sum = run(&job);
            assert_eq!(ends(&sum), [100, 100, 0, 0], "{driver:?} {connection:?}");
            assert_eq!(sum.sessions.account.completed, 50, "{driver:?} {connection:?}");
            assert_eq!(server.seen.get(), [100, 100, 0]);
        }
    });
}
