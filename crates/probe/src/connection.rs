//! A connection under one deadline, with TLS where it is asked for.
//!
//! Invariant: no call here outlives the deadline by more than the rounding of the system's timers, also where TLS
//! needs several reads for one.

use crate::{ProbeError, Stage, Tls};
use rustls::{ClientConnection, StreamOwned};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// Longer time-outs count as this one, so that no clock arithmetic can overflow.
const TIMEOUT_MAX: Duration = Duration::from_secs(24 * 3600);

pub(crate) struct Connection {
    stream: Stream,
    deadline: Deadline,
}

enum Stream {
    Plain(Socket),
    Tls(Box<StreamOwned<ClientConnection, Socket>>),
}

impl Connection {
    pub(crate) fn open(addr: SocketAddr, tls: Option<&Tls>, timeout: Duration) -> Result<Self, ProbeError> {
        let deadline = Deadline::after(timeout);
        let left = deadline.left().map_err(|_| deadline.passed(Stage::Connecting))?;
        let socket = match TcpStream::connect_timeout(&addr, left) {
            Ok(stream) => Socket { stream, deadline },
            Err(error) if is_time_out(&error) => return Err(deadline.passed(Stage::Connecting)),
            Err(source) => return Err(ProbeError::Connect { addr, source }),
        };
        match tls {
            None => Ok(Self { stream: Stream::Plain(socket), deadline }),
            Some(tls) => Self::secure(socket, tls, deadline),
        }
    }

    fn secure(socket: Socket, tls: &Tls, deadline: Deadline) -> Result<Self, ProbeError> {
        let stage = Stage::Securing;
        let session = ClientConnection::new(tls.config.clone(), tls.server_name.clone())
            .map_err(|source| ProbeError::Tls { stage, source: Box::new(source) })?;
        let mut stream = Box::new(StreamOwned::new(session, socket));
        while stream.conn.is_handshaking() {
            let moved = stream.conn.complete_io(&mut stream.sock).map(|_| 0);
            deadline.done(moved, stage)?;
        }
        Ok(Self { stream: Stream::Tls(stream), deadline })
    }

    /// Whether TLS agreed on this protocol; without TLS nobody asked.
    pub(crate) fn agreed_on(&self, alpn: &[u8]) -> bool {
        match &self.stream {
            Stream::Plain(_) => true,
            Stream::Tls(stream) => stream.conn.alpn_protocol() == Some(alpn),
        }
    }

    pub(crate) fn send(&mut self, mut request: &[u8]) -> Result<(), ProbeError> {
        while !request.is_empty() {
            let written = self.stream.get().write(request);
            request = &request[self.deadline.done(written, Stage::Sending)?.unwrap_or(0)..];
        }
        while self.deadline.done(self.stream.get().flush().map(|()| 0), Stage::Sending)?.is_none() {}
        Ok(())
    }

    /// Bytes read; zero at the end of the stream. `stage` is for the error.
    pub(crate) fn read(&mut self, into: &mut [u8], stage: Stage) -> Result<usize, ProbeError> {
        loop {
            let read = self.stream.get().read(into);
            if let Some(count) = self.deadline.done(read, stage)? {
                return Ok(count);
            }
        }
    }
}

trait ReadWrite: Read + Write {}
impl<T: Read + Write> ReadWrite for T {}

impl Stream {
    fn get(&mut self) -> &mut dyn ReadWrite {
        match self {
            Self::Plain(socket) => socket,
            Self::Tls(stream) => stream.as_mut(),
        }
    }
}

/// A socket whose every call ends with the deadline.
struct Socket {
    stream: TcpStream,
    deadline: Deadline,
}

impl Read for Socket {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(self.deadline.left()?))?;
        self.stream.read(into)
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(Some(self.deadline.left()?))?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Linux says EAGAIN where a socket's time-out ends a call.
fn is_time_out(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

#[derive(Clone, Copy)]
struct Deadline {
    end: Instant,
    timeout: Duration,
}

impl Deadline {
    fn after(timeout: Duration) -> Self {
        let timeout = timeout.min(TIMEOUT_MAX);
        Self { end: Instant::now() + timeout, timeout }
    }

    /// Time left, never zero: to a socket's time-out, zero is an error.
    fn left(&self) -> io::Result<Duration> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
    }

    const fn passed(&self, stage: Stage) -> ProbeError {
        ProbeError::TimedOut { after: self.timeout, stage }
    }

    /// Nothing where a signal came between.
    fn done(&self, result: io::Result<usize>, stage: Stage) -> Result<Option<usize>, ProbeError> {
        match result {
            Ok(count) => Ok(Some(count)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
            Err(error) if is_time_out(&error) => Err(self.passed(stage)),
            // A session of TLS that ends without close_notify, or before its handshake does.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(ProbeError::Closed { stage }),
            Err(source) => Err(match source.get_ref().and_then(|inner| inner.downcast_ref()) {
                Some(inner) => ProbeError::Tls { stage, source: Box::new(rustls::Error::clone(inner)) },
                None => ProbeError::Io { stage, source },
            }),
        }
    }
}
