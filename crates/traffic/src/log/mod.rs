//! Access logs, line by line: nginx's and Apache's common and combined formats, JSON objects, and fields whose names
//! stand in the first line, plain or gzipped.
//!
//! Invariants: a line costs no allocation (but for JSON texts with escapes, and JSON lines whose session key is looked
//! for); memory is one buffer and the first lines; the format is found from the first `HEAD_LINES` lines and then
//! holds; bad lines are counted, the first `BAD_KEPT` are kept with their numbers; times are those of the log, whether
//! it writes them when a request begins (Apache) or ends (nginx).
//! Absent on purpose: other formats, user agents, referrers and user names.

mod csv;
mod json;
mod key;
mod lines;
mod text;
pub(crate) mod time;

use crate::TrafficError;
use crate::error::cleaned;
pub use key::{SessionKey, UnknownKey};
use lines::{Line, Lines};
use std::fs::File;
use std::hash::Hasher;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use time::StampReader;

/// Lines by which the format is found.
const HEAD_LINES: usize = 50;
/// Bad lines that are kept.
const BAD_KEPT: usize = 3;

/// How the lines of a log are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// `client - - [time] "request" status bytes`.
    Common,
    /// The same with `"referrer" "user agent"`.
    Combined,
    /// A JSON object on each line.
    Json,
    /// Fields by commas, semicolons, tabs or bars, with their names in the first line.
    Csv,
}

impl Format {
    /// In words, for errors.
    const fn words(wanted: Option<Self>) -> &'static str {
        match wanted {
            None => "in the common, combined, JSON or CSV format",
            Some(Self::Common) => "in the common format",
            Some(Self::Combined) => "in the combined format",
            Some(Self::Json) => "a JSON object with time, status and request",
            Some(Self::Csv) => "a row under columns named time and path (or timestamp, url and the like)",
        }
    }
}

impl FromStr for Format {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "common" => Ok(Self::Common),
            "combined" => Ok(Self::Combined),
            "json" => Ok(Self::Json),
            "csv" => Ok(Self::Csv),
            _ => Err(format!("`{text}` is no log format; use common, combined, json or csv")),
        }
    }
}

/// One request of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Since 1970, in UTC; whole seconds where the log has no more.
    pub time_ns: u64,
    /// Hash of the client's address; 0 where the log does not name it.
    pub client: u64,
    /// Upper-case letters.
    pub method: &'a [u8],
    /// Path and query, beginning with `/`, as logged.
    pub target: &'a [u8],
    /// 100 to 999; 0 where the log has none, as event logs do.
    pub status: u16,
    /// Of the answer, where it is logged.
    pub bytes: Option<u64>,
    /// How long the server took, where it is logged.
    pub request_ns: Option<u64>,
    /// Media type of the request's body, where it is logged.
    pub content_type: Option<&'a [u8]>,
    /// The request's body, where it is logged as text.
    pub body: Option<&'a [u8]>,
    /// Hash of what tells sessions apart, where that was asked for; 0 where the line has none.
    pub key: u64,
}

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineKind<'a> {
    Record(Record<'a>),
    /// A line of the format whose request is empty, garbage, or has no path (`OPTIONS *`, `CONNECT`).
    NoRequest,
    /// The names of columns.
    Heading,
    Bad,
}

/// A line that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct BadLine {
    /// Counted from 1.
    pub line: u64,
    /// Cleaned and cut.
    pub text: String,
}

/// What was read from a file.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ReadReport {
    /// The log.
    pub file: PathBuf,
    /// How its lines are written.
    pub format: Format,
    /// All lines but empty ones.
    pub lines: u64,
    /// Requests.
    pub records: u64,
    /// Lines of the format without a request to a path, such as connections closed before one came.
    pub without_request: u64,
    /// Lines that are not of the format.
    pub bad: u64,
    /// The first of them.
    pub bad_first: Vec<BadLine>,
}

/// Reads a log and hands each of its records to `each`, in the order of its lines. `format` is found where it is not
/// given.
///
/// # Errors
/// The file cannot be read, is empty, or none of its first 50 lines is of the format.
pub fn read(
    path: &Path,
    format: Option<Format>,
    each: impl FnMut(&Record<'_>),
) -> Result<ReadReport, TrafficError> {
    read_by(path, format, None, each)
}

/// [`read`], with what tells sessions apart in each record's `key`.
///
/// # Errors
/// As [`read`], and where no line of the file's format can have the key.
pub fn read_by(
    path: &Path,
    format: Option<Format>,
    key: Option<&SessionKey>,
    mut each: impl FnMut(&Record<'_>),
) -> Result<ReadReport, TrafficError> {
    let mut reader = LogReader::open(path, format, key)?;
    reader.head(&mut each);
    reader.rest(&mut each)?;
    Ok(reader.report)
}

/// The logs in the order of their first requests, so that rotated logs may be given in any order.
///
/// # Errors
/// As [`read`].
pub fn in_order(paths: &[PathBuf], format: Option<Format>) -> Result<Vec<PathBuf>, TrafficError> {
    let mut timed = Vec::with_capacity(paths.len());
    for path in paths {
        let mut first_ns = None;
        LogReader::open(path, format, None)?.head(&mut |record| first_ns = first_ns.or(Some(record.time_ns)));
        timed.push((first_ns, path.clone()));
    }
    timed.sort();
    Ok(timed.into_iter().map(|(_, path)| path).collect())
}

/// A log whose format is known and whose first lines wait to be handed over.
struct LogReader {
    lines: Lines<Box<dyn Read>>,
    head: Vec<Vec<u8>>,
    parser: Parser,
    report: ReadReport,
}

impl LogReader {
    fn open(path: &Path, format: Option<Format>, key: Option<&SessionKey>) -> Result<Self, TrafficError> {
        let mut lines = Lines::new(open(path)?);
        let mut head: Vec<Vec<u8>> = Vec::new();
        let keep = |line: Line<'_>| {
            let (Line::Whole(bytes) | Line::TooLong(bytes)) = line;
            head.push(bytes.to_vec());
            head.len() < HEAD_LINES
        };
        lines.for_each(keep).map_err(TrafficError::io("read", path))?;
        let format = detect(path, format, &head)?;
        check_key(path, format, key, &head)?;
        let report = ReadReport {
            file: path.to_owned(),
            format,
            lines: 0,
            records: 0,
            without_request: 0,
            bad: 0,
            bad_first: Vec::new(),
        };
        Ok(Self { lines, head, parser: Parser::new(format, key), report })
    }

    /// Hands over the first lines.
    fn head(&mut self, each: &mut impl FnMut(&Record<'_>)) {
        let mut number = 0;
        for line in &self.head {
            number += 1;
            take(Line::Whole(line), number, &mut self.parser, &mut self.report, each);
        }
    }

    fn rest(&mut self, each: &mut impl FnMut(&Record<'_>)) -> Result<(), TrafficError> {
        let Self { lines, head, parser, report } = self;
        let mut number = head.len() as u64;
        if head.len() < HEAD_LINES {
            return Ok(());
        }
        let path = report.file.clone();
        lines
            .for_each(|line| {
                number += 1;
                take(line, number, parser, report, each);
                true
            })
            .map_err(TrafficError::io("read", &path))
    }
}

/// Counts a line and hands it over if it is a record.
fn take(
    line: Line<'_>,
    number: u64,
    parser: &mut Parser,
    report: &mut ReadReport,
    each: &mut impl FnMut(&Record<'_>),
) {
    let (bytes, is_whole) = match line {
        Line::Whole(bytes) => (bytes, bytes.len() <= lines::LINE_BYTES_MAX),
        Line::TooLong(head) => (head, false),
    };
    if bytes.is_empty() {
        return;
    }
    report.lines += 1;
    let mut hand_over = |kind: LineKind<'_>| match kind {
        LineKind::Record(record) => {
            each(&record);
            report.records += 1;
            true
        }
        LineKind::NoRequest => {
            report.without_request += 1;
            true
        }
        LineKind::Heading => {
            report.lines -= 1;
            true
        }
        LineKind::Bad => false,
    };
    if is_whole && parser.parse(bytes, &mut hand_over) {
        return;
    }
    report.bad += 1;
    if report.bad_first.len() < BAD_KEPT {
        report.bad_first.push(BadLine { line: number, text: cleaned(bytes) });
    }
}

/// Reads lines of one format.
struct Parser {
    format: Format,
    key: Option<SessionKey>,
    /// CSV: what the first line named.
    columns: Option<csv::Columns>,
    stamps: StampReader,
}

impl Parser {
    fn new(format: Format, key: Option<&SessionKey>) -> Self {
        Self { format, key: key.cloned(), columns: None, stamps: StampReader::default() }
    }

    fn parse<T>(&mut self, line: &[u8], give: &mut impl FnMut(LineKind<'_>) -> T) -> T {
        match self.format {
            Format::Common => give(self.text(line, false)),
            Format::Combined => give(self.text(line, true)),
            Format::Json => match json::object(line) {
                Some(fields) => {
                    let kind = fields.line(&mut self.stamps);
                    give(self.keyed(line, kind))
                }
                None => give(LineKind::Bad),
            },
            Format::Csv => match &mut self.columns {
                Some(columns) => give(columns.line(line, self.key.as_ref(), &mut self.stamps)),
                None => {
                    self.columns = csv::Columns::of(line, self.key.as_ref());
                    give(if self.columns.is_some() { LineKind::Heading } else { LineKind::Bad })
                }
            },
        }
    }

    fn text<'l>(&mut self, line: &'l [u8], combined: bool) -> LineKind<'l> {
        match (text::parse(line, combined, &mut self.stamps), &self.key) {
            (LineKind::Record(record), Some(key)) => {
                LineKind::Record(Record { key: key.of_text(line, &record), ..record })
            }
            (other, _) => other,
        }
    }

    /// A record of a JSON line with its key.
    fn keyed<'l>(&self, line: &[u8], kind: LineKind<'l>) -> LineKind<'l> {
        match (kind, &self.key) {
            (LineKind::Record(record), Some(key)) => {
                let found = match key.needs_object() {
                    true => serde_json::from_slice(line).map_or(0, |object| key.of_object(&object)),
                    false => key.of_record(&record),
                };
                LineKind::Record(Record { key: found, ..record })
            }
            (kind, _) => kind,
        }
    }
}

/// Whether lines of the format can have the key.
fn check_key(
    path: &Path,
    format: Format,
    key: Option<&SessionKey>,
    head: &[Vec<u8>],
) -> Result<(), TrafficError> {
    let Some(key) = key else { return Ok(()) };
    let wrong = |why: &str| {
        Err(TrafficError::TooLittle {
            cause: format!(
                "{}: no line can have the key {}: {why}",
                path.display(),
                cleaned(key.to_string().as_bytes())
            ),
            remedy: "name another key, or log it: a JSON log has named fields, header fields and cookies",
        })
    };
    if let Some(why) = key.impossible_in(format) {
        return wrong(why);
    }
    let first = head.iter().find(|line| !line.is_empty());
    let columns = first.filter(|_| format == Format::Csv && key.needs_object());
    match columns.and_then(|line| csv::Columns::of(line, Some(key))) {
        Some(columns) if !columns.has_key() => wrong("its first line names no such column"),
        _ => Ok(()),
    }
}

/// The format that most of the first lines are of; of two that read as many, the one that asks for more.
fn detect(path: &Path, wanted: Option<Format>, head: &[Vec<u8>]) -> Result<Format, TrafficError> {
    let Some(first) = head.iter().find(|line| !line.is_empty()) else {
        return Err(TrafficError::Empty { file: path.to_owned() });
    };
    let all = [Format::Combined, Format::Json, Format::Common, Format::Csv];
    let candidates = all.into_iter().filter(|format| wanted.is_none_or(|wanted| wanted == *format));
    let reads = |format: Format| {
        let mut parser = Parser::new(format, None);
        let mut is_good = |line: &&Vec<u8>| parser.parse(line, &mut |kind| kind != LineKind::Bad);
        head.iter().filter(|line| is_good(line)).count()
    };
    // The first of equals wins.
    let best = candidates.map(|format| (reads(format), format)).reduce(|a, b| if b.0 > a.0 { b } else { a });
    match best {
        Some((1.., format)) => Ok(format),
        _ => Err(TrafficError::Format {
            file: path.to_owned(),
            tried: head.len(),
            wanted: Format::words(wanted),
            line: cleaned(first),
        }),
    }
}

/// The bytes of a file, unpacked where it begins as gzip does.
fn open(path: &Path) -> Result<Box<dyn Read>, TrafficError> {
    let file = File::open(path).map_err(TrafficError::io("read", path))?;
    let mut magic = Vec::new();
    (&file).take(2).read_to_end(&mut magic).map_err(TrafficError::io("read", path))?;
    let is_gzip = magic == [0x1f, 0x8b];
    let whole = std::io::Cursor::new(magic).chain(file);
    if is_gzip {
        let packed = BufReader::with_capacity(256 * 1024, whole);
        return Ok(Box::new(flate2::bufread::MultiGzDecoder::new(packed)));
    }
    Ok(Box::new(whole))
}

/// Method and target of `GET /path HTTP/1.1`. `None` for what is no request to a path.
pub(crate) fn request_line(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let space = memchr::memchr(b' ', line)?;
    let (method, rest) = (&line[..space], &line[space + 1..]);
    if !is_method(method) {
        return None;
    }
    let target = match memchr::memrchr(b' ', rest) {
        Some(place) if rest[place + 1..].starts_with(b"HTTP/") => &rest[..place],
        _ => rest,
    };
    Some((method, origin_form(target)?))
}

/// Whether a word is a method as clients send it.
pub(crate) fn is_method(method: &[u8]) -> bool {
    !method.is_empty()
        && method.len() <= 32
        && method.iter().all(|byte| byte.is_ascii_uppercase() || matches!(byte, b'-' | b'_'))
}

/// Path and query; of an absolute URL, what follows the host.
pub(crate) fn origin_form(target: &[u8]) -> Option<&[u8]> {
    if target.first() == Some(&b'/') {
        return Some(target);
    }
    let place = memchr::memmem::find(target, b"://")?;
    let (scheme, rest) = (&target[..place], &target[place + b"://".len()..]);
    if !(scheme.eq_ignore_ascii_case(b"http") || scheme.eq_ignore_ascii_case(b"https")) {
        return None;
    }
    Some(memchr::memchr(b'/', rest).map_or(b"/", |place| &rest[place..]))
}

/// SipHash with a fixed key: the same address has the same number in every run.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

#[cfg(test)]
mod tests;
