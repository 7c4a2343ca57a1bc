//! One connection of HTTP/2 from the client's side: its state, how it begins and ends, and whether it has room.
//!
//! No sockets and no clocks: the owner hands in what it received and sends what is appended to `out`. Invariants: any split of
//! the same bytes gives the same events (but for the parts of a body), the same output and the same fault; a warm request
//! and its answer allocate nothing; all that a peer can make grow is bounded (`limits.rs`).
//! Other files of this folder add to it: `receive.rs`, `answers.rs`, `data.rs`, `control.rs` read, `send.rs` and `parts.rs`
//! write.

use super::code::ErrorCode;
use super::events::Place;
use super::fault::Fault;
use super::flow::{ReceiveWindow, SendWindow, WINDOW_MAX};
use super::frame::{kind, put, put_goaway, put_window_update};
use super::input::Input;
use super::limits::{Counts, OPEN_STREAMS_MAX, Strain, UNSENT_ANSWERS_MAX};
use super::memo::Memo;
use super::ring::{Ring, State};
use super::settings::{DEFAULT_WINDOW_BYTES, Offer, Settings};
use crate::hpack::{DEFAULT_TABLE_BYTES, Decoder, Encoder, FieldList};
use std::collections::VecDeque;

/// What a client says first (RFC 9113 §3.4); SETTINGS follow.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The largest exponent of [`Windows::of_bits`], as h2load has it.
pub const WINDOW_BITS_MAX: u32 = 30;

/// How much a peer may send before it is given more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windows {
    /// Bytes of each stream, up to 2^31 - 1.
    pub stream: u32,
    /// Bytes of the connection, from 65,535 (fewer cannot be said) to 2^31 - 1.
    pub connection: u32,
}

impl Windows {
    /// Those of a peer that says nothing.
    pub const DEFAULT: Self = Self { stream: DEFAULT_WINDOW_BYTES, connection: DEFAULT_WINDOW_BYTES };

    /// Windows of 2^`stream` - 1 and 2^`connection` - 1 bytes, as h2load's `-w` and `-W`; more than 30 bits count as 30.
    #[must_use]
    pub fn of_bits(stream: u32, connection: u32) -> Self {
        let bytes = |bits: u32| (1_u32 << bits.min(WINDOW_BITS_MAX)) - 1;
        Self { stream: bytes(stream), connection: bytes(connection).max(DEFAULT_WINDOW_BYTES) }
    }
}

/// How a connection is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Whether the requests are `https`.
    pub https: bool,
    /// Requests at a time, if the peer allows them; 1 to 65,536.
    pub streams_max: u32,
    /// What the peer may send.
    pub windows: Windows,
    /// Bytes of our header table.
    pub table_bytes: u32,
    /// The first stream's identifier, which is made odd; 1 but in tests.
    pub first_stream: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            https: false,
            streams_max: 1,
            windows: Windows::of_bits(WINDOW_BITS_MAX, WINDOW_BITS_MAX),
            table_bytes: DEFAULT_TABLE_BYTES,
            first_stream: 1,
        }
    }
}

impl Config {
    const fn offer(&self) -> Offer {
        Offer { table_bytes: self.table_bytes, window_bytes: self.windows.stream }
    }

    /// The value of the field `HTTP2-Settings` of a request that asks for an upgrade (RFC 7540 §3.2.1).
    #[must_use]
    pub fn upgrade_field(&self) -> String {
        self.offer().field()
    }
}

/// Whether a request may be put on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// So many, at least one.
    Places(u32),
    /// None, and why.
    None(NoRoom),
}

/// Why a connection takes no request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRoom {
    /// The peer's SETTINGS have not come.
    NotEstablished,
    /// As many streams are open as the peer or the configuration allows.
    StreamLimit,
    /// A request's body waits for the connection's window, and another would wait behind it.
    SendWindow,
    /// The peer leaves, identifiers are used up, or the connection is broken.
    Draining,
}

/// One connection.
#[derive(Debug)]
pub struct Connection {
    pub(super) config: Config,
    pub(super) input: Input,
    pub(super) decoder: Decoder,
    /// The fields of the header block that was read last.
    pub(super) list: FieldList,
    pub(super) memo: Memo,
    pub(super) encoder: Encoder,
    pub(super) peer: Settings,
    /// Whether the peer's first SETTINGS have come.
    pub(super) is_established: bool,
    /// Our SETTINGS that the peer has not acknowledged.
    pub(super) unacknowledged: u32,
    pub(super) streams: Ring,
    /// The stream of the request that was put last.
    pub(super) last_opened: u32,
    /// Streams whose request waits to go on.
    pub(super) held: VecDeque<u32>,
    pub(super) send: SendWindow,
    pub(super) receive: ReceiveWindow,
    /// The last stream that the peer takes, once it leaves.
    pub(super) last_taken: Option<u32>,
    pub(super) strain: Strain,
    pub(super) counts: Counts,
    pub(super) fault: Option<Fault>,
}

impl Connection {
    /// A connection that has said nothing yet.
    #[must_use]
    pub fn new(mut config: Config) -> Self {
        config.streams_max = config.streams_max.clamp(1, OPEN_STREAMS_MAX);
        let windows = &mut config.windows;
        windows.stream = windows.stream.min(WINDOW_MAX);
        windows.connection = windows.connection.clamp(DEFAULT_WINDOW_BYTES, WINDOW_MAX);
        Self {
            input: Input::new(),
            decoder: Decoder::new(config.table_bytes),
            list: FieldList::default(),
            memo: Memo::default(),
            encoder: Encoder::new(config.https),
            peer: Settings::default(),
            is_established: false,
            unacknowledged: 0,
            streams: Ring::new(config.streams_max, config.first_stream),
            last_opened: 0,
            held: VecDeque::new(),
            send: SendWindow::new(DEFAULT_WINDOW_BYTES),
            receive: ReceiveWindow::new(config.windows.connection),
            last_taken: None,
            strain: Strain::default(),
            counts: Counts::default(),
            fault: None,
            config,
        }
    }

    /// Appends what a client says first: preface, SETTINGS and the connection's window. Once, before anything else.
    pub fn hello(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(PREFACE);
        put(kind::SETTINGS, 0, 0, &self.config.offer().payload(), out);
        let more = self.config.windows.connection - DEFAULT_WINDOW_BYTES;
        if more > 0 {
            put_window_update(0, more, out);
        }
        self.unacknowledged = 1;
    }

    /// The peer has agreed to an upgrade (RFC 7540 §3.2): the request that asked for it is stream 1, and its answer comes
    /// there. Before any request, of a connection that begins with stream 1.
    pub fn adopt(&mut self, place: Place, to_head: bool) {
        if let Some(at) = self.streams.open_next(place, self.peer.window_bytes, self.config.windows.stream) {
            let stream = self.streams.get(at);
            (stream.to_head, stream.is_sent) = (to_head, true);
        }
    }

    /// Whether the peer's SETTINGS have come, so that it is known how many requests it takes.
    #[inline]
    #[must_use]
    pub const fn is_established(&self) -> bool {
        self.is_established
    }

    /// Whether requests may be put on the connection, and how many.
    #[inline]
    #[must_use]
    pub fn room(&self) -> Room {
        if self.is_draining() {
            return Room::None(NoRoom::Draining);
        }
        if !self.is_established {
            return Room::None(NoRoom::NotEstablished);
        }
        let places = self.streams_granted().saturating_sub(self.streams.open());
        if places == 0 {
            return Room::None(NoRoom::StreamLimit);
        }
        if self.send.room() == 0 && !self.held.is_empty() {
            return Room::None(NoRoom::SendWindow);
        }
        Room::Places(places)
    }

    /// Requests at a time that both sides allow.
    #[inline]
    #[must_use]
    pub fn streams_granted(&self) -> u32 {
        self.config.streams_max.min(self.peer.streams_max)
    }

    /// Whether the connection takes no further request for good. Those that it carries may still be answered.
    #[inline]
    #[must_use]
    pub const fn is_draining(&self) -> bool {
        self.last_taken.is_some() || self.fault.is_some() || self.streams.is_used_up()
    }

    /// Requests that the connection carries.
    #[inline]
    #[must_use]
    pub const fn open(&self) -> u32 {
        self.streams.open()
    }

    /// Requests that wait for a window, or for the owner to send what is written.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held.len()
    }

    /// The peer's settings.
    #[must_use]
    pub const fn peer(&self) -> &Settings {
        &self.peer
    }

    /// What was seen and done so far.
    #[must_use]
    pub const fn counts(&self) -> &Counts {
        &self.counts
    }

    /// A time of the owner's choice has passed, usually a second: limits of counts per time begin again.
    pub const fn tick(&mut self) {
        self.strain.tick();
    }

    /// All that was appended to `out` is sent.
    #[inline]
    pub const fn flushed(&mut self) {
        self.strain.unsent_answers = 0;
    }

    /// The connection ends: lets the oldest request that it carries go. `None` where there is none.
    pub fn let_go(&mut self) -> Option<Place> {
        self.held.clear();
        let oldest = self.streams.oldest()?;
        Some(self.streams.end(oldest, State::Cancelled))
    }

    /// Appends what a client says last: nothing went wrong.
    pub fn leave(&mut self, out: &mut Vec<u8>) {
        if self.fault.is_none() {
            put_goaway(ErrorCode::NO_ERROR, out);
        }
    }

    /// One more answer to PING or SETTINGS is written.
    ///
    /// # Errors
    /// Too many are not sent yet.
    pub(super) const fn answers_peer(&mut self) -> Result<(), Fault> {
        self.strain.unsent_answers += 1;
        if self.strain.unsent_answers > UNSENT_ANSWERS_MAX { Err(Fault::PingFlood) } else { Ok(()) }
    }
}
