//! A request on a connection: written, answered, failed.

use super::outgoing::Unmade;
use super::script::Hearing;
use super::{Core, Pacer, fate};
use crate::book::SessionEnd;
use crate::driver::{Handler, Handshake, SlotId, Sockets};
use crate::failure::{Cause, Failure};
use crate::slot::{InFlight, State, Which};
use request::{Answer, Bytes, Judged};
use schema::load::ErrorClass;
use units::{Clock, Nanos};
use wire::{Ended, Feed, is_redirect};

/// Pause of a closed loop after a request that could not be made.
const UNMADE_PAUSE: Nanos = Nanos::from_millis(10);

impl Core {
    /// Puts a request on a slot and sends it, connecting first where needed.
    #[inline]
    pub(super) fn begin<S: Sockets>(
        &mut self,
        sockets: &mut S,
        id: SlotId,
        which: Which,
        intended: Nanos,
        dispatched: Nanos,
    ) {
        let request = InFlight {
            which,
            bytes: Bytes::Rendered,
            token: None,
            is_head: false,
            hops: 0,
            is_arrival: self.slots[id as usize].user.as_ref().is_none_or(|user| user.is_first()),
            intended,
            dispatched,
            ready: dispatched,
            written: dispatched,
            first_byte: None,
            answer: Answer::to(self.outgoing.global(which)),
            slot: id,
        };
        // In the closed loop the stamp just taken is the moment before the write; a second reading of the clock would
        // cost more than it tells. An arrival of the open loop may have waited since.
        let now = if matches!(self.pacer, Pacer::Closed(_)) { dispatched } else { self.clock.now() };
        self.put(sockets, id, request, now);
    }

    /// Gives a request to the slot's connection: written now where it can be, held where the one before it is not yet
    /// out, with a new connection where there is none.
    #[inline]
    fn put<S: Sockets>(&mut self, sockets: &mut S, id: SlotId, request: InFlight, now: Nanos) {
        let slot = &mut self.slots[id as usize];
        match slot.state {
            State::Idle => {
                slot.request = Some(request);
                self.write(sockets, id, now);
                self.top_up(sockets, id, now);
            }
            State::Waiting => {
                slot.behind.push_back(request);
                self.write(sockets, id, now);
            }
            State::Sending { .. } => {
                assert!(slot.held.is_none(), "slot {id} holds a request already");
                slot.held = Some(Box::new(request));
            }
            State::Closed | State::Connecting | State::Paused { .. } => {
                assert!(slot.request.is_none(), "slot {id} has a request and no connection to write it to");
                slot.request = Some(request);
                self.connect(sockets, id);
            }
        }
    }

    /// Sends the request that the slot holds, if it holds one. Returns whether it did.
    #[inline]
    pub(super) fn put_held<S: Sockets>(&mut self, sockets: &mut S, id: SlotId) -> bool {
        let Some(held) = self.slots[id as usize].held.take() else { return false };
        let now = self.clock.now();
        self.put(sockets, id, *held, now);
        true
    }

    /// Pipelining: sends further requests behind the one just sent, as far as the depth allows, and only while all of
    /// them are written in full: a connection has one write position.
    #[inline]
    pub(super) fn top_up<S: Sockets>(&mut self, sockets: &mut S, id: SlotId, now: Nanos) {
        if self.behaviour.pipeline == 1 {
            return;
        }
        loop {
            let slot = &self.slots[id as usize];
            let requests = slot.requests();
            let sent = slot.answers + requests as u64;
            // Filled on and on, a connection would never be free to end with its lifetime.
            let is_over =
                self.behaviour.is_used_up(sent) || self.behaviour.is_too_old(now.since(slot.opened));
            let has_room = requests < self.behaviour.pipeline && !is_over;
            if slot.state != State::Waiting || !has_room {
                return;
            }
            self.next_request(sockets, id, now);
            if self.slots[id as usize].requests() == requests {
                return;
            }
        }
    }

    /// Writes the slot's newest request from its beginning. `written` is stamped just before the bytes are handed
    /// over, so service time includes the system's sending path.
    #[inline]
    pub(super) fn write<S: Sockets>(&mut self, sockets: &mut S, id: SlotId, now: Nanos) {
        let slot = &mut self.slots[id as usize];
        let Some(which) = slot.newest().map(|request| request.which) else { return };
        let made = match self.outgoing.make(which, slot) {
            Ok(made) => made,
            Err(error) => return self.unmade(sockets, id, &error, now),
        };
        let is_head = self.outgoing.is_head(which, &slot.rendered);
        if slot.behind.is_empty() {
            slot.parser.begin(is_head);
        }
        slot.state = State::Sending { sent: 0 };
        if let Some(request) = slot.newest() {
            (request.ready, request.bytes, request.token) = (now, made.bytes, made.token);
            request.is_head = is_head;
        }
        if self.outgoing.has_script() {
            self.add_pipelined(id, now);
        }
        // Rendering takes time, which is the generator's and not the target's.
        let now = if self.outgoing.is_constant() { now } else { self.clock.now() };
        self.write_on(sockets, id, now);
    }

    /// A script's text may hold several requests: each is one of the load and has an answer of its own.
    fn add_pipelined(&mut self, id: SlotId, now: Nanos) {
        let slot = &mut self.slots[id as usize];
        let Some(mut request) = slot.newest().copied() else { return };
        (request.written, request.is_arrival) = (now, false);
        let further = self.outgoing.requests_in(&slot.rendered).saturating_sub(1);
        if let Pacer::Closed(closed) = &mut self.pacer {
            closed.spend(further as u64, request.intended, self.book.measure_start());
        }
        for _ in 0..further {
            // The one before is written with the same call; the last stands for the state of the text.
            let slot = &mut self.slots[id as usize];
            if let Some(before) = slot.newest() {
                before.written = now;
            }
            self.book.written(None, now);
            self.book.schedule(request.intended, request.which.entry, now);
            self.slots[id as usize].behind.push_back(request);
        }
    }

    /// The slot's newest request could not be made. It fails, and the session with it; the connection has not seen a
    /// byte of it, so the requests before it go on. Where there are none the closed loop pauses, or it would fail as
    /// fast as it can.
    #[cold]
    fn unmade<S: Sockets>(&mut self, sockets: &mut S, id: SlotId, error: &Unmade, now: Nanos) {
        let slot = &mut self.slots[id as usize];
        let request = slot.behind.pop_back().or_else(|| slot.request.take());
        if let Some(request) = request {
            let class = ErrorClass::Script;
            self.book.fail_with(fate(&request, false), class, || self.outgoing.explain(error), now);
        }
        self.end_session(id, SessionEnd::Failed, now);
        if self.slots[id as usize].request.is_some() {
            return;
        }
        self.close(sockets, id);
        match self.pacer {
            Pacer::Closed(_) => {
                self.slots[id as usize].state = State::Paused { until: now + UNMADE_PAUSE };
            }
            Pacer::Open(_) => self.park(sockets, id),
        }
    }

    #[inline]
    pub(super) fn write_on<S: Sockets>(&mut self, sockets: &mut S, id: SlotId, now: Nanos) {
        let slot = &mut self.slots[id as usize];
        let State::Sending { sent } = slot.state else { return };
        let Some(request) = slot.newest() else { return };
        let is_hop = request.hops > 0;
        if !is_hop {
            request.written = now;
        }
        let (arrival, bytes) = (request.is_arrival.then_some(request.intended), request.bytes);
        if let (true, Some(trail)) = (is_hop, &mut slot.trail) {
            trail.written = now;
        }
        let rest = &self.outgoing.bytes(bytes, &slot.rendered)[sent..];
        match sockets.send(id, rest) {
            Ok(taken) => {
                self.book.bytes_written(taken);
                if taken == rest.len() {
                    slot.state = State::Waiting;
                    if !is_hop {
                        self.book.written(arrival, now);
                    }
                } else {
                    slot.state = State::Sending { sent: sent + taken };
                }
            }
            Err(failure) => self.fail(sockets, id, failure, now),
        }
    }

    /// A complete answer to the oldest request; `reusable` tells whether the connection may serve again. Returns when
    /// it came if the connection goes on with the request behind; that one's place is filled by the caller, once all
    /// answers that have come are read: what is sent may end the connection, and with it the bytes still unread.
    #[inline]
    fn complete<S: Sockets>(&mut self, sockets: &mut S, id: SlotId, reusable: bool) -> Option<Nanos> {
        let done = self.clock.now();
        let slot = &mut self.slots[id as usize];
        let request = slot.request.take()?;
        let was_written = slot.state == State::Waiting || !slot.behind.is_empty();
        slot.answers += 1;
        if !was_written && request.hops == 0 {
            // An answer before the request was read to its end: the rest of the request is not sent.
            self.book.written(request.is_arrival.then_some(request.intended), done);
        }
        let status = request.answer.status();
        if self.follow.is_some() && is_redirect(status) {
            self.redirected(sockets, id, request, reusable && was_written, done);
            return None;
        }
        self.book.status(status, &request, done);
        self.judge(id, &request, done);
        self.release(sockets, id, reusable && was_written, done)
    }

    /// Whether the slot's connection has served its share.
    #[inline]
    pub(super) fn is_over(&self, id: SlotId, now: Nanos) -> bool {
        let slot = &self.slots[id as usize];
        self.behaviour.is_used_up(slot.answers) || self.behaviour.is_too_old(now.since(slot.opened))
    }

    /// The slot's oldest request has ended with an answer: the connection goes on with the one behind, if it is
    /// `reusable`, or is free for the next. Returns as [`Core::complete`].
    #[inline]
    pub(super) fn release<S: Sockets>(
        &mut self,
        sockets: &mut S,
        id: SlotId,
        reusable: bool,
        done: Nanos,
    ) -> Option<Nanos> {
        let is_over = self.is_over(id, done);
        if !reusable || (is_over && self.slots[id as usize].behind.is_empty()) {
            self.fail_behind(id, done);
            self.close(sockets, id);
            self.next_request(sockets, id, done);
            return None;
        }
        if self.behaviour.pipeline > 1 {
            sockets.answered(id);
        }
        let slot = &mut self.slots[id as usize];
        if let Some(next) = slot.behind.pop_front() {
            slot.parser.begin(next.is_head);
            slot.request = Some(next);
            return Some(done);
        }
        slot.state = State::Idle;
        self.next_request(sockets, id, done);
        None
    }

    /// A complete answer to `request`: right, or what is wrong with it; a session learns of it.
    #[inline]
    fn judge(&mut self, id: SlotId, request: &InFlight, done: Nanos) {
        let slot = &mut self.slots[id as usize];
        let check = self.outgoing.check(request.which.entry);
        let judged = request.answer.finish(check, &mut slot.notes);
        let objection = self.outgoing.show_answer(request.answer.status(), slot.heard.as_deref_mut());
        if let Some(error) = objection {
            let text = || error.to_string();
            self.book.fail_with(fate(request, true), ErrorClass::Script, text, done);
        } else if judged == Judged::Right {
            self.book.complete(request, done);
        } else {
            self.refuse(id, request, judged, done);
        }
        if self.slots[id as usize].user.is_some() {
            self.learn(id);
            self.step_ended(id, judged == Judged::Right, done);
        }
    }

    /// An answer that is not right; the first few are kept where a check has kept their bodies.
    #[cold]
    fn refuse(&mut self, id: SlotId, request: &InFlight, judged: Judged, done: Nanos) {
        self.book.answered_wrongly(request, done);
        let fate = fate(request, true);
        let entry = request.which.entry;
        let check = self.outgoing.check(entry);
        match judged {
            Judged::Failed(number) => {
                self.book.fail_with(fate, ErrorClass::Check, || check.describe(number), done);
            }
            Judged::WrongBody => {
                let failure = Failure::said(ErrorClass::WrongBody, "the body is not the expected one");
                self.book.fail(fate, failure, done);
            }
            Judged::Right | Judged::UnexpectedStatus => {
                let cause = Cause::Status(request.answer.status());
                self.book.fail(fate, Failure { class: ErrorClass::UnexpectedStatus, cause }, done);
            }
        }
        if !check.is_plain() {
            let notes = &self.slots[id as usize].notes;
            let name = self.outgoing.name(entry);
            self.book.failed_answers().note(name, check, judged, &request.answer, notes, done);
        }
    }

    /// A session takes captured values and cookies from an answer.
    fn learn(&mut self, id: SlotId) {
        let slot = &mut self.slots[id as usize];
        if let Some(session) = &mut slot.user {
            session.learn(&slot.notes);
        }
    }

    /// The requests behind an answer that closes the connection are lost.
    fn fail_behind(&mut self, id: SlotId, now: Nanos) {
        for (request, was_written) in self.slots[id as usize].take_requests() {
            let failure = Failure::said(ErrorClass::PrematureClose, "closed after the answer before it");
            self.book.fail(fate(&request, was_written), failure, now);
        }
    }

    /// The slot's requests failed; its connection is of no more use.
    pub(super) fn fail<S: Sockets>(&mut self, sockets: &mut S, id: SlotId, failure: Failure, now: Nanos) {
        for (request, was_written) in self.slots[id as usize].take_requests() {
            self.book.fail(fate(&request, was_written), failure, now);
        }
        self.step_ended(id, false, now);
        self.close(sockets, id);
        self.next_request(sockets, id, now);
    }

    /// The connection of a slot without a request is gone or of no use.
    fn lose_idle<S: Sockets>(&mut self, sockets: &mut S, id: SlotId) {
        self.close(sockets, id);
        let now = self.clock.now();
        self.next_request(sockets, id, now);
    }
}

impl<S: Sockets> Handler<S> for Core {
    fn connected(&mut self, sockets: &mut S, id: SlotId, result: Result<(), Failure>) {
        let now = self.clock.now();
        match result {
            Ok(()) => self.established_now(sockets, id, now),
            Err(failure) => self.connection_failed(sockets, id, failure, now),
        }
    }

    fn secured(&mut self, id: SlotId, handshake: Handshake) {
        self.slots[id as usize].handshake = handshake.took;
        self.book.secured(handshake);
    }

    #[inline]
    fn received(&mut self, sockets: &mut S, id: SlotId, bytes: &[u8]) {
        self.book.bytes_read(bytes.len());
        let mut rest = bytes;
        let mut freed = None;
        loop {
            let slot = &mut self.slots[id as usize];
            let Some(request) = &mut slot.request else {
                // Bytes that nobody asked for: the connection cannot be trusted with the next answer.
                return self.lose_idle(sockets, id);
            };
            let check = self.outgoing.check(request.which.entry);
            let judge = request.answer.judge(check, &mut slot.notes);
            match slot
                .parser
                .feed(rest, &mut Hearing::new(judge, slot.heard.as_deref_mut(), slot.trail.as_deref_mut()))
            {
                Ok(Feed::NeedMore) => {
                    if request.first_byte.is_none() {
                        request.first_byte = Some(self.clock.now());
                    }
                    break;
                }
                Ok(Feed::Complete { taken, keep_alive }) => {
                    rest = &rest[taken..];
                    // Bytes after the last answer are nobody's; the answer stands, the connection goes.
                    let is_clean = rest.is_empty() || !slot.behind.is_empty();
                    let Some(done) = self.complete(sockets, id, keep_alive && is_clean) else { return };
                    freed = Some(done);
                    if rest.is_empty() {
                        break;
                    }
                }
                Err(malformed) => {
                    let now = self.clock.now();
                    return self.fail(sockets, id, malformed.into(), now);
                }
            }
        }
        if let Some(done) = freed {
            self.top_up(sockets, id, done);
        }
    }

    fn ended(&mut self, sockets: &mut S, id: SlotId, failure: Option<Failure>) {
        let slot = &mut self.slots[id as usize];
        if slot.request.is_none() {
            return self.lose_idle(sockets, id);
        }
        let outcome = match failure {
            Some(failure) => Err(failure),
            None => slot.parser.end_of_input().map_err(Failure::from),
        };
        let now = self.clock.now();
        match outcome {
            Ok(Ended::Complete) => {
                self.complete(sockets, id, false);
            }
            Ok(Ended::Premature) => {
                let failure =
                    Failure::said(ErrorClass::PrematureClose, "closed before the answer was complete");
                self.fail(sockets, id, failure, now);
            }
            Err(failure) => self.fail(sockets, id, failure, now),
        }
    }

    fn writable(&mut self, sockets: &mut S, id: SlotId) {
        if matches!(self.slots[id as usize].state, State::Sending { .. }) {
            let now = self.clock.now();
            self.write_on(sockets, id, now);
            self.top_up(sockets, id, now);
        }
    }
}
