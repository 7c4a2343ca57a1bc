//! Scripted servers of HTTP/2 that write frames by hand, well or badly: what each connection does is a script. They share no
//! code with the codec that they try.
//!
//! One thread a connection and blocking reads: for a handful of connections in tests, not for load.

use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A server that hangs fails its test, which takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(30);

/// One thing to do on a connection.
#[derive(Clone, Debug)]
pub enum Act {
    /// Send SETTINGS with these entries, and acknowledge the client's.
    Settings(Vec<(u16, u32)>),
    /// Read until so many more requests have begun.
    Await(usize),
    /// Answer so many of the oldest requests that were read: 200 without a body.
    Answer(usize),
    /// Reset the oldest request that was read with this code.
    Reset(u32),
    /// Leave, with this code, after the first so many requests of the connection.
    Goaway {
        /// Requests that are still answered.
        taken: u32,
        /// Error code.
        code: u32,
    },
    /// Wait until so many connections were accepted in all.
    AwaitConnections(u64),
    /// Send these bytes.
    Send(Vec<u8>),
    /// Send these bytes again and again, until the client closes.
    Flood(Vec<u8>),
    /// Answer every request at once, until the client closes.
    Serve,
    /// The same with these frames, made for its stream.
    ServeFrames(fn(u32) -> Vec<u8>),
    /// Read until the client closes.
    Hold,
}

/// A frame of this type, with these flags, on this stream.
#[must_use]
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// A SETTINGS frame of these identifiers and values.
#[must_use]
pub fn settings(entries: &[(u16, u32)]) -> Vec<u8> {
    let payload: Vec<u8> = entries
        .iter()
        .flat_map(|(id, value)| [id.to_be_bytes().as_slice(), value.to_be_bytes().as_slice()].concat())
        .collect();
    frame(4, 0, 0, &payload)
}

/// A field as a header block has it: with a new name, not indexed, in plain bytes. Name and value are shorter than 127 bytes.
#[must_use]
pub fn field(name: &str, value: &str) -> Vec<u8> {
    let text = |text: &str| [&[text.len() as u8], text.as_bytes()].concat();
    [vec![0], text(name), text(value)].concat()
}

/// The answer to a call of gRPC on a stream: this message, and this status.
#[must_use]
pub fn call_answer(stream: u32, message: &[u8], status: &str) -> Vec<u8> {
    let head = [vec![0x88], field("content-type", "application/grpc")].concat();
    let length = (message.len() as u32).to_be_bytes();
    let body = [&[0], &length[..], message].concat();
    let trailers = field("grpc-status", status);
    [frame(1, 4, stream, &head), frame(0, 0, stream, &body), frame(1, 5, stream, &trailers)].concat()
}

/// What it counted.
#[derive(Debug, Default)]
pub struct Seen {
    /// Connections that were accepted.
    pub connections: AtomicU64,
    /// Requests that were begun.
    pub requests: AtomicU64,
    /// Streams that the client gave up.
    pub cancels: AtomicU64,
    /// GOAWAY frames of the client.
    pub goaways: AtomicU64,
    /// PING frames of the client, which only answers.
    pub pongs: AtomicU64,
    /// The window of each answer that a client offered last; 0 where it said nothing.
    pub window: AtomicU64,
    /// By how much a client widened a connection's window first.
    pub widened: AtomicU64,
}

/// A server that ends with this handle, after the client.
#[derive(Debug)]
pub struct Raw {
    addr: SocketAddr,
    seen: Arc<Seen>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Raw {
    /// A server on a free port of loopback. The n-th connection follows the n-th script, and later ones the last.
    ///
    /// # Panics
    /// Without a free port.
    #[must_use]
    pub fn start(scripts: Vec<Vec<Act>>) -> Self {
        Self::start_over(None, scripts)
    }

    /// The same over TLS.
    ///
    /// # Panics
    /// Without a free port.
    #[must_use]
    pub fn start_tls(config: Arc<ServerConfig>, scripts: Vec<Vec<Act>>) -> Self {
        Self::start_over(Some(config), scripts)
    }

    /// Where it listens.
    #[must_use]
    pub const fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// What it has counted so far.
    #[must_use]
    pub fn seen(&self) -> &Seen {
        &self.seen
    }

    /// What it has counted by its end; the client must have closed its connections.
    ///
    /// # Panics
    /// Where a script did.
    #[must_use]
    pub fn end(mut self) -> Arc<Seen> {
        self.finish().expect("no script fails");
        self.seen.clone()
    }

    fn finish(&mut self) -> std::thread::Result<()> {
        self.is_over.store(true, SeqCst);
        let _ = TcpStream::connect(self.addr);
        self.thread.take().map_or(Ok(()), JoinHandle::join)
    }

    fn start_over(tls: Option<Arc<ServerConfig>>, scripts: Vec<Vec<Act>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        let (seen, is_over) = (Arc::new(Seen::default()), Arc::new(AtomicBool::new(false)));
        let (counts, ends) = (seen.clone(), is_over.clone());
        let thread = std::thread::spawn(move || {
            let mut threads = Vec::new();
            for (number, socket) in listener.incoming().enumerate() {
                let Ok(socket) = socket else { return };
                if ends.load(SeqCst) {
                    break;
                }
                counts.connections.fetch_add(1, SeqCst);
                let script = scripts[number.min(scripts.len() - 1)].clone();
                let (counts, tls) = (counts.clone(), tls.clone());
                threads.push(std::thread::spawn(move || {
                    // What the client does to its connection is no error of the server.
                    let _ = follow(socket, tls, &script, &counts);
                }));
            }
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        });
        Self { addr, seen, is_over, thread: Some(thread) }
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        let _ = self.finish();
    }
}

fn follow(
    socket: TcpStream,
    tls: Option<Arc<ServerConfig>>,
    script: &[Act],
    seen: &Arc<Seen>,
) -> io::Result<()> {
    socket.set_nodelay(true)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.set_write_timeout(Some(PATIENCE))?;
    let session = tls.map(ServerConnection::new).transpose().map_err(io::Error::other)?;
    match session {
        Some(session) => Peer::new(StreamOwned::new(session, socket), seen).follow(script),
        None => Peer::new(socket, seen).follow(script),
    }
}

/// The server's end of a connection.
struct Peer<'a, T> {
    io: T,
    input: Vec<u8>,
    has_preface: bool,
    /// Streams of requests that were read and are not answered.
    open: VecDeque<u32>,
    /// Streams of all requests.
    streams: Vec<u32>,
    seen: &'a Seen,
}

impl<'a, T: Read + Write> Peer<'a, T> {
    fn new(io: T, seen: &'a Seen) -> Self {
        Self { io, input: Vec::new(), has_preface: false, open: VecDeque::new(), streams: Vec::new(), seen }
    }

    fn follow(mut self, script: &[Act]) -> io::Result<()> {
        for act in script {
            match act {
                Act::Settings(entries) => {
                    self.send(&[settings(entries), frame(4, 1, 0, &[])].concat())?;
                }
                Act::Await(requests) => {
                    let wanted = self.streams.len() + requests;
                    while self.streams.len() < wanted {
                        self.read()?;
                    }
                }
                Act::Answer(requests) => (0..*requests).try_for_each(|_| self.answer())?,
                Act::Reset(code) => {
                    let stream = self.open.pop_front().expect("a request was read");
                    self.send(&frame(3, 0, stream, &code.to_be_bytes()))?;
                }
                Act::Goaway { taken, code } => {
                    let last = self.streams.iter().take(*taken as usize).next_back().copied().unwrap_or(0);
                    let payload = [last.to_be_bytes(), code.to_be_bytes()].concat();
                    self.send(&frame(7, 0, 0, &payload))?;
                }
                Act::AwaitConnections(connections) => self.await_connections(*connections)?,
                Act::Send(bytes) => self.send(bytes)?,
                Act::Flood(bytes) => loop {
                    self.send(bytes)?;
                },
                Act::Serve => loop {
                    while !self.open.is_empty() {
                        self.answer()?;
                    }
                    self.read()?;
                },
                Act::ServeFrames(frames) => loop {
                    while let Some(stream) = self.open.pop_front() {
                        self.send(&frames(stream))?;
                    }
                    self.read()?;
                },
                Act::Hold => loop {
                    self.read()?;
                },
            }
        }
        Ok(())
    }

    fn await_connections(&self, wanted: u64) -> io::Result<()> {
        let deadline = Instant::now() + PATIENCE;
        while self.seen.connections.load(SeqCst) < wanted {
            if Instant::now() > deadline {
                return Err(io::ErrorKind::TimedOut.into());
            }
            std::thread::yield_now();
        }
        Ok(())
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.io.write_all(bytes)?;
        self.io.flush()
    }

    /// `:status: 200` of the static table, and the end of the stream.
    fn answer(&mut self) -> io::Result<()> {
        let stream = self.open.pop_front().expect("a request was read");
        self.send(&frame(1, 0x5, stream, &[0x88]))
    }

    /// Reads once, and takes what is whole.
    fn read(&mut self) -> io::Result<()> {
        let mut buffer = [0; 16 * 1024];
        let taken = self.io.read(&mut buffer)?;
        if taken == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.input.extend_from_slice(&buffer[..taken]);
        if !self.has_preface && self.input.len() >= 24 {
            assert!(self.input.starts_with(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), "no preface");
            self.input.drain(..24);
            self.has_preface = true;
        }
        while self.has_preface && self.input.len() >= 9 {
            let length = u32::from_be_bytes([0, self.input[0], self.input[1], self.input[2]]) as usize;
            if self.input.len() < 9 + length {
                break;
            }
            let frame: Vec<u8> = self.input.drain(..9 + length).collect();
            self.count(frame[3], number(&frame[5..]), &frame[9..]);
        }
        Ok(())
    }

    fn count(&mut self, kind: u8, stream: u32, payload: &[u8]) {
        match kind {
            1 => {
                self.streams.push(stream);
                self.open.push_back(stream);
                self.seen.requests.fetch_add(1, SeqCst);
            }
            3 => {
                self.open.retain(|open| *open != stream);
                self.seen.cancels.fetch_add(1, SeqCst);
            }
            4 => {
                let window = payload.chunks_exact(6).find(|entry| entry[..2] == [0, 4]);
                if let Some(window) = window {
                    self.seen.window.store(number(&window[2..]).into(), SeqCst);
                }
            }
            8 if stream == 0 => {
                let _ = self.seen.widened.compare_exchange(0, number(payload).into(), SeqCst, SeqCst);
            }
            6 => {
                self.seen.pongs.fetch_add(1, SeqCst);
            }
            7 => {
                self.seen.goaways.fetch_add(1, SeqCst);
            }
            _ => {}
        }
    }
}

/// The number in the first four bytes.
fn number(bytes: &[u8]) -> u32 {
    u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}
