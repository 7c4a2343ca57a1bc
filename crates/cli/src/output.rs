//! Where results go: standard output, or the file named by `-o`; and what is said beside them.
//!
//! Invariants: a reader of standard output that leaves early is no error, and every other failure to write there is
//! an [`OutputError`]; what is said on standard error is cleaned, and a terminal that is gone costs nothing.

use crate::screen;
use anyhow::{Result, bail};
use record::RecordError;
use runner::RunnerError;
use rustix::fs::{Access, access};
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

/// What a file that is looked at before a load must have room for.
const ROOM_BYTES: usize = 64 * 1024;

/// A result that was there and could not be written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OutputError {
    /// To standard output.
    #[error("the result cannot be written to standard output: {0}\n  remedy: {hint}", hint = remedy(.0))]
    Stdout(io::Error),
    /// To a file.
    #[error("the result cannot be written to a file: {0}\n  remedy: {hint}", hint = remedy_of(.0))]
    File(RunnerError),
}

fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "free some space, or write it elsewhere",
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => "write it where you may write",
        _ => "write it elsewhere",
    }
}

fn remedy_of(error: &RunnerError) -> &'static str {
    match error {
        RunnerError::Record(RecordError::Io { source, .. }) => remedy(source),
        _ => "write it elsewhere",
    }
}

/// Standard output. Once its reader has left, what is written goes nowhere: `prony report | head`.
#[derive(Debug)]
pub(crate) struct Stdout(io::Stdout);

pub(crate) fn stdout() -> Stdout {
    Stdout(io::stdout())
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        left_is_fine(self.0.write(bytes), bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        left_is_fine(self.0.flush(), ())
    }
}

fn left_is_fine<T>(result: io::Result<T>, taken: T) -> io::Result<T> {
    match result {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(taken),
        // Still an error of this call, but one that says where.
        Err(error) if error.kind() != ErrorKind::Interrupted => {
            Err(io::Error::other(OutputError::Stdout(error)))
        }
        other => other,
    }
}

/// Writes `text` to `file`, whole or not at all, or to standard output where there is none.
pub(crate) fn write(file: Option<&Path>, text: &str) -> Result<()> {
    match file {
        Some(path) => {
            Ok(record::write_whole(path, text.as_bytes()).map_err(|error| OutputError::File(error.into()))?)
        }
        None => {
            let mut out = stdout();
            out.write_all(text.as_bytes())?;
            Ok(out.flush()?)
        }
    }
}

/// Refuses a file that could not be written when the work is done: its folder is missing or read-only, the disk is
/// full, or it is a folder itself. Leaves nothing behind.
pub(crate) fn check(path: &Path) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        bail!(
            "cannot write {}: there is no folder {}\n  remedy: make it first",
            path.display(),
            folder.display()
        );
    }
    if path.is_dir() {
        bail!("cannot write {}: it is a folder; name a file", path.display());
    }
    try_out(path).map_err(|error| {
        anyhow::anyhow!("cannot write {}: {error}\n  remedy: {}", path.display(), remedy(&error))
    })
}

fn try_out(path: &Path) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        // A pipe may have no reader yet, so it is not opened.
        return Ok(access(path, Access::WRITE_OK)?);
    }
    let beside = record::beside(path);
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(&beside)?;
    let written = file.write_all(&[0; ROOM_BYTES]).and_then(|()| file.sync_all());
    let removed = fs::remove_file(&beside);
    written.and(removed)
}

/// How text is laid out there: a file gets neither colours nor the width of the terminal.
pub(crate) fn style(file: Option<&Path>) -> report::Style {
    if file.is_some() { report::Style::PLAIN } else { screen::style() }
}

/// Says something on standard error. Nobody may be there to read it.
pub(crate) fn say_text(text: &str) {
    let _ = writeln!(io::stderr(), "{}", report::clean_lines(text));
}

/// As `eprintln!`, by [`say_text`].
macro_rules! say {
    ($($part:tt)*) => { $crate::output::say_text(&format!($($part)*)) };
}
pub(crate) use say;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_left_is_no_error_and_a_full_disk_is_one_of_its_own() {
        let failed = |kind: ErrorKind| left_is_fine(Err(io::Error::from(kind)), 3);
        assert_eq!(failed(ErrorKind::BrokenPipe).unwrap(), 3);
        let full = failed(ErrorKind::StorageFull).unwrap_err().to_string();
        assert!(full.contains("standard output") && full.contains("free some space"), "{full}");
    }

    #[test]
    fn a_place_is_tried_out_and_left_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.json");
        check(&path).unwrap();
        fs::write(&path, "old").unwrap();
        check(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        check(Path::new("/dev/null")).unwrap();
    }
}
