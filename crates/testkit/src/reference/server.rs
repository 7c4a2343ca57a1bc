//! The reference target's event loop: one thread, epoll, answers at the moments that the queue sets.

use super::Law;
use super::burn::burn;
use super::connections::{Connection, Connections};
use super::holdings::Holdings;
use super::http::{self, Front, Route};
use super::http2::{Answers, Asked, Http2, PREFACE, Reply};
use super::queue::{Fate, Queue};
use super::secure::{Handshakes, Secure};
use super::times::Times;
use pace::SpinMargin;
use rustix::event::{Timespec, epoll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SocketFlags, accept_with, recv, sockopt};
use rustls::ServerConfig;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use units::{Clock, MonotonicClock, Nanos};

/// Token of the listening socket.
const LISTENER: u64 = u64::MAX;
/// Sleeping turns into spinning this long before an answer is due, until the sleeps themselves tell more.
const FIRST_MARGIN: Nanos = Nanos::from_micros(60);
/// How often the wish to stop is looked at.
const STOP_POLL: Nanos = Nanos::from_millis(50);
const READ_BYTES: usize = 16 * 1024;

/// A reference target on a thread of this process; ends when dropped.
#[derive(Debug)]
pub struct ReferenceServer {
    addr: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl ReferenceServer {
    /// Starts one on a port that the system assigns on loopback.
    ///
    /// # Errors
    /// When the address cannot be bound.
    pub fn start(law: Law) -> io::Result<Self> {
        Self::start_with(law, None)
    }

    /// The same with TLS where it is configured.
    ///
    /// # Errors
    /// When the address cannot be bound.
    pub fn start_with(law: Law, tls: Option<Arc<ServerConfig>>) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let addr = listener.local_addr()?;
        let stop = Arc::new(AtomicBool::new(false));
        let seen = stop.clone();
        let thread = std::thread::Builder::new()
            .name("prony-reference".to_owned())
            .spawn(move || serve(&listener, law, tls, Place::ALONE, &seen))?;
        Ok(Self { addr, stop, thread: Some(thread) })
    }

    /// Where it listens.
    #[must_use]
    pub const fn addr(&self) -> SocketAddr {
        self.addr
    }
}

impl Drop for ReferenceServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Which of the processes on one address this is; `/stats` tells it beside the counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Counted from 0.
    pub process: u32,
    /// How many.
    pub processes: u32,
}

impl Place {
    /// The only one.
    pub const ALONE: Self = Self { process: 0, processes: 1 };
}

/// Serves on `listener` until `stop` is set.
///
/// # Errors
/// When the system refuses the event loop itself; errors of single connections only end those.
pub fn serve(
    listener: &TcpListener,
    law: Law,
    tls: Option<Arc<ServerConfig>>,
    place: Place,
    stop: &AtomicBool,
) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    rustix::thread::set_current_timer_slack(NonZeroU64::new(1))?;
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    epoll::add(&epoll, listener, epoll::EventData::new_u64(LISTENER), epoll::EventFlags::IN)?;
    let (freeze, burn) = (law.freeze, law.burn);
    let holdings = Holdings::new(&law);
    let mut server = Server {
        epoll,
        clock: MonotonicClock::starting_now(),
        queue: Queue::new(law),
        due: BinaryHeap::new(),
        connections: Connections::default(),
        freeze,
        burn,
        holdings,
        first_request: None,
        place,
        requests: 0,
        times: Times::new(),
        accepted: 0,
        tls,
        handshakes: Handshakes::default(),
        answers: Answers::new(),
        asked: Vec::new(),
        margin: SpinMargin::new(FIRST_MARGIN),
    };
    let mut events = Vec::with_capacity(512);
    let mut buffer = vec![0; READ_BYTES];
    while !stop.load(Ordering::Relaxed) {
        server.freeze_if_due(stop);
        server.answer_due();
        server.wait(&mut events)?;
        for event in &events {
            match event.data.u64() {
                LISTENER => server.accept(listener),
                token => server.readable(token, &mut buffer),
            }
        }
    }
    Ok(())
}

/// Who asked: a connection, and over HTTP/2 its stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Asker {
    token: u64,
    /// 0 over HTTP/1.1.
    stream: u32,
}

/// An answer that is due at a time. Ordered by time, then by order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    at: Nanos,
    number: u64,
    from: Asker,
    fate: Fate,
    arrived: Nanos,
}

struct Server {
    epoll: OwnedFd,
    clock: MonotonicClock,
    queue: Queue,
    due: BinaryHeap<Reverse<Due>>,
    connections: Connections,
    freeze: Option<(Nanos, Nanos)>,
    burn: Nanos,
    holdings: Holdings,
    first_request: Option<Nanos>,
    place: Place,
    requests: u64,
    times: Times,
    accepted: u64,
    tls: Option<Arc<ServerConfig>>,
    handshakes: Handshakes,
    /// Those of HTTP/2.
    answers: Answers,
    /// Requests of HTTP/2 that were just read; empty between events.
    asked: Vec<Asked>,
    margin: SpinMargin,
}

impl Server {
    fn wait(&mut self, events: &mut Vec<epoll::Event>) -> io::Result<()> {
        let now = self.clock.now();
        let wake = match self.due.peek() {
            Some(Reverse(due)) => self.margin.sleep_until(now, due.at).min(now + STOP_POLL),
            None => now + STOP_POLL,
        };
        let time = wake.since(now);
        let timeout = Timespec {
            tv_sec: (time.0 / 1_000_000_000).cast_signed(),
            tv_nsec: (time.0 % 1_000_000_000).cast_signed(),
        };
        events.clear();
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(events), Some(&timeout)) {
            Ok(_) if events.is_empty() && time > Nanos::ZERO => {
                self.margin.observe(self.clock.now().since(wake));
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        Ok(())
    }

    fn accept(&mut self, listener: &TcpListener) {
        while let Ok(fd) = accept_with(listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
            let _ = sockopt::set_tcp_nodelay(&fd, true);
            self.accepted += 1;
            let token = self.connections.next_token();
            let flags = epoll::EventFlags::IN
                | epoll::EventFlags::OUT
                | epoll::EventFlags::RDHUP
                | epoll::EventFlags::ET;
            if epoll::add(&self.epoll, &fd, epoll::EventData::new_u64(token), flags).is_ok() {
                let secure = self.tls.as_ref().and_then(Secure::new);
                self.connections.put(Connection::new(fd, secure));
            }
        }
    }

    fn readable(&mut self, token: u64, buffer: &mut [u8]) {
        loop {
            let Some(connection) = self.connections.get(token) else { return };
            match recv(&connection.fd, &mut *buffer, RecvFlags::DONTWAIT) {
                Ok((0, _)) => return self.connections.close(token),
                Ok((taken, _)) if connection.secure.is_some() => {
                    if !self.decrypt(token, &buffer[..taken]) {
                        return self.connections.close(token);
                    }
                }
                Ok((taken, _)) if connection.input.is_empty() && !connection.in_queue => {
                    // The usual case: one whole request, which need not be copied.
                    let used = self.take_requests(token, &buffer[..taken]);
                    if let Some(connection) = self.connections.get(token) {
                        connection.input.extend_from_slice(&buffer[used..taken]);
                    }
                }
                Ok((taken, _)) => {
                    connection.input.extend_from_slice(&buffer[..taken]);
                    if connection.input.len() > http::REQUEST_BYTES_MAX {
                        return self.connections.close(token);
                    }
                    self.take_input(token);
                }
                Err(Errno::AGAIN) => return self.flush(token),
                Err(Errno::INTR) => {}
                Err(_) => return self.connections.close(token),
            }
        }
    }

    /// Takes cipher text in and the requests that come out of it. False when the connection is over.
    fn decrypt(&mut self, token: u64, bytes: &[u8]) -> bool {
        let mut handshakes = self.handshakes;
        let Some(connection) = self.connections.get(token) else { return true };
        let Connection { secure: Some(secure), input, output, .. } = connection else { return true };
        let lives = secure.read(bytes, input, output, &mut handshakes);
        let fits = input.len() <= http::REQUEST_BYTES_MAX;
        self.handshakes = handshakes;
        self.flush(token);
        self.take_input(token);
        lives && fits
    }

    /// Takes requests out of the connection's own input.
    fn take_input(&mut self, token: u64) {
        let Some(connection) = self.connections.get(token) else { return };
        let mut input = std::mem::take(&mut connection.input);
        let used = self.take_requests(token, &input);
        input.drain(..used);
        if input.is_empty() {
            // An idle connection holds no memory.
            input = Vec::new();
        }
        if let Some(connection) = self.connections.get(token) {
            connection.input = input;
        }
    }

    /// Takes whole requests from the front of `bytes`, over HTTP/1.1 until one is in the queue. Returns the bytes used.
    fn take_requests(&mut self, token: u64, bytes: &[u8]) -> usize {
        let Some(connection) = self.connections.get(token) else { return 0 };
        // No method of HTTP/1.1 begins like this.
        if connection.http2.is_none() && bytes.starts_with(&PREFACE[..4]) {
            connection.http2 = Some(Box::new(Http2::new()));
        }
        if connection.http2.is_some() {
            self.take_frames(token, bytes)
        } else {
            self.take_http1(token, bytes)
        }
    }

    fn take_frames(&mut self, token: u64, bytes: &[u8]) -> usize {
        let (mut out, mut asked) = (Vec::new(), std::mem::take(&mut self.asked));
        let Some(connection) = self.connections.get(token) else { return 0 };
        let Some(http2) = connection.http2.as_mut().filter(|_| !connection.close_after) else {
            // What comes after the end is not read.
            return bytes.len();
        };
        let taken = http2.take(bytes, &mut out, &mut asked);
        connection.close_after = taken.is_err();
        self.send(token, &out);
        for Asked { stream, route } in asked.drain(..) {
            self.request(Asker { token, stream }, route);
        }
        self.asked = asked;
        taken.unwrap_or(bytes.len())
    }

    fn take_http1(&mut self, token: u64, bytes: &[u8]) -> usize {
        let mut used = 0;
        loop {
            match self.connections.get(token) {
                Some(connection) if !connection.in_queue && !connection.close_after => {}
                _ => return used,
            }
            match http::front(&bytes[used..]) {
                Front::Partial => return used,
                Front::Bad => {
                    if let Some(connection) = self.connections.get(token) {
                        connection.close_after = true;
                    }
                    self.send(token, http::BAD_REQUEST);
                    return bytes.len();
                }
                Front::Request { length, route, close } => {
                    used += length;
                    if let Some(connection) = self.connections.get(token) {
                        connection.close_after = close;
                    }
                    self.request(Asker { token, stream: 0 }, route);
                }
            }
            if used == bytes.len() {
                return used;
            }
        }
    }

    fn request(&mut self, from: Asker, route: Route) {
        match route {
            Route::Health => self.answer(from, Reply::Health),
            Route::Stats => {
                let Place { process, processes } = self.place;
                let body = format!(
                    "{{\"requests\":{},\"connections\":{},\"tls_full\":{},\"tls_resumed\":{},\
                     \"process\":{process},\"processes\":{processes}}}",
                    self.requests, self.accepted, self.handshakes.full, self.handshakes.resumed
                );
                self.answer(from, Reply::Text { kind: "application/json", body: &body });
            }
            Route::Metrics => {
                let body = self.times.text(self.requests);
                self.answer(from, Reply::Text { kind: "text/plain; version=0.0.4", body: &body });
            }
            Route::Queue => self.enqueue(from),
        }
    }

    fn enqueue(&mut self, from: Asker) {
        let now = self.clock.now();
        self.first_request.get_or_insert(now);
        self.requests += 1;
        self.holdings.request();
        let (at, fate) = self.queue.arrive(now);
        if at <= now {
            self.end(from, fate);
            // Without a law of its own an answer takes no time but that of computing.
            return self.times.record(self.burn);
        }
        if let Some(connection) = self.connections.get(from.token) {
            connection.in_queue = from.stream == 0;
        }
        self.due.push(Reverse(Due { at, number: self.requests, from, fate, arrived: now }));
    }

    /// Sends all answers that are due. One that is near is spun for by the main loop, whose waits then take no time,
    /// so that arrivals are seen meanwhile.
    fn answer_due(&mut self) {
        while let Some(Reverse(due)) = self.due.peek().copied() {
            let now = self.clock.now();
            if due.at > now {
                return;
            }
            self.due.pop();
            self.times.record(now.since(due.arrived));
            let token = due.from.token;
            if let Some(connection) = self.connections.get(token) {
                connection.in_queue = false;
                self.end(due.from, due.fate);
                if due.from.stream == 0 {
                    self.take_input(token);
                }
            }
        }
    }

    fn end(&mut self, from: Asker, fate: Fate) {
        burn(self.burn);
        match fate {
            Fate::Answer => self.answer(from, Reply::Right),
            Fate::Error => self.answer(from, Reply::Error),
            Fate::Reset => self.reset(from),
        }
    }

    fn answer(&mut self, from: Asker, reply: Reply<'_>) {
        if from.stream == 0 {
            return match reply {
                Reply::Right => self.send(from.token, http::OK),
                Reply::Health => self.send(from.token, http::HEALTH),
                Reply::Error => self.send(from.token, http::ERROR),
                Reply::Text { kind, body } => self.send(from.token, http::text(kind, body).as_bytes()),
            };
        }
        let mut out = Vec::new();
        let Self { connections, answers, .. } = self;
        if let Some(http2) = connections.get(from.token).and_then(|found| found.http2.as_mut()) {
            http2.answer(from.stream, reply, answers, &mut out);
        }
        self.send(from.token, &out);
    }

    /// Ends a request without an answer: its connection over HTTP/1.1, its stream over HTTP/2.
    fn reset(&mut self, from: Asker) {
        let mut out = Vec::new();
        match self.connections.get(from.token) {
            Some(Connection { http2: Some(http2), .. }) => http2.reset(from.stream, &mut out),
            Some(connection) => {
                // Zero linger turns the close into a reset.
                let _ = sockopt::set_socket_linger(&connection.fd, Some(Duration::ZERO));
                return self.connections.close(from.token);
            }
            None => return,
        }
        self.send(from.token, &out);
    }

    fn send(&mut self, token: u64, bytes: &[u8]) {
        if let Some(connection) = self.connections.get(token) {
            connection.put(bytes);
        }
        self.flush(token);
    }

    fn flush(&mut self, token: u64) {
        if self.connections.get(token).is_some_and(|connection| !connection.flush()) {
            self.connections.close(token);
        }
    }

    /// Stands still while the freeze lasts, as a process that is stopped does.
    fn freeze_if_due(&mut self, stop: &AtomicBool) {
        let (Some((after, length)), Some(first)) = (self.freeze, self.first_request) else { return };
        if self.clock.now() < first + after {
            return;
        }
        let until = first + after + length;
        while self.clock.now() < until && !stop.load(Ordering::Relaxed) {
            std::thread::sleep(until.since(self.clock.now()).min(STOP_POLL).to_duration());
        }
        self.freeze = None;
    }
}
