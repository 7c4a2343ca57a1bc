//! How connections come and go: attempts, their failures and pauses, and when a connection has served long enough.

use super::{Core, Pacer, Stage, fate};
use crate::driver::{Peer, Route, SlotId, Sockets};
use crate::failure::Failure;
use crate::names::Names;
use crate::slot::State;
use schema::load::ErrorClass;
use schema::plan::ConnectionPlan;
use std::net::SocketAddr;
use units::{Clock, Nanos};

/// Pause after a failed connection attempt in the closed loop: doubled with each failure in a row.
const PAUSE: (Nanos, Nanos) = (Nanos::from_millis(10), Nanos::SECOND);

/// How long a connection serves and how many requests it carries at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Behaviour {
    /// Requests after which a connection is closed.
    requests_max: u64,
    /// Age at which a free connection is closed.
    lifetime: Option<Nanos>,
    /// Requests on a connection at a time.
    pub(super) pipeline: usize,
    /// Whether connections lead through a proxy.
    is_tunneled: bool,
}

impl Behaviour {
    pub(crate) fn new(plan: &ConnectionPlan, is_tunneled: bool) -> Self {
        Self {
            requests_max: if plan.keepalive { plan.requests_max.unwrap_or(u64::MAX) } else { 1 },
            lifetime: plan.lifetime_ns.map(Nanos),
            pipeline: plan.pipeline.max(1) as usize,
            is_tunneled,
        }
    }

    /// A connection attempt that took too long.
    pub(super) const fn connect_timeout(&self) -> Failure {
        match self.is_tunneled {
            false => Failure::new(ErrorClass::ConnectTimeout),
            true => Failure::said(
                ErrorClass::ConnectTimeout,
                "the proxy opened no tunnel to the target within the connect time-out",
            ),
        }
    }

    /// Whether a connection with this many answers has served its share.
    #[inline]
    pub(super) fn is_used_up(&self, answers: u64) -> bool {
        answers >= self.requests_max
    }

    /// Whether a connection of this age is to be closed once free.
    #[inline]
    pub(super) fn is_too_old(&self, age: Nanos) -> bool {
        self.lifetime.is_some_and(|lifetime| age >= lifetime)
    }
}

impl Core {
    /// Opens the `n`th connection before the load begins.
    pub(crate) fn open_ahead<S: Sockets>(&mut self, sockets: &mut S, n: usize) {
        let slot = self.lanes.opened_ahead(n);
        self.connect(sockets, slot);
    }

    /// Slots whose connection attempt is under way.
    pub(crate) const fn connecting(&self) -> usize {
        self.connecting
    }

    pub(crate) fn established(&self) -> u64 {
        self.slots.iter().filter(|slot| slot.state == State::Idle).count() as u64
    }

    /// Whether an attempt has timed out before the load began: the latest failures tell.
    pub(crate) fn has_setup_timeouts(&self) -> bool {
        self.setup_failures.last().is_some_and(|failure| failure.class == ErrorClass::ConnectTimeout)
    }

    pub(crate) fn take_setup_failures(&mut self) -> Vec<Failure> {
        std::mem::take(&mut self.setup_failures)
    }

    pub(super) fn connect<S: Sockets>(&mut self, sockets: &mut S, id: SlotId) {
        let now = self.clock.now();
        let slot = &mut self.slots[id as usize];
        slot.opened = now;
        slot.handshake = Nanos::ZERO;
        slot.state = State::Connecting;
        self.connecting += 1;
        if let Some(names) = &mut self.names {
            return names.ask((id, now));
        }
        self.connect_to(sockets, id, None, now);
    }

    /// Begins the attempt of a slot, to the address that was looked up for it if there is one.
    fn connect_to<S: Sockets>(&mut self, sockets: &mut S, id: SlotId, to: Option<SocketAddr>, now: Nanos) {
        let route = self.lanes.lane(self.lanes.of_slot(id)).route();
        let result = match to {
            None => sockets.connect(id, route),
            Some(to) => sockets.connect(id, &Route { peer: Peer::Inet(to), ..*route }),
        };
        if let Err(failure) = result {
            self.connection_failed(sockets, id, failure, now);
        }
    }

    /// Goes on with the attempts whose name has been resolved meanwhile.
    pub(crate) fn take_names<S: Sockets>(&mut self, sockets: &mut S) {
        while let Some(((id, asked), answer)) = self.names.as_mut().and_then(Names::answer) {
            let now = self.clock.now();
            let slot = &self.slots[id as usize];
            if slot.state != State::Connecting || slot.opened != asked {
                continue;
            }
            match answer {
                Ok(to) => {
                    self.book.named(now.since(asked));
                    self.slots[id as usize].opened = now;
                    self.connect_to(sockets, id, Some(to), now);
                }
                Err(_) => {
                    let failure = Failure::said(ErrorClass::NameResolution, "the name did not resolve");
                    self.connection_failed(sockets, id, failure, now);
                }
            }
        }
    }

    /// Whether names are being resolved: then the worker looks for answers often.
    pub(crate) fn awaits_names(&self) -> bool {
        self.names.as_ref().is_some_and(Names::is_pending)
    }

    /// A connection attempt failed, and with it the request it was made for, if any. The slot rests: the closed loop
    /// pauses, the open loop leaves it for the next arrival.
    pub(super) fn connection_failed<S: Sockets>(
        &mut self,
        sockets: &mut S,
        id: SlotId,
        failure: Failure,
        now: Nanos,
    ) {
        self.close(sockets, id);
        let slot = &mut self.slots[id as usize];
        slot.refusals = slot.refusals.saturating_add(1);
        let pause = Nanos(PAUSE.0.0 << slot.refusals.min(16)).min(PAUSE.1);
        let request = slot.request.take();
        match (self.stage, &self.pacer) {
            (Stage::Setup, _) => self.setup_failures.push(failure),
            (_, Pacer::Closed(_)) => slot.state = State::Paused { until: now + pause },
            (_, Pacer::Open(_)) => self.lie_closed(id),
        }
        if let Some(request) = request {
            self.book.fail(fate(&request, false), failure, now);
        }
        self.abort_session(id, now);
    }

    pub(super) fn close<S: Sockets>(&mut self, sockets: &mut S, id: SlotId) {
        sockets.close(id);
        let slot = &mut self.slots[id as usize];
        self.connecting -= usize::from(slot.state == State::Connecting);
        slot.state = State::Closed;
    }

    /// An attempt has succeeded at `now`.
    pub(super) fn established_now<S: Sockets>(&mut self, sockets: &mut S, id: SlotId, now: Nanos) {
        let slot = &mut self.slots[id as usize];
        self.book.connected(now.since(slot.opened + slot.handshake));
        slot.opened = now;
        self.connecting -= usize::from(slot.state == State::Connecting);
        slot.state = State::Idle;
        slot.answers = 0;
        slot.refusals = 0;
        if slot.request.as_ref().is_some_and(|request| request.hops > 0) {
            self.write_hop(sockets, id, now);
        } else if slot.request.is_some() {
            self.write(sockets, id, now);
            self.top_up(sockets, id, now);
        } else {
            self.next_request(sockets, id, now);
        }
    }
}
