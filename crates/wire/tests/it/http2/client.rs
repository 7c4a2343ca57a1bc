//! A connection with all that can be seen of it.

use crate::http2::frames::{self, Frame};
use std::convert::Infallible;
use std::num::NonZeroUsize;
use wire::http2::{
    Config, Connection, ErrorCode, Events, Fault, Http2, Place, Put, Refusal, Settings, Verdict, Windows,
};
use wire::{Framing, Header, Message, Piece};

/// What a connection showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Head(Place, u16, Vec<(String, String)>),
    Again(Place, u16, u64),
    Body(Place, Vec<u8>),
    Trailers(Place, Vec<(String, String)>),
    Done(Place),
    Refused(Place, Refusal),
    Reset(Place, ErrorCode),
    Broken(Place, Fault),
    Goaway(u32, ErrorCode, String),
    Settings(Settings),
    Room,
}

/// Everything shown, in order; parts of one body that follow one another are joined.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) events: Vec<Event>,
    /// Whether verdicts are given.
    pub(crate) judges: bool,
}

fn texts(fields: &[Header<'_>]) -> Vec<(String, String)> {
    let text =
        |field: &Header<'_>| (field.name.to_owned(), String::from_utf8_lossy(field.value).into_owned());
    fields.iter().map(text).collect()
}

impl Events for Seen {
    fn kind(&self, at: Place) -> u32 {
        at / 100
    }

    fn head(&mut self, at: Place, status: u16, fields: &[Header<'_>]) -> Option<Verdict> {
        self.events.push(Event::Head(at, status, texts(fields)));
        self.judges.then_some(Verdict(u64::from(status) + 1000 * fields.len() as u64))
    }

    fn head_again(&mut self, at: Place, status: u16, verdict: Verdict) {
        self.events.push(Event::Again(at, status, verdict.0));
    }

    fn body(&mut self, at: Place, bytes: &[u8]) {
        assert!(!bytes.is_empty());
        match self.events.last_mut() {
            Some(Event::Body(place, body)) if *place == at => body.extend(bytes),
            _ => self.events.push(Event::Body(at, bytes.to_vec())),
        }
    }

    fn trailers(&mut self, at: Place, fields: &[Header<'_>]) {
        self.events.push(Event::Trailers(at, texts(fields)));
    }

    fn done(&mut self, at: Place) {
        self.events.push(Event::Done(at));
    }

    fn refused(&mut self, at: Place, why: Refusal) {
        self.events.push(Event::Refused(at, why));
    }

    fn reset(&mut self, at: Place, code: ErrorCode) {
        self.events.push(Event::Reset(at, code));
    }

    fn broken(&mut self, at: Place, fault: Fault) {
        self.events.push(Event::Broken(at, fault));
    }

    fn goaway(&mut self, last: u32, code: ErrorCode, text: &[u8]) {
        self.events.push(Event::Goaway(last, code, String::from_utf8_lossy(text).into_owned()));
    }

    fn settings(&mut self, peer: &Settings) {
        self.events.push(Event::Settings(*peer));
    }

    fn room_changed(&mut self) {
        self.events.push(Event::Room);
    }
}

/// A connection, what it showed, and what it wrote since that was last asked for.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) connection: Connection,
    pub(crate) seen: Seen,
    pub(crate) out: Vec<u8>,
}

impl Client {
    /// Before it has said anything.
    pub(crate) fn fresh(config: Config) -> Self {
        Self { connection: Connection::new(config), seen: Seen::default(), out: Vec::new() }
    }

    /// After the server's SETTINGS.
    pub(crate) fn with(config: Config, entries: &[(u16, u32)]) -> Self {
        let mut client = Self::fresh(config);
        client.connection.hello(&mut client.out);
        client.take(&frames::settings(entries)).unwrap();
        client.forget();
        client
    }

    /// For ten requests at a time, with the smallest windows.
    pub(crate) fn new() -> Self {
        Self::with(config(), &[])
    }

    /// Forgets what was shown and written.
    pub(crate) fn forget(&mut self) {
        self.seen.events.clear();
        self.out.clear();
        self.connection.flushed();
    }

    /// Takes all of these bytes.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let taken = self.connection.take(rest, &mut self.seen, &mut self.out)?;
            assert!(taken > 0 && taken <= rest.len());
            rest = &rest[taken..];
        }
        Ok(())
    }

    /// Takes frames one after another; returns what they show.
    pub(crate) fn shown(&mut self, parts: &[Vec<u8>]) -> Vec<Event> {
        self.take(&parts.concat()).unwrap();
        std::mem::take(&mut self.seen.events)
    }

    pub(crate) fn put(&mut self, place: Place, request: &[u8]) -> Put {
        self.connection.put(place, request, &mut self.out)
    }

    /// Puts requests without a body, whose streams are 1, 3, 5 and so on, and forgets that they were written.
    pub(crate) fn ask(&mut self, places: &[Place]) {
        for place in places {
            assert_eq!(self.put(*place, &get("/")), Put::Whole);
        }
        self.out.clear();
    }

    /// The frames that were written.
    pub(crate) fn wrote(&mut self) -> Vec<Frame> {
        frames::read(&std::mem::take(&mut self.out))
    }
}

pub(crate) fn config() -> Config {
    Config { streams_max: 10, windows: Windows::DEFAULT, ..Config::default() }
}

/// A request of literals.
pub(crate) fn request(
    method: &str,
    target: &str,
    fields: &[(&str, &str)],
    body: &[u8],
    chunk_bytes: usize,
) -> Vec<u8> {
    let literal = |text: &[u8]| vec![Piece::<Infallible>::Literal(text.to_vec())];
    let fields: Vec<_> =
        fields.iter().map(|(name, value)| ((*name).to_owned(), literal(value.as_bytes()))).collect();
    let body = if body.is_empty() { vec![] } else { literal(body) };
    Http2::prepare(&Message {
        method,
        target: &literal(target.as_bytes()),
        authority: "h:1",
        fields: &fields,
        has_cookies: false,
        body: &body,
        chunk_bytes: NonZeroUsize::new(chunk_bytes),
    })
}

pub(crate) fn get(target: &str) -> Vec<u8> {
    request("GET", target, &[], b"", 0)
}

pub(crate) fn post(body: &[u8]) -> Vec<u8> {
    request("POST", "/", &[], body, 0)
}

pub(crate) fn head(place: Place, status: u16, fields: &[(&str, &str)]) -> Event {
    let text = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    Event::Head(place, status, fields.iter().map(text).collect())
}

pub(crate) fn body(place: Place, text: &str) -> Event {
    Event::Body(place, text.as_bytes().to_vec())
}
