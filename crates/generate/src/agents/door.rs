//! Where an agent listens, and who comes in.
//!
//! Invariants: over a Unix socket only the agent's own user and root; over TLS only the controller of its fleet, after a
//! handshake with a deadline; over plain TCP whoever reaches loopback. Peers that have not shown who they are are counted
//! apart and never take the place of a controller: the one that has waited longest goes when another comes. Refusals are
//! reported once a second at most. Absent on purpose: the words of a link (`relay`).

use super::protocol::LEASE_NS;
use super::session::Writer;
use super::tls::{HANDSHAKE_MAX, shake};
use super::trust::AgentTrust;
use rustix::net::sockopt::socket_peercred;
use rustix::net::{Shutdown, shutdown};
use rustix::process::getuid;
use rustls::ServerConnection;
use std::collections::VecDeque;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a socket's write may take before its link counts as cut.
const WRITE_MAX: Duration = Duration::from_secs(10);
/// Silence after which a socket's link counts as cut. The lease was over before.
const READ_MAX: Duration = Duration::from_nanos(2 * LEASE_NS);
/// Handshakes at once.
const HANDSHAKES_MAX: usize = 32;
/// Between two reports of refusals.
const REPORT_EACH: Duration = Duration::from_secs(1);

/// Where an agent listens.
#[derive(Debug)]
pub enum Listener {
    /// A Unix socket.
    Unix(UnixListener),
    /// A TCP port of loopback.
    Tcp(TcpListener),
    /// A TCP port of any address, for the controller of a fleet with keys.
    Tls(TlsDoor),
}

/// A TCP port with what decides who is believed there.
#[derive(Debug)]
pub struct TlsDoor {
    listener: TcpListener,
    trust: AgentTrust,
    refusals: Arc<Refusals>,
    room: Arc<Room>,
}

impl TlsDoor {
    /// Peers that are refused are reported to `say`, each with the cause.
    pub fn new(listener: TcpListener, trust: AgentTrust, say: impl Fn(&str) + Send + Sync + 'static) -> Self {
        let refusals = Refusals { say: Box::new(say), state: Mutex::new((None, 0)) };
        Self { listener, trust, refusals: Arc::new(refusals), room: Arc::default() }
    }

    /// The port's address.
    ///
    /// # Errors
    /// The system does not say.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

pub(super) type Reader = Box<dyn io::Read + Send>;

/// A peer at the door.
pub(super) enum Visitor {
    /// Its place says who it is.
    Known(Reader, Writer),
    /// It has to show who it is.
    Unknown { socket: TcpStream, from: SocketAddr, trust: AgentTrust, refusals: Arc<Refusals>, place: Place },
}

impl Listener {
    pub(super) fn set_nonblocking(&self) -> io::Result<()> {
        match self {
            Self::Unix(listener) => listener.set_nonblocking(true),
            Self::Tcp(listener) | Self::Tls(TlsDoor { listener, .. }) => listener.set_nonblocking(true),
        }
    }

    pub(super) fn accept(&self) -> io::Result<Visitor> {
        match self {
            Self::Unix(listener) => {
                let (stream, _) = listener.accept()?;
                check_peer(&stream)?;
                stream.set_nonblocking(false)?;
                stream.set_read_timeout(Some(READ_MAX))?;
                stream.set_write_timeout(Some(WRITE_MAX))?;
                Ok(Visitor::Known(Box::new(stream.try_clone()?), writer(Socket(stream))))
            }
            Self::Tcp(listener) => {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(false)?;
                stream.set_nodelay(true)?;
                limit(&stream)?;
                Ok(Visitor::Known(Box::new(stream.try_clone()?), writer(Socket(stream))))
            }
            Self::Tls(door) => {
                let (socket, from) = door.listener.accept()?;
                socket.set_nonblocking(false)?;
                socket.set_nodelay(true)?;
                let place = door.room.take(&socket)?;
                let (trust, refusals) = (door.trust.clone(), door.refusals.clone());
                Ok(Visitor::Unknown { socket, from, trust, refusals, place })
            }
        }
    }
}

impl Visitor {
    pub(super) const fn is_known(&self) -> bool {
        matches!(self, Self::Known(..))
    }

    /// Both halves of the link, once it is known who is there; waits for the handshake.
    pub(super) fn enter(self) -> Option<(Reader, Writer)> {
        match self {
            Self::Known(reader, writer) => Some((reader, writer)),
            Self::Unknown { socket, from, trust, refusals, place } => {
                let entered = enter_over_tls(&socket, trust);
                drop(place);
                entered.map_err(|cause| refusals.report(from, &cause)).ok()
            }
        }
    }
}

fn enter_over_tls(socket: &TcpStream, trust: AgentTrust) -> Result<(Reader, Writer), String> {
    let connection = ServerConnection::new(trust.config).map_err(|error| error.to_string())?;
    let (reading, writing) = shake(connection.into(), socket, HANDSHAKE_MAX)?;
    limit(socket).map_err(|error| error.to_string())?;
    Ok((Box::new(reading), writer(writing)))
}

fn writer(to: impl io::Write + Send + 'static) -> Writer {
    Arc::new(Mutex::new(Box::new(to)))
}

fn limit(stream: &TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(READ_MAX))?;
    stream.set_write_timeout(Some(WRITE_MAX))
}

/// The writing end of a socket. Dropping it ends the link in both directions: one that could not be written ends where it is
/// read, too, and may be made again.
struct Socket<S: io::Write + AsFd>(S);

impl<S: io::Write + AsFd> io::Write for Socket<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl<S: io::Write + AsFd> Drop for Socket<S> {
    fn drop(&mut self) {
        // Changes nothing for one that has ended.
        let _ = shutdown(&self.0, Shutdown::Both);
    }
}

/// Whoever can connect can order a load: only the agent's own user, and root. The rights of the socket say the same, but
/// for the moment before they are set.
fn check_peer(stream: &UnixStream) -> io::Result<()> {
    let peer = socket_peercred(stream)?.uid;
    if peer == getuid() || peer.is_root() { Ok(()) } else { Err(io::ErrorKind::ConnectionAborted.into()) }
}

/// Those who shake hands.
#[derive(Debug, Default)]
pub(super) struct Room(Mutex<(u64, VecDeque<(u64, TcpStream)>)>);

/// A place in the room; given back when it is dropped.
pub(super) struct Place {
    room: Arc<Room>,
    number: u64,
}

impl Room {
    fn lock(&self) -> MutexGuard<'_, (u64, VecDeque<(u64, TcpStream)>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(self: &Arc<Self>, socket: &TcpStream) -> io::Result<Place> {
        let socket = socket.try_clone()?;
        let mut room = self.lock();
        room.0 += 1;
        let number = room.0;
        if room.1.len() >= HANDSHAKES_MAX
            && let Some((_, oldest)) = room.1.pop_front()
        {
            let _ = oldest.shutdown(std::net::Shutdown::Both);
        }
        room.1.push_back((number, socket));
        Ok(Place { room: self.clone(), number })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.room.lock().1.retain(|(number, _)| *number != self.number);
    }
}

/// Reports of those who were refused: anybody can knock, so a log must not grow with the knocks.
pub(super) struct Refusals {
    say: Box<dyn Fn(&str) + Send + Sync>,
    /// When the last was reported, and how many came since.
    state: Mutex<(Option<Instant>, u64)>,
}

impl std::fmt::Debug for Refusals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Refusals")
    }
}

impl Refusals {
    fn report(&self, from: SocketAddr, cause: &str) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.0.is_some_and(|last| last.elapsed() < REPORT_EACH) {
            state.1 += 1;
            return;
        }
        let more = match std::mem::take(&mut state.1) {
            0 => String::new(),
            more => format!("refused {more} more meanwhile; the last: "),
        };
        state.0 = Some(Instant::now());
        (self.say)(&format!("{more}refused {from}: {cause}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_waits_longest_goes_when_the_room_is_full() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let room = Arc::new(Room::default());
        let peers: Vec<_> = (0..=HANDSHAKES_MAX)
            .map(|_| {
                let outer = TcpStream::connect(address).unwrap();
                let (inner, _) = listener.accept().unwrap();
                let place = room.take(&inner).unwrap();
                (outer, inner, place)
            })
            .collect();
        assert_eq!(room.lock().1.len(), HANDSHAKES_MAX);
        assert_eq!(io::Read::read(&mut &peers[0].0, &mut [0]).unwrap(), 0, "the first has gone");
        peers[1].0.set_nonblocking(true).unwrap();
        let second = io::Read::read(&mut &peers[1].0, &mut [0]).unwrap_err();
        assert_eq!(second.kind(), io::ErrorKind::WouldBlock, "and nobody else");
        drop(peers);
        assert!(room.lock().1.is_empty());
    }

    #[test]
    fn a_flood_of_refusals_is_one_line_a_second() {
        let said = Arc::new(Mutex::new(Vec::new()));
        let kept = said.clone();
        let say = Box::new(move |text: &str| kept.lock().unwrap().push(text.to_owned()));
        let refusals = Refusals { say, state: Mutex::new((None, 0)) };
        let from = "10.0.0.1:9".parse().unwrap();
        (0..100).for_each(|_| refusals.report(from, "it showed no certificate"));
        refusals.state.lock().unwrap().0 = None;
        refusals.report(from, "it has expired");
        let said = said.lock().unwrap();
        assert_eq!(said.len(), 2, "{said:?}");
        assert_eq!(said[0], "refused 10.0.0.1:9: it showed no certificate");
        assert!(said[1].starts_with("refused 99 more meanwhile; the last: refused"), "{said:?}");
    }
}
