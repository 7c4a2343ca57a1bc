//! Scripted TLS servers: they do the same few things on every connection and tell what was negotiated.
//!
//! One thread a connection and blocking reads: for a handful of connections in tests, not for load.

use rustls::{HandshakeKind, ProtocolVersion, ServerConfig, ServerConnection, StreamOwned};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// One thing to do on a connection after its handshake.
#[derive(Clone, Debug)]
pub enum TlsAct {
    /// Read a whole request with its body of `Content-Length` bytes.
    AwaitRequest,
    /// Send these bytes, encrypted.
    Send(Vec<u8>),
    /// Send these bytes, each in a record of its own.
    Drip(Vec<u8>),
    /// Send these bytes below TLS, as they are.
    Raw(Vec<u8>),
    /// Renew the keys (TLS 1.3).
    RenewKeys,
    /// Say close_notify and close.
    Close,
    /// Close without close_notify: a truncation.
    Cut,
    /// Say nothing more until the peer closes or the script ends.
    Hold,
    /// Begin again with the first act.
    Again,
}

impl TlsAct {
    /// [`TlsAct::Send`] of a text.
    #[must_use]
    pub fn send(text: &str) -> Self {
        Self::Send(text.as_bytes().to_vec())
    }
}

/// What a handshake negotiated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Negotiated {
    /// `1.2` or `1.3`.
    pub version: &'static str,
    /// IANA name of the cipher suite.
    pub cipher: String,
    /// Name of the group, lower case; none where a TLS 1.2 session was resumed.
    pub group: Option<String>,
    /// Protocol chosen by ALPN.
    pub alpn: Option<String>,
    /// Name in SNI.
    pub sni: Option<String>,
    /// Whether an earlier session was resumed.
    pub resumed: bool,
    /// Whether the client showed a certificate.
    pub client_certificate: bool,
}

/// What happened on all connections so far.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// One for each handshake that ended well.
    pub handshakes: Vec<Negotiated>,
    /// Texts of handshakes that failed.
    pub failures: Vec<String>,
    /// Bodies of the requests, in the order in which they were read.
    pub bodies: Vec<Vec<u8>>,
    /// Connections that the client ended with close_notify.
    pub goodbyes: u64,
}

/// A TLS listener on loopback that plays one script on every connection; ends when dropped.
#[derive(Debug)]
pub struct TlsPeer {
    addr: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    config: Arc<ServerConfig>,
    script: Vec<TlsAct>,
    record: Mutex<Record>,
    stop: AtomicBool,
}

/// How long a blocked read may last before it looks whether to stop.
const POLL: Duration = Duration::from_millis(20);

type Stream = StreamOwned<ServerConnection, TcpStream>;

impl TlsPeer {
    /// Listens on a port that the system assigns and plays `script` on every connection.
    ///
    /// # Panics
    /// When loopback cannot be bound: the test cannot run.
    #[must_use]
    pub fn start(config: Arc<ServerConfig>, script: Vec<TlsAct>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback can be bound");
        listener.set_nonblocking(true).expect("a listener can be made non-blocking");
        let addr = listener.local_addr().expect("a bound listener has an address");
        let shared = Arc::new(Shared {
            config,
            script,
            record: Mutex::new(Record::default()),
            stop: AtomicBool::new(false),
        });
        let seen = shared.clone();
        let thread = std::thread::spawn(move || accept_loop(&listener, &seen));
        Self { addr, shared, thread: Some(thread) }
    }

    /// Where it listens.
    #[must_use]
    pub const fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Ends the peer and tells what happened.
    #[must_use]
    pub fn finish(mut self) -> Record {
        self.end();
        self.shared.record.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn end(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for TlsPeer {
    fn drop(&mut self) {
        self.end();
    }
}

fn accept_loop(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut peers = Vec::new();
    while !shared.stop.load(Ordering::SeqCst) {
        match listener.accept() {
            Ok((stream, _)) => {
                let shared = shared.clone();
                peers.push(std::thread::spawn(move || serve(stream, &shared)));
            }
            Err(_) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
    for peer in peers {
        let _ = peer.join();
    }
}

impl Shared {
    fn note(&self, write: impl FnOnce(&mut Record)) {
        write(&mut self.record.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

fn serve(stream: TcpStream, shared: &Shared) {
    let ready = stream.set_nonblocking(false).and_then(|()| stream.set_read_timeout(Some(POLL)));
    if ready.and_then(|()| stream.set_nodelay(true)).is_err() {
        return;
    }
    let Ok(session) = ServerConnection::new(shared.config.clone()) else { return };
    let mut stream = StreamOwned::new(session, stream);
    if let Err(error) = shake(&mut stream, shared) {
        shared.note(|record| record.failures.push(error.to_string()));
        return;
    }
    let negotiated = negotiated(&stream.conn);
    shared.note(|record| record.handshakes.push(negotiated));
    let mut at = 0;
    while let Some(act) = shared.script.get(at) {
        at += 1;
        if matches!(act, TlsAct::Again) {
            at = 0;
        }
        if !play(&mut stream, act, shared) || shared.stop.load(Ordering::SeqCst) {
            break;
        }
    }
}

fn shake(stream: &mut Stream, shared: &Shared) -> std::io::Result<()> {
    while stream.conn.is_handshaking() {
        match stream.conn.complete_io(&mut stream.sock) {
            Ok(_) => {}
            Err(error) if is_pause(&error) && !shared.stop.load(Ordering::SeqCst) => {}
            Err(error) => {
                // The alert, if there is one.
                let _ = stream.conn.write_tls(&mut stream.sock);
                return Err(error);
            }
        }
    }
    Ok(())
}

fn negotiated(session: &ServerConnection) -> Negotiated {
    let suite = session.negotiated_cipher_suite();
    Negotiated {
        version: match session.protocol_version() {
            Some(ProtocolVersion::TLSv1_2) => "1.2",
            _ => "1.3",
        },
        cipher: suite.map(|s| format!("{:?}", s.suite()).replace("TLS13_", "TLS_")).unwrap_or_default(),
        group: session
            .negotiated_key_exchange_group()
            .map(|group| format!("{:?}", group.name()).to_lowercase()),
        alpn: session.alpn_protocol().map(|name| String::from_utf8_lossy(name).into_owned()),
        sni: session.server_name().map(str::to_owned),
        resumed: session.handshake_kind() == Some(HandshakeKind::Resumed),
        client_certificate: session.peer_certificates().is_some_and(|chain| !chain.is_empty()),
    }
}

/// Does one thing; false when the connection is over.
fn play(stream: &mut Stream, act: &TlsAct, shared: &Shared) -> bool {
    match act {
        TlsAct::AwaitRequest => match request(stream, shared) {
            Some(body) => {
                shared.note(|record| record.bodies.push(body));
                true
            }
            None => false,
        },
        TlsAct::Send(bytes) => stream.write_all(bytes).and_then(|()| stream.flush()).is_ok(),
        TlsAct::Drip(bytes) => {
            bytes.iter().all(|byte| stream.write_all(&[*byte]).and_then(|()| stream.flush()).is_ok())
        }
        TlsAct::Raw(bytes) => stream.sock.write_all(bytes).is_ok(),
        TlsAct::RenewKeys => stream.conn.refresh_traffic_keys().is_ok() && stream.flush().is_ok(),
        TlsAct::Close => {
            stream.conn.send_close_notify();
            let _ = stream.flush();
            false
        }
        TlsAct::Cut => false,
        TlsAct::Hold => {
            let mut bytes = [0; 1024];
            while read(stream, &mut bytes, shared).is_some_and(|taken| taken > 0) {}
            false
        }
        TlsAct::Again => true,
    }
}

/// Reads a request and returns its body; `None` when the peer is gone or the script stops.
fn request(stream: &mut Stream, shared: &Shared) -> Option<Vec<u8>> {
    let (mut bytes, mut buffer) = (Vec::new(), vec![0; 16 * 1024]);
    loop {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
        if let Some(end) = end {
            let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
            let length = length.and_then(|text| text.trim().parse::<usize>().ok()).unwrap_or(0);
            if bytes.len() >= end + 4 + length {
                return Some(bytes.split_off(end + 4));
            }
        }
        let taken = read(stream, &mut buffer, shared)?;
        if taken == 0 {
            return None;
        }
        bytes.extend_from_slice(&buffer[..taken]);
    }
}

fn read(stream: &mut Stream, bytes: &mut [u8], shared: &Shared) -> Option<usize> {
    while !shared.stop.load(Ordering::SeqCst) {
        match stream.read(bytes) {
            Ok(0) => {
                shared.note(|record| record.goodbyes += 1);
                return Some(0);
            }
            Ok(taken) => return Some(taken),
            Err(error) if is_pause(&error) => {}
            Err(_) => return None,
        }
    }
    None
}

fn is_pause(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut)
}
