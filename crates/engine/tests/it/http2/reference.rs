//! The reference target over HTTP/2: its known truth holds as over HTTP/1.1, on every driver, in plain text and over TLS.

use super::{closed, ends, get, on_every_driver, run};
use crate::common::tls::{client, plan};
use crate::common::{MS, short_load};
use engine::{IntervalData, Job};
use schema::experiment::{Reference, ServiceLaw};
use schema::load::{ErrorClass, Time};
use schema::plan::DriverChoice;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use testkit::certs::Pki;
use testkit::reference::{Law, ReferenceServer};
use units::Nanos;

const REQUESTS: u64 = 200;

fn law(reference: &Reference) -> Law {
    Law::try_from(reference).unwrap()
}

/// Requests that the server has counted, by its own account.
fn seen(addr: SocketAddr) -> u64 {
    let mut stream = TcpStream::connect(addr).unwrap();
    stream.write_all(b"GET /stats HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    serde_json::from_str::<serde_json::Value>(body).unwrap()["requests"].as_u64().unwrap()
}

fn failed(sum: &IntervalData, class: ErrorClass) -> u64 {
    sum.counts.measured.failed[class.index()]
}

#[test]
fn answers_come_when_the_queue_says_so() {
    on_every_driver(|driver| {
        // As many servers as requests at a time: each answer takes exactly the service time.
        let reference = Reference { mean: Some(Nanos(5 * MS)), servers: Some(20), ..Reference::default() };
        let server = ReferenceServer::start(law(&reference)).unwrap();
        let sum = run(&closed(server.addr(), driver, (2, 10), REQUESTS));
        assert_eq!(ends(&sum), [REQUESTS, REQUESTS, 0, 0], "{driver:?}");
        assert_eq!(seen(server.addr()), REQUESTS, "{driver:?}");
        let fastest = sum.times[Time::Response].min();
        assert!(fastest >= 5 * MS * 999 / 1000, "{driver:?}: {fastest} ns");
    });
}

#[test]
fn the_same_requests_fail_as_over_http1() {
    let reference = Reference { error_rate: Some(0.2), reset_rate: Some(0.1), ..Reference::default() };
    let failures = |load: &dyn Fn(SocketAddr) -> Job| {
        let server = ReferenceServer::start(law(&reference)).unwrap();
        let sum = run(&load(server.addr()));
        let [scheduled, completed, failed, censored] = ends(&sum);
        assert_eq!((scheduled, completed + failed, censored), (REQUESTS, REQUESTS, 0));
        (server, sum)
    };
    on_every_driver(|driver| {
        let (_, http1) = failures(&|to| short_load(to, driver, 1, REQUESTS, get()));
        let (_, http2) = failures(&|to| closed(to, driver, (1, 10), REQUESTS));
        let (_, calls) =
            failures(&|to| Job { traffic: super::calls::plain(), ..closed(to, driver, (1, 10), REQUESTS) });
        let errors = failed(&http1, ErrorClass::UnexpectedStatus);
        assert!(errors > 0, "{driver:?}");
        assert_eq!(failed(&http2, ErrorClass::UnexpectedStatus), errors, "{driver:?}");
        assert_eq!(failed(&calls, ErrorClass::GrpcInternal), errors, "{driver:?}");
        let resets = failed(&http2, ErrorClass::StreamReset);
        assert!(resets > 0, "{driver:?}");
        assert_eq!(failed(&calls, ErrorClass::StreamReset), resets, "{driver:?}");
        assert_eq!(http1.counts.measured.failed_total(), errors + resets, "{driver:?}");
    });
}

#[test]
fn over_tls_a_client_chooses_the_version() {
    let pki = Pki::new().unwrap();
    let config = pki.server_config(pki.server(), false, &[b"h2", b"http/1.1"]).unwrap();
    let reference =
        Reference { law: Some(ServiceLaw::Exponential), mean: Some(Nanos(MS)), ..Reference::default() };
    for (alpn, http2) in [("h2", true), ("http/1.1", false)] {
        let tls = client(&pki, &plan(|plan| plan.alpn = vec![alpn.to_owned()]));
        let server = ReferenceServer::start_with(law(&reference), Some(config.clone())).unwrap();
        let driver = DriverChoice::Auto;
        let mut job = match http2 {
            true => closed(server.addr(), driver, (2, 5), REQUESTS),
            false => short_load(server.addr(), driver, 2, REQUESTS, get()),
        };
        job.tls = Some(tls);
        assert_eq!(ends(&run(&job)), [REQUESTS, REQUESTS, 0, 0], "{alpn}");
    }
}
