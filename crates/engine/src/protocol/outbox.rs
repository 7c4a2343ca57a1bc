//! Frames of a connection on their way to the system, and where in them each request ends.
//!
//! A request counts as written with the send that takes its last byte, whatever stands behind it. Memory is used again.

use crate::core::PlaceId;
use std::collections::VecDeque;

/// From here on no further request is written into an outbox until some of it is sent.
const FULL_BYTES: usize = 64 * 1024;

/// Bytes that were written and that the system has not taken.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    bytes: Vec<u8>,
    /// Bytes at the front of `bytes` that the system has taken.
    taken: usize,
    /// Bytes that the system took before those.
    before: u64,
    /// Where requests end, counted from the first byte of the connection; in order.
    ends: VecDeque<(u64, PlaceId)>,
    /// The system took less than all: it says when it takes more.
    pub(crate) is_blocked: bool,
    /// Whether the core knows that there is something to send.
    pub(crate) is_listed: bool,
}

impl Outbox {
    /// Where the protocol appends.
    #[inline]
    pub(crate) const fn out(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// What is to be sent.
    #[inline]
    pub(crate) fn rest(&self) -> &[u8] {
        &self.bytes[self.taken..]
    }

    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.taken == self.bytes.len()
    }

    /// Whether no further request should be written.
    #[inline]
    pub(crate) const fn is_full(&self) -> bool {
        self.bytes.len() - self.taken >= FULL_BYTES
    }

    /// The request of `at` ends with the last byte.
    #[inline]
    pub(crate) fn end(&mut self, at: PlaceId) {
        self.ends.push_back((self.before + self.bytes.len() as u64, at));
    }

    /// The system has taken so many bytes of [`Outbox::rest`].
    #[inline]
    pub(crate) fn take(&mut self, bytes: usize) {
        self.taken += bytes;
        self.is_blocked = !self.is_empty();
        if self.is_blocked && self.taken < self.bytes.len() / 2 {
            return;
        }
        self.before += self.taken as u64;
        self.bytes.drain(..self.taken);
        self.taken = 0;
    }

    /// The next request whose last byte the system has taken.
    #[inline]
    pub(crate) fn written(&mut self) -> Option<PlaceId> {
        let &(end, at) = self.ends.front()?;
        if end > self.before + self.taken as u64 {
            return None;
        }
        self.ends.pop_front();
        Some(at)
    }

    /// The request of `at` has ended: whoever has the place next must not be taken for it.
    pub(crate) fn forget(&mut self, at: PlaceId) {
        self.ends.retain(|(_, place)| *place != at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_written_with_their_last_byte() {
        let mut outbox = Outbox::default();
        outbox.out().extend_from_slice(b"hello");
        outbox.out().extend_from_slice(b"first");
        outbox.end(1);
        outbox.out().extend_from_slice(b"second");
        outbox.end(2);
        outbox.end(3);
        assert_eq!((outbox.rest().len(), outbox.written()), (16, None));
        outbox.take(9);
        assert_eq!((outbox.written(), outbox.is_blocked), (None, true));
        assert_eq!(outbox.rest(), b"tsecond");
        outbox.take(1);
        assert_eq!((outbox.written(), outbox.written()), (Some(1), None));
        outbox.out().extend_from_slice(b"third");
        outbox.end(4);
        outbox.forget(3);
        outbox.take(11);
        assert_eq!((outbox.written(), outbox.written(), outbox.written()), (Some(2), Some(4), None));
        assert!(outbox.is_empty() && !outbox.is_blocked && !outbox.is_full());
        assert_eq!(outbox.before, 21);
    }

    #[test]
    fn an_outbox_is_full_by_what_is_not_sent() {
        let mut outbox = Outbox::default();
        outbox.out().resize(FULL_BYTES + 10, 0);
        assert!(outbox.is_full());
        outbox.take(11);
        assert!(!outbox.is_full());
        assert_eq!(outbox.rest().len(), FULL_BYTES - 1);
    }
}
