//! One connection's TLS session over rustls' unbuffered interface, which owns no buffers between calls.
//!
//! rustls wants the same unread bytes at the front of every call, so bytes of a record that is not whole are passed
//! along even when only something is to be sent.

use super::failure::{self, OUT_OF_ORDER};
use crate::driver::{SlotId, Sockets};
use crate::failure::Failure;
use rustls::Error;
use rustls::client::{ClientConnectionData, UnbufferedClientConnection};
use rustls::unbuffered::{ConnectionState, EncodeError, EncodeTlsData, EncryptError, UnbufferedStatus};
use units::Nanos;

/// Plain text encrypted at once: four records of the largest size (RFC 8446 §5.1).
pub(super) const CHUNK_BYTES: usize = 4 * 16 * 1024;

/// Cipher text on its way to the driver: a buffer that keeps its memory, filled from its front.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    bytes: Vec<u8>,
    length: usize,
}

impl Outgoing {
    pub(super) fn filled(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    pub(super) const fn clear(&mut self) {
        self.length = 0;
    }

    /// The part that is free, after making sure of its size.
    fn free(&mut self, at_least: usize) -> &mut [u8] {
        if self.bytes.len() < self.length + at_least {
            self.bytes.resize(self.length + at_least, 0);
        }
        &mut self.bytes[self.length..]
    }
}

/// A TLS session.
pub(super) struct Session {
    connection: UnbufferedClientConnection,
    /// When the TCP connection stood.
    pub(super) began: Nanos,
    /// Whether the core knows of the connection.
    pub(super) established: bool,
    /// Whether the peer has said close_notify; rustls tells it only once.
    peer_closed: bool,
    /// Received, but not a whole record yet.
    partial: Vec<u8>,
    /// Encrypted, but not taken by the driver yet.
    unsent: Vec<u8>,
    /// Whether the core waits to send the rest of something.
    pub(super) cut_short: bool,
}

/// What rustls made of the received bytes, up to the next thing that concerns the core.
pub(super) enum Digested {
    /// All is read; more must come.
    Blocked,
    /// The handshake has just ended.
    Established,
    /// The peer said close_notify.
    PeerClosed,
}

impl Session {
    pub(super) const fn new(connection: UnbufferedClientConnection, began: Nanos) -> Self {
        Self {
            connection,
            began,
            established: false,
            peer_closed: false,
            partial: Vec::new(),
            unsent: Vec::new(),
            cut_short: false,
        }
    }

    pub(super) fn connection(&self) -> &UnbufferedClientConnection {
        &self.connection
    }

    /// Puts what was left over before `bytes` into `incoming`.
    pub(super) fn gather(&self, incoming: &mut Vec<u8>, bytes: &[u8]) {
        incoming.clear();
        incoming.extend_from_slice(&self.partial);
        incoming.extend_from_slice(bytes);
    }

    /// Keeps what was not used; gives memory back when nothing is left.
    pub(super) fn keep(&mut self, rest: &[u8]) {
        self.partial.clear();
        if rest.is_empty() {
            self.partial = Vec::new();
        } else {
            self.partial.extend_from_slice(rest);
        }
    }

    /// Reads on in `incoming` from `used`, hands plain text to `deliver` while that returns true, and puts what is to
    /// be answered into `out`. After an error `out` holds the alert.
    pub(super) fn digest(
        &mut self,
        incoming: &mut [u8],
        used: &mut usize,
        out: &mut Outgoing,
        mut deliver: impl FnMut(&[u8]) -> bool,
    ) -> Result<Digested, Error> {
        while !self.peer_closed {
            let UnbufferedStatus { mut discard, state, .. } =
                self.connection.process_tls_records(&mut incoming[*used..]);
            let mut blocked = false;
            match state {
                Ok(ConnectionState::ReadTraffic(mut traffic)) if self.established => {
                    while let Some(record) = traffic.next_record() {
                        let record = record?;
                        discard += record.discard;
                        if !deliver(record.payload) {
                            blocked = true;
                            break;
                        }
                    }
                }
                // Plain text before the core knows of the connection: it is offered again.
                Ok(ConnectionState::ReadTraffic(_)) => {}
                Ok(ConnectionState::EncodeTlsData(mut data)) => encode(&mut data, out),
                Ok(ConnectionState::TransmitTlsData(data)) => data.done(),
                Ok(ConnectionState::PeerClosed) => self.peer_closed = true,
                Ok(_) => blocked = true,
                Err(error) => {
                    *used += discard;
                    self.drain_alert(out);
                    return Err(error);
                }
            }
            *used += discard;
            if !self.established && !self.connection.is_handshaking() {
                self.established = true;
                return Ok(Digested::Established);
            }
            if blocked {
                return Ok(Digested::Blocked);
            }
        }
        Ok(Digested::PeerClosed)
    }

    /// After an error rustls still hands out the alert that tells the peer, before it looks at any input.
    fn drain_alert(&mut self, out: &mut Outgoing) {
        while self.connection.wants_write() {
            let state = self.connection.process_tls_records(&mut []).state;
            let Ok(ConnectionState::EncodeTlsData(mut data)) = state else { return };
            encode(&mut data, out);
        }
    }

    /// Encrypts `plain` behind what is in `out`.
    pub(super) fn encrypt(&mut self, plain: &[u8], out: &mut Outgoing) -> Result<(), Failure> {
        self.write(out, |traffic, out| {
            let room = out.free(plain.len());
            match traffic.encrypt(plain, room) {
                Ok(written) => Ok(Some(written)),
                Err(EncryptError::InsufficientSize(error)) => {
                    out.free(error.required_size);
                    Ok(None)
                }
                Err(EncryptError::EncryptExhausted) => Err(failure::of(&Error::EncryptError)),
            }
        })
    }

    /// Says close_notify into `out`, where the session has come so far (RFC 8446 §6.1).
    pub(super) fn say_close(&mut self, out: &mut Outgoing) {
        if !self.established || !self.unsent.is_empty() {
            return;
        }
        // A session that cannot say it any more is closed without.
        let _ = self.write(out, |traffic, out| {
            let room = out.free(64);
            match traffic.queue_close_notify(room) {
                Ok(written) => Ok(Some(written)),
                Err(EncryptError::InsufficientSize(error)) => {
                    out.free(error.required_size);
                    Ok(None)
                }
                Err(EncryptError::EncryptExhausted) => Ok(Some(0)),
            }
        });
    }

    /// Brings the session to where it takes traffic and lets `act` write, again while `act` asks for more room.
    fn write(
        &mut self,
        out: &mut Outgoing,
        act: impl Fn(
            &mut rustls::unbuffered::WriteTraffic<'_, ClientConnectionData>,
            &mut Outgoing,
        ) -> Result<Option<usize>, Failure>,
    ) -> Result<(), Failure> {
        loop {
            let UnbufferedStatus { discard, state, .. } =
                self.connection.process_tls_records(&mut self.partial);
            let written = match state {
                Ok(ConnectionState::WriteTraffic(mut traffic)) => act(&mut traffic, out)?,
                Ok(ConnectionState::EncodeTlsData(mut data)) => {
                    encode(&mut data, out);
                    None
                }
                Ok(ConnectionState::TransmitTlsData(data)) => {
                    data.done();
                    None
                }
                Ok(ConnectionState::PeerClosed) => {
                    self.peer_closed = true;
                    None
                }
                Ok(_) => return Err(OUT_OF_ORDER),
                Err(error) => return Err(failure::of(&error)),
            };
            self.partial.drain(..discard);
            if let Some(written) = written {
                out.length += written;
                return Ok(());
            }
        }
    }

    /// Encrypts and sends from the front of `plain` what the driver takes, after what is in `out` already. Returns
    /// how much of `plain` was taken; the rest is to come again when [`Session::flush`] has ended.
    #[inline]
    pub(super) fn send(
        &mut self,
        sockets: &mut impl Sockets,
        slot: SlotId,
        plain: &[u8],
        out: &mut Outgoing,
    ) -> Result<usize, Failure> {
        let mut taken = 0;
        while self.unsent.is_empty() && taken < plain.len() {
            let chunk = &plain[taken..plain.len().min(taken + CHUNK_BYTES)];
            self.encrypt(chunk, out)?;
            self.pass_on(sockets, slot, out)?;
            taken += chunk.len();
        }
        self.cut_short = taken < plain.len();
        Ok(taken)
    }

    /// Gives `out` to the driver and keeps what it does not take.
    pub(super) fn pass_on(
        &mut self,
        sockets: &mut impl Sockets,
        slot: SlotId,
        out: &mut Outgoing,
    ) -> Result<(), Failure> {
        let bytes = out.filled();
        let sent = match bytes {
            [] => 0,
            _ if self.unsent.is_empty() => sockets.send(slot, bytes)?,
            _ => 0,
        };
        self.unsent.extend_from_slice(&bytes[sent..]);
        out.clear();
        Ok(())
    }

    /// Sends on what the driver did not take before. Returns whether nothing is left.
    pub(super) fn flush(&mut self, sockets: &mut impl Sockets, slot: SlotId) -> Result<bool, Failure> {
        if self.unsent.is_empty() {
            return Ok(true);
        }
        let sent = sockets.send(slot, &self.unsent)?;
        self.unsent.drain(..sent);
        if self.unsent.is_empty() {
            self.unsent = Vec::new();
        }
        Ok(self.unsent.is_empty())
    }
}

fn encode(data: &mut EncodeTlsData<'_, ClientConnectionData>, out: &mut Outgoing) {
    let written = match data.encode(out.free(0)) {
        Ok(written) => written,
        Err(EncodeError::InsufficientSize(error)) => {
            data.encode(out.free(error.required_size)).unwrap_or_default()
        }
        Err(EncodeError::AlreadyEncoded) => 0,
    };
    out.length += written;
}
