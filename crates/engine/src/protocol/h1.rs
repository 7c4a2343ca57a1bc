//! HTTP/1.1 on a connection: answers come in the order of the requests, and any failure ends the connection.

use super::{Events, Protocol, Put, Scope, Taken};
use crate::core::PlaceId;
use crate::failure::Failure;
use crate::fifo::Fifo;
use crate::interval::Lack;
use wire::{Ended, Feed, Header, Http1, ResponseParser, Visit};

/// HTTP/1.1 (RFC 9112), with as many requests on a connection at a time as pipelining allows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct H1 {
    depth: usize,
}

/// What is known of one connection.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// Reads the oldest answer.
    parser: ResponseParser,
    /// Answers that are awaited, oldest first.
    awaited: Fifo<Awaited>,
}

#[derive(Clone, Copy, Debug)]
struct Awaited {
    at: PlaceId,
    /// Whether the answer has no body whatever its header section says.
    to_head: bool,
}

impl State {
    /// The oldest answer has ended: the parser makes ready for the next.
    #[inline]
    fn advance(&mut self) {
        self.awaited.pop();
        if let Some(next) = self.awaited.front() {
            self.parser.begin(next.to_head);
        }
    }
}

impl H1 {
    /// `depth` requests on a connection at a time, at least one.
    pub(crate) fn new(depth: u32) -> Self {
        Self { depth: depth.max(1) as usize }
    }
}

impl Protocol for H1 {
    type Framing = Http1;
    type State = State;

    const HAS_STREAMS: bool = false;

    fn wait_for_answers(&mut self) {
        self.depth = 1;
    }

    #[inline]
    fn depth(&self) -> usize {
        self.depth
    }

    #[inline]
    fn open(&self, state: &State) -> usize {
        state.awaited.len()
    }

    #[inline]
    fn is_idle(&self, state: &State) -> bool {
        state.awaited.is_empty()
    }

    #[inline]
    fn lacks(&self, state: &State) -> Option<Lack> {
        (state.awaited.len() >= self.depth).then_some(Lack::Connection)
    }

    #[inline]
    fn put(&self, state: &mut State, at: PlaceId, request: &[u8]) -> Put {
        let to_head = request.starts_with(b"HEAD ");
        if state.awaited.is_empty() {
            state.parser.begin(to_head);
        }
        state.awaited.push(Awaited { at, to_head });
        Put::Bare
    }

    #[inline]
    fn take(&self, state: &mut State, bytes: &[u8], on: &mut impl Events) -> Result<Taken, Failure> {
        let Some(&Awaited { at, .. }) = state.awaited.front() else { return Ok(Taken::Unasked) };
        match state.parser.feed(bytes, &mut Shown { on, at })? {
            Feed::NeedMore => Ok(Taken::Part(at)),
            Feed::Complete { taken, keep_alive } => {
                state.advance();
                // Bytes after the last answer are nobody's; the answer stands, the connection goes.
                let is_clean = taken == bytes.len() || !state.awaited.is_empty();
                Ok(Taken::Whole { at, bytes: taken, reusable: keep_alive && is_clean })
            }
        }
    }

    fn end(&self, state: &mut State) -> Result<Option<PlaceId>, Failure> {
        let Some(&Awaited { at, .. }) = state.awaited.front() else { return Ok(None) };
        match state.parser.end_of_input()? {
            Ended::Premature => Ok(None),
            Ended::Complete => {
                state.advance();
                Ok(Some(at))
            }
        }
    }

    fn cancel(&self, _: &mut State, _: PlaceId) -> Scope {
        // Its answer may still come, and there is no telling it from the next one's.
        Scope::Connection
    }

    #[inline]
    fn let_go(&self, state: &mut State) -> Option<PlaceId> {
        state.awaited.pop().map(|awaited| awaited.at)
    }
}

/// Shows one place's answer.
struct Shown<'a, E> {
    on: &'a mut E,
    at: PlaceId,
}

impl<E: Events> Visit for Shown<'_, E> {
    #[inline]
    fn head(&mut self, status: u16, headers: &[Header<'_>]) {
        let _ = self.on.head(self.at, status, headers);
    }

    #[inline]
    fn body(&mut self, bytes: &[u8]) {
        self.on.body(self.at, bytes);
    }

    fn trailers(&mut self, fields: &[Header<'_>]) {
        self.on.trailers(self.at, fields);
    }
}
