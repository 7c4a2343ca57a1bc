//! The folder of results: `machine.json` before the first run, `raw.csv` row by row, `summary.md` at the end.
//!
//! Invariant: an interrupted benchmark keeps every run that had ended; a folder that holds results is never overwritten.

use crate::error::BenchError;
use crate::row::Row;
use serde::Serialize;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// The folder of the repository, as it was when this program was built.
pub(crate) fn workspace() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// An open folder of results.
#[derive(Debug)]
pub(crate) struct Record {
    /// Where.
    pub(crate) folder: PathBuf,
    raw: csv::Writer<File>,
}

impl Record {
    /// Makes `folder`, which must not hold results yet.
    ///
    /// # Errors
    /// It does, or cannot be written.
    pub(crate) fn open(folder: &Path) -> Result<Self, BenchError> {
        fs::create_dir_all(folder).map_err(|error| BenchError::write(folder, error))?;
        let path = folder.join("raw.csv");
        let raw = File::create_new(&path).map_err(|error| BenchError::write(&path, error))?;
        Ok(Self { folder: folder.to_owned(), raw: csv::Writer::from_writer(raw) })
    }

    /// Adds one run and brings it to the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn add(&mut self, row: &Row) -> Result<(), BenchError> {
        let path = self.folder.join("raw.csv");
        self.raw.serialize(row).map_err(|error| BenchError::write(&path, error))?;
        self.raw.flush().map_err(|error| BenchError::write(&path, error))
    }

    /// Writes `name` with `value` as JSON.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn json(&self, name: &str, value: &impl Serialize) -> Result<(), BenchError> {
        let path = self.folder.join(name);
        let text = serde_json::to_string_pretty(value).map_err(|error| BenchError::write(&path, error))?;
        fs::write(&path, text + "\n").map_err(|error| BenchError::write(&path, error))
    }

    /// Writes `name` with `text`.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn text(&self, name: &str, text: &str) -> Result<(), BenchError> {
        let path = self.folder.join(name);
        fs::write(&path, text).map_err(|error| BenchError::write(&path, error))
    }
}

/// `benches/results/DATE-MACHINE`, with `-quick` where it is no evidence, and a number where that is taken.
pub(crate) fn default_folder(results: &Path, date: &str, machine: &str, quick: bool) -> PathBuf {
    let word = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let machine: String = machine.chars().map(word).take(60).collect();
    let name = format!("{date}-{machine}{}", if quick { "-quick" } else { "" });
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let free = std::iter::once(name.clone()).chain(numbered).find(|name| !results.join(name).exists());
    results.join(free.unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::tests::row;

    #[test]
    fn rows_are_in_the_file_at_once_and_read_back_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let mut record = Record::open(folder.path()).unwrap();
        let rows = [row(0, "wrk", 16, 8.25), Row { void: "a, \"b\"".to_owned(), ..Row::default() }];
        for row in &rows {
            record.add(row).unwrap();
        }
        // The writer is still open: this is what a killed benchmark leaves.
        let mut reader = csv::Reader::from_path(folder.path().join("raw.csv")).unwrap();
        let read: Vec<Row> = reader.deserialize().map(Result::unwrap).collect();
        assert_eq!(read, rows);
        let error = Record::open(folder.path()).unwrap_err().to_string();
        assert!(error.contains("raw.csv") && error.contains("--out"), "{error}");
    }

    #[test]
    fn folders_have_names_that_are_free_and_tame() {
        let results = tempfile::tempdir().unwrap();
        let check = |machine: &str, quick: bool, wanted: &str| {
            let folder = default_folder(results.path(), "2026-11-21", machine, quick);
            assert_eq!(folder, results.path().join(wanted));
            fs::create_dir(folder).unwrap();
        };
        check("vm", false, "2026-11-21-vm");
        check("vm", false, "2026-11-21-vm-2");
        check("vm", true, "2026-11-21-vm-quick");
        check("../x y", false, "2026-11-21----x-y");
    }
}
