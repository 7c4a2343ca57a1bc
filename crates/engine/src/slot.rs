//! A connection slot: one connection at a time, and at most one request on it.

use request::Answer;
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
    /// The request is partly written.
    Sending { sent: usize },
    /// The request is written; the answer is awaited or coming.
    Waiting,
    /// Closed loop: a pause after a failed connection attempt.
    Paused { until: Nanos },
}

/// A request on a slot, with its stamps (METHOD §1).
#[derive(Clone, Copy, Debug)]
pub(crate) struct InFlight {
    pub(crate) intended: Nanos,
    pub(crate) dispatched: Nanos,
    pub(crate) written: Nanos,
    pub(crate) answer: Answer,
}

/// One connection slot.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) state: State,
    pub(crate) request: Option<InFlight>,
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
}

impl Slot {
    pub(crate) fn new() -> Self {
        Self {
            state: State::Closed,
            request: None,
            parser: ResponseParser::default(),
            opened: Nanos::ZERO,
            handshake: Nanos::ZERO,
            answers: 0,
            refusals: 0,
            queued: false,
        }
    }
}
