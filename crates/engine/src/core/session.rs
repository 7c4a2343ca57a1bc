//! Sessions of virtual users: the requests of one user in order, with pauses, captured values and cookies.
//!
//! A session begins when a request of the load would: at an arrival of the open loop, or in the closed loop when its
//! user is free. Its later steps are intended at the answer before them plus the think time. A user either stays on a
//! connection of its own, or holds none between two steps and takes any free one ([`Pool`]).

use super::{Core, Pacer, Stage, Waiting};
use crate::book::SessionEnd;
use crate::driver::{SlotId, Sockets};
use pace::{PaceError, Share, Think};
use request::{Captured, CookieJar, Notes, Program, SessionSettings, User};
use schema::scenario::OnFailure;
use schema::scenario::UserConnection;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use units::{Clock, Nanos, Seed};

/// The steps of a scenario's session, for one worker.
pub(crate) struct Steps {
    /// Places in the scenario, in order.
    entries: Vec<u16>,
    /// Pause before each step; the first has none.
    thinks: Vec<Option<Think>>,
    captures: usize,
    on_failure: OnFailure,
    is_pooled: bool,
    share: Share,
    /// Sessions begun so far.
    begun: u64,
    /// Memory of sessions that have ended; boxed, as the slots hold them.
    #[expect(clippy::vec_box, reason = "a slot holds a box, so that one without a session stays small")]
    spare: Vec<Box<Session>>,
}

/// A virtual user's session.
#[derive(Debug, Default)]
pub(crate) struct Session {
    number: u64,
    step: usize,
    intended: Nanos,
    is_failed: bool,
    captured: Captured,
    jar: CookieJar,
    cookies: String,
}

/// Users between two steps that hold no connection.
#[derive(Debug, Default)]
pub(super) struct Pool {
    due: BinaryHeap<Due>,
}

/// A user whose next step is intended at a time.
#[derive(Debug)]
struct Due {
    at: Nanos,
    session: Box<Session>,
}

impl Ord for Due {
    /// The earliest is the greatest, as a heap wants it; equal times in the order of their sessions.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.session.number).cmp(&(self.at, self.session.number))
    }
}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Due {}

impl Pool {
    /// When the next user's step is intended.
    pub(super) fn next(&self) -> Option<Nanos> {
        self.due.peek().map(|due| due.at)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.due.is_empty()
    }

    /// The user whose step is next.
    pub(super) fn pop(&mut self) -> Option<Box<Session>> {
        self.due.pop().map(|due| due.session)
    }

    fn push(&mut self, at: Nanos, session: Box<Session>) {
        self.due.push(Due { at, session });
    }
}

impl Steps {
    pub(super) fn new(
        settings: &SessionSettings,
        program: &Program,
        seed: Seed,
        share: Share,
    ) -> Result<Self, PaceError> {
        let thinks = settings.thinks.iter().enumerate().map(|(step, think)| match think {
            Some(plan) if step > 0 => Think::new(plan, seed.derive("step", step as u64), share).map(Some),
            _ => Ok(None),
        });
        Ok(Self {
            entries: program.steps().unwrap_or_default().to_vec(),
            thinks: thinks.collect::<Result<_, _>>()?,
            captures: program.captures().len(),
            on_failure: settings.on_failure,
            is_pooled: settings.connection == UserConnection::Pool,
            share,
            begun: 0,
            spare: Vec::new(),
        })
    }

    pub(super) fn entry(&self, step: usize) -> u16 {
        self.entries.get(step).copied().unwrap_or_default()
    }

    /// Whether later steps wait for times of their own.
    pub(super) fn think(&self) -> bool {
        self.is_pooled || self.thinks.iter().any(Option::is_some)
    }

    /// Whether users hold no connection between two steps.
    pub(super) const fn is_pooled(&self) -> bool {
        self.is_pooled
    }

    /// The pause before a step.
    fn pause(&mut self, step: usize) -> Nanos {
        self.thinks.get_mut(step).and_then(Option::as_mut).map_or(Nanos::ZERO, Think::next)
    }

    fn begin(&mut self, intended: Nanos) -> Box<Session> {
        let new = || Box::new(Session { captured: Captured::new(self.captures), ..Session::default() });
        let mut session = self.spare.pop().unwrap_or_else(new);
        session.number = self.begun * self.share.workers() + self.share.index();
        self.begun += 1;
        session.step = 0;
        session.intended = intended;
        session.is_failed = false;
        session.captured.clear();
        session.jar.clear();
        session
    }
}

impl Session {
    /// Whether the session stands at its first step.
    pub(crate) const fn is_first(&self) -> bool {
        self.step == 0
    }

    /// What the next request must know of its user.
    pub(super) fn as_user(&mut self) -> User<'_> {
        self.cookies.clear();
        self.jar.render(&mut self.cookies);
        User {
            session: self.number,
            step: self.step as u32,
            captured: &self.captured,
            cookies: &self.cookies,
        }
    }

    /// Takes captured values and cookies from the notes of an answer. A value that is too long is as good as missing;
    /// the request that needs it says so.
    pub(super) fn learn(&mut self, notes: &Notes) {
        for (index, value) in notes.captured() {
            self.captured.set(index, value);
        }
        self.learn_cookies(notes);
    }

    /// Takes cookies from the notes of an answer.
    pub(super) fn learn_cookies(&mut self, notes: &Notes) {
        for (name, value) in notes.cookies() {
            self.jar.set(name, value);
        }
    }
}

impl Core {
    /// A request that was intended at `intended` begins on a slot: where the scenario has sessions, one begins.
    pub(super) fn begin_session(&mut self, id: SlotId, intended: Nanos) {
        let Some(steps) = &mut self.outgoing.steps else { return };
        let slot = &mut self.slots[id as usize];
        if slot.user.is_none() {
            slot.user = Some(steps.begin(intended));
            self.book.session_begun(intended);
        }
    }

    /// A step of the slot's session was answered rightly (`true`) or failed; the session may end with it.
    pub(super) fn step_ended(&mut self, id: SlotId, is_right: bool, now: Nanos) {
        let Some(steps) = &self.outgoing.steps else { return };
        let Some(session) = &mut self.slots[id as usize].user else { return };
        session.step += 1;
        session.is_failed |= !is_right;
        let is_over =
            session.step >= steps.entries.len() || (session.is_failed && steps.on_failure == OnFailure::End);
        if is_over {
            let end = if session.is_failed { SessionEnd::Failed } else { SessionEnd::Completed };
            return self.end_session(id, end, now);
        }
        self.leave_connection(id, now);
    }

    /// A pooled user gives its connection back until its next step.
    fn leave_connection(&mut self, id: SlotId, now: Nanos) {
        let (Some(steps), Some(pool)) = (&mut self.outgoing.steps, &mut self.pool) else { return };
        if let Some(session) = self.slots[id as usize].user.take() {
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
        self.lanes.queue(Waiting { which, intended, dispatched: now, user: Some(session) });
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
    pub(super) fn abort_session(&mut self, id: SlotId, now: Nanos) {
        self.end_session(id, SessionEnd::Failed, now);
    }

    /// Ends the slot's session, if it has one.
    pub(super) fn end_session(&mut self, id: SlotId, end: SessionEnd, now: Nanos) {
        if let Some(session) = self.slots[id as usize].user.take() {
            self.close_session(session, end, now);
        }
    }

    /// A session is over; a pooled user of a closed loop begins its next.
    pub(super) fn close_session(&mut self, session: Box<Session>, end: SessionEnd, now: Nanos) {
        self.book.session_ended(session.intended, end, now);
        if let Some(steps) = &mut self.outgoing.steps {
            steps.spare.push(session);
        }
        if end != SessionEnd::Censored {
            self.next_session(now);
        }
    }

    /// Goes on with the slot's session, at once or after its think time. Returns whether there was one to go on with.
    pub(super) fn go_on<S: Sockets>(&mut self, sockets: &mut S, id: SlotId, free_at: Nanos) -> bool {
        let Some(steps) = &mut self.outgoing.steps else { return false };
        let slot = &mut self.slots[id as usize];
        let Some(session) = &slot.user else { return false };
        if slot.thinking || free_at >= self.book.end() {
            return true;
        }
        let pause = steps.pause(session.step);
        if pause > Nanos::ZERO {
            slot.thinking = true;
            self.thinking.push(Reverse((Nanos(free_at.0.saturating_add(pause.0)), id)));
        } else {
            self.begin_step(sockets, id, free_at, free_at);
        }
        true
    }

    /// Sends the next step of the slot's session.
    pub(super) fn begin_step<S: Sockets>(
        &mut self,
        sockets: &mut S,
        id: SlotId,
        intended: Nanos,
        now: Nanos,
    ) {
        let Some(session) = &self.slots[id as usize].user else { return };
        let which = self.outgoing.next_step(session.step);
        self.book.schedule(intended, which.entry, now);
        let dispatched = self.clock.now();
        self.begin(sockets, id, which, intended, dispatched);
    }
}
