//! The life of virtual users: when their sessions begin, go on and end.
//!
//! A session begins when a request of the load would: at an arrival of the open loop, or in the closed loop when its
//! user is free. Its later steps are intended at the answer before them plus the think time. A user either keeps a seat
//! on a connection, or holds none between two steps and takes any free one ([`Pool`]).

use super::lanes::Waiting;
use super::place::PlaceId;
use super::session::{Pool, Session};
use super::{Core, Pacer, Stage};
use crate::book::SessionEnd;
use crate::driver::Sockets;
use crate::protocol::Protocol;
use std::cmp::Reverse;
use units::{Clock, Nanos};

impl<P: Protocol> Core<P> {
    /// A request that was intended at `intended` begins at a seat: where the scenario has sessions, one begins.
    pub(super) fn begin_session(&mut self, seat: PlaceId, intended: Nanos) {
        let Some(steps) = &mut self.outgoing.steps else { return };
        let place = &mut self.places[seat];
        if place.user.is_none() {
            place.user = Some(steps.begin(intended));
            self.book.session_begun(intended);
        }
    }

    /// A step of the seat's session was answered rightly (`true`) or failed; the session may end with it.
    pub(super) fn step_ended(&mut self, seat: PlaceId, is_right: bool, now: Nanos) {
        let Some(steps) = &self.outgoing.steps else { return };
        let Some(session) = &mut self.places[seat].user else { return };
        session.step += 1;
        session.is_failed |= !is_right;
        if steps.is_over(session) {
            let end = if session.is_failed { SessionEnd::Failed } else { SessionEnd::Completed };
            return self.end_session(seat, end, now);
        }
        self.leave_connection(seat, now);
    }

    /// A pooled user gives its connection back until its next step.
    fn leave_connection(&mut self, seat: PlaceId, now: Nanos) {
        let (Some(steps), Some(pool)) = (&mut self.outgoing.steps, &mut self.pool) else { return };
        if let Some(session) = self.places[seat].user.take() {
            pool.push(now + steps.pause(session.step), session);
        }
    }

    /// The users of a closed loop without connections of their own begin; `count` of them.
    pub(super) fn begin_users(&mut self, count: u64) {
        (0..count).for_each(|_| self.next_session(Nanos::ZERO));
    }

    /// The user of a closed loop without a connection of its own begins its next session, as the budget allows.
    fn next_session(&mut self, free_at: Nanos) {
        let (Some(steps), Some(pool), Pacer::Closed(closed)) =
            (&mut self.outgoing.steps, &mut self.pool, &mut self.pacer)
        else {
            return;
        };
        if self.stage == Stage::Running
            && let Some(intended) = closed.next(free_at, self.book.measure_start())
        {
            pool.push(intended, steps.begin(intended));
        }
    }

    /// The pooled user whose step is due first asks for a connection.
    pub(super) fn dispatch_user(&mut self, intended: Nanos, now: Nanos) {
        let Some(session) = self.pool.as_mut().and_then(Pool::pop) else { return };
        if session.step == 0 {
            self.book.session_begun(session.intended);
        }
        let which = self.outgoing.next_step(session.step);
        self.book.schedule(intended, which.entry, now);
        self.queue(Waiting { which, intended, dispatched: now, user: Some(session) });
    }

    /// Users that wait for their next step when the load is over.
    pub(super) fn censor_users(&mut self) {
        while let Some(session) = self.pool.as_mut().and_then(Pool::pop) {
            // One that never asked for a connection has not begun.
            if session.step > 0 {
                self.close_session(session, SessionEnd::Censored, Nanos::ZERO);
            }
        }
    }

    /// The connection of a session could not be made: it cannot go on.
    pub(super) fn abort_session(&mut self, seat: PlaceId, now: Nanos) {
        self.end_session(seat, SessionEnd::Failed, now);
    }

    /// Ends the seat's session, if it has one.
    pub(super) fn end_session(&mut self, seat: PlaceId, end: SessionEnd, now: Nanos) {
        if let Some(session) = self.places[seat].user.take() {
            self.close_session(session, end, now);
        }
    }

    /// A session is over; a pooled user of a closed loop begins its next.
    pub(super) fn close_session(&mut self, session: Box<Session>, end: SessionEnd, now: Nanos) {
        self.book.session_ended(session.intended, end, now);
        if let Some(steps) = &mut self.outgoing.steps {
            steps.give_back(session);
        }
        if end != SessionEnd::Censored {
            self.next_session(now);
        }
    }

    /// Goes on with the seat's session, at once or after its think time. Returns whether there was one to go on with.
    pub(super) fn go_on<S: Sockets>(&mut self, sockets: &mut S, seat: PlaceId, free_at: Nanos) -> bool {
        let Some(steps) = &mut self.outgoing.steps else { return false };
        let place = &mut self.places[seat];
        let Some(session) = &place.user else { return false };
        if place.thinking || free_at >= self.book.end() {
            return true;
        }
        let pause = steps.pause(session.step);
        if pause > Nanos::ZERO {
            place.thinking = true;
            self.thinking.push(Reverse((Nanos(free_at.0.saturating_add(pause.0)), seat)));
        } else {
            self.begin_step(sockets, seat, free_at, free_at);
        }
        true
    }

    /// Sends the next step of the seat's session.
    pub(super) fn begin_step<S: Sockets>(
        &mut self,
        sockets: &mut S,
        seat: PlaceId,
        intended: Nanos,
        now: Nanos,
    ) {
        let Some(session) = &self.places[seat].user else { return };
        let which = self.outgoing.next_step(session.step);
        self.book.schedule(intended, which.entry, now);
        let dispatched = self.clock.now();
        self.begin(sockets, seat, which, intended, dispatched);
    }
}
