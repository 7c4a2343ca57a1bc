//! Connections that end in good order: GOAWAY, and identifiers that are used up. Requests that were not processed are sent once
//! more, with their intended time.

use super::server::{Server, Setup};
use super::{closed, ends, on_every_driver, open, run};
use crate::common::MS;
use schema::arrival::ThinkPlan;
use schema::load::ErrorClass;
use std::sync::atomic::Ordering::SeqCst;
use testkit::http2::{Act, Raw, frame};

#[test]
fn a_server_that_leaves_in_mid_load_costs_no_request() {
    on_every_driver(|driver| {
        for is_open in [false, true] {
            let server = Server::start(Setup { leaves_after: Some(50), ..Setup::default() });
            let make = if is_open { open } else { closed };
            let sum = run(&make(server.addr, driver, (2, 10), 600));
            assert_eq!(ends(&sum), [600, 600, 0, 0], "{driver:?}");
            let [_, answers, resets] = server.seen.get();
            assert_eq!((answers, resets), (600, 0), "{driver:?}");
            assert!(sum.counts.streams.goaways > 0, "{:?}", sum.counts.streams);
            assert!(server.seen.connections.load(SeqCst) > 2);
        }
    });
}

#[test]
fn a_load_that_is_over_answers_what_came_behind_the_last_answer_and_says_goodbye() {
    on_every_driver(|driver| {
        let last = [frame(1, 5, 1, &[0x88]), frame(6, 0, 0, b"12345678")].concat();
        let script = vec![Act::Settings(vec![]), Act::Await(1), Act::Send(last), Act::Hold];
        let peer = Raw::start(vec![script]);
        assert_eq!(ends(&run(&closed(peer.addr(), driver, (1, 1), 1))), [1, 1, 0, 0], "{driver:?}");
        let seen = peer.end();
        assert_eq!((seen.pongs.load(SeqCst), seen.goaways.load(SeqCst)), (1, 1), "{driver:?}");
    });
}

#[test]
fn what_was_not_processed_is_put_back_once() {
    let establish = || Act::Settings(vec![]);
    let leave = |taken| Act::Goaway { taken, code: 0 };
    let serve = || vec![establish(), Act::Serve];
    on_every_driver(|driver| {
        // All four are put back.
        let peer = Raw::start(vec![vec![establish(), Act::Await(4), leave(0), Act::Hold], serve()]);
        let sum = run(&closed(peer.addr(), driver, (1, 4), 40));
        assert_eq!((ends(&sum), sum.counts.streams.requeued), ([40, 40, 0, 0], 4), "{driver:?}");
        assert_eq!(peer.seen().requests.load(SeqCst), 44, "{driver:?}");
        assert_eq!(peer.seen().connections.load(SeqCst), 2, "{driver:?}");

        // Two are answered on the connection that leaves.
        let script = vec![establish(), Act::Await(4), leave(2), Act::Answer(2), Act::Hold];
        let peer = Raw::start(vec![script, serve()]);
        let sum = run(&closed(peer.addr(), driver, (1, 4), 40));
        assert_eq!((ends(&sum), sum.counts.streams.requeued), ([40, 40, 0, 0], 2), "{driver:?}");
        assert_eq!(peer.seen().requests.load(SeqCst), 42, "{driver:?}");

        // The second time they fail.
        let script = vec![establish(), Act::Await(4), leave(0), Act::Hold];
        let peer = Raw::start(vec![script.clone(), script, serve()]);
        let sum = run(&closed(peer.addr(), driver, (1, 4), 40));
        assert_eq!((ends(&sum), sum.counts.streams.requeued), ([40, 36, 4, 0], 4), "{driver:?}");
        assert_eq!(sum.counts.measured.failed[ErrorClass::Goaway.index()], 4, "{driver:?}");
    });
}

#[test]
fn the_successor_is_made_while_the_connection_that_leaves_still_answers() {
    let leave = Act::Goaway { taken: 1, code: 0 };
    // The first request is answered only once there is a second connection.
    let script = vec![
        Act::Settings(vec![]),
        Act::Await(4),
        leave,
        Act::AwaitConnections(2),
        Act::Answer(1),
        Act::Hold,
    ];
    on_every_driver(|driver| {
        for is_open in [false, true] {
            let peer = Raw::start(vec![script.clone(), vec![Act::Settings(vec![]), Act::Serve]]);
            let make = if is_open { open } else { closed };
            let sum = run(&make(peer.addr(), driver, (1, 4), 40));
            assert_eq!((ends(&sum), sum.counts.streams.requeued), ([40, 40, 0, 0], 3), "{driver:?}");
            assert_eq!(peer.seen().connections.load(SeqCst), 2, "{driver:?}");
        }
    });
}

#[test]
fn a_server_that_leaves_with_an_error_fails_what_it_did_not_process() {
    let leave = Act::Goaway { taken: 1, code: 2 };
    let script = vec![Act::Settings(vec![]), Act::Await(3), leave, Act::Answer(1), Act::Hold];
    on_every_driver(|driver| {
        let peer = Raw::start(vec![script.clone(), vec![Act::Settings(vec![]), Act::Serve]]);
        let sum = run(&closed(peer.addr(), driver, (1, 3), 30));
        assert_eq!((ends(&sum), sum.counts.streams.requeued), ([30, 28, 2, 0], 0), "{driver:?}");
        assert_eq!(sum.counts.measured.failed[ErrorClass::Goaway.index()], 2, "{driver:?}");
        let text = &sum.examples[&ErrorClass::Goaway];
        assert!(text.iter().any(|text| text.contains("INTERNAL_ERROR")), "{text:?}");
    });
}

#[test]
fn a_thousand_goaways_under_an_open_load_lose_nothing() {
    // Each of the first thousand connections answers four requests and gives back the fifth.
    let leaves = vec![
        Act::Settings(vec![]),
        Act::Await(5),
        Act::Goaway { taken: 4, code: 0 },
        Act::Answer(4),
        Act::Hold,
    ];
    let mut scripts = vec![leaves; 1_000];
    scripts.push(vec![Act::Settings(vec![]), Act::Serve]);
    on_every_driver(|driver| {
        let peer = Raw::start(scripts.clone());
        let mut job = open(peer.addr(), driver, (1, 5), 4_500);
        job.load.rate_per_s = Some(1_500.0);
        job.timeline = engine::Timeline::for_samples(3_100 * MS, 1, 20_000 * MS);
        let sum = run(&job);
        let (streams, seen) = (sum.counts.streams, peer.end());
        assert_eq!(ends(&sum), [4_500, 4_500, 0, 0], "{driver:?}");
        assert_eq!((streams.goaways, seen.left.load(SeqCst)), (1_000, 1_000), "{driver:?}");
        // None came back twice, or it would have failed.
        assert_eq!(seen.requests.load(SeqCst), 4_500 + streams.requeued, "{driver:?}");
        assert!(streams.requeued >= 1_000, "{driver:?}: {streams:?}");
    });
}

#[test]
fn an_idle_connection_that_the_server_leaves_is_replaced() {
    on_every_driver(|driver| {
        let leave =
            vec![Act::Settings(vec![]), Act::Await(1), Act::Answer(1), Act::Goaway { taken: 1, code: 0 }];
        let peer =
            Raw::start(vec![[leave, vec![Act::Hold]].concat(), vec![Act::Settings(vec![]), Act::Serve]]);
        let mut job = closed(peer.addr(), driver, (1, 1), 20);
        job.load.think = Some(ThinkPlan::Constant { mean_ns: 2 * MS });
        let sum = run(&job);
        assert_eq!(ends(&sum), [20, 20, 0, 0], "{driver:?}");
        assert_eq!(peer.seen().connections.load(SeqCst), 2, "{driver:?}");
    });
}

#[test]
fn identifiers_are_used_to_the_last_and_the_next_connection_begins_anew() {
    on_every_driver(|driver| {
        let server = Server::start(Setup::default());
        let mut job = closed(server.addr, driver, (1, 2), 40);
        // Eight identifiers are left.
        job.way.first_stream = Some((1 << 31) - 15);
        let sum = run(&job);
        assert_eq!(ends(&sum), [40, 40, 0, 0], "{driver:?}");
        assert_eq!(server.seen.get(), [40, 40, 0], "{driver:?}");
        let connections = server.seen.connections.load(SeqCst);
        assert!((5..=12).contains(&connections), "{driver:?}: {connections} connections");
    });
}
