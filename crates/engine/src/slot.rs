//! A connection slot: one connection at a time, and the requests on it.

use crate::core::{Heard, Session, Trail};
use request::{Answer, Bytes, Notes, TokenUse};
use std::collections::VecDeque;
use units::Nanos;
use wire::ResponseParser;

/// What a slot is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// No connection.
    Closed,
    /// A connection attempt is under way, for the slot's request if it has one.
    Connecting,
    /// Connected, no request.
    Idle,
    /// The newest request is partly written.
    Sending { sent: usize },
    /// All requests are written; answers are awaited or coming.
    Waiting,
    /// Closed loop: a pause after a failed connection attempt.
    Paused { until: Nanos },
}

/// Which request of the load one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Which {
    /// Number among this worker's requests; templates are rendered from it.
    pub(crate) n: u64,
    /// Place in the scenario.
    pub(crate) entry: u16,
}

/// A request on a slot, with its stamps (METHOD §1).
#[derive(Clone, Copy, Debug)]
pub(crate) struct InFlight {
    pub(crate) which: Which,
    /// Where its bytes are.
    pub(crate) bytes: Bytes,
    /// The token that it carries.
    pub(crate) token: Option<TokenUse>,
    /// Whether its answer has no body whatever the header section says.
    pub(crate) is_head: bool,
    /// Redirects followed so far.
    pub(crate) hops: u16,
    /// Whether a schedule set its intended time, and not the answer before it.
    pub(crate) is_arrival: bool,
    pub(crate) intended: Nanos,
    pub(crate) dispatched: Nanos,
    /// When a connection was there to write to.
    pub(crate) ready: Nanos,
    /// When the last part was handed to the system.
    pub(crate) written: Nanos,
    /// When the first bytes of an answer in several pieces came.
    pub(crate) first_byte: Option<Nanos>,
    pub(crate) answer: Answer,
    /// Number of the slot.
    pub(crate) slot: u32,
}

/// One connection slot.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) state: State,
    /// The request whose answer comes next.
    pub(crate) request: Option<InFlight>,
    /// Pipelining: requests sent behind it, oldest first; unallocated without.
    pub(crate) behind: VecDeque<InFlight>,
    /// Pipelining with pauses: a request whose time came while the one before it was still being written. It belongs
    /// to the slot and not to the connection, whose end it outlives.
    pub(crate) held: Option<Box<InFlight>>,
    pub(crate) parser: ResponseParser,
    /// When the connection attempt began.
    pub(crate) opened: Nanos,
    /// How much of the connection attempt was the TLS handshake.
    pub(crate) handshake: Nanos,
    /// Answers on the present connection.
    pub(crate) answers: u64,
    /// Failed connection attempts in a row.
    pub(crate) refusals: u32,
    /// Whether the slot stands in the queue of idle ones.
    pub(crate) queued: bool,
    /// Whether the slot's next request is already drawn and waits for its time.
    pub(crate) thinking: bool,
    /// The newest request's bytes where they were rendered; its memory is used again.
    pub(crate) rendered: Vec<u8>,
    /// What must be remembered of the answer for its checks; unallocated where there are none.
    pub(crate) notes: Notes,
    /// The virtual user whose session runs on this connection.
    pub(crate) user: Option<Box<Session>>,
    /// The answer as a script wants to see it; absent unless one does.
    pub(crate) heard: Option<Box<Heard>>,
    /// Where a redirect leads; absent unless they are followed.
    pub(crate) trail: Option<Box<Trail>>,
}

impl Slot {
    pub(crate) fn new() -> Self {
        Self {
            state: State::Closed,
            request: None,
            behind: VecDeque::new(),
            held: None,
            parser: ResponseParser::default(),
            opened: Nanos::ZERO,
            handshake: Nanos::ZERO,
            answers: 0,
            refusals: 0,
            queued: false,
            thinking: false,
            rendered: Vec::new(),
            notes: Notes::default(),
            user: None,
            heard: None,
            trail: None,
        }
    }

    /// Requests on the connection: what is held is not on it yet.
    #[inline]
    pub(crate) fn requests(&self) -> usize {
        usize::from(self.request.is_some()) + self.behind.len()
    }

    /// The request that is being written or was written last.
    #[inline]
    pub(crate) fn newest(&mut self) -> Option<&mut InFlight> {
        self.behind.back_mut().or(self.request.as_mut())
    }

    /// When the last part of the request, or of its present hop, was handed to the system.
    pub(crate) fn hop_written(&self, request: &InFlight) -> Nanos {
        let trail = self.trail.as_ref().filter(|_| request.hops > 0);
        trail.map_or(request.written, |trail| trail.written)
    }

    /// Takes all requests, oldest first, each with whether it was written in full.
    pub(crate) fn take_requests(&mut self) -> impl Iterator<Item = (InFlight, bool)> + use<> {
        let newest_is_whole = self.state == State::Waiting;
        let mut requests: Vec<InFlight> = self.request.take().into_iter().collect();
        requests.extend(self.behind.drain(..));
        let count = requests.len();
        requests
            .into_iter()
            .enumerate()
            .map(move |(place, request)| (request, newest_is_whole || place + 1 < count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_slot_stays_small() {
        // With the driver's part, far below the 2 KiB a connection may cost.
        assert!(size_of::<Slot>() <= 512, "{} bytes", size_of::<Slot>());
    }
}
