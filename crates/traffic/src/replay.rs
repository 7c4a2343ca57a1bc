//! A log as it was: its times, and its paths in its order, one row a request.
//!
//! Invariants: row n belongs to time n; times never decrease; requests of one time keep the order of their lines; times
//! finer than a second are exact, whole seconds are spread over their second (uniform order statistics, seeded).
//! Lines up to [`REORDER_MAX`] lines out of order are put in order; of those farther off, the time is raised to that of
//! the row before and this is reported. Memory is 8 bytes a request and the lines that wait for their turn.
//! Absent on purpose: methods other than GET. A method is no expression in a scenario, and one entry for each method
//! would lose the order; HEAD is sent as GET, all else is left out, counted and reported.

use crate::TrafficError;
use crate::log::time::SECOND_NS;
use crate::log::{Format, Record, in_order, read};
use crate::times;
use crate::write::{TIMES_MAX, quoted, sendable};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use units::Seed;

/// Rows that wait for an earlier one at most.
pub const REORDER_MAX: usize = 100_000;
/// A status code of 400 and above that at least this share of the answers had is accepted.
const STATUS_SHARE_MIN: f64 = 0.01;
/// Methods that are reported by name.
const METHODS_TOLD: usize = 8;

/// A log ready to be sent again.
#[derive(Clone, Debug)]
pub struct Replay {
    /// When, since the first; as many as there are rows.
    pub times_ns: Vec<u64>,
    /// CSV with the columns `method` (as logged) and `path`.
    pub rows_file: PathBuf,
    /// Status codes of 400 and above that were common in the log.
    pub status: Vec<u16>,
    /// What was left out or changed, in sentences.
    pub notes: Vec<String>,
}

impl Replay {
    /// The scenario that sends the rows in order. `rows_file` is the path of the rows relative to it.
    #[must_use]
    pub fn scenario_text(&self, name: &str, rows_file: &str) -> String {
        let codes: String = self.status.iter().map(|code| format!(", {code}")).collect();
        format!(
            "schema = \"prony.scenario/1\"\nname = {}\n\n[feeders.log]\nfile = {}\nformat = \"csv\"\n\
             order = \"sequential\"\n\n[[requests]]\nname = \"replay\"\nmethod = \"GET\"\npath = \"${{log.path}}\"\n\
             expect = {{ status = [\"200-399\"{codes}] }}\n",
            quoted(name),
            quoted(rows_file)
        )
    }
}

/// Reads logs, in the order of their first requests, and writes their rows to `rows_file`.
///
/// # Errors
/// As [`read`]; fewer than two requests that can be replayed, or more than 50 million.
pub fn prepare(
    paths: &[PathBuf],
    format: Option<Format>,
    rows_file: &Path,
    seed: Seed,
) -> Result<Replay, TrafficError> {
    let part = rows_file.with_extension("part");
    let file = File::create(&part).map_err(TrafficError::io("write", &part))?;
    let mut rows = Rows::new(BufWriter::new(file));
    rows.write(b"method,path\n");
    let mut notes = Vec::new();
    for path in in_order(paths, format)? {
        let report = read(&path, format, |record| rows.add(record))?;
        if report.bad > 0 {
            notes.push(format!(
                "{} of {} lines of {} could not be read",
                report.bad,
                report.lines,
                path.display()
            ));
        }
    }
    rows.finish().map_err(TrafficError::io("write", &part))?;
    if rows.times_ns.len() > TIMES_MAX {
        return Err(TrafficError::TooMuch {
            cause: format!("the log holds more than {TIMES_MAX} requests that can be replayed"),
            remedy: "split the log",
        });
    }
    let whole_seconds = rows.times_ns.iter().all(|time_ns| time_ns.is_multiple_of(SECOND_NS));
    let mut times_ns =
        if whole_seconds { spread(&rows.times_ns, seed) } else { std::mem::take(&mut rows.times_ns) };
    let first_ns = times_ns.first().copied().unwrap_or_default();
    times_ns.iter_mut().for_each(|time_ns| *time_ns -= first_ns);
    if times_ns.last().is_none_or(|last_ns| *last_ns == 0) {
        return Err(TrafficError::TooLittle {
            cause: format!("the log holds {} requests that can be replayed, at one moment", times_ns.len()),
            remedy: "give a log with at least two GET requests at different times",
        });
    }
    notes.extend(rows.notes(whole_seconds, seed));
    std::fs::rename(&part, rows_file).map_err(TrafficError::io("write", rows_file))?;
    Ok(Replay { times_ns, rows_file: rows_file.to_owned(), status: rows.common_status(), notes })
}

/// Whole seconds, spread.
fn spread(seconds_ns: &[u64], seed: Seed) -> Vec<u64> {
    let mut times_ns = Vec::with_capacity(seconds_ns.len());
    for second in seconds_ns.chunk_by(|a, b| a == b) {
        times::spread(second[0], SECOND_NS, second.len(), seed, &mut times_ns);
    }
    times_ns
}

/// Time, number of the line, and text of a row.
type Waiting = Reverse<(u64, u64, Box<str>)>;

/// Puts rows in order and writes them.
struct Rows<W: Write> {
    out: W,
    failed: Option<std::io::Error>,
    waiting: BinaryHeap<Waiting>,
    number: u64,
    times_ns: Vec<u64>,
    raised: u64,
    heads: u64,
    left_out: BTreeMap<String, u64>,
    status: BTreeMap<u16, u64>,
}

impl<W: Write> Rows<W> {
    fn new(out: W) -> Self {
        Self {
            out,
            failed: None,
            waiting: BinaryHeap::new(),
            number: 0,
            times_ns: Vec::new(),
            raised: 0,
            heads: 0,
            left_out: BTreeMap::new(),
            status: BTreeMap::new(),
        }
    }

    fn write(&mut self, bytes: &[u8]) {
        if self.failed.is_none() {
            self.failed = self.out.write_all(bytes).err();
        }
    }

    fn add(&mut self, record: &Record<'_>) {
        match record.method {
            b"GET" => {}
            b"HEAD" => self.heads += 1,
            method => return self.leave_out(method),
        }
        // One more than is allowed is enough to refuse the log.
        if self.failed.is_some() || self.times_ns.len() > TIMES_MAX {
            return;
        }
        *self.status.entry(record.status).or_default() += 1;
        let method = String::from_utf8_lossy(record.method);
        let path = sendable(record.target).replace('"', "\"\"");
        let row = format!("{method},\"{path}\"\n").into_boxed_str();
        self.waiting.push(Reverse((record.time_ns, self.number, row)));
        self.number += 1;
        if self.waiting.len() > REORDER_MAX {
            self.emit();
        }
    }

    fn leave_out(&mut self, method: &[u8]) {
        let method = String::from_utf8_lossy(method).into_owned();
        let known = self.left_out.len() < METHODS_TOLD || self.left_out.contains_key(&method);
        *self.left_out.entry(if known { method } else { "others".to_owned() }).or_default() += 1;
    }

    /// Writes the earliest row that waits.
    fn emit(&mut self) {
        let Some(Reverse((time_ns, _, row))) = self.waiting.pop() else { return };
        let last_ns = self.times_ns.last().copied().unwrap_or_default();
        self.raised += u64::from(time_ns < last_ns);
        self.times_ns.push(time_ns.max(last_ns));
        self.write(row.as_bytes());
    }

    fn finish(&mut self) -> std::io::Result<()> {
        while !self.waiting.is_empty() {
            self.emit();
        }
        match self.failed.take() {
            Some(error) => Err(error),
            None => self.out.flush(),
        }
    }

    fn common_status(&self) -> Vec<u16> {
        let all: u64 = self.status.values().sum();
        let is_common = |(code, count): &(&u16, &u64)| {
            (400..600).contains(*code) && **count as f64 >= STATUS_SHARE_MIN * all as f64
        };
        self.status.iter().filter(is_common).map(|(code, _)| *code).collect()
    }

    fn notes(&self, whole_seconds: bool, seed: Seed) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.left_out.is_empty() {
            let methods: Vec<String> =
                self.left_out.iter().map(|(method, count)| format!("{count} {method}")).collect();
            notes.push(format!(
                "left out: {}; only GET is replayed, because a scenario cannot keep the order of several methods and no \
                 access log holds bodies",
                methods.join(", ")
            ));
        }
        if self.heads > 0 {
            notes.push(format!("{} HEAD requests are sent as GET", self.heads));
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
