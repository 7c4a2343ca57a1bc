//! Scripted servers of HTTP/2 that write frames by hand, well or badly: what each connection does is a script. They share no
//! code with the codec that they try. `frames`: frames as bytes. `script`: what it may do. `peer`: how it is
//! followed. `talk`: what it does with messages of gRPC's streams.
//!
//! One thread a connection and blocking reads: for a handful of connections in tests, not for load.

mod frames;
mod peer;
mod script;
mod talk;

pub(crate) use frames::{STATUS_200, flag, kind, setting};
pub use frames::{call_answer, field, frame, settings};
pub(crate) use peer::{Line, Peer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use script::PATIENCE;
pub use script::{Act, Seen, Talk};
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread::JoinHandle;

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
