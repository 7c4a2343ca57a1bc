//! A file of JSON lines that grows: gives its new whole lines, each once.
//!
//! Invariants: no more is read at once than a limit; a line that is cut off waits for its rest; a file that became
//! shorter, or another under its name, is read from its begin, and whoever adds up its lines can tell.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Most bytes that one look reads; of what was there before the first look, only the end.
const READ_BYTES_MAX: u64 = 2 << 20;
/// Longest line; longer ones are dropped.
const LINE_BYTES_MAX: usize = 1 << 20;

/// A file of lines and how far it was read.
#[derive(Debug)]
pub struct Tail {
    path: PathBuf,
    /// Whether the first look begins at the begin, however long the file is.
    is_whole: bool,
    /// Number of the file on its device, once it was seen.
    inode: Option<u64>,
    offset: u64,
    /// The begin of a line whose end was not there yet.
    rest: Vec<u8>,
    /// Whether the line in progress began before what was read.
    skips: bool,
}

/// What one look at a file found.
#[derive(Debug, Default)]
pub struct Look {
    /// Whole lines that no look gave before, in order.
    pub lines: Vec<Vec<u8>>,
    /// Whether they begin another file than the lines before them: those no longer count.
    pub begins: bool,
    /// Whether there is more to read now.
    pub more: bool,
}

impl Tail {
    /// Of what is there already, the end counts: for what is shown.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        let path = path.to_owned();
        Self { path, is_whole: false, inode: None, offset: 0, rest: Vec::new(), skips: false }
    }

    /// From the begin, for what is added up: look again while there is more.
    #[must_use]
    pub fn whole(path: &Path) -> Self {
        Self { is_whole: true, ..Self::new(path) }
    }

    /// New whole lines; none where the file is not there.
    pub fn lines(&mut self) -> Vec<Vec<u8>> {
        self.look().lines
    }

    /// New whole lines, and what they are; nothing where the file is not there.
    pub fn look(&mut self) -> Look {
        // A file that cannot be read now may be at the next look.
        self.read().unwrap_or_default()
    }

    fn read(&mut self) -> io::Result<Look> {
        let mut file = File::open(&self.path)?;
        let found = file.metadata()?;
        let begins = self.inode != Some(found.ino()) || found.len() < self.offset;
        if begins {
            *self = Self { inode: Some(found.ino()), is_whole: self.is_whole, ..Self::new(&self.path) };
            if !self.is_whole {
                self.offset = found.len().saturating_sub(READ_BYTES_MAX);
            }
            self.skips = self.offset > 0;
        }
        file.seek(SeekFrom::Start(self.offset))?;
        let mut new = Vec::new();
        let read = file.take(READ_BYTES_MAX).read_to_end(&mut new)? as u64;
        self.offset += read;
        Ok(Look { lines: self.split(&new), begins, more: read == READ_BYTES_MAX })
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

    #[test]
    fn what_is_added_up_is_read_from_the_begin_and_a_new_file_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        fs::write(&path, ("x".repeat(999) + "\n").repeat(3000)).unwrap();
        let mut tail = Tail::whole(&path);
        let (first, second) = (tail.look(), tail.look());
        assert_eq!((first.begins, first.more, second.begins, second.more), (true, true, false, false));
        assert_eq!(first.lines.len() + second.lines.len(), 3000);
        fs::write(&path, "1\n").unwrap();
        let again = tail.look();
        assert_eq!((again.begins, again.lines), (true, vec![b"1\n".to_vec()]));
    }
}
