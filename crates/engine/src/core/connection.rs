//! How connections come and go: attempts, their failures and pauses, and when a connection has served long enough.

use super::carrier::State;
use super::deadlines::Watched;
use super::place::Phase;
use super::{Core, Pacer, Stage};
use crate::driver::{Peer, Route, SlotId, Sockets};
use crate::failure::Failure;
use crate::names::Names;
use crate::protocol::Protocol;
use schema::load::ErrorClass;
use std::net::SocketAddr;
use units::{Clock, Nanos};

/// Pause after a failed connection attempt in the closed loop: doubled with each failure in a row.
const PAUSE: (Nanos, Nanos) = (Nanos::from_millis(10), Nanos::SECOND);

impl<P: Protocol> Core<P> {
    /// Opens the `n`th connection before the load begins.
    pub(crate) fn open_ahead<S: Sockets>(&mut self, sockets: &mut S, n: usize) {
        let id = self.lanes.opened_ahead(n);
        self.connect(sockets, id);
    }

    /// Connection attempts under way.
    pub(crate) const fn connecting(&self) -> usize {
        self.connecting
    }

    pub(crate) fn established(&self) -> u64 {
        self.carriers.iter().filter(|carrier| carrier.state == State::Open).count() as u64
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
        let carrier = &mut self.carriers[id as usize];
        carrier.opened = now;
        carrier.handshake = Nanos::ZERO;
        carrier.state = State::Connecting;
        self.connecting += 1;
        self.watch_attempt(id, now);
        if let Some(names) = &mut self.names {
            return names.ask((id, now));
        }
        self.connect_to(sockets, id, None, now);
    }

    /// Begins the attempt of a connection, to the address that was looked up for it if there is one.
    fn connect_to<S: Sockets>(&mut self, sockets: &mut S, id: SlotId, to: Option<SocketAddr>, now: Nanos) {
        let route = self.lanes.lane(self.lanes.of_carrier(id)).route();
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
            let carrier = &self.carriers[id as usize];
            if carrier.state != State::Connecting || carrier.opened != asked {
                continue;
            }
            match answer {
                Ok(to) => {
                    self.book.named(now.since(asked));
                    self.carriers[id as usize].opened = now;
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

    /// A connection attempt failed, and with it the request it was made for, if any. The connection rests: the closed loop
    /// pauses, the open loop leaves it for the next arrival.
    pub(super) fn connection_failed<S: Sockets>(
        &mut self,
        sockets: &mut S,
        id: SlotId,
        failure: Failure,
        now: Nanos,
    ) {
        self.close(sockets, id);
        let carrier = &mut self.carriers[id as usize];
        carrier.refusals = carrier.refusals.saturating_add(1);
        let pause = Nanos(PAUSE.0.0 << carrier.refusals.min(16)).min(PAUSE.1);
        match (self.stage, &self.pacer) {
            (Stage::Setup, _) => self.setup_failures.push(failure),
            (_, Pacer::Closed(_)) => self.pause(id, now + pause),
            (_, Pacer::Open(_)) => self.lie_closed(id),
        }
        self.fail_waiting(id, failure, now);
        for seat in self.places.seats_of(id) {
            // A user beside others, whose pause runs or whose step is still on another connection, has asked for nothing.
            let place = &self.places[seat];
            if !(P::HAS_STREAMS && (place.thinking || place.phase == Phase::Open)) {
                self.abort_session(seat, now);
            }
        }
    }

    /// Closed loop: a connection rests until then.
    pub(super) fn pause(&mut self, id: SlotId, until: Nanos) {
        self.carriers[id as usize].state = State::Paused { until };
        let watched = &mut self.carriers[id as usize].watched;
        self.deadlines.queue(Watched::Carrier(id), watched, until);
    }

    /// The requests that wait for a connection fail.
    pub(super) fn fail_waiting(&mut self, id: SlotId, failure: Failure, now: Nanos) {
        while let Some(at) = self.carriers[id as usize].waiting.pop() {
            self.lose(at, failure, now);
        }
    }

    pub(super) fn close<S: Sockets>(&mut self, sockets: &mut S, id: SlotId) {
        sockets.close(id);
        let carrier = &mut self.carriers[id as usize];
        if P::HAS_STREAMS {
            self.book.streams_ended(&self.protocol.closed(&mut carrier.protocol));
        }
        self.connecting -= usize::from(carrier.is_connecting());
        (carrier.state, carrier.writing) = (State::Closed, None);
        self.notice(id);
    }

    /// Open loop: a connection that is closed waits for an arrival that needs one.
    pub(super) fn lie_closed(&mut self, id: SlotId) {
        if std::mem::replace(&mut self.carriers[id as usize].is_listed, true) {
            return;
        }
        let lane = self.lanes.of_carrier(id);
        self.lanes.lane(lane).closed.push(id);
    }

    /// An attempt has succeeded at `now`: the connection carries requests.
    pub(super) fn established_now<S: Sockets>(&mut self, sockets: &mut S, id: SlotId, now: Nanos) {
        let carrier = &mut self.carriers[id as usize];
        self.book.connected(now.since(carrier.opened + carrier.handshake));
        carrier.opened = now;
        self.connecting -= usize::from(carrier.is_connecting());
        carrier.state = State::Open;
        carrier.answers = 0;
        carrier.refusals = 0;
        self.watch_age(id);
        if P::HAS_STREAMS {
            self.notice(id);
            return self.refill(sockets, id, now);
        }
        let carrier = &mut self.carriers[id as usize];
        match carrier.waiting.pop() {
            Some(at) => {
                self.write(sockets, at, now);
                self.top_up(sockets, id, now);
            }
            None => self.refill(sockets, id, now),
        }
    }
}
