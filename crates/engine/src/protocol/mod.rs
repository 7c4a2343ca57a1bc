//! What a connection speaks, chosen at compile time per worker as drivers are: which answer belongs to which place, how
//! many requests a connection carries, and what a failure ends.
//!
//! Protocols own no sockets and no clocks. They return what happened instead of calling the core, so that the core may act
//! on the connection at once; only the contents of answers are shown on the way ([`Events`]), for they are not kept.
//! A protocol with streams writes frames into an [`Outbox`], which the core sends; HTTP/1.1 has none, and the core sends
//! a request from where its bytes are.

mod h1;
mod h2;
mod outbox;

use crate::core::PlaceId;
use crate::failure::Failure;
use crate::interval::{Lack, StreamCounts};
pub(crate) use h1::H1;
pub(crate) use h2::H2;
pub(crate) use outbox::Outbox;
use std::fmt;
use wire::{Framing, Header};

/// What a protocol shows of answers while it reads them.
pub(crate) trait Events {
    /// A number for all requests whose answers are judged alike.
    fn kind(&self, at: PlaceId) -> u32;
    /// The final status and the header fields of the answer to this place's request. Returns whether equal ones need not be
    /// shown again to a request of the same kind, because their status says all.
    fn head(&mut self, at: PlaceId, status: u16, headers: &[Header<'_>]) -> bool;
    /// The final status, with header fields equal to some that need not be shown again.
    fn head_again(&mut self, at: PlaceId, status: u16);
    /// The next part of its body, without framing.
    fn body(&mut self, at: PlaceId, bytes: &[u8]);
    /// The fields after its body, where there are any.
    fn trailers(&mut self, _at: PlaceId, _fields: &[Header<'_>]) {}
    /// An answer of which no more needs to be read, because it is known to be wrong, and why. For protocols that can end one
    /// request by itself; asked after what was received is shown, until there is none.
    fn spoilt(&mut self) -> Option<(PlaceId, Failure)> {
        None
    }
}

/// How far a protocol came in what was received. `bytes` are those of this input that were taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// All bytes were taken; the answer to this place's request goes on.
    Part(PlaceId),
    /// All bytes were taken, and the fate of no request was settled.
    All,
    /// The answer to this place's request is whole.
    Whole {
        at: PlaceId,
        bytes: usize,
        /// Whether the connection may carry another request.
        reusable: bool,
    },
    /// The request of this place has ended without an answer; the connection goes on.
    Lost { at: PlaceId, bytes: usize, loss: Loss },
    /// The peer has said what it takes: the connection carries requests from now on.
    Established { bytes: usize },
    /// There is room where there was none, or the peer leaves; a request that was held may go on.
    Changed { bytes: usize },
    /// Bytes that belong to no request: the connection cannot be trusted any more.
    Unasked,
}

/// How a request ended without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    /// It failed.
    Failed(Failure),
    /// The peer leaves in good order and says that it did not process the request: it may be sent once more, else it fails.
    Unprocessed(Failure),
}

/// How far a request was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Put {
    /// Nothing: the core sends the request's own bytes.
    Bare,
    /// All of it is in the outbox.
    Whole,
    /// A part of it is in the outbox; it goes on when [`Protocol::next_ready`] says so.
    Held,
    /// Nothing: the connection takes no further request.
    NoRoom,
    /// Nothing: the bytes are not what the protocol's framing makes.
    Unframed,
}

/// What ends with a request that is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Its stream: the requests beside it go on.
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

    /// Whether a connection carries requests of several seats at a time, each with a fate of its own, written through an
    /// outbox. Else a connection has one seat.
    const HAS_STREAMS: bool;

    /// Every request may depend on the answer to the one before it, so none is sent behind another of its seat.
    fn wait_for_answers(&mut self);

    /// Requests of one seat that a connection may carry at a time, at least 1.
    fn depth(&self) -> usize;

    /// Requests that a connection carries.
    fn open(&self, state: &Self::State) -> usize;

    /// Whether a connection carries no request, and none waits to be returned by [`Protocol::take`].
    fn is_idle(&self, state: &Self::State) -> bool;

    /// Why a connection that stands takes no further request now, if it takes none.
    fn lacks(&self, state: &Self::State) -> Option<Lack>;

    /// Whether the connection takes no further request for good.
    fn is_leaving(&self, _state: &Self::State) -> bool {
        false
    }

    /// A connection stands: what comes first is said. Returns whether it carries requests at once; else
    /// [`Taken::Established`] says when.
    fn hello(&self, _state: &mut Self::State) -> bool {
        true
    }

    /// The request of `at` is put on the connection behind those that it carries. `request` are its bytes as the
    /// framing made them.
    fn put(&self, state: &mut Self::State, at: PlaceId, request: &[u8]) -> Put;

    /// As [`Protocol::put`]; `is_last` says whether the request ends with these bytes. Else it goes on by
    /// [`Protocol::put_more`], where the protocol has streams.
    fn put_part(&self, state: &mut Self::State, at: PlaceId, request: &[u8], _is_last: bool) -> Put {
        self.put(state, at, request)
    }

    /// The protocol's own number of the request that was put last.
    fn last_stream(&self, _state: &Self::State) -> u32 {
        0
    }

    /// The next part of a request that goes on, with what [`Protocol::last_stream`] said of it. Where the outbox is full it
    /// is held, to go on as any other.
    fn put_more(
        &self,
        _state: &mut Self::State,
        _at: PlaceId,
        _stream: u32,
        _request: &[u8],
        _is_last: bool,
    ) -> Put {
        Put::NoRoom
    }

    /// Ends a request that goes on, behind its last part, which is written in full.
    fn end_request(&self, _state: &mut Self::State, _stream: u32) {}

    /// The next request that was held and may go on: [`Protocol::go_on`] is next.
    fn next_ready(&self, _state: &mut Self::State) -> Option<PlaceId> {
        None
    }

    /// Writes on at the request that [`Protocol::next_ready`] has named, whose bytes are the same as before.
    fn go_on(&self, _state: &mut Self::State, _at: PlaceId, _request: &[u8]) -> Put {
        Put::Whole
    }

    /// Reads on, until the fate of a request is settled at most; that place is then let go.
    ///
    /// # Errors
    /// Bytes that break the protocol: the connection is of no more use.
    fn take(&self, state: &mut Self::State, bytes: &[u8], on: &mut impl Events) -> Result<Taken, Failure>;

    /// Whether [`Protocol::take`] has more to return, whatever the length of its last input.
    fn has_more(&self, _state: &Self::State) -> bool {
        false
    }

    /// The next place whose answer has begun since this was last asked; it may have ended meanwhile. For protocols that
    /// return [`Taken::All`].
    fn begun(&self, _state: &mut Self::State) -> Option<PlaceId> {
        None
    }

    /// The peer has ended the connection. Returns the place whose answer is whole with that, if one is, and lets it go.
    ///
    /// # Errors
    /// Bytes before the end that break the protocol.
    fn end(&self, state: &mut Self::State) -> Result<Option<PlaceId>, Failure>;

    /// The request of `at` is given up before its answer is whole. Where only its stream ends, its place is let go.
    fn cancel(&self, state: &mut Self::State, at: PlaceId) -> Scope;

    /// Lets the oldest request on the connection go, because the connection ends.
    fn let_go(&self, state: &mut Self::State) -> Option<PlaceId>;

    /// The connection is closed; its requests were let go. Returns what is counted of its streams.
    fn closed(&self, _state: &mut Self::State) -> StreamCounts {
        StreamCounts::default()
    }

    /// What is written and not sent yet.
    fn outbox<'a>(&self, _state: &'a mut Self::State) -> Option<&'a mut Outbox> {
        None
    }

    /// The load is over, and so is the connection, which carries nothing: writes the last words.
    fn leave(&self, _state: &mut Self::State) {}

    /// All of the outbox was sent.
    fn flushed(&self, _state: &mut Self::State) {}

    /// About a second has passed: limits of counts per time begin again.
    fn tick(&self, _state: &mut Self::State) {}
}
