//! A stream over TLS in two halves, each for a thread of its own.
//!
//! Invariants: the handshake has a deadline and a limit of bytes, whoever the peer is; the connection is locked only while
//! bytes are turned into others, never while a socket is waited for, so an end that does not read keeps nobody from
//! hearing it. One thread writes at a time, which the writing half's owner sees to. The end of the stream needs no
//! `close_notify`: a line without its end never came.

use super::trust::explain;
use rustls::{Connection, Error};
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Time for a handshake.
pub(super) const HANDSHAKE_MAX: Duration = Duration::from_secs(5);
/// Most bytes of a peer that has not shown who it is.
const HANDSHAKE_BYTES_MAX: usize = 64 << 10;
/// Bytes in one piece, about a record.
const PIECE_BYTES: usize = 16 << 10;

/// Shakes hands and returns both halves. The socket's own limits of time are set by the caller afterwards.
///
/// # Errors
/// What the peer did in place of its part, with a remedy.
pub(super) fn shake(
    mut connection: Connection,
    socket: &TcpStream,
    within: Duration,
) -> Result<(Reading, Writing), String> {
    let end = Instant::now() + within;
    if let Err(cause) = exchange(&mut connection, socket, end, within) {
        // It hears why, if it listens.
        let _ = write_waiting(&mut connection, socket);
        linger(socket, end);
        return Err(cause);
    }
    let shared = || socket.try_clone().map_err(|error| error.to_string());
    let connection = Arc::new(Mutex::new(connection));
    let reading = Reading {
        connection: connection.clone(),
        socket: shared()?,
        raw: vec![0; PIECE_BYTES],
        begin: 0,
        end: 0,
    };
    Ok((reading, Writing { connection, socket: shared()?, out: Vec::new() }))
}

fn exchange(
    connection: &mut Connection,
    socket: &TcpStream,
    end: Instant,
    within: Duration,
) -> Result<(), String> {
    let mut taken = 0;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let late = || {
            format!(
                "it did not end its handshake within {} s\n  remedy: begin the agent with --tls, and look at the network",
                within.as_secs()
            )
        };
        if left.is_zero() {
            return Err(late());
        }
        let told = |error: io::Error| match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => late(),
            _ => format!("the link broke during the handshake ({error})"),
        };
        let limits = socket.set_read_timeout(Some(left)).and_then(|()| socket.set_write_timeout(Some(left)));
        limits.map_err(|error| error.to_string())?;
        write_waiting(connection, socket).map_err(told)?;
        if !connection.is_handshaking() {
            return Ok(());
        }
        let mut from = socket.take((HANDSHAKE_BYTES_MAX - taken) as u64);
        match connection.read_tls(&mut from).map_err(told)? {
            0 if taken == HANDSHAKE_BYTES_MAX => {
                return Err(format!("its handshake is longer than {HANDSHAKE_BYTES_MAX} bytes"));
            }
            0 => return Err("it ended the link during the handshake".to_owned()),
            bytes => taken += bytes,
        }
        connection.process_new_packets().map_err(|error| explain(&error))?;
    }
}

fn write_waiting(connection: &mut Connection, mut socket: &TcpStream) -> io::Result<()> {
    while connection.wants_write() {
        connection.write_tls(&mut socket)?;
    }
    Ok(())
}

/// Lets the last words arrive: what a peer has sent and nobody read would cut them off.
fn linger(mut socket: &TcpStream, end: Instant) {
    let _ = socket.shutdown(Shutdown::Write);
    let mut taken = 0;
    let mut bytes = [0; 4096];
    while taken < HANDSHAKE_BYTES_MAX && Instant::now() < end {
        match socket.read(&mut bytes) {
            Ok(0) | Err(_) => return,
            Ok(more) => taken += more,
        }
    }
}

fn locked(connection: &Mutex<Connection>) -> MutexGuard<'_, Connection> {
    connection.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The half that reads.
pub(super) struct Reading {
    connection: Arc<Mutex<Connection>>,
    socket: TcpStream,
    /// Came and is not yet understood, from `begin` to `end`.
    raw: Vec<u8>,
    begin: usize,
    end: usize,
}

impl Read for Reading {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            match locked(&self.connection).reader().read(into) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return done,
            }
            if self.begin == self.end {
                self.end = self.socket.read(&mut self.raw)?;
                self.begin = 0;
                if self.end == 0 {
                    return Ok(0);
                }
            }
            self.understand()?;
        }
    }
}

impl Reading {
    fn understand(&mut self) -> io::Result<()> {
        let mut connection = locked(&self.connection);
        self.begin += connection.read_tls(&mut &self.raw[self.begin..self.end])?;
        connection.process_new_packets().map(drop).map_err(broken)
    }
}

/// An error of TLS in the words of a fleet.
fn broken(error: Error) -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionAborted, explain(&error))
}

/// The half that writes. Dropping it ends the stream in both directions.
pub(super) struct Writing {
    connection: Arc<Mutex<Connection>>,
    socket: TcpStream,
    out: Vec<u8>,
}

impl Write for Writing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let piece = &bytes[..bytes.len().min(PIECE_BYTES)];
        self.out.clear();
        let mut connection = locked(&self.connection);
        connection.writer().write_all(piece)?;
        while connection.wants_write() {
            connection.write_tls(&mut self.out)?;
        }
        drop(connection);
        self.socket.write_all(&self.out)?;
        Ok(piece.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        // Changes nothing for one that has ended.
        let _ = self.socket.shutdown(Shutdown::Both);
    }
}
