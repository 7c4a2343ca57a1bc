//! A request on a connection: written, answered, failed.

use super::carrier::{State, Writing};
use super::hearing::Hearing;
use super::in_flight::{InFlight, Which};
use super::outgoing::Unmade;
use super::place::{Phase, PlaceId};
use super::{Core, Pacer};
use crate::book::{MessageEnd, SessionEnd};
use crate::driver::{Handler, Handshake, SlotId, Sockets};
use crate::failure::{Cause, Failure, clean};
use crate::fate::Fate;
use crate::protocol::{Protocol, Put, Taken};
use request::{Answer, Judged};
use schema::load::ErrorClass;
use units::{Clock, Nanos};
use wire::is_redirect;

/// Pause of a closed loop after a request that could not be made.
pub(super) const UNMADE_PAUSE: Nanos = Nanos::from_millis(10);

/// Characters that are shown of a server's words.
const WORDS_CHARS: usize = 200;

impl<P: Protocol> Core<P> {
    /// Gives a request of this seat a place and sends it, connecting first where needed.
    #[inline]
    pub(super) fn begin<S: Sockets>(
        &mut self,
        sockets: &mut S,
        seat: PlaceId,
        which: Which,
        intended: Nanos,
        dispatched: Nanos,
    ) {
        let at = self.places.take(seat);
        let place = &mut self.places[at];
        place.request = InFlight {
            which,
            token: None,
            hops: 0,
            is_requeued: false,
            is_arrival: place.user.as_ref().is_none_or(|user| user.is_first()),
            is_written: false,
            intended,
            dispatched,
            ready: dispatched,
            written: dispatched,
            first_byte: None,
            answer: Answer::to(self.outgoing.global(which)),
            slot: place.carrier,
        };
        if P::HAS_STREAMS {
            place.forget_call();
            self.waits.begin(at);
            self.begin_messages(at, dispatched);
        }
        self.watch_place(at, dispatched);
        // In the closed loop the stamp just taken is the moment before the write; a second reading of the clock would
        // cost more than it tells. An arrival of the open loop may have waited since.
        let now = if matches!(self.pacer, Pacer::Closed(_)) { dispatched } else { self.clock.now() };
        self.put(sockets, at, now);
    }

    /// Gives the request of a place to its connection: written now where it can be, else it waits, for the request before
    /// it to be written or for a new connection.
    #[inline]
    fn put<S: Sockets>(&mut self, sockets: &mut S, at: PlaceId, now: Nanos) {
        let id = self.places[at].carrier;
        let carrier = &mut self.carriers[id as usize];
        if carrier.state != State::Open {
            return self.await_connection(sockets, at, now);
        }
        if P::HAS_STREAMS {
            return self.put_in_turn(sockets, at, now);
        }
        if carrier.writing.is_some() {
            return carrier.waiting.push(at);
        }
        let was_idle = self.protocol.is_idle(&carrier.protocol);
        self.write(sockets, at, now);
        if was_idle {
            self.top_up(sockets, id, now);
        }
    }

    /// Lets the request of a place wait for a connection, and makes one.
    pub(super) fn await_connection<S: Sockets>(&mut self, sockets: &mut S, at: PlaceId, now: Nanos) {
        let place = &mut self.places[at];
        place.phase = Phase::Waiting;
        let id = place.carrier;
        self.wait_for(at, now);
        // A pause ends by itself.
        if self.carriers[id as usize].state == State::Closed {
            self.connect(sockets, id);
        }
    }

    /// Sends the request that waits for the connection, if one does. Returns whether it did, so that there is no room for
    /// another.
    #[inline]
    pub(super) fn put_waiting<S: Sockets>(&mut self, sockets: &mut S, id: SlotId) -> bool {
        if P::HAS_STREAMS {
            if !self.carriers[id as usize].waiting.is_empty() {
                let now = self.clock.now();
                self.put_all_waiting(sockets, id, now);
            }
            return false;
        }
        let Some(at) = self.carriers[id as usize].waiting.pop() else { return false };
        let now = self.clock.now();
        self.put(sockets, at, now);
        true
    }

    /// Pipelining: sends further requests behind the one just sent, as far as the protocol allows, and only while all of
    /// them are written in full.
    #[inline]
    pub(super) fn top_up<S: Sockets>(&mut self, sockets: &mut S, id: SlotId, now: Nanos) {
        if self.protocol.depth() == 1 {
            return;
        }
        loop {
            let carrier = &self.carriers[id as usize];
            let open = self.protocol.open(&carrier.protocol);
            let sent = carrier.answers + open as u64;
            // Filled on and on, a connection would never be free to end with its lifetime.
            let is_over =
                self.behaviour.is_used_up(sent) || self.behaviour.is_too_old(now.since(carrier.opened));
            let has_room = (1..self.protocol.depth()).contains(&open) && !is_over;
            if !carrier.may_write() || !has_room {
                return;
            }
            self.next_request(sockets, self.places.seats_of(id).start, now);
            if self.protocol.open(&self.carriers[id as usize].protocol) == open {
                return;
            }
        }
    }

    /// Writes the request of a place, or its present hop, from its beginning. `written` is stamped just before the bytes are
    /// handed over, so service time includes the system's sending path.
    #[inline]
    pub(super) fn write<S: Sockets>(&mut self, sockets: &mut S, at: PlaceId, now: Nanos) {
        let place = &mut self.places[at];
        if place.is_hop() {
            return self.write_hop(sockets, at, now);
        }
        let made = match self.outgoing.make(place.request.which, place) {
            Ok(made) => made,
            Err(error) => return self.unmade(sockets, at, &error, now),
        };
        place.bytes = made.bytes;
        (place.request.ready, place.request.token) = (now, made.token);
        let id = place.carrier;
        let put = self.open(at);
        if P::HAS_STREAMS {
            return self.was_put(sockets, at, put, now);
        }
        let last = if self.outgoing.has_script() { self.add_pipelined(at, now) } else { at };
        self.carriers[id as usize].writing = Some(Writing { at: last, sent: 0 });
        // Rendering takes time, which is the generator's and not the target's.
        let now = if self.outgoing.is_constant() { now } else { self.clock.now() };
        self.write_on(sockets, id, now);
    }

    /// Announces the request of a place to the protocol of its connection.
    #[inline]
    pub(super) fn open(&mut self, at: PlaceId) -> Put {
        let place = &mut self.places[at];
        place.phase = Phase::Open;
        let bytes = self.outgoing.bytes(place.bytes, &place.rendered);
        let state = &mut self.carriers[place.carrier as usize].protocol;
        if P::HAS_STREAMS {
            return self.protocol.put_part(state, at, bytes, place.ends_at_once());
        }
        self.protocol.put(state, at, bytes)
    }

    /// A script's text may hold several requests: each is one of the load and has an answer of its own. Returns the place
    /// of the last, which gets the text.
    fn add_pipelined(&mut self, at: PlaceId, now: Nanos) -> PlaceId {
        let place = &self.places[at];
        let (id, seat) = (place.carrier as usize, self.places.seat(at));
        let further = self.outgoing.requests_in(&place.rendered).saturating_sub(1);
        let request = InFlight { written: now, is_arrival: false, ..place.request };
        if let Pacer::Closed(closed) = &mut self.pacer {
            closed.spend(further as u64, request.intended, self.book.measure_start());
        }
        let mut last = at;
        for _ in 0..further {
            // The one before is written with the same call; the last stands for the state of the text.
            let before = &mut self.places[last].request;
            (before.written, before.is_written) = (now, true);
            self.book.written(None, now);
            self.book.schedule(request.intended, request.which.entry, now);
            last = self.places.take(seat);
            let place = &mut self.places[last];
            (place.request, place.phase) = (request, Phase::Open);
            let text = &self.places[at];
            let text = self.outgoing.bytes(text.bytes, &text.rendered);
            self.protocol.put(&mut self.carriers[id].protocol, last, text);
            self.watch_place(last, now);
        }
        if last != at {
            self.places.move_bytes(at, last);
        }
        last
    }

    /// The request of a place could not be made. It fails, and the session with it; the connection has not seen a byte of
    /// it, so the requests before it go on. Where there are none the closed loop pauses, or it would fail as fast as it
    /// can.
    #[cold]
    fn unmade<S: Sockets>(&mut self, sockets: &mut S, at: PlaceId, error: &Unmade, now: Nanos) {
        let (id, seat) = (self.places[at].carrier, self.places.seat(at));
        let fate = Fate::of(&self.places[at].request);
        self.book.fail_with(fate, ErrorClass::Script, || self.outgoing.explain(error), now);
        self.settle_messages(at, MessageEnd::Failed, now);
        self.places.free(at);
        self.end_session(seat, SessionEnd::Failed, now);
        if P::HAS_STREAMS {
            return self.rest(sockets, seat, now + UNMADE_PAUSE);
        }
        if !self.protocol.is_idle(&self.carriers[id as usize].protocol) {
            return;
        }
        self.close(sockets, id);
        match self.pacer {
            Pacer::Closed(_) => {
                self.pause(id, now + UNMADE_PAUSE);
            }
            Pacer::Open(_) => self.park(sockets, seat),
        }
    }

    /// Hands on what is being written.
    #[inline]
    pub(super) fn write_on<S: Sockets>(&mut self, sockets: &mut S, id: SlotId, now: Nanos) {
        let carrier = &mut self.carriers[id as usize];
        let Some(Writing { at, sent }) = carrier.writing else { return };
        let place = &mut self.places[at];
        place.stamp_written(now);
        let rest = &self.outgoing.bytes(place.bytes, &place.rendered)[sent..];
        match sockets.send(id, rest) {
            Ok(taken) => {
                self.book.bytes_written(taken);
                let is_whole = taken == rest.len();
                carrier.writing = (!is_whole).then_some(Writing { at, sent: sent + taken });
                if is_whole && !place.is_hop() {
                    place.request.is_written = true;
                    self.book.written(place.request.arrival(), now);
                }
            }
            Err(failure) => self.fail(sockets, id, failure, now),
        }
    }

    /// A complete answer to the request of a place, which the protocol has let go; `reusable` says whether the connection
    /// may serve again. Returns when it came if the connection goes on with the requests behind; the room is filled by the
    /// caller, once all answers that have come are read: what is sent may end the connection, and with it the bytes
    /// still unread.
    #[inline]
    fn complete<S: Sockets>(&mut self, sockets: &mut S, at: PlaceId, reusable: bool) -> Option<Nanos> {
        let done = self.clock.now();
        let place = &mut self.places[at];
        let request = &mut place.request;
        let carrier = &mut self.carriers[place.carrier as usize];
        carrier.answers += 1;
        let reusable = reusable && carrier.is_whole(at);
        if !request.is_written {
            // An answer before the request was read to its end: the rest of the request is not sent.
            self.book.written(request.arrival(), done);
            self.forget_end(at);
            self.places[at].request.is_written = true;
        } else if P::HAS_STREAMS {
            self.forget_end(at);
        }
        let request = &self.places[at].request;
        let status = request.answer.status();
        if self.follow.is_some() && is_redirect(status) {
            return self.redirected(sockets, at, reusable, done);
        }
        self.book.status(status, request, done);
        self.judge(at, done);
        self.release(sockets, at, reusable, done)
    }

    /// Whether a connection has served its share.
    #[inline]
    pub(super) fn is_over(&self, id: SlotId, now: Nanos) -> bool {
        let carrier = &self.carriers[id as usize];
        self.behaviour.is_used_up(carrier.answers) || self.behaviour.is_too_old(now.since(carrier.opened))
    }

    /// The request of a place has ended with an answer: the place is free, and its connection goes on with the requests
    /// behind, if it is `reusable`, or is free for the next. Returns as [`Core::complete`].
    #[inline]
    pub(super) fn release<S: Sockets>(
        &mut self,
        sockets: &mut S,
        at: PlaceId,
        reusable: bool,
        done: Nanos,
    ) -> Option<Nanos> {
        let (id, seat) = (self.places[at].carrier, self.places.seat(at));
        self.places.free(at);
        if P::HAS_STREAMS {
            return self.stream_ended(sockets, id, seat, done).then_some(done);
        }
        let is_idle = self.protocol.is_idle(&self.carriers[id as usize].protocol);
        if !reusable || (is_idle && self.is_over(id, done)) {
            let lost = Failure::said(ErrorClass::PrematureClose, "closed after the answer before it");
            self.fail_open(id, lost, done);
            self.close(sockets, id);
            self.refill(sockets, id, done);
            return None;
        }
        if self.protocol.depth() > 1 {
            sockets.answered(id);
        }
        if !is_idle {
            return Some(done);
        }
        self.next_request(sockets, seat, done);
        None
    }

    /// A complete answer to the request of a place: right, or what is wrong with it; a session learns of it.
    #[inline]
    fn judge(&mut self, at: PlaceId, done: Nanos) {
        let place = &mut self.places[at];
        let request = &place.request;
        let check = self.outgoing.check(request.which.entry);
        let mut judged = request.answer.finish(check, &mut place.notes);
        if P::HAS_STREAMS
            && let (Some(rule), Some(call)) = (check.call(), &place.call)
        {
            judged = call.finish(rule, judged, &mut place.notes);
        }
        let objection = self.outgoing.show_answer(request.answer.status(), place.heard.as_deref_mut());
        let end = if let Some(error) = objection {
            let text = || error.to_string();
            self.book.fail_with(Fate::of(request), ErrorClass::Script, text, done);
            MessageEnd::Failed
        } else if judged == Judged::Right {
            self.book.complete(request, done);
            if P::HAS_STREAMS {
                self.book.waited(request.intended, self.waits.of(at));
            }
            MessageEnd::Completed
        } else {
            MessageEnd::of(self.refuse(at, judged, done))
        };
        self.settle_messages(at, end, done);
        let place = &mut self.places[at];
        if let Some(user) = &mut place.user {
            user.learn(&place.notes);
            self.step_ended(at, judged == Judged::Right, done);
        }
    }

    /// An answer that is not right; the first few are kept where a check has kept their bodies.
    /// Returns the class of the failure.
    #[cold]
    fn refuse(&mut self, at: PlaceId, judged: Judged, done: Nanos) -> ErrorClass {
        let place = &self.places[at];
        let request = &place.request;
        self.book.answered_wrongly(request, done);
        let fate = Fate::of(request);
        let entry = request.which.entry;
        let check = self.outgoing.check(entry);
        let class = match judged {
            Judged::Failed(number) => {
                self.book.fail_with(fate, ErrorClass::Check, || check.describe(number), done);
                ErrorClass::Check
            }
            Judged::WrongBody => {
                let failure = Failure::said(ErrorClass::WrongBody, "the body is not the expected one");
                self.book.fail(fate, failure, done);
                failure.class
            }
            Judged::Refused(code) => {
                let class = ErrorClass::of_grpc(code.number()).unwrap_or(ErrorClass::Check);
                let text = || refusal(&check.describe_status(code), place.notes.beginning());
                self.book.fail_with(fate, class, text, done);
                class
            }
            Judged::Broken(fault) => {
                let failure = Failure::from(fault);
                self.book.fail(fate, failure, done);
                failure.class
            }
            Judged::Right | Judged::UnexpectedStatus => {
                let cause = Cause::Status(request.answer.status());
                self.book.fail(fate, Failure { class: ErrorClass::UnexpectedStatus, cause }, done);
                ErrorClass::UnexpectedStatus
            }
        };
        if !check.is_plain() || check.call().is_some() {
            let name = self.outgoing.name(entry);
            self.book.failed_answers().note(name, check, judged, &request.answer, &place.notes, done);
        }
        class
    }

    /// The requests on a connection fail; those that wait for it do not.
    fn fail_open(&mut self, id: SlotId, failure: Failure, now: Nanos) {
        while let Some(at) = self.protocol.let_go(&mut self.carriers[id as usize].protocol) {
            self.lose(at, failure, now);
            self.step_ended(at, false, now);
        }
    }

    /// The request of a place fails, and the place is free.
    pub(super) fn lose(&mut self, at: PlaceId, failure: Failure, now: Nanos) {
        self.book.fail(Fate::of(&self.places[at].request), failure, now);
        self.settle_messages(at, MessageEnd::of(failure.class), now);
        self.places.free(at);
    }

    /// The requests of a connection failed, and it is of no more use.
    pub(super) fn fail<S: Sockets>(&mut self, sockets: &mut S, id: SlotId, failure: Failure, now: Nanos) {
        self.fail_open(id, failure, now);
        self.close(sockets, id);
        self.refill(sockets, id, now);
    }

    /// A connection without a request is gone or of no use.
    fn lose_idle<S: Sockets>(&mut self, sockets: &mut S, id: SlotId) {
        self.close(sockets, id);
        let now = self.clock.now();
        self.refill(sockets, id, now);
    }
}

/// A status of gRPC that is not accepted, with the server's own words, where it had some.
fn refusal(status: &str, words: &[u8]) -> String {
    if words.is_empty() { status.to_owned() } else { format!("{status}: {}", clean(words, WORDS_CHARS)) }
}

impl<P: Protocol, S: Sockets> Handler<S> for Core<P> {
    fn connected(&mut self, sockets: &mut S, id: SlotId, result: Result<(), Failure>) {
        let now = self.clock.now();
        match result {
            Ok(()) if self.protocol.hello(&mut self.carriers[id as usize].protocol) => {
                self.established_now(sockets, id, now);
            }
            Ok(()) => {
                self.carriers[id as usize].state = State::Greeting;
                self.touch(id);
            }
            Err(failure) => self.connection_failed(sockets, id, failure, now),
        }
        self.flush(sockets);
    }

    fn secured(&mut self, id: SlotId, handshake: Handshake) {
        self.carriers[id as usize].handshake = handshake.took;
        self.book.secured(handshake);
    }

    #[inline]
    fn received(&mut self, sockets: &mut S, id: SlotId, bytes: &[u8]) {
        self.book.bytes_read(bytes.len());
        self.read(sockets, id, bytes);
        self.flush(sockets);
    }

    fn ended(&mut self, sockets: &mut S, id: SlotId, failure: Option<Failure>) {
        self.lost_peer(sockets, id, failure);
        self.flush(sockets);
    }

    fn writable(&mut self, sockets: &mut S, id: SlotId) {
        if P::HAS_STREAMS {
            self.unblock(id);
            self.flush(sockets);
        } else if self.carriers[id as usize].writing.is_some() {
            let now = self.clock.now();
            self.write_on(sockets, id, now);
            self.top_up(sockets, id, now);
        }
    }
}

impl<P: Protocol> Core<P> {
    /// Reads what came on a connection.
    #[inline]
    fn read<S: Sockets>(&mut self, sockets: &mut S, id: SlotId, bytes: &[u8]) {
        let mut rest = bytes;
        let mut freed = None;
        loop {
            let state = &mut self.carriers[id as usize].protocol;
            let mut on = Hearing::<P> {
                places: &mut self.places,
                outgoing: &self.outgoing,
                book: &mut self.book,
                clock: &self.clock,
                speakers: &mut self.speakers,
                now: None,
                spoilt: Vec::new(),
            };
            match self.protocol.take(state, rest, &mut on) {
                Ok(Taken::Part(at)) => {
                    let first_byte = &mut self.places[at].request.first_byte;
                    if first_byte.is_none() {
                        *first_byte = Some(self.clock.now());
                    }
                    break;
                }
                Ok(Taken::Whole { at, bytes, reusable }) => {
                    rest = &rest[bytes..];
                    let Some(done) = self.complete(sockets, at, reusable) else { return };
                    freed = Some(done);
                    if rest.is_empty() && !self.has_more(id) {
                        break;
                    }
                }
                Ok(Taken::All) => break,
                Ok(Taken::Lost { at, bytes, loss }) => {
                    rest = &rest[bytes..];
                    if !self.lose_stream(sockets, at, loss) {
                        return;
                    }
                }
                Ok(Taken::Established { bytes }) => {
                    rest = &rest[bytes..];
                    let now = self.clock.now();
                    self.established_now(sockets, id, now);
                }
                Ok(Taken::Changed { bytes }) => {
                    rest = &rest[bytes..];
                    if !self.room_changed(sockets, id) {
                        return;
                    }
                }
                Ok(Taken::Unasked) => return self.lose_idle(sockets, id),
                Err(failure) => {
                    let now = self.clock.now();
                    self.say_last(sockets, id);
                    return self.connection_lost(sockets, id, failure, now);
                }
            }
        }
        if let Some(done) = freed {
            self.top_up(sockets, id, done);
        }
        self.note_first_bytes(id);
        self.touch(id);
    }

    /// Whether the protocol has more to return of what was read.
    #[inline]
    fn has_more(&self, id: SlotId) -> bool {
        self.protocol.has_more(&self.carriers[id as usize].protocol)
    }

    /// A connection is of no more use, and what is on it fails; one that carries no requests yet has not been made.
    fn connection_lost<S: Sockets>(&mut self, sockets: &mut S, id: SlotId, failure: Failure, now: Nanos) {
        if self.carriers[id as usize].state == State::Greeting {
            self.connection_failed(sockets, id, failure, now);
        } else {
            self.fail(sockets, id, failure, now);
        }
    }

    /// The peer has ended a connection, or it failed.
    fn lost_peer<S: Sockets>(&mut self, sockets: &mut S, id: SlotId, failure: Option<Failure>) {
        if self.carriers[id as usize].state == State::Greeting {
            let silent = "closed before its SETTINGS came; does the server speak HTTP/2 on this port?";
            let failure = failure.unwrap_or(Failure::said(ErrorClass::Protocol, silent));
            let now = self.clock.now();
            return self.connection_failed(sockets, id, failure, now);
        }
        let state = &mut self.carriers[id as usize].protocol;
        if self.protocol.is_idle(state) {
            return self.lose_idle(sockets, id);
        }
        let outcome = match failure {
            Some(failure) => Err(failure),
            None => self.protocol.end(state),
        };
        let now = self.clock.now();
        match outcome {
            Ok(Some(at)) => {
                self.complete(sockets, at, false);
            }
            Ok(None) => {
                let failure =
                    Failure::said(ErrorClass::PrematureClose, "closed before the answer was complete");
                self.fail(sockets, id, failure, now);
            }
            Err(failure) => self.fail(sockets, id, failure, now),
        }
    }
}
