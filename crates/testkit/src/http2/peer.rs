//! How a connection of a scripted server follows its script.

use super::frames::{frame, settings};
use super::script::{Act, PATIENCE, Seen};
use rustls::{ServerConnection, StreamOwned};
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

/// Windows as a connection begins (RFC 9113 §6.9.2).
const FIRST_WINDOW: u32 = 65_535;

/// What a connection is spoken over.
pub(crate) trait Line: Read + Write {
    /// Closes the sending direction.
    fn half_close(&mut self) -> io::Result<()>;
}

impl Line for TcpStream {
    fn half_close(&mut self) -> io::Result<()> {
        self.shutdown(Shutdown::Write)
    }
}

impl<T: Line> Line for StreamOwned<ServerConnection, T> {
    fn half_close(&mut self) -> io::Result<()> {
        self.sock.half_close()
    }
}

/// A part of a request as it was read.
#[derive(Debug)]
pub(super) struct Heard {
    pub(super) stream: u32,
    pub(super) bytes: Vec<u8>,
    pub(super) is_end: bool,
}

/// The server's end of a connection.
pub(crate) struct Peer<'a, T> {
    io: T,
    input: Vec<u8>,
    has_preface: bool,
    /// Streams of requests that were read and are not answered.
    open: VecDeque<u32>,
    /// Streams of all requests.
    streams: Vec<u32>,
    /// Of these, the ones that were read to their end.
    ended: VecDeque<u32>,
    /// Bytes of bodies that were read and not given back, with the stream of the last.
    taken: (u32, u32),
    /// Parts of requests that were read since they were asked for, where somebody listens.
    heard: Option<Vec<Heard>>,
    seen: &'a Seen,
}

impl<'a, T: Line> Peer<'a, T> {
    pub(crate) fn new(io: T, seen: &'a Seen) -> Self {
        Self {
            io,
            input: Vec::new(),
            has_preface: false,
            open: VecDeque::new(),
            streams: Vec::new(),
            ended: VecDeque::new(),
            taken: (0, 0),
            heard: None,
            seen,
        }
    }

    pub(crate) fn follow(mut self, script: &[Act]) -> io::Result<()> {
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
                    self.seen.left.fetch_add(1, SeqCst);
                    self.send(&frame(7, 0, 0, &payload))?;
                }
                Act::AwaitConnections(connections) => self.await_connections(*connections)?,
                Act::Send(bytes) => self.send(bytes)?,
                Act::Flood(bytes) => loop {
                    self.send(bytes)?;
                },
                Act::Serve => self.serve_some(usize::MAX)?,
                Act::ServeSome(requests) => self.serve_some(*requests)?,
                Act::Pause(time) => self.pause(*time),
                Act::ServeWaves { size, delay } => loop {
                    while self.open.len() < *size {
                        self.read()?;
                    }
                    self.pause(*delay);
                    (0..*size).try_for_each(|_| self.answer())?;
                },
                Act::ServeFar(round_trip) => loop {
                    self.serve_far(*round_trip)?;
                },
                Act::ServeFrames(frames) => loop {
                    while let Some(stream) = self.ended.pop_front() {
                        self.open.retain(|open| *open != stream);
                        self.send(&frames(stream))?;
                    }
                    self.read()?;
                    self.give_back()?;
                },
                Act::Talk(talk) => self.talk(*talk)?,
                Act::HalfClose => self.io.half_close()?,
                Act::Hold => loop {
                    self.read()?;
                },
            }
        }
        Ok(())
    }

    /// Answers requests as they come, and gives back windows.
    fn serve_some(&mut self, requests: usize) -> io::Result<()> {
        let mut answered = 0;
        loop {
            while answered < requests && !self.open.is_empty() {
                self.answer()?;
                answered += 1;
            }
            if answered == requests {
                return Ok(());
            }
            self.read()?;
            self.give_back()?;
        }
    }

    /// One step of [`Act::ServeFar`]: for one request at a time whose body is in a window or more.
    fn serve_far(&mut self, round_trip: Duration) -> io::Result<()> {
        if self.ended.pop_front().is_some() {
            self.pause(round_trip);
            self.give_back()?;
            return self.answer();
        }
        if self.taken.0 >= FIRST_WINDOW {
            self.pause(round_trip);
            self.give_back()?;
        }
        self.read()
    }

    /// Gives back the windows of what was read, of the connection and of the stream.
    fn give_back(&mut self) -> io::Result<()> {
        let (bytes, stream) = std::mem::take(&mut self.taken);
        if bytes == 0 {
            return Ok(());
        }
        let update = |stream| frame(8, 0, stream, &bytes.to_be_bytes());
        self.send(&[update(0), update(stream)].concat())
    }

    fn pause(&self, time: Duration) {
        let begin = Instant::now();
        std::thread::sleep(time);
        self.seen.pauses.lock().unwrap().push(begin.elapsed());
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

    /// From here on the parts of requests are kept.
    pub(super) fn listen(&mut self) {
        self.heard = Some(Vec::new());
    }

    /// The parts of requests that were read since the last call.
    pub(super) fn heard(&mut self) -> Vec<Heard> {
        self.heard.as_mut().map(std::mem::take).unwrap_or_default()
    }

    pub(super) const fn seen(&self) -> &'a Seen {
        self.seen
    }

    /// Whether the request of a stream is neither answered nor given up.
    pub(super) fn is_open(&self, stream: u32) -> bool {
        self.open.contains(&stream)
    }

    /// The request of a stream is answered.
    pub(super) fn close(&mut self, stream: u32) {
        self.open.retain(|open| *open != stream);
    }

    pub(super) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.io.write_all(bytes)?;
        self.io.flush()
    }

    /// `:status: 200` of the static table, and the end of the stream.
    fn answer(&mut self) -> io::Result<()> {
        let stream = self.open.pop_front().expect("a request was read");
        self.seen.answers.lock().unwrap().push(Instant::now());
        self.send(&frame(1, 0x5, stream, &[0x88]))
    }

    /// Reads once, and takes what is whole.
    pub(super) fn read(&mut self) -> io::Result<()> {
        let mut buffer = [0; 16 * 1024];
        let taken = self.io.read(&mut buffer)?;
        if taken == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.input.extend_from_slice(&buffer[..taken]);
        if !self.has_preface && self.input.len() >= 24 {
            if !self.input.starts_with(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") {
                return Err(io::ErrorKind::InvalidData.into());
            }
            self.input.drain(..24);
            self.has_preface = true;
        }
        while self.has_preface && self.input.len() >= 9 {
            let length = u32::from_be_bytes([0, self.input[0], self.input[1], self.input[2]]) as usize;
            if self.input.len() < 9 + length {
                break;
            }
            let frame: Vec<u8> = self.input.drain(..9 + length).collect();
            self.count(frame[3], frame[4], number(&frame[5..]), &frame[9..]);
        }
        Ok(())
    }

    fn count(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        match kind {
            0 if self.heard.is_none() => self.taken = (self.taken.0 + payload.len() as u32, stream),
            1 => {
                self.streams.push(stream);
                self.open.push_back(stream);
                self.seen.requests.fetch_add(1, SeqCst);
            }
            3 => {
                self.open.retain(|open| *open != stream);
                self.ended.retain(|ended| *ended != stream);
                self.seen.cancels.fetch_add(1, SeqCst);
            }
            4 => {
                let window = payload.chunks_exact(6).find(|entry| entry[..2] == [0, 4]);
                if let Some(window) = window {
                    self.seen.window.store(number(&window[2..]).into(), SeqCst);
                }
            }
            8 if stream == 0 && payload.len() == 4 => {
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
        let is_end = flags & 1 == 1;
        match &mut self.heard {
            Some(heard) if kind <= 1 => {
                let bytes = if kind == 0 { payload.to_vec() } else { Vec::new() };
                heard.push(Heard { stream, bytes, is_end });
            }
            None if kind <= 1 && is_end => self.ended.push_back(stream),
            _ => {}
        }
    }
}

/// The number in the first four bytes.
fn number(bytes: &[u8]) -> u32 {
    u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}
