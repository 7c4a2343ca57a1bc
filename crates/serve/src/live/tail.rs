//! A file of JSON lines that grows: gives its new whole lines, each once.
//!
//! Invariants: no more is read at once than a limit; a line that is cut off waits for its rest; a file that became
//! shorter, or another under its name, is read from its begin.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Most bytes that one look reads; of what was there before the first look, only the end.
const READ_BYTES_MAX: u64 = 2 << 20;
/// Longest line; longer ones are dropped.
const LINE_BYTES_MAX: usize = 1 << 20;

#[derive(Debug)]
pub(crate) struct Tail {
    path: PathBuf,
    /// Number of the file on its device, once it was seen.
    inode: Option<u64>,
    offset: u64,
    /// The begin of a line whose end was not there yet.
    rest: Vec<u8>,
    /// Whether the line in progress began before what was read.
    skips: bool,
}

impl Tail {
    pub(crate) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), inode: None, offset: 0, rest: Vec::new(), skips: false }
    }

    /// New whole lines; none where the file is not there.
    pub(crate) fn lines(&mut self) -> Vec<Vec<u8>> {
        // A file that cannot be read now may be at the next look.
        self.read().unwrap_or_default()
    }

    fn read(&mut self) -> io::Result<Vec<Vec<u8>>> {
        let mut file = File::open(&self.path)?;
        let found = file.metadata()?;
        if self.inode != Some(found.ino()) || found.len() < self.offset {
            *self = Self { inode: Some(found.ino()), ..Self::new(&self.path) };
            self.offset = found.len().saturating_sub(READ_BYTES_MAX);
            self.skips = self.offset > 0;
        }
        file.seek(SeekFrom::Start(self.offset))?;
        let mut new = Vec::new();
        self.offset += file.take(READ_BYTES_MAX).read_to_end(&mut new)? as u64;
        Ok(self.split(&new))
    }

    fn split(&mut self, new: &[u8]) -> Vec<Vec<u8>> {
        let mut lines = Vec::new();
        for piece in new.split_inclusive(|byte| *byte == b'\n') {
            self.rest.extend_from_slice(piece);
            if self.rest.len() > LINE_BYTES_MAX {
                self.rest.clear();
                self.skips = true;
            }
            if piece.ends_with(b"\n") {
                let line = std::mem::take(&mut self.rest);
                if !std::mem::take(&mut self.skips) {
                    lines.push(line);
                }
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, OpenOptions};
    use std::io::Write;

    #[test]
    fn lines_come_once_and_whole_and_a_new_file_begins_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        let mut tail = Tail::new(&path);
        assert!(tail.lines().is_empty());
        let append = |text: &str| {
            OpenOptions::new()
                .create(true)
                .append(true)
                .open(&path)
                .unwrap()
                .write_all(text.as_bytes())
                .unwrap();
        };
        append("1\n2");
        assert_eq!(tail.lines(), [b"1\n".to_vec()]);
        assert!(tail.lines().is_empty());
        append("2\n3\n");
        assert_eq!(tail.lines(), [b"22\n".to_vec(), b"3\n".to_vec()]);
        fs::remove_file(&path).unwrap();
        append("4\n");
        assert_eq!(tail.lines(), [b"4\n".to_vec()]);
    }

    #[test]
    fn of_a_long_file_the_end_is_read_and_a_long_line_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        let line = "x".repeat(999) + "\n";
        fs::write(&path, line.repeat(3000) + "last\n").unwrap();
        let lines = Tail::new(&path).lines();
        assert!(lines.len() < 2200 && lines.iter().all(|line| line.len() == 1000 || line == b"last\n"));
        assert_eq!(lines.last().unwrap(), b"last\n");
        fs::write(&path, "y".repeat(LINE_BYTES_MAX + 10) + "\nz\n").unwrap();
        assert_eq!(Tail::new(&path).lines(), [b"z\n".to_vec()]);
    }
}
