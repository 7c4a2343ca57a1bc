//! What is said to agents, written by threads that all links share: there may be thousands of links, and most of the time
//! there is nothing to write.
//!
//! ```text
//! say ─▶ Outward of the link ─▶ Writers: links with something to write ─▶ a free thread, which writes all of it
//! ```
//!
//! Invariants: one thread at a time writes to a link, in the order in which things were said; nobody waits for an agent that
//! does not read: it keeps one thread, and where links have waited for a moment another thread is begun. Lines go between
//! the pieces of a file: a beat that waited for the end of a long one would make each end believe that the other is gone.
//! A thread with nothing to do ends. Absent on purpose: what is said, and when a link ends (`link`).

use super::protocol::{Order, PIECE_BYTES, to_text};
use crate::lines::write_line;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read as _, Write};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Threads that are begun as soon as there is work.
const THREADS_AT_ONCE: usize = 4;
/// Once a link has waited for so long there is one thread more.
const WAIT_MAX: Duration = Duration::from_millis(100);
/// Idle time after which a thread ends.
const IDLE_MAX: Duration = Duration::from_secs(2);

static WRITERS: Writers = Writers {
    queue: Mutex::new(Queue { links: VecDeque::new(), threads: 0, idle: 0 }),
    wake: Condvar::new(),
};

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is still to be written to one agent.
pub(super) struct Outward {
    waiting: Mutex<Waiting>,
    /// Rung when nothing more will be written.
    is_done: Condvar,
}

struct Waiting {
    lines: VecDeque<Vec<u8>>,
    /// By their SHA-256.
    files: VecDeque<(String, PathBuf)>,
    /// The first of them, once some of it was written.
    open: Option<(String, File)>,
    end: Stream,
    is_over: bool,
}

/// The writing end of a link.
enum Stream {
    Idle(Box<dyn Write + Send>),
    /// A thread has it, or will have it.
    Busy(Option<Box<dyn Write + Send>>),
    /// All was written, or the link is cut.
    Done,
}

/// What is written next.
enum Next {
    Line(Vec<u8>),
    Piece(String, File),
}

impl Outward {
    pub(super) fn new(writer: Box<dyn Write + Send>) -> Arc<Self> {
        let waiting = Waiting {
            lines: VecDeque::new(),
            files: VecDeque::new(),
            open: None,
            end: Stream::Idle(writer),
            is_over: false,
        };
        Arc::new(Self { waiting: Mutex::new(waiting), is_done: Condvar::new() })
    }

    /// Says a line, without waiting.
    pub(super) fn line(self: &Arc<Self>, line: Vec<u8>) {
        self.put(|waiting| waiting.lines.push_back(line));
    }

    /// Sends a file, without waiting.
    pub(super) fn file(self: &Arc<Self>, sha256: &str, path: PathBuf) {
        self.put(|waiting| waiting.files.push_back((sha256.to_owned(), path)));
    }

    /// Nothing more will be said: the stream ends once what was said is written.
    pub(super) fn finish(self: &Arc<Self>) {
        self.put(|waiting| waiting.is_over = true);
    }

    fn put(self: &Arc<Self>, what: impl FnOnce(&mut Waiting)) {
        let mut waiting = locked(&self.waiting);
        // A link that is cut shows where it is read.
        if waiting.is_over || matches!(waiting.end, Stream::Done) {
            return;
        }
        what(&mut waiting);
        let (end, is_idle) = match std::mem::replace(&mut waiting.end, Stream::Done) {
            Stream::Idle(writer) => (Stream::Busy(Some(writer)), true),
            busy => (busy, false),
        };
        waiting.end = end;
        drop(waiting);
        WRITERS.serve(is_idle.then(|| self.clone()));
    }

    /// Waits until nothing more will be written, but not longer than until `end`.
    pub(super) fn wait_until(&self, end: Instant) {
        let mut waiting = locked(&self.waiting);
        while !matches!(waiting.end, Stream::Done) {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            waiting = self.is_done.wait_timeout(waiting, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Writes all that waits.
    fn write(&self) {
        let mut waiting = locked(&self.waiting);
        let Stream::Busy(writer) = &mut waiting.end else { return };
        let Some(mut writer) = writer.take() else { return };
        loop {
            let next = match waiting.next() {
                Ok(Some(next)) => next,
                Ok(None) if waiting.is_over => break,
                Ok(None) => {
                    waiting.end = Stream::Idle(writer);
                    return;
                }
                Err(_) => break,
            };
            drop(waiting);
            let written = next.write(&mut *writer);
            waiting = locked(&self.waiting);
            match written {
                Ok(None) => {}
                Ok(Some(rest)) => waiting.open = Some(rest),
                Err(_) => break,
            }
        }
        waiting.close();
        drop(waiting);
        // What ends with the writer, such as a program's standard input, ends before anybody hears of it.
        drop(writer);
        self.is_done.notify_all();
    }
}

impl Waiting {
    fn next(&mut self) -> io::Result<Option<Next>> {
        if let Some(line) = self.lines.pop_front() {
            return Ok(Some(Next::Line(line)));
        }
        if self.open.is_none() {
            let Some((sha256, path)) = self.files.pop_front() else { return Ok(None) };
            self.open = Some((sha256, File::open(path)?));
        }
        Ok(self.open.take().map(|(sha256, file)| Next::Piece(sha256, file)))
    }

    fn close(&mut self) {
        (self.lines, self.files, self.open) = (VecDeque::new(), VecDeque::new(), None);
        self.end = Stream::Done;
    }
}

impl Next {
    /// Writes it; what is left of a file.
    fn write(self, to: &mut dyn Write) -> io::Result<Option<(String, File)>> {
        match self {
            Self::Line(line) => to.write_all(&line).and_then(|()| to.flush()).map(|()| None),
            Self::Piece(sha256, mut file) => {
                let mut piece = Vec::with_capacity(PIECE_BYTES);
                io::Read::take(&mut file, PIECE_BYTES as u64).read_to_end(&mut piece)?;
                let is_last = piece.len() < PIECE_BYTES;
                write_line(to, &Order::File { sha256: sha256.clone(), bytes: to_text(&piece), is_last })?;
                Ok((!is_last).then_some((sha256, file)))
            }
        }
    }
}

/// The threads that write.
struct Writers {
    queue: Mutex<Queue>,
    wake: Condvar,
}

struct Queue {
    /// Links with something to write, and since when.
    links: VecDeque<(Instant, Arc<Outward>)>,
    threads: usize,
    /// Threads that wait for a link.
    idle: usize,
}

impl Queue {
    /// Whether what waits needs a thread more.
    fn needs_thread(&self) -> bool {
        let Some((since, _)) = self.links.front() else { return false };
        self.idle < self.links.len() && (self.threads < THREADS_AT_ONCE || since.elapsed() > WAIT_MAX)
    }
}

impl Writers {
    /// Lets a thread write to a link, and begins one where the threads are held up by agents that do not read.
    fn serve(&'static self, link: Option<Arc<Outward>>) {
        let mut queue = locked(&self.queue);
        if let Some(link) = link {
            queue.links.push_back((Instant::now(), link));
            self.wake.notify_one();
        }
        if !queue.needs_thread() {
            return;
        }
        queue.threads += 1;
        drop(queue);
        let begun = std::thread::Builder::new().name("prony-write".to_owned()).spawn(|| self.work());
        if begun.is_err() {
            // The system gives no thread: those that are there do it, or else this one.
            let mut queue = locked(&self.queue);
            queue.threads -= 1;
            let left = if queue.threads == 0 { std::mem::take(&mut queue.links) } else { VecDeque::new() };
            drop(queue);
            left.into_iter().for_each(|(_, link)| link.write());
        }
    }

    fn work(&self) {
        let mut queue = locked(&self.queue);
        loop {
            if let Some((_, link)) = queue.links.pop_front() {
                drop(queue);
                link.write();
                queue = locked(&self.queue);
                continue;
            }
            queue.idle += 1;
            let (woken, waited) =
                self.wake.wait_timeout(queue, IDLE_MAX).unwrap_or_else(PoisonError::into_inner);
            queue = woken;
            queue.idle -= 1;
            if waited.timed_out() && queue.links.is_empty() {
                queue.threads -= 1;
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufRead as _;
    use std::os::unix::net::UnixStream;

    fn link() -> (Arc<Outward>, io::BufReader<UnixStream>) {
        let (here, there) = UnixStream::pair().unwrap();
        (Outward::new(Box::new(here)), io::BufReader::new(there))
    }

    fn line_of(reader: &mut io::BufReader<UnixStream>) -> String {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        line
    }

    #[test]
    fn lines_come_in_order_and_the_stream_ends_after_the_last() {
        let (outward, mut reader) = link();
        (0..1_000).for_each(|number| outward.line(format!("{number}\n").into_bytes()));
        outward.finish();
        outward.line(b"too late\n".to_vec());
        for number in 0..1_000 {
            assert_eq!(line_of(&mut reader), format!("{number}\n"));
        }
        assert_eq!(line_of(&mut reader), "", "nothing after the end");
        outward.wait_until(Instant::now() + Duration::from_secs(60));
        assert!(matches!(locked(&outward.waiting).end, Stream::Done));
    }

    /// More of them than threads that are begun at once.
    #[test]
    fn agents_that_do_not_read_hold_up_nobody() {
        let stuck: Vec<_> = (0..3 * THREADS_AT_ONCE).map(|_| link()).collect();
        stuck.iter().for_each(|(outward, _)| outward.line(vec![b'x'; 8 << 20]));
        let (outward, mut reader) = link();
        outward.line(b"first\n".to_vec());
        // Each further word, such as a beat, looks after those that wait.
        let (sender, heard) = std::sync::mpsc::channel();
        let read = std::thread::spawn(move || {
            let line = line_of(&mut reader);
            sender.send(()).unwrap();
            line
        });
        let is_heard = (0..600).any(|_| {
            stuck.iter().for_each(|(outward, _)| outward.line(b"beat\n".to_vec()));
            heard.recv_timeout(WAIT_MAX).is_ok()
        });
        assert!(is_heard, "the line waits behind agents that do not read");
        assert_eq!(read.join().unwrap(), "first\n");
        stuck.iter().for_each(|(outward, _)| assert!(!matches!(locked(&outward.waiting).end, Stream::Done)));
    }

    #[test]
    fn a_link_that_is_cut_takes_no_more() {
        let (outward, reader) = link();
        drop(reader);
        outward.line(b"lost\n".to_vec());
        outward.wait_until(Instant::now() + Duration::from_secs(60));
        outward.line(b"too late\n".to_vec());
        let waiting = locked(&outward.waiting);
        assert!(matches!(waiting.end, Stream::Done) && waiting.lines.is_empty());
    }
}
