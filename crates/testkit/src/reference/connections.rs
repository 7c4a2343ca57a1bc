//! The clients' connections of the reference target, each known by a token.

use super::http2::Http2;
use super::secure::Secure;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{SendFlags, send};

/// One client connection. Over HTTP/1.1 one request at a time is in the queue, and further ones wait in `input`; over HTTP/2
/// all are.
pub(super) struct Connection {
    pub(super) fd: OwnedFd,
    pub(super) input: Vec<u8>,
    /// Bytes that the socket did not take yet.
    pub(super) output: Vec<u8>,
    pub(super) in_queue: bool,
    pub(super) close_after: bool,
    /// Present where the connection began with the preface of HTTP/2.
    pub(super) http2: Option<Box<Http2>>,
    /// Present where the server speaks TLS.
    pub(super) secure: Option<Box<Secure>>,
}

impl Connection {
    pub(super) const fn new(fd: OwnedFd, secure: Option<Box<Secure>>) -> Self {
        Self {
            fd,
            input: Vec::new(),
            output: Vec::new(),
            in_queue: false,
            close_after: false,
            http2: None,
            secure,
        }
    }

    /// Sends `bytes`, and keeps what the socket does not take.
    pub(super) fn put(&mut self, bytes: &[u8]) {
        if let Some(secure) = &mut self.secure {
            secure.write(bytes, self.close_after, &mut self.output);
        } else if self.output.is_empty() && !bytes.is_empty() {
            let sent = send(&self.fd, bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT).unwrap_or(0);
            self.output.extend_from_slice(&bytes[sent..]);
        } else {
            self.output.extend_from_slice(bytes);
        }
    }

    /// Sends what is kept. False where the connection is over.
    pub(super) fn flush(&mut self) -> bool {
        while !self.output.is_empty() {
            match send(&self.fd, &self.output, SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
                Ok(sent) => drop(self.output.drain(..sent)),
                Err(Errno::AGAIN) => return true,
                Err(Errno::INTR) => {}
                Err(_) => return false,
            }
        }
        !self.close_after || self.in_queue
    }
}

/// All connections, by slot; the generation in a token tells a connection from its predecessor in the slot.
#[derive(Default)]
pub(super) struct Connections {
    slots: Vec<(u32, Option<Connection>)>,
    free: Vec<u32>,
}

impl Connections {
    /// The token of the connection that is put next.
    pub(super) fn next_token(&mut self) -> u64 {
        if self.free.is_empty() {
            self.free.push(self.slots.len() as u32);
            self.slots.push((0, None));
        }
        let slot = self.free[self.free.len() - 1];
        u64::from(self.slots[slot as usize].0) << 32 | u64::from(slot)
    }

    pub(super) fn put(&mut self, connection: Connection) {
        let slot = self.next_token() as u32;
        self.free.pop();
        self.slots[slot as usize].1 = Some(connection);
    }

    pub(super) fn get(&mut self, token: u64) -> Option<&mut Connection> {
        let (generation, connection) = self.slots.get_mut(token as u32 as usize)?;
        if *generation == (token >> 32) as u32 { connection.as_mut() } else { None }
    }

    pub(super) fn close(&mut self, token: u64) {
        if self.get(token).is_some() {
            let slot = token as u32;
            let entry = &mut self.slots[slot as usize];
            *entry = (entry.0.wrapping_add(1), None);
            self.free.push(slot);
        }
    }
}
