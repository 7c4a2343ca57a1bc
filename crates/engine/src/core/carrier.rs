//! Carriers: each is one connection, or the slot of one, with what its protocol remembers.
//!
//! Invariant: bytes are handed to the system in the order of requests, and of one request at a time unless the protocol has
//! streams: then frames of several requests alternate in its outbox.

use super::place::{PlaceId, UNWATCHED};
use crate::fifo::Fifo;
use units::Nanos;

/// What a carrier is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// No connection.
    Closed,
    /// A connection attempt is under way, for the places that wait if there are any.
    Connecting,
    /// Connected; the peer has not said yet what it takes.
    Greeting,
    /// Connected.
    Open,
    /// Closed loop: a pause after a failed connection attempt.
    Paused { until: Nanos },
}

/// A request that is handed to the system in parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Writing {
    /// Whose bytes they are.
    pub(crate) at: PlaceId,
    /// How many were taken.
    pub(crate) sent: usize,
}

/// One connection.
#[derive(Debug)]
pub(crate) struct Carrier<P> {
    pub(crate) state: State,
    /// Whether it is in the middle of a request.
    pub(crate) writing: Option<Writing>,
    /// What the protocol remembers of the connection.
    pub(crate) protocol: P,
    /// Places whose requests wait for the connection, or with pauses in a pipeline for the one before to be written. They
    /// outlive the connection.
    pub(crate) waiting: Fifo<PlaceId>,
    /// When the connection is next looked at for a time-out, a pause or its age.
    pub(super) watched: Nanos,
    /// When the connection attempt began, then when it succeeded.
    pub(crate) opened: Nanos,
    /// How much of the connection attempt was the TLS handshake.
    pub(crate) handshake: Nanos,
    /// Answers on the present connection.
    pub(crate) answers: u64,
    /// Failed connection attempts in a row.
    pub(crate) refusals: u32,
    /// Open loop: whether it stands among those without a connection.
    pub(crate) is_listed: bool,
}

impl<P: Default> Carrier<P> {
    pub(crate) fn new() -> Self {
        Self {
            state: State::Closed,
            writing: None,
            protocol: P::default(),
            waiting: Fifo::default(),
            watched: UNWATCHED,
            opened: Nanos::ZERO,
            handshake: Nanos::ZERO,
            answers: 0,
            refusals: 0,
            is_listed: false,
        }
    }

    /// Whether a connection attempt is under way.
    #[inline]
    pub(crate) const fn is_connecting(&self) -> bool {
        matches!(self.state, State::Connecting | State::Greeting)
    }

    /// Whether there is a connection to the peer.
    #[inline]
    pub(crate) const fn is_connected(&self) -> bool {
        matches!(self.state, State::Greeting | State::Open)
    }

    /// Whether all that was put on the connection is with the system.
    #[inline]
    pub(crate) fn may_write(&self) -> bool {
        self.state == State::Open && self.writing.is_none()
    }

    /// Whether the request of a place is handed to the system in full.
    #[inline]
    pub(crate) fn is_whole(&self, at: PlaceId) -> bool {
        self.writing.is_none_or(|writing| writing.at != at)
    }
}

#[cfg(test)]
mod tests {
    use super::super::place::Place;
    use super::*;
    use crate::protocol::{H1, Protocol};

    #[test]
    fn an_idle_connection_stays_small() {
        // With the driver's part, far below the 2 KiB a connection may cost.
        let bytes = size_of::<Carrier<<H1 as Protocol>::State>>() + size_of::<Place>();
        assert!(bytes <= 384, "{bytes} bytes");
    }
}
