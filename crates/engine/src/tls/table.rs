//! The sessions of a worker, by slot, and the sockets as the core sees them: plain text in, cipher text out.
//!
//! While a session's plain text is handed to the core, the session is lent: it cannot be used, because the text is
//! still its own. What the core does to that slot meanwhile (send, close, connect) is noted and done right after.

use super::config::Tls;
use super::session::{CHUNK_BYTES, Outgoing, Session};
use crate::driver::{Route, SlotId, Sockets};
use crate::failure::{Failure, classify};
use rustix::io::Errno;
use units::MonotonicClock;
use wire::{Framing as _, Http2};

/// What a slot has.
#[derive(Default)]
pub(super) enum Entry {
    /// No connection.
    #[default]
    Closed,
    /// A TCP connection is being made, to this one of the origins.
    Connecting(u16),
    /// A TCP connection with its session.
    Open(Box<Session>),
    /// Its session hands plain text to the core.
    Lent(Wishes),
    /// A TCP connection whose session has ended.
    Spent,
}

/// What the core wants of a slot that is lent.
#[derive(Debug, Default)]
pub(super) struct Wishes {
    pub(super) close: bool,
    pub(super) connect: Option<Route>,
    /// Whether not all could be taken of what it sent.
    pub(super) cut_short: bool,
}

/// Sessions and buffers of one worker.
pub(super) struct Table {
    entries: Vec<Entry>,
    pub(super) tls: Tls,
    /// What connections speak (RFC 7301).
    alpn: &'static [u8],
    pub(super) clock: MonotonicClock,
    /// Cipher text of one send.
    outgoing: Outgoing,
    /// Plain text that the core sent on the slot that is lent; there is one at most.
    pub(super) deferred: Vec<u8>,
    /// For the session that is lent.
    pub(super) scratch: Scratch,
}

/// Buffers of one read.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) incoming: Vec<u8>,
    pub(super) answer: Outgoing,
}

impl Table {
    pub(super) fn new(tls: Tls, alpn: &'static [u8]) -> Self {
        Self {
            entries: Vec::new(),
            tls,
            alpn,
            clock: MonotonicClock::starting_now(),
            outgoing: Outgoing::default(),
            deferred: Vec::new(),
            scratch: Scratch::default(),
        }
    }

    /// Whether connections speak HTTP/2, which the server must choose (RFC 9113 §3.2).
    pub(super) fn wants_http2(&self) -> bool {
        self.alpn == Http2::ALPN.as_bytes()
    }

    /// The slot's entry; slots that were never used have none yet.
    pub(super) fn entry(&mut self, slot: SlotId) -> &mut Entry {
        let index = slot as usize;
        if index >= self.entries.len() {
            self.entries.resize_with(index + 1, Entry::default);
        }
        &mut self.entries[index]
    }

    /// Takes a session out while its plain text is handed over.
    pub(super) fn lend(&mut self, slot: SlotId) -> Option<Box<Session>> {
        let entry = self.entry(slot);
        match std::mem::replace(entry, Entry::Lent(Wishes::default())) {
            Entry::Open(session) => Some(session),
            other => {
                *entry = other;
                None
            }
        }
    }

    /// Takes a session out for good; its TCP connection stays until the core closes it.
    pub(super) fn spend(&mut self, slot: SlotId) -> Option<Box<Session>> {
        let entry = self.entry(slot);
        match std::mem::replace(entry, Entry::Spent) {
            Entry::Open(session) => Some(session),
            other => {
                *entry = other;
                None
            }
        }
    }

    /// What the core did to a slot that is lent.
    pub(super) fn wishes(&mut self, slot: SlotId) -> Wishes {
        match self.entry(slot) {
            Entry::Lent(wishes) => std::mem::take(wishes),
            _ => Wishes::default(),
        }
    }

    /// Whether the core still wants the connection of a slot that is lent.
    pub(super) fn is_wanted(&mut self, slot: SlotId) -> bool {
        matches!(self.entry(slot), Entry::Lent(wishes) if !wishes.close)
    }
}

/// The driver's sockets with TLS on them.
pub(crate) struct TlsSockets<'a, S: Sockets> {
    pub(super) sockets: &'a mut S,
    pub(super) table: &'a mut Table,
}

impl<S: Sockets> Sockets for TlsSockets<'_, S> {
    fn connect(&mut self, slot: SlotId, route: &Route) -> Result<(), Failure> {
        let entry = self.table.entry(slot);
        if let Entry::Lent(wishes) = entry {
            wishes.connect = Some(route.clone());
            return Ok(());
        }
        *entry = Entry::Connecting(route.server);
        let result = self.sockets.connect(slot, route);
        if result.is_err() {
            *entry = Entry::Closed;
        }
        result
    }

    #[inline]
    fn send(&mut self, slot: SlotId, bytes: &[u8]) -> Result<usize, Failure> {
        let table = &mut *self.table;
        match table.entries.get_mut(slot as usize) {
            Some(Entry::Open(session)) => session.send(self.sockets, slot, bytes, &mut table.outgoing),
            Some(Entry::Lent(wishes)) if !wishes.close => {
                let taken = bytes.len().min(CHUNK_BYTES.saturating_sub(table.deferred.len()));
                table.deferred.extend_from_slice(&bytes[..taken]);
                wishes.cut_short = taken < bytes.len();
                Ok(taken)
            }
            _ => Err(classify(Errno::NOTCONN, false)),
        }
    }

    fn generation(&self, slot: SlotId) -> u32 {
        self.sockets.generation(slot)
    }

    fn close(&mut self, slot: SlotId) {
        let table = &mut *self.table;
        match table.entry(slot) {
            Entry::Lent(wishes) => *wishes = Wishes { close: true, ..Wishes::default() },
            entry => {
                if let Entry::Open(mut session) = std::mem::take(entry) {
                    say_goodbye(&mut session, self.sockets, slot, &mut table.outgoing);
                }
                self.sockets.close(slot);
            }
        }
    }
}

/// Sends close_notify as far as the driver takes it at once; nobody waits for it.
pub(super) fn say_goodbye(
    session: &mut Session,
    sockets: &mut impl Sockets,
    slot: SlotId,
    out: &mut Outgoing,
) {
    session.say_close(out);
    // The connection is given up: a peer that cannot be notified will see its end.
    let _ = session.pass_on(sockets, slot, out);
    out.clear();
}
