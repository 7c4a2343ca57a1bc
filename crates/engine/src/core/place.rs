//! Places: each is room for one request in flight, with all that the request needs beside its connection.
//!
//! Every connection has *seats*, places of its own: one user's seat in a closed loop, one request's in the open loop.
//! The seats of a connection lie side by side, so its number gives theirs. What a connection carries beyond its seats
//! (pipelining) takes *spare* places, which go from connection to connection.
//!
//! Where connections have streams, they come in pairs with common seats: while one still answers and takes no more, the other
//! is its *successor*.
//!
//! Invariants: a place that is not free holds exactly one request of the book; a seat without a request on a connection is
//! of the present one of its pair, and without pairs never changes its connection; no allocation once as many spare places
//! exist as were ever needed at a time.

use super::dialogue::Dialogue;
use super::follow::Trail;
use super::in_flight::InFlight;
use super::script::Heard;
use super::session::Session;
use crate::driver::SlotId;
use request::{Bytes, Call, Notes};
use std::ops::{Index, IndexMut, Range};
use units::Nanos;

/// Number of a place.
pub(crate) type PlaceId = u32;

/// The next look at a place or a connection that is not queued for any.
pub(super) const UNWATCHED: Nanos = Nanos(u64::MAX);

/// What a place is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nothing; what follows from its last request is kept only as memory.
    Free,
    /// Its request waits: for a connection, or for the request before it to be written.
    Waiting,
    /// Its request is on the connection.
    Open,
}

/// One request in flight, or room for one.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) phase: Phase,
    /// The connection whose place it is.
    pub(crate) carrier: SlotId,
    /// When the place is next looked at for a time-out.
    pub(super) watched: Nanos,
    /// Where the request's bytes are.
    pub(crate) bytes: Bytes,
    /// Whether the seat stands in the queue of idle ones.
    pub(crate) queued: bool,
    /// Whether the seat's next request is already drawn and waits for its time.
    pub(crate) thinking: bool,
    pub(crate) request: InFlight,
    /// The bytes where they were rendered; their memory is used again.
    pub(crate) rendered: Vec<u8>,
    /// What must be remembered of the answer for its checks; unallocated where there are none.
    pub(crate) notes: Notes,
    /// The judgement of the answer as a call of gRPC; absent unless calls are made.
    pub(crate) call: Option<Box<Call>>,
    /// The messages of its stream; absent unless streams of messages are made.
    pub(crate) dialogue: Option<Box<Dialogue>>,
    /// The virtual user who has the seat.
    pub(crate) user: Option<Box<Session>>,
    /// The answer as a script wants to see it; absent unless one does.
    pub(crate) heard: Option<Box<Heard>>,
    /// Where a redirect leads; absent unless they are followed.
    pub(crate) trail: Option<Box<Trail>>,
}

impl Place {
    fn new(carrier: SlotId) -> Self {
        Self {
            phase: Phase::Free,
            carrier,
            watched: UNWATCHED,
            bytes: Bytes::Rendered,
            queued: false,
            thinking: false,
            request: InFlight::default(),
            rendered: Vec::new(),
            notes: Notes::default(),
            call: None,
            dialogue: None,
            user: None,
            heard: None,
            trail: None,
        }
    }

    /// Whether the seat has neither a request nor a user who will send one.
    #[inline]
    pub(crate) fn is_vacant(&self) -> bool {
        self.phase == Phase::Free && !self.thinking && self.user.is_none()
    }

    /// Whether the request ends with the message that is put with it.
    #[inline]
    pub(crate) fn ends_at_once(&self) -> bool {
        self.dialogue.as_ref().is_none_or(|dialogue| dialogue.ends_with_next())
    }

    /// Whether the outbox may know of ends of its request, its hops or its messages that are not handed over.
    #[inline]
    pub(crate) fn has_unsent(&self) -> bool {
        !self.request.is_written
            || self.is_hop()
            || self.dialogue.as_ref().is_some_and(|dialogue| dialogue.has_unsent())
    }

    /// Whether a redirect has been followed, so that a later hop is what is written and awaited.
    #[inline]
    pub(crate) const fn is_hop(&self) -> bool {
        self.request.hops > 0
    }

    /// When the last part of the request, or of its present hop, was handed to the system.
    pub(crate) fn hop_written(&self) -> Nanos {
        let trail = self.trail.as_ref().filter(|_| self.is_hop());
        trail.map_or(self.request.written, |trail| trail.written)
    }

    /// A new answer is awaited: nothing of it is judged yet.
    #[inline]
    pub(crate) fn forget_call(&mut self) {
        if let Some(call) = &mut self.call {
            **call = Call::default();
        }
    }

    /// Stamps a part of the request, or of its present hop, as handed to the system.
    #[inline]
    pub(crate) fn stamp_written(&mut self, now: Nanos) {
        if !self.is_hop() {
            self.request.written = now;
        } else if let Some(trail) = &mut self.trail {
            trail.written = now;
        }
    }
}

/// Buffers that every place has from the begin of the load.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Equipment {
    /// A script wants to see answers.
    pub(crate) hears: bool,
    /// Redirects are followed.
    pub(crate) follows: bool,
    /// Calls of gRPC are made.
    pub(crate) calls: bool,
    /// Some of them are streams of messages.
    pub(crate) streams: bool,
}

/// All places of a worker: first the seats, then spare ones.
#[derive(Debug)]
pub(crate) struct Places {
    all: Vec<Place>,
    spare: Vec<PlaceId>,
    seats: usize,
    /// Seats of each connection.
    per_carrier: u32,
    /// Connections with seats of their own; those after them are the second ones of pairs.
    homes: SlotId,
    /// The present connection of each pair; empty where there are none.
    present: Vec<SlotId>,
    equipment: Equipment,
}

impl Places {
    /// `per_carrier` seats for each of `carriers` connections.
    pub(crate) fn new(carriers: usize, per_carrier: u32) -> Self {
        let owners = (0..carriers as SlotId).flat_map(|id| std::iter::repeat_n(id, per_carrier as usize));
        let all: Vec<Place> = owners.map(Place::new).collect();
        Self {
            seats: all.len(),
            all,
            spare: Vec::new(),
            per_carrier,
            homes: carriers as SlotId,
            present: Vec::new(),
            equipment: Equipment::default(),
        }
    }

    /// The same with as many second connections, numbered behind the first ones.
    pub(crate) fn in_pairs(self) -> Self {
        Self { present: (0..self.homes).collect(), ..self }
    }

    /// The first connection of a pair.
    #[inline]
    const fn home(&self, carrier: SlotId) -> SlotId {
        if carrier < self.homes { carrier } else { carrier - self.homes }
    }

    /// The other connection of a pair.
    pub(crate) const fn twin(&self, carrier: SlotId) -> SlotId {
        if carrier < self.homes { carrier + self.homes } else { carrier - self.homes }
    }

    /// The connection of a pair whose seats' requests go to it now.
    #[inline]
    pub(crate) fn present(&self, carrier: SlotId) -> SlotId {
        self.present.get(self.home(carrier) as usize).copied().unwrap_or(carrier)
    }

    /// From now on requests of the pair's seats go to this one. Those that the other carries stay there.
    pub(crate) fn go_to(&mut self, carrier: SlotId) {
        let home = self.home(carrier);
        self.present[home as usize] = carrier;
        for seat in self.seats_of(carrier) {
            if self[seat].phase != Phase::Open {
                self[seat].carrier = carrier;
            }
        }
    }

    /// The load begins: every place gets its buffers, and so does each that comes later.
    pub(crate) fn equip(&mut self, equipment: Equipment) {
        self.equipment = equipment;
        self.all.iter_mut().for_each(|place| equip(place, equipment));
    }

    /// The seats of a connection.
    #[inline]
    pub(crate) const fn seats_of(&self, carrier: SlotId) -> Range<PlaceId> {
        let home = self.home(carrier);
        home * self.per_carrier..(home + 1) * self.per_carrier
    }

    /// The seat whose turn it is once the request of a place has ended: the place itself, or its connection's first
    /// seat.
    #[inline]
    pub(crate) fn seat(&self, at: PlaceId) -> PlaceId {
        if (at as usize) < self.seats { at } else { self.seats_of(self[at].carrier).start }
    }

    /// A free place for a request of this seat: the seat itself, else a spare one.
    #[inline]
    pub(crate) fn take(&mut self, seat: PlaceId) -> PlaceId {
        let at = if self[seat].phase == Phase::Free { seat } else { self.take_spare(seat) };
        self[at].phase = Phase::Waiting;
        at
    }

    fn take_spare(&mut self, seat: PlaceId) -> PlaceId {
        let carrier = self[seat].carrier;
        if let Some(at) = self.spare.pop() {
            self[at].carrier = carrier;
            return at;
        }
        let mut place = Place::new(carrier);
        equip(&mut place, self.equipment);
        self.all.push(place);
        self.spare.reserve(self.all.len() - self.seats);
        (self.all.len() - 1) as PlaceId
    }

    /// The request of a place has ended.
    #[inline]
    pub(crate) fn free(&mut self, at: PlaceId) {
        self[at].phase = Phase::Free;
        if at as usize >= self.seats {
            self.spare.push(at);
        } else if !self.present.is_empty() {
            self[at].carrier = self.present(self[at].carrier);
        }
    }

    /// Gives the rendered bytes of one place to another.
    pub(crate) fn move_bytes(&mut self, from: PlaceId, to: PlaceId) {
        let bytes = std::mem::take(&mut self[from].rendered);
        self[from].rendered = std::mem::replace(&mut self[to].rendered, bytes);
        self[to].bytes = self[from].bytes;
    }

    /// Places of any kind.
    pub(crate) const fn len(&self) -> usize {
        self.all.len()
    }
}

fn equip(place: &mut Place, equipment: Equipment) {
    place.heard = equipment.hears.then(Box::default);
    place.trail = equipment.follows.then(Box::default);
    place.call = equipment.calls.then(Box::default);
    place.dialogue = equipment.streams.then(Box::default);
}

impl Index<PlaceId> for Places {
    type Output = Place;

    #[inline]
    fn index(&self, at: PlaceId) -> &Place {
        &self.all[at as usize]
    }
}

impl IndexMut<PlaceId> for Places {
    #[inline]
    fn index_mut(&mut self, at: PlaceId) -> &mut Place {
        &mut self.all[at as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seats_stay_and_spare_places_go_from_connection_to_connection() {
        let mut places = Places::new(3, 2);
        assert_eq!(places.len(), 6);
        assert_eq!((places.seats_of(2), places[5].carrier, places[3].carrier), (4..6, 2, 1));
        assert_eq!((places.take(4), places.take(4)), (4, 6), "the seat first, then a spare place");
        assert_eq!((places[6].carrier, places.seat(6), places.seat(5)), (2, 4, 5));
        places.free(6);
        assert_eq!((places.take(0), places.take(0)), (0, 6));
        assert_eq!((places[6].carrier, places.len()), (0, 7), "its memory is used again");
        places.free(4);
        assert_eq!(places.take(4), 4);
    }

    #[test]
    fn seats_of_a_pair_go_to_its_present_connection_once_they_are_free() {
        let mut places = Places::new(2, 2).in_pairs();
        assert_eq!((places.twin(1), places.twin(3), places.present(1), places.present(3)), (3, 1, 1, 1));
        assert_eq!((places.seats_of(1), places.seats_of(3)), (2..4, 2..4));
        places[2].phase = Phase::Open;
        places.go_to(3);
        assert_eq!((places[2].carrier, places[3].carrier, places[0].carrier), (1, 3, 0));
        places.free(2);
        assert_eq!((places[2].carrier, places.present(1), places.present(0)), (3, 3, 0));
    }

    #[test]
    fn rendered_bytes_move_and_leave_the_other_memory() {
        let mut places = Places::new(2, 1);
        places[0].rendered = b"text".to_vec();
        places[1].rendered = b"old".to_vec();
        places.move_bytes(0, 1);
        assert_eq!((&*places[0].rendered, &*places[1].rendered), (&b"old"[..], &b"text"[..]));
    }
}
