//! The suite's own server: blocking sockets of the standard library, one thread a connection, answers byte by byte
//! from a [`Fault`], and a count of everything it saw. Shares nothing with `wire` or `testkit`.

use super::fault::{Fate, Fault, Site, Step, When, good_answer};
use super::request::{Broken, Head, Reader};
use rustix::event::{PollFd, PollFlags, poll};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{PipeReader, PipeWriter, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;

/// What the server saw and did.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Connections that were accepted.
    pub(super) connections: u64,
    /// Header sections so far: the number of the next one.
    heads: u64,
    /// Whole requests on connections that still answer.
    pub(super) requests: u64,
    /// Whole requests that came after the last answer of their connection.
    pub(super) late: u64,
    /// Right answers that were sent to their last byte.
    pub(super) good: u64,
    /// Faults that must fail a request, sent as far as they go.
    pub(super) faults: u64,
    /// Redirects that prony follows, and the requests that came of them.
    pub(super) redirects: u64,
    pub(super) hops: u64,
    /// Answers with a final status, by that.
    pub(super) status: BTreeMap<u16, u64>,
    /// Requests that were cut off.
    pub(super) cut: u64,
    /// Sessions whose last step was answered rightly.
    pub(super) sessions: u64,
    pub(super) read_bytes: u64,
    pub(super) sent_bytes: u64,
    /// Whatever prony must never send, in words.
    pub(super) wrong: Vec<String>,
    /// Targets that must come once, and have come.
    once: Targets,
    /// Targets whose header section has come.
    begun: Targets,
}

/// A set of targets that is not printed: it is long.
#[derive(Default)]
struct Targets(BTreeSet<String>);

impl std::fmt::Debug for Targets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} targets", self.0.len())
    }
}

struct Shared {
    fault: &'static Fault,
    every: u64,
    seen: Mutex<Seen>,
    is_over: Mutex<bool>,
    over: Condvar,
}

/// A server that runs until [`Server::finish`].
pub(super) struct Server {
    pub(super) addr: SocketAddr,
    shared: Arc<Shared>,
    /// The listener where nothing is served, and what fills its queue.
    _idle: Option<(TcpListener, Option<TcpStream>)>,
    /// The thread that accepts; it looks once more when the pipe is closed, and ends.
    acceptor: Option<(JoinHandle<()>, PipeWriter)>,
}

impl Server {
    /// Listens on a port that the system chose; each `every`th request meets the fault.
    pub(super) fn start(fault: &'static Fault, every: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let addr = listener.local_addr().expect("it is bound");
        let (seen, is_over, over) = (Mutex::default(), Mutex::new(false), Condvar::new());
        let shared = Arc::new(Shared { fault, every, seen, is_over, over });
        let mut server = Self { addr, shared: shared.clone(), _idle: None, acceptor: None };
        match fault.site {
            Site::Serving => {
                let (ends, end) = std::io::pipe().expect("a pipe can be made");
                let acceptor = std::thread::spawn(move || accept(&listener, &ends, &shared));
                server.acceptor = Some((acceptor, end));
            }
            Site::Refused => drop(listener),
            Site::Silent => server._idle = Some((listener, None)),
            Site::Full => {
                rustix::net::listen(&listener, 0).expect("the queue can be made shorter");
                let filler = TcpStream::connect(addr).expect("the queue holds one");
                server._idle = Some((listener, Some(filler)));
            }
        }
        server
    }

    /// What was seen, once prony has ended and all of its connections with it.
    pub(super) fn finish(mut self) -> Seen {
        *self.shared.is_over.lock().unwrap() = true;
        self.shared.over.notify_all();
        if let Some((acceptor, end)) = self.acceptor.take() {
            drop(end);
            acceptor.join().expect("no thread of the server panics");
        }
        std::mem::take(&mut *self.shared.seen.lock().unwrap())
    }
}

fn accept(listener: &TcpListener, ends: &PipeReader, shared: &Arc<Shared>) {
    listener.set_nonblocking(true).expect("a listener may be");
    let mut connections = Vec::new();
    let mut is_last_look = false;
    while !is_last_look {
        let mut ready = [PollFd::new(listener, PollFlags::IN), PollFd::new(ends, PollFlags::IN)];
        poll(&mut ready, None).expect("both are open");
        is_last_look = !ready[1].revents().is_empty();
        while let Ok((stream, _)) = listener.accept() {
            shared.seen.lock().unwrap().connections += 1;
            let shared = shared.clone();
            connections.push(std::thread::spawn(move || Connection::new(stream, shared).serve()));
        }
    }
    for connection in connections {
        connection.join().expect("no thread of the server panics");
    }
}

struct Connection {
    stream: TcpStream,
    reader: Reader,
    shared: Arc<Shared>,
    sent_bytes: u64,
}

impl Connection {
    fn new(stream: TcpStream, shared: Arc<Shared>) -> Self {
        stream.set_nonblocking(false).expect("a socket may block");
        stream.set_nodelay(true).expect("a socket may send at once");
        let reader = Reader::new(stream.try_clone().expect("descriptors are left"));
        Self { stream, reader, shared, sent_bytes: 0 }
    }

    fn serve(mut self) {
        match self.requests() {
            Ok(()) => {}
            Err(Broken::Cut) => self.note(|seen| seen.cut += 1),
            Err(Broken::Wrong(what)) => {
                self.note(|seen| seen.wrong.push(what));
                self.reader.drain();
            }
        }
        let (read, sent) = (self.reader.bytes, self.sent_bytes);
        self.note(|seen| {
            seen.read_bytes += read;
            seen.sent_bytes += sent;
        });
    }

    /// Answers one request after the other, until a fault or prony ends that.
    fn requests(&mut self) -> Result<(), Broken> {
        let (fault, every) = (self.shared.fault, self.shared.every);
        if fault.when == When::Accepted {
            let number = self.numbered();
            if number.is_multiple_of(every) {
                self.play(fault);
                return self.rest();
            }
        }
        while let Some(head) = self.reader.head()? {
            if head.target.starts_with("/hop") || head.target.starts_with("/loop/") {
                self.hop(&head)?;
                continue;
            }
            let number = if fault.when == When::Accepted { 1 } else { self.numbered() };
            // Before any answer, which prony may use on another connection at once.
            self.note(|seen| seen.begun.0.insert(head.target.clone()));
            if !number.is_multiple_of(every) {
                self.whole(&head)?;
                self.answer(&head);
                continue;
            }
            if fault.when == When::Request {
                self.whole(&head)?;
            }
            self.play(fault);
            match (fault.when, fault.fate) {
                // Prony may send the body before it sees the end, and what follows begins behind it.
                (When::Head, Fate::Dead) => match self.reader.body(&head) {
                    Err(Broken::Cut) => return Ok(()),
                    read => read?,
                },
                (When::Head, _) => self.whole(&head)?,
                _ => {}
            }
            if !matches!(fault.fate, Fate::Right | Fate::Wrong | Fate::Hop) {
                return self.rest();
            }
        }
        Ok(())
    }

    /// A request that came of a redirect: answered, or redirected in a loop until prony has followed three.
    fn hop(&mut self, head: &Head) -> Result<(), Broken> {
        self.whole(head)?;
        self.note(|seen| seen.hops += 1);
        let Some(hops) = head.target.strip_prefix("/loop/").and_then(|text| text.parse::<u64>().ok()) else {
            self.answer(head);
            return Ok(());
        };
        let next = hops + 1;
        let body = if head.method == "HEAD" { "" } else { "no" };
        let answer = format!("HTTP/1.1 302 Found\r\nLocation: {next}\r\nContent-Length: 2\r\n\r\n{body}");
        if self.send(answer.as_bytes()) {
            self.note(|seen| {
                if hops < 3 {
                    seen.redirects += 1;
                } else {
                    seen.faults += 1;
                    *seen.status.entry(302).or_default() += 1;
                }
            });
        }
        Ok(())
    }

    fn numbered(&self) -> u64 {
        self.note(|seen| {
            seen.heads += 1;
            seen.heads - 1
        })
    }

    /// Reads the rest of a request and remembers what must not come again.
    fn whole(&mut self, head: &Head) -> Result<(), Broken> {
        self.reader.body(head)?;
        self.note(|seen| {
            seen.requests += 1;
            seen.once(head);
        });
        Ok(())
    }

    /// What prony sent before it knew that no answer will come.
    fn rest(&mut self) -> Result<(), Broken> {
        while let Some(head) = self.reader.head()? {
            self.reader.body(&head)?;
            self.note(|seen| {
                seen.late += 1;
                seen.once(&head);
            });
        }
        Ok(())
    }

    fn answer(&mut self, head: &Head) {
        let session = head.target.strip_prefix("/use/").is_some();
        if self.send(&good_answer(head)) {
            self.note(|seen| {
                seen.good += 1;
                seen.sessions += u64::from(session);
                *seen.status.entry(200).or_default() += 1;
            });
        }
    }

    /// Sends the fault's answer, and counts it if it left in full.
    fn play(&mut self, fault: &Fault) {
        let is_whole = (fault.answer)().into_iter().all(|step| self.step(step));
        if !is_whole && fault.fate != Fate::Dead {
            return;
        }
        self.note(|seen| {
            match fault.fate {
                Fate::Right | Fate::RightThenGone | Fate::RightUnannounced => seen.good += 1,
                Fate::Wrong | Fate::Dead => seen.faults += 1,
                Fate::Hop | Fate::HopThenGone => seen.redirects += 1,
            }
            if let Some(status) = fault.status {
                *seen.status.entry(status).or_default() += 1;
            }
        });
    }

    fn step(&mut self, step: Step) -> bool {
        match step {
            Step::Send(bytes) => self.send(&bytes),
            Step::Drip(bytes) => bytes.iter().all(|byte| self.send(&[*byte])),
            Step::Close => self.stream.shutdown(Shutdown::Write).is_ok(),
            Step::Reset => {
                // Both handles must go before the system sends the reset: connecting the socket to nowhere does it at
                // once.
                let _ =
                    rustix::net::sockopt::set_socket_linger(&self.stream, Some(std::time::Duration::ZERO));
                rustix::net::connect_unspec(&self.stream).is_ok()
            }
            Step::Hold => {
                let over = self.shared.is_over.lock().unwrap();
                drop(self.shared.over.wait_while(over, |is_over| !*is_over).unwrap());
                true
            }
        }
    }

    fn send(&mut self, bytes: &[u8]) -> bool {
        let is_sent = self.stream.write_all(bytes).is_ok();
        self.sent_bytes += if is_sent { bytes.len() as u64 } else { 0 };
        is_sent
    }

    fn note<T>(&self, write: impl FnOnce(&mut Seen) -> T) -> T {
        write(&mut self.shared.seen.lock().unwrap())
    }
}

impl Seen {
    /// A target under one of these names must come once only.
    fn once(&mut self, head: &Head) {
        let is_unique = ["/r/", "/row/", "/login/", "/use/"].iter().any(|name| head.target.starts_with(name));
        if is_unique && !self.once.0.insert(head.target.clone()) {
            self.wrong.push(format!("{} came twice", head.target));
        }
        // A session may use only the token that its own login received.
        if let Some((token, session)) =
            head.target.strip_prefix("/use/").and_then(|rest| rest.split_once('/'))
        {
            let is_own = token == format!("t{session}") || token == "none";
            if !is_own || !self.begun.0.contains(&format!("/login/{session}")) {
                self.wrong.push(format!("{} without its login", head.target));
            }
        }
    }
}
