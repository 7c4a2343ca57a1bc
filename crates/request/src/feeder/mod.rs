//! Rows from files for requests.
//!
//! Invariants: a file is read and checked from begin to end before any load; which row a request gets is a function
//! of its number alone, so rows are split exactly over workers; one request sees one row of each feeder; a file of
//! any size takes bounded memory: small ones are held, of others the places of some rows.
//! Absent on purpose: watching files, writing, and any format beyond CSV, JSON lines and plain lines.

mod cursor;
mod format;
mod order;
mod rows;
mod scan;
#[cfg(test)]
mod tests;

pub(crate) use cursor::Cursor;

use crate::program::{MakeCause, ProgramError};
use format::Format;
use rows::Rows;
use schema::scenario::{FeederFormat, FeederOrder};
use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use units::Seed;

/// Files up to this size are held in memory.
const HELD_BYTES_MAX: u64 = 64 << 20;

/// A feeder whose columns are known and whose rows are not yet read.
#[derive(Debug)]
pub(crate) struct Source {
    key: String,
    path: PathBuf,
    format: Format,
    columns: Vec<String>,
    order: FeederOrder,
}

/// A feeder whose rows have been checked.
#[derive(Debug)]
pub(crate) struct Feeder {
    rows: u64,
    order: FeederOrder,
    seed: Seed,
    /// Place of each column among those that were loaded.
    places: Vec<Option<u16>>,
    store: Store,
}

#[derive(Debug)]
enum Store {
    Held(Rows),
    /// Rows are read when they are asked for.
    Indexed {
        file: File,
        format: Format,
        wanted: Vec<String>,
        places: Vec<usize>,
        index: scan::Index,
    },
}

impl Source {
    /// Opens the file and finds its columns. `folder` is what a relative path refers to.
    pub(crate) fn open(
        name: &str,
        plan: &schema::scenario::Feeder,
        folder: &str,
    ) -> Result<Self, ProgramError> {
        let key = format!("feeders.{name}");
        let path = Path::new(folder).join(&plan.file);
        let format = Format::of(plan, &path, &key)?;
        let columns = scan::columns(&path, &format, &key)?;
        let mut seen = BTreeSet::new();
        if let Some(column) = columns.iter().find(|column| !seen.insert(*column)) {
            let cause = format!("{}: column `{column}` comes twice", path.display());
            return Err(ProgramError::new(format!("{key}.file"), cause, "rename one of them"));
        }
        Ok(Self { key, path, format, columns, order: plan.order })
    }

    pub(crate) fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Reads all rows and keeps the `used` columns, given by place.
    pub(crate) fn load(self, used: &BTreeSet<u16>, seed: Seed) -> Result<Feeder, ProgramError> {
        self.load_within(used, seed, HELD_BYTES_MAX)
    }

    fn load_within(
        self,
        used: &BTreeSet<u16>,
        seed: Seed,
        held_bytes_max: u64,
    ) -> Result<Feeder, ProgramError> {
        let unreadable = |error: std::io::Error| {
            let cause = format!("{}: {error}", self.path.display());
            ProgramError::new(format!("{}.file", self.key), cause, "check the path and the rights")
        };
        let file = File::open(&self.path).map_err(unreadable)?;
        let is_small = file.metadata().map_err(unreadable)?.len() <= held_bytes_max;
        let places: Vec<usize> = used.iter().map(|column| usize::from(*column)).collect();
        let wanted: Vec<String> = places.iter().map(|place| self.columns[*place].clone()).collect();
        let scan = scan::Scan {
            path: &self.path,
            format: &self.format,
            key: &self.key,
            columns: self.columns.len(),
        };
        let (rows, store) = if is_small {
            let mut held = Rows::new(wanted.len());
            let rows = scan.all(&wanted, &places, &mut held, |_, _| {})?;
            (rows, Store::Held(held))
        } else {
            let mut index = scan::Index::default();
            let mut one = Rows::new(wanted.len());
            let rows = scan.all(&wanted, &places, &mut one, |at, one| {
                index.note(at);
                one.clear();
            })?;
            (rows, Store::Indexed { file, format: self.format.clone(), wanted, places, index })
        };
        if rows == 0 {
            let cause = format!("{} has no rows", self.path.display());
            return Err(ProgramError::new(format!("{}.file", self.key), cause, "add at least one row"));
        }
        let places = (0..self.columns.len() as u16)
            .map(|column| used.iter().position(|used| *used == column).map(|place| place as u16))
            .collect();
        Ok(Feeder { rows, order: self.order, seed, places, store })
    }
}

impl Feeder {
    /// The row of request or session number `position`; `feeder` is this feeder's place, for the error.
    fn row(&self, position: u64, feeder: u16) -> Result<u64, MakeCause> {
        match self.order {
            FeederOrder::Sequential => Ok(position % self.rows),
            FeederOrder::Random => Ok(self.seed.derive("row", position).rng().below(self.rows)),
            FeederOrder::Shuffled => {
                let pass = self.seed.derive("pass", position / self.rows);
                Ok(order::permuted(position % self.rows, self.rows, pass))
            }
            FeederOrder::Unique if position < self.rows => Ok(position),
            FeederOrder::Unique => Err(MakeCause::Exhausted(feeder)),
        }
    }
}

impl Format {
    fn of(plan: &schema::scenario::Feeder, path: &Path, key: &str) -> Result<Self, ProgramError> {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_lowercase();
        let by_ending = match ending.as_str() {
            "csv" => FeederFormat::Csv,
            "jsonl" | "ndjson" => FeederFormat::Jsonl,
            _ => FeederFormat::Lines,
        };
        let format = plan.format.unwrap_or(by_ending);
        if format != FeederFormat::Csv && (plan.delimiter.is_some() || plan.columns.is_some()) {
            let cause = "`delimiter` and `columns` are for CSV, but this file is read as another format";
            return Err(ProgramError::new(key, cause, "set format = \"csv\", or leave them out"));
        }
        Ok(match format {
            FeederFormat::Lines => Self::Lines,
            FeederFormat::Jsonl => Self::Jsonl,
            FeederFormat::Csv => {
                let delimiter = plan.delimiter.as_deref().unwrap_or(",");
                let [delimiter] = delimiter.as_bytes() else {
                    let cause = format!("the delimiter `{delimiter}` is not one byte");
                    return Err(ProgramError::new(
                        format!("{key}.delimiter"),
                        cause,
                        "write for example \";\"",
                    ));
                };
                Self::Csv { delimiter: *delimiter, columns: plan.columns.clone() }
            }
        })
    }
}
