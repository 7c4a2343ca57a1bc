//! The loop: level-triggered epoll, one thread, one read and one write a request.

use crate::answer::{Answers, Ask, rendered};
use crate::connection::{Connection, State};
use crate::listen;
use crate::stamps::{Stamps, now_ns};
use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::fd::OwnedFd;
use rustls::ServerConfig;
use std::io;
use std::net::TcpListener;
use std::rc::Rc;
use std::sync::Arc;

/// Events taken at a time.
const EVENTS_MAX: usize = 1024;
/// Marks of the two listeners; connections count from 0.
const PLAIN: u64 = u64::MAX;
const TLS: u64 = u64::MAX - 1;
const NO_WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// What was done since the start.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    requests: u64,
    connections: u64,
    handshakes: u64,
}

/// What an answer needs; apart from the connections, so that one of them can be served while this is used.
#[derive(Debug)]
struct Desk {
    answers: Answers,
    stamps: Stamps,
    counts: Counts,
}

#[derive(Debug)]
struct Server {
    queue: OwnedFd,
    plain: TcpListener,
    secured: TcpListener,
    config: Arc<ServerConfig>,
    connections: Vec<Option<Connection>>,
    free: Vec<usize>,
    desk: Desk,
}

/// Listens, says where, and serves until it is killed or its parent ends.
pub(crate) fn run() -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM))?;
    let mut server = Server::new()?;
    println!("listening on {} {}", server.plain.local_addr()?, server.secured.local_addr()?);
    server.serve()
}

impl Server {
    fn new() -> io::Result<Self> {
        let queue = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let (plain, secured) = (listen::on_a_free_port()?, listen::on_a_free_port()?);
        epoll::add(&queue, &plain, EventData::new_u64(PLAIN), EventFlags::IN)?;
        epoll::add(&queue, &secured, EventData::new_u64(TLS), EventFlags::IN)?;
        let desk = Desk { answers: Answers::new(), stamps: Stamps::new(), counts: Counts::default() };
        let config = listen::tls()?;
        Ok(Self { queue, plain, secured, config, connections: Vec::new(), free: Vec::new(), desk })
    }

    fn serve(&mut self) -> io::Result<()> {
        let mut events = Vec::with_capacity(EVENTS_MAX);
        let mut buffer = vec![0; 32 * 1024];
        loop {
            let wait = self.desk.stamps.on.then_some(&NO_WAIT);
            match epoll::wait(&self.queue, spare_capacity(&mut events), wait) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            for event in events.drain(..) {
                match event.data.u64() {
                    PLAIN => self.accept(false)?,
                    TLS => self.accept(true)?,
                    index => self.serve_one(index as usize, event.flags, &mut buffer),
                }
            }
        }
    }

    fn accept(&mut self, is_tls: bool) -> io::Result<()> {
        loop {
            let listener = if is_tls { &self.secured } else { &self.plain };
            let socket = match listener.accept() {
                Ok((socket, _)) => socket,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                // The client may have gone before it was accepted.
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => continue,
                Err(error) => return Err(error),
            };
            socket.set_nonblocking(true)?;
            socket.set_nodelay(true)?;
            let connection = Connection::new(socket, is_tls.then_some(&self.config))?;
            self.desk.counts.connections += 1;
            let index = self.free.pop().unwrap_or_else(|| {
                self.connections.push(None);
                self.connections.len() - 1
            });
            epoll::add(&self.queue, &connection.socket, EventData::new_u64(index as u64), EventFlags::IN)?;
            self.connections[index] = Some(connection);
        }
    }

    /// Serves one event; any fault of a connection ends that connection alone.
    fn serve_one(&mut self, index: usize, flags: EventFlags, buffer: &mut [u8]) {
        let Some(connection) = self.connections.get_mut(index).and_then(Option::as_mut) else { return };
        let desk = &mut self.desk;
        let state = if flags.contains(EventFlags::OUT) {
            connection.flush()
        } else {
            connection.serve(buffer, |head| desk.answer(head))
        };
        if !connection.is_shaken && connection.is_handshake_over() {
            connection.is_shaken = true;
            desk.counts.handshakes += 1;
        }
        let state = state.unwrap_or(State::Ended);
        if state == State::Ended {
            // Closing the socket takes it out of the queue.
            self.connections[index] = None;
            self.free.push(index);
            return;
        }
        let to_write = state == State::Writing;
        if connection.watched_for_writing != to_write {
            connection.watched_for_writing = to_write;
            // While answers wait nothing is read, so that they cannot pile up.
            let wanted = if to_write { EventFlags::OUT } else { EventFlags::IN };
            let data = EventData::new_u64(index as u64);
            if epoll::modify(&self.queue, &connection.socket, data, wanted).is_err() {
                self.connections[index] = None;
                self.free.push(index);
            }
        }
    }
}

impl Desk {
    /// The answer to a head, and whether the connection ends with it.
    fn answer(&mut self, head: &[u8]) -> (Rc<[u8]>, bool) {
        // First of all, so that the moment is that of the reading.
        let read_ns = if self.stamps.on { now_ns() } else { 0 };
        let ask = Ask::of(head);
        self.counts.requests += u64::from(!ask.is_control());
        let bytes = match ask {
            Ask::Small | Ask::Stamped => Rc::clone(&self.answers.small),
            Ask::Last => Rc::clone(&self.answers.last),
            Ask::Large => Rc::clone(&self.answers.large),
            Ask::Unknown => Rc::clone(&self.answers.unknown),
            Ask::Counts => rendered("200 OK", "text/plain", "keep-alive", self.counts_text().as_bytes()),
            Ask::StampsBegin => {
                self.stamps.begin();
                Rc::clone(&self.answers.empty)
            }
            Ask::StampsEnd => {
                rendered("200 OK", "application/octet-stream", "keep-alive", &self.stamps.end())
            }
        };
        // Last of all before the write, which on loopback carries the answer all the way to the other side.
        if ask == Ask::Stamped && self.stamps.on {
            self.stamps.add(read_ns, now_ns());
        }
        (bytes, ask == Ask::Last)
    }

    fn counts_text(&self) -> String {
        let Counts { requests, connections, handshakes } = self.counts;
        format!("requests {requests}\nconnections {connections}\nhandshakes {handshakes}\n")
    }
}
