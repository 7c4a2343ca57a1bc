//! The state machine of slots against a model: a peer that parses for itself what reaches it, and sockets that cut every
//! write and every read where chance says.
//!
//! Holds for every course of events: each request reaches the peer whole, once, and in the order of its connection;
//! the accounts balance; every answer that the peer gave and the engine took is a completed request; a budget is spent
//! exactly and comes to its end. Absent on purpose: drivers and time-outs, which `tests/it/load.rs` tries on real sockets.

use super::carrier::State;
use super::tape::Tape;
use super::{Behaviour, Core, Follow, Limits, Outgoing, Pacer, Parts};
use crate::book::Book;
use crate::control::{Control, Timeline};
use crate::driver::{Handler, Peer, Route, SlotId, Sockets};
use crate::failure::Failure;
use crate::hand_over::hand_over;
use crate::interval::{IntervalData, Page};
use crate::protocol::H1;
use crate::rows::{RowSource, rings_of};
use pace::{Closed, Share};
use proptest::prelude::*;
use request::script::{Script, ScriptError};
use request::{Check, Traffic};
use schema::load::ErrorClass;
use schema::plan::{ConnectionPlan, EntryPlan, RequestPlan, ScenarioPlan, SessionPlan};
use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, channel};
use units::{MonotonicClock, Nanos, Seed};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const LAST_ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok";
/// Events of one course; a fair peer needs far fewer for the budgets below.
const EVENTS_MAX: usize = 200_000;

/// What is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The same bytes over and over, with a body of this length.
    Static(usize),
    /// Rendered for each request, with a body of this length.
    Template(usize),
    /// A script's text of so many requests.
    Script { texts_of: usize, pauses: bool },
    /// A script that cannot make every third request.
    Throws,
    /// Two steps of a virtual user.
    Session,
}

/// One course of events.
#[derive(Clone, Debug)]
struct Course {
    kind: Kind,
    slots: usize,
    pipeline: u32,
    requests_max: Option<u64>,
    /// Redirects that are followed, and that the peer gives.
    follow: Option<u32>,
    budget: u64,
    /// Whether the peer behaves: no connection ends before its time.
    is_fair: bool,
    /// Chance, used in turn.
    tape: Vec<u8>,
}

/// The peer's end of a slot's connection.
#[derive(Default)]
struct Pipe {
    is_open: bool,
    is_connecting: bool,
    /// The engine waits to write on.
    is_cut: bool,
    /// Bytes that are not a whole request yet.
    partial: Vec<u8>,
    /// Whole requests without an answer.
    owed: usize,
    /// The request that is not whole yet has its answer already.
    is_answered_early: bool,
    /// Target of the last whole request.
    target: String,
    /// Answers on their way, with how many of their bytes are left in the first.
    answers: VecDeque<Vec<u8>>,
}

impl Pipe {
    /// Whether the peer or the system can still do something on it.
    fn can_go_on(&self) -> bool {
        self.is_connecting || self.is_cut || self.owed > 0 || !self.answers.is_empty()
    }
}

/// Sockets without a system below them.
struct Wire {
    pipes: Vec<Pipe>,
    tape: Tape,
    /// Numbers of the requests that the peer has read whole.
    seen: Vec<String>,
}

impl Wire {
    fn chance(&mut self, of: usize) -> usize {
        self.tape.chance(of)
    }

    /// The peer reads requests for itself: a head, and as many bytes as its Content-Length says.
    fn read(&mut self, slot: usize) {
        let pipe = &mut self.pipes[slot];
        while let Some(end) = pipe.partial.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8(pipe.partial[..end].to_vec()).expect("the head is text");
            let (line, fields) = head.split_once("\r\n").unwrap_or((&head, ""));
            assert!(line.ends_with(" HTTP/1.1") && line.starts_with("POST /"), "a mangled request: {line:?}");
            let length: usize = fields
                .lines()
                .find_map(|field| field.strip_prefix("Content-Length: "))
                .map_or(0, |text| text.parse().expect("a length"));
            if pipe.partial.len() < end + 4 + length {
                return;
            }
            let body: Vec<u8> = pipe.partial.drain(..end + 4 + length).skip(end + 4).collect();
            assert!(body.iter().all(|byte| *byte == b'x'), "a mangled body");
            pipe.target = line[5..line.len() - 9].to_owned();
            self.seen.push(line.to_owned());
            pipe.owed += usize::from(!std::mem::take(&mut pipe.is_answered_early));
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
        pipe.partial.extend_from_slice(&bytes[..taken]);
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

/// Numbers its requests; see [`Kind`].
struct Numbers {
    next: u64,
    texts_of: usize,
    pauses: bool,
    throws: bool,
}

impl Script for Numbers {
    fn request(&mut self, out: &mut Vec<u8>) -> Result<(), ScriptError> {
        self.next += 1;
        if self.throws && self.next.is_multiple_of(3) {
            return Err(ScriptError { file: "s".into(), line: None, message: "thrown".into() });
        }
        for part in 0..self.texts_of {
            out.extend_from_slice(format!("POST /{}-{part} HTTP/1.1\r\n\r\n", self.next).as_bytes());
        }
        Ok(())
    }

    fn delay(&mut self) -> Result<Option<Nanos>, ScriptError> {
        Ok(self.pauses.then_some(Nanos(if self.next.is_multiple_of(2) { 0 } else { 2_000 })))
    }

    fn has_delay(&self) -> bool {
        self.pauses
    }

    fn wants_response(&self) -> bool {
        false
    }

    fn response(&mut self, _: u16, _: &[(String, String)], _: &[u8]) -> Result<(), ScriptError> {
        Ok(())
    }

    fn is_stopped(&self) -> bool {
        false
    }

    fn address(&self) -> Option<SocketAddr> {
        None
    }

    fn constant(&self) -> Option<&[u8]> {
        None
    }

    fn requests_in(&self, bytes: &[u8]) -> usize {
        bytes.windows(4).filter(|four| *four == b"\r\n\r\n").count()
    }
}

fn entry(name: &str, path: &str, body: usize) -> EntryPlan {
    let request =
        RequestPlan { method: "POST".into(), path: path.into(), headers: vec![], body: vec![b'x'; body] };
    EntryPlan { name: name.into(), weight: 1.0, request, is_template: true, ..EntryPlan::default() }
}

fn traffic(kind: Kind) -> Traffic {
    let plan = match kind {
        Kind::Static(body) => {
            let request = entry("one", "/static", body).request;
            return Traffic::single(&request, "h", Check::new(&[200], None)).unwrap();
        }
        Kind::Template(body) => vec![entry("one", "/${counter()}", body)],
        Kind::Session => vec![entry("one", "/a-${session()}", 0), entry("two", "/b-${session()}", 9)],
        Kind::Script { .. } | Kind::Throws => vec![entry("one", "/unused", 0)],
    };
    let mut scenario = ScenarioPlan { name: "test".into(), requests: plan, ..ScenarioPlan::default() };
    if kind == Kind::Session {
        scenario.session = Some(SessionPlan { steps: vec![0, 1], ..SessionPlan::default() });
    }
    Traffic::new(&scenario, "h", Seed(1), &[]).unwrap()
}

fn core(course: &Course) -> (Core<H1>, Receiver<Box<Page>>, RowSource) {
    let (sender, intervals) = channel();
    let (hand_over, spares) = hand_over(move |data: Box<Page>| sender.send(data).expect("a reader"));
    drop(spares);
    let control = std::sync::Arc::new(Control::new());
    control.measure_from(0);
    let timeline =
        Timeline { interval_ns: 1_000_000_000, measured_intervals: u64::MAX, drain_ns: 1_000_000_000 };
    let traffic = traffic(course.kind);
    let framed = traffic.framed().clone();
    let script: Option<Box<dyn Script>> = match course.kind {
        Kind::Script { texts_of, pauses } => {
            Some(Box::new(Numbers { next: 0, texts_of, pauses, throws: false }))
        }
        Kind::Throws => Some(Box::new(Numbers { next: 0, texts_of: 1, pauses: false, throws: true })),
        _ => None,
    };
    let (sinks, mut sources) = rings_of(1 << 12);
    let plan = ConnectionPlan {
        pipeline: course.pipeline,
        requests_max: course.requests_max,
        ..ConnectionPlan::default()
    };
    let core = Core::new(Parts {
        protocol: H1::new(course.pipeline),
        book: Book::new(hand_over, control, timeline, false, traffic.results()).with_rows(sinks.take()),
        clock: MonotonicClock::starting_now(),
        routes: vec![vec![Route { peer: Peer::Inet(([127, 0, 0, 1], 1).into()), source: None, server: 0 }]],
        origins: vec![],
        names: None,
        outgoing: Outgoing::new(traffic, &framed, script, Seed(1), Share::WHOLE).unwrap(),
        users: course.slots as u64,
        limits: Limits {
            connect: Nanos::from_secs(1000),
            response: Nanos::from_secs(1000),
            total: None,
            deadline: None,
        },
        behaviour: Behaviour::new(&plan, false),
        follow: course.follow.map(|hops_max| Follow { hops_max, origin: origin() }),
        pacer: Pacer::Closed(Closed::new(Some(course.budget), Share::WHOLE)),
        connections: course.slots,
        streams: 1,
    });
    (core, intervals, sources.remove(0))
}

/// Where hops may lead.
pub(super) fn origin() -> wire::Origin {
    wire::Origin { is_https: false, host: "h".to_owned(), port: 80 }
}

/// Marks the targets of hops.
const HOP: char = '~';

/// An answer to a request for `target`: a redirect now and then, where they are followed. A fair peer gives no more than
/// are, and leads to no other place.
fn answer(wire: &mut Wire, target: &str, follow: Option<u32>, is_fair: bool) -> Vec<u8> {
    let hops = target.matches(HOP).count() as u32;
    let is_last = follow.is_none_or(|max| is_fair && hops >= max);
    if is_last || wire.chance(3) > 0 {
        return ANSWER.to_vec();
    }
    let location = match wire.chance(if is_fair { 4 } else { 6 }) {
        0 | 1 => format!("{target}{HOP}"),
        2 => format!("//h{target}{HOP}"),
        3 => format!("./x/..{target}{HOP}#f"),
        4 => format!("http://other{target}"),
        _ => String::new(),
    };
    let end = if wire.chance(4) == 0 { "Connection: close\r\n" } else { "" };
    format!("HTTP/1.1 307 There\r\nLocation: {location}\r\n{end}Content-Length: 2\r\n\r\nno").into_bytes()
}

/// One event of the peer or of time, chosen by chance.
fn happen(core: &mut Core<H1>, wire: &mut Wire, course: &Course, is_fair: bool) {
    let slot = wire.chance(wire.pipes.len());
    let id = slot as SlotId;
    if wire.pipes[slot].is_connecting {
        let is_refused = !is_fair && wire.chance(8) == 0;
        wire.pipes[slot].is_connecting = false;
        wire.pipes[slot].is_open = !is_refused;
        let refused = || Failure::new(ErrorClass::Refused);
        return core.connected(wire, id, if is_refused { Err(refused()) } else { Ok(()) });
    }
    let choice = wire.chance(if is_fair { 6 } else { 9 });
    let pipe = &mut wire.pipes[slot];
    match choice {
        0 | 1 if pipe.is_cut => {
            pipe.is_cut = false;
            core.writable(wire, id);
        }
        2 | 3 if pipe.owed > 0 => {
            pipe.owed -= 1;
            let target = pipe.target.clone();
            let answer = answer(wire, &target, course.follow, is_fair);
            wire.pipes[slot].answers.push_back(answer);
        }
        6 if pipe.is_open => core.ended(wire, id, None),
        7 if pipe.owed > 0 => {
            pipe.owed -= 1;
            pipe.answers.push_back(LAST_ANSWER.to_vec());
        }
        // An answer before the request was read to its end.
        8 if pipe.is_open && !pipe.partial.is_empty() && pipe.owed == 0 && pipe.answers.is_empty() => {
            pipe.is_answered_early = true;
            pipe.answers.push_back(ANSWER.to_vec());
        }
        _ if pipe.is_open && !pipe.answers.is_empty() => {
            let all: Vec<u8> = pipe.answers.drain(..).flatten().collect();
            let cut = if wire.chance(2) == 0 { all.len() } else { wire.chance(all.len()) + 1 };
            wire.pipes[slot].answers.extend((cut < all.len()).then(|| all[cut..].to_vec()));
            core.received(wire, id, &all[..cut]);
        }
        _ => {}
    }
}

/// Runs a course to its end and returns what the book says and what the peer saw.
fn run(course: &Course) -> (IntervalData, Vec<String>) {
    let (mut core, intervals, mut rows) = core(course);
    let mut wire = Wire {
        pipes: (0..course.slots).map(|_| Pipe::default()).collect(),
        tape: Tape::of(course.tape.clone()),
        seen: Vec::new(),
    };
    core.start(&mut wire, MonotonicClock::starting_now());
    let mut left = EVENTS_MAX;
    while !core.is_spent() {
        assert!(left > 0, "the budget never ends: {course:?}, {} seen", wire.seen.len());
        if wire.pipes.iter().any(Pipe::can_go_on) {
            left -= 1;
            // Unfair for a while; in the end even this peer lets the load come to its end.
            happen(&mut core, &mut wire, course, course.is_fair || left < EVENTS_MAX / 2);
        } else {
            let rests = core.carriers.iter().any(|carrier| matches!(carrier.state, State::Paused { .. }));
            assert!(rests || core.next_intended().is_some(), "nothing can go on: {course:?}");
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
    let mut ended = 0;
    while rows.take(|_| ended += 1) > 0 {}
    assert_eq!(ended, sum.counts.measured.scheduled, "a row for each request: {course:?}");
    (sum, wire.seen)
}

fn check(course: &Course) {
    let (sum, seen) = run(course);
    let (hops, seen): (Vec<_>, Vec<_>) = seen.into_iter().partition(|line| line.contains(HOP));
    let followed: u64 = sum.counts.redirects.by_status().values().sum();
    assert!(hops.len() as u64 <= followed, "{} hops seen of {followed}", hops.len());
    let account = sum.counts.measured;
    assert!(account.balances(), "{account:?}");
    let counted = match course.kind {
        // A text that is begun is sent whole, on every connection that had begun one.
        Kind::Script { texts_of, .. } => {
            let begun = course.slots as u64 * u64::from(course.pipeline);
            course.budget..course.budget + 1 + begun * (texts_of as u64 - 1)
        }
        _ => course.budget..course.budget + 1,
    };
    let sessions = sum.sessions.account;
    match course.kind {
        Kind::Session => {
            assert_eq!(sessions.started, course.budget, "{course:?}");
            assert_eq!(sessions.started, sessions.completed + sessions.failed + sessions.censored);
        }
        _ => assert!(counted.contains(&account.scheduled), "{account:?} of {}", course.budget),
    }
    let mut times: BTreeMap<&str, u32> = BTreeMap::new();
    seen.iter().chain(&hops).for_each(|line| *times.entry(line).or_default() += 1);
    if !matches!(course.kind, Kind::Static(_)) {
        assert!(times.values().all(|times| *times == 1), "sent twice: {times:?}");
    }
    assert!(seen.len() as u64 <= account.scheduled, "{} seen, {account:?}", seen.len());
    if course.is_fair && course.kind != Kind::Throws {
        assert_eq!((account.failed_total(), account.censored), (0, 0), "{account:?}");
        assert_eq!(seen.len() as u64, account.completed);
        assert_eq!(hops.len() as u64, followed);
        assert_eq!(sessions.completed, sessions.started);
    }
}

fn kinds() -> impl Strategy<Value = Kind> {
    prop_oneof![
        Just(Kind::Static(0)),
        Just(Kind::Static(3_000)),
        Just(Kind::Template(0)),
        Just(Kind::Template(700)),
        (1..4_usize, any::<bool>()).prop_map(|(texts_of, pauses)| Kind::Script { texts_of, pauses }),
        Just(Kind::Throws),
        Just(Kind::Session),
    ]
}

fn courses() -> impl Strategy<Value = Course> {
    let max = (prop::option::of(1..20_u64), prop::option::of(1..5_u32));
    let limits = (1..4_usize, 1..=16_u32, max, 1..120_u64, any::<bool>());
    (kinds(), limits, prop::collection::vec(any::<u8>(), 16..400)).prop_map(|(kind, limits, tape)| {
        let (slots, pipeline, (requests_max, follow), budget, is_fair) = limits;
        let kind = match kind {
            // More than one at a time cannot be followed.
            Kind::Script { pauses, .. } if follow.is_some() => Kind::Script { texts_of: 1, pauses },
            kind => kind,
        };
        Course { follow, kind, slots, pipeline, requests_max, budget, is_fair, tape }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_sent_twice_or_mangled_whatever_the_sockets_do(course in courses()) {
        check(&course);
    }
}
