//! Connections that carry requests of several seats at a time: what is written is sent, requests wait for room, and each
//! ends by itself.
//!
//! Frames gather in an outbox while events are handled and go out at the end, so that many requests cost one send; a
//! request is written with the send that takes its last byte. Requests that find no room wait with their connection, in
//! order. A connection that leaves (GOAWAY, identifiers used up) takes no further request: its successor is made beside it,
//! while those that it carries are answered. One that has served its share is replaced once it carries nothing.
//! A protocol without streams compiles to nothing here.

use super::carrier::State;
use super::exchange::UNMADE_PAUSE;
use super::place::{Phase, PlaceId};
use super::{Core, Pacer, Stage};
use crate::driver::{SlotId, Sockets};
use crate::failure::Failure;
use crate::interval::Lack;
use crate::protocol::{Loss, Outbox, Protocol, Put};
use request::Answer;
use schema::load::ErrorClass;
use std::cmp::Reverse;
use units::{Clock, Nanos};

/// Between two looks at limits of counts per time.
const TICK: Nanos = Nanos::SECOND;

impl<P: Protocol> Core<P> {
    /// Something was written into a connection's outbox.
    #[inline]
    pub(super) fn touch(&mut self, id: SlotId) {
        if let Some(outbox) = self.protocol.outbox(&mut self.carriers[id as usize].protocol)
            && !outbox.is_listed
        {
            outbox.is_listed = true;
            self.unsent.push(id);
        }
    }

    /// Sends what was written since this was last called.
    #[inline]
    pub(crate) fn flush<S: Sockets>(&mut self, sockets: &mut S) {
        if P::HAS_STREAMS {
            self.speak_all(sockets);
            while let Some(id) = self.unsent.pop() {
                self.flush_one(sockets, id);
                self.notice(id);
            }
            self.put_off_speakers();
        }
    }

    fn flush_one<S: Sockets>(&mut self, sockets: &mut S, id: SlotId) {
        let carrier = &mut self.carriers[id as usize];
        let is_connected = carrier.is_connected();
        let Some(outbox) = self.protocol.outbox(&mut carrier.protocol) else { return };
        outbox.is_listed = false;
        if !is_connected || outbox.is_blocked || outbox.is_empty() {
            return;
        }
        let now = self.clock.now();
        match sockets.send(id, outbox.rest()) {
            Ok(taken) => {
                self.book.bytes_written(taken);
                outbox.take(taken);
                while let Some(at) = outbox.written() {
                    let place = &mut self.places[at];
                    let is_hop = place.is_hop();
                    let request = &mut place.request;
                    if !request.is_written {
                        (request.written, request.is_written) = (now, true);
                        self.book.written(request.arrival(), now);
                    } else if is_hop {
                        place.stamp_written(now);
                    }
                    if let Some(dialogue) = &mut place.dialogue {
                        dialogue.handed_over(&mut self.book, now);
                    }
                }
            }
            Err(failure) => return self.fail(sockets, id, failure, now),
        }
        if outbox.is_empty() {
            self.protocol.flushed(&mut self.carriers[id as usize].protocol);
            self.go_on_writing(id, now);
            self.put_all_waiting(sockets, id, now);
        }
    }

    /// Lets a request wait behind those that wait for its connection already.
    #[inline]
    pub(super) fn wait_for(&mut self, at: PlaceId, now: Nanos) {
        let id = self.places[at].carrier;
        if P::HAS_STREAMS {
            self.notice_at(id, now);
            self.waits.wait(at, id, now);
        }
        self.carriers[id as usize].waiting.push(at);
    }

    /// Notices why a connection takes no request now, if it takes none: what waits for it waits for that from here on.
    #[inline]
    pub(super) fn notice(&mut self, id: SlotId) {
        if P::HAS_STREAMS && self.waits.cause(id) != self.cause(id) {
            let now = self.clock.now();
            self.notice_at(id, now);
        }
    }

    #[inline]
    fn notice_at(&mut self, id: SlotId, now: Nanos) {
        let cause = self.cause(id);
        self.waits.turn(id, self.lanes.of_carrier(id), cause, now);
    }

    #[inline]
    fn cause(&mut self, id: SlotId) -> Option<Lack> {
        let carrier = &self.carriers[id as usize];
        if carrier.state != State::Open {
            return Some(Lack::Connection);
        }
        let lacks = self.protocol.lacks(&carrier.protocol);
        if lacks.is_none() && self.outbox(id).is_some_and(|outbox| outbox.is_full()) {
            return Some(Lack::Window);
        }
        lacks
    }

    /// The system takes more.
    pub(super) fn unblock(&mut self, id: SlotId) {
        if let Some(outbox) = self.outbox(id).filter(|outbox| outbox.is_blocked) {
            outbox.is_blocked = false;
            self.touch(id);
        }
    }

    #[inline]
    fn outbox(&mut self, id: SlotId) -> Option<&mut Outbox> {
        self.protocol.outbox(&mut self.carriers[id as usize].protocol)
    }

    /// Last words of a connection that is given up.
    pub(super) fn say_last<S: Sockets>(&mut self, sockets: &mut S, id: SlotId) {
        if let Some(outbox) = self.outbox(id)
            && !outbox.is_empty()
        {
            sockets.send_last(id, outbox.rest());
            outbox.is_blocked = true;
        }
    }

    /// No request is started any more, whatever still comes.
    pub(crate) fn stop(&mut self) {
        self.stage = Stage::Draining;
    }

    /// The load is over: writes the last words of every open connection.
    pub(crate) fn leave_all<S: Sockets>(&mut self, sockets: &mut S) {
        for id in 0..self.carriers.len() as SlotId {
            if self.carriers[id as usize].state == State::Open {
                self.protocol.leave(&mut self.carriers[id as usize].protocol);
                self.say_last(sockets, id);
            }
        }
    }

    /// Requests that waited for a window, or for what was written to be sent, go on.
    pub(super) fn go_on_writing(&mut self, id: SlotId, now: Nanos) {
        while !self.outbox(id).is_none_or(|outbox| outbox.is_full()) {
            let state = &mut self.carriers[id as usize].protocol;
            let Some(at) = self.protocol.next_ready(state) else { return };
            let place = &mut self.places[at];
            if !place.request.is_written || place.is_hop() {
                // As with a request in parts: its time-out begins with the last of them.
                place.stamp_written(now);
            }
            let bytes = self.outgoing.bytes(place.bytes, &place.rendered);
            let is_first = !place.request.is_written;
            let put = self.protocol.go_on(state, at, bytes);
            self.waits.release(at, now);
            if put == Put::Held && is_first {
                self.waits.hold(at, now);
            }
            if put == Put::Whole
                && let Some(dialogue) = &mut place.dialogue
            {
                dialogue.released(now);
                self.list_speaker(at);
            }
            self.touch(id);
        }
    }

    /// Whether a connection takes one more request at `now`.
    #[inline]
    pub(super) fn has_room(&self, id: SlotId, now: Nanos) -> bool {
        let carrier = &self.carriers[id as usize];
        if carrier.state != State::Open || self.protocol.lacks(&carrier.protocol).is_some() {
            return false;
        }
        let sent = carrier.answers + self.protocol.open(&carrier.protocol) as u64;
        !self.behaviour.is_used_up(sent) && !self.behaviour.is_too_old(now.since(carrier.opened))
    }

    /// Whether a request may be written now: there is room, and what was written is not held up.
    #[inline]
    fn may_put(&mut self, id: SlotId, now: Nanos) -> bool {
        self.has_room(id, now) && !self.outbox(id).is_none_or(|outbox| outbox.is_full())
    }

    /// Gives the request of a place to its connection: written now where there is room, else it waits behind the others.
    #[inline]
    pub(super) fn put_in_turn<S: Sockets>(&mut self, sockets: &mut S, at: PlaceId, now: Nanos) {
        let id = self.places[at].carrier;
        if self.carriers[id as usize].waiting.is_empty() && self.may_put(id, now) {
            self.write(sockets, at, now);
        } else {
            self.wait_for(at, now);
            self.succeed(sockets, id);
        }
    }

    /// Writes the requests that wait for a connection, as far as there is room. Where there is no connection any more,
    /// one is made for them.
    #[inline]
    pub(super) fn put_all_waiting<S: Sockets>(&mut self, sockets: &mut S, id: SlotId, now: Nanos) {
        if self.carriers[id as usize].waiting.is_empty() {
            return;
        }
        if self.carriers[id as usize].state == State::Closed {
            return self.connect(sockets, id);
        }
        while self.may_put(id, now) {
            let Some(at) = self.carriers[id as usize].waiting.pop() else { return };
            self.waits.go(at, id, now);
            self.write(sockets, at, now);
        }
    }

    /// The request of a place was written into the outbox, or could not be.
    #[inline]
    pub(super) fn was_put<S: Sockets>(&mut self, sockets: &mut S, at: PlaceId, put: Put, now: Nanos) {
        let id = self.places[at].carrier;
        match put {
            Put::Whole | Put::Held | Put::Bare => {
                // Until the system has its last byte; its time-out begins here.
                self.places[at].stamp_written(now);
                if put == Put::Held {
                    self.waits.hold(at, now);
                }
                self.stream_opened(at, put, now);
                self.touch(id);
            }
            Put::NoRoom => {
                self.places[at].phase = Phase::Waiting;
                self.wait_for(at, now);
                if !self.replace_if_left(sockets, id, now) {
                    self.succeed(sockets, id);
                }
            }
            Put::Unframed => {
                let seat = self.places.seat(at);
                let failure =
                    Failure::said(ErrorClass::Script, "the request is not one that HTTP/2 can carry");
                self.lose(at, failure, now);
                self.step_ended(seat, false, now);
                self.rest(sockets, seat, now + UNMADE_PAUSE);
            }
        }
    }

    /// The request of a seat's place has ended, and the place is free. Returns `false` where the connection has gone.
    #[inline]
    pub(super) fn stream_ended<S: Sockets>(
        &mut self,
        sockets: &mut S,
        id: SlotId,
        seat: PlaceId,
        now: Nanos,
    ) -> bool {
        if self.replace_if_left(sockets, id, now) {
            return false;
        }
        self.succeed(sockets, id);
        self.next_request(sockets, seat, now);
        self.carriers[id as usize].is_connected()
    }

    /// Closes a connection that carries nothing and takes nothing more; its seats look for another. Returns whether it
    /// did.
    pub(super) fn replace_if_left<S: Sockets>(&mut self, sockets: &mut S, id: SlotId, now: Nanos) -> bool {
        let carrier = &self.carriers[id as usize];
        let is_idle = carrier.state == State::Open && self.protocol.is_idle(&carrier.protocol);
        if !is_idle || !(self.protocol.is_leaving(&carrier.protocol) || self.is_over(id, now)) {
            return false;
        }
        self.close(sockets, id);
        self.refill(sockets, id, now);
        true
    }

    /// Gives the seats of a connection that leaves to its successor, unless the connection before it still lasts.
    #[inline]
    pub(super) fn succeed<S: Sockets>(&mut self, sockets: &mut S, id: SlotId) {
        if self.leaves(id) && self.places.present(id) == id {
            self.make_successor(sockets, id);
        }
    }

    #[cold]
    fn make_successor<S: Sockets>(&mut self, sockets: &mut S, id: SlotId) {
        let next = self.places.twin(id);
        if self.carriers[next as usize].state != State::Closed {
            return;
        }
        debug_assert!(self.carriers[next as usize].waiting.is_empty(), "requests wait where no seat leads");
        let waiting = std::mem::take(&mut self.carriers[id as usize].waiting);
        let (is_asked, now) = (!waiting.is_empty(), self.clock.now());
        for at in waiting.iter() {
            self.waits.go(*at, id, now);
            self.waits.wait(*at, next, now);
        }
        self.carriers[next as usize].waiting = waiting;
        self.places.go_to(next);
        // In the open loop ahead of its next use, as any connection that has served.
        let is_open = matches!(self.pacer, Pacer::Open(_)) && self.stage == Stage::Running;
        if is_asked || is_open {
            self.connect(sockets, next);
        }
    }

    /// A connection has ended: where it was the one before a connection that leaves itself, that one may be succeeded now.
    #[inline]
    pub(super) fn succeed_next<S: Sockets>(&mut self, sockets: &mut S, id: SlotId) {
        if P::HAS_STREAMS {
            let present = self.places.present(id);
            if present != id {
                self.succeed(sockets, present);
            }
        }
    }

    /// Whether a connection still answers, and takes no further request for good.
    #[inline]
    fn leaves(&self, id: SlotId) -> bool {
        let carrier = &self.carriers[id as usize];
        carrier.state == State::Open && self.protocol.is_leaving(&carrier.protocol)
    }

    /// The request of a place has ended without an answer, and the protocol has let it go. Returns `false` where the
    /// connection has gone.
    #[cold]
    pub(super) fn lose_stream<S: Sockets>(&mut self, sockets: &mut S, at: PlaceId, loss: Loss) -> bool {
        let now = self.clock.now();
        let (id, seat) = (self.places[at].carrier, self.places.seat(at));
        self.carriers[id as usize].answers += 1;
        self.forget_end(at);
        let failure = match loss {
            Loss::Unprocessed(_) if !self.places[at].request.is_requeued => {
                self.requeue(sockets, at, now);
                return !self.replace_if_left(sockets, id, now);
            }
            Loss::Unprocessed(failure) | Loss::Failed(failure) => failure,
        };
        self.lose(at, failure, now);
        self.step_ended(seat, false, now);
        self.stream_ended(sockets, id, seat, now)
    }

    /// Puts a request back that its peer has not processed: with the same intended time, it waits for room or for the next
    /// connection.
    fn requeue<S: Sockets>(&mut self, sockets: &mut S, at: PlaceId, now: Nanos) {
        let place = &mut self.places[at];
        place.phase = Phase::Waiting;
        place.notes.clear();
        // Of a request whose hop comes back the first hop stays written.
        let is_hop = place.is_hop();
        place.stamp_written(now);
        let request = &mut place.request;
        self.waits.give_back(at, request.dispatched, now);
        self.book.requeued(request.is_written && !is_hop, now);
        (request.is_written, request.is_requeued) = (is_hop, true);
        request.first_byte = None;
        request.answer = Answer::to(self.outgoing.global(request.which));
        place.forget_call();
        if let Some(dialogue) = &mut place.dialogue {
            dialogue.restart();
        }
        let id = self.places.present(self.places[at].carrier);
        self.places[at].carrier = id;
        self.wait_for(at, now);
        self.put_all_waiting(sockets, id, now);
    }

    /// The end of the request of a place, where that is not sent yet, is nobody's.
    #[inline]
    pub(super) fn forget_end(&mut self, at: PlaceId) {
        let place = &self.places[at];
        let (id, has_unsent) = (place.carrier, place.has_unsent());
        if has_unsent && let Some(outbox) = self.outbox(id) {
            outbox.forget(at);
        }
    }

    /// There is room, or there is none for good; a request that was held may go on. Returns `false` where the connection has
    /// gone.
    #[cold]
    pub(super) fn room_changed<S: Sockets>(&mut self, sockets: &mut S, id: SlotId) -> bool {
        let now = self.clock.now();
        if self.replace_if_left(sockets, id, now) {
            return false;
        }
        self.succeed(sockets, id);
        self.go_on_writing(id, now);
        let holds = matches!(self.pacer, Pacer::Closed(_)) && self.pool.is_none();
        if holds {
            self.put_all_waiting(sockets, id, now);
        } else {
            self.refill(sockets, id, now);
        }
        self.carriers[id as usize].is_connected()
    }

    /// Answers have begun that have not ended: notes when.
    #[inline]
    pub(super) fn note_first_bytes(&mut self, id: SlotId) {
        let mut now = None;
        while let Some(at) = self.protocol.begun(&mut self.carriers[id as usize].protocol) {
            let place = &mut self.places[at];
            // Since its answer began, a place may have got another request.
            let has_begun = place.phase == Phase::Open && place.request.answer.status() != 0;
            if has_begun && place.request.first_byte.is_none() {
                place.request.first_byte = Some(*now.get_or_insert_with(|| self.clock.now()));
            }
        }
    }

    /// A seat whose request could not be made: its next comes after a pause, or a closed loop would fail as fast as it can.
    pub(super) fn rest<S: Sockets>(&mut self, sockets: &mut S, seat: PlaceId, until: Nanos) {
        let Pacer::Closed(closed) = &mut self.pacer else { return self.park(sockets, seat) };
        if self.pool.is_some() {
            return self.park(sockets, seat);
        }
        let may_go_on = self.stage == Stage::Running && !self.places[seat].thinking;
        if may_go_on && let Some(intended) = closed.next(until, self.book.measure_start()) {
            self.places[seat].thinking = true;
            self.thinking.push(Reverse((intended, seat)));
        }
    }

    /// Lets limits of counts per time begin again, once a second.
    pub(super) fn tick(&mut self) {
        if !P::HAS_STREAMS {
            return;
        }
        let now = self.clock.now();
        if now >= self.next_tick {
            self.next_tick = now + TICK;
            self.carriers.iter_mut().for_each(|carrier| self.protocol.tick(&mut carrier.protocol));
        }
    }

    /// Counts the streams of connections that are open at the end.
    pub(super) fn count_streams(&mut self) {
        for carrier in &mut self.carriers {
            let counts = self.protocol.closed(&mut carrier.protocol);
            self.book.streams_ended(&counts);
        }
    }
}
