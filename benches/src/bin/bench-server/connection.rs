//! One connection: bytes in, heads or HTTP/2 streams out, answers back, plain or by TLS.
//!
//! Invariants: answers leave in the order of their requests; what the socket does not take at once is kept and sent
//! when it can be; a head that exceeds its bound ends the connection.

use crate::streams::{self, Streams};
use memchr::memmem;
use rustls::{ServerConfig, ServerConnection};
use std::collections::VecDeque;
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::rc::Rc;
use std::sync::Arc;

/// A longer head is no request.
const HEAD_BYTES_MAX: usize = 16 * 1024;
/// Ends a head.
const END: &[u8] = b"\r\n\r\n";
/// As which a request of HTTP/2 is counted and answered.
const PING: &[u8] = b"GET /ping ";

/// How a connection stands after it was served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Waits for requests.
    Reading,
    /// Has bytes that the socket did not take.
    Writing,
    /// Is over.
    Ended,
}

/// One connection.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) socket: TcpStream,
    tls: Option<Box<ServerConnection>>,
    /// The beginning of a head or a frame that has not come whole.
    partial: Vec<u8>,
    /// Where the client speaks HTTP/2.
    streams: Option<Box<Streams>>,
    /// Answers that have not left, and how much of the first has.
    waiting: VecDeque<Rc<[u8]>>,
    sent: usize,
    /// No more requests are taken; it ends when all is sent.
    closing: bool,
    /// Whether the event queue watches it for writing too.
    pub(crate) watched_for_writing: bool,
    /// Whether its handshake was counted.
    pub(crate) is_shaken: bool,
}

impl Connection {
    pub(crate) fn new(socket: TcpStream, tls: Option<&Arc<ServerConfig>>) -> io::Result<Self> {
        let tls = tls.map(|config| ServerConnection::new(Arc::clone(config)).map(Box::new));
        let mut tls = tls.transpose().map_err(io::Error::other)?;
        if let Some(tls) = &mut tls {
            tls.set_buffer_limit(None);
        }
        Ok(Self {
            socket,
            is_shaken: tls.is_none(),
            tls,
            partial: Vec::new(),
            streams: None,
            waiting: VecDeque::new(),
            sent: 0,
            closing: false,
            watched_for_writing: false,
        })
    }

    /// Reads what is there and hands every whole head to `answer`, which gives the bytes to send and whether the
    /// connection ends with them.
    pub(crate) fn serve(
        &mut self,
        buffer: &mut [u8],
        mut answer: impl FnMut(&[u8]) -> (Rc<[u8]>, bool),
    ) -> io::Result<State> {
        let got = match self.read(buffer) {
            Ok(0) => return Ok(State::Ended),
            Ok(got) => got,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return self.flush(),
            Err(error) => return Err(error),
        };
        self.take(&buffer[..got], &mut answer)?;
        self.flush()
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else { return (&self.socket).read(buffer) };
        let taken = tls.read_tls(&mut &self.socket)?;
        if let Err(error) = tls.process_new_packets() {
            // The alert should reach the client; whether it does is its own matter.
            let _ = tls.write_tls(&mut &self.socket);
            return Err(io::Error::other(error));
        }
        if taken == 0 { Ok(0) } else { tls.reader().read(buffer) }
    }

    /// Whether the handshake is over; plain connections have none.
    pub(crate) fn is_handshake_over(&self) -> bool {
        self.tls.as_ref().is_none_or(|tls| !tls.is_handshaking())
    }

    fn take(
        &mut self,
        mut bytes: &[u8],
        answer: &mut impl FnMut(&[u8]) -> (Rc<[u8]>, bool),
    ) -> io::Result<()> {
        if !self.partial.is_empty() {
            self.partial.extend_from_slice(bytes);
            let whole = std::mem::take(&mut self.partial);
            return self.take(&whole, answer);
        }
        if self.streams.is_some() {
            return self.take_frames(bytes, Vec::new(), answer);
        }
        while !self.closing {
            let Some(end) = memmem::find(bytes, END) else { break };
            if &bytes[..end] == streams::HEAD {
                let mut out = Vec::new();
                self.streams = Some(Box::new(Streams::new(&mut out)));
                return self.take_frames(&bytes[end + END.len()..], out, answer);
            }
            let (bytes_of_answer, is_last) = answer(&bytes[..end]);
            self.closing = is_last;
            self.send(bytes_of_answer)?;
            bytes = &bytes[end + END.len()..];
        }
        if bytes.len() > HEAD_BYTES_MAX {
            return Err(io::Error::other("the head is too long"));
        }
        self.partial.extend_from_slice(bytes);
        Ok(())
    }

    /// Sends `out`, and after it all answers to the requests among these bytes, at once.
    fn take_frames(
        &mut self,
        bytes: &[u8],
        mut out: Vec<u8>,
        answer: &mut impl FnMut(&[u8]) -> (Rc<[u8]>, bool),
    ) -> io::Result<()> {
        let Some(streams) = &mut self.streams else { return Ok(()) };
        let read = streams.take(bytes, &mut out, || drop(answer(PING)))?;
        self.partial.extend_from_slice(&bytes[read..]);
        if out.is_empty() { Ok(()) } else { self.send(out.into()) }
    }

    /// Sends at once where nothing waits before it; what is not taken waits.
    fn send(&mut self, bytes: Rc<[u8]>) -> io::Result<()> {
        if let Some(tls) = &mut self.tls {
            return tls.writer().write_all(&bytes);
        }
        if self.waiting.is_empty() {
            let sent = match (&self.socket).write(&bytes) {
                Ok(sent) => sent,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
                Err(error) => return Err(error),
            };
            if sent == bytes.len() {
                return Ok(());
            }
            self.sent = sent;
        }
        self.waiting.push_back(bytes);
        Ok(())
    }

    /// Sends what waits, as far as the socket takes it.
    pub(crate) fn flush(&mut self) -> io::Result<State> {
        let all_sent = match self.push() {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => false,
            Err(error) => return Err(error),
        };
        Ok(match (all_sent, self.closing) {
            (false, _) => State::Writing,
            (true, true) => State::Ended,
            (true, false) => State::Reading,
        })
    }

    fn push(&mut self) -> io::Result<()> {
        if let Some(tls) = &mut self.tls {
            if self.closing {
                tls.send_close_notify();
            }
            while tls.wants_write() {
                tls.write_tls(&mut &self.socket)?;
            }
            return Ok(());
        }
        while let Some(first) = self.waiting.front() {
            self.sent += (&self.socket).write(&first[self.sent..])?;
            if self.sent == first.len() {
                self.waiting.pop_front();
                self.sent = 0;
            }
        }
        Ok(())
    }
}
