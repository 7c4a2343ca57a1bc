//! What the accounts must know of a request that ends.

use crate::core::InFlight;
use units::Nanos;

/// No connection was given to the request.
pub(crate) const NO_SLOT: u32 = u32::MAX;

/// What the book must know of a request that ends without a right answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fate {
    pub(crate) intended: Nanos,
    pub(crate) entry: u16,
    /// Whether it had been handed to the system in full.
    pub(crate) was_written: bool,
    /// Number among this worker's requests; this and what follows is for rows only.
    pub(crate) n: u64,
    pub(crate) slot: u32,
    pub(crate) dispatched: Nanos,
    pub(crate) written: Nanos,
    pub(crate) first_byte: Option<Nanos>,
    /// 0 before it is known.
    pub(crate) status: u16,
    pub(crate) body_bytes: u64,
}

impl Fate {
    /// Of a request that had a connection.
    pub(crate) fn of(request: &InFlight) -> Self {
        Self {
            intended: request.intended,
            entry: request.which.entry,
            was_written: request.is_written,
            n: request.which.n,
            slot: request.slot,
            dispatched: request.dispatched,
            written: request.written,
            first_byte: request.first_byte,
            status: request.answer.status(),
            body_bytes: request.answer.body_bytes() as u64,
        }
    }
}
