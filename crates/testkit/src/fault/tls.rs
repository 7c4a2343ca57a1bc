//! The TLS side of the fault server, and a TLS server without faults for tests.
//!
//! Blocking, one thread a connection, like the rest of the fault server.

use super::request::Requests;
use super::right::answer_rightly;
use crate::channel::{Channel, Plain, Wire};
use rustls::{ServerConfig, ServerConnection};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// A connection under TLS, its handshake done.
pub(super) struct Secure {
    tls: ServerConnection,
    wire: Wire,
}

impl Secure {
    /// Shakes hands. `None` when that fails; the client has then received an alert.
    pub(super) fn accept(wire: Wire, config: Arc<ServerConfig>) -> Option<Self> {
        let mut channel = Self { tls: ServerConnection::new(config).ok()?, wire };
        while channel.tls.is_handshaking() {
            if !channel.flush() || !channel.pump() {
                return None;
            }
        }
        channel.flush().then_some(channel)
    }

    /// Whether this connection resumed a session.
    fn is_resumed(&self) -> bool {
        self.tls.handshake_kind() == Some(rustls::HandshakeKind::Resumed)
    }

    /// Writes what the TLS layer has ready.
    fn flush(&mut self) -> bool {
        let bytes = self.outgoing();
        self.wire.send(&bytes)
    }

    fn outgoing(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        while self.tls.wants_write() {
            // Writing to memory cannot fail.
            if self.tls.write_tls(&mut bytes).is_err() {
                break;
            }
        }
        bytes
    }

    /// Reads from the socket into the TLS layer. False at the end, or after an error, of which the client is notified.
    fn pump(&mut self) -> bool {
        let mut bytes = [0; 16 * 1024];
        let Some(taken @ 1..) = self.wire.read(&mut bytes) else { return false };
        let mut input = &bytes[..taken];
        while !input.is_empty() {
            let is_taken = self.tls.read_tls(&mut input).is_ok_and(|taken| taken > 0);
            if !is_taken || self.tls.process_new_packets().is_err() {
                self.flush();
                return false;
            }
        }
        // Key updates and the like may ask for an answer.
        self.flush()
    }
}

impl Channel for Secure {
    fn send(&mut self, bytes: &[u8]) -> bool {
        // What has no room in the TLS layer's own buffer waits until that is written.
        let mut rest = bytes;
        while !rest.is_empty() {
            match self.tls.writer().write(rest) {
                Ok(taken) => rest = &rest[taken..],
                Err(_) => return false,
            }
            if !self.flush() {
                return false;
            }
        }
        true
    }

    fn read(&mut self, bytes: &mut [u8]) -> Option<usize> {
        loop {
            match self.tls.reader().read(bytes) {
                Ok(taken) => return Some(taken),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return None,
            }
            if !self.pump() {
                return None;
            }
        }
    }

    fn wait(&mut self) -> bool {
        loop {
            match self.tls.process_new_packets() {
                Ok(state) if state.plaintext_bytes_to_read() > 0 => return true,
                Ok(state) if state.peer_has_closed() => return false,
                Ok(_) => {}
                Err(_) => return false,
            }
            if !self.pump() {
                return false;
            }
        }
    }

    fn finish(&mut self) {
        self.tls.send_close_notify();
        self.flush();
        self.wire.shut_sending();
    }

    fn damage(&mut self, bytes: &[u8]) -> bool {
        if self.tls.writer().write_all(bytes).is_err() {
            return false;
        }
        let mut record = self.outgoing();
        if let Some(last) = record.last_mut() {
            *last ^= 1;
        }
        self.wire.send(&record)
    }

    fn alert(&mut self) -> bool {
        // The TLS layer sends its fatal alert, encrypted as it must be, when it is given a record that it cannot
        // decrypt: application data (23) of 32 zero bytes.
        let mut record = vec![23, 3, 3, 0, 32];
        record.resize(5 + 32, 0);
        let is_refused =
            self.tls.read_tls(&mut record.as_slice()).is_ok() && self.tls.process_new_packets().is_err();
        is_refused && self.flush()
    }

    fn socket(&self) -> &Wire {
        &self.wire
    }
}

/// A TLS server on loopback that answers every request rightly; ends when dropped.
#[derive(Debug)]
pub struct TlsServer {
    addr: SocketAddr,
    stop: Arc<AtomicBool>,
    counts: Arc<Seen>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Seen {
    requests: AtomicU64,
    handshakes: AtomicU64,
    resumed: AtomicU64,
}

impl TlsServer {
    /// Starts one on a port that the system assigns; `config` is for example [`crate::certs::Pki::server_config`].
    ///
    /// # Errors
    /// When the address cannot be bound.
    pub fn start(config: Arc<ServerConfig>) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let addr = listener.local_addr()?;
        let stop = Arc::new(AtomicBool::new(false));
        let counts = Arc::new(Seen::default());
        let (stopped, seen) = (stop.clone(), counts.clone());
        let thread = std::thread::spawn(move || accept_loop(&listener, &config, &stopped, &seen));
        Ok(Self { addr, stop, counts, thread: Some(thread) })
    }

    /// Where it listens.
    #[must_use]
    pub const fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Requests answered so far.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.counts.requests.load(Ordering::SeqCst)
    }

    /// Handshakes done so far, and how many of them resumed a session.
    #[must_use]
    pub fn handshakes(&self) -> (u64, u64) {
        (self.counts.handshakes.load(Ordering::SeqCst), self.counts.resumed.load(Ordering::SeqCst))
    }
}

impl Drop for TlsServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn accept_loop(listener: &TcpListener, config: &Arc<ServerConfig>, stop: &Arc<AtomicBool>, seen: &Arc<Seen>) {
    let mut peers = Vec::new();
    while !stop.load(Ordering::SeqCst) {
        match listener.accept() {
            Ok((stream, _)) => {
                let (config, stop, seen) = (config.clone(), stop.clone(), seen.clone());
                peers.push(std::thread::spawn(move || {
                    if let Ok(wire) = Wire::new(stream, stop) {
                        serve_rightly(wire, config, &seen);
                    }
                }));
            }
            Err(_) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
    for peer in peers {
        let _ = peer.join();
    }
}

fn serve_rightly(wire: Wire, config: Arc<ServerConfig>, seen: &Seen) {
    let Some(mut channel) = Secure::accept(wire, config) else { return };
    seen.handshakes.fetch_add(1, Ordering::SeqCst);
    seen.resumed.fetch_add(u64::from(channel.is_resumed()), Ordering::SeqCst);
    let mut requests = Requests::default();
    while requests.wait(&mut channel) {
        seen.requests.fetch_add(1, Ordering::SeqCst);
        if !answer_rightly(&mut requests, &mut channel) {
            return;
        }
    }
}

/// A connection as the fault server has accepted it, with TLS where there is a configuration for it.
pub(super) fn open(wire: Wire, config: Option<Arc<ServerConfig>>) -> Option<Box<dyn Channel>> {
    match config {
        None => Some(Box::new(Plain(wire))),
        Some(config) => Some(Box::new(Secure::accept(wire, config)?)),
    }
}
