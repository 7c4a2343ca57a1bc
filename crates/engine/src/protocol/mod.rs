//! What a connection speaks: which answer belongs to which place, and what ends a connection.

pub(crate) mod h1;

use crate::core::PlaceId;
use wire::Header;

/// What a protocol shows of answers while it reads them.
pub(crate) trait Events {
    /// The final status and the header fields of the answer to this place's request.
    fn head(&mut self, at: PlaceId, status: u16, headers: &[Header<'_>]);
    /// The next part of its body, without framing.
    fn body(&mut self, at: PlaceId, bytes: &[u8]);
}

/// How far a protocol came in what was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// All bytes were taken; the answer to this place's request goes on.
    Part(PlaceId),
    /// The answer to this place's request is whole.
    Whole {
        at: PlaceId,
        /// Bytes of this input that were taken.
        bytes: usize,
        /// Whether the connection may carry another request.
        reusable: bool,
    },
    /// Bytes that belong to no request: the connection cannot be trusted any more.
    Unasked,
}
