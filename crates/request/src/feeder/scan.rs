//! Reading a file from begin to end: its columns, and every row with its place. A mistake is reported with its line.

use super::format::{Format, LINE, add_json, add_line, trimmed};
use super::rows::Rows;
use crate::program::ProgramError;
use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read};
use std::path::Path;
use std::rc::Rc;

/// Longest row; a quote that is never closed must not take all memory.
const ROW_BYTES_MAX: u64 = 16 << 20;
/// Most places that are kept.
const PLACES_MAX: usize = 1 << 20;
/// Rows from one kept place to the next, at first.
const STRIDE: u64 = 16;

/// Places of every `stride`-th row in the file. Where there are too many, every other is dropped: memory is bounded.
#[derive(Debug)]
pub(super) struct Index {
    places: Vec<u64>,
    stride: u64,
    rows: u64,
}

impl Default for Index {
    fn default() -> Self {
        Self { places: Vec::new(), stride: STRIDE, rows: 0 }
    }
}

impl Index {
    /// Notes the next row, which begins at byte `at`.
    pub(super) fn note(&mut self, at: u64) {
        self.note_within(at, PLACES_MAX);
    }

    fn note_within(&mut self, at: u64, places_max: usize) {
        if self.rows.is_multiple_of(self.stride) {
            if self.places.len() == places_max {
                let mut is_kept = false;
                self.places.retain(|_| {
                    is_kept = !is_kept;
                    is_kept
                });
                self.stride *= 2;
            }
            if self.rows.is_multiple_of(self.stride) {
                self.places.push(at);
            }
        }
        self.rows += 1;
    }

    /// The block with a row: its number, its bytes (to the file's end where there is no next), and the row within it.
    pub(super) fn block(&self, row: u64) -> Option<(u64, u64, Option<u64>, u64)> {
        let block = row / self.stride;
        let from = *self.places.get(usize::try_from(block).ok()?)?;
        let to = self.places.get(block as usize + 1).copied();
        Some((block, from, to, row % self.stride))
    }
}

/// A file and how it is read.
pub(super) struct Scan<'a> {
    pub(super) path: &'a Path,
    pub(super) format: &'a Format,
    /// Place in the scenario.
    pub(super) key: &'a str,
    /// All columns of the file.
    pub(super) columns: usize,
}

/// The columns of a file.
pub(super) fn columns(path: &Path, format: &Format, key: &str) -> Result<Vec<String>, ProgramError> {
    let scan = Scan { path, format, key, columns: 0 };
    let columns = match format {
        Format::Lines => {
            scan.open()?;
            return Ok(vec![LINE.to_owned()]);
        }
        Format::Csv { columns: Some(columns), .. } => {
            scan.open()?;
            columns.clone()
        }
        Format::Csv { .. } => {
            let (mut reader, _) = scan.csv(true)?;
            let header = reader.headers().map_err(|error| scan.csv_fault(&error))?;
            header.iter().map(str::to_owned).collect()
        }
        Format::Jsonl => scan.keys_of_first()?,
    };
    if columns.is_empty() {
        return Err(scan.fault(None, "the file is empty", "add a header line and at least one row"));
    }
    if columns.len() >= usize::from(u16::MAX) {
        return Err(scan.fault(None, "more than 65534 columns", "leave out what is not used"));
    }
    Ok(columns)
}

impl Scan<'_> {
    fn fault(&self, line: Option<u64>, cause: &str, remedy: &str) -> ProgramError {
        let place = line.map_or_else(String::new, |line| format!(":{line}"));
        ProgramError::new(
            format!("{}.file", self.key),
            format!("{}{place}: {cause}", self.path.display()),
            remedy,
        )
    }

    fn open(&self) -> Result<File, ProgramError> {
        let cannot = |error: io::Error| self.fault(None, &error.to_string(), "check the path and the rights");
        let file = File::open(self.path).map_err(cannot)?;
        if file.metadata().map_err(cannot)?.is_file() {
            return Ok(file);
        }
        Err(self.fault(None, "this is no regular file", "name a file that can be read again"))
    }

    /// Reads all rows; `places` are those of the `wanted` columns. After each row `visit` is called with the place
    /// where it begins. The result is the number of rows.
    pub(super) fn all(
        &self,
        wanted: &[String],
        places: &[usize],
        rows: &mut Rows,
        mut visit: impl FnMut(u64, &mut Rows),
    ) -> Result<u64, ProgramError> {
        match self.format {
            Format::Csv { columns, .. } => self.all_csv(columns.is_none(), places, rows, &mut visit),
            Format::Lines => self.lines(|at, _, line| {
                add_line(line, rows, !wanted.is_empty());
                visit(at, rows);
                Ok(true)
            }),
            Format::Jsonl => self.lines(|at, number, line| {
                add_json(line, rows, wanted).map_err(|cause| {
                    self.fault(Some(number), &cause, "write one JSON object with all used keys on each line")
                })?;
                visit(at, rows);
                Ok(true)
            }),
        }
    }

    fn csv(&self, has_headers: bool) -> Result<(csv::Reader<Bounded>, Rc<Cell<u64>>), ProgramError> {
        let Format::Csv { delimiter, .. } = self.format else {
            return Err(self.fault(None, "this is not CSV", "set format = \"csv\""));
        };
        let given = Rc::new(Cell::new(0));
        let input = Bounded { file: self.open()?, given: given.clone() };
        let mut builder = csv::ReaderBuilder::new();
        Ok((builder.delimiter(*delimiter).has_headers(has_headers).from_reader(input), given))
    }

    fn all_csv(
        &self,
        has_headers: bool,
        places: &[usize],
        rows: &mut Rows,
        visit: &mut impl FnMut(u64, &mut Rows),
    ) -> Result<u64, ProgramError> {
        let (mut reader, given) = self.csv(has_headers)?;
        let mut record = csv::ByteRecord::new();
        let mut count = 0;
        while reader.read_byte_record(&mut record).map_err(|error| self.csv_fault(&error))? {
            let place = record.position().map_or((0, 0), |position| (position.byte(), position.line()));
            if record.len() != self.columns {
                let cause = format!("{} fields, but there are {} columns", record.len(), self.columns);
                return Err(self.fault(Some(place.1), &cause, RAGGED));
            }
            let row = rows.begin();
            for (column, place) in places.iter().enumerate() {
                rows.set(row, column, |out| out.extend_from_slice(&record[*place]));
            }
            visit(place.0, rows);
            given.set(0);
            count += 1;
        }
        Ok(count)
    }

    fn csv_fault(&self, error: &csv::Error) -> ProgramError {
        let line = error.position().map(csv::Position::line);
        match error.kind() {
            csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                self.fault(line, &format!("{len} fields, but there are {expected_len} columns"), RAGGED)
            }
            csv::ErrorKind::Io(error) => self.fault(None, &error.to_string(), "check the file"),
            csv::ErrorKind::Utf8 { .. } => {
                self.fault(line, "the header is not UTF-8", "save the file as UTF-8")
            }
            _ => self.fault(line, &error.to_string(), "check the file"),
        }
    }

    /// Calls `visit` with place, number (from 1) and text of each line that is not blank, until it says no. The result
    /// is the number of these lines.
    fn lines(
        &self,
        mut visit: impl FnMut(u64, u64, &[u8]) -> Result<bool, ProgramError>,
    ) -> Result<u64, ProgramError> {
        const MARK: &[u8] = b"\xef\xbb\xbf";
        let mut reader = BufReader::with_capacity(1 << 16, self.open()?);
        let (mut at, mut count, mut line) = (0_u64, 0, Vec::new());
        for number in 1.. {
            line.clear();
            let bytes = (&mut reader)
                .take(ROW_BYTES_MAX + 1)
                .read_until(b'\n', &mut line)
                .map_err(|error| self.fault(Some(number), &error.to_string(), "check the file"))?;
            if bytes == 0 {
                break;
            }
            if line.len() as u64 > ROW_BYTES_MAX {
                return Err(self.fault(Some(number), TOO_LONG, "split the row"));
            }
            let mark = if at == 0 && line.starts_with(MARK) { MARK.len() } else { 0 };
            if let Some(text) = trimmed(&line[mark..]) {
                count += 1;
                if !visit(at + mark as u64, number, text)? {
                    break;
                }
            }
            at += bytes as u64;
        }
        Ok(count)
    }

    fn keys_of_first(&self) -> Result<Vec<String>, ProgramError> {
        let mut keys = Vec::new();
        self.lines(|_, number, line| {
            let object: serde_json::Map<String, serde_json::Value> =
                serde_json::from_slice(line).map_err(|error| {
                    let cause = format!("no JSON object ({error})");
                    self.fault(Some(number), &cause, "write one JSON object on each line")
                })?;
            if object.is_empty() {
                return Err(self.fault(Some(number), "the object has no keys", "add the columns as keys"));
            }
            keys.extend(object.into_iter().map(|(key, _)| key));
            Ok(false)
        })?;
        Ok(keys)
    }
}

const RAGGED: &str = "give every row the same number of fields, and quote fields that hold the delimiter";
const TOO_LONG: &str = "the row is longer than 16 MiB; perhaps a quote is not closed";

/// Refuses to read on when a row takes too much.
struct Bounded {
    file: File,
    /// Bytes since the last row; reading ahead counts too, which is far below the limit.
    given: Rc<Cell<u64>>,
}

impl Read for Bounded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given.get() > ROW_BYTES_MAX {
            return Err(io::Error::other(TOO_LONG));
        }
        let bytes = self.file.read(buffer)?;
        self.given.set(self.given.get() + bytes as u64);
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_of_bounded_size_finds_every_row() {
        let mut index = Index::default();
        (0..10_000).for_each(|row| index.note_within(row * 10, 8));
        assert!(index.places.len() <= 8 && index.stride >= 10_000 / 8);
        for row in [0, 1, 15, 16, 5_000, 9_999] {
            let (block, from, to, within) = index.block(row).unwrap();
            assert_eq!((from / 10 + within, block * index.stride + within), (row, row));
            assert!(to.is_none_or(|to| to > row * 10));
        }
    }
}
