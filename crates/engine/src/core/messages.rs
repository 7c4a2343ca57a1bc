//! Messages on open streams: each is sent when it is due and may be, and what a stream leaves behind is settled with it.
//!
//! A stream that may send stands in a list until the next flush, so that answers that came together cost one look. One with
//! times to keep stands in a queue of moments. A turn of one stream is bounded, so that none holds the others up.

use super::deadlines::Watched;
use super::dialogue::Dialogue;
use super::exchange::UNMADE_PAUSE;
use super::lanes::Waiting;
use super::outgoing::Unmade;
use super::place::{Phase, PlaceId};
use super::{Core, Stage};
use crate::book::{MessageEnd, SessionEnd};
use crate::driver::Sockets;
use crate::fate::Fate;
use crate::protocol::{Protocol, Put, Scope};
use schema::load::ErrorClass;
use units::{Clock, Nanos};

/// Messages that a stream sends in one turn.
const TURN_MAX: usize = 64;
/// A stream is looked at no later than this, so that few looks are void when it ends early.
const LOOK_MAX: Nanos = Nanos::SECOND;

impl<P: Protocol> Core<P> {
    /// The messages of a request that begins, if it is a stream: the first is due.
    #[inline]
    pub(super) fn begin_messages(&mut self, at: PlaceId, now: Nanos) {
        let place = &mut self.places[at];
        let Some(dialogue) = &mut place.dialogue else { return };
        let rule = self.outgoing.stream_rule(place.request.which.entry);
        dialogue.begin(rule, place.request.intended);
        dialogue.schedule_due(&mut self.book, now);
    }

    /// The stream of a place was put on its connection with its first message.
    #[inline]
    pub(super) fn stream_opened(&mut self, at: PlaceId, put: Put, now: Nanos) {
        let place = &mut self.places[at];
        let Some(dialogue) = place.dialogue.as_deref_mut().filter(|dialogue| dialogue.is_stream()) else {
            return;
        };
        let stream = self.protocol.last_stream(&self.carriers[place.carrier as usize].protocol);
        dialogue.opened(&mut self.book, stream, put == Put::Held, now);
        self.list_speaker(at);
    }

    /// The stream of a place may have something to send.
    #[inline]
    pub(super) fn list_speaker(&mut self, at: PlaceId) {
        if let Some(dialogue) = &mut self.places[at].dialogue
            && !std::mem::replace(&mut dialogue.is_listed, true)
        {
            self.speakers.push(at);
        }
    }

    /// Lets those streams send that may have something to send.
    #[inline]
    pub(super) fn speak_all<S: Sockets>(&mut self, sockets: &mut S) {
        while let Some(at) = self.speakers.pop() {
            let now = self.clock.now();
            if let Some(dialogue) = &mut self.places[at].dialogue {
                dialogue.is_listed = false;
            }
            self.speak(sockets, at, now);
        }
    }

    /// Streams that may send since the last look have their turn after the sockets: what is sent could else go on for ever.
    pub(super) fn put_off_speakers(&mut self) {
        while let Some(at) = self.speakers.pop() {
            let now = self.clock.now();
            if let Some(dialogue) = &mut self.places[at].dialogue {
                dialogue.is_listed = false;
                self.moments.queue(Watched::Place(at), &mut dialogue.watched, now);
            }
        }
    }

    /// Lets the stream send whose moment has come first.
    pub(super) fn speak_due<S: Sockets>(&mut self, sockets: &mut S, now: Nanos) {
        let Some((due, Watched::Place(at))) = self.moments.pop(now) else { return };
        let Some(dialogue) = &mut self.places[at].dialogue else { return };
        if dialogue.watched == due {
            dialogue.watched = super::dialogue::UNWATCHED;
            self.speak(sockets, at, now);
        }
    }

    /// Sends what is due on the stream of a place, as far as it may be.
    fn speak<S: Sockets>(&mut self, sockets: &mut S, at: PlaceId, now: Nanos) {
        if self.places[at].phase != Phase::Open || self.stage != Stage::Running || now >= self.book.end() {
            return;
        }
        for turn in 0..=TURN_MAX {
            let place = &mut self.places[at];
            let Some(dialogue) = &mut place.dialogue else { return };
            dialogue.notice_due(&mut self.book, now);
            let Some(intended) = dialogue.next(now) else { break };
            if turn == TURN_MAX {
                return self.moments.queue(Watched::Place(at), &mut dialogue.watched, now);
            }
            if let Err(error) = self.outgoing.make_message(place) {
                return self.unmade_message(sockets, at, &error, now);
            }
            self.put_message(at, intended, now);
        }
        self.end_turn(at, now);
    }

    /// Puts the next message of a stream, which is made, on its connection.
    #[inline]
    fn put_message(&mut self, at: PlaceId, intended: Nanos, now: Nanos) {
        let place = &mut self.places[at];
        let Some(dialogue) = &mut place.dialogue else { return };
        let Some(stream) = dialogue.stream() else { return };
        let bytes = self.outgoing.bytes(place.bytes, &place.rendered);
        let state = &mut self.carriers[place.carrier as usize].protocol;
        let put = self.protocol.put_more(state, at, stream, bytes, dialogue.ends_with_next());
        dialogue.put(&mut self.book, intended, put == Put::Held, now);
        let id = place.carrier;
        self.touch(id);
    }

    /// Closes a stream whose time is over, and has the others looked at when their next moment comes.
    fn end_turn(&mut self, at: PlaceId, now: Nanos) {
        let place = &mut self.places[at];
        let Some(dialogue) = &mut place.dialogue else { return };
        if let Some(stream) = dialogue.stream().filter(|_| dialogue.is_over(now)) {
            dialogue.end(now);
            let id = place.carrier;
            self.protocol.end_request(&mut self.carriers[id as usize].protocol, stream);
            return self.touch(id);
        }
        if let Some(moment) = dialogue.next_moment() {
            let moment = moment.min(now + LOOK_MAX);
            self.moments.queue(Watched::Place(at), &mut dialogue.watched, moment);
        }
    }

    /// A message could not be made: its stream fails, and nothing else.
    #[cold]
    fn unmade_message<S: Sockets>(&mut self, sockets: &mut S, at: PlaceId, error: &Unmade, now: Nanos) {
        let (id, seat) = (self.places[at].carrier, self.places.seat(at));
        let is_over = self.protocol.cancel(&mut self.carriers[id as usize].protocol, at) == Scope::Connection;
        self.forget_end(at);
        self.book.fail_with(
            Fate::of(&self.places[at].request),
            ErrorClass::Script,
            || self.outgoing.explain(error),
            now,
        );
        self.settle_messages(at, MessageEnd::Failed, now);
        self.places.free(at);
        self.end_session(seat, SessionEnd::Failed, now);
        self.touch(id);
        self.rest(sockets, seat, now + UNMADE_PAUSE);
        if is_over {
            let failure = crate::failure::Failure::said(ErrorClass::Script, "too many streams were given up");
            self.fail(sockets, id, failure, now);
        }
    }

    /// The request of a place has ended so: settles what its stream left behind.
    #[inline]
    pub(super) fn settle_messages(&mut self, at: PlaceId, end: MessageEnd, now: Nanos) {
        if P::HAS_STREAMS
            && let Some(dialogue) = &mut self.places[at].dialogue
        {
            dialogue.settle(&mut self.book, end, now);
        }
    }

    /// A request ends so that never had a connection: what its stream should have sent until now ends with it.
    pub(super) fn settle_waiting(&mut self, waiting: &Waiting, end: MessageEnd, now: Nanos) {
        if !P::HAS_STREAMS {
            return;
        }
        if let Some(rule) = self.outgoing.stream_rule(waiting.which.entry) {
            let mut dialogue = Dialogue::default();
            dialogue.begin(Some(rule), waiting.intended);
            dialogue.settle(&mut self.book, end, now);
        }
    }
}
