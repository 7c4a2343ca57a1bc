//! The server that plays one fault: it accepts, counts, and gives each request its fault or the right answer.
//!
//! One thread a connection, [`CONNECTIONS_MAX`] at a time; further ones wait in the accept queue. Whatever a client
//! does ends its own connection at worst.

use super::request::{NoRequest, Requests};
use super::right::{answer_rightly, refuse};
use super::scripts::{self, Read};
use super::{Ask, Fault, Spec, Unit, http2, tls};
use crate::certs::{CertError, Pki, Wrong};
use crate::channel::{Channel, Plain, Wire, perform};
use crate::http2::{Peer, Seen};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::net::{
    AddressFamily, SocketFlags, SocketType, bind, connect, getsockname, listen, socket_with, sockopt,
};
use rustls::ServerConfig;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::JoinHandle;

/// Connections that are served at the same time.
pub const CONNECTIONS_MAX: usize = 512;

const BACKLOG: i32 = 1024;
/// Receive buffer where a large body must not fit into the buffers of sockets.
const SMALL_BUFFER_BYTES: usize = 64 * 1024;
/// How often the accept loop looks whether to stop.
const POLL: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// Why a fault server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The system refused the address or a socket.
    #[error("cannot listen on {addr}: {source}; choose another address, port 0 takes a free one")]
    Listen {
        /// The address asked for.
        addr: SocketAddr,
        /// The system's answer.
        source: io::Error,
    },
    /// A certificate could not be made.
    #[error(transparent)]
    Certificate(#[from] CertError),
}

/// What a fault server has seen so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Connections accepted.
    pub connections: u64,
    /// Of these, ended, whoever ended them.
    pub ended: u64,
    /// Requests whose first byte was seen.
    pub requests: u64,
    /// Faults played, of requests or connections.
    pub faults: u64,
}

/// A fault server on threads of this process; ends when dropped.
#[derive(Debug)]
pub struct FaultServer {
    addr: SocketAddr,
    shared: Arc<Shared>,
    pki: Option<Pki>,
    /// Sockets that make the fault by being there: never read, never closed before the end.
    held: Vec<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    spec: Spec,
    stop: Arc<AtomicBool>,
    tls: Option<TlsConfigs>,
    connections: AtomicU64,
    ended: AtomicU64,
    requests: AtomicU64,
    /// What connections of HTTP/2 count.
    http2: Seen,
    faults: AtomicU64,
    live: AtomicUsize,
}

/// What is shown to connections that meet the fault, and to others.
#[derive(Debug)]
struct TlsConfigs {
    right: Arc<ServerConfig>,
    faulty: Arc<ServerConfig>,
}

impl FaultServer {
    /// Starts one on a port that the system assigns on loopback.
    ///
    /// # Errors
    /// See [`FaultServer::bind`].
    pub fn start(spec: Spec) -> Result<Self, StartError> {
        Self::bind(SocketAddr::from(([127, 0, 0, 1], 0)), spec)
    }

    /// Starts one on this address.
    ///
    /// # Errors
    /// When the address cannot be bound or a certificate cannot be made.
    pub fn bind(addr: SocketAddr, spec: Spec) -> Result<Self, StartError> {
        let (pki, tls) = certificates(spec.fault)?;
        let shared = Arc::new(Shared {
            spec,
            stop: Arc::new(AtomicBool::new(false)),
            tls,
            connections: AtomicU64::new(0),
            ended: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            http2: Seen::default(),
            faults: AtomicU64::new(0),
            live: AtomicUsize::new(0),
        });
        let refused = |source: io::Error| StartError::Listen { addr, source };
        let (listener, more) = open_listener(addr, spec.fault).map_err(refused)?;
        let mut server = Self {
            addr: getsockname(&listener)
                .map_err(io::Error::from)
                .and_then(|bound| SocketAddr::try_from(bound).map_err(io::Error::from))
                .map_err(refused)?,
            shared: shared.clone(),
            pki,
            held: more,
            thread: None,
        };
        if spec.fault.entry().unit == Unit::Listener {
            server.held.push(listener);
        } else {
            let listener = TcpListener::from(listener);
            let thread = std::thread::Builder::new()
                .name("prony-fault".to_owned())
                .spawn(move || accept_loop(&listener, &shared))
                .map_err(refused)?;
            server.thread = Some(thread);
        }
        Ok(server)
    }

    /// Where it listens, or would.
    #[must_use]
    pub const fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The certificates behind a fault of TLS; clients are to trust its authority.
    #[must_use]
    pub const fn pki(&self) -> Option<&Pki> {
        self.pki.as_ref()
    }

    /// What it has seen so far. Faults of the whole listener see nothing.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let read = |counter: &AtomicU64| counter.load(Ordering::SeqCst);
        Counts {
            connections: read(&self.shared.connections),
            ended: read(&self.shared.ended),
            requests: read(&self.shared.requests) + read(&self.shared.http2.requests),
            faults: read(&self.shared.faults),
        }
    }
}

impl Drop for FaultServer {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn certificates(fault: Fault) -> Result<(Option<Pki>, Option<TlsConfigs>), CertError> {
    if !fault.entry().tls {
        return Ok((None, None));
    }
    let pki = Pki::new()?;
    let right = pki.server_config(pki.server(), false, &[])?;
    let wrong = match fault {
        Fault::CertExpired => Some(Wrong::Expired),
        Fault::CertNotYetValid => Some(Wrong::NotYetValid),
        Fault::CertWrongName => Some(Wrong::Name),
        Fault::CertSelfSigned => Some(Wrong::SelfSigned),
        Fault::CertUnknownIssuer => Some(Wrong::UnknownIssuer),
        Fault::CertWrongUsage => Some(Wrong::Usage),
        Fault::CertBadSignature => Some(Wrong::Signature),
        _ => None,
    };
    let faulty = match (wrong, fault) {
        (Some(wrong), _) => pki.server_config(&pki.wrong(wrong)?, false, &[])?,
        (None, Fault::TlsWantsClient) => pki.server_config(pki.server(), true, &[])?,
        (None, _) => right.clone(),
    };
    Ok((Some(pki), Some(TlsConfigs { right, faulty })))
}

/// A socket that listens as the fault needs it, and others that must stay open with it.
fn open_listener(addr: SocketAddr, fault: Fault) -> io::Result<(OwnedFd, Vec<OwnedFd>)> {
    let stream = || {
        let family = if addr.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)
    };
    let listener = stream()?;
    sockopt::set_socket_reuseaddr(&listener, true)?;
    bind(&listener, &addr)?;
    if fault.entry().ask == Ask::LargeBody {
        sockopt::set_socket_recv_buffer_size(&listener, SMALL_BUFFER_BYTES)?;
    }
    match fault {
        // Bound, so that nobody else takes the port, but not listening.
        Fault::Refused => return Ok((listener, Vec::new())),
        Fault::AcceptQueueFull => {
            // A queue of length 0 holds one connection; this one is ours, so the next finds it full.
            listen(&listener, 0)?;
            let ours = stream()?;
            connect(&ours, &SocketAddr::try_from(getsockname(&listener)?)?)?;
            // Ours is in the queue once the listener is readable.
            poll(&mut [PollFd::new(&listener, PollFlags::IN)], None)?;
            return Ok((listener, vec![ours]));
        }
        _ => listen(&listener, BACKLOG)?,
    }
    Ok((listener, Vec::new()))
}

fn accept_loop(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut peers: Vec<JoinHandle<()>> = Vec::new();
    while !shared.stop.load(Ordering::SeqCst) {
        let ready = poll(&mut [PollFd::new(listener, PollFlags::IN)], Some(&POLL));
        if !matches!(ready, Ok(1..)) {
            continue;
        }
        if shared.live.load(Ordering::SeqCst) >= CONNECTIONS_MAX {
            // They wait in the accept queue until one ends.
            std::thread::sleep(std::time::Duration::from_millis(1));
            continue;
        }
        let Ok((stream, _)) = listener.accept() else { continue };
        peers.retain(|peer| !peer.is_finished());
        peers.extend(serve(stream, shared));
    }
    for peer in peers {
        let _ = peer.join();
    }
}

/// Serves a connection on a thread of its own; `None` when the system has none left and the connection is dropped.
fn serve(stream: TcpStream, shared: &Arc<Shared>) -> Option<JoinHandle<()>> {
    let number = shared.connections.fetch_add(1, Ordering::SeqCst) + 1;
    shared.live.fetch_add(1, Ordering::SeqCst);
    let for_thread = shared.clone();
    let spawned = std::thread::Builder::new().spawn(move || {
        if let Ok(wire) = Wire::new(stream, for_thread.stop.clone()) {
            converse(wire, number, &for_thread);
        }
        for_thread.leave();
    });
    match spawned {
        Ok(thread) => Some(thread),
        Err(_) => {
            shared.leave();
            None
        }
    }
}

impl Shared {
    fn leave(&self) {
        self.live.fetch_sub(1, Ordering::SeqCst);
        self.ended.fetch_add(1, Ordering::SeqCst);
    }

    /// Plays the fault. Returns whether the connection goes on.
    fn play(&self, channel: &mut dyn Channel) -> bool {
        self.faults.fetch_add(1, Ordering::SeqCst);
        scripts::script(self.spec.fault).iter().all(|act| perform(act, channel))
    }
}

/// The life of one connection.
fn converse(wire: Wire, number: u64, shared: &Shared) {
    let fault = shared.spec.fault;
    let is_faulty = fault.entry().unit == Unit::Connection && shared.spec.pattern.hits(number);
    if fault.is_http2() {
        shared.faults.fetch_add(u64::from(is_faulty), Ordering::SeqCst);
        let script = if is_faulty { http2::script(fault) } else { http2::right(fault) };
        // What the client does to its connection is no error of the server.
        let _ = Peer::new(wire, &shared.http2).follow(&script);
        return;
    }
    if is_faulty && !scripts::script(fault).is_empty() {
        shared.play(&mut Plain(wire));
        return;
    }
    // What is left of the faults of connections lies in what the server shows of itself.
    shared.faults.fetch_add(u64::from(is_faulty), Ordering::SeqCst);
    let config =
        shared.tls.as_ref().map(|tls| if is_faulty { tls.faulty.clone() } else { tls.right.clone() });
    let Some(mut channel) = tls::open(wire, config) else { return };
    let mut requests = Requests::default();
    while requests.wait(channel.as_mut()) {
        let number = shared.requests.fetch_add(1, Ordering::SeqCst) + 1;
        let goes_on = if fault.entry().unit == Unit::Request && shared.spec.pattern.hits(number) {
            answer_faultily(&mut requests, channel.as_mut(), shared)
        } else {
            answer_rightly(&mut requests, channel.as_mut())
        };
        if !goes_on {
            return;
        }
    }
}

/// Reads a request as far as the fault lets it be, then plays the fault.
fn answer_faultily(requests: &mut Requests, channel: &mut dyn Channel, shared: &Shared) -> bool {
    let reads = scripts::reads(shared.spec.fault);
    if reads == Read::Nothing {
        return shared.play(channel);
    }
    match requests.head(channel) {
        Ok(head) => (reads == Read::Head || requests.body(&head, channel)) && shared.play(channel),
        Err(NoRequest::Bad) => refuse(channel),
        Err(NoRequest::Gone) => false,
    }
}
