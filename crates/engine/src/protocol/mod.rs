//! What a connection speaks, chosen at compile time per worker as drivers are: which answer belongs to which place, how
//! many requests a connection carries, and what a failure ends.
//!
//! Protocols own no sockets and no clocks. They return what happened instead of calling the core, so that the core may act
//! on the connection at once; only the contents of answers are shown on the way ([`Events`]), for they are not kept.

mod h1;

use crate::core::PlaceId;
use crate::failure::Failure;
pub(crate) use h1::H1;
use std::fmt;
use wire::{Framing, Header};

/// What a protocol shows of answers while it reads them.
pub(crate) trait Events {
    /// The final status and the header fields of the answer to this place's request.
    fn head(&mut self, at: PlaceId, status: u16, headers: &[Header<'_>]);
    /// The next part of its body, without framing.
    fn body(&mut self, at: PlaceId, bytes: &[u8]);
    /// The fields after its body, where there are any.
    fn trailers(&mut self, _at: PlaceId, _fields: &[Header<'_>]) {}
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

/// What ends with a request that is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Its stream: the requests beside it go on.
    #[expect(dead_code, reason = "HTTP/1.1 has no streams; the core already knows what to do")]
    Stream,
    /// Its connection, and every request on it.
    Connection,
}

/// What connections speak.
pub(crate) trait Protocol {
    /// How requests are written.
    type Framing: Framing;

    /// What is remembered of one connection. A fresh one is also right for a connection whose predecessor in its slot has
    /// ended and whose requests were all let go.
    type State: Default + fmt::Debug;

    /// Every request may depend on the answer to the one before it, so none is sent behind another.
    fn wait_for_answers(&mut self);

    /// Requests that a connection may carry at a time, at least 1.
    fn depth(&self) -> usize;

    /// Requests that a connection carries.
    fn open(&self, state: &Self::State) -> usize;

    /// Whether a connection carries no request.
    fn is_idle(&self, state: &Self::State) -> bool;

    /// The request of `at` is put on the connection behind those that it carries. `request` are its bytes as the
    /// framing made them, which the core sends.
    fn put(&self, state: &mut Self::State, at: PlaceId, request: &[u8]);

    /// Reads on, to the end of an answer at most; that answer's place is then let go.
    ///
    /// # Errors
    /// Bytes that break the protocol: the connection is of no more use.
    fn take(&self, state: &mut Self::State, bytes: &[u8], on: &mut impl Events) -> Result<Taken, Failure>;

    /// The peer has ended the connection. Returns the place whose answer is whole with that, if one is, and lets it go.
    ///
    /// # Errors
    /// Bytes before the end that break the protocol.
    fn end(&self, state: &mut Self::State) -> Result<Option<PlaceId>, Failure>;

    /// The request of `at` is given up before its answer is whole. Where only its stream ends, its place is let go.
    fn cancel(&self, state: &mut Self::State, at: PlaceId) -> Scope;

    /// Lets the oldest request on the connection go, because the connection ends.
    fn drop_oldest(&self, state: &mut Self::State) -> Option<PlaceId>;
}
