//! A connection of HTTP/2 for a few exchanges, one after the other.
//!
//! Invariants: one deadline for all of them, connecting included; frames are the crate `wire`'s alone, with its limits against
//! hostile peers, counted over the whole session; no more of a body is kept than the limit.
//! Absent on purpose: exchanges at a time, a second try after GOAWAY.

use crate::connection::Connection;
use crate::draft::Draft;
use crate::{Answer, Limits, ProbeError, READ_BYTES, Stage, Tls};
use std::fmt;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use wire::http2::{
    self, Config, ErrorCode, Events, Fault, Http2, Place, Put, Refusal, Room, Verdict, Windows,
};
use wire::{Framing as _, Header, RequestHead, Visit as _};

/// The only request at a time.
const ONLY: Place = 0;

/// A connection of HTTP/2, and how far it has come.
pub struct Session {
    socket: Connection,
    frames: http2::Connection,
    /// Frames that are not sent.
    out: Vec<u8>,
    /// What was received, and how much of it was read.
    input: Vec<u8>,
    taken: usize,
    /// Longest body of an answer.
    body_bytes: usize,
}

impl fmt::Debug for Session {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Session").field("frames", &self.frames).finish_non_exhaustive()
    }
}

impl Session {
    /// Connects, over TLS where that is given, and waits until the server has said how many requests it takes.
    ///
    /// # Errors
    /// No connection within the limits, or a server that does not speak HTTP/2.
    pub fn open(addr: SocketAddr, tls: Option<&Tls>, limits: Limits) -> Result<Self, ProbeError> {
        let socket = Connection::open(addr, tls, limits.timeout)?;
        if !socket.agreed_on(Http2::ALPN.as_bytes()) {
            return Err(ProbeError::NotHttp2);
        }
        let config = Config { https: tls.is_some(), windows: Windows::DEFAULT, ..Config::default() };
        let mut frames = http2::Connection::new(config);
        let mut out = Vec::new();
        frames.hello(&mut out);
        let (input, body_bytes) = (Vec::new(), limits.body_bytes);
        let mut session = Self { socket, frames, out, input, taken: 0, body_bytes };
        let mut nobody = Waiting::new(0);
        while !session.frames.is_established() {
            session.go_on(&mut nobody)?;
        }
        Ok(session)
    }

    /// Sends a request and reads its answer. With `chunk_bytes` the body's length is not announced.
    ///
    /// # Errors
    /// There is no whole, well-formed answer within the limits of the session.
    pub fn exchange(
        &mut self,
        head: &RequestHead<'_>,
        body: &[u8],
        chunk_bytes: Option<NonZeroUsize>,
    ) -> Result<Answer, ProbeError> {
        self.exchange_framed(&head.framed::<Http2>(body, chunk_bytes)?)
    }

    /// Sends a request as [`Http2`] frames it, and reads its answer.
    ///
    /// # Errors
    /// As [`Session::exchange`].
    pub fn exchange_framed(&mut self, request: &[u8]) -> Result<Answer, ProbeError> {
        let mut waiting = Waiting::new(self.body_bytes);
        let mut put = self.put(request, &mut waiting)?;
        loop {
            if let Some(end) = waiting.end.take() {
                return end.map(|()| waiting.draft.into_answer());
            }
            waiting.draft.check(true)?;
            self.flush()?;
            if put == Put::Held
                && let Some(held) = self.frames.next_ready()
            {
                put = self.frames.go_on(held, request, &mut self.out);
                continue;
            }
            self.go_on(&mut waiting)?;
        }
    }

    /// Puts a request on the connection once it takes one.
    fn put(&mut self, request: &[u8], waiting: &mut Waiting) -> Result<Put, ProbeError> {
        loop {
            match self.frames.room() {
                Room::Places(_) => return Ok(self.frames.put(ONLY, request, &mut self.out)),
                Room::None(http2::NoRoom::Draining) => {
                    return Err(left(waiting.code.unwrap_or(ErrorCode::NO_ERROR), Stage::Sending));
                }
                Room::None(_) => self.go_on(waiting)?,
            }
        }
    }

    fn flush(&mut self) -> Result<(), ProbeError> {
        if !self.out.is_empty() {
            self.socket.send(&self.out)?;
            self.out.clear();
        }
        self.frames.flushed();
        Ok(())
    }

    /// Sends what is to be sent, receives where all was read, and reads up to the end of a request.
    fn go_on(&mut self, waiting: &mut Waiting) -> Result<(), ProbeError> {
        self.flush()?;
        if self.taken == self.input.len() {
            self.input.resize(READ_BYTES, 0);
            let stage = waiting.draft.stage();
            let count = self.socket.read(&mut self.input, stage)?;
            self.input.truncate(count);
            self.taken = 0;
            if count == 0 {
                return Err(ProbeError::Closed { stage });
            }
        }
        let taken = self.frames.take(&self.input[self.taken..], waiting, &mut self.out);
        self.taken += taken.map_err(|fault| {
            // The server may learn why; whether it does changes nothing.
            let _ = self.socket.send(&self.out);
            ProbeError::Http2(fault)
        })?;
        Ok(())
    }
}

impl Drop for Session {
    /// Nothing went wrong, as far as the server is concerned.
    fn drop(&mut self) {
        self.out.clear();
        self.frames.leave(&mut self.out);
        let _ = self.socket.send(&self.out);
    }
}

fn left(code: ErrorCode, stage: Stage) -> ProbeError {
    ProbeError::GivenUp { what: "left (GOAWAY)", stage, code }
}

/// An answer that is waited for.
struct Waiting {
    draft: Draft,
    /// How the request ended, once it did.
    end: Option<Result<(), ProbeError>>,
    /// The server's reason for leaving.
    code: Option<ErrorCode>,
}

impl Waiting {
    fn new(body_bytes: usize) -> Self {
        Self { draft: Draft::new(body_bytes), end: None, code: None }
    }

    fn given_up(&mut self, what: &'static str, code: ErrorCode) {
        let stage = self.draft.stage();
        self.end = Some(Err(ProbeError::GivenUp { what, stage, code }));
    }
}

impl Events for Waiting {
    fn head(&mut self, _: Place, status: u16, fields: &[Header<'_>]) -> Option<Verdict> {
        self.draft.begin();
        self.draft.head(status, fields);
        None
    }

    fn head_again(&mut self, _: Place, _: u16, _: Verdict) {
        // No verdict was given, so none is repeated.
    }

    fn body(&mut self, _: Place, bytes: &[u8]) {
        self.draft.body(bytes);
    }

    fn trailers(&mut self, _: Place, fields: &[Header<'_>]) {
        self.draft.trailers(fields);
    }

    fn done(&mut self, _: Place) {
        self.end = Some(self.draft.check(false));
    }

    fn refused(&mut self, _: Place, why: Refusal) {
        match why {
            Refusal::GoAway(code) => self.end = Some(Err(left(code, self.draft.stage()))),
            Refusal::Stream => self.given_up("refused the stream", ErrorCode::REFUSED_STREAM),
        }
    }

    fn reset(&mut self, _: Place, code: ErrorCode) {
        self.given_up("reset the stream", code);
    }

    fn broken(&mut self, _: Place, fault: Fault) {
        self.end = Some(Err(ProbeError::Http2(fault)));
    }

    fn goaway(&mut self, _: u32, code: ErrorCode, _: &[u8]) {
        self.code = Some(code);
    }
}
