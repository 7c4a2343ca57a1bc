//! Every driver and both versions of TLS against every fault of TLS: exact classes, counts and handshakes, nothing
//! lost, the next connection right.
//!
//! The tables are written by hand and held against the fault server's catalogue.

use crate::common::faulty::{DRIVERS, End, Outcome, each, load, request_for};
use crate::common::tls::{client, only};
use crate::common::{MS, finish, short_load};
use After::{Kept, Replaced};
use End::{Bad, Good};
use engine::{EngineError, Generator, Job};
use schema::load::ErrorClass::{self, ConnectTimeout, PrematureClose, Reset};
use schema::plan::DriverChoice;
use std::collections::BTreeMap;
use testkit::fault::{After, Counts, Fault, FaultServer, Pattern, Spec, Unit};

const VERSIONS: [&str; 2] = ["1.2", "1.3"];
/// How long a connection attempt may take where the fault is that it takes too long; far longer than a right one.
const SHORT_CONNECT: u64 = 1000 * MS;

const RST: (ErrorClass, &str) = (Reset, "reset");
const LATE: (ErrorClass, &str) =
    (ConnectTimeout, "no connection was established within the connect time-out");

const fn tls(text: &'static str) -> (ErrorClass, &'static str) {
    (ErrorClass::Tls, text)
}

/// Every fault of connections: the class of the attempt that meets it, and a part of its example.
#[rustfmt::skip]
const CONNECTIONS: &[(Fault, (ErrorClass, &str))] = &[
    (Fault::TlsAlert, tls("alert: handshake failure")),
    (Fault::TlsClose, tls("closed during the TLS handshake")),
    (Fault::TlsReset, RST),
    (Fault::TlsStall, LATE),
    (Fault::TlsGarbage, tls("is not TLS")),
    (Fault::TlsPlainHttp, tls("is not TLS")),
    (Fault::TlsWantsClient, tls("--cert and --key")),
    (Fault::CertExpired, tls("certificate expired")),
    (Fault::CertNotYetValid, tls("not valid yet")),
    (Fault::CertWrongName, tls("another name")),
    (Fault::CertSelfSigned, tls("unknown issuer")),
    (Fault::CertUnknownIssuer, tls("unknown issuer")),
    (Fault::CertWrongUsage, tls("not meant for servers")),
    (Fault::CertBadSignature, tls("wrong signature")),
];

/// Every fault of requests: the end of the request that meets it, and what becomes of its connection.
#[rustfmt::skip]
const REQUESTS: &[(Fault, End, After)] = &[
    (Fault::TlsSplit, Good, Kept),
    (Fault::TlsTruncated, Bad(PrematureClose, "close_notify"), Replaced),
    (Fault::TlsCutMidBody, Bad(PrematureClose, "close_notify"), Replaced),
    (Fault::TlsResetMidBody, Bad(Reset, "reset"), Replaced),
    (Fault::TlsAlertMidBody, Bad(ErrorClass::Tls, "alert: "), Replaced),
    (Fault::TlsDamagedRecord, Bad(ErrorClass::Tls, "cannot be decrypted"), Replaced),
];

/// With every driver and version.
fn every_way<T: Copy>(rows: &[T]) -> Vec<(DriverChoice, &'static str, T)> {
    let ways = DRIVERS.iter().flat_map(|driver| VERSIONS.map(|version| (*driver, version)));
    ways.flat_map(|(driver, version)| rows.iter().map(move |row| (driver, version, *row))).collect()
}

/// Makes a job one of TLS that trusts the server's authority.
fn secure(job: &mut Job, server: &FaultServer, version: &str) {
    let pki = server.pki().expect("a fault of TLS has certificates");
    job.tls = Some(client(pki, &only(version)));
}

/// In TLS 1.3 the client is done before the server has judged its certificate (RFC 8446 §2), so the missing one is
/// reported to a connection that stands already.
fn is_told_late(fault: Fault, version: &str) -> bool {
    fault == Fault::TlsWantsClient && version == "1.3"
}

#[test]
fn a_connection_for_each_request_meets_every_fault_of_connections_with_its_class() {
    each(&every_way(CONNECTIONS), |(driver, version, (fault, (class, text)))| {
        let (sum, seen) = load(*fault, *driver, 1, 10, |job, server| {
            secure(job, server, version);
            job.load.connection.keepalive = false;
            if *fault == Fault::TlsStall {
                job.load.connect_timeout_ns = SHORT_CONNECT;
            }
        });
        let outcome = Outcome::of(*fault, &sum, seen);
        let stood = if is_told_late(*fault, version) { 10 } else { 7 };
        let expected = Outcome {
            failed: BTreeMap::from([(*class, 3)]),
            completed: 7,
            censored: 0,
            status: BTreeMap::from([(200, 7)]),
            connects: stood,
            handshakes: stood,
            // The third, sixth and ninth connection end before a request is read.
            seen: Counts { connections: 10, ended: 0, requests: 7, faults: 3 },
            bytes_read: outcome.bytes_read,
        };
        assert_eq!(outcome, expected, "{fault} with {driver:?} and TLS {version}");
        let examples = &sum.examples[class];
        assert!(examples.iter().any(|example| example.contains(text)), "{fault}: {examples:?}");
    });
}

#[test]
fn every_fault_of_requests_has_its_class_and_count_and_the_next_request_is_right() {
    each(&every_way(REQUESTS), |(driver, version, (fault, end, after))| {
        let (sum, seen) = load(*fault, *driver, 1, 10, |job, server| secure(job, server, version));
        let outcome = Outcome::of(*fault, &sum, seen);
        let plain = Outcome::expected(*end, *after, outcome.bytes_read);
        let expected = Outcome { handshakes: plain.connects, ..plain };
        assert_eq!(outcome, expected, "{fault} with {driver:?} and TLS {version}");
        if let Bad(class, text) = end {
            let examples = &sum.examples[class];
            assert!(examples.iter().any(|example| example.contains(text)), "{fault}: {examples:?}");
        }
    });
}

#[test]
fn several_connections_share_the_faults_and_nothing_is_lost() {
    each(&every_way(REQUESTS), |(driver, version, (fault, end, _))| {
        let (sum, seen) = load(*fault, *driver, 4, 12, |job, server| secure(job, server, version));
        let account = sum.counts.measured;
        let failed = match end {
            Bad(class, _) => BTreeMap::from([(*class, 4)]),
            _ => BTreeMap::new(),
        };
        let completed = 12 - failed.values().sum::<u64>();
        assert_eq!(
            (account.failed_by_class(), account.completed, account.censored),
            (failed, completed, 0),
            "{fault} with {driver:?} and TLS {version}, {seen:?}"
        );
        assert_eq!((seen.requests, seen.faults), (12, 4), "{fault}");
    });
}

#[test]
fn an_attempt_that_fails_before_the_load_is_told_and_the_next_is_right() {
    each(&every_way(CONNECTIONS), |(driver, version, (fault, (class, text)))| {
        if is_told_late(*fault, version) {
            return;
        }
        let server = FaultServer::start(Spec::new(*fault, Pattern::First(1)).unwrap()).unwrap();
        let mut job = short_load(server.addr(), *driver, 2, 10, request_for(*fault));
        secure(&mut job, &server, version);
        if *fault == Fault::TlsStall {
            job.load.connect_timeout_ns = SHORT_CONNECT;
        }
        let generator = Generator::start(&job).unwrap();
        let way = format!("{fault} with {driver:?} and TLS {version}");
        assert_eq!(generator.connections(), (2, 1), "{way}");
        let failures = generator.setup_failures().clone();
        assert_eq!(failures.by_class, BTreeMap::from([(*class, 1)]), "{way}");
        assert!(
            failures.example.as_ref().is_some_and(|example| example.contains(text)),
            "{way}: {failures:?}"
        );
        let account = finish(generator).unwrap().counts.measured;
        assert_eq!((account.completed, account.failed_total(), account.censored), (10, 0, 0), "{way}");
        let seen = server.counts();
        assert_eq!((seen.connections, seen.requests, seen.faults), (3, 10, 1), "{way}");
    });
}

#[test]
fn where_every_connection_is_faulty_nothing_is_sent_and_all_are_counted() {
    each(&every_way(CONNECTIONS), |(driver, version, (fault, (class, text)))| {
        if is_told_late(*fault, version) {
            return;
        }
        let server = FaultServer::start(Spec::new(*fault, Pattern::Always).unwrap()).unwrap();
        let mut job = short_load(server.addr(), *driver, 3, 6, request_for(*fault));
        secure(&mut job, &server, version);
        if *fault == Fault::TlsStall {
            job.load.connect_timeout_ns = SHORT_CONNECT;
        }
        match Generator::start(&job) {
            Err(EngineError::NothingConnected { asked: 3, failures, example }) => {
                assert_eq!(failures, BTreeMap::from([(*class, 3)]), "{fault} with {driver:?} and {version}");
                assert!(example.contains(text), "{fault}: {example}");
            }
            other => panic!("{fault} with {driver:?} and TLS {version}: {other:?}"),
        }
        let seen = server.counts();
        assert_eq!((seen.connections, seen.requests), (3, 0), "{fault}");
    });
}

#[test]
fn the_tables_are_whole_and_agree_with_the_catalogue() {
    let listed = |unit: Unit| {
        let fits = |fault: &&Fault| fault.entry().unit == unit && fault.entry().tls;
        Fault::ALL.iter().filter(fits).copied().collect::<Vec<_>>()
    };
    assert_eq!(CONNECTIONS.iter().map(|(fault, _)| *fault).collect::<Vec<_>>(), listed(Unit::Connection));
    assert_eq!(REQUESTS.iter().map(|(fault, ..)| *fault).collect::<Vec<_>>(), listed(Unit::Request));
    for (fault, (class, _)) in CONNECTIONS {
        assert_eq!((Some(class.key()), Replaced), (fault.entry().class, fault.entry().after), "{fault}");
    }
    for (fault, end, after) in REQUESTS {
        let class = if let Bad(class, _) = end { Some(class.key()) } else { None };
        assert_eq!((class, *after), (fault.entry().class, fault.entry().after), "{fault}");
    }
}
