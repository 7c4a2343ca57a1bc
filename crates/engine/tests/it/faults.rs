//! Every driver against every fault of plain text: exact classes and counts, nothing lost, the next request right.
//!
//! The table is written by hand and held against the fault server's catalogue. Time-outs are short only where the
//! fault is one of time; everywhere else they are far away, so a slow machine changes no count.

use crate::common::faulty::{DRIVERS, End, Outcome, SHORT, class_of, each, load, request_for};
use crate::common::{finish, run, short_load};
use After::{Kept, NextFails, Replaced};
use End::{Bad, Good, Status};
use engine::{EngineError, Generator, Job};
use schema::load::ErrorClass::{
    self, Malformed, PrematureClose, Reset, Timeout, UnexpectedStatus, WrongBody,
};
use schema::plan::DriverChoice;
use std::collections::BTreeMap;
use testkit::fault::{After, Fault, FaultServer, Pattern, Spec, Unit};

const RST: End = Bad(Reset, "reset");
const CUT: End = Bad(PrematureClose, "closed before the answer was complete");
const LATE: End = Bad(Timeout, "no complete answer in time");
const BODY: End = Bad(WrongBody, "body is not the expected one");

/// Every fault of single requests: the end of the request that meets it, and what becomes of its connection.
#[rustfmt::skip]
const TABLE: &[(Fault, End, After)] = &[
    (Fault::ResetUnread, RST, Replaced),
    (Fault::ResetBeforeHeaders, RST, Replaced),
    (Fault::ResetInHeaders, RST, Replaced),
    (Fault::ResetAfterHeaders, RST, Replaced),
    (Fault::ResetMidBody, RST, Replaced),
    (Fault::ResetAfterAnswer, Good, NextFails("reset")),
    (Fault::CloseBeforeAnswer, CUT, Replaced),
    (Fault::CloseInHeaders, CUT, Replaced),
    (Fault::CloseMidBody, CUT, Replaced),
    (Fault::CloseMidChunk, CUT, Replaced),
    (Fault::CloseBeforeLastChunk, CUT, Replaced),
    (Fault::CloseWhenIdle, Good, NextFails("premature_close")),
    (Fault::CloseAnnounced, Good, Replaced),
    (Fault::HalfCloseBeforeAnswer, CUT, Replaced),
    (Fault::HalfCloseAfterAnswer, Good, Replaced),
    (Fault::Drip, Good, Kept),
    (Fault::DripForever, LATE, Replaced),
    (Fault::StallBeforeAnswer, LATE, Replaced),
    (Fault::StallInHeaders, LATE, Replaced),
    (Fault::StallInBody, LATE, Replaced),
    (Fault::StallInChunk, LATE, Replaced),
    (Fault::StallReading, LATE, Replaced),
    (Fault::StatusLineMissing, Bad(Malformed, "does not begin with HTTP/1."), Replaced),
    (Fault::StatusLineOtherProtocol, Bad(Malformed, "does not begin with HTTP/1."), Replaced),
    (Fault::StatusLineHttp2, Bad(Malformed, "does not begin with HTTP/1."), Replaced),
    (Fault::StatusLineHttp09, Bad(Malformed, "does not begin with HTTP/1."), Replaced),
    (Fault::StatusLineAfterBlank, Bad(Malformed, "does not begin with HTTP/1."), Replaced),
    (Fault::StatusTwoDigits, Bad(Malformed, "status"), Replaced),
    (Fault::StatusBelow100, Bad(Malformed, "status below 100"), Replaced),
    (Fault::StatusFourDigits, Bad(Malformed, "status"), Replaced),
    (Fault::StatusNegative, Bad(Malformed, "status"), Replaced),
    (Fault::Status500, Status(500), Kept),
    (Fault::Status999, Status(999), Kept),
    (Fault::ReasonMissing, Good, Kept),
    (Fault::HeaderBomb, Bad(Malformed, "longer than 64 KiB"), Replaced),
    (Fault::HeaderOneLong, Bad(Malformed, "longer than 64 KiB"), Replaced),
    (Fault::HeaderCount, Bad(Malformed, "more than 1024 header fields"), Replaced),
    (Fault::HeaderNoColon, Bad(Malformed, "invalid header name"), Replaced),
    (Fault::HeaderSpaceInName, Bad(Malformed, "invalid header name"), Replaced),
    (Fault::HeaderNul, Bad(Malformed, "invalid header value"), Replaced),
    (Fault::HeaderFolded, Good, Kept),
    (Fault::HeaderBareLineFeeds, Good, Kept),
    (Fault::LengthConflict, Bad(Malformed, "conflicting lengths"), Replaced),
    (Fault::LengthList, Bad(Malformed, "conflicting lengths"), Replaced),
    (Fault::LengthTwice, Good, Kept),
    (Fault::LengthAndChunked, Bad(Malformed, "conflicting lengths"), Replaced),
    (Fault::LengthNegative, Bad(Malformed, "Content-Length is not a number"), Replaced),
    (Fault::LengthPlus, Bad(Malformed, "Content-Length is not a number"), Replaced),
    (Fault::LengthNotANumber, Bad(Malformed, "Content-Length is not a number"), Replaced),
    (Fault::LengthEmpty, Bad(Malformed, "Content-Length is not a number"), Replaced),
    (Fault::LengthOverflow, Bad(Malformed, "Content-Length is too large"), Replaced),
    (Fault::LengthTooShort, BODY, Replaced),
    (Fault::LengthTooLong, LATE, Replaced),
    (Fault::LengthHuge, LATE, Replaced),
    (Fault::ChunkNotHex, Bad(Malformed, "bad chunk"), Replaced),
    (Fault::ChunkEmptySize, Bad(Malformed, "bad chunk"), Replaced),
    (Fault::ChunkNegative, Bad(Malformed, "bad chunk"), Replaced),
    (Fault::ChunkPrefix, Bad(Malformed, "bad chunk"), Replaced),
    (Fault::ChunkOverflow, Bad(Malformed, "chunk size or extension too large"), Replaced),
    (Fault::ChunkZeros, Bad(Malformed, "bad chunk"), Replaced),
    (Fault::ChunkBadEnd, Bad(Malformed, "bad chunk"), Replaced),
    (Fault::ChunkTiny, Good, Kept),
    (Fault::ChunkExtensions, Good, Kept),
    (Fault::ChunkExtensionBomb, Bad(Malformed, "chunk size or extension too large"), Replaced),
    (Fault::ChunkBomb, LATE, Replaced),
    (Fault::TrailerBomb, Bad(Malformed, "trailers are longer than 64 KiB"), Replaced),
    (Fault::BodyWrong, BODY, Kept),
    (Fault::BodyEmpty, BODY, Kept),
    (Fault::BodyWith204, Status(204), Replaced),
    (Fault::BodyWith304, Status(304), Replaced),
    (Fault::BodyWithHead, Good, Replaced),
    (Fault::BodyUntilClose, Good, Replaced),
    (Fault::InterimSome, Good, Kept),
    (Fault::InterimStorm, Bad(Malformed, "more than 32 interim answers"), Replaced),
    (Fault::InterimThenStall, LATE, Replaced),
    (Fault::InterimThenClose, CUT, Replaced),
    (Fault::Upgrade, Bad(Malformed, "101 Switching Protocols"), Replaced),
    (Fault::EarlyAnswer, Good, Replaced),
    (Fault::EarlyRefusal, Status(413), Replaced),
    (Fault::AnswerTwice, Good, Replaced),
    (Fault::GarbageAfterAnswer, Good, Replaced),
    (Fault::GarbageAfterClose, Good, Replaced),
];

/// Ten requests on one connection, of which the third, sixth and ninth that the server sees are faulty.
fn outcome(fault: Fault, driver: DriverChoice) -> Outcome {
    let (sum, seen) = load(fault, driver, 1, 10, |_, _| {});
    Outcome::of(fault, &sum, seen)
}

/// Every row with every driver.
fn rows() -> Vec<(DriverChoice, Fault, End, After)> {
    DRIVERS
        .iter()
        .flat_map(|driver| TABLE.iter().map(|(fault, end, after)| (*driver, *fault, *end, *after)))
        .collect()
}

#[test]
fn every_fault_has_its_class_and_count_and_the_next_request_is_right() {
    each(&rows(), |(driver, fault, end, after)| {
        let outcome = outcome(*fault, *driver);
        let expected = Outcome::expected(*end, *after, outcome.bytes_read);
        assert_eq!(outcome, expected, "{fault} with {driver:?}");
    });
}

#[test]
fn several_connections_share_the_faults_and_nothing_is_lost() {
    each(&rows(), |(driver, fault, end, after)| {
        let (sum, seen) = load(*fault, *driver, 4, 12, |_, _| {});
        let account = sum.counts.measured;
        let (failed, completed) = match (end, after) {
            // Requests on connections that had died went unseen; how many there were, the server tells.
            (Good, NextFails(key)) if seen.requests < 12 => {
                (BTreeMap::from([(class_of(key), 12 - seen.requests)]), seen.requests)
            }
            (Good, _) => (BTreeMap::new(), 12),
            (Bad(class, _), _) => (BTreeMap::from([(*class, 4)]), 8),
            (Status(_), _) => (BTreeMap::from([(UnexpectedStatus, 4)]), 8),
        };
        assert_eq!(
            (account.failed_by_class(), account.completed, account.censored),
            (failed, completed, 0),
            "{fault} with {driver:?}, {seen:?}"
        );
        assert_eq!(seen.faults, seen.requests / 3, "{fault}");
    });
}

#[test]
fn drivers_agree_on_every_count() {
    each(TABLE, |(fault, ..)| {
        let first = outcome(*fault, DriverChoice::Epoll);
        for driver in DRIVERS {
            assert_eq!(outcome(*fault, *driver), first, "{fault}: {driver:?} (left) and epoll");
        }
    });
}

#[test]
fn examples_tell_what_is_wrong() {
    let bad: Vec<_> = TABLE.iter().filter(|(_, end, _)| matches!(end, Bad(..))).collect();
    each(&bad, |(fault, end, _)| {
        let Bad(class, text) = *end else { unreachable!("only these are kept") };
        let (sum, _) = load(*fault, DriverChoice::Epoll, 1, 3, |_, _| {});
        let examples = &sum.examples[&class];
        assert!(
            examples.iter().any(|example| example.to_lowercase().contains(&text.to_lowercase())),
            "{fault}: {examples:?}"
        );
    });
}

#[test]
fn the_table_is_whole_and_agrees_with_the_catalogue() {
    let of_requests = |fault: &&Fault| fault.entry().unit == Unit::Request && !fault.entry().tls;
    let listed: Vec<Fault> = Fault::ALL.iter().filter(of_requests).copied().collect();
    assert_eq!(TABLE.iter().map(|(fault, ..)| *fault).collect::<Vec<_>>(), listed);
    for (fault, end, after) in TABLE {
        let class = match end {
            Good => None,
            Bad(class, _) => Some(class.key()),
            Status(_) => Some(UnexpectedStatus.key()),
        };
        assert_eq!((class, *after), (fault.entry().class, fault.entry().after), "{fault}");
    }
}

#[test]
fn faults_of_the_listener_have_their_class() {
    let attempt = |fault: Fault, driver: DriverChoice, change: fn(&mut Job)| {
        let server = FaultServer::start(Spec::new(fault, Pattern::Always).unwrap()).unwrap();
        let mut job = short_load(server.addr(), driver, 3, 6, request_for(fault));
        change(&mut job);
        run(&job)
    };
    for driver in DRIVERS {
        for (fault, class) in
            [(Fault::Refused, ErrorClass::Refused), (Fault::AcceptQueueFull, ErrorClass::ConnectTimeout)]
        {
            match attempt(fault, *driver, |job| job.load.connect_timeout_ns = SHORT) {
                Err(EngineError::NothingConnected { asked: 3, failures, .. }) => {
                    assert_eq!(failures, BTreeMap::from([(class, 3)]), "{fault}");
                }
                other => panic!("{fault}: {other:?}"),
            }
        }
        let sum = attempt(Fault::BlackHole, *driver, |job| job.load.timeout_ns = SHORT).unwrap();
        let account = sum.counts.measured;
        assert_eq!(account.failed_by_class(), BTreeMap::from([(Timeout, 6)]));
        assert_eq!((account.completed, account.censored), (0, 0));
    }
}

#[test]
fn connections_that_go_bad_while_idle_are_replaced_and_nothing_fails() {
    for driver in DRIVERS {
        for fault in [Fault::CloseOnAccept, Fault::ResetOnAccept, Fault::Unsolicited] {
            let server = FaultServer::start(Spec::new(fault, Pattern::First(1)).unwrap()).unwrap();
            let job = short_load(server.addr(), *driver, 2, 10, request_for(fault));
            let generator = Generator::start(&job).unwrap();
            // The faulty connection has ended: the engine has seen it, and no request is under way yet.
            while server.counts().ended == 0 {
                std::thread::yield_now();
            }
            let account = finish(generator).unwrap().counts.measured;
            assert_eq!(account.failed_by_class(), BTreeMap::new(), "{fault}");
            assert_eq!((account.completed, account.censored), (10, 0), "{fault}");
            let seen = server.counts();
            assert_eq!((seen.connections, seen.requests, seen.faults), (3, 10, 1), "{fault}");
        }
    }
}
