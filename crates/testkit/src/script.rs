//! Scripted peers: a listener that does the same few things on every connection, right or wrong.
//!
//! One thread a connection and blocking reads: for a handful of connections in tests, not for load.

pub use crate::channel::Act;

use crate::channel::{Plain, Wire, perform};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// A listener on loopback that plays one script on every connection; ends when dropped.
#[derive(Debug)]
pub struct Scripted {
    addr: SocketAddr,
    stop: Arc<AtomicBool>,
    requests: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

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
                peers.push(std::thread::spawn(move || play(stream, &script, stop, &requests)));
            }
            Err(_) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
    for peer in peers {
        let _ = peer.join();
    }
}

fn play(stream: TcpStream, script: &[Act], stop: Arc<AtomicBool>, requests: &AtomicU64) {
    let Ok(wire) = Wire::new(stream, stop) else { return };
    let mut channel = Plain(wire);
    let mut at = 0;
    while let Some(act) = script.get(at) {
        let goes_on = perform(act, &mut channel);
        let was_request = goes_on && matches!(act, Act::AwaitRequest);
        requests.fetch_add(u64::from(was_request), Ordering::SeqCst);
        if !goes_on {
            return;
        }
        at = if matches!(act, Act::Again) { 0 } else { at + 1 };
    }
}
