//! The reference target's event loop: one thread, epoll, answers at the moments that the queue sets.

use super::Law;
use super::holdings::Holdings;
use super::http::{self, Front, Route};
use super::queue::{Fate, Queue};
use super::secure::{Handshakes, Secure};
use super::times::Times;
use pace::SpinMargin;
use rustix::event::{Timespec, epoll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, SocketFlags, accept_with, recv, send, sockopt};
use rustix::time::{ClockId, clock_gettime};
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
/// Pauses of the CPU between two looks at its clock, about a microsecond.
const BURN_STEPS: u32 = 25;

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
        connections: Vec::new(),
        free: Vec::new(),
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

/// One client connection. One request at a time is in the queue; further ones wait in `input`.
struct Connection {
    fd: OwnedFd,
    input: Vec<u8>,
    /// Bytes that the socket did not take yet.
    output: Vec<u8>,
    in_queue: bool,
    close_after: bool,
    /// Present where the server speaks TLS.
    secure: Option<Box<Secure>>,
}

/// An answer that is due at a time. Ordered by time, then by order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    at: Nanos,
    number: u64,
    token: u64,
    fate: Fate,
    arrived: Nanos,
}

struct Server {
    epoll: OwnedFd,
    clock: MonotonicClock,
    queue: Queue,
    due: BinaryHeap<Reverse<Due>>,
    /// By slot; the generation in a token tells a connection from its predecessor in the slot.
    connections: Vec<(u32, Option<Connection>)>,
    free: Vec<u32>,
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
            let slot = self.free.pop().unwrap_or_else(|| {
                self.connections.push((0, None));
                (self.connections.len() - 1) as u32
            });
            let token = u64::from(self.connections[slot as usize].0) << 32 | u64::from(slot);
            let flags = epoll::EventFlags::IN
                | epoll::EventFlags::OUT
                | epoll::EventFlags::RDHUP
                | epoll::EventFlags::ET;
            if epoll::add(&self.epoll, &fd, epoll::EventData::new_u64(token), flags).is_ok() {
                let connection = Connection {
                    fd,
                    input: Vec::new(),
                    output: Vec::new(),
                    in_queue: false,
                    close_after: false,
                    secure: self.tls.as_ref().and_then(Secure::new),
                };
                self.connections[slot as usize].1 = Some(connection);
            } else {
                self.free.push(slot);
            }
        }
    }

    fn connection(&mut self, token: u64) -> Option<&mut Connection> {
        let (generation, connection) = self.connections.get_mut(token as u32 as usize)?;
        if *generation == (token >> 32) as u32 { connection.as_mut() } else { None }
    }

    fn close(&mut self, token: u64) {
        if self.connection(token).is_some() {
            let slot = token as u32;
            let entry = &mut self.connections[slot as usize];
            *entry = (entry.0.wrapping_add(1), None);
            self.free.push(slot);
        }
    }

    fn readable(&mut self, token: u64, buffer: &mut [u8]) {
        loop {
            let Some(connection) = self.connection(token) else { return };
            match recv(&connection.fd, &mut *buffer, RecvFlags::DONTWAIT) {
                Ok((0, _)) => return self.close(token),
                Ok((taken, _)) if connection.secure.is_some() => {
                    if !self.decrypt(token, &buffer[..taken]) {
                        return self.close(token);
                    }
                }
                Ok((taken, _)) if connection.input.is_empty() && !connection.in_queue => {
                    // The usual case: one whole request, which need not be copied.
                    let used = self.take_requests(token, &buffer[..taken]);
                    if let Some(connection) = self.connection(token) {
                        connection.input.extend_from_slice(&buffer[used..taken]);
                    }
                }
                Ok((taken, _)) => {
                    connection.input.extend_from_slice(&buffer[..taken]);
                    if connection.input.len() > http::REQUEST_BYTES_MAX {
                        return self.close(token);
                    }
                    self.take_input(token);
                }
                Err(Errno::AGAIN) => return self.flush(token),
                Err(Errno::INTR) => {}
                Err(_) => return self.close(token),
            }
        }
    }

    /// Takes cipher text in and the requests that come out of it. False when the connection is over.
    fn decrypt(&mut self, token: u64, bytes: &[u8]) -> bool {
        let mut handshakes = self.handshakes;
        let Some(connection) = self.connection(token) else { return true };
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
        let Some(connection) = self.connection(token) else { return };
        let mut input = std::mem::take(&mut connection.input);
        let used = self.take_requests(token, &input);
        input.drain(..used);
        if input.is_empty() {
            // An idle connection holds no memory.
            input = Vec::new();
        }
        if let Some(connection) = self.connection(token) {
            connection.input = input;
        }
    }

    /// Takes whole requests from the front of `bytes` until one is in the queue. Returns the bytes used.
    fn take_requests(&mut self, token: u64, bytes: &[u8]) -> usize {
        let mut used = 0;
        loop {
            match self.connection(token) {
                Some(connection) if !connection.in_queue && !connection.close_after => {}
                _ => return used,
            }
            match http::front(&bytes[used..]) {
                Front::Partial => return used,
                Front::Bad => {
                    if let Some(connection) = self.connection(token) {
                        connection.close_after = true;
                    }
                    self.send(token, http::BAD_REQUEST);
                    return bytes.len();
                }
                Front::Request { length, route, close } => {
                    used += length;
                    self.request(token, route, close);
                }
            }
            if used == bytes.len() {
                return used;
            }
        }
    }

    fn request(&mut self, token: u64, route: Route, close: bool) {
        if let Some(connection) = self.connection(token) {
            connection.close_after = close;
        }
        match route {
            Route::Health => self.send(token, http::HEALTH),
            Route::Stats => {
                let Place { process, processes } = self.place;
                let body = format!(
                    "{{\"requests\":{},\"connections\":{},\"tls_full\":{},\"tls_resumed\":{},\
                     \"process\":{process},\"processes\":{processes}}}",
                    self.requests, self.accepted, self.handshakes.full, self.handshakes.resumed
                );
                self.tell(token, "application/json", &body);
            }
            Route::Metrics => {
                let body = self.times.text(self.requests);
                self.tell(token, "text/plain; version=0.0.4", &body);
            }
            Route::Queue => self.enqueue(token),
        }
    }

    fn tell(&mut self, token: u64, kind: &str, body: &str) {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}", body.len());
        self.send(token, format!("{head}\r\n\r\n{body}").as_bytes());
    }

    fn enqueue(&mut self, token: u64) {
        let now = self.clock.now();
        self.first_request.get_or_insert(now);
        self.requests += 1;
        self.holdings.request();
        let (at, fate) = self.queue.arrive(now);
        if at <= now {
            self.end(token, fate);
            // Without a law of its own an answer takes no time but that of computing.
            return self.times.record(self.burn);
        }
        if let Some(connection) = self.connection(token) {
            connection.in_queue = true;
        }
        self.due.push(Reverse(Due { at, number: self.requests, token, fate, arrived: now }));
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
            if let Some(connection) = self.connection(due.token) {
                connection.in_queue = false;
                self.end(due.token, due.fate);
                self.take_input(due.token);
            }
        }
    }

    fn end(&mut self, token: u64, fate: Fate) {
        burn(self.burn);
        match fate {
            Fate::Answer => self.send(token, http::OK),
            Fate::Error => self.send(token, http::ERROR),
            Fate::Reset => {
                if let Some(connection) = self.connection(token) {
                    // Zero linger turns the close into a reset.
                    let _ = sockopt::set_socket_linger(&connection.fd, Some(Duration::ZERO));
                }
                self.close(token);
            }
        }
    }

    fn send(&mut self, token: u64, bytes: &[u8]) {
        let Some(connection) = self.connection(token) else { return };
        if let Some(secure) = &mut connection.secure {
            secure.write(bytes, connection.close_after, &mut connection.output);
        } else if connection.output.is_empty() {
            let sent = send(&connection.fd, bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT).unwrap_or(0);
            connection.output.extend_from_slice(&bytes[sent..]);
        } else {
            connection.output.extend_from_slice(bytes);
        }
        self.flush(token);
    }

    fn flush(&mut self, token: u64) {
        let Some(connection) = self.connection(token) else { return };
        while !connection.output.is_empty() {
            match send(&connection.fd, &connection.output, SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
                Ok(sent) => drop(connection.output.drain(..sent)),
                Err(Errno::AGAIN) => return,
                Err(Errno::INTR) => {}
                Err(_) => return self.close(token),
            }
        }
        if connection.close_after && !connection.in_queue {
            self.close(token);
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

/// Computes until this thread has used so much CPU time: being stopped or waiting for a core does not count.
fn burn(time: Nanos) {
    if time == Nanos::ZERO {
        return;
    }
    let used_ns = || {
        let used = clock_gettime(ClockId::ThreadCPUTime);
        used.tv_sec.unsigned_abs() * 1_000_000_000 + used.tv_nsec.unsigned_abs()
    };
    let until_ns = used_ns() + time.0;
    while used_ns() < until_ns {
        for _ in 0..BURN_STEPS {
            std::hint::spin_loop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn burning_uses_the_cpu_time_that_was_asked_for() {
        let used = || clock_gettime(ClockId::ThreadCPUTime);
        let before = used();
        burn(Nanos::from_millis(3));
        let after = used();
        let ns = (after.tv_sec - before.tv_sec) * 1_000_000_000 + after.tv_nsec - before.tv_nsec;
        assert!(ns >= 3_000_000, "{ns}");
    }
}
