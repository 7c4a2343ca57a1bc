//! Streams by their identifiers: a ring with room for twice as many as may be open, so that nothing is searched.
//!
//! Identifiers rise by two. One whose place in the ring is taken by an older stream that is still open is left out, which the
//! standard allows (RFC 9113 §5.1.1: a new stream closes idle ones before it), so the ring never grows.

use super::events::Place;
use super::flow::{ReceiveWindow, SendWindow};
use super::frame::ID_MASK;
use super::limits::OPEN_STREAMS_MAX;

/// No Content-Length.
pub(super) const UNKNOWN: u64 = u64::MAX;

/// What became of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Open,
    /// We gave it up: frames that were on their way are ignored.
    Cancelled,
    /// It has ended, or there was none here yet.
    Closed,
}

/// One stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    pub(super) id: u32,
    pub(super) place: Place,
    pub(super) state: State,
    /// Interim answers so far.
    pub(super) interim: u8,
    /// Whether the request's method is HEAD.
    pub(super) to_head: bool,
    /// Whether the final header section has come.
    pub(super) has_head: bool,
    /// Whether the answer has no body whatever its fields say.
    pub(super) is_bodiless: bool,
    /// Whether the request is written in full.
    pub(super) is_sent: bool,
    /// Whether the request ends with the part of its body that is being written.
    pub(super) is_last_part: bool,
    /// Bytes of that part that are written.
    pub(super) body_sent: usize,
    /// Bytes of the answer's body that Content-Length says are still to come.
    pub(super) length_left: u64,
    pub(super) send: SendWindow,
    pub(super) receive: ReceiveWindow,
}

const NO_STREAM: Stream = Stream {
    id: 0,
    place: 0,
    state: State::Closed,
    interim: 0,
    to_head: false,
    has_head: false,
    is_bodiless: false,
    is_sent: false,
    is_last_part: true,
    body_sent: 0,
    length_left: UNKNOWN,
    send: SendWindow::new(0),
    receive: ReceiveWindow::new(0),
};

/// What an identifier of a frame leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The place in the ring of an open stream.
    Open(usize),
    Cancelled,
    Closed,
    /// No request has had it yet, or it is a server's.
    Idle,
}

/// All streams of a connection.
#[derive(Debug)]
pub(super) struct Ring {
    slots: Box<[Stream]>,
    /// The next identifier.
    next: u32,
    open: u32,
    /// The highest identifier of a stream that we gave up and whose place in the ring is another's now.
    cancelled_until: u32,
}

impl Ring {
    /// For at most `open_max` open streams; `first` is the first identifier, which is made odd.
    pub(super) fn new(open_max: u32, first: u32) -> Self {
        let slots = (open_max.clamp(1, OPEN_STREAMS_MAX) as usize * 2).next_power_of_two();
        let slots = vec![NO_STREAM; slots].into_boxed_slice();
        Self { slots, next: (first & ID_MASK) | 1, open: 0, cancelled_until: 0 }
    }

    /// Open streams.
    #[inline]
    pub(super) const fn open(&self) -> u32 {
        self.open
    }

    /// Whether all identifiers are used up.
    #[inline]
    pub(super) const fn is_used_up(&self) -> bool {
        self.next > ID_MASK
    }

    fn slot_of(&self, id: u32) -> usize {
        (id >> 1) as usize & (self.slots.len() - 1)
    }

    /// Opens the next stream. Returns its place in the ring, or `None` where identifiers or places are used up.
    #[inline]
    pub(super) fn open_next(&mut self, place: Place, send: u32, receive: u32) -> Option<usize> {
        for _ in 0..self.slots.len() {
            if self.is_used_up() {
                return None;
            }
            let id = self.next;
            self.next += 2;
            let at = self.slot_of(id);
            let slot = &mut self.slots[at];
            if slot.state == State::Open {
                continue;
            }
            if slot.state == State::Cancelled {
                self.cancelled_until = self.cancelled_until.max(slot.id);
            }
            let (send, receive) = (SendWindow::new(send), ReceiveWindow::new(receive));
            *slot = Stream { id, place, state: State::Open, send, receive, ..NO_STREAM };
            self.open += 1;
            return Some(at);
        }
        None
    }

    #[inline]
    pub(super) fn find(&self, id: u32) -> Found {
        if id & 1 == 0 || id >= self.next {
            return Found::Idle;
        }
        let at = self.slot_of(id);
        let slot = &self.slots[at];
        match slot.state {
            State::Open if slot.id == id => Found::Open(at),
            State::Cancelled if slot.id == id => Found::Cancelled,
            _ if slot.id != id && id <= self.cancelled_until => Found::Cancelled,
            _ => Found::Closed,
        }
    }

    /// The place in the ring of a request's stream.
    pub(super) fn find_place(&self, place: Place) -> Option<usize> {
        self.slots.iter().position(|slot| slot.state == State::Open && slot.place == place)
    }

    /// The open stream with the lowest identifier.
    pub(super) fn oldest(&self) -> Option<usize> {
        self.any_after(0)
    }

    /// The open stream with the lowest identifier after `last`.
    pub(super) fn any_after(&self, last: u32) -> Option<usize> {
        let open =
            self.slots.iter().enumerate().filter(|(_, slot)| slot.state == State::Open && slot.id > last);
        open.min_by_key(|(_, slot)| slot.id).map(|(at, _)| at)
    }

    /// Ends an open stream.
    #[inline]
    pub(super) fn end(&mut self, at: usize, state: State) -> Place {
        self.open -= 1;
        self.slots[at].state = state;
        self.slots[at].place
    }

    #[inline]
    pub(super) fn get(&mut self, at: usize) -> &mut Stream {
        &mut self.slots[at]
    }

    #[inline]
    pub(super) fn look(&self, at: usize) -> &Stream {
        &self.slots[at]
    }

    /// The open streams.
    pub(super) fn iter_open(&mut self) -> impl Iterator<Item = &mut Stream> {
        self.slots.iter_mut().filter(|slot| slot.state == State::Open)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(ring: &mut Ring, place: Place) -> (usize, u32) {
        let at = ring.open_next(place, 1, 1).unwrap();
        (at, ring.get(at).id)
    }

    #[test]
    fn identifiers_pass_by_streams_that_last() {
        let mut ring = Ring::new(2, 1);
        assert_eq!(ring.slots.len(), 4);
        let (lasting, id) = opened(&mut ring, 7);
        assert_eq!(id, 1);
        let mut ids = Vec::new();
        for place in 0..6 {
            let (at, id) = opened(&mut ring, place);
            assert_eq!(ring.find(id), Found::Open(at));
            ids.push(id);
            ring.end(at, State::Closed);
        }
        assert_eq!(ids, [3, 5, 7, 11, 13, 15], "9 has the place of 1");
        assert_eq!(
            (ring.find(1), ring.find(9), ring.find(15)),
            (Found::Open(lasting), Found::Closed, Found::Closed)
        );
        assert_eq!((ring.find(17), ring.find(2), ring.find(0)), (Found::Idle, Found::Idle, Found::Idle));
        assert_eq!((ring.open(), ring.find_place(7), ring.oldest()), (1, Some(lasting), Some(lasting)));
    }

    #[test]
    fn cancelled_streams_are_known_for_good() {
        let mut ring = Ring::new(1, 1);
        let (at, id) = opened(&mut ring, 0);
        ring.end(at, State::Cancelled);
        assert_eq!(ring.find(id), Found::Cancelled);
        for _ in 0..3 {
            let (at, _) = opened(&mut ring, 0);
            ring.end(at, State::Closed);
        }
        assert_eq!(ring.find(id), Found::Cancelled, "its place is another's");
        assert_eq!(ring.find(7), Found::Closed);
    }

    #[test]
    fn the_last_identifier_is_used() {
        let mut ring = Ring::new(4, ID_MASK - 2);
        assert_eq!((opened(&mut ring, 0).1, opened(&mut ring, 1).1), (ID_MASK - 2, ID_MASK));
        assert!(ring.is_used_up() && ring.open_next(2, 1, 1).is_none());
        assert_eq!(ring.open(), 2);
    }

    #[test]
    fn a_stream_is_small() {
        assert!(size_of::<Stream>() <= 64, "{} bytes", size_of::<Stream>());
    }
}
