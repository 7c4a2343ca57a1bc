//! Every fault of HTTP/2 in the fault server's catalogue on every driver: exact classes and counts, nothing lost, and the next
//! request right where the fault ends its connection.

use super::{calls, closed, ends, on_every_driver, run};
use crate::common::MS;
use crate::common::faulty::{SHORT, class_of, each, request_for};
use std::collections::BTreeMap;
use testkit::fault::{After, Ask, Fault, FaultServer, Pattern, Spec};

/// Requests of a load on one connection at a time.
const REQUESTS: u64 = 4;

#[test]
fn every_fault_ends_in_its_class_and_the_next_connection_is_right() {
    let faults: Vec<Fault> = Fault::ALL.iter().copied().filter(|fault| fault.is_http2()).collect();
    assert!(faults.len() >= 20, "{}", faults.len());
    each(&faults, |fault| {
        let entry = fault.entry();
        on_every_driver(|driver| {
            let server = FaultServer::start(Spec::new(*fault, Pattern::First(1)).unwrap()).unwrap();
            let mut job = closed(server.addr(), driver, (1, 1), REQUESTS);
            job.traffic = if entry.ask == Ask::Call { calls::plain() } else { request_for(*fault) };
            let is_late = entry.class == Some("timeout");
            job.load.timeout_ns = if is_late { SHORT } else { 10_000 * MS };
            let sum = run(&job);
            // A fault of streams meets every request of its connection, which goes on.
            let (failed, connections) = if entry.after == After::Kept { (REQUESTS, 1) } else { (1, 2) };
            let class = class_of(entry.class.expect("no fault of HTTP/2 is answered rightly"));
            let failures = BTreeMap::from([(class, failed)]);
            assert_eq!(ends(&sum), [REQUESTS, REQUESTS - failed, failed, 0], "{fault} on {driver:?}");
            assert_eq!(sum.counts.measured.failed_by_class(), failures, "{fault} on {driver:?}");
            let seen = server.counts();
            assert_eq!((seen.connections, seen.faults), (connections, 1), "{fault} on {driver:?}");
            // A server that allows no stream sees no request.
            let begun = if *fault == Fault::H2StreamsZero { 0 } else { REQUESTS };
            assert_eq!(seen.requests, begun, "{fault} on {driver:?}");
        });
    });
}
