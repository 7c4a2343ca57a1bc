//! Messages on streams against a model: a peer that answers, ends, resets and leaves where chance says, and sockets that cut
//! every write and every read.
//!
//! Holds for every course of events: the ledger of messages balances beside that of streams (asserted by the book); no message
//! is sent over its limit; a fair peer gets every message and its answers are all matched. Absent on purpose: schedules in
//! time, which `tests/http2/streams.rs` tries with real clocks.

use super::carrier::State;
use super::model_streams::{Course, PREFACE, Sink, calls_of, core};
use super::tape::Tape;
use crate::driver::{Handler, Route, SlotId, Sockets};
use crate::failure::Failure;
use crate::interval::IntervalData;
use crate::protocol::H2;
use proptest::prelude::*;
use schema::plan::{StreamPlan, Streaming};
use units::MonotonicClock;

/// Bytes of each message with its prefix.
const MESSAGE_BYTES: usize = 7;
const EVENTS_MAX: usize = 200_000;

/// Header section, message and trailers of an answer, for stream 0.
fn frames() -> [Vec<u8>; 3] {
    let all = testkit::http2::call_answer(0, b"\x08\x01", "0");
    let mut rest = &all[..];
    std::array::from_fn(|_| {
        let (frame, behind) = rest.split_at(9 + u32::from_be_bytes([0, rest[0], rest[1], rest[2]]) as usize);
        rest = behind;
        frame.to_vec()
    })
}

#[derive(Clone, Copy, Debug)]
struct Stream {
    id: u32,
    bytes: usize,
    answered: usize,
    has_ended: bool,
    has_head: bool,
    owed: u32,
}

impl Stream {
    const fn messages(&self) -> usize {
        self.bytes / MESSAGE_BYTES
    }
}

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
    has_left: bool,
}

impl Pipe {
    fn say(&mut self, kind: u8, stream: u32, payload: &[u8]) {
        self.output.extend_from_slice(&(payload.len() as u32).to_be_bytes()[1..]);
        self.output.extend_from_slice(&[kind, 0]);
        self.output.extend_from_slice(&stream.to_be_bytes());
        self.output.extend_from_slice(payload);
    }

    fn say_frame(&mut self, frame: &[u8], stream: u32) {
        let at = self.output.len();
        self.output.extend_from_slice(frame);
        self.output[at + 5..at + 9].copy_from_slice(&stream.to_be_bytes());
    }
}

struct Wire {
    pipes: Vec<Pipe>,
    plan: StreamPlan,
    window: u32,
    tape: Tape,
    frames: [Vec<u8>; 3],
    seen: u64,
    said: u64,
    has_left: bool,
}

impl Wire {
    fn read(&mut self, slot: usize) {
        let pipe = &mut self.pipes[slot];
        if !pipe.has_preface {
            if pipe.input.len() < PREFACE.len() {
                return;
            }
            pipe.input.drain(..PREFACE.len());
            pipe.has_preface = true;
        }
        while let Some(&[l0, l1, l2, kind, flags, s0, s1, s2, s3]) = pipe.input.first_chunk() {
            let length = u32::from_be_bytes([0, l0, l1, l2]);
            let id = u32::from_be_bytes([s0, s1, s2, s3]);
            if pipe.input.len() < 9 + length as usize {
                return;
            }
            pipe.input.drain(..9 + length as usize);
            match kind {
                0 => {
                    pipe.owed += length;
                    let Some(stream) = pipe.streams.iter_mut().find(|stream| stream.id == id) else {
                        continue;
                    };
                    let before = stream.messages();
                    stream.bytes += length as usize;
                    stream.owed += length;
                    stream.has_ended = flags & 1 != 0;
                    self.seen += (stream.messages() - before) as u64;
                    assert!(!stream.has_ended || stream.bytes.is_multiple_of(MESSAGE_BYTES), "a cut message");
                    assert!(stream.messages() as u64 <= self.plan.messages.unwrap_or(1), "{stream:?}");
                    if let Some(limit) = self.plan.in_flight {
                        // An unfair peer answers what was never sent.
                        assert!(stream.messages() <= stream.answered + limit as usize, "{stream:?}");
                    }
                }
                1 if !pipe.has_left => pipe.streams.push(Stream {
                    id,
                    bytes: 0,
                    answered: 0,
                    has_ended: flags & 1 != 0,
                    has_head: false,
                    owed: 0,
                }),
                3 => pipe.streams.retain(|stream| stream.id != id),
                _ => {}
            }
        }
    }

    /// The peer says one message more on a stream, with the header section before the first.
    fn answer(&mut self, slot: usize, at: usize) {
        let pipe = &mut self.pipes[slot];
        let Stream { id, has_head, .. } = pipe.streams[at];
        if !has_head {
            pipe.say_frame(&self.frames[0], id);
        }
        pipe.say_frame(&self.frames[1], id);
        (pipe.streams[at].has_head, pipe.streams[at].answered) = (true, pipe.streams[at].answered + 1);
        self.said += 1;
    }

    fn end(&mut self, slot: usize, at: usize) {
        let pipe = &mut self.pipes[slot];
        let stream = pipe.streams.remove(at);
        if !stream.has_head {
            pipe.say_frame(&self.frames[0], stream.id);
        }
        pipe.say_frame(&self.frames[2], stream.id);
    }

    /// Whether the peer owes an answer to a message.
    fn owes(&self, stream: &Stream) -> bool {
        match self.plan.streaming {
            Streaming::Both => stream.answered < stream.messages(),
            Streaming::Server => stream.has_ended && stream.answered < 3,
            Streaming::Client => stream.has_ended && stream.answered == 0,
        }
    }

    fn act(&mut self, slot: usize, is_fair: bool) {
        let (choice, which) = (self.tape.chance(if is_fair { 6 } else { 9 }), self.tape.chance(64));
        let window = self.window;
        let pipe = &mut self.pipes[slot];
        if !pipe.has_said {
            pipe.has_said = true;
            return pipe.say(4, 0, &[&[0, 4][..], &window.to_be_bytes()].concat());
        }
        let count = self.pipes[slot].streams.len();
        if count == 0 {
            return;
        }
        let at = which % count;
        let stream = self.pipes[slot].streams[at];
        match choice {
            0 | 1 if self.owes(&stream) => self.answer(slot, at),
            2 if stream.has_ended && !self.owes(&stream) => self.end(slot, at),
            3 | 4 => {
                let pipe = &mut self.pipes[slot];
                let owed = std::mem::take(&mut pipe.streams[at].owed).max(1_000);
                pipe.say(8, stream.id, &owed.to_be_bytes());
                let owed = std::mem::take(&mut pipe.owed);
                if owed > 0 {
                    pipe.say(8, 0, &owed.to_be_bytes());
                }
            }
            5 if which == 0 && !(is_fair && self.has_left) && !self.pipes[slot].has_left => {
                self.has_left = true;
                let pipe = &mut self.pipes[slot];
                pipe.has_left = true;
                // A fair peer has taken the streams on which it has said something.
                let begun = pipe.streams.iter().filter(|one| is_fair && one.has_head).map(|one| one.id);
                let last = begun.max().unwrap_or(0).max(stream.id);
                pipe.streams.retain(|one| one.id <= last);
                pipe.say(7, 0, &[last.to_be_bytes(), 0_u32.to_be_bytes()].concat());
            }
            6 => {
                let pipe = &mut self.pipes[slot];
                pipe.streams.remove(at);
                pipe.say(3, stream.id, &2_u32.to_be_bytes());
            }
            // An end before the messages are answered or sent, and an answer to nothing.
            7 => self.end(slot, at),
            8 => self.answer(slot, at),
            _ => {}
        }
    }
}

impl Sockets for Wire {
    fn connect(&mut self, slot: SlotId, _: &Route) -> Result<(), Failure> {
        self.pipes[slot as usize] = Pipe { is_connecting: true, ..Pipe::default() };
        Ok(())
    }

    fn send(&mut self, slot: SlotId, bytes: &[u8]) -> Result<usize, Failure> {
        let taken = self.tape.taken(bytes.len());
        let pipe = &mut self.pipes[slot as usize];
        pipe.is_cut = taken < bytes.len();
        pipe.input.extend_from_slice(&bytes[..taken]);
        self.read(slot as usize);
        Ok(taken)
    }

    fn generation(&self, _: SlotId) -> u32 {
        0
    }

    fn close(&mut self, slot: SlotId) {
        self.pipes[slot as usize] = Pipe::default();
    }
}

fn happen(core: &mut super::Core<H2>, wire: &mut Wire, is_fair: bool) {
    let slot = wire.tape.chance(wire.pipes.len());
    let id = slot as SlotId;
    if std::mem::take(&mut wire.pipes[slot].is_connecting) {
        wire.pipes[slot].is_open = true;
        return core.connected(wire, id, Ok(()));
    }
    if !wire.pipes[slot].is_open {
        return;
    }
    match wire.tape.chance(if is_fair { 12 } else { 200 }) {
        0..=3 if wire.pipes[slot].is_cut => {
            wire.pipes[slot].is_cut = false;
            core.writable(wire, id);
        }
        4..=7 if !wire.pipes[slot].output.is_empty() => {
            let length = wire.pipes[slot].output.len();
            let cut = if wire.tape.chance(2) == 0 { length } else { wire.tape.chance(length) + 1 };
            let part: Vec<u8> = wire.pipes[slot].output.drain(..cut).collect();
            core.received(wire, id, &part);
        }
        199 => core.ended(wire, id, None),
        _ => wire.act(slot, is_fair),
    }
}

fn run(course: &Course, plan: StreamPlan, stops_after: usize) -> (IntervalData, Wire) {
    let (mut core, intervals) = core(course, calls_of(false, Some(plan)));
    let mut wire = Wire {
        pipes: (0..core.carriers()).map(|_| Pipe::default()).collect(),
        plan,
        window: course.window,
        tape: Tape::of(course.tape.clone()),
        frames: frames(),
        seen: 0,
        said: 0,
        has_left: false,
    };
    core.start(&mut wire, MonotonicClock::starting_now());
    let mut left = EVENTS_MAX;
    while !core.is_spent() && left > EVENTS_MAX - stops_after {
        let is_fair = course.is_fair || left < EVENTS_MAX / 2;
        let rests = core.carriers.iter().any(|carrier| matches!(carrier.state, State::Paused { .. }));
        if rests {
            std::thread::yield_now();
        }
        // A pause takes its time, in which a fair peer may have nothing to do.
        left -= usize::from(!(rests && is_fair));
        happen(&mut core, &mut wire, is_fair);
        let now = core.now();
        core.dispatch_due(&mut wire, now);
        core.on_time(&mut wire, now);
    }
    if stops_after == EVENTS_MAX {
        assert!(core.is_spent(), "the budget never ends: {course:?} {plan:?}");
    }
    let now = core.now();
    core.book.cut(now);
    core.begin_drain(now);
    core.censor_rest();
    core.book.finish(now);
    let mut sum = IntervalData::default();
    intervals.try_iter().for_each(|data| sum.merge(&data));
    (sum, wire)
}

fn check(course: &Course, plan: StreamPlan, stops_after: usize) {
    let (sum, wire) = run(course, plan, stops_after);
    let (streams, messages) = (sum.counts.measured, sum.counts.messages);
    let account = messages.measured;
    assert!(streams.balances() && account.balances(), "{streams:?} {account:?}");
    assert!(messages.received <= wire.said, "{messages:?} {}", wire.said);
    if course.is_fair && stops_after == EVENTS_MAX {
        let all = course.budget * plan.messages.unwrap_or(1);
        assert_eq!((streams.completed, account.completed), (course.budget, all), "{course:?} {plan:?}");
        assert_eq!((account.failed, account.censored, messages.unasked), (0, 0, 0));
        assert!(wire.has_left || wire.seen == all, "{} seen of {all}", wire.seen);
        assert!(wire.has_left || wire.said == messages.received, "{messages:?} {}", wire.said);
    }
}

fn courses() -> impl Strategy<Value = (Course, StreamPlan, usize)> {
    let kind = prop_oneof![Just(Streaming::Server), Just(Streaming::Client), Just(Streaming::Both)];
    let plan = (kind, 1..20_u64, 1..6_u32).prop_map(|(streaming, messages, in_flight)| StreamPlan {
        streaming,
        messages: (streaming != Streaming::Server).then_some(messages),
        in_flight: (streaming == Streaming::Both).then_some(in_flight),
        ..StreamPlan::default()
    });
    let sizes = (1..3_usize, 1..6_u32, 0..60_u32, 1..20_u64, any::<bool>());
    let tape = prop::collection::vec(any::<u8>(), 16..400);
    let stops = prop_oneof![Just(EVENTS_MAX), 1..3_000_usize];
    (sizes, plan, tape, stops).prop_map(
        |((carriers, streams, window, budget, is_fair), plan, tape, stops)| {
            let (granted, body, requests_max) = (streams, 0, None);
            (
                Course {
                    carriers,
                    streams,
                    granted,
                    window,
                    body,
                    requests_max,
                    follow: None,
                    budget,
                    is_fair,
                    tape,
                },
                plan,
                stops,
            )
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_message_is_lost_whatever_the_peer_does((course, plan, stops) in courses()) {
        check(&course, plan, stops);
    }
}

#[test]
fn warm_messages_and_their_answers_allocate_nothing() {
    let plan = StreamPlan {
        streaming: Streaming::Both,
        messages: Some(1 << 40),
        in_flight: Some(4),
        ..StreamPlan::default()
    };
    let [head, message, _] = frames();
    for is_template in [false, true] {
        let course = Course {
            carriers: 1,
            streams: 10,
            granted: 10,
            window: 1 << 30,
            body: 0,
            requests_max: None,
            follow: None,
            budget: 1 << 40,
            is_fair: true,
            tape: vec![0],
        };
        let (mut core, _intervals) = core(&course, calls_of(is_template, Some(plan)));
        let mut sink = Sink::default();
        core.open_ahead(&mut sink, 0);
        core.connected(&mut sink, 0, Ok(()));
        core.received(&mut sink, 0, &[0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 4, 0x7f, 0xff, 0xff, 0xff]);
        core.received(&mut sink, 0, &[0, 0, 4, 8, 0, 0, 0, 0, 0, 0x70, 0, 0, 0]);
        core.start(&mut sink, MonotonicClock::starting_now());
        let streams: Vec<u32> = sink.streams.drain(..).collect();
        assert_eq!(streams.len(), 10);
        let to_all = |frame: &[u8]| -> Vec<u8> {
            let with = |stream: &u32| [&frame[..5], &stream.to_be_bytes(), &frame[9..]].concat();
            streams.iter().flat_map(with).collect()
        };
        core.received(&mut sink, 0, &to_all(&head));
        let answers = to_all(&message);
        (0..1000).for_each(|_| core.received(&mut sink, 0, &answers));
        let counted = allocation_counter::measure(|| {
            (0..1000).for_each(|_| core.received(&mut sink, 0, &answers));
        });
        // Times that are longer than all before need pages of their tallies.
        assert!(counted.count_total <= 100, "{} allocations for 10,000 messages", counted.count_total);
        assert!(core.book.messages_completed() >= 20_000);
    }
}
