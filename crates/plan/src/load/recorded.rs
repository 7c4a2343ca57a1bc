//! Recorded arrival times: one a line, as seconds (`12.5`), nanoseconds (`12500000000ns`) or RFC 3339
//! (`2026-11-21T09:30:00.25Z`); blank lines and lines that begin with `#` do not count.
//!
//! Invariants: the times come out in nanoseconds, in order, exact (no floating point is used); all lines are of one
//! kind; an error names file and line.

use crate::error::PlanError;
use schema::arrival::ArrivalPlan;
use schema::plan::LoadPlan;
use schema::text::FileError;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;
use units::Nanos;

/// Most times: 400 MB of memory.
const TIMES_MAX: usize = 50_000_000;

/// How a time is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Seconds,
    Nanoseconds,
    Rfc3339,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Seconds => "seconds",
            Self::Nanoseconds => "nanoseconds",
            Self::Rfc3339 => "an RFC 3339 time",
        }
    }
}

/// Reads the times of a file.
///
/// # Errors
/// The file cannot be read, or a line is no time, of another kind than the first, or earlier than the one before.
pub fn read(path: &Path) -> Result<Arc<[u64]>, PlanError> {
    let unreadable = |error: std::io::Error| {
        let remedy = "name a file with one time a line, such as 12.5 for seconds";
        wrong(path, None, format!("the recorded times cannot be read: {error}"), remedy)
    };
    let file = std::fs::File::open(path).map_err(unreadable)?;
    if file.metadata().is_ok_and(|found| found.is_dir()) {
        return Err(unreadable(std::io::ErrorKind::IsADirectory.into()));
    }
    parse(BufReader::new(file), path).map(Arc::from)
}

/// The times that a load replays; `None` for other laws.
///
/// # Errors
/// As [`read`], and where the file is not the one that was planned with.
pub fn of_load(load: &LoadPlan) -> Result<Option<Arc<[u64]>>, PlanError> {
    let Some(ArrivalPlan::Recorded { file, count, span_ns, .. }) = &load.arrivals else { return Ok(None) };
    let path = Path::new(file);
    let times = read(path)?;
    let found = (times.len() as u64, times.last().zip(times.first()).map_or(0, |(last, first)| last - first));
    if found != (*count, *span_ns) {
        let cause = format!(
            "it held {count} times over {} when the run was planned, now it holds others",
            Nanos(*span_ns)
        );
        return Err(wrong(path, None, cause, "put the old file back, or begin a new run"));
    }
    Ok(Some(times))
}

fn parse(lines: impl BufRead, path: &Path) -> Result<Vec<u64>, PlanError> {
    let mut times: Vec<u64> = Vec::new();
    let mut kind = None;
    for (number, line) in (1..).zip(lines.lines()) {
        let line = line.map_err(PlanError::io("read the recorded times of", path))?;
        let text = line.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let at = Some((number, 1));
        let (this, time_ns) = time(text).ok_or_else(|| {
            let remedy = "write seconds (12.5), nanoseconds (12500000000ns) or RFC 3339, one time a line";
            wrong(path, at, format!("`{}` is no time", text.chars().take(40).collect::<String>()), remedy)
        })?;
        let first = *kind.get_or_insert(this);
        if first != this {
            let cause = format!("{} after lines of {}", this.name(), first.name());
            return Err(wrong(path, at, cause, "write all times in one way"));
        }
        if times.last().is_some_and(|last| *last > time_ns) {
            let cause = "this time is earlier than the one before".to_owned();
            return Err(wrong(path, at, cause, "sort the file by time"));
        }
        if times.len() == TIMES_MAX {
            return Err(wrong(path, at, format!("more than {TIMES_MAX} times"), "split the recording"));
        }
        times.push(time_ns);
    }
    Ok(times)
}

fn time(text: &str) -> Option<(Kind, u64)> {
    if let Some(digits) = text.strip_suffix("ns") {
        return Some((Kind::Nanoseconds, digits.trim_end().parse().ok()?));
    }
    if text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return Some((Kind::Seconds, seconds(text)?));
    }
    let stamp: jiff::Timestamp = text.parse().ok()?;
    Some((Kind::Rfc3339, u64::try_from(stamp.as_nanosecond()).ok()?))
}

/// Digits after the ninth are below a nanosecond and dropped.
fn seconds(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
        return None;
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let kept: String = fraction.chars().chain(std::iter::repeat('0')).take(9).collect();
    whole.checked_mul(1_000_000_000)?.checked_add(kept.parse().ok()?)
}

fn wrong(path: &Path, at: Option<(usize, usize)>, cause: String, remedy: &str) -> PlanError {
    let file = path.display().to_string();
    PlanError::File(FileError { file, at, cause, remedy: Some(remedy.to_owned()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&[u64], &str>) {
        match (parse(text.as_bytes(), Path::new("t.txt")), expected) {
            (Ok(times), Ok(wanted)) => assert_eq!(times, wanted, "{text}"),
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error} lacks {part}"),
            (got, _) => panic!("{text}: {got:?}"),
        }
    }

    #[test]
    fn the_three_kinds_are_read_exactly() {
        check("# log\n0\n\n1.5\n1.500000001\n .7e\n", Err("t.txt:6:1: `.7e` is no time"));
        check(
            "1763717400.123456789\n1763717400.1234567899\n1763717401\n",
            Ok(&[1_763_717_400_123_456_789, 1_763_717_400_123_456_789, 1_763_717_401_000_000_000]),
        );
        check("5ns\n7 ns\n", Ok(&[5, 7]));
        check("1970-01-01T00:00:01Z\n1970-01-01T01:00:01.5+01:00\n", Ok(&[1_000_000_000, 1_500_000_000]));
    }

    #[test]
    fn mistakes_come_with_file_and_line() {
        check("1\n2\nx\n", Err("t.txt:3:1: `x` is no time\n  remedy: write seconds"));
        check("1\n2ns\n", Err("t.txt:2:1: nanoseconds after lines of seconds"));
        check("# x\n2\n1\n", Err("t.txt:3:1: this time is earlier"));
        check("99999999999999\n", Err("is no time"));
        check("1.2.3\n", Err("is no time"));
        check(".\n", Err("is no time"));
    }
}
