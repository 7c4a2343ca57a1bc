//! Lanes: the connections and the waiting arrivals of each origin of a load. Most loads have one.
//!
//! A request goes to the origin that its entry names, and so on a connection of that origin's lane. In the open loop each
//! lane has its own idle seats and its own queue. In the closed loop a user has one seat in every lane and one request at
//! a time: the seat that *has the turn* draws the next request and hands the turn to the seat of its lane.
//!
//! Invariant: the connections of a lane lie one after the other, `per_lane` of them, and the seats of a connection
//! likewise, so that a seat's lane and user follow from its number.

use super::in_flight::Which;
use super::place::PlaceId;
use super::session::Session;
use crate::driver::{Route, SlotId};
use crate::fate::{Fate, NO_SLOT};
use std::collections::VecDeque;
use units::Nanos;

/// An arrival that found no connection.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) which: Which,
    pub(super) intended: Nanos,
    pub(super) dispatched: Nanos,
    /// The pooled user whose step it is.
    pub(super) user: Option<Box<Session>>,
}

impl Waiting {
    pub(super) const fn fate(&self) -> Fate {
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

/// Connections and queue of one origin.
#[derive(Debug)]
pub(super) struct Lane {
    /// Ways to the origin, taken in turn.
    routes: Vec<Route>,
    next_route: usize,
    /// Open loop: seats without a request on connections that are open, longest idle first.
    pub(super) idle: VecDeque<PlaceId>,
    /// Open loop: slots without a connection.
    pub(super) closed: Vec<SlotId>,
    /// Open loop: arrivals waiting for a connection, in order of intended time.
    pub(super) backlog: VecDeque<Waiting>,
}

/// The lanes of a worker.
#[derive(Debug)]
pub(super) struct Lanes {
    lanes: Vec<Lane>,
    /// Connections of each lane.
    per_lane: usize,
    /// Seats of each connection.
    seats: usize,
    /// Lane of each entry; empty where there is one lane.
    of_entry: Vec<u16>,
    /// Closed loop with several lanes: the seat of each user that has the turn.
    turns: Vec<PlaceId>,
}

impl Lane {
    fn new(routes: Vec<Route>, slots: usize, seats: usize) -> Self {
        assert!(!routes.is_empty(), "an origin has an address");
        Self {
            routes,
            next_route: 0,
            idle: VecDeque::with_capacity(slots * seats),
            closed: Vec::with_capacity(slots),
            backlog: VecDeque::with_capacity(1024),
        }
    }

    /// The next way to the origin.
    pub(super) fn route(&mut self) -> &Route {
        let now = self.next_route;
        self.next_route = (now + 1) % self.routes.len();
        &self.routes[now]
    }
}

impl Lanes {
    /// `routes` has those of each lane, `of_entry` the lane of each entry; `per_lane` connections each, with so many
    /// `seats` each.
    pub(super) fn new(
        routes: Vec<Vec<Route>>,
        of_entry: Vec<u16>,
        (per_lane, seats): (usize, usize),
        takes_turns: bool,
    ) -> Self {
        let several = routes.len() > 1;
        let users = if several && takes_turns { per_lane * seats } else { 0 };
        Self {
            lanes: routes.into_iter().map(|routes| Lane::new(routes, per_lane, seats)).collect(),
            per_lane,
            seats,
            of_entry: if several { of_entry } else { Vec::new() },
            turns: (0..users as PlaceId).collect(),
        }
    }

    /// Connections of all lanes.
    pub(super) const fn carriers(&self) -> usize {
        self.lanes.len() * self.per_lane
    }

    /// Seats that look for a request as the load begins: in a closed loop one for each user.
    pub(super) const fn starting(&self) -> PlaceId {
        let seats = if self.turns.is_empty() { self.carriers() * self.seats } else { self.turns.len() };
        seats as PlaceId
    }

    pub(super) const fn len(&self) -> usize {
        self.lanes.len()
    }

    /// The lane of a connection.
    #[inline]
    pub(super) fn of_carrier(&self, id: SlotId) -> usize {
        // Second connections of pairs are numbered behind the first ones.
        if self.lanes.len() == 1 { 0 } else { id as usize % self.carriers() / self.per_lane }
    }

    /// The lane of a request.
    #[inline]
    pub(super) fn of_entry(&self, entry: u16) -> usize {
        self.of_entry.get(usize::from(entry)).map_or(0, |lane| usize::from(*lane))
    }

    #[inline]
    pub(super) fn lane(&mut self, lane: usize) -> &mut Lane {
        &mut self.lanes[lane]
    }

    pub(super) fn all(&mut self) -> impl Iterator<Item = &mut Lane> {
        self.lanes.iter_mut()
    }

    /// The `n`th connection that is opened ahead, of `ahead` in each lane: all lanes in turn, so that none comes last.
    pub(super) fn opened_ahead(&self, n: usize) -> SlotId {
        (n % self.lanes.len() * self.per_lane + n / self.lanes.len()) as SlotId
    }

    /// Arrivals that wait for a connection.
    pub(super) fn waiting(&self) -> usize {
        self.lanes.iter().map(|lane| lane.backlog.len()).sum()
    }

    /// When the arrival was intended that has waited longest.
    #[inline]
    pub(super) fn longest_waiting(&self) -> Option<Nanos> {
        self.lanes.iter().filter_map(|lane| lane.backlog.front()).map(|waiting| waiting.intended).min()
    }

    /// Queues an arrival in the lane of its entry.
    #[inline]
    pub(super) fn queue(&mut self, waiting: Waiting) {
        let lane = self.of_entry(waiting.which.entry);
        self.lanes[lane].backlog.push_back(waiting);
    }

    /// Whether a seat may draw its user's next request.
    #[inline]
    pub(super) fn has_turn(&self, seat: PlaceId) -> bool {
        self.turns.is_empty() || self.turns[seat as usize % self.turns.len()] == seat
    }

    /// Hands the turn of a seat's user to the seat in the lane of `entry`, which is returned.
    #[inline]
    pub(super) fn turn_to(&mut self, seat: PlaceId, entry: u16) -> PlaceId {
        if self.turns.is_empty() {
            return seat;
        }
        let (users, user) = (self.turns.len(), seat as usize % self.turns.len());
        let to = (self.of_entry(entry) * users + user) as PlaceId;
        self.turns[user] = to;
        to
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::Peer;

    fn lanes(count: u16, takes_turns: bool) -> Lanes {
        let peer = |port: u16| Peer::Inet(([127, 0, 0, 1], port).into());
        let route = |port| vec![Route { peer: peer(port), source: None, server: 0 }];
        Lanes::new((1..=count).map(route).collect(), vec![0, 2, 1, 2], (4, 1), takes_turns)
    }

    #[test]
    fn a_user_has_one_turn_and_hands_it_to_the_lane_of_a_request() {
        let mut lanes = lanes(3, true);
        assert_eq!(
            (lanes.carriers(), lanes.of_carrier(3), lanes.of_carrier(4), lanes.of_carrier(11)),
            (12, 0, 1, 2)
        );
        assert_eq!((0..12).filter(|id| lanes.has_turn(*id)).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert_eq!(lanes.starting(), 4, "a user begins once");
        assert_eq!(lanes.turn_to(1, 3), 9);
        assert_eq!((0..12).filter(|id| lanes.has_turn(*id)).collect::<Vec<_>>(), [0, 2, 3, 9]);
        assert_eq!(lanes.turn_to(9, 2), 5);
        assert_eq!(lanes.turn_to(5, 0), 1);
    }

    #[test]
    fn one_lane_and_open_loops_have_no_turns() {
        let mut one = lanes(1, true);
        assert!((0..4).all(|id| one.has_turn(id) && one.turn_to(id, 3) == id));
        assert_eq!(one.of_entry(3), 0, "there is no other lane");
        let open = lanes(3, false);
        assert!((0..12).all(|id| open.has_turn(id)));
        assert_eq!((one.starting(), open.starting()), (4, 12));
        assert_eq!((open.of_entry(1), open.of_entry(9)), (2, 0));
    }

    #[test]
    fn connections_are_opened_in_all_lanes_in_turn() {
        let lanes = lanes(3, true);
        let order: Vec<_> = (0..6).map(|n| lanes.opened_ahead(n)).collect();
        assert_eq!(order, [0, 4, 8, 1, 5, 9]);
    }
}
