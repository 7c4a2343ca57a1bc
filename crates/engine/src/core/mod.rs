//! What a worker does about arrivals, answers and failures: the life of requests and connections.
//!
//! Here: when requests are due and which slot takes them. `exchange`: a request on a connection. `connection`: how
//! connections come and go. The hot path (an arrival or a free connection → write; bytes → parse → record → next
//! write) allocates nothing and shares nothing. Recursion is bounded: a failed connection attempt never starts the
//! next one by itself.

mod connection;
mod exchange;
mod follow;
mod lanes;
#[cfg(test)]
mod model;
mod outgoing;
mod script;
mod session;

use crate::book::{Book, Fate, SessionEnd};
use crate::driver::{Route, SlotId, Sockets};
use crate::failure::Failure;
use crate::names::Names;
use crate::rows::NO_SLOT;
use crate::slot::{InFlight, Slot, State, Which};
pub(crate) use connection::Behaviour;
pub(crate) use follow::{Follow, Trail};
use lanes::Lanes;
pub(crate) use outgoing::Outgoing;
use pace::{Closed, Schedule};
use schema::load::ErrorClass;
pub(crate) use script::Heard;
pub(crate) use session::Session;
use session::{Pool, Steps};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use units::{Clock, MonotonicClock, Nanos};

/// Arrivals dispatched before the sockets are looked at again.
const DISPATCH_MAX: usize = 64;

/// When requests are intended.
#[derive(Debug)]
pub(crate) enum Pacer {
    Closed(Closed),
    Open(Schedule),
}

/// Time-outs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) connect: Nanos,
    pub(crate) response: Nanos,
    pub(crate) total: Option<Nanos>,
    /// Open loop: longest wait from intended to written.
    pub(crate) deadline: Option<Nanos>,
}

impl Limits {
    /// The shortest of them, which sets how often to look.
    pub(crate) fn shortest(&self) -> Nanos {
        [self.total, self.deadline].into_iter().flatten().fold(self.response.min(self.connect), Nanos::min)
    }
}

/// An arrival that found no connection.
#[derive(Debug)]
struct Waiting {
    which: Which,
    intended: Nanos,
    dispatched: Nanos,
    /// The pooled user whose step it is.
    user: Option<Box<Session>>,
}

impl Waiting {
    const fn fate(&self) -> Fate {
        Fate {
            intended: self.intended,
            entry: self.which.entry,
            was_written: false,
            n: self.which.n,
            slot: NO_SLOT,
            dispatched: self.dispatched,
            written: self.dispatched,
            first_byte: None,
            status: 0,
            body_bytes: 0,
        }
    }
}

/// Where the trial stands for this worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Connections are opened; no request yet.
    Setup,
    Running,
    /// Requests in flight may finish; none is started.
    Draining,
}

/// All of a worker but its driver.
pub(crate) struct Core {
    pub(crate) book: Book,
    clock: MonotonicClock,
    /// Ways to the origins, and what is idle or waits for each.
    lanes: Lanes,
    /// Resolves the target's name for every connection, where that is asked for.
    names: Option<Names>,
    outgoing: Outgoing,
    /// Sessions without connections of their own: users between two steps.
    pool: Option<Pool>,
    /// Closed loop: how many such users this worker has.
    users: u64,
    limits: Limits,
    behaviour: Behaviour,
    /// Which redirects are followed; none without.
    follow: Option<Follow>,
    pacer: Pacer,
    slots: Vec<Slot>,
    /// Slots whose connection attempt is under way.
    connecting: usize,
    /// Closed loop: slots whose think time runs, by the end of it.
    thinking: BinaryHeap<Reverse<(Nanos, SlotId)>>,
    stage: Stage,
    setup_failures: Vec<Failure>,
}

/// What a core is made of.
pub(crate) struct Parts {
    pub(crate) book: Book,
    pub(crate) clock: MonotonicClock,
    /// Ways to each origin, at least one.
    pub(crate) routes: Vec<Vec<Route>>,
    /// The origin of each entry, as a place in `routes`; not needed where there is one.
    pub(crate) origins: Vec<u16>,
    pub(crate) names: Option<Names>,
    pub(crate) outgoing: Outgoing,
    /// Closed loop of sessions that share connections: users of this worker.
    pub(crate) users: u64,
    pub(crate) limits: Limits,
    pub(crate) behaviour: Behaviour,
    pub(crate) follow: Option<Follow>,
    pub(crate) pacer: Pacer,
    /// Slots for each origin; in the open loop more than are opened ahead, for growth on demand.
    pub(crate) slots: usize,
}

impl Core {
    pub(crate) fn new(parts: Parts) -> Self {
        let takes_turns = matches!(parts.pacer, Pacer::Closed(_));
        let lanes = Lanes::new(parts.routes, parts.origins, parts.slots, takes_turns);
        let mut behaviour = parts.behaviour;
        if parts.outgoing.steps.is_some() || parts.follow.is_some() || lanes.len() > 1 {
            // A step of a session waits for the answer to the one before, a hop follows its own, and what comes next may
            // go to another origin: there is nothing to send behind.
            behaviour.pipeline = 1;
        }
        let mut outgoing = parts.outgoing;
        outgoing.sends_one_at_a_time(parts.follow.is_some());
        Self {
            book: parts.book,
            clock: parts.clock,
            names: parts.names,
            pool: outgoing.steps.as_ref().is_some_and(Steps::is_pooled).then(Pool::default),
            outgoing,
            users: parts.users,
            limits: parts.limits,
            behaviour,
            follow: parts.follow,
            pacer: parts.pacer,
            slots: std::iter::repeat_with(Slot::new).take(lanes.slots()).collect(),
            connecting: 0,
            thinking: BinaryHeap::with_capacity(lanes.slots()),
            lanes,
            stage: Stage::Setup,
            setup_failures: Vec::new(),
        }
    }

    /// Whether requests have intended times that must be waited for.
    pub(crate) fn waits_for_times(&self) -> bool {
        let sessions_think = self.outgoing.steps.as_ref().is_some_and(Steps::think);
        match &self.pacer {
            Pacer::Open(_) => true,
            Pacer::Closed(closed) => closed.thinks() || sessions_think || self.outgoing.has_delay(),
        }
    }

    /// Whether a connection may have several requests on it at a time.
    pub(crate) fn is_pipelined(&self) -> bool {
        self.behaviour.pipeline > 1
    }

    pub(crate) fn slots(&self) -> usize {
        self.slots.len()
    }

    /// The bytes that are sent over and over.
    pub(crate) fn lasting_bytes(&self) -> Arc<[u8]> {
        self.outgoing.lasting_bytes()
    }

    pub(crate) fn now(&self) -> Nanos {
        self.clock.now()
    }

    /// The load begins: `clock` reads zero now.
    pub(crate) fn start<S: Sockets>(&mut self, sockets: &mut S, clock: MonotonicClock) {
        self.clock = clock;
        self.stage = Stage::Running;
        self.book.start();
        let is_heard = self.outgoing.wants_answers();
        for slot in &mut self.slots {
            slot.heard = is_heard.then(Box::default);
            slot.trail = self.follow.is_some().then(Box::default);
            // Ages of connections count from the begin of the load.
            slot.opened = Nanos::ZERO;
        }
        for slot in 0..self.lanes.starting() {
            self.next_request(sockets, slot as SlotId, Nanos::ZERO);
        }
        if self.pool.is_some() {
            self.begin_users(self.users);
        }
    }

    /// The next intended time that must be waited for, if a schedule or think time and not an answer sets it.
    #[inline]
    pub(crate) fn next_intended(&self) -> Option<Nanos> {
        if self.stage != Stage::Running {
            return None;
        }
        let on_slots = self.thinking.peek().map(|Reverse((intended, _))| *intended);
        let pooled = self.pool.as_ref().and_then(Pool::next);
        let thought = [on_slots, pooled].into_iter().flatten().min();
        match &self.pacer {
            Pacer::Open(schedule) => {
                let arrival = schedule.peek();
                Some(thought.map_or(arrival, |thought| thought.min(arrival)))
            }
            Pacer::Closed(_) => thought,
        }
        .filter(|next| *next < self.book.end())
    }

    /// Dispatches requests that are due, and those that wait, as far as there are connections.
    pub(crate) fn dispatch_due<S: Sockets>(&mut self, sockets: &mut S, now: Nanos) {
        let mut now = now;
        for _ in 0..DISPATCH_MAX {
            let Some(intended) = self.next_intended().filter(|next| *next <= now) else { break };
            match &mut self.pacer {
                Pacer::Open(schedule) if schedule.peek() == intended => {
                    schedule.advance();
                    let which = self.outgoing.next();
                    self.book.schedule(intended, which.entry, now);
                    self.lanes.queue(Waiting { which, intended, dispatched: now, user: None });
                    self.serve_backlog(sockets, now);
                }
                Pacer::Open(_) | Pacer::Closed(_) => {
                    if self.pool.as_ref().and_then(Pool::next) == Some(intended) {
                        self.dispatch_user(intended, now);
                        self.serve_backlog(sockets, now);
                    } else {
                        self.end_thinking(sockets, now);
                    }
                }
            }
            now = self.clock.now();
        }
        self.serve_backlog(sockets, now);
    }

    /// The think time that ends first has ended.
    fn end_thinking<S: Sockets>(&mut self, sockets: &mut S, now: Nanos) {
        let Some(Reverse((intended, id))) = self.thinking.pop() else { return };
        let slot = &mut self.slots[id as usize];
        slot.thinking = false;
        if slot.user.is_some() {
            return self.begin_step(sockets, id, intended, now);
        }
        let which = self.outgoing.next();
        let id = self.lanes.turn_to(id, which.entry);
        self.book.schedule(intended, which.entry, now);
        self.begin_session(id, intended);
        self.begin(sockets, id, which, intended, now);
        // A pipeline has one think time running at a time: the next one begins now.
        self.top_up(sockets, id, now);
    }

    /// No request is intended from now on. What the schedule still holds before the end was never noticed in time to
    /// be sent: it is scheduled, and will be censored.
    pub(crate) fn begin_drain(&mut self, now: Nanos) {
        while let Some(intended) = self.next_intended() {
            match &mut self.pacer {
                Pacer::Open(schedule) if schedule.peek() == intended => {
                    schedule.advance();
                }
                Pacer::Open(_) | Pacer::Closed(_) => {
                    if self.pool.as_ref().and_then(Pool::next) == Some(intended) {
                        self.dispatch_user(intended, now);
                        continue;
                    }
                    self.thinking.pop();
                }
            }
            let which = self.outgoing.next();
            self.book.schedule(intended, which.entry, now);
            self.lanes.queue(Waiting { which, intended, dispatched: now, user: None });
        }
        self.stage = Stage::Draining;
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.stage == Stage::Draining
    }

    /// Whether requests on connections can still end.
    pub(crate) fn has_dispatched(&self) -> bool {
        self.book.in_system() > self.lanes.waiting() as u64
    }

    /// Whether a request budget is spent and answered.
    pub(crate) fn is_spent(&self) -> bool {
        let has_no_more =
            self.outgoing.is_stopped() || matches!(&self.pacer, Pacer::Closed(closed) if closed.is_spent());
        has_no_more
            && self.book.in_system() == 0
            && self.thinking.is_empty()
            && self.pool.as_ref().is_none_or(Pool::is_empty)
    }

    /// Counts everything unsent or in flight as censored.
    pub(crate) fn censor_rest(&mut self) {
        for slot in &mut self.slots {
            for (request, was_written) in slot.take_requests() {
                self.book.censor(fate(&request, was_written));
            }
            if let Some(held) = slot.held.take() {
                self.book.censor(fate(&held, false));
            }
        }
        let waiting: Vec<Waiting> = self.lanes.all().flat_map(|lane| lane.backlog.drain(..)).collect();
        for waiting in waiting {
            self.book.censor(waiting.fate());
            if let Some(session) = waiting.user {
                self.close_session(session, SessionEnd::Censored, Nanos::ZERO);
            }
        }
        self.censor_users();
        for id in 0..self.slots.len() {
            self.end_session(id as SlotId, SessionEnd::Censored, Nanos::ZERO);
        }
    }

    /// Ends what has waited too long, and ends pauses.
    pub(crate) fn sweep<S: Sockets>(&mut self, sockets: &mut S, now: Nanos) {
        // First those that wait: a connection freed below must not be given to a request that is already overdue.
        self.expire_backlog(now);
        self.outgoing.refresh();
        let limits = self.limits;
        let overdue = |since: Nanos, limit: Nanos| now.since(since) > limit;
        for id in 0..self.slots.len() {
            let (id, slot) = (id as SlotId, &self.slots[id]);
            match (slot.state, &slot.request) {
                (State::Connecting, _) if overdue(slot.opened, limits.connect) => {
                    let failure = self.behaviour.connect_timeout();
                    self.connection_failed(sockets, id, failure, now);
                }
                (State::Sending { .. } | State::Waiting, Some(request))
                    if overdue(slot.hop_written(request), self.response_limit(request)) =>
                {
                    let failure = Failure::said(ErrorClass::Timeout, "no complete answer in time");
                    self.fail(sockets, id, failure, now);
                }
                (_, Some(request)) if limits.total.is_some_and(|limit| overdue(request.intended, limit)) => {
                    self.fail(sockets, id, Failure::said(ErrorClass::Timeout, "total time-out"), now);
                }
                (State::Paused { until }, _) if now >= until => {
                    self.slots[id as usize].state = State::Closed;
                    self.next_request(sockets, id, until);
                }
                (State::Idle, None)
                    if self.stage == Stage::Running && self.behaviour.is_too_old(now.since(slot.opened)) =>
                {
                    self.close(sockets, id);
                    self.park(sockets, id);
                }
                _ => {}
            }
        }
    }

    /// Ends arrivals that have waited too long for a connection.
    fn expire_backlog(&mut self, now: Nanos) {
        (0..self.lanes.len()).for_each(|lane| self.expire_lane(lane, now));
    }

    fn expire_lane(&mut self, lane: usize, now: Nanos) {
        while let Some(front) = self.lanes.lane(lane).backlog.front() {
            let (intended, fate) = (front.intended, front.fate());
            let Some(failure) = self.overdue(intended, now) else { return };
            self.book.fail(fate, failure, now);
            if let Some(session) = self.lanes.lane(lane).backlog.pop_front().and_then(|waiting| waiting.user)
            {
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

    /// The first waiting arrival of a lane that may still be sent.
    #[inline]
    fn next_waiting(&mut self, lane: usize, now: Nanos) -> Option<Waiting> {
        if self.limits.deadline.is_some() {
            self.expire_lane(lane, now);
        }
        self.lanes.lane(lane).backlog.pop_front()
    }

    /// Gives waiting arrivals to connected slots, then to closed ones.
    #[inline]
    fn serve_backlog<S: Sockets>(&mut self, sockets: &mut S, now: Nanos) {
        for lane in 0..self.lanes.len() {
            self.serve_lane(sockets, lane, now);
        }
    }

    #[inline]
    fn serve_lane<S: Sockets>(&mut self, sockets: &mut S, lane: usize, now: Nanos) {
        for _ in 0..DISPATCH_MAX {
            if self.lanes.lane(lane).backlog.is_empty() || self.stage != Stage::Running {
                return;
            }
            let Some(slot) = self.take_idle(lane).or_else(|| self.lanes.lane(lane).closed.pop()) else {
                return;
            };
            match self.next_waiting(lane, now) {
                Some(waiting) => self.begin_waiting(sockets, slot, waiting),
                None => return self.park(sockets, slot),
            }
        }
    }

    /// The longest idle slot of a lane; entries whose connection has gone meanwhile are dropped.
    #[inline]
    fn take_idle(&mut self, lane: usize) -> Option<SlotId> {
        while let Some(id) = self.lanes.lane(lane).idle.pop_front() {
            let slot = &mut self.slots[id as usize];
            slot.queued = false;
            if slot.state == State::Idle && slot.request.is_none() {
                return Some(id);
            }
        }
        None
    }

    /// A slot (idle or closed) has no request: finds one for it, or parks it. `free_at` is the moment it became free.
    #[inline]
    fn next_request<S: Sockets>(&mut self, sockets: &mut S, id: SlotId, free_at: Nanos) {
        if self.put_held(sockets, id) {
            return;
        }
        if self.stage != Stage::Running {
            return self.park(sockets, id);
        }
        if self.go_on(sockets, id, free_at) {
            return;
        }
        match self.pacer {
            Pacer::Closed(_) if self.pool.is_none() => self.next_closed(sockets, id, free_at),
            Pacer::Open(_) | Pacer::Closed(_) => match self.next_waiting(self.lanes.of_slot(id), free_at) {
                Some(waiting) => self.begin_waiting(sockets, id, waiting),
                None => self.park(sockets, id),
            },
        }
    }

    /// Gives a waiting arrival to a slot.
    #[inline]
    fn begin_waiting<S: Sockets>(&mut self, sockets: &mut S, id: SlotId, waiting: Waiting) {
        match waiting.user {
            Some(session) => self.slots[id as usize].user = Some(session),
            None => self.begin_session(id, waiting.intended),
        }
        self.begin(sockets, id, waiting.which, waiting.intended, waiting.dispatched);
    }

    /// From written to done: the request's own time-out, or the load's.
    #[inline]
    fn response_limit(&self, request: &InFlight) -> Nanos {
        self.outgoing.timeout_ns(request.which.entry).map_or(self.limits.response, Nanos)
    }

    /// The closed loop's next request on a slot: at once, after its think time, or never.
    #[inline]
    fn next_closed<S: Sockets>(&mut self, sockets: &mut S, id: SlotId, free_at: Nanos) {
        let Pacer::Closed(closed) = &mut self.pacer else { return };
        if free_at >= self.book.end() || self.slots[id as usize].thinking || !self.lanes.has_turn(id) {
            return;
        }
        if self.outgoing.is_stopped() {
            return;
        }
        let Some(mut intended) = closed.next(free_at, self.book.measure_start()) else { return };
        if self.outgoing.has_delay() {
            intended += self.outgoing.delay();
        }
        if intended > free_at {
            self.slots[id as usize].thinking = true;
            self.thinking.push(Reverse((intended, id)));
            return;
        }
        let which = self.outgoing.next();
        let id = self.lanes.turn_to(id, which.entry);
        self.book.schedule(intended, which.entry, free_at);
        self.begin_session(id, intended);
        let dispatched = self.clock.now();
        self.begin(sockets, id, which, intended, dispatched);
    }

    /// Keeps a slot for later; in the open loop a connection that has served is replaced ahead of its next use.
    fn park<S: Sockets>(&mut self, sockets: &mut S, id: SlotId) {
        let holds = matches!(self.pacer, Pacer::Closed(_)) && self.pool.is_none();
        if holds || self.stage == Stage::Setup {
            return;
        }
        let slot = &mut self.slots[id as usize];
        match slot.state {
            State::Idle if !slot.queued => {
                slot.queued = true;
                let lane = self.lanes.of_slot(id);
                self.lanes.lane(lane).idle.push_back(id);
            }
            State::Closed if slot.answers > 0 && self.stage == Stage::Running => {
                slot.answers = 0;
                self.connect(sockets, id);
            }
            State::Closed => self.lie_closed(id),
            _ => {}
        }
    }
}

impl Core {
    /// Open loop: a slot without a connection waits for an arrival that needs one.
    fn lie_closed(&mut self, id: SlotId) {
        let lane = self.lanes.of_slot(id);
        self.lanes.lane(lane).closed.push(id);
    }
}

/// What the book must know of a request that ends here.
fn fate(request: &InFlight, was_written: bool) -> Fate {
    // A redirected request has been written at least once.
    Fate::of(request, was_written || request.hops > 0)
}
