//! Redirects that are followed over HTTP/2: a hop has its turn beside the requests of other seats, survives GOAWAY, and ends
//! with its own time-out; a redirect that leads nowhere costs its own request only.

use super::server::{Reply, Routes, Server, Setup};
use super::{closed, ends, on_every_driver, open, run};
use crate::common::{MS, prepared};
use engine::{IntervalData, Job};
use schema::load::ErrorClass;
use std::sync::atomic::Ordering::SeqCst;
use testkit::http2::{Act, Raw, frame};

/// The load with up to three hops a request, as a POST with a body.
fn following(mut job: Job) -> Job {
    job.traffic = prepared("POST", b"hi".to_vec(), None);
    job.load.connection.follow = Some(3);
    job.way.origin = Some(engine::Origin { is_https: false, host: "localhost".to_owned(), port: 80 });
    job
}

/// Two hops: the first keeps method and body, the second becomes a GET.
fn chain(method: &str, path: &str) -> Reply {
    let to = |status, location| Reply { status, fields: vec![("location", location)], ..Reply::default() };
    match (method, path) {
        ("POST", "/") => to(308, "/middle"),
        ("POST", "/middle") => to(303, "end"),
        ("GET", "/end") => Reply { status: 200, ..Reply::default() },
        _ => Reply { status: 404, ..Reply::default() },
    }
}

fn followed(sum: &IntervalData) -> Vec<(u16, u64)> {
    sum.counts.redirects.by_status().into_iter().collect()
}

#[test]
fn a_followed_request_is_one_request_whoever_else_is_on_its_connection() {
    on_every_driver(|driver| {
        for is_open in [false, true] {
            let server = Server::start(Setup { routes: Some(chain), ..Setup::default() });
            let make = if is_open { open } else { closed };
            let sum = run(&following(make(server.addr, driver, (2, 5), 200)));
            assert_eq!(ends(&sum), [200, 200, 0, 0], "{driver:?}");
            assert_eq!(followed(&sum), [(303, 200), (308, 200)], "{driver:?}");
            assert_eq!(server.seen.get(), [600, 600, 0], "{driver:?}");
            assert_eq!(server.seen.body_bytes.load(SeqCst), 800, "{driver:?}: two hops have the body");
        }
    });
}

#[test]
fn hops_go_on_where_connections_end() {
    on_every_driver(|driver| {
        // By the server, and by the load.
        for (leaves_after, requests_max) in [(Some(50), None), (None, Some(4)), (Some(7), Some(20))] {
            let server = Server::start(Setup { routes: Some(chain), leaves_after, ..Setup::default() });
            let mut job = following(closed(server.addr, driver, (2, 5), 200));
            job.load.connection.requests_max = requests_max;
            let sum = run(&job);
            assert_eq!(ends(&sum), [200, 200, 0, 0], "{driver:?}");
            assert_eq!(followed(&sum), [(303, 200), (308, 200)], "{driver:?}");
            assert!(server.seen.connections.load(SeqCst) > 4, "{driver:?}");
        }
    });
}

#[test]
fn a_redirect_that_leads_nowhere_costs_its_own_request_only() {
    on_every_driver(|driver| {
        let nowhere = |_: &str, _: &str| Reply { status: 302, ..Reply::default() };
        let for_ever = |_: &str, path: &str| {
            let location = if path == "/a" { "/" } else { "/a" };
            Reply { status: 307, fields: vec![("location", location)], ..Reply::default() }
        };
        for (routes, requests) in [(nowhere as Routes, 20), (for_ever, 80)] {
            let server = Server::start(Setup { routes: Some(routes), ..Setup::default() });
            let sum = run(&following(closed(server.addr, driver, (1, 4), 20)));
            assert_eq!(ends(&sum), [20, 0, 20, 0], "{driver:?}");
            assert_eq!(sum.counts.measured.failed[ErrorClass::Redirect.index()], 20, "{driver:?}");
            assert_eq!(server.seen.get(), [requests, requests, 0], "{driver:?}");
            assert_eq!(server.seen.connections.load(SeqCst), 1, "{driver:?}");
        }
    });
}

#[test]
fn a_hop_has_a_time_out_of_its_own() {
    // Status 307 and a Location, as literals.
    let block = [&b"\x08\x03307"[..], b"\x0f\x1f\x02/a"].concat();
    on_every_driver(|driver| {
        let redirect = Act::Send(frame(1, 5, 1, &block));
        let script = vec![Act::Settings(vec![]), Act::Await(1), redirect, Act::Await(1), Act::Hold];
        let peer = Raw::start(vec![script]);
        let mut job = following(closed(peer.addr(), driver, (1, 1), 1));
        job.load.timeout_ns = 50 * MS;
        let sum = run(&job);
        assert_eq!(ends(&sum), [1, 0, 1, 0], "{driver:?}");
        assert_eq!(sum.counts.measured.failed[ErrorClass::Timeout.index()], 1, "{driver:?}");
        assert_eq!(followed(&sum), [(307, 1)], "{driver:?}");
        assert_eq!(peer.seen().requests.load(SeqCst), 2, "{driver:?}");
    });
}
