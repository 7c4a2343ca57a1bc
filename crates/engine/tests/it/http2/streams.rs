//! Streams of messages against a server of another make: counts equal on both sides, hostile ends have their class, and the
//! ledger of messages balances beside that of streams.

use super::calls::{entry, failed, traffic};
use super::server::{Server, Setup, Talk};
use super::{closed, ends, on_every_driver, open, run};
use engine::{IntervalData, Job, Timeline};
use schema::load::{ErrorClass, MessageTime};
use schema::plan::{CallPlan, DriverChoice, MessagePart, ScalarKind, StreamPlan, Streaming, ValuePart};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering::SeqCst;

const MS: u64 = 1_000_000;

fn served(talk: Talk) -> Server {
    Server::start(Setup { talk: Some(talk), ..Setup::default() })
}

fn stream(streaming: Streaming) -> StreamPlan {
    StreamPlan { streaming, ..StreamPlan::default() }
}

fn with_streams(mut job: Job, stream: StreamPlan) -> Job {
    job.traffic = traffic(entry(CallPlan { status: vec![0], stream: Some(stream), ..CallPlan::default() }));
    job
}

/// Scheduled, completed, failed and censored messages.
fn messages(sum: &IntervalData) -> [u64; 4] {
    let account = sum.counts.messages.measured;
    [account.scheduled, account.completed, account.failed, account.censored]
}

/// Messages that the server received and sent.
fn seen(server: &Server) -> [u64; 2] {
    [server.seen.messages.load(SeqCst), server.seen.said.load(SeqCst)]
}

/// How many times of each kind there are, but for the generator's own lateness.
fn times(sum: &IntervalData) -> [u64; 5] {
    const KINDS: [MessageTime; 5] = [
        MessageTime::Response,
        MessageTime::Service,
        MessageTime::SendLag,
        MessageTime::FirstMessage,
        MessageTime::Gap,
    ];
    KINDS.map(|time| sum.messages[time].len())
}

/// Messages whose own moment came while their stream was open.
fn noticed(sum: &IntervalData) -> u64 {
    sum.messages[MessageTime::PacerLag].len()
}

#[test]
fn messages_of_a_server_are_counted_as_it_counts_them() {
    on_every_driver(|driver| {
        for (shape, sent) in [((1, 1), 7), ((4, 10), 7), ((1, 5), 1000), ((2, 2), 0)] {
            let server = served(Talk::Sends(sent));
            let sum = run(&with_streams(closed(server.addr, driver, shape, 40), stream(Streaming::Server)));
            assert_eq!(ends(&sum), [40, 40, 0, 0], "{driver:?} {shape:?} {:?}", sum.examples);
            let all = 40 * u64::from(sent);
            assert_eq!((messages(&sum), seen(&server)), ([40, 40, 0, 0], [40, all]), "{driver:?}");
            assert_eq!(sum.counts.messages.received, all);
            let (first, lengths) = (if sent > 0 { 40 } else { 0 }, &sum.messages.per_stream);
            assert_eq!(times(&sum), [0, 0, 40, first, all - first], "{driver:?}");
            assert_eq!((lengths.len(), lengths.min(), lengths.max()), (40, sent.into(), sent.into()));
        }
    });
}

#[test]
fn messages_of_a_client_are_sent_and_answered_once() {
    on_every_driver(|driver| {
        for (shape, count) in [((1, 1), 1), ((2, 8), 5), ((1, 2), 20_000)] {
            let server = served(Talk::Collects);
            let plan = StreamPlan { messages: Some(count), ..stream(Streaming::Client) };
            let sum = run(&with_streams(closed(server.addr, driver, shape, 20), plan));
            let all = 20 * count;
            assert_eq!(ends(&sum), [20, 20, 0, 0], "{driver:?} {shape:?} {:?}", sum.examples);
            assert_eq!((messages(&sum), seen(&server)), ([all, all, 0, 0], [all, 20]), "{driver:?}");
            assert_eq!(times(&sum), [0, 0, all, 20, 0], "{driver:?}");
            assert_eq!(sum.messages.per_stream.min(), count);
        }
    });
}

#[test]
fn each_message_has_its_answer_where_both_sides_stream() {
    on_every_driver(|driver| {
        for (shape, count, in_flight) in
            [((1, 1), 30, None), ((2, 8), 25, Some(4)), ((1, 3), 500, Some(1000))]
        {
            let server = served(Talk::Echo);
            let plan = StreamPlan { messages: Some(count), in_flight, ..stream(Streaming::Both) };
            let sum = run(&with_streams(closed(server.addr, driver, shape, 24), plan));
            let all = 24 * count;
            assert_eq!(ends(&sum), [24, 24, 0, 0], "{driver:?} {shape:?} {:?}", sum.examples);
            assert_eq!((messages(&sum), seen(&server)), ([all, all, 0, 0], [all, all]), "{driver:?}");
            assert_eq!(times(&sum), [all, all, all, 24, all - 24], "{driver:?}");
            assert_eq!(noticed(&sum), 0, "without a rate no message has a moment of its own");
            assert_eq!(sum.counts.messages.unasked, 0);
        }
    });
}

/// Streams arrive by one schedule and messages by another; a message that is late is late, and none is left out.
#[test]
fn messages_keep_a_schedule_of_their_own() {
    on_every_driver(|driver| {
        for (streaming, talk) in [(Streaming::Both, Talk::Echo), (Streaming::Client, Talk::Collects)] {
            let server = served(talk);
            let plan = StreamPlan { messages: Some(10), rate_per_s: Some(200.0), ..stream(streaming) };
            let sum = run(&with_streams(closed(server.addr, driver, (2, 15), 60), plan));
            assert_eq!(ends(&sum), [60, 60, 0, 0], "{driver:?} {:?}", sum.examples);
            assert_eq!((messages(&sum), seen(&server)[0]), ([600, 600, 0, 0], 600), "{driver:?}");
            // All but the first of each stream, unless a stream was opened later than they were due.
            assert!((1..=540).contains(&noticed(&sum)), "{driver:?} {}", noticed(&sum));
            // Nine gaps of 5 ms, whatever the machine: a stream cannot end earlier.
            assert!(sum.times[schema::load::Time::Response].min() >= 44 * MS, "{driver:?}");
            // A busy machine may be late, and what is due then is censored, not left out.
            let sum = run(&with_streams(open(server.addr, driver, (2, 50), 60), plan));
            let [scheduled, completed, failed, censored] = ends(&sum);
            assert_eq!((scheduled, failed, completed + censored), (60, 0, 60), "{driver:?}");
            let account = sum.counts.messages.measured;
            assert!(account.balances() && account.scheduled >= completed * 10, "{driver:?} {account:?}");
        }
    });
}

#[test]
fn a_stream_ends_with_its_time() {
    on_every_driver(|driver| {
        let server = served(Talk::Echo);
        let plan = StreamPlan { lasts_ns: Some(20 * MS), ..stream(Streaming::Both) };
        let sum = run(&with_streams(closed(server.addr, driver, (1, 4), 12), plan));
        let [scheduled, completed, failed, censored] = messages(&sum);
        assert_eq!((ends(&sum), failed, censored), ([12, 12, 0, 0], 0, 0), "{driver:?} {:?}", sum.examples);
        assert_eq!((scheduled, seen(&server)), (completed, [completed, completed]), "{driver:?}");
        assert!(sum.times[schema::load::Time::Response].min() >= 19 * MS, "{driver:?}");
        let plan = StreamPlan { rate_per_s: Some(500.0), ..plan };
        let server = served(Talk::Echo);
        let sum = run(&with_streams(closed(server.addr, driver, (1, 4), 12), plan));
        assert_eq!((messages(&sum), seen(&server)), ([120, 120, 0, 0], [120, 120]), "{driver:?}");
    });
}

#[test]
fn messages_over_the_limit_wait_and_are_counted() {
    on_every_driver(|driver| {
        let server = served(Talk::Echo);
        // Due a thousand times faster than answers can come one by one.
        let plan = StreamPlan {
            messages: Some(200),
            rate_per_s: Some(1e7),
            in_flight: Some(1),
            ..stream(Streaming::Both)
        };
        let sum = run(&with_streams(closed(server.addr, driver, (1, 1), 2), plan));
        assert_eq!((messages(&sum), seen(&server)), ([400, 400, 0, 0], [400, 400]), "{driver:?}");
        assert!(sum.counts.messages.measured.queued > 300, "{:?}", sum.counts.messages);
    });
}

#[test]
fn messages_of_streams_that_fail_fail() {
    on_every_driver(|driver| {
        let plan = StreamPlan { messages: Some(5), ..stream(Streaming::Both) };
        let server = served(Talk::ResetsAfter(2));
        let sum = run(&with_streams(closed(server.addr, driver, (1, 2), 10), plan));
        assert_eq!(ends(&sum), [10, 0, 10, 0], "{driver:?}");
        assert_eq!(failed(&sum, ErrorClass::StreamReset), 10, "{driver:?}");
        // Two were answered, the third was reset, and the rest never came up.
        assert_eq!((messages(&sum), seen(&server)), ([30, 20, 10, 0], [30, 20]), "{driver:?}");

        let server = served(Talk::Cut);
        let sum = run(&with_streams(closed(server.addr, driver, (1, 2), 6), plan));
        assert_eq!(failed(&sum, ErrorClass::Protocol), 6, "{driver:?}");
        assert_eq!(messages(&sum), [6, 0, 6, 0], "{driver:?}");
    });
}

#[test]
fn messages_without_an_answer_fail_though_their_stream_ends_well() {
    on_every_driver(|driver| {
        let plan = StreamPlan { messages: Some(6), in_flight: Some(6), ..stream(Streaming::Both) };
        let server = served(Talk::EndsAfter(2));
        let sum = run(&with_streams(closed(server.addr, driver, (1, 2), 10), plan));
        assert_eq!(ends(&sum), [10, 10, 0, 0], "{driver:?} {:?}", sum.examples);
        let account = sum.counts.messages.measured;
        assert_eq!((account.completed, account.unanswered), (20, account.failed), "{driver:?}");
        assert!(account.balances() && account.failed > 0, "{driver:?} {account:?}");
    });
}

#[test]
fn answers_to_nothing_are_counted_apart() {
    on_every_driver(|driver| {
        let server = served(Talk::Twice);
        let plan = StreamPlan { messages: Some(3), in_flight: Some(3), ..stream(Streaming::Both) };
        let sum = run(&with_streams(closed(server.addr, driver, (1, 1), 4), plan));
        assert_eq!((messages(&sum), seen(&server)), ([12, 12, 0, 0], [12, 24]), "{driver:?}");
        assert_eq!((sum.counts.messages.received, sum.counts.messages.unasked), (24, 12), "{driver:?}");
    });
}

fn impatient(mut job: Job, ms: u64) -> Job {
    job.load.timeout_ns = ms * MS;
    job
}

#[test]
fn a_stream_that_says_nothing_is_overdue() {
    on_every_driver(|driver| {
        for plan in [
            StreamPlan { messages: Some(3), in_flight: Some(2), ..stream(Streaming::Both) },
            StreamPlan { messages: Some(100), rate_per_s: Some(1000.0), ..stream(Streaming::Both) },
            stream(Streaming::Server),
            StreamPlan { messages: Some(3), ..stream(Streaming::Client) },
        ] {
            let server = served(Talk::Silent);
            let job = closed(server.addr, driver, (1, 2), 6);
            let sum = run(&impatient(with_streams(job, plan), 40));
            assert_eq!(failed(&sum, ErrorClass::Timeout), 6, "{driver:?} {plan:?} {:?}", sum.examples);
            let account = sum.counts.messages.measured;
            assert_eq!((account.overdue, account.failed), (account.scheduled, account.scheduled));
        }
    });
}

/// A time-out begins again with each message, so a stream may last longer than it.
#[test]
fn a_stream_that_goes_on_is_not_overdue() {
    on_every_driver(|driver| {
        let server = served(Talk::Echo);
        let plan = StreamPlan { messages: Some(12), rate_per_s: Some(50.0), ..stream(Streaming::Both) };
        let job = closed(server.addr, driver, (1, 2), 2);
        let sum = run(&impatient(with_streams(job, plan), 150));
        assert_eq!((ends(&sum), messages(&sum)), ([2, 2, 0, 0], [24, 24, 0, 0]), "{driver:?}");
    });
}

/// What goes on when the load ends is censored: streams and the messages on their way.
#[test]
fn streams_that_outlast_the_load_are_censored() {
    on_every_driver(|driver| {
        let brief = |driver: DriverChoice, server: &Server| {
            let mut job = open(server.addr, driver, (1, 4), 4);
            job.timeline = Timeline::for_samples(200 * MS, 1, 100 * MS);
            (job.load.model, job.load.rate_per_s, job.load.arrivals) =
                (schema::experiment::LoadModel::Closed, None, None);
            job.requests_max = None;
            job
        };
        let server = served(Talk::Endless);
        let sum = run(&with_streams(brief(driver, &server), stream(Streaming::Server)));
        assert_eq!((ends(&sum), messages(&sum)), ([4, 0, 0, 4], [4, 0, 0, 4]), "{driver:?}");
        assert!(sum.counts.messages.received <= seen(&server)[1], "{driver:?}");

        let server = served(Talk::Silent);
        let plan =
            StreamPlan { messages: Some(1_000_000), rate_per_s: Some(1000.0), ..stream(Streaming::Both) };
        let sum = run(&with_streams(brief(driver, &server), plan));
        let [scheduled, completed, failed, censored] = messages(&sum);
        assert_eq!((ends(&sum), completed, failed), ([4, 0, 0, 4], 0, 0), "{driver:?}");
        // Four streams of 200 ms with a message each millisecond, whether they were sent or not.
        assert_eq!((scheduled, censored), (800, 800), "{driver:?}");
    });
}

#[test]
fn streams_that_a_leaving_server_has_not_taken_begin_again() {
    on_every_driver(|driver| {
        let setup = Setup { talk: Some(Talk::Echo), leaves_after: Some(5), ..Setup::default() };
        let server = Server::start(setup);
        let plan = StreamPlan { messages: Some(8), in_flight: Some(2), ..stream(Streaming::Both) };
        let sum = run(&with_streams(closed(server.addr, driver, (2, 4), 40), plan));
        let [_, completed, failed, _] = ends(&sum);
        assert_eq!(completed + failed, 40, "{driver:?} {:?}", sum.examples);
        let account = sum.counts.messages.measured;
        assert!(account.balances() && account.completed >= completed * 8, "{driver:?} {account:?}");
        assert!(sum.counts.streams.goaways > 0, "{driver:?}");
    });
}

#[test]
fn messages_are_rendered_one_by_one() {
    on_every_driver(|driver| {
        let server = served(Talk::Echo);
        let field = ValuePart {
            field: 1,
            kind: ScalarKind::String,
            text: "${hex(8)}".into(),
            names: BTreeMap::new(),
        };
        let call = CallPlan {
            status: vec![0],
            message: Some(vec![MessagePart::Value(field)]),
            stream: Some(StreamPlan { messages: Some(50), in_flight: Some(5), ..stream(Streaming::Both) }),
            ..CallPlan::default()
        };
        let mut job = closed(server.addr, driver, (1, 2), 10);
        job.traffic = traffic(entry(call));
        let sum = run(&job);
        assert_eq!((messages(&sum), seen(&server)), ([500, 500, 0, 0], [500, 500]), "{driver:?}");
    });
}

/// Windows of the server hold messages up, and none is lost or mangled.
#[test]
fn messages_wait_for_windows() {
    on_every_driver(|driver| {
        let setup = Setup { talk: Some(Talk::Echo), window: 100, ..Setup::default() };
        let server = Server::start(setup);
        let plan = StreamPlan { messages: Some(300), in_flight: Some(300), ..stream(Streaming::Both) };
        let sum = run(&with_streams(closed(server.addr, driver, (1, 3), 6), plan));
        assert_eq!((messages(&sum), seen(&server)), ([1800, 1800, 0, 0], [1800, 1800]), "{driver:?}");
        assert!(sum.counts.streams.stalls > 0);
    });
}
