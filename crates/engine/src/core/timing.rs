//! What happens when time has passed: requests and connection attempts time out, pauses and idle connections end.

use super::carrier::State;
use super::deadlines::Watched;
use super::dialogue::Dialogue;
use super::place::{Phase, Place, PlaceId, UNWATCHED};
use super::{Core, Stage};
use crate::book::{MessageEnd, SessionEnd};
use crate::driver::{SlotId, Sockets};
use crate::failure::Failure;
use crate::interval::Lack;
use crate::protocol::{Loss, Protocol, Scope};
use request::CallCheck;
use schema::load::ErrorClass;
use units::Nanos;

/// A moment so long after another.
#[inline]
const fn after(moment: Nanos, time: Nanos) -> Nanos {
    Nanos(moment.0.saturating_add(time.0))
}

impl<P: Protocol> Core<P> {
    /// When [`Core::on_time`] next has something to do, if ever.
    #[inline]
    pub(crate) fn next_deadline(&self) -> Option<Nanos> {
        let limit = self.limits.waiting();
        let waiting = limit.and_then(|limit| self.lanes.longest_waiting().map(|since| after(since, limit)));
        [self.deadlines.next(), waiting.map(|at| self.deadlines.rounded(at))].into_iter().flatten().min()
    }

    /// Ends what has waited too long, and ends pauses.
    pub(crate) fn on_time<S: Sockets>(&mut self, sockets: &mut S, now: Nanos) {
        self.look_at_overdue(sockets, now);
        self.flush(sockets);
    }

    fn look_at_overdue<S: Sockets>(&mut self, sockets: &mut S, now: Nanos) {
        // First those that wait: a connection freed below must not be given to a request that is already overdue.
        self.expire_backlog(now);
        // What is queued meanwhile has its turn the next time, so that this comes to an end.
        for _ in 0..self.deadlines.len() {
            let Some((due, whom)) = self.deadlines.pop(now) else { return };
            match whom {
                Watched::Place(at) if self.places[at].watched == due => {
                    self.places[at].watched = UNWATCHED;
                    self.look_at_place(sockets, at, now);
                }
                Watched::Carrier(id) if self.carriers[id as usize].watched == due => {
                    self.carriers[id as usize].watched = UNWATCHED;
                    self.look_at_carrier(sockets, id, now);
                }
                Watched::Place(_) | Watched::Carrier(_) => {}
            }
        }
    }

    /// The load begins, and the clock with it: what was queued before is void. Ages of connections count from here.
    pub(super) fn begin_deadlines(&mut self) {
        self.deadlines.clear();
        for id in 0..self.carriers.len() as SlotId {
            let carrier = &mut self.carriers[id as usize];
            (carrier.opened, carrier.watched) = (Nanos::ZERO, UNWATCHED);
            self.watch_age(id);
        }
    }

    /// A request of this place begins to wait, or was just sent: from now on it may become overdue.
    #[inline]
    pub(super) fn watch_place(&mut self, at: PlaceId, now: Nanos) {
        let place = &mut self.places[at];
        let mut due = after(now, self.patience);
        if let Some(limit) = self.limits.total {
            due = due.min(after(place.request.intended, limit));
        }
        self.deadlines.watch(Watched::Place(at), &mut place.watched, due);
    }

    /// A connection attempt begins: from now on it may become overdue.
    pub(super) fn watch_attempt(&mut self, id: SlotId, now: Nanos) {
        self.watch_carrier(id, after(now, self.limits.connect));
    }

    /// Has a connection looked at when this moment comes.
    fn watch_carrier(&mut self, id: SlotId, at: Nanos) {
        self.deadlines.watch(Watched::Carrier(id), &mut self.carriers[id as usize].watched, at);
    }

    /// Has a connection looked at when it has reached its age.
    pub(super) fn watch_age(&mut self, id: SlotId) {
        if let Some(lifetime) = self.behaviour.lifetime {
            self.watch_carrier(id, after(self.carriers[id as usize].opened, lifetime));
        }
    }

    /// From written to done: the request's own time-out, or the load's.
    fn response_limit(&self, entry: u16) -> Nanos {
        self.outgoing.timeout_ns(entry).map_or(self.limits.response, Nanos)
    }

    /// When the request of a place is overdue, and how it fails then.
    fn deadline(&self, at: PlaceId) -> (Nanos, Failure) {
        let place = &self.places[at];
        let stream = place.dialogue.as_ref().filter(|dialogue| dialogue.is_stream());
        let answered = match place.phase {
            Phase::Open if stream.is_some() => {
                let since = stream.and_then(|dialogue| self.stream_waits_since(place, dialogue));
                since.map_or(UNWATCHED, |since| after(since, self.response_limit(place.request.which.entry)))
            }
            Phase::Open => after(place.hop_written(), self.response_limit(place.request.which.entry)),
            Phase::Waiting if self.waits_for_room(place) => {
                after(place.hop_written(), self.response_limit(place.request.which.entry))
            }
            Phase::Waiting | Phase::Free => UNWATCHED,
        };
        let ended = self.limits.total.map_or(UNWATCHED, |limit| after(place.request.intended, limit));
        if ended < answered {
            return (ended, Failure::said(ErrorClass::Timeout, "total time-out"));
        }
        (answered, self.unanswered(at))
    }

    /// Since when a stream must go on, or end: a deadline is that of the whole stream, a time-out begins with each message.
    fn stream_waits_since(&self, place: &Place, dialogue: &Dialogue) -> Option<Nanos> {
        let rule = self.outgoing.check(place.request.which.entry).call();
        match rule.is_some_and(CallCheck::has_deadline) {
            true => Some(place.request.ready),
            false => dialogue.waits_since(),
        }
    }

    /// How the request of a place fails whose answer is not complete in time.
    fn unanswered(&self, at: PlaceId) -> Failure {
        let place = &self.places[at];
        if P::HAS_STREAMS {
            if let Some(text) = self.awaits(at) {
                return Failure::said(ErrorClass::Timeout, text);
            }
            let rule = self.outgoing.check(place.request.which.entry).call();
            if rule.is_some_and(CallCheck::has_deadline) {
                let text = "no status from the server within the deadline and the time to hear of it";
                return Failure::said(ErrorClass::GrpcDeadlineExceeded, text);
            }
        }
        let is_stream = place.dialogue.as_ref().is_some_and(|dialogue| dialogue.is_stream());
        let text =
            if is_stream { "nothing came on the stream in time" } else { "no complete answer in time" };
        Failure::said(ErrorClass::Timeout, text)
    }

    /// What the request of a place still waits for before it is written, in a time-out's words.
    fn awaits(&self, at: PlaceId) -> Option<&'static str> {
        let place = &self.places[at];
        let cause = match place.phase {
            Phase::Waiting => self.waits.cause(place.carrier),
            Phase::Open => self.is_held(at).then_some(Lack::Window),
            Phase::Free => None,
        };
        cause.map(|cause| match cause {
            Lack::Connection => "not sent in time: it waited for a connection",
            Lack::Stream => {
                "not sent in time: it waited for a stream, and the server allows no more at a time"
            }
            Lack::Window => "not sent in time: it waited for the server's window",
        })
    }

    /// Whether the body of a request, or the next message of a stream, waits for a window.
    fn is_held(&self, at: PlaceId) -> bool {
        let dialogue = self.places[at].dialogue.as_ref();
        self.waits.is_held(at) || dialogue.is_some_and(|dialogue| dialogue.is_held())
    }

    /// Whether a request waits for a peer that has answered, but takes no more requests.
    fn waits_for_room(&self, place: &Place) -> bool {
        P::HAS_STREAMS && self.carriers[place.carrier as usize].state == State::Open
    }

    fn look_at_place<S: Sockets>(&mut self, sockets: &mut S, at: PlaceId, now: Nanos) {
        let place = &self.places[at];
        if place.phase == Phase::Free {
            return;
        }
        let (due, failure) = self.deadline(at);
        if now >= due {
            return self.time_out(sockets, at, failure, now);
        }
        // The next request of this place may have less time than this one.
        let due = due.min(after(now, self.patience));
        self.deadlines.watch(Watched::Place(at), &mut self.places[at].watched, due);
    }

    /// The request of a place has taken too long. It fails, and with it what cannot go on without it.
    fn time_out<S: Sockets>(&mut self, sockets: &mut S, at: PlaceId, failure: Failure, now: Nanos) {
        let (id, seat) = (self.places[at].carrier, self.places.seat(at));
        let carrier = &mut self.carriers[id as usize];
        if self.places[at].phase == Phase::Waiting {
            carrier.waiting.remove(&at);
            let is_unwanted = carrier.is_connecting() && carrier.waiting.is_empty();
            self.lose(at, failure, now);
            self.step_ended(seat, false, now);
            if is_unwanted {
                self.close(sockets, id);
                self.refill(sockets, id, now);
            } else if P::HAS_STREAMS {
                self.next_request(sockets, seat, now);
            }
            return;
        }
        match self.protocol.cancel(&mut carrier.protocol, at) {
            Scope::Connection => self.fail(sockets, id, failure, now),
            Scope::Stream => {
                self.touch(id);
                self.lose_stream(sockets, at, Loss::Failed(failure));
            }
        }
    }

    fn look_at_carrier<S: Sockets>(&mut self, sockets: &mut S, id: SlotId, now: Nanos) {
        let carrier = &self.carriers[id as usize];
        let age = now.since(carrier.opened);
        match carrier.state {
            State::Connecting | State::Greeting if age >= self.limits.connect => {
                let failure = self.behaviour.connect_timeout(carrier.state == State::Greeting);
                self.connection_failed(sockets, id, failure, now);
            }
            State::Connecting | State::Greeting => {
                self.watch_carrier(id, after(carrier.opened, self.limits.connect));
            }
            State::Paused { until } if now >= until => {
                self.carriers[id as usize].state = State::Closed;
                self.refill(sockets, id, until);
            }
            State::Paused { until } => self.pause(id, until),
            State::Open if !self.behaviour.is_too_old(age) => self.watch_age(id),
            // A connection that is in use ends with its last answer.
            State::Open if self.stage == Stage::Running && self.protocol.is_idle(&carrier.protocol) => {
                self.close(sockets, id);
                if P::HAS_STREAMS {
                    return self.refill(sockets, id, now);
                }
                self.park(sockets, self.places.seats_of(id).start);
            }
            State::Open | State::Closed => {}
        }
    }

    /// Ends arrivals that have waited too long for a connection.
    fn expire_backlog(&mut self, now: Nanos) {
        (0..self.lanes.len()).for_each(|lane| self.expire_lane(lane, now));
    }

    /// As [`Core::expire_backlog`], in one lane.
    pub(super) fn expire_lane(&mut self, lane: usize, now: Nanos) {
        while let Some(front) = self.lanes.lane(lane).backlog.front() {
            let (intended, fate) = (front.intended, front.fate());
            let Some(failure) = self.overdue(intended, now) else { return };
            self.book.fail(fate, failure, now);
            let Some(waiting) = self.pop_waiting(lane, now) else { return };
            self.settle_waiting(&waiting, MessageEnd::of(failure.class), now);
            if let Some(session) = waiting.user {
                self.close_session(session, SessionEnd::Failed, now);
            }
        }
    }

    /// How a waiting arrival fails at `now`, if it does.
    #[inline]
    fn overdue(&self, intended: Nanos, now: Nanos) -> Option<Failure> {
        let beyond = |limit: Option<Nanos>| limit.is_some_and(|limit| now.since(intended) > limit);
        if beyond(self.limits.deadline) {
            return Some(Failure::said(ErrorClass::Deadline, "not sent before its deadline"));
        }
        beyond(self.limits.total)
            .then(|| Failure::said(ErrorClass::Timeout, "total time-out while waiting for a connection"))
    }
}
