//! What a worker does about arrivals, answers and failures: the life of requests and connections.
//!
//! The hot path (an arrival or a free connection → write; bytes → parse → record → next write) allocates nothing and
//! shares nothing. Recursion is bounded: a failed connection attempt never starts the next one by itself.

use crate::book::Book;
use crate::driver::{Handler, Handshake, SlotId, Sockets};
use crate::failure::{Cause, Failure};
use crate::slot::{InFlight, Slot, State};
use pace::{Closed, Schedule};
use request::{Answer, Judged, Prepared};
use schema::load::ErrorClass;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use units::{Clock, MonotonicClock, Nanos};
use wire::{Ended, Feed};

/// Arrivals dispatched before the sockets are looked at again.
const DISPATCH_MAX: usize = 64;
/// Pause after a failed connection attempt in the closed loop: doubled with each failure in a row.
const PAUSE: (Nanos, Nanos) = (Nanos::from_millis(10), Nanos::SECOND);

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
}

/// An arrival that found no connection.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    intended: Nanos,
    dispatched: Nanos,
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
    to: SocketAddr,
    prepared: Arc<Prepared>,
    limits: Limits,
    pacer: Pacer,
    slots: Vec<Slot>,
    /// Open loop: connected slots without a request, longest idle first.
    idle: VecDeque<SlotId>,
    /// Open loop: slots without a connection.
    closed: Vec<SlotId>,
    /// Open loop: arrivals waiting for a connection, in order of intended time.
    backlog: VecDeque<Waiting>,
    stage: Stage,
    setup_failures: Vec<Failure>,
}

impl Core {
    pub(crate) fn new(
        book: Book,
        clock: MonotonicClock,
        to: SocketAddr,
        prepared: Arc<Prepared>,
        limits: Limits,
        pacer: Pacer,
        connections: u32,
    ) -> Self {
        let count = connections as usize;
        Self {
            book,
            clock,
            to,
            prepared,
            limits,
            pacer,
            slots: std::iter::repeat_with(Slot::new).take(count).collect(),
            idle: VecDeque::with_capacity(count),
            closed: Vec::with_capacity(count),
            backlog: VecDeque::with_capacity(1024),
            stage: Stage::Setup,
            setup_failures: Vec::new(),
        }
    }

    pub(crate) fn connections(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn now(&self) -> Nanos {
        self.clock.now()
    }

    /// Opens a slot's connection before the load begins.
    pub(crate) fn open_ahead<S: Sockets>(&mut self, sockets: &mut S, slot: SlotId) {
        self.connect(sockets, slot);
    }

    /// Slots whose first connection attempt is under way.
    pub(crate) fn connecting(&self) -> usize {
        self.slots.iter().filter(|slot| slot.state == State::Connecting).count()
    }

    pub(crate) fn established(&self) -> u64 {
        self.slots.iter().filter(|slot| slot.state == State::Idle).count() as u64
    }

    pub(crate) fn take_setup_failures(&mut self) -> Vec<Failure> {
        std::mem::take(&mut self.setup_failures)
    }

    /// The load begins: `clock` reads zero now.
    pub(crate) fn start<S: Sockets>(&mut self, sockets: &mut S, clock: MonotonicClock) {
        self.clock = clock;
        self.stage = Stage::Running;
        self.book.start();
        for slot in 0..self.slots.len() {
            self.next_request(sockets, slot as SlotId, Nanos::ZERO);
        }
    }

    /// The next intended time that must be waited for, if the schedule and not an answer sets it.
    pub(crate) fn next_intended(&self) -> Option<Nanos> {
        match &self.pacer {
            Pacer::Open(schedule) if self.stage == Stage::Running => {
                Some(schedule.peek()).filter(|next| *next < self.book.end())
            }
            _ => None,
        }
    }

    /// Dispatches arrivals that are due, and those that wait, as far as there are connections.
    pub(crate) fn dispatch_due<S: Sockets>(&mut self, sockets: &mut S, now: Nanos) {
        let mut now = now;
        for _ in 0..DISPATCH_MAX {
            let Some(intended) = self.next_intended().filter(|next| *next <= now) else { break };
            if let Pacer::Open(schedule) = &mut self.pacer {
                schedule.advance();
            }
            self.book.schedule(intended, now);
            self.backlog.push_back(Waiting { intended, dispatched: now });
            self.serve_backlog(sockets);
            now = self.clock.now();
        }
        self.serve_backlog(sockets);
    }

    /// No request is intended from now on. What the schedule still holds before the end was never noticed in time to
    /// be sent: it is scheduled, and will be censored.
    pub(crate) fn begin_drain(&mut self, now: Nanos) {
        while let Some(intended) = self.next_intended() {
            if let Pacer::Open(schedule) = &mut self.pacer {
                schedule.advance();
            }
            self.book.schedule(intended, now);
            self.backlog.push_back(Waiting { intended, dispatched: now });
        }
        self.stage = Stage::Draining;
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.stage == Stage::Draining
    }

    /// Whether requests on connections can still end.
    pub(crate) fn has_dispatched(&self) -> bool {
        self.book.in_system() > self.backlog.len() as u64
    }

    /// Whether a request budget is spent and answered.
    pub(crate) fn is_spent(&self) -> bool {
        matches!(&self.pacer, Pacer::Closed(closed) if closed.is_spent()) && self.book.in_system() == 0
    }

    /// Counts everything unsent or in flight as censored.
    pub(crate) fn censor_rest(&mut self) {
        for slot in &mut self.slots {
            if let Some(request) = slot.request.take() {
                self.book.censor(request.intended, slot.state == State::Waiting);
            }
        }
        for waiting in self.backlog.drain(..) {
            self.book.censor(waiting.intended, false);
        }
    }

    /// Ends what has waited too long, and ends pauses.
    pub(crate) fn sweep<S: Sockets>(&mut self, sockets: &mut S, now: Nanos) {
        // First those that wait: a connection freed below must not be given to a request that is already overdue.
        self.expire_backlog(now);
        let limits = self.limits;
        let overdue = |since: Nanos, limit: Nanos| now.since(since) > limit;
        for id in 0..self.slots.len() {
            let (id, slot) = (id as SlotId, &self.slots[id]);
            match (slot.state, &slot.request) {
                (State::Connecting, _) if overdue(slot.opened, limits.connect) => {
                    let failure = Failure::new(ErrorClass::ConnectTimeout);
                    self.connection_failed(sockets, id, failure, now);
                }
                (State::Sending { .. } | State::Waiting, Some(request))
                    if overdue(request.written, limits.response) =>
                {
                    self.fail(
                        sockets,
                        id,
                        Failure::said(ErrorClass::Timeout, "no complete answer in time"),
                        now,
                    );
                }
                (_, Some(request)) if limits.total.is_some_and(|limit| overdue(request.intended, limit)) => {
                    self.fail(sockets, id, Failure::said(ErrorClass::Timeout, "total time-out"), now);
                }
                (State::Paused { until }, _) if now >= until => {
                    self.slots[id as usize].state = State::Closed;
                    self.next_request(sockets, id, until);
                }
                _ => {}
            }
        }
    }

    fn expire_backlog(&mut self, now: Nanos) {
        let Some(limit) = self.limits.total else { return };
        while let Some(front) = self.backlog.front().filter(|front| now.since(front.intended) > limit) {
            let failure = Failure::said(ErrorClass::Timeout, "total time-out while waiting for a connection");
            self.book.fail(front.intended, false, failure, now);
            self.backlog.pop_front();
        }
    }

    /// Gives waiting arrivals to connected slots, then to closed ones.
    #[inline]
    fn serve_backlog<S: Sockets>(&mut self, sockets: &mut S) {
        for _ in 0..DISPATCH_MAX {
            if self.backlog.is_empty() || self.stage != Stage::Running {
                return;
            }
            let Some(slot) = self.take_idle().or_else(|| self.closed.pop()) else { return };
            if let Some(waiting) = self.backlog.pop_front() {
                self.begin(sockets, slot, waiting.intended, waiting.dispatched);
            }
        }
    }

    /// The longest idle slot; entries whose connection has gone meanwhile are dropped.
    #[inline]
    fn take_idle(&mut self) -> Option<SlotId> {
        while let Some(id) = self.idle.pop_front() {
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
    fn next_request<S: Sockets>(&mut self, sockets: &mut S, slot: SlotId, free_at: Nanos) {
        let next = match &mut self.pacer {
            _ if self.stage != Stage::Running => None,
            Pacer::Closed(closed) if free_at < self.book.end() => closed.next(free_at).map(|intended| {
                self.book.schedule(intended, free_at);
                Waiting { intended, dispatched: self.clock.now() }
            }),
            Pacer::Closed(_) => None,
            Pacer::Open(_) => self.backlog.pop_front(),
        };
        match next {
            Some(waiting) => self.begin(sockets, slot, waiting.intended, waiting.dispatched),
            None => self.park(sockets, slot),
        }
    }

    /// Keeps a slot for later; in the open loop a connection that has served is replaced ahead of its next use.
    fn park<S: Sockets>(&mut self, sockets: &mut S, id: SlotId) {
        if matches!(self.pacer, Pacer::Closed(_)) || self.stage == Stage::Setup {
            return;
        }
        let slot = &mut self.slots[id as usize];
        match slot.state {
            State::Idle if !slot.queued => {
                slot.queued = true;
                self.idle.push_back(id);
            }
            State::Closed if slot.answers > 0 && self.stage == Stage::Running => {
                slot.answers = 0;
                self.connect(sockets, id);
            }
            State::Closed => self.closed.push(id),
            _ => {}
        }
    }

    /// Puts a request on a slot and sends it, connecting first where needed.
    #[inline]
    fn begin<S: Sockets>(&mut self, sockets: &mut S, id: SlotId, intended: Nanos, dispatched: Nanos) {
        let slot = &mut self.slots[id as usize];
        slot.request =
            Some(InFlight { intended, dispatched, written: dispatched, answer: Answer::default() });
        match slot.state {
            State::Idle => {
                // In the closed loop the stamp just taken is the moment before the write; a second reading of the
                // clock would cost more than it tells. An arrival of the open loop may have waited since.
                let now = if matches!(self.pacer, Pacer::Closed(_)) { dispatched } else { self.clock.now() };
                self.write(sockets, id, now);
            }
            _ => self.connect(sockets, id),
        }
    }

    fn connect<S: Sockets>(&mut self, sockets: &mut S, id: SlotId) {
        let now = self.clock.now();
        let slot = &mut self.slots[id as usize];
        slot.opened = now;
        slot.handshake = Nanos::ZERO;
        slot.state = State::Connecting;
        if let Err(failure) = sockets.connect(id, self.to) {
            self.connection_failed(sockets, id, failure, now);
        }
    }

    /// Writes the slot's request from its beginning. `written` is stamped just before the bytes are handed over, so
    /// service time includes the system's sending path.
    #[inline]
    fn write<S: Sockets>(&mut self, sockets: &mut S, id: SlotId, now: Nanos) {
        let slot = &mut self.slots[id as usize];
        slot.parser.begin(self.prepared.is_head());
        slot.state = State::Sending { sent: 0 };
        self.write_on(sockets, id, now);
    }

    #[inline]
    fn write_on<S: Sockets>(&mut self, sockets: &mut S, id: SlotId, now: Nanos) {
        let slot = &mut self.slots[id as usize];
        let (State::Sending { sent }, Some(request)) = (slot.state, &mut slot.request) else { return };
        request.written = now;
        let rest = &self.prepared.bytes()[sent..];
        match sockets.send(id, rest) {
            Ok(taken) => {
                self.book.bytes_written(taken);
                if taken == rest.len() {
                    slot.state = State::Waiting;
                    self.book.written();
                } else {
                    slot.state = State::Sending { sent: sent + taken };
                }
            }
            Err(failure) => self.fail(sockets, id, failure, now),
        }
    }

    /// A complete answer; `reusable` tells whether the connection may serve again.
    #[inline]
    fn complete<S: Sockets>(&mut self, sockets: &mut S, id: SlotId, reusable: bool) {
        let done = self.clock.now();
        let slot = &mut self.slots[id as usize];
        let Some(request) = slot.request.take() else { return };
        let was_written = slot.state == State::Waiting;
        slot.answers += 1;
        self.book.status(request.answer.status(), request.intended, done);
        if !was_written {
            // An answer before the request was read to its end: the rest of the request is not sent.
            self.book.written();
        }
        match request.answer.finish(self.prepared.check()) {
            Judged::Right => self.book.complete(&request, done),
            Judged::UnexpectedStatus => {
                let cause = Cause::Status(request.answer.status());
                self.book.fail(
                    request.intended,
                    true,
                    Failure { class: ErrorClass::UnexpectedStatus, cause },
                    done,
                );
            }
            Judged::WrongBody => {
                let failure = Failure::said(ErrorClass::WrongBody, "the body is not the expected one");
                self.book.fail(request.intended, true, failure, done);
            }
        }
        if reusable && was_written {
            self.slots[id as usize].state = State::Idle;
        } else {
            self.close(sockets, id);
        }
        self.next_request(sockets, id, done);
    }

    /// The slot's request failed; its connection is of no more use.
    fn fail<S: Sockets>(&mut self, sockets: &mut S, id: SlotId, failure: Failure, now: Nanos) {
        let slot = &mut self.slots[id as usize];
        let was_written = slot.state == State::Waiting;
        if let Some(request) = slot.request.take() {
            self.book.fail(request.intended, was_written, failure, now);
        }
        self.close(sockets, id);
        self.next_request(sockets, id, now);
    }

    /// A connection attempt failed, and with it the request it was made for, if any. The slot rests: the closed loop
    /// pauses, the open loop leaves it for the next arrival.
    fn connection_failed<S: Sockets>(&mut self, sockets: &mut S, id: SlotId, failure: Failure, now: Nanos) {
        self.close(sockets, id);
        let slot = &mut self.slots[id as usize];
        slot.refusals = slot.refusals.saturating_add(1);
        let pause = Nanos(PAUSE.0.0 << slot.refusals.min(16)).min(PAUSE.1);
        let request = slot.request.take();
        match (self.stage, &self.pacer) {
            (Stage::Setup, _) => self.setup_failures.push(failure),
            (_, Pacer::Closed(_)) => slot.state = State::Paused { until: now + pause },
            (_, Pacer::Open(_)) => self.closed.push(id),
        }
        if let Some(request) = request {
            self.book.fail(request.intended, false, failure, now);
        }
    }

    fn close<S: Sockets>(&mut self, sockets: &mut S, id: SlotId) {
        sockets.close(id);
        self.slots[id as usize].state = State::Closed;
    }
}

impl<S: Sockets> Handler<S> for Core {
    fn connected(&mut self, sockets: &mut S, id: SlotId, result: Result<(), Failure>) {
        let now = self.clock.now();
        if let Err(failure) = result {
            return self.connection_failed(sockets, id, failure, now);
        }
        let slot = &mut self.slots[id as usize];
        self.book.connected(now.since(slot.opened + slot.handshake));
        slot.state = State::Idle;
        slot.answers = 0;
        slot.refusals = 0;
        if slot.request.is_some() {
            self.write(sockets, id, now);
        } else {
            self.next_request(sockets, id, now);
        }
    }

    fn secured(&mut self, id: SlotId, handshake: Handshake) {
        self.slots[id as usize].handshake = handshake.took;
        self.book.secured(handshake);
    }

    #[inline]
    fn received(&mut self, sockets: &mut S, id: SlotId, bytes: &[u8]) {
        self.book.bytes_read(bytes.len());
        let slot = &mut self.slots[id as usize];
        let Some(request) = &mut slot.request else {
            // Bytes that nobody asked for: the connection cannot be trusted with the next answer.
            self.close(sockets, id);
            let now = self.clock.now();
            return self.next_request(sockets, id, now);
        };
        match slot.parser.feed(bytes, &mut request.answer.judge(self.prepared.check())) {
            Ok(Feed::NeedMore) => {}
            // Bytes after the answer are nobody's; the answer stands, the connection goes.
            Ok(Feed::Complete { taken, keep_alive }) => {
                self.complete(sockets, id, keep_alive && taken == bytes.len());
            }
            Err(malformed) => {
                let now = self.clock.now();
                self.fail(sockets, id, malformed.into(), now);
            }
        }
    }

    fn ended(&mut self, sockets: &mut S, id: SlotId, failure: Option<Failure>) {
        let slot = &mut self.slots[id as usize];
        if slot.request.is_none() {
            self.close(sockets, id);
            let now = self.clock.now();
            return self.next_request(sockets, id, now);
        }
        let outcome = match failure {
            Some(failure) => Err(failure),
            None => slot.parser.end_of_input().map_err(Failure::from),
        };
        let now = self.clock.now();
        match outcome {
            Ok(Ended::Complete) => self.complete(sockets, id, false),
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
        }
    }
}
