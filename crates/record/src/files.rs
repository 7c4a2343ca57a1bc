//! Files of a run, written so that a crash leaves whole ones.

use crate::RecordError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

/// A file of JSON lines; each line reaches the system whole.
#[derive(Debug)]
pub struct Lines {
    path: PathBuf,
    file: File,
}

impl Lines {
    pub(crate) fn create(path: &Path) -> Result<Self, RecordError> {
        let file = File::create(path).map_err(RecordError::io("create", path))?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Appends a line.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn append(&mut self, value: &impl Serialize) -> Result<(), RecordError> {
        let line = to_json(value, schema::json::line) + "\n";
        self.file.write_all(line.as_bytes()).map_err(RecordError::io("write", &self.path))
    }
}

/// Our own file types always serialise: they have text keys and no failing parts.
fn to_json<T>(value: &T, render: impl Fn(&T) -> serde_json::Result<String>) -> String {
    render(value).expect("prony's own file types serialise")
}

/// Writes a file of JSON as [`write_whole`] does.
///
/// # Errors
/// When the system refuses.
pub fn write_json(path: &Path, value: &impl Serialize) -> Result<(), RecordError> {
    write_whole(path, to_json(value, schema::json::pretty).as_bytes())
}

/// Writes beside the file, flushes to disk, then renames: readers see the old content or the new. What is no ordinary
/// file, such as `/dev/stdout` or a pipe, is written to directly.
///
/// # Errors
/// When the system refuses.
pub fn write_whole(path: &Path, content: &[u8]) -> Result<(), RecordError> {
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return fs::write(path, content).map_err(RecordError::io("write", path));
    }
    let beside = beside(path);
    let write = || {
        let mut file = File::create(&beside)?;
        file.write_all(content)?;
        file.sync_all()?;
        fs::rename(&beside, path)
    };
    write().map_err(|source| {
        // Half a file is of no use, and on a full disk it is in the way.
        let _ = fs::remove_file(&beside);
        RecordError::io("write", path)(source)
    })
}

/// The name under which a file is written until it is whole.
#[must_use]
pub fn beside(path: &Path) -> PathBuf {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".tmp");
    PathBuf::from(beside)
}

/// Reads a file of JSON; `what` is the format that it should have.
///
/// # Errors
/// When it cannot be read, or is not of that format.
pub fn read_json<T: DeserializeOwned>(path: &Path, what: &'static str) -> Result<T, RecordError> {
    let text = fs::read(path).map_err(RecordError::io("read", path))?;
    serde_json::from_slice(&text).map_err(|error| RecordError::Damaged {
        path: path.to_owned(),
        what,
        cause: error.to_string(),
    })
}

pub(crate) fn read_lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, RecordError> {
    let text = fs::read_to_string(path).map_err(RecordError::io("read", path))?;
    let parse = |(number, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| RecordError::Damaged {
            path: path.to_owned(),
            what: "JSON lines",
            cause: format!("line {}: {error}", number + 1),
        })
    };
    text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(parse).collect()
}
