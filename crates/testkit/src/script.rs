//! Scripted peers: a listener that does the same few things on every connection, right or wrong.
//!
//! One thread a connection and blocking reads: for a handful of connections in tests, not for load.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// One thing to do on a connection.
#[derive(Clone, Debug)]
pub enum Act {
    /// Read until a blank line: the end of a request without a body.
    AwaitRequest,
    /// Send these bytes.
    Send(Vec<u8>),
    /// Send these bytes, each in a segment of its own.
    Drip(Vec<u8>),
    /// Close in the ordinary way.
    Close,
    /// Close with a reset.
    Reset,
    /// Say nothing more until the peer closes or the script ends.
    Hold,
    /// Begin again with the first act.
    Again,
}

impl Act {
    /// [`Act::Send`] of a text.
    #[must_use]
    pub fn send(text: &str) -> Self {
        Self::Send(text.as_bytes().to_vec())
    }
}

/// A listener on loopback that plays one script on every connection; ends when dropped.
#[derive(Debug)]
pub struct Scripted {
    addr: SocketAddr,
    stop: Arc<AtomicBool>,
    requests: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

/// How long a blocked read of a script may last before it looks whether to stop.
const POLL: Duration = Duration::from_millis(20);

impl Scripted {
    /// Listens on a port that the system assigns and plays `script` on every connection.
    ///
    /// # Panics
    /// When loopback cannot be bound: the test cannot run.
    #[must_use]
    pub fn start(script: Vec<Act>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback can be bound");
        listener.set_nonblocking(true).expect("a listener can be made non-blocking");
        let addr = listener.local_addr().expect("a bound listener has an address");
        let stop = Arc::new(AtomicBool::new(false));
        let requests = Arc::new(AtomicU64::new(0));
        let (stopped, counter) = (stop.clone(), requests.clone());
        let thread = std::thread::spawn(move || accept_loop(&listener, &script, &stopped, &counter));
        Self { addr, stop, requests, thread: Some(thread) }
    }

    /// Where it listens.
    #[must_use]
    pub const fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Requests read so far over all connections.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::SeqCst)
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn accept_loop(listener: &TcpListener, script: &[Act], stop: &Arc<AtomicBool>, requests: &Arc<AtomicU64>) {
    let mut peers = Vec::new();
    while !stop.load(Ordering::SeqCst) {
        match listener.accept() {
            Ok((stream, _)) => {
                let (script, stop, requests) = (script.to_vec(), stop.clone(), requests.clone());
                peers.push(std::thread::spawn(move || play(stream, &script, &stop, &requests)));
            }
            Err(_) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
    for peer in peers {
        let _ = peer.join();
    }
}

fn play(mut stream: TcpStream, script: &[Act], stop: &AtomicBool, requests: &AtomicU64) {
    let ready = stream.set_nonblocking(false).and_then(|()| stream.set_read_timeout(Some(POLL)));
    if ready.and_then(|()| stream.set_nodelay(true)).is_err() {
        return;
    }
    let mut at = 0;
    while let Some(act) = script.get(at) {
        at += 1;
        let goes_on = match act {
            Act::AwaitRequest => {
                let came = await_request(&mut stream, stop);
                requests.fetch_add(u64::from(came), Ordering::SeqCst);
                came
            }
            Act::Send(bytes) => stream.write_all(bytes).is_ok(),
            Act::Drip(bytes) => bytes.iter().all(|byte| stream.write_all(&[*byte]).is_ok()),
            Act::Close => false,
            Act::Reset => {
                let _ = rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO));
                false
            }
            Act::Hold => hold(&mut stream, stop),
            Act::Again => {
                at = 0;
                true
            }
        };
        if !goes_on || stop.load(Ordering::SeqCst) {
            return;
        }
    }
}

/// Reads up to a blank line. False when the peer is gone or the script stops.
fn await_request(stream: &mut TcpStream, stop: &AtomicBool) -> bool {
    let mut tail = Vec::new();
    let mut byte = [0];
    while !tail.ends_with(b"\r\n\r\n") {
        match read(stream, &mut byte, stop) {
            Some(1) => tail.push(byte[0]),
            _ => return false,
        }
    }
    true
}

fn hold(stream: &mut TcpStream, stop: &AtomicBool) -> bool {
    let mut bytes = [0; 1024];
    while read(stream, &mut bytes, stop).is_some_and(|taken| taken > 0) {}
    false
}

fn read(stream: &mut TcpStream, bytes: &mut [u8], stop: &AtomicBool) -> Option<usize> {
    while !stop.load(Ordering::SeqCst) {
        match stream.read(bytes) {
            Ok(taken) => return Some(taken),
            Err(error)
                if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {}
            Err(_) => return None,
        }
    }
    None
}
