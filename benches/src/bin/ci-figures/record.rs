//! The folder of results: `settings.json` before the first run, `runs.csv` row by row, `kept/` with what was wrong.
//!
//! Invariants: a row is in the file before the next run begins; rows of other settings never come into the same file.

use crate::args::Settings;
use crate::row::Row;
use std::error::Error;
use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

/// An open folder of results.
pub(crate) struct Record {
    rows: Vec<Row>,
    file: csv::Writer<File>,
}

impl Record {
    /// Opens a folder, or makes it.
    ///
    /// # Errors
    /// It was made with other settings, or cannot be read or written.
    pub(crate) fn open(folder: &Path, settings: &Settings) -> Result<Self, Box<dyn Error>> {
        fs::create_dir_all(folder)?;
        let path = folder.join("settings.json");
        if path.exists() {
            let earlier: Settings = serde_json::from_slice(&fs::read(&path)?)?;
            if earlier != *settings {
                return Err(format!(
                    "{} was made with other settings or another prony; choose another folder with --out",
                    folder.display()
                )
                .into());
            }
        } else {
            fs::write(&path, serde_json::to_string_pretty(settings)? + "\n")?;
        }
        let path = file_in(folder);
        let rows = if path.exists() { rows(folder)? } else { Vec::new() };
        let file = OpenOptions::new().create(true).append(true).open(&path)?;
        let file = csv::WriterBuilder::new().has_headers(rows.is_empty()).from_writer(file);
        Ok(Self { rows, file })
    }

    /// Number of the next run.
    pub(crate) fn next(&self) -> u32 {
        self.rows.last().map_or(0, |row| row.number + 1)
    }

    /// All rows so far.
    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Adds a run and brings it to the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn add(&mut self, row: Row) -> Result<(), Box<dyn Error>> {
        self.file.serialize(&row)?;
        self.file.flush()?;
        self.rows.push(row);
        Ok(())
    }
}

fn file_in(folder: &Path) -> PathBuf {
    folder.join("runs.csv")
}

/// The rows of a folder.
///
/// # Errors
/// There is no such file, or it was changed.
pub(crate) fn rows(folder: &Path) -> Result<Vec<Row>, Box<dyn Error>> {
    let path = file_in(folder);
    let read = csv::Reader::from_path(&path).and_then(|mut file| file.deserialize().collect());
    read.map_err(|error| format!("cannot read {}: {error}", path.display()).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Kind;
    use crate::row::tests::row;
    use schema::ci::CiVerdict;

    fn settings(seed: u64) -> Settings {
        Settings {
            prony: PathBuf::from("/prony"),
            prony_sha256: "ab".to_owned(),
            seed,
            steal: 0.1,
            service_ns: 300_000,
            planted_ns: 330_000,
            pin: "auto".to_owned(),
            budget_ns: 1,
            experiment: "e".to_owned(),
        }
    }

    #[test]
    fn a_folder_goes_on_where_it_ended_with_the_same_settings_only() {
        let folder = tempfile::tempdir().unwrap();
        let all = [
            row(0, Kind::Planted, Some(CiVerdict::NoWorse)),
            row(1, Kind::Equal, None),
            row(2, Kind::Equal, Some(CiVerdict::Void)),
        ];
        for part in [&all[..2], &all[2..]] {
            let mut record = Record::open(folder.path(), &settings(1)).unwrap();
            assert_eq!(record.next(), part[0].number);
            for row in part {
                record.add(row.clone()).unwrap();
            }
        }
        assert_eq!(rows(folder.path()).unwrap(), all);
        let error = Record::open(folder.path(), &settings(2)).err().unwrap().to_string();
        assert!(error.contains("--out"), "{error}");
    }
}
