//! What a worker does about arrivals, answers and failures: the life of requests and connections.
//!
//! A [`place`] is room for one request, a [`carrier`] one connection. Here: when requests are due and which seat takes
//! them. `exchange`: a request on a connection; `hop`: where a redirect leads it. `connection`: how connections come and
//! go. `streams`: connections of several requests at a time. `messages`: those of streams of gRPC. `timing`: time-outs.
//! `users`: the life of virtual users. The hot path (an arrival or a free connection → write; bytes → parse → record → next
//! write) allocates nothing and shares nothing. Recursion is bounded: a failed connection attempt never starts the next one
//! by itself.

mod behaviour;
mod carrier;
mod connection;
mod deadlines;
mod dialogue;
mod exchange;
mod follow;
mod hearing;
mod hop;
mod in_flight;
mod lanes;
mod messages;
#[cfg(test)]
mod model;
#[cfg(test)]
mod model_messages;
#[cfg(test)]
mod model_streams;
mod outgoing;
mod place;
mod script;
mod session;
mod streams;
#[cfg(test)]
mod tape;
mod timing;
mod users;
mod waits;

use crate::book::{Book, MessageEnd, SessionEnd};
use crate::driver::{Route, SlotId, Sockets};
use crate::failure::Failure;
use crate::fate::Fate;
use crate::names::Names;
use crate::protocol::Protocol;
pub(crate) use behaviour::Behaviour;
use carrier::{Carrier, State};
use deadlines::Deadlines;
pub(crate) use follow::Follow;
pub(crate) use in_flight::InFlight;
use lanes::{Lanes, Waiting};
pub(crate) use outgoing::Outgoing;
use pace::{Closed, Schedule};
pub(crate) use place::PlaceId;
use place::{Equipment, Phase, Places};
use session::{Pool, Steps};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use units::{Clock, MonotonicClock, Nanos};
use waits::Waits;

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
    /// The shortest of them.
    fn shortest(&self) -> Nanos {
        [self.total, self.deadline].into_iter().flatten().fold(self.response.min(self.connect), Nanos::min)
    }

    /// How long an arrival may wait for a connection.
    const fn waiting(&self) -> Option<Nanos> {
        match (self.deadline, self.total) {
            (Some(deadline), Some(total)) if total.0 < deadline.0 => Some(total),
            (None, total) => total,
            (deadline, _) => deadline,
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
pub(crate) struct Core<P: Protocol> {
    pub(crate) book: Book,
    clock: MonotonicClock,
    protocol: P,
    /// Ways to the origins, and what is idle or waits for each.
    lanes: Lanes,
    /// Resolves the target's name for every connection, where that is asked for.
    names: Option<Names>,
    outgoing: Outgoing<P::Framing>,
    /// Sessions without connections of their own: users between two steps.
    pool: Option<Pool>,
    /// Closed loop: how many such users this worker has.
    users: u64,
    limits: Limits,
    behaviour: Behaviour,
    /// Which redirects are followed; none without.
    follow: Option<Follow>,
    pacer: Pacer,
    /// All connections, by the number of their slot.
    carriers: Vec<Carrier<P::State>>,
    /// All requests in flight, and room for more.
    places: Places,
    deadlines: Deadlines,
    /// What requests wait for; empty without streams.
    waits: Waits,
    /// The shortest time that any request has for its answer.
    patience: Nanos,
    /// Connection attempts under way.
    connecting: usize,
    /// Closed loop: seats whose think time runs, by the end of it.
    thinking: BinaryHeap<Reverse<(Nanos, PlaceId)>>,
    stage: Stage,
    setup_failures: Vec<Failure>,
    /// Connections with something in their outbox.
    unsent: Vec<SlotId>,
    /// Streams that may have a message to send.
    speakers: Vec<PlaceId>,
    /// When messages are due, and streams end.
    moments: Deadlines,
    /// When limits of counts per time begin again.
    next_tick: Nanos,
}

/// What a core is made of.
pub(crate) struct Parts<P: Protocol> {
    pub(crate) protocol: P,
    pub(crate) book: Book,
    pub(crate) clock: MonotonicClock,
    /// Ways to each origin, at least one.
    pub(crate) routes: Vec<Vec<Route>>,
    /// The origin of each entry, as a place in `routes`; not needed where there is one.
    pub(crate) origins: Vec<u16>,
    pub(crate) names: Option<Names>,
    pub(crate) outgoing: Outgoing<P::Framing>,
    /// Closed loop of sessions that share connections: users of this worker.
    pub(crate) users: u64,
    pub(crate) limits: Limits,
    pub(crate) behaviour: Behaviour,
    pub(crate) follow: Option<Follow>,
    pub(crate) pacer: Pacer,
    /// Connections for each origin; in the open loop more than are opened ahead, for growth on demand.
    pub(crate) connections: usize,
    /// Seats of each connection: users of a closed load who send at the same time.
    pub(crate) streams: usize,
}

impl<P: Protocol> Core<P> {
    pub(crate) fn new(parts: Parts<P>) -> Self {
        let takes_turns = matches!(parts.pacer, Pacer::Closed(_));
        let lanes = Lanes::new(parts.routes, parts.origins, (parts.connections, parts.streams), takes_turns);
        let places = Places::new(lanes.carriers(), parts.streams as u32);
        let (places, carriers) = match P::HAS_STREAMS {
            true => (places.in_pairs(), 2 * lanes.carriers()),
            false => (places, lanes.carriers()),
        };
        let mut protocol = parts.protocol;
        if parts.outgoing.steps.is_some() || parts.follow.is_some() || lanes.len() > 1 {
            // A step of a session waits for the answer to the one before, a hop follows its own, and what comes next may
            // go to another origin: there is nothing to send behind.
            protocol.wait_for_answers();
        }
        let mut outgoing = parts.outgoing;
        if parts.follow.is_some() {
            outgoing.send_one_at_a_time();
        }
        let patience = outgoing.shortest_timeout(parts.limits.response);
        let has_streams = P::HAS_STREAMS && outgoing.has_streams();
        let thinks = outgoing.pauses() || matches!(&parts.pacer, Pacer::Closed(closed) if closed.thinks());
        let waits = if P::HAS_STREAMS {
            Waits::new(lanes.len(), (0..carriers as SlotId).map(|id| lanes.of_carrier(id)), places.len())
        } else {
            Waits::default()
        };
        Self {
            book: parts.book,
            clock: parts.clock,
            protocol,
            names: parts.names,
            pool: outgoing.steps.as_ref().is_some_and(Steps::is_pooled).then(Pool::default),
            outgoing,
            users: parts.users,
            limits: parts.limits,
            behaviour: parts.behaviour,
            follow: parts.follow,
            pacer: parts.pacer,
            carriers: std::iter::repeat_with(Carrier::new).take(carriers).collect(),
            connecting: 0,
            thinking: BinaryHeap::with_capacity(if thinks { places.len() } else { 0 }),
            deadlines: Deadlines::new(places.len(), parts.limits.shortest().min(patience)),
            patience,
            moments: Deadlines::new(if has_streams { places.len() } else { 0 }, Nanos::ZERO),
            places,
            waits,
            lanes,
            stage: Stage::Setup,
            setup_failures: Vec::new(),
            unsent: Vec::new(),
            speakers: Vec::new(),
            next_tick: Nanos::ZERO,
        }
    }

    /// Whether requests have intended times that must be waited for.
    pub(crate) fn waits_for_times(&self) -> bool {
        if P::HAS_STREAMS && self.outgoing.has_streams() {
            return true;
        }
        match &self.pacer {
            Pacer::Open(_) => true,
            Pacer::Closed(closed) => closed.thinks() || self.outgoing.pauses(),
        }
    }

    /// Whether a connection may have several requests on it at a time.
    pub(crate) fn is_pipelined(&self) -> bool {
        self.protocol.depth() > 1
    }

    /// Slots for connections.
    pub(crate) const fn carriers(&self) -> usize {
        self.carriers.len()
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
        let (hears, follows) = (self.outgoing.wants_answers(), self.follow.is_some());
        let calls = P::HAS_STREAMS && self.outgoing.has_calls();
        let streams = calls && self.outgoing.has_streams();
        self.places.equip(Equipment { hears, follows, calls, streams });
        self.begin_deadlines();
        self.waits.start();
        for seat in 0..self.lanes.starting() {
            self.next_request(sockets, seat, Nanos::ZERO);
        }
        if self.pool.is_some() {
            self.begin_users(self.users);
        }
        self.flush(sockets);
    }

    /// The next intended time that must be waited for, if a schedule or think time and not an answer sets it.
    #[inline]
    pub(crate) fn next_intended(&self) -> Option<Nanos> {
        if self.stage != Stage::Running {
            return None;
        }
        let seated = self.thinking.peek().map(|Reverse((intended, _))| *intended);
        let pooled = self.pool.as_ref().and_then(Pool::next);
        let message = if P::HAS_STREAMS { self.moments.next() } else { None };
        let thought = [seated, pooled, message].into_iter().flatten().min();
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
            if P::HAS_STREAMS && self.moments.next() == Some(intended) {
                self.speak_due(sockets, now);
                now = self.clock.now();
                continue;
            }
            match &mut self.pacer {
                Pacer::Open(schedule) if schedule.peek() == intended => {
                    schedule.advance();
                    let which = self.outgoing.next();
                    self.book.schedule(intended, which.entry, now);
                    self.queue(Waiting { which, intended, dispatched: now, user: None });
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
        self.flush(sockets);
    }

    /// The think time that ends first has ended.
    fn end_thinking<S: Sockets>(&mut self, sockets: &mut S, now: Nanos) {
        let Some(Reverse((intended, seat))) = self.thinking.pop() else { return };
        let place = &mut self.places[seat];
        place.thinking = false;
        if place.user.is_some() {
            return self.begin_step(sockets, seat, intended, now);
        }
        let which = self.outgoing.next();
        let seat = self.lanes.turn_to(seat, which.entry);
        self.book.schedule(intended, which.entry, now);
        self.begin_session(seat, intended);
        self.begin(sockets, seat, which, intended, now);
        // A pipeline has one think time running at a time: the next one begins now.
        self.top_up(sockets, self.places[seat].carrier, now);
    }

    /// No request is intended from now on. What the schedule still holds before the end was never noticed in time to
    /// be sent: it is scheduled, and will be censored.
    pub(crate) fn begin_drain(&mut self, now: Nanos) {
        // Messages that are due enter the book with their stream's end.
        self.moments.clear();
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
            self.queue(Waiting { which, intended, dispatched: now, user: None });
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
        for at in 0..self.places.len() as PlaceId {
            if self.places[at].phase != Phase::Free {
                self.book.censor(Fate::of(&self.places[at].request));
                self.settle_messages(at, MessageEnd::Censored, self.clock.now());
            }
        }
        let waiting: Vec<Waiting> = self.lanes.all().flat_map(|lane| lane.backlog.drain(..)).collect();
        for waiting in waiting {
            self.book.censor(waiting.fate());
            self.settle_waiting(&waiting, MessageEnd::Censored, self.clock.now());
            if let Some(session) = waiting.user {
                self.close_session(session, SessionEnd::Censored, Nanos::ZERO);
            }
        }
        self.censor_users();
        for at in 0..self.places.len() as PlaceId {
            self.end_session(at, SessionEnd::Censored, Nanos::ZERO);
        }
        if P::HAS_STREAMS {
            self.count_streams();
        }
    }

    /// Takes what was made ahead meanwhile; to be called about every 100 ms.
    pub(crate) fn refresh(&mut self) {
        self.outgoing.refresh();
        self.tick();
    }

    /// The first waiting arrival of a lane that may still be sent.
    #[inline]
    fn next_waiting(&mut self, lane: usize, now: Nanos) -> Option<Waiting> {
        if self.limits.deadline.is_some() {
            self.expire_lane(lane, now);
        }
        self.pop_waiting(lane, now)
    }

    /// Queues an arrival in the lane of its entry.
    #[inline]
    fn queue(&mut self, waiting: Waiting) {
        if P::HAS_STREAMS {
            self.waits.queue(self.lanes.of_entry(waiting.which.entry), waiting.dispatched);
        }
        self.lanes.queue(waiting);
    }

    /// Takes the first arrival of a lane's queue.
    #[inline]
    fn pop_waiting(&mut self, lane: usize, now: Nanos) -> Option<Waiting> {
        if P::HAS_STREAMS {
            self.waits.leave_queue(lane, now);
        }
        self.lanes.lane(lane).backlog.pop_front()
    }

    /// Gives waiting arrivals to idle seats, then to slots without a connection.
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
            let Some(seat) = self.take_idle(lane, now).or_else(|| self.take_closed(lane)) else { return };
            match self.next_waiting(lane, now) {
                Some(waiting) => self.begin_waiting(sockets, seat, waiting),
                None => return self.park(sockets, seat),
            }
        }
    }

    /// The longest idle seat of a lane; entries whose connection has gone meanwhile are dropped.
    #[inline]
    fn take_idle(&mut self, lane: usize, now: Nanos) -> Option<PlaceId> {
        while let Some(seat) = self.lanes.lane(lane).idle.pop_front() {
            self.places[seat].queued = false;
            if self.is_idle(seat, now) {
                return Some(seat);
            }
        }
        None
    }

    /// A free seat of a slot without a connection.
    fn take_closed(&mut self, lane: usize) -> Option<PlaceId> {
        loop {
            let id = self.lanes.lane(lane).closed.pop()?;
            self.carriers[id as usize].is_listed = false;
            if !P::HAS_STREAMS {
                return Some(self.places.seats_of(id).start);
            }
            let free = self.places.seats_of(id).find(|seat| self.places[*seat].is_vacant());
            if free.is_some() {
                return free;
            }
        }
    }

    /// Whether a seat has an open connection on which it may write at once.
    #[inline]
    fn is_idle(&self, seat: PlaceId, now: Nanos) -> bool {
        let id = self.places[seat].carrier;
        if P::HAS_STREAMS {
            return self.places[seat].is_vacant() && self.has_room(id, now);
        }
        let carrier = &self.carriers[id as usize];
        carrier.state == State::Open && self.protocol.is_idle(&carrier.protocol)
    }

    /// A connection has come or gone: each of its seats without a request looks for one.
    pub(super) fn refill<S: Sockets>(&mut self, sockets: &mut S, id: SlotId, free_at: Nanos) {
        self.succeed_next(sockets, id);
        if self.put_waiting(sockets, id) {
            return;
        }
        for seat in self.places.seats_of(id) {
            if self.places[seat].phase == Phase::Free {
                self.next_request(sockets, seat, free_at);
            }
        }
    }

    /// A seat has no request: finds one for it, or parks it. `free_at` is the moment it became free.
    #[inline]
    fn next_request<S: Sockets>(&mut self, sockets: &mut S, seat: PlaceId, free_at: Nanos) {
        let id = self.places[seat].carrier;
        if self.put_waiting(sockets, id) {
            return;
        }
        if self.stage != Stage::Running {
            return self.park(sockets, seat);
        }
        if self.go_on(sockets, seat, free_at) {
            return;
        }
        match self.pacer {
            Pacer::Closed(_) if self.pool.is_none() => self.next_closed(sockets, seat, free_at),
            // What waits may find another connection.
            _ if P::HAS_STREAMS && !self.has_room(id, free_at) => self.park(sockets, seat),
            Pacer::Open(_) | Pacer::Closed(_) => {
                match self.next_waiting(self.lanes.of_carrier(id), free_at) {
                    Some(waiting) => self.begin_waiting(sockets, seat, waiting),
                    None => self.park(sockets, seat),
                }
            }
        }
    }

    /// Gives a waiting arrival to a seat.
    #[inline]
    fn begin_waiting<S: Sockets>(&mut self, sockets: &mut S, seat: PlaceId, waiting: Waiting) {
        match waiting.user {
            Some(session) => self.places[seat].user = Some(session),
            None => self.begin_session(seat, waiting.intended),
        }
        self.begin(sockets, seat, waiting.which, waiting.intended, waiting.dispatched);
    }

    /// The closed loop's next request of a seat: at once, after its think time, or never.
    #[inline]
    fn next_closed<S: Sockets>(&mut self, sockets: &mut S, seat: PlaceId, free_at: Nanos) {
        let Pacer::Closed(closed) = &mut self.pacer else { return };
        if free_at >= self.book.end() || self.places[seat].thinking || !self.lanes.has_turn(seat) {
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
            self.places[seat].thinking = true;
            self.thinking.push(Reverse((intended, seat)));
            return;
        }
        let which = self.outgoing.next();
        let seat = self.lanes.turn_to(seat, which.entry);
        self.book.schedule(intended, which.entry, free_at);
        self.begin_session(seat, intended);
        let dispatched = self.clock.now();
        self.begin(sockets, seat, which, intended, dispatched);
    }

    /// Keeps a seat for later; in the open loop a connection that has served is replaced ahead of its next use.
    fn park<S: Sockets>(&mut self, sockets: &mut S, seat: PlaceId) {
        let holds = matches!(self.pacer, Pacer::Closed(_)) && self.pool.is_none();
        if holds || self.stage == Stage::Setup {
            return;
        }
        let id = self.places[seat].carrier;
        let carrier = &mut self.carriers[id as usize];
        match carrier.state {
            State::Open
                if (P::HAS_STREAMS || self.protocol.is_idle(&carrier.protocol))
                    && !self.places[seat].queued =>
            {
                self.places[seat].queued = true;
                let lane = self.lanes.of_carrier(id);
                self.lanes.lane(lane).idle.push_back(seat);
            }
            State::Closed if carrier.answers > 0 && self.stage == Stage::Running => {
                carrier.answers = 0;
                self.connect(sockets, id);
            }
            State::Closed => self.lie_closed(id),
            _ => {}
        }
    }
}
