//! `prony record`: a proxy that passes bytes on unchanged and writes the requests in them to a log, in the form in which
//! `traffic` reads one, with the bodies that an access log does not have.
//!
//! Invariants: what is read from one side is written to the other, byte for byte, whatever it means; bytes that are no
//! HTTP/1.1 end the reading of that connection, never the connection. A log has whole lines only, but for the last one of
//! a killed process. Header fields other than Content-Type are never written: they hold logins.
//! Absent on purpose: TLS on either side, HTTP/2, and anything that changes a message.

mod connection;
mod exchange;
mod log;
mod request;

pub use log::{Log, Totals};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Connections at a time; further ones wait to be accepted. Each has two threads.
const CONNECTIONS_MAX: usize = 1_024;
/// How long the listener waits before it looks at `stop`.
const POLL: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// Why no proxy could be started.
#[derive(Debug, thiserror::Error)]
pub enum MirrorError {
    /// A socket.
    #[error("the listener failed: {0}")]
    Listener(#[from] std::io::Error),
    /// The log.
    #[error("the log cannot be written: {0}")]
    Log(std::io::Error),
}

/// Passes connections on to `to` until `stop` is set, then ends those that are open. Returns what was written.
///
/// # Errors
/// The listener failed, or the log could not be written; what was written until then is whole.
pub fn serve(
    listener: &TcpListener,
    to: SocketAddr,
    mut log: Log,
    stop: &AtomicBool,
) -> Result<Totals, MirrorError> {
    listener.set_nonblocking(true)?;
    let writer = log.writer();
    let result = thread::scope(|scope| {
        let mut open: Vec<connection::Open> = Vec::new();
        let served = loop {
            if stop.load(Ordering::Relaxed) || writer.has_failed() {
                break Ok(());
            }
            open.retain(|one| !one.has_ended());
            if open.len() >= CONNECTIONS_MAX {
                thread::sleep(std::time::Duration::from_millis(5));
                continue;
            }
            match accept(listener) {
                Ok(None) => {}
                Ok(Some((client, from))) => {
                    // A target that is not there ends this connection only, as it would have without the proxy.
                    if let Ok(one) = connection::Open::begin(scope, client, from, to, writer.clone()) {
                        open.push(one);
                    }
                }
                Err(error) => break Err(MirrorError::Listener(error)),
            }
        };
        open.iter().for_each(connection::Open::end);
        served
    });
    drop(writer);
    let totals = log.finish().map_err(MirrorError::Log)?;
    result.map(|()| totals)
}

/// The next connection, if one comes soon.
fn accept(listener: &TcpListener) -> std::io::Result<Option<(std::net::TcpStream, SocketAddr)>> {
    let mut ready = [PollFd::new(listener, PollFlags::IN)];
    match poll(&mut ready, Some(&POLL)) {
        Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(None),
        Ok(_) => {}
        Err(error) => return Err(error.into()),
    }
    match listener.accept() {
        Ok((stream, from)) => {
            stream.set_nonblocking(false)?;
            Ok(Some((stream, from)))
        }
        // The client has gone already, or descriptors are short for a moment.
        Err(error) if is_passing(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_passing(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted, WouldBlock};
    let short = [rustix::io::Errno::MFILE, rustix::io::Errno::NFILE].map(rustix::io::Errno::raw_os_error);
    matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted | WouldBlock)
        || error.raw_os_error().is_some_and(|code| short.contains(&code))
}
