//! A TCP connection under one deadline.
//!
//! Invariant: no call here outlives the deadline by more than the rounding of the system's timers.

use crate::{ProbeError, Stage};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// Longer time-outs count as this one, so that no clock arithmetic can overflow.
const TIMEOUT_MAX: Duration = Duration::from_secs(24 * 3600);

pub(crate) struct Connection {
    stream: TcpStream,
    deadline: Deadline,
}

impl Connection {
    pub(crate) fn open(addr: SocketAddr, timeout: Duration) -> Result<Self, ProbeError> {
        let deadline = Deadline::after(timeout);
        let left = deadline.left(Stage::Connecting)?;
        match TcpStream::connect_timeout(&addr, left) {
            Ok(stream) => Ok(Self { stream, deadline }),
            Err(error) if is_time_out(&error) => Err(deadline.passed(Stage::Connecting)),
            Err(source) => Err(ProbeError::Connect { addr, source }),
        }
    }

    pub(crate) fn send(&mut self, mut request: &[u8]) -> Result<(), ProbeError> {
        while !request.is_empty() {
            let left = self.deadline.left(Stage::Sending)?;
            let written = self.stream.set_write_timeout(Some(left)).and_then(|()| self.stream.write(request));
            request = &request[self.done(written, Stage::Sending)?.unwrap_or(0)..];
        }
        Ok(())
    }

    /// Bytes read; zero at the end of the stream. `stage` is for the error.
    pub(crate) fn read(&mut self, into: &mut [u8], stage: Stage) -> Result<usize, ProbeError> {
        loop {
            let left = self.deadline.left(stage)?;
            let read = self.stream.set_read_timeout(Some(left)).and_then(|()| self.stream.read(into));
            if let Some(count) = self.done(read, stage)? {
                return Ok(count);
            }
        }
    }

    /// Nothing where a signal came between.
    fn done(&self, result: io::Result<usize>, stage: Stage) -> Result<Option<usize>, ProbeError> {
        match result {
            Ok(count) => Ok(Some(count)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
            Err(error) if is_time_out(&error) => Err(self.deadline.passed(stage)),
            Err(source) => Err(ProbeError::Io { stage, source }),
        }
    }
}

/// Linux says EAGAIN where a socket's time-out ends a call.
fn is_time_out(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

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
    fn left(&self, stage: Stage) -> Result<Duration, ProbeError> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(self.passed(stage)) } else { Ok(left) }
    }

    const fn passed(&self, stage: Stage) -> ProbeError {
        ProbeError::TimedOut { after: self.timeout, stage }
    }
}
