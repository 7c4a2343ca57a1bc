//! A small server: a thread for each connection, ended with its handle. Shares nothing with `wire` or `testkit`.

use std::io::Read;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// A listener on loopback and the threads of its connections.
pub(super) struct Server {
    pub(super) addr: SocketAddr,
    is_over: Arc<AtomicBool>,
    streams: Arc<Mutex<Vec<TcpStream>>>,
    acceptor: Option<JoinHandle<()>>,
}

impl Server {
    /// Serves each connection with `serve` on a thread of its own.
    pub(super) fn start(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let addr = listener.local_addr().expect("it is bound");
        let (is_over, streams) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Vec::new())));
        let (over, open, serve) = (is_over.clone(), streams.clone(), Arc::new(serve));
        let acceptor = std::thread::spawn(move || {
            let mut threads = Vec::new();
            while let Ok((stream, _)) = listener.accept() {
                if over.load(Ordering::Relaxed) {
                    break;
                }
                stream.set_nodelay(true).expect("a socket may send at once");
                open.lock().unwrap().push(stream.try_clone().expect("descriptors are left"));
                let serve = serve.clone();
                threads.push(std::thread::spawn(move || {
                    let end = stream.try_clone().expect("descriptors are left");
                    serve(stream);
                    // The handle that is kept for the end of the server would hold the connection open.
                    let _ = end.shutdown(Shutdown::Both);
                }));
            }
            threads.into_iter().for_each(|thread| thread.join().expect("no thread of the server panics"));
        });
        Self { addr, is_over, streams, acceptor: Some(acceptor) }
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.addr)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.addr);
        for stream in self.streams.lock().unwrap().iter() {
            let _ = stream.shutdown(Shutdown::Both);
        }
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
    }
}

/// One request: its header section as text, and its body.
pub(super) struct Request {
    pub(super) head: String,
    pub(super) body: Vec<u8>,
}

impl Request {
    pub(super) fn line(&self) -> &str {
        self.head.lines().next().unwrap_or_default()
    }

    pub(super) fn field(&self, name: &str) -> Option<&str> {
        let field =
            |line: &'_ str| line.split_once(": ").is_some_and(|(have, _)| have.eq_ignore_ascii_case(name));
        self.head
            .lines()
            .skip(1)
            .find(|line| field(line))
            .and_then(|line| line.split_once(": "))
            .map(|(_, v)| v)
    }
}

/// The next request of a connection; none where it has ended. `rest` keeps what came behind it.
pub(super) fn read(stream: &mut TcpStream, rest: &mut Vec<u8>) -> Option<Request> {
    let mut fill = |rest: &mut Vec<u8>| {
        let mut buffer = [0; 4096];
        let taken = stream.read(&mut buffer).unwrap_or(0);
        rest.extend_from_slice(&buffer[..taken]);
        taken > 0
    };
    let end = loop {
        match rest.windows(4).position(|four| four == b"\r\n\r\n") {
            Some(end) => break end + 4,
            None if !fill(rest) => return None,
            None => {}
        }
    };
    let head = String::from_utf8(rest.drain(..end).collect()).expect("the head is text");
    let mut request = Request { head, body: Vec::new() };
    let length = request.field("content-length").map_or(0, |text| text.parse().expect("a length"));
    while rest.len() < length {
        if !fill(rest) {
            return None;
        }
    }
    request.body = rest.drain(..length).collect();
    Some(request)
}
