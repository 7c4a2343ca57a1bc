//! One connection of a scripted server: the acts that a script is made of, over plain text or TLS.
//!
//! Invariants: every wait ends when the server stops; a peer that does something unexpected ends its own connection
//! and nothing else. Absent on purpose: speed. Reads block on a thread of their own.

use crate::http2::Line;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a blocked read or write may last before it looks whether to stop.
const POLL: Duration = Duration::from_millis(20);
/// How long [`Act::Ignore`] keeps a connection whose peer may have gone unnoticed.
const PATIENCE: Duration = Duration::from_secs(30);

/// One thing to do on a connection.
#[derive(Clone, Debug)]
pub enum Act {
    /// Read until a blank line: the end of a request without a body.
    AwaitRequest,
    /// Read one TLS record, which in a handshake is the peer's hello.
    AwaitRecord,
    /// Send these bytes.
    Send(Vec<u8>),
    /// Send these bytes, each in a segment (over TLS: a record) of its own.
    Drip(Vec<u8>),
    /// Send these bytes over and over until the peer is gone.
    Repeat(Vec<u8>),
    /// Send these bytes over and over, one every 20 ms: alive, yet never done.
    Trickle(Vec<u8>),
    /// Close the sending direction only (over TLS: with a closing alert).
    HalfClose,
    /// Close in the ordinary way (over TLS: with a closing alert).
    Close,
    /// Close without the closing alert of TLS; over plain text the same as [`Act::Close`].
    Cut,
    /// Close with a reset.
    Reset,
    /// Say nothing more until the peer closes or the server stops.
    Hold,
    /// Neither read nor send, for half a minute at most.
    Ignore,
    /// TLS only: send these bytes in a record whose last byte is flipped on its way.
    Damage(Vec<u8>),
    /// TLS only: send a fatal alert.
    Alert,
    /// Begin again with the first act.
    Again,
}

impl Act {
    /// [`Act::Send`] of a text.
    #[must_use]
    pub fn send(text: &str) -> Self {
        Self::Send(text.as_bytes().to_vec())
    }
}

/// A connection as a script sees it.
pub(crate) trait Channel {
    /// Sends all bytes, in one piece. False when the peer is gone or the server stops.
    fn send(&mut self, bytes: &[u8]) -> bool;
    /// Reads some bytes; `Some(0)` when the peer has closed, `None` when it is gone or the server stops.
    fn read(&mut self, bytes: &mut [u8]) -> Option<usize>;
    /// Waits until there is something to read. False when the peer is gone or the server stops.
    fn wait(&mut self) -> bool;
    /// Tells the peer that nothing more will be sent.
    fn finish(&mut self);
    /// Sends a damaged record. False where there are none.
    fn damage(&mut self, bytes: &[u8]) -> bool;
    /// Sends a fatal alert. False where there are none.
    fn alert(&mut self) -> bool;
    /// The socket below.
    fn socket(&self) -> &Wire;
}

/// A socket whose waits end when the server stops.
#[derive(Debug)]
pub(crate) struct Wire {
    stream: TcpStream,
    stop: Arc<AtomicBool>,
}

impl Wire {
    pub(crate) fn new(stream: TcpStream, stop: Arc<AtomicBool>) -> io::Result<Self> {
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(POLL))?;
        stream.set_write_timeout(Some(POLL))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, stop })
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// Tries until the peer lets it, is gone (an error), or the server stops (`None`).
    fn patient<T>(&self, mut attempt: impl FnMut(&TcpStream) -> io::Result<T>) -> Option<io::Result<T>> {
        use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
        while !self.is_stopped() {
            match attempt(&self.stream) {
                Err(error) if matches!(error.kind(), WouldBlock | TimedOut | Interrupted) => {}
                result => return Some(result),
            }
        }
        None
    }

    pub(crate) fn send(&self, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            match self.patient(|mut stream| stream.write(bytes)) {
                Some(Ok(sent)) => bytes = &bytes[sent..],
                _ => return false,
            }
        }
        true
    }

    pub(crate) fn read(&self, bytes: &mut [u8]) -> Option<usize> {
        self.patient(|mut stream| stream.read(bytes))?.ok()
    }

    pub(crate) fn shut_sending(&self) {
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    /// Zero linger turns the close that follows into a reset.
    fn reset_on_close(&self) {
        let _ = rustix::net::sockopt::set_socket_linger(&self.stream, Some(Duration::ZERO));
    }
}

impl Read for Wire {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        Self::read(self, bytes).ok_or_else(|| io::ErrorKind::ConnectionAborted.into())
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.send(bytes) { Ok(bytes.len()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Line for Wire {
    fn half_close(&mut self) -> io::Result<()> {
        self.shut_sending();
        Ok(())
    }
}

/// A connection without TLS.
#[derive(Debug)]
pub(crate) struct Plain(pub(crate) Wire);

impl Channel for Plain {
    fn send(&mut self, bytes: &[u8]) -> bool {
        self.0.send(bytes)
    }

    fn read(&mut self, bytes: &mut [u8]) -> Option<usize> {
        self.0.read(bytes)
    }

    fn wait(&mut self) -> bool {
        matches!(self.0.patient(|stream| stream.peek(&mut [0])), Some(Ok(1..)))
    }

    fn finish(&mut self) {
        self.0.shut_sending();
    }

    fn damage(&mut self, _: &[u8]) -> bool {
        false
    }

    fn alert(&mut self) -> bool {
        false
    }

    fn socket(&self) -> &Wire {
        &self.0
    }
}

/// Does one act other than [`Act::Again`]. Returns whether the connection goes on.
pub(crate) fn perform(act: &Act, channel: &mut dyn Channel) -> bool {
    match act {
        Act::AwaitRequest => await_request(channel),
        Act::AwaitRecord => await_record(channel),
        Act::Send(bytes) => channel.send(bytes),
        Act::Drip(bytes) => bytes.iter().all(|byte| channel.send(&[*byte])),
        Act::Repeat(bytes) => repeat(channel, bytes),
        Act::Trickle(bytes) => trickle(channel, bytes),
        Act::HalfClose => {
            channel.finish();
            true
        }
        Act::Close => {
            channel.finish();
            false
        }
        Act::Cut => false,
        Act::Reset => {
            channel.socket().reset_on_close();
            false
        }
        Act::Hold => hold(channel),
        Act::Ignore => ignore(channel),
        Act::Damage(bytes) => channel.damage(bytes),
        Act::Alert => channel.alert(),
        Act::Again => true,
    }
}

/// Reads up to a blank line. False when the peer is gone or the server stops.
fn await_request(channel: &mut dyn Channel) -> bool {
    let mut tail = [0; 4];
    let mut byte = [0];
    while tail != *b"\r\n\r\n" {
        if channel.read(&mut byte) != Some(1) {
            return false;
        }
        tail.rotate_left(1);
        tail[3] = byte[0];
    }
    true
}

/// Reads one TLS record: five bytes of header, the last two of them the length (RFC 8446 §5.1).
fn await_record(channel: &mut dyn Channel) -> bool {
    let mut header = [0; 5];
    if !read_exact(channel, &mut header) {
        return false;
    }
    let length = u16::from_be_bytes([header[3], header[4]]);
    read_exact(channel, &mut vec![0; usize::from(length)])
}

fn read_exact(channel: &mut dyn Channel, mut bytes: &mut [u8]) -> bool {
    while !bytes.is_empty() {
        match channel.read(bytes) {
            Some(taken) if taken > 0 => bytes = &mut bytes[taken..],
            _ => return false,
        }
    }
    true
}

fn repeat(channel: &mut dyn Channel, bytes: &[u8]) -> bool {
    // In large pieces, so that a bomb is as fast as the network lets it be.
    let piece = bytes.repeat((64 * 1024 / bytes.len().max(1)).max(1));
    while channel.send(&piece) {}
    false
}

fn trickle(channel: &mut dyn Channel, bytes: &[u8]) -> bool {
    for byte in bytes.iter().cycle() {
        if !channel.send(&[*byte]) {
            return false;
        }
        std::thread::sleep(POLL);
    }
    false
}

fn hold(channel: &mut dyn Channel) -> bool {
    let mut bytes = [0; 16 * 1024];
    while channel.read(&mut bytes).is_some_and(|taken| taken > 0) {}
    false
}

fn ignore(channel: &mut dyn Channel) -> bool {
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until && !channel.socket().is_stopped() {
        std::thread::sleep(POLL);
    }
    false
}
