//! A log as it was: its times, and its requests in its order, one row a request.
//!
//! Invariants: row n belongs to time n; times never decrease; requests of one time keep the order of their lines; times
//! finer than a second are exact, whole seconds are spread over their second (uniform order statistics, seeded). Each
//! row names its kind (method and media type), a request of the scenario, which `choose` sends in the order of the rows.
//! Only GET and HEAD are sent unless the caller asks for all: other methods may change what the server holds.

mod kinds;
mod rows;

pub use rows::{BODY_BYTES_MAX, REORDER_MAX, Wanted};

use crate::TrafficError;
use crate::log::time::SECOND_NS;
use crate::log::{Format, in_order, read};
use crate::times;
use crate::write::{TIMES_MAX, quoted};
use kinds::Kind;
use rows::Rows;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use units::Seed;

/// A log ready to be sent again.
#[derive(Clone, Debug)]
pub struct Replay {
    /// When, since the first; as many as there are rows.
    pub times_ns: Vec<u64>,
    /// JSON lines with `request` (a kind), `path` and `body`.
    pub rows_file: PathBuf,
    kinds: Vec<Kind>,
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
        let kinds: String = self.kinds.iter().map(|kind| kind.request_text(&codes)).collect();
        format!(
            "schema = \"prony.scenario/1\"\nname = {}\nchoose = \"log.request\"\n\n[feeders.log]\nfile = {}\n\
             format = \"jsonl\"\norder = \"sequential\"\n{kinds}",
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
    wanted: Wanted,
) -> Result<Replay, TrafficError> {
    let part = rows_file.with_extension("part");
    let file = File::create(&part).map_err(TrafficError::io("write", &part))?;
    let mut rows = Rows::new(BufWriter::new(file), wanted);
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
            remedy: "give a log with at least two GET requests at different times, or send its other methods, too (--writes)",
        });
    }
    notes.extend(rows.notes(whole_seconds, seed));
    std::fs::rename(&part, rows_file).map_err(TrafficError::io("write", rows_file))?;
    let status = rows.common_status();
    Ok(Replay { times_ns, rows_file: rows_file.to_owned(), kinds: rows.into_kinds(), status, notes })
}

/// Whole seconds, spread.
fn spread(seconds_ns: &[u64], seed: Seed) -> Vec<u64> {
    let mut times_ns = Vec::with_capacity(seconds_ns.len());
    for second in seconds_ns.chunk_by(|a, b| a == b) {
        times::spread(second[0], SECOND_NS, second.len(), seed, &mut times_ns);
    }
    times_ns
}
