//! The rows of a log that is sent again, put in the order of their times.
//!
//! Invariants: lines up to [`REORDER_MAX`] lines out of order are put in order; of those farther off, the time is raised
//! to that of the row before and this is reported. Memory is 8 bytes a request and the lines that wait for their turn,
//! at most 64 MiB of them. What is left out is counted by its cause.

use super::kinds::{KINDS_MAX, Kind};
use crate::log::Record;
use crate::write::{TIMES_MAX, sendable};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::io::Write;
use units::Seed;

/// Rows that wait for an earlier one at most.
pub const REORDER_MAX: usize = 100_000;
/// Longest body that is recorded and sent again: rows are kept in blocks in every worker.
pub const BODY_BYTES_MAX: usize = 64 << 10;
/// Bytes of rows that wait for an earlier one at most.
const WAITING_BYTES_MAX: usize = 64 << 20;
/// A status code of 400 and above that at least this share of the answers had is accepted.
const STATUS_SHARE_MIN: f64 = 0.01;
/// Methods that are reported by name.
const METHODS_TOLD: usize = 8;

/// Which requests of a log are sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// GET and HEAD.
    Reads,
    /// All methods whose body is in the log, or that have none.
    All,
}

/// Time, number of the line, and text of a row.
type Waiting = Reverse<(u64, u64, Box<str>)>;

/// A row as it is written.
#[derive(serde::Serialize)]
struct Row<'a> {
    request: &'a str,
    path: &'a str,
    /// Empty where there is none: a feeder's rows have all of its columns.
    body: &'a str,
}

/// Why a request is not sent again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum LeftOut {
    Method(String),
    NoBody(String),
    LongBody,
    Kind,
}

/// Puts rows in order and writes them.
pub(super) struct Rows<W: Write> {
    out: W,
    failed: Option<std::io::Error>,
    waiting: BinaryHeap<Waiting>,
    waiting_bytes: usize,
    wanted: Wanted,
    /// With their names.
    kinds: BTreeMap<Kind, String>,
    number: u64,
    pub(super) times_ns: Vec<u64>,
    raised: u64,
    left_out: BTreeMap<LeftOut, u64>,
    status: BTreeMap<u16, u64>,
}

impl<W: Write> Rows<W> {
    pub(super) fn new(out: W, wanted: Wanted) -> Self {
        Self {
            out,
            failed: None,
            waiting: BinaryHeap::new(),
            waiting_bytes: 0,
            wanted,
            kinds: BTreeMap::new(),
            number: 0,
            times_ns: Vec::new(),
            raised: 0,
            left_out: BTreeMap::new(),
            status: BTreeMap::new(),
        }
    }

    fn write(&mut self, bytes: &[u8]) {
        if self.failed.is_none() {
            self.failed = self.out.write_all(bytes).err();
        }
    }

    pub(super) fn add(&mut self, record: &Record<'_>) {
        // One more than is allowed is enough to refuse the log.
        if self.failed.is_some() || self.times_ns.len() > TIMES_MAX {
            return;
        }
        let row = match self.row(record) {
            Ok(row) => row,
            Err(cause) => return *self.left_out.entry(cause).or_default() += 1,
        };
        *self.status.entry(record.status).or_default() += 1;
        self.waiting_bytes += row.len();
        self.waiting.push(Reverse((record.time_ns, self.number, row)));
        self.number += 1;
        while self.waiting.len() > REORDER_MAX || self.waiting_bytes > WAITING_BYTES_MAX {
            self.emit();
        }
    }

    fn row(&mut self, record: &Record<'_>) -> Result<Box<str>, LeftOut> {
        let method = || String::from_utf8_lossy(record.method).into_owned();
        let is_read = matches!(record.method, b"GET" | b"HEAD");
        if !is_read && self.wanted == Wanted::Reads {
            return Err(self.of_method(method()));
        }
        let body = record.body.filter(|body| !is_read && !body.is_empty());
        // An empty text is a body that was logged; without one it is not known what was sent.
        if record.body.is_none() && matches!(record.method, b"POST" | b"PUT" | b"PATCH") {
            return Err(LeftOut::NoBody(method()));
        }
        let body = body.map(|body| std::str::from_utf8(body).map_err(|_| LeftOut::Kind)).transpose()?;
        if body.is_some_and(|body| body.len() > BODY_BYTES_MAX) {
            return Err(LeftOut::LongBody);
        }
        let kind = Kind::new(record.method, record.content_type, body.is_some()).ok_or(LeftOut::Kind)?;
        if self.kinds.len() >= KINDS_MAX && !self.kinds.contains_key(&kind) {
            return Err(LeftOut::Kind);
        }
        let name = kind.name();
        let row = Row {
            request: self.kinds.entry(kind).or_insert(name),
            path: &sendable(record.target),
            body: body.unwrap_or_default(),
        };
        let text = serde_json::to_string(&row).expect("texts become JSON");
        Ok((text + "\n").into_boxed_str())
    }

    /// Methods of which a log has many are reported as one.
    fn of_method(&self, method: String) -> LeftOut {
        let cause = LeftOut::Method(method);
        let known = self.left_out.len() < METHODS_TOLD || self.left_out.contains_key(&cause);
        if known { cause } else { LeftOut::Method("others".to_owned()) }
    }

    /// Writes the earliest row that waits.
    fn emit(&mut self) {
        let Some(Reverse((time_ns, _, row))) = self.waiting.pop() else { return };
        self.waiting_bytes -= row.len();
        let last_ns = self.times_ns.last().copied().unwrap_or_default();
        self.raised += u64::from(time_ns < last_ns);
        self.times_ns.push(time_ns.max(last_ns));
        self.write(row.as_bytes());
    }

    pub(super) fn finish(&mut self) -> std::io::Result<()> {
        while !self.waiting.is_empty() {
            self.emit();
        }
        match self.failed.take() {
            Some(error) => Err(error),
            None => self.out.flush(),
        }
    }

    /// What the scenario sends.
    pub(super) fn into_kinds(self) -> Vec<Kind> {
        self.kinds.into_keys().collect()
    }

    pub(super) fn common_status(&self) -> Vec<u16> {
        let all: u64 = self.status.values().sum();
        let is_common = |(code, count): &(&u16, &u64)| {
            (400..600).contains(*code) && **count as f64 >= STATUS_SHARE_MIN * all as f64
        };
        self.status.iter().filter(is_common).map(|(code, _)| *code).collect()
    }

    pub(super) fn notes(&self, whole_seconds: bool, seed: Seed) -> Vec<String> {
        let mut notes = Vec::new();
        let count = |is: fn(&LeftOut) -> bool| -> u64 {
            self.left_out.iter().filter(|(cause, _)| is(cause)).map(|(_, count)| count).sum()
        };
        let named = |name: fn(&LeftOut) -> Option<&String>| -> String {
            let each =
                self.left_out.iter().filter_map(|(cause, count)| Some(format!("{count} {}", name(cause)?)));
            each.collect::<Vec<_>>().join(", ")
        };
        let methods = named(|cause| if let LeftOut::Method(method) = cause { Some(method) } else { None });
        if !methods.is_empty() {
            notes.push(format!(
                "left out: {methods}; they may change what the server holds, so they are sent with --writes only"
            ));
        }
        let bodiless = named(|cause| if let LeftOut::NoBody(method) = cause { Some(method) } else { None });
        if !bodiless.is_empty() {
            notes.push(format!("left out: {bodiless}; the log does not have their bodies (`request_body`)"));
        }
        let long = count(|cause| *cause == LeftOut::LongBody);
        if long > 0 {
            notes.push(format!("left out: {long} with a body of more than {} KiB", BODY_BYTES_MAX >> 10));
        }
        let odd = count(|cause| *cause == LeftOut::Kind);
        if odd > 0 {
            notes.push(format!(
                "left out: {odd} whose method, media type or body cannot be sent, or beyond {KINDS_MAX} kinds of requests"
            ));
        }
        if self.raised > 0 {
            notes.push(format!(
                "{} lines are more than {REORDER_MAX} lines late; they are sent at the time of the line before them",
                self.raised
            ));
        }
        if whole_seconds {
            notes.push(format!(
                "the log's times are whole seconds; requests of one second are spread at random over it (seed {})",
                seed.0
            ));
        }
        notes
    }
}
