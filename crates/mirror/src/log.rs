//! The log: a JSON line for each request that was answered, with the keys that `traffic` reads.
//!
//! Invariants: connections never wait for the disk (a thread writes); lines are written whole; a body is written where it
//! is text and not too long, else its length alone.

use crate::exchange::Exchange;
use serde::Serialize;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::net::IpAddr;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Lines are written when so many bytes wait, or when none came for [`IDLE`].
const BLOCK_BYTES: usize = 64 << 10;
const IDLE: Duration = Duration::from_millis(200);

/// One line. The keys are those of `traffic`'s JSON logs.
#[derive(Debug, Serialize)]
struct Line<'a> {
    /// When the request's first byte came, seconds since 1970 with nine decimals.
    msec: String,
    remote_addr: IpAddr,
    request_method: &'a str,
    request_uri: &'a str,
    status: u16,
    body_bytes_sent: u64,
    /// Seconds.
    request_time: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_body: Option<&'a str>,
    /// Where the body is not written: its bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    request_body_bytes: Option<u64>,
}

/// What was written and what was not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Connections that ended.
    pub connections: u64,
    /// Those that were passed on and could not be read to their end: TLS, HTTP/2, another protocol.
    pub unread: u64,
    /// Lines of the log.
    pub requests: u64,
    /// Of them, those whose body is not in the log: it is no text, or too long.
    pub without_body: u64,
    /// Requests whose connection ended before their answer, which are not in the log.
    pub unanswered: u64,
}

#[derive(Debug, Default)]
struct Counts {
    connections: AtomicU64,
    unread: AtomicU64,
    requests: AtomicU64,
    without_body: AtomicU64,
    unanswered: AtomicU64,
    failed: AtomicBool,
}

/// A log that is being written.
#[derive(Debug)]
pub struct Log {
    lines: Option<Sender<Vec<u8>>>,
    writing: Option<JoinHandle<std::io::Result<()>>>,
    counts: Arc<Counts>,
    bodies_max: usize,
}

/// A connection's end of the log.
#[derive(Clone, Debug)]
pub(crate) struct Writer {
    lines: Sender<Vec<u8>>,
    counts: Arc<Counts>,
    bodies_max: usize,
}

impl Log {
    /// Makes the file, which only its owner can read: bodies hold what users wrote. Of bodies longer than `bodies_max`
    /// only the length is written.
    ///
    /// # Errors
    /// It exists already, or cannot be made.
    pub fn create(path: &Path, bodies_max: usize) -> std::io::Result<Self> {
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        let (lines, waiting) = channel();
        let counts = Arc::new(Counts::default());
        let of_thread = counts.clone();
        let writing = std::thread::spawn(move || {
            let result = write(file, &waiting);
            of_thread.failed.store(result.is_err(), Ordering::Relaxed);
            result
        });
        Ok(Self { lines: Some(lines), writing: Some(writing), counts, bodies_max })
    }

    pub(crate) fn writer(&self) -> Writer {
        let lines = self.lines.clone().expect("taken by `finish` only");
        Writer { lines, counts: self.counts.clone(), bodies_max: self.bodies_max }
    }

    /// Waits until all is written.
    pub(crate) fn finish(&mut self) -> std::io::Result<Totals> {
        self.lines = None;
        if let Some(writing) = self.writing.take() {
            writing.join().map_err(|_| std::io::Error::other("the writing thread ended early"))??;
        }
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Ok(Totals {
            connections: of(&self.counts.connections),
            unread: of(&self.counts.unread),
            requests: of(&self.counts.requests),
            without_body: of(&self.counts.without_body),
            unanswered: of(&self.counts.unanswered),
        })
    }
}

impl Writer {
    pub(crate) const fn bodies_max(&self) -> usize {
        self.bodies_max
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.counts.failed.load(Ordering::Relaxed)
    }

    pub(crate) fn connection_ended(&self, is_lost: bool) {
        self.counts.connections.fetch_add(1, Ordering::Relaxed);
        self.counts.unread.fetch_add(u64::from(is_lost), Ordering::Relaxed);
    }

    pub(crate) fn write(&self, from: IpAddr, exchange: &Exchange) {
        let Exchange { at, request, answer } = exchange;
        let Some(answer) = answer else {
            self.counts.unanswered.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let body =
            std::str::from_utf8(&request.body).ok().filter(|_| request.body_bytes <= self.bodies_max as u64);
        // What has no body has an empty one: a log that says so can be sent again.
        let body = if request.body_bytes == 0 { Some("") } else { body };
        let line = Line {
            msec: format!("{}.{:09}", at.as_secs(), at.subsec_nanos()),
            remote_addr: from,
            request_method: &request.method,
            request_uri: &request.target,
            status: answer.status,
            body_bytes_sent: answer.bytes,
            request_time: answer.took.as_secs_f64(),
            content_type: request.content_type.as_deref().filter(|_| request.body_bytes > 0),
            request_body: body,
            request_body_bytes: body.is_none().then_some(request.body_bytes),
        };
        let mut text = serde_json::to_vec(&line).expect("texts and numbers become JSON");
        text.push(b'\n');
        // Where the file failed, `serve` ends and says so.
        if self.lines.send(text).is_ok() {
            self.counts.requests.fetch_add(1, Ordering::Relaxed);
            self.counts.without_body.fetch_add(u64::from(body.is_none()), Ordering::Relaxed);
        }
    }
}

fn write(mut file: File, lines: &Receiver<Vec<u8>>) -> std::io::Result<()> {
    let mut block = Vec::new();
    loop {
        let received = lines.recv_timeout(IDLE);
        if let Ok(line) = &received {
            block.extend_from_slice(line);
        }
        let is_over = received == Err(RecvTimeoutError::Disconnected);
        if block.len() >= BLOCK_BYTES || received.is_err() {
            file.write_all(&block)?;
            block.clear();
        }
        if is_over {
            return file.sync_all();
        }
    }
}
