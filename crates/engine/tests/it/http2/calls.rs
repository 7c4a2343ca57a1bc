//! Calls of gRPC against a server whose answers are written by hand: a call is right with its status and its message, and
//! every other end has the class that says what it was.

use super::server::{Reply, Server, Setup};
use super::{closed, ends, on_every_driver, open, run};
use engine::{IntervalData, Job};
use request::Traffic;
use schema::load::{ErrorClass, Time};
use schema::plan::{
    CallPlan, Encoded, EntryPlan, ExpectPlan, MessageCapture, MessageCheck, MessagePart, RequestPlan,
    ScalarKind, ScenarioPlan, SessionPlan, ValuePart,
};
use schema::scenario::Capture;
use std::collections::BTreeMap;

const KIND: (&str, &str) = ("content-type", "application/grpc");
/// A message of two bytes with its prefix.
pub(crate) const MESSAGE: &[u8] = b"\0\0\0\0\x02\x08\x01";

pub(crate) fn entry(call: CallPlan) -> EntryPlan {
    let fields = [("content-type", "application/grpc"), ("te", "trailers")];
    let request = RequestPlan {
        method: "POST".into(),
        path: "/shop.Cart/Add".into(),
        headers: fields.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
        body: if call.message.is_none() { MESSAGE.to_vec() } else { Vec::new() },
    };
    let expect = ExpectPlan { status: vec![200], ..ExpectPlan::default() };
    EntryPlan { name: "call".into(), weight: 1.0, request, expect, grpc: Some(call), ..EntryPlan::default() }
}

pub(super) fn traffic(entry: EntryPlan) -> Traffic {
    let scenario = ScenarioPlan { name: "calls".into(), requests: vec![entry], ..ScenarioPlan::default() };
    Traffic::new(&scenario, "h", units::Seed(1), &[]).unwrap()
}

/// Calls that succeed with status 0.
pub(super) fn plain() -> Traffic {
    traffic(entry(CallPlan { status: vec![0], ..CallPlan::default() }))
}

/// The same load with calls that succeed with status 0.
fn with_calls(job: Job) -> Job {
    Job { traffic: plain(), ..job }
}

fn served(script: fn(u64) -> Reply) -> Server {
    Server::start(Setup { script: Some(script), ..Setup::default() })
}

/// A right answer, its message cut in two.
fn right() -> Reply {
    let body = vec![MESSAGE[..3].to_vec(), MESSAGE[3..].to_vec()];
    Reply { status: 200, fields: vec![KIND], body, trailers: vec![("grpc-status", "0")], ..Reply::default() }
}

pub(super) fn failed(sum: &IntervalData, class: ErrorClass) -> u64 {
    sum.counts.measured.failed[class.index()]
}

#[test]
fn right_calls_are_counted_as_the_server_counts_them() {
    on_every_driver(|driver| {
        for shape in [(1, 1), (1, 50), (4, 10)] {
            let server = served(|_| right());
            let sum = run(&with_calls(closed(server.addr, driver, shape, 1_000)));
            assert_eq!(ends(&sum), [1_000, 1_000, 0, 0], "{driver:?} {shape:?}");
            assert_eq!(server.seen.get(), [1_000, 1_000, 0]);
            assert_eq!(*server.seen.last_body.lock().unwrap(), MESSAGE);
            let fields = server.seen.last_fields.lock().unwrap();
            assert_eq!(fields.get("te").unwrap(), "trailers");
            assert!(fields.get("content-length").is_none(), "{fields:?}");
            assert_eq!(sum.times[Time::Service].len(), 1_000);
        }
        let server = served(|_| right());
        let sum = run(&with_calls(open(server.addr, driver, (2, 20), 300)));
        assert_eq!(ends(&sum), [300, 300, 0, 0], "{driver:?}");
    });
}

#[test]
fn a_status_is_a_class_in_trailers_and_without_messages() {
    let script = |number: u64| match number % 4 {
        0 => Reply { trailers: vec![("grpc-status", "14"), ("grpc-message", "no%20shop")], ..right() },
        1 => Reply {
            fields: vec![KIND, ("grpc-status", "5")],
            body: Vec::new(),
            trailers: Vec::new(),
            is_bare: true,
            ..right()
        },
        2 => Reply { body: Vec::new(), trailers: vec![("grpc-status", "4")], ..right() },
        _ => right(),
    };
    on_every_driver(|driver| {
        let server = served(script);
        let sum = run(&with_calls(closed(server.addr, driver, (1, 8), 400)));
        assert_eq!(ends(&sum), [400, 100, 300, 0], "{driver:?}");
        for class in [ErrorClass::GrpcUnavailable, ErrorClass::GrpcNotFound, ErrorClass::GrpcDeadlineExceeded]
        {
            assert_eq!(failed(&sum, class), 100, "{driver:?} {class:?}");
        }
        let texts = &sum.examples[&ErrorClass::GrpcUnavailable];
        assert_eq!(texts, &["grpc-status 14 UNAVAILABLE: no shop"], "{driver:?}");
        assert_eq!(sum.counts.measured.beyond(), 100, "times of exceeded deadlines are not known");
        assert_eq!(server.seen.get(), [400, 400, 0]);
    });
}

#[test]
fn the_status_that_is_expected_is_right() {
    on_every_driver(|driver| {
        let server = served(|number| match number % 2 {
            0 => Reply { body: Vec::new(), trailers: vec![("grpc-status", "5")], ..right() },
            _ => right(),
        });
        let mut job = closed(server.addr, driver, (1, 4), 100);
        job.traffic = traffic(entry(CallPlan { status: vec![5], ..CallPlan::default() }));
        let sum = run(&job);
        assert_eq!(ends(&sum), [100, 50, 50, 0], "{driver:?}");
        assert_eq!(failed(&sum, ErrorClass::Check), 50);
        assert_eq!(sum.examples[&ErrorClass::Check], ["grpc-status 0 OK, expected NOT_FOUND"]);
    });
}

/// What a server answers, the class of that, and what its text has.
type Case = (fn(u64) -> Reply, ErrorClass, &'static str);

/// Answers that break gRPC, each with its class. All of them end at once, without waiting for what the server still sends.
#[test]
fn broken_answers_have_their_class() {
    let cases: [Case; 9] = [
        (|_| Reply { trailers: Vec::new(), ..right() }, ErrorClass::Protocol, "no grpc-status came"),
        (
            |_| Reply { trailers: vec![("grpc-status", "0"), ("grpc-status", "0")], ..right() },
            ErrorClass::Protocol,
            "more than once",
        ),
        (|_| Reply { trailers: vec![("grpc-status", "ok")], ..right() }, ErrorClass::Protocol, "no number"),
        (|_| Reply { body: Vec::new(), ..right() }, ErrorClass::Protocol, "no message came"),
        (
            |_| Reply { body: vec![MESSAGE.to_vec(), MESSAGE.to_vec()], ..right() },
            ErrorClass::Protocol,
            "more than one message",
        ),
        (
            |_| Reply { body: vec![b"\0\0\0\0\x09x".to_vec()], ..right() },
            ErrorClass::Protocol,
            "within a message",
        ),
        (
            |_| Reply {
                body: vec![b"\0\xff\xff\xff\xff".to_vec(), vec![b'x'; 16_384]],
                is_endless: true,
                ..right()
            },
            ErrorClass::Protocol,
            "at most 4194304 are allowed",
        ),
        (
            |_| Reply { body: vec![b"\x01\0\0\0\x01x".to_vec()], is_open: true, ..right() },
            ErrorClass::Protocol,
            "names no coding",
        ),
        (
            |_| Reply { status: 502, fields: vec![("content-type", "text/html")], ..right() },
            ErrorClass::UnexpectedStatus,
            "status 502",
        ),
    ];
    on_every_driver(|driver| {
        for (script, class, words) in cases {
            let server = served(script);
            // Few enough that the connection is not closed for the number of streams that are given up.
            let sum = run(&with_calls(closed(server.addr, driver, (1, 2), 8)));
            assert_eq!(ends(&sum), [8, 0, 8, 0], "{driver:?} {words}");
            assert_eq!(failed(&sum, class), 8, "{driver:?} {words}: {:?}", sum.examples);
            let texts = &sum.examples[&class];
            assert!(texts.iter().all(|text| text.contains(words)), "{driver:?}: {texts:?}");
        }
    });
}

#[test]
fn an_answer_that_is_not_grpc_is_given_up_at_once() {
    on_every_driver(|driver| {
        let script = |_| Reply {
            fields: vec![("content-type", "text/html")],
            body: vec![b"<html>".repeat(2_500)],
            is_endless: true,
            ..right()
        };
        let server = served(script);
        let sum = run(&with_calls(closed(server.addr, driver, (1, 2), 8)));
        assert_eq!(ends(&sum), [8, 0, 8, 0], "{driver:?}");
        assert_eq!(failed(&sum, ErrorClass::Protocol), 8, "{driver:?}: {:?}", sum.examples);
        assert!(sum.examples[&ErrorClass::Protocol][0].contains("application/grpc"));
    });
}

#[test]
fn a_server_that_is_silent_beyond_the_deadline_fails_as_exceeded() {
    on_every_driver(|driver| {
        let server = served(|_| Reply { is_open: true, ..right() });
        let mut job = closed(server.addr, driver, (1, 4), 8);
        let mut call =
            entry(CallPlan { status: vec![0], deadline_ns: Some(50_000_000), ..CallPlan::default() });
        call.timeout_ns = Some(70_000_000);
        job.traffic = traffic(call);
        let sum = run(&job);
        assert_eq!(ends(&sum), [8, 0, 8, 0], "{driver:?}");
        assert_eq!(failed(&sum, ErrorClass::GrpcDeadlineExceeded), 8, "{driver:?}: {:?}", sum.examples);
    });
}

#[test]
fn messages_are_rendered_for_each_call() {
    let part = ValuePart {
        field: 1,
        kind: ScalarKind::Int64,
        text: "${counter() * 0 + 300}".into(),
        names: BTreeMap::new(),
    };
    on_every_driver(|driver| {
        let server = served(|_| right());
        let mut job = closed(server.addr, driver, (2, 10), 500);
        let message = Some(vec![MessagePart::Value(part.clone())]);
        job.traffic = traffic(entry(CallPlan { status: vec![0], message, ..CallPlan::default() }));
        assert_eq!(ends(&run(&job)), [500, 500, 0, 0], "{driver:?}");
        assert_eq!(*server.seen.last_body.lock().unwrap(), b"\0\0\0\0\x03\x08\xac\x02");
    });
}

#[test]
fn messages_are_held_against_their_checks() {
    let check = |value: u8| MessageCheck {
        name: format!("message_equals /n = {value}"),
        path: vec![(1, 0)],
        kind: Some(ScalarKind::Int32),
        expected: Some(Encoded(vec![8, value])),
    };
    on_every_driver(|driver| {
        for (value, completed) in [(1, 66), (2, 33)] {
            // Places are used again: nothing of the message before must be left.
            let server = served(|number| match number % 3 {
                0 => Reply { body: vec![b"\0\0\0\0\x02\x08\x02".to_vec()], ..right() },
                _ => right(),
            });
            let mut job = closed(server.addr, driver, (1, 4), 99);
            job.traffic = traffic(entry(CallPlan {
                status: vec![0],
                checks: vec![check(value)],
                ..CallPlan::default()
            }));
            let sum = run(&job);
            assert_eq!(ends(&sum), [99, completed, 99 - completed, 0], "{driver:?} {value}");
            assert_eq!(failed(&sum, ErrorClass::Check), 99 - completed);
        }
    });
}

#[test]
fn a_value_of_a_message_goes_into_the_next_call() {
    // The first call of each session is answered with its number as the field 2 of the field 1.
    let script = |number: u64| Reply {
        body: vec![[&[0, 0, 0, 0, 4, 0x0a, 2, 0x10][..], &[(number % 100) as u8]].concat()],
        ..right()
    };
    let capture = MessageCapture {
        name: "id".into(),
        path: vec![(1, 0), (2, 0)],
        kind: ScalarKind::Int64,
        names: BTreeMap::new(),
        implied: true,
        default: None,
    };
    let part = MessagePart::Value(ValuePart {
        field: 1,
        kind: ScalarKind::String,
        text: "<${id}>".into(),
        names: BTreeMap::new(),
    });
    on_every_driver(|driver| {
        let mut first = entry(CallPlan { captures: vec![capture.clone()], ..CallPlan::default() });
        first.capture.insert("id".into(), Capture { message: Some("/a/b".into()), ..Capture::default() });
        let mut second = entry(CallPlan { message: Some(vec![part.clone()]), ..CallPlan::default() });
        (second.name, second.is_template) = ("second".into(), true);
        let session = SessionPlan { steps: vec![0, 1], ..SessionPlan::default() };
        let scenario = ScenarioPlan {
            name: "calls".into(),
            requests: vec![first, second],
            session: Some(session),
            ..ScenarioPlan::default()
        };
        let server = served(script);
        let mut job = closed(server.addr, driver, (1, 1), 100);
        job.traffic = Traffic::new(&scenario, "h", units::Seed(1), &[]).unwrap();
        let sum = run(&job);
        assert_eq!(ends(&sum), [200, 200, 0, 0], "{driver:?} {:?}", sum.examples);
        assert_eq!(*server.seen.last_body.lock().unwrap(), b"\0\0\0\0\x06\x0a\x04<99>", "{driver:?}");
    });
}

#[test]
fn a_message_without_the_value_is_a_failed_check() {
    on_every_driver(|driver| {
        let server = served(|_| right());
        let capture = MessageCapture {
            name: "id".into(),
            path: vec![(5, 0)],
            kind: ScalarKind::String,
            names: BTreeMap::new(),
            implied: false,
            default: None,
        };
        let mut plan = entry(CallPlan { captures: vec![capture], ..CallPlan::default() });
        plan.capture.insert("id".into(), Capture { message: Some("/e".into()), ..Capture::default() });
        let mut job = closed(server.addr, driver, (1, 1), 10);
        job.traffic = traffic(plan);
        let sum = run(&job);
        assert_eq!(failed(&sum, ErrorClass::Check), 10, "{driver:?}");
        assert_eq!(sum.examples[&ErrorClass::Check], ["capture id: message"]);
    });
}
