//! The file of rows: under another name until it is whole, as prony's other files; compressed where its name says so.

use crate::GenerateError;
use flate2::Compression;
use flate2::write::GzEncoder;
use plan::EachPlan;
use record::beside;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;

/// A file of rows that is being written. One that is dropped unfinished leaves nothing behind.
pub(super) struct RowFile {
    sink: Sink,
    /// Where it is written, and what it will be called; the same where it is no ordinary file or a part of one.
    written: PathBuf,
    path: PathBuf,
    /// Whether it is removed unless it becomes whole.
    is_half: bool,
}

enum Sink {
    Plain(File),
    Zipped(Box<GzEncoder<File>>),
}

impl RowFile {
    pub(super) fn create(plan: &EachPlan) -> Result<Self, GenerateError> {
        let path = plan.file.clone();
        let is_special = fs::metadata(&path).is_ok_and(|found| !found.is_file());
        let written = if is_special || plan.is_part { path.clone() } else { beside(&path) };
        let file = File::create(&written).map_err(GenerateError::io("create", &written))?;
        let sink = match plan.is_zipped {
            true => Sink::Zipped(Box::new(GzEncoder::new(file, Compression::fast()))),
            false => Sink::Plain(file),
        };
        Ok(Self { sink, written, path, is_half: !is_special })
    }

    /// Writes whole rows.
    pub(super) fn write(&mut self, rows: &[u8]) -> io::Result<()> {
        match &mut self.sink {
            Sink::Plain(file) => file.write_all(rows),
            Sink::Zipped(encoder) => encoder.write_all(rows),
        }
    }

    /// Appends all of another file.
    pub(super) fn append(&mut self, part: &mut File) -> io::Result<()> {
        match &mut self.sink {
            Sink::Plain(file) => io::copy(part, file),
            Sink::Zipped(encoder) => io::copy(part, encoder.as_mut()),
        }
        .map(|_| ())
    }

    /// The file is whole: it gets its name.
    pub(super) fn finish(mut self) -> io::Result<()> {
        let file = match &mut self.sink {
            Sink::Plain(file) => file,
            Sink::Zipped(encoder) => {
                encoder.try_finish()?;
                encoder.get_mut()
            }
        };
        if self.is_half {
            // Some systems say only now that the disk is full.
            file.sync_data()?;
        }
        if self.written != self.path {
            fs::rename(&self.written, &self.path)?;
        }
        self.is_half = false;
        Ok(())
    }
}

impl Drop for RowFile {
    fn drop(&mut self) {
        if self.is_half {
            let _ = fs::remove_file(&self.written);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    fn names(folder: &std::path::Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_file_appears_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let plan = EachPlan::new(&folder.path().join("r.csv"), 1.0).unwrap();
        let mut file = RowFile::create(&plan).unwrap();
        file.write(b"a\n").unwrap();
        assert_eq!(names(folder.path()), ["r.csv.tmp"]);
        drop(file);
        assert_eq!(names(folder.path()), [""; 0]);
        let mut file = RowFile::create(&plan).unwrap();
        file.write(b"a\n").unwrap();
        file.finish().unwrap();
        assert_eq!(names(folder.path()), ["r.csv"]);
        assert_eq!(fs::read(&plan.file).unwrap(), b"a\n");
    }

    #[test]
    fn a_compressed_file_holds_what_was_written_and_appended() {
        let folder = tempfile::tempdir().unwrap();
        let plan = EachPlan::new(&folder.path().join("r.csv.gz"), 1.0).unwrap();
        let part = plan.part(3);
        assert!(part.file.ends_with("r.csv.gz.3.tmp"), "{}", part.file.display());
        let mut own = RowFile::create(&part).unwrap();
        own.write(b"b\n").unwrap();
        own.finish().unwrap();
        let mut file = RowFile::create(&plan).unwrap();
        file.write(b"a\n").unwrap();
        file.append(&mut File::open(&part.file).unwrap()).unwrap();
        file.finish().unwrap();
        let mut text = String::new();
        flate2::read::GzDecoder::new(File::open(&plan.file).unwrap()).read_to_string(&mut text).unwrap();
        assert_eq!(text, "a\nb\n");
    }
}
