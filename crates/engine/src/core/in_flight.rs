//! A request of the load while it lives: its stamps (METHOD §1) and the judgement of its answer so far.

use crate::driver::SlotId;
use request::{Answer, TokenUse};
use units::Nanos;

/// Which request of the load one is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Which {
    /// Number among this worker's requests; templates are rendered from it.
    pub(crate) n: u64,
    /// Place in the scenario.
    pub(crate) entry: u16,
}

/// A request with its stamps.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct InFlight {
    pub(crate) which: Which,
    /// The token that it carries.
    pub(crate) token: Option<TokenUse>,
    /// Redirects followed so far.
    pub(crate) hops: u16,
    /// Whether a schedule set its intended time, and not the answer before it.
    pub(crate) is_arrival: bool,
    /// Whether a peer that left has given it back once.
    pub(crate) is_requeued: bool,
    /// Whether it was once handed to the system in full; a hop of it may still be on its way.
    pub(crate) is_written: bool,
    pub(crate) intended: Nanos,
    pub(crate) dispatched: Nanos,
    /// When a connection was there to write to.
    pub(crate) ready: Nanos,
    /// When the last part was handed to the system.
    pub(crate) written: Nanos,
    /// When the first bytes of an answer in several pieces came.
    pub(crate) first_byte: Option<Nanos>,
    pub(crate) answer: Answer,
    /// Number of the connection's slot.
    pub(crate) slot: SlotId,
}

impl InFlight {
    /// The intended time, where a schedule set it and the request is sent for the first time.
    #[inline]
    pub(crate) fn arrival(&self) -> Option<Nanos> {
        (self.is_arrival && !self.is_requeued).then_some(self.intended)
    }
}
