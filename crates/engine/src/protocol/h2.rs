//! HTTP/2 on a connection: each request has a stream, whose fate is its own. The codec is `wire::http2`; here it is joined
//! to places and to an outbox.
//!
//! A connection carries requests once the peer's first SETTINGS have come: until then it is not known how many it takes,
//! and streams beyond that would be refused.

use super::{Events, Loss, Outbox, Protocol, Put, Scope, Taken};
use crate::core::PlaceId;
use crate::failure::{Cause, Failure};
use crate::interval::{Lack, StreamCounts};
use schema::load::ErrorClass;
use std::collections::VecDeque;
use wire::Header;
use wire::http2::{
    self, Config, Connection, ErrorCode, Fault, Given, Held, Http2, NoRoom, Refusal, Room, Verdict,
};

/// HTTP/2 (RFC 9113).
#[derive(Clone, Copy, Debug)]
pub(crate) struct H2 {
    config: Config,
}

/// What is known of one connection; nothing where there is none.
#[derive(Debug, Default)]
pub(crate) struct State(Option<Box<Talk>>);

/// A connection that stands.
#[derive(Debug)]
struct Talk {
    connection: Connection,
    outbox: Outbox,
    /// What was read and not returned yet.
    settled: VecDeque<Settled>,
    /// Places whose answers have begun.
    begun: Vec<PlaceId>,
    /// The held request that was named last.
    ready: Option<Held>,
}

/// What the core must know of what was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Settled {
    Established,
    Changed,
    Done(PlaceId),
    Lost(PlaceId, Loss),
}

impl Settled {
    /// Whether it is the end of this place's request.
    fn is_of(self, at: PlaceId) -> bool {
        matches!(self, Self::Done(place) | Self::Lost(place, _) if place == at)
    }
}

impl H2 {
    /// Connections as `config` says.
    pub(crate) const fn new(config: Config) -> Self {
        Self { config }
    }
}

impl Talk {
    fn new(config: Config) -> Self {
        Self {
            connection: Connection::new(config),
            outbox: Outbox::default(),
            settled: VecDeque::new(),
            begun: Vec::new(),
            ready: None,
        }
    }

    /// Notes where a request ends that is written in full.
    #[inline]
    fn put(&mut self, at: PlaceId, put: http2::Put) -> Put {
        match put {
            http2::Put::Whole => {
                self.outbox.end(at);
                Put::Whole
            }
            http2::Put::Held => Put::Held,
            http2::Put::NoRoom => Put::NoRoom,
            http2::Put::Unframed => Put::Unframed,
        }
    }
}

impl Protocol for H2 {
    type Framing = Http2;
    type State = State;

    const HAS_STREAMS: bool = true;

    fn wait_for_answers(&mut self) {}

    #[inline]
    fn depth(&self) -> usize {
        1
    }

    #[inline]
    fn open(&self, state: &State) -> usize {
        state.0.as_ref().map_or(0, |talk| talk.connection.open() as usize)
    }

    #[inline]
    fn is_idle(&self, state: &State) -> bool {
        state.0.as_ref().is_none_or(|talk| talk.connection.open() == 0 && talk.settled.is_empty())
    }

    #[inline]
    fn lacks(&self, state: &State) -> Option<Lack> {
        match state.0.as_ref().map(|talk| talk.connection.room()) {
            Some(Room::Places(_)) => None,
            Some(Room::None(NoRoom::StreamLimit)) => Some(Lack::Stream),
            Some(Room::None(NoRoom::SendWindow)) => Some(Lack::Window),
            Some(Room::None(NoRoom::NotEstablished | NoRoom::Draining)) | None => Some(Lack::Connection),
        }
    }

    #[inline]
    fn is_leaving(&self, state: &State) -> bool {
        state.0.as_ref().is_some_and(|talk| talk.connection.is_draining())
    }

    fn hello(&self, state: &mut State) -> bool {
        let talk = state.0.insert(Box::new(Talk::new(self.config)));
        talk.connection.hello(talk.outbox.out());
        false
    }

    #[inline]
    fn put(&self, state: &mut State, at: PlaceId, request: &[u8]) -> Put {
        self.put_part(state, at, request, true)
    }

    #[inline]
    fn put_part(&self, state: &mut State, at: PlaceId, request: &[u8], is_last: bool) -> Put {
        let Some(talk) = &mut state.0 else { return Put::NoRoom };
        let put = talk.connection.put_part(at, request, is_last, talk.outbox.out());
        talk.put(at, put)
    }

    #[inline]
    fn last_stream(&self, state: &State) -> u32 {
        state.0.as_ref().map_or(0, |talk| talk.connection.last_opened())
    }

    #[inline]
    fn put_more(&self, state: &mut State, at: PlaceId, stream: u32, request: &[u8], is_last: bool) -> Put {
        let Some(talk) = &mut state.0 else { return Put::NoRoom };
        if talk.outbox.is_full() {
            talk.connection.hold(stream, is_last);
            return Put::Held;
        }
        let put = talk.connection.put_more(stream, request, is_last, talk.outbox.out());
        talk.put(at, put)
    }

    fn end_request(&self, state: &mut State, stream: u32) {
        if let Some(talk) = &mut state.0 {
            talk.connection.end_request(stream, talk.outbox.out());
        }
    }

    #[inline]
    fn next_ready(&self, state: &mut State) -> Option<PlaceId> {
        let talk = state.0.as_mut()?;
        talk.ready = talk.connection.next_ready();
        talk.ready.map(|held| held.place)
    }

    fn go_on(&self, state: &mut State, at: PlaceId, request: &[u8]) -> Put {
        let Some(talk) = &mut state.0 else { return Put::NoRoom };
        let Some(held) = talk.ready.take() else { return Put::Held };
        let put = talk.connection.go_on(held, request, talk.outbox.out());
        talk.put(at, put)
    }

    #[inline]
    fn take(&self, state: &mut State, bytes: &[u8], on: &mut impl Events) -> Result<Taken, Failure> {
        let Some(talk) = &mut state.0 else { return Ok(Taken::Unasked) };
        let Talk { connection, outbox, settled, begun, .. } = &mut **talk;
        let mut taken = 0;
        while settled.is_empty() && taken < bytes.len() {
            let is_greeting = !connection.is_established();
            let mut shown = Shown { on: &mut *on, settled: &mut *settled, begun: &mut *begun, is_greeting };
            taken += connection.take(&bytes[taken..], &mut shown, outbox.out())?;
            while let Some((at, failure)) = on.spoilt() {
                if settled.iter().any(|settled| settled.is_of(at)) {
                    continue;
                }
                match connection.cancel(at, outbox.out()) {
                    Given::Stream => settled.push_back(Settled::Lost(at, Loss::Failed(failure))),
                    Given::Connection => return Err(failure),
                }
            }
        }
        Ok(match settled.pop_front() {
            None => Taken::All,
            Some(Settled::Done(at)) => Taken::Whole { at, bytes: taken, reusable: true },
            Some(Settled::Lost(at, loss)) => Taken::Lost { at, bytes: taken, loss },
            Some(Settled::Established) => Taken::Established { bytes: taken },
            Some(Settled::Changed) => Taken::Changed { bytes: taken },
        })
    }

    #[inline]
    fn has_more(&self, state: &State) -> bool {
        state.0.as_ref().is_some_and(|talk| !talk.settled.is_empty())
    }

    #[inline]
    fn begun(&self, state: &mut State) -> Option<PlaceId> {
        state.0.as_mut().and_then(|talk| talk.begun.pop())
    }

    fn end(&self, _: &mut State) -> Result<Option<PlaceId>, Failure> {
        // Every answer says where it ends.
        Ok(None)
    }

    fn cancel(&self, state: &mut State, at: PlaceId) -> Scope {
        let Some(talk) = &mut state.0 else { return Scope::Stream };
        match talk.connection.cancel(at, talk.outbox.out()) {
            Given::Stream => Scope::Stream,
            Given::Connection => Scope::Connection,
        }
    }

    fn let_go(&self, state: &mut State) -> Option<PlaceId> {
        let talk = state.0.as_mut()?;
        while let Some(settled) = talk.settled.pop_front() {
            if let Settled::Done(at) | Settled::Lost(at, _) = settled {
                return Some(at);
            }
        }
        talk.connection.let_go()
    }

    fn closed(&self, state: &mut State) -> StreamCounts {
        let Some(talk) = state.0.take() else { return StreamCounts::default() };
        let counts = talk.connection.counts();
        StreamCounts {
            granted_min: talk.connection.is_established().then(|| talk.connection.streams_granted()),
            requeued: 0,
            goaways: counts.goaways,
            resets: counts.resets,
            stalls: counts.stalls,
        }
    }

    #[inline]
    fn outbox<'a>(&self, state: &'a mut State) -> Option<&'a mut Outbox> {
        state.0.as_mut().map(|talk| &mut talk.outbox)
    }

    fn leave(&self, state: &mut State) {
        if let Some(talk) = &mut state.0 {
            talk.connection.leave(talk.outbox.out());
        }
    }

    #[inline]
    fn flushed(&self, state: &mut State) {
        if let Some(talk) = &mut state.0 {
            talk.connection.flushed();
        }
    }

    fn tick(&self, state: &mut State) {
        if let Some(talk) = &mut state.0 {
            talk.connection.tick();
        }
    }
}

/// Shows answers and keeps what the core must know.
struct Shown<'a, E> {
    on: &'a mut E,
    settled: &'a mut VecDeque<Settled>,
    begun: &'a mut Vec<PlaceId>,
    /// Whether the peer has not said anything yet.
    is_greeting: bool,
}

impl<E> Shown<'_, E> {
    fn lost(&mut self, at: PlaceId, loss: Loss) {
        self.settled.push_back(Settled::Lost(at, loss));
    }
}

impl<E: Events> http2::Events for Shown<'_, E> {
    #[inline]
    fn kind(&self, at: PlaceId) -> u32 {
        self.on.kind(at)
    }

    #[inline]
    fn head(&mut self, at: PlaceId, status: u16, fields: &[Header<'_>]) -> Option<Verdict> {
        self.begun.push(at);
        self.on.head(at, status, fields).then_some(Verdict(0))
    }

    #[inline]
    fn head_again(&mut self, at: PlaceId, status: u16, _: Verdict) {
        self.begun.push(at);
        self.on.head_again(at, status);
    }

    #[inline]
    fn body(&mut self, at: PlaceId, bytes: &[u8]) {
        self.on.body(at, bytes);
    }

    fn trailers(&mut self, at: PlaceId, fields: &[Header<'_>]) {
        self.on.trailers(at, fields);
    }

    #[inline]
    fn done(&mut self, at: PlaceId) {
        if self.begun.last() == Some(&at) {
            self.begun.pop();
        }
        self.settled.push_back(Settled::Done(at));
    }

    fn refused(&mut self, at: PlaceId, why: Refusal) {
        let loss = match why {
            Refusal::GoAway(ErrorCode::NO_ERROR) => {
                let text = "the server left twice without processing the request (GOAWAY)";
                Loss::Unprocessed(Failure::said(ErrorClass::Goaway, text))
            }
            Refusal::GoAway(code) => Loss::Failed(Failure {
                class: ErrorClass::Goaway,
                cause: Cause::Code("the server left without processing the request: GOAWAY with", code),
            }),
            Refusal::Stream => Loss::Failed(Failure::new(ErrorClass::RefusedStream)),
        };
        self.lost(at, loss);
    }

    fn reset(&mut self, at: PlaceId, code: ErrorCode) {
        let cause = Cause::Code("the server reset the stream: RST_STREAM with", code);
        self.lost(at, Loss::Failed(Failure { class: ErrorClass::StreamReset, cause }));
    }

    fn broken(&mut self, at: PlaceId, fault: Fault) {
        self.lost(at, Loss::Failed(fault.into()));
    }

    fn settings(&mut self, _: &http2::Settings) {
        if std::mem::take(&mut self.is_greeting) {
            self.settled.push_back(Settled::Established);
        }
    }

    fn room_changed(&mut self) {
        // Also behind the first SETTINGS: a peer may leave with its first words.
        if self.settled.back() != Some(&Settled::Changed) {
            self.settled.push_back(Settled::Changed);
        }
    }
}
