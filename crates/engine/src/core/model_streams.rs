//! Connections with streams against a model: a peer that reads frames for itself, and sockets that cut every write and every
//! read where chance says.
//!
//! Holds for every course of events: each request reaches the peer whole and on a stream of its own; the peer is sent no more
//! than it allows; the accounts balance; a fair peer's load is completed to the last request, whatever windows, limits and
//! GOAWAY it has on the way. Absent on purpose: drivers and time-outs, which `tests/it/http2` tries on real sockets.

use super::carrier::State;
use super::model::origin;
use super::tape::Tape;
use super::{Behaviour, Core, Follow, Limits, Outgoing, Pacer, Parts};
use crate::book::Book;
use crate::control::{Control, Timeline};
use crate::driver::{Handler, Peer, Route, SlotId, Sockets};
use crate::failure::Failure;
use crate::hand_over::hand_over;
use crate::interval::{IntervalData, Page};
use crate::protocol::H2;
use pace::{Closed, Share};
use proptest::prelude::*;
use request::Traffic;
use schema::load::ErrorClass;
use schema::plan::{
    CallPlan, ConnectionPlan, EntryPlan, MessagePart, RequestPlan, ScalarKind, ScenarioPlan, StreamPlan,
    ValuePart,
};
use std::sync::mpsc::{Receiver, channel};
use units::{MonotonicClock, Nanos, Seed};
use wire::http2::Config;

/// Events of one course; a fair peer needs far fewer for the budgets below.
const EVENTS_MAX: usize = 200_000;
pub(super) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// NO_ERROR, INTERNAL_ERROR and REFUSED_STREAM.
const CODES: [u32; 3] = [0, 2, 7];
/// Header sections with status 307 and the Location `/h`, or none, as literals.
const REDIRECT: &[u8] = b"\x08\x03307\x0f\x1f\x02/h";
const REDIRECT_TO_NOWHERE: &[u8] = b"\x08\x03307";
/// Redirects of one course, less than a fair load follows of one request.
const REDIRECTS_MAX: u32 = 50;
const FOLLOWED_MAX: u32 = 100;

/// One course of events.
#[derive(Clone, Debug)]
pub(super) struct Course {
    pub(super) carriers: usize,
    pub(super) streams: u32,
    /// Streams that the peer allows.
    pub(super) granted: u32,
    /// Its first window of each stream.
    pub(super) window: u32,
    pub(super) body: usize,
    pub(super) requests_max: Option<u64>,
    /// Redirects of one request that are followed.
    pub(super) follow: Option<u32>,
    pub(super) budget: u64,
    pub(super) is_fair: bool,
    /// Chance, used in turn.
    pub(super) tape: Vec<u8>,
}

/// A request as the peer sees it.
#[derive(Clone, Copy, Debug)]
struct Stream {
    id: u32,
    body: usize,
    has_ended: bool,
    /// Bytes that its window lacks.
    owed: u32,
}

/// The peer's end of a connection.
#[derive(Default)]
struct Pipe {
    is_connecting: bool,
    is_open: bool,
    is_cut: bool,
    has_preface: bool,
    has_said: bool,
    input: Vec<u8>,
    output: Vec<u8>,
    streams: Vec<Stream>,
    owed: u32,
    /// The last stream that it takes, once it leaves.
    last: Option<u32>,
}

impl Pipe {
    /// Whether the peer or the system can still do something on it.
    fn can_go_on(&self) -> bool {
        let owes = self.owed > 0 || self.streams.iter().any(|stream| stream.has_ended || stream.owed > 0);
        self.is_connecting
            || self.is_cut
            || (self.is_open && (!self.has_said || !self.output.is_empty() || owes))
    }

    fn say(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        self.output.extend_from_slice(&(payload.len() as u32).to_be_bytes()[1..]);
        self.output.extend_from_slice(&[kind, flags]);
        self.output.extend_from_slice(&stream.to_be_bytes());
        self.output.extend_from_slice(payload);
    }
}

/// Sockets without a system below them.
struct Wire {
    pipes: Vec<Pipe>,
    course: Course,
    tape: Tape,
    /// Requests that were begun.
    begun: u64,
    /// Whether the fair peer has left once: what is put back then must not be put back again.
    has_left: bool,
    redirects: u32,
}

impl Wire {
    fn chance(&mut self, of: usize) -> usize {
        self.tape.chance(of)
    }

    /// The header section of an answer: now and then a redirect, where they are followed.
    fn head(&mut self, is_fair: bool) -> &'static [u8] {
        if self.course.follow.is_none() || self.redirects == REDIRECTS_MAX || self.chance(3) > 0 {
            return &[0x88];
        }
        self.redirects += 1;
        if !is_fair && self.chance(4) == 0 { REDIRECT_TO_NOWHERE } else { REDIRECT }
    }

    /// The peer reads what is whole.
    fn read(&mut self, slot: usize) {
        let (pipe, course) = (&mut self.pipes[slot], &self.course);
        if !pipe.has_preface {
            if pipe.input.len() < PREFACE.len() {
                return;
            }
            assert!(pipe.input.starts_with(PREFACE), "no preface");
            pipe.input.drain(..PREFACE.len());
            pipe.has_preface = true;
        }
        while let Some(&[l0, l1, l2, kind, flags, s0, s1, s2, s3]) = pipe.input.first_chunk() {
            let length = u32::from_be_bytes([0, l0, l1, l2]);
            let id = u32::from_be_bytes([s0, s1, s2, s3]);
            if pipe.input.len() < 9 + length as usize {
                return;
            }
            let payload: Vec<u8> = pipe.input.drain(..9 + length as usize).skip(9).collect();
            let has_ended = flags & 1 != 0;
            match kind {
                0 => {
                    assert!(payload.iter().all(|byte| *byte == b'x'), "a mangled body");
                    pipe.owed += length;
                    let Some(stream) = pipe.streams.iter_mut().find(|stream| stream.id == id) else {
                        continue;
                    };
                    stream.body += payload.len();
                    stream.owed += length;
                    stream.has_ended = has_ended;
                    assert!(!has_ended || stream.body == course.body, "a body of {} bytes", stream.body);
                }
                1 => {
                    self.begun += 1;
                    if pipe.last.is_none_or(|last| id <= last) {
                        pipe.streams.push(Stream { id, body: 0, has_ended, owed: 0 });
                        assert!(pipe.streams.len() <= course.granted.min(course.streams) as usize);
                    }
                }
                3 => pipe.streams.retain(|stream| stream.id != id),
                _ => {}
            }
        }
    }

    /// The peer does something on a connection that stands.
    fn act(&mut self, slot: usize, is_fair: bool) {
        let choice = self.chance(if is_fair { 5 } else { 7 });
        let (which, coin, code) = (self.chance(64), self.chance(2) == 0, CODES[self.chance(CODES.len())]);
        let (window, granted, head) = (self.course.window, self.course.granted, self.head(is_fair));
        let pipe = &mut self.pipes[slot];
        if !pipe.has_said {
            pipe.has_said = true;
            let mut settings = vec![0, 3];
            settings.extend(granted.to_be_bytes());
            settings.extend([0, 4]);
            settings.extend(window.to_be_bytes());
            return pipe.say(4, 0, 0, &settings);
        }
        let count = pipe.streams.len();
        let whole: Vec<usize> = (0..count).filter(|at| pipe.streams[*at].has_ended).collect();
        match choice {
            0 | 1 if !whole.is_empty() => {
                let stream = pipe.streams.remove(whole[which % whole.len()]);
                if coin {
                    return pipe.say(1, 5, stream.id, head);
                }
                pipe.say(1, 4, stream.id, head);
                pipe.say(0, 1, stream.id, b"ok");
            }
            2 if pipe.owed > 0 => {
                let owed = std::mem::take(&mut pipe.owed);
                pipe.say(8, 0, 0, &owed.to_be_bytes());
            }
            3 => {
                let owing = pipe.streams.iter_mut().find(|stream| !stream.has_ended && stream.owed > 0);
                // Never a byte at a time, which would take for ever.
                let owing = owing.map(|stream| (stream.id, std::mem::take(&mut stream.owed).max(1_000)));
                // A first window of nothing is opened here.
                let stuck =
                    pipe.streams.iter().find(|stream| !stream.has_ended).map(|stream| (stream.id, 1_000));
                if let Some((id, by)) = owing.or(stuck) {
                    pipe.say(8, 0, id, &by.to_be_bytes());
                }
            }
            4 if which == 0 && pipe.last.is_none() && !(is_fair && self.has_left) => {
                self.has_left = true;
                let code = if is_fair { 0 } else { code };
                let last = if coin { pipe.streams.first() } else { pipe.streams.last() };
                let last = last.map_or(0, |stream| stream.id);
                pipe.last = Some(last);
                pipe.streams.retain(|stream| stream.id <= last);
                pipe.say(7, 0, 0, &[last.to_be_bytes(), code.to_be_bytes()].concat());
            }
            5 if count > 0 => {
                let stream = pipe.streams.remove(which % count);
                pipe.say(3, 0, stream.id, &code.to_be_bytes());
            }
            // An answer before the request was read to its end.
            6 if count > 0 => {
                let stream = pipe.streams.remove(which % count);
                pipe.say(1, 5, stream.id, head);
            }
            _ => {}
        }
    }
}

impl Sockets for Wire {
    fn connect(&mut self, slot: SlotId, _route: &Route) -> Result<(), Failure> {
        let pipe = &mut self.pipes[slot as usize];
        assert!(!pipe.is_open && !pipe.is_connecting, "slot {slot} is already open");
        *pipe = Pipe { is_connecting: true, ..Pipe::default() };
        Ok(())
    }

    fn send(&mut self, slot: SlotId, bytes: &[u8]) -> Result<usize, Failure> {
        assert!(!bytes.is_empty(), "a send of nothing");
        assert!(self.pipes[slot as usize].is_open, "a send on slot {slot}, which is not connected");
        let taken = self.tape.taken(bytes.len());
        let pipe = &mut self.pipes[slot as usize];
        pipe.is_cut = taken < bytes.len();
        pipe.input.extend_from_slice(&bytes[..taken]);
        self.read(slot as usize);
        Ok(taken)
    }

    fn generation(&self, _: SlotId) -> u32 {
        // Nothing lies between these sockets and the core that would ask.
        0
    }

    fn close(&mut self, slot: SlotId) {
        self.pipes[slot as usize] = Pipe::default();
    }
}

/// What is sent: rendered for each request, or always the same.
fn traffic(is_template: bool, body: usize) -> Traffic {
    let path = if is_template { "/${counter()}" } else { "/static" };
    let request =
        RequestPlan { method: "POST".into(), path: path.into(), headers: vec![], body: vec![b'x'; body] };
    let entry = EntryPlan { name: "one".into(), weight: 1.0, request, is_template, ..EntryPlan::default() };
    let scenario = ScenarioPlan { name: "test".into(), requests: vec![entry], ..ScenarioPlan::default() };
    Traffic::new(&scenario, "h", Seed(1), &[]).unwrap()
}

pub(super) fn core(course: &Course, traffic: Traffic) -> (Core<H2>, Receiver<Box<Page>>) {
    let (sender, intervals) = channel();
    let (hand_over, spares) = hand_over(move |data: Box<Page>| sender.send(data).expect("a reader"));
    drop(spares);
    let control = std::sync::Arc::new(Control::new());
    control.measure_from(0);
    // One interval, however long the test takes.
    let timeline = Timeline { interval_ns: 1 << 50, measured_intervals: u64::MAX, drain_ns: 1_000_000_000 };
    let framed = traffic.framed_by().unwrap();
    let forever = Nanos::from_secs(1000);
    let plan = ConnectionPlan { requests_max: course.requests_max, ..ConnectionPlan::default() };
    let core = Core::new(Parts {
        protocol: H2::new(Config { streams_max: course.streams, ..Config::default() }),
        book: Book::new(hand_over, control, timeline, false, traffic.results()),
        clock: MonotonicClock::starting_now(),
        routes: vec![vec![Route { peer: Peer::Inet(([127, 0, 0, 1], 1).into()), source: None, server: 0 }]],
        origins: vec![],
        names: None,
        outgoing: Outgoing::new(traffic, &framed, None, Seed(1), Share::WHOLE).unwrap(),
        users: course.carriers as u64,
        limits: Limits { connect: forever, response: forever, total: None, deadline: None },
        behaviour: Behaviour::new(&plan, false),
        follow: course.follow.map(|hops_max| Follow { hops_max, origin: origin() }),
        pacer: Pacer::Closed(Closed::new(Some(course.budget), Share::WHOLE)),
        connections: course.carriers,
        streams: course.streams as usize,
    });
    (core, intervals)
}

/// One event of the peer or of the system, chosen by chance.
fn happen(core: &mut Core<H2>, wire: &mut Wire, is_fair: bool) {
    let slot = wire.chance(wire.pipes.len());
    let id = slot as SlotId;
    if wire.pipes[slot].is_connecting {
        let is_refused = !is_fair && wire.chance(8) == 0;
        wire.pipes[slot].is_connecting = false;
        wire.pipes[slot].is_open = !is_refused;
        let refused = Err(Failure::new(ErrorClass::Refused));
        return core.connected(wire, id, if is_refused { refused } else { Ok(()) });
    }
    if !wire.pipes[slot].is_open {
        return;
    }
    match wire.chance(if is_fair { 12 } else { 32 }) {
        0..=3 if wire.pipes[slot].is_cut => {
            wire.pipes[slot].is_cut = false;
            core.writable(wire, id);
        }
        4..=7 if !wire.pipes[slot].output.is_empty() => {
            let length = wire.pipes[slot].output.len();
            let cut = if wire.chance(2) == 0 { length } else { wire.chance(length) + 1 };
            let part: Vec<u8> = wire.pipes[slot].output.drain(..cut).collect();
            core.received(wire, id, &part);
        }
        // Rarely, for each end costs a pause if it comes before SETTINGS.
        31 => core.ended(wire, id, None),
        _ => wire.act(slot, is_fair),
    }
}

/// Runs a course to its end and returns what the book says and how many requests the peer saw begin.
fn run(course: &Course) -> (IntervalData, u64) {
    let (mut core, intervals) = core(course, traffic(true, course.body));
    let mut wire = Wire {
        pipes: (0..core.carriers()).map(|_| Pipe::default()).collect(),
        course: course.clone(),
        tape: Tape::of(course.tape.clone()),
        begun: 0,
        has_left: false,
        redirects: 0,
    };
    core.start(&mut wire, MonotonicClock::starting_now());
    let mut left = EVENTS_MAX;
    while !core.is_spent() {
        assert!(left > 0, "the budget never ends: {course:?}, {} begun", wire.begun);
        if wire.pipes.iter().any(Pipe::can_go_on) {
            left -= 1;
            // Unfair for a while; in the end even this peer lets the load come to its end.
            happen(&mut core, &mut wire, course.is_fair || left < EVENTS_MAX / 2);
        } else {
            let rests = core.carriers.iter().any(|carrier| matches!(carrier.state, State::Paused { .. }));
            let waits = wire.pipes.iter().any(|pipe| pipe.streams.iter().any(|stream| !stream.has_ended));
            assert!(rests || waits, "nothing can go on: {course:?}");
            if waits {
                left -= 1;
                happen(&mut core, &mut wire, true);
            }
            std::thread::yield_now();
        }
        let now = core.now();
        core.dispatch_due(&mut wire, now);
        core.on_time(&mut wire, now);
    }
    core.book.end_with_budget();
    core.censor_rest();
    let now = core.now();
    core.book.finish(now);
    let mut sum = IntervalData::default();
    intervals.try_iter().for_each(|data| sum.merge(&data));
    (sum, wire.begun)
}

fn check(course: &Course) {
    let (sum, begun) = run(course);
    let (account, requeued) = (sum.counts.measured, sum.counts.streams.requeued);
    assert!(account.balances(), "{account:?}");
    assert_eq!(account.scheduled, course.budget, "{course:?}");
    let followed: u64 = sum.counts.redirects.by_status().values().sum();
    assert!(
        begun <= account.scheduled + requeued + followed,
        "{begun} begun, {account:?}, {requeued} requeued"
    );
    if course.is_fair {
        assert_eq!((account.failed_total(), account.censored), (0, 0), "{account:?} {course:?}");
        // One may have been put back before a byte of it was sent.
        let sent = course.budget + followed;
        assert!((sent..=sent + requeued).contains(&begun), "{begun}, {requeued}, {followed}");
    }
}

fn courses() -> impl Strategy<Value = Course> {
    let sizes = (1..4_usize, 1..12_u32, 1..12_u32, 0..400_u32, prop_oneof![Just(0), Just(50), Just(700)]);
    let rest = (prop::option::of(1..20_u64), prop::option::of(1..3_u32), 1..120_u64, any::<bool>());
    (sizes, rest, prop::collection::vec(any::<u8>(), 16..400)).prop_map(|(sizes, rest, tape)| {
        let (carriers, streams, granted, window, body) = sizes;
        let (requests_max, follow, budget, is_fair) = rest;
        let follow = follow.map(|hops| if is_fair { FOLLOWED_MAX } else { hops });
        Course { carriers, streams, granted, window, body, requests_max, follow, budget, is_fair, tape }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_or_mangled_whatever_the_peer_does(course in courses()) {
        check(&course);
    }
}

/// Sockets that take everything, and remember the streams of the requests that they took.
#[derive(Default)]
pub(super) struct Sink {
    pub(super) streams: Vec<u32>,
}

impl Sockets for Sink {
    fn connect(&mut self, _: SlotId, _: &Route) -> Result<(), Failure> {
        Ok(())
    }

    fn send(&mut self, _: SlotId, bytes: &[u8]) -> Result<usize, Failure> {
        let mut rest = bytes.strip_prefix(PREFACE).unwrap_or(bytes);
        while let Some(&[l0, l1, l2, kind, _, s0, s1, s2, s3]) = rest.first_chunk() {
            if kind == 1 {
                self.streams.push(u32::from_be_bytes([s0, s1, s2, s3]));
            }
            rest = &rest[9 + u32::from_be_bytes([0, l0, l1, l2]) as usize..];
        }
        Ok(bytes.len())
    }

    fn generation(&self, _: SlotId) -> u32 {
        0
    }

    fn close(&mut self, _: SlotId) {}
}

/// Answers all requests of the sink, by `answers` as memory.
fn answer_all(core: &mut Core<H2>, sink: &mut Sink, answers: &mut Vec<u8>) {
    answers.clear();
    for stream in sink.streams.drain(..) {
        answers.extend_from_slice(&[0, 0, 1, 1, 5]);
        answers.extend_from_slice(&stream.to_be_bytes());
        answers.push(0x88);
    }
    core.received(sink, 0, answers);
}

#[test]
fn warm_requests_and_their_answers_allocate_nothing() {
    for is_template in [false, true] {
        let course = Course {
            carriers: 1,
            streams: 10,
            granted: 10,
            window: 65_535,
            body: 100,
            requests_max: None,
            follow: None,
            budget: 1 << 40,
            is_fair: true,
            tape: vec![0],
        };
        let (mut core, _intervals) = core(&course, traffic(is_template, 0));
        let (mut sink, mut answers) = (Sink::default(), Vec::new());
        core.open_ahead(&mut sink, 0);
        core.connected(&mut sink, 0, Ok(()));
        core.received(&mut sink, 0, &[0, 0, 0, 4, 0, 0, 0, 0, 0]);
        core.start(&mut sink, MonotonicClock::starting_now());
        (0..1000).for_each(|_| answer_all(&mut core, &mut sink, &mut answers));
        assert_eq!(sink.streams.len(), 10);
        let counted = allocation_counter::measure(|| {
            (0..1000).for_each(|_| answer_all(&mut core, &mut sink, &mut answers));
        });
        // A time that is longer than all before may need a page of its tally.
        assert!(counted.count_total <= 16, "{} allocations for 10,000 requests", counted.count_total);
        assert_eq!(sink.streams.len(), 10);
    }
}

/// Calls of gRPC, with a message that is always the same or one that is rendered; of one message each way, or streams.
pub(super) fn calls_of(is_template: bool, stream: Option<StreamPlan>) -> Traffic {
    let field = ValuePart {
        field: 1,
        kind: ScalarKind::Int64,
        text: "${counter()}".into(),
        names: std::collections::BTreeMap::new(),
    };
    let message = is_template.then(|| vec![MessagePart::Value(field)]);
    let fields = [("content-type", "application/grpc"), ("te", "trailers")];
    let request = RequestPlan {
        method: "POST".into(),
        path: "/shop.Cart/Add".into(),
        headers: fields.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
        body: if is_template { Vec::new() } else { b"\0\0\0\0\x02\x08\x01".to_vec() },
    };
    let grpc = Some(CallPlan { status: vec![0], message, stream, ..CallPlan::default() });
    let entry = EntryPlan { name: "call".into(), weight: 1.0, request, grpc, ..EntryPlan::default() };
    let scenario = ScenarioPlan { name: "calls".into(), requests: vec![entry], ..ScenarioPlan::default() };
    Traffic::new(&scenario, "h", Seed(1), &[]).unwrap()
}

#[test]
fn warm_calls_and_their_answers_allocate_nothing() {
    // Written for stream 0; the streams are put in below.
    let frames = testkit::http2::call_answer(0, b"\x08\x01", "0");
    for is_template in [false, true] {
        let course = Course {
            carriers: 1,
            streams: 10,
            granted: 10,
            window: 65_535,
            body: 0,
            requests_max: None,
            follow: None,
            budget: 1 << 40,
            is_fair: true,
            tape: vec![0],
        };
        let (mut core, intervals) = core(&course, calls_of(is_template, None));
        let (mut sink, mut answers) = (Sink::default(), Vec::new());
        core.open_ahead(&mut sink, 0);
        core.connected(&mut sink, 0, Ok(()));
        core.received(&mut sink, 0, &[0, 0, 0, 4, 0, 0, 0, 0, 0]);
        core.start(&mut sink, MonotonicClock::starting_now());
        let mut round = || {
            answers.clear();
            // The peer gives back the window that messages take.
            answers.extend_from_slice(&[0, 0, 4, 8, 0, 0, 0, 0, 0, 0, 0, 1, 0]);
            for stream in sink.streams.drain(..) {
                let mut at = answers.len();
                answers.extend_from_slice(&frames);
                while at < answers.len() {
                    answers[at + 5..at + 9].copy_from_slice(&stream.to_be_bytes());
                    at += 9 + u32::from_be_bytes([0, answers[at], answers[at + 1], answers[at + 2]]) as usize;
                }
            }
            core.received(&mut sink, 0, &answers);
        };
        (0..1000).for_each(|_| round());
        let counted = allocation_counter::measure(|| (0..1000).for_each(|_| round()));
        // Times that are longer than all before need pages of their tallies, a few dozen on a busy machine.
        assert!(counted.count_total <= 100, "{} allocations for 10,000 calls", counted.count_total);
        assert_eq!(sink.streams.len(), 10, "all were answered, and the next are sent");
        drop(intervals);
    }
}
