//! Lines of a stream, split in one big buffer that is filled again and again.
//!
//! Invariants: memory is that of the buffer, whatever the lines; a line longer than [`LINE_BYTES_MAX`] is reported as
//! too long, once, and skipped to its end; a last line without its newline counts.

use std::io::Read;

/// Longest line that is read: a body of 64 KiB fits with all of its characters escaped, and a URL of 8 KiB many times.
pub(crate) const LINE_BYTES_MAX: usize = 512 * 1024;
/// Size of the buffer.
const BUFFER_BYTES: usize = 1024 * 1024;

/// One line without its end, or the word that one was too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    Whole(&'a [u8]),
    TooLong(&'a [u8]),
}

/// Splits what `R` gives.
pub(crate) struct Lines<R> {
    source: R,
    buffer: Vec<u8>,
    begin: usize,
    end: usize,
    at_end: bool,
    skipping: bool,
}

impl<R: Read> Lines<R> {
    pub(crate) fn new(source: R) -> Self {
        Self { source, buffer: vec![0; BUFFER_BYTES], begin: 0, end: 0, at_end: false, skipping: false }
    }

    /// Calls `each` with every line until it returns false or the stream ends.
    pub(crate) fn for_each(&mut self, mut each: impl FnMut(Line<'_>) -> bool) -> std::io::Result<()> {
        loop {
            while let Some(length) = memchr::memchr(b'\n', &self.buffer[self.begin..self.end]) {
                let line = &self.buffer[self.begin..self.begin + length];
                self.begin += length + 1;
                if !std::mem::take(&mut self.skipping) && !each(sized(line)) {
                    return Ok(());
                }
            }
            if self.end - self.begin > LINE_BYTES_MAX {
                let head = &self.buffer[self.begin..self.begin + LINE_BYTES_MAX];
                if !std::mem::replace(&mut self.skipping, true) && !each(Line::TooLong(head)) {
                    return Ok(());
                }
                self.begin = self.end;
            }
            if self.at_end {
                let rest = &self.buffer[self.begin..self.end];
                self.begin = self.end;
                if !rest.is_empty() && !std::mem::take(&mut self.skipping) {
                    each(sized(rest));
                }
                return Ok(());
            }
            self.fill()?;
        }
    }

    /// Moves what is left to the front and reads behind it.
    fn fill(&mut self) -> std::io::Result<()> {
        self.buffer.copy_within(self.begin..self.end, 0);
        self.end -= self.begin;
        self.begin = 0;
        loop {
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.at_end = true,
                Ok(count) => self.end += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            return Ok(());
        }
    }
}

fn sized(line: &[u8]) -> Line<'_> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() > LINE_BYTES_MAX { Line::TooLong(&line[..LINE_BYTES_MAX]) } else { Line::Whole(line) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a few bytes at a time, so that lines come in pieces.
    struct Dripping<'a>(&'a [u8], usize);

    impl Read for Dripping<'_> {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            let count = self.0.len().min(self.1).min(into.len());
            into[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn lines(text: &[u8], piece: usize) -> Vec<Result<Vec<u8>, usize>> {
        let mut found = Vec::new();
        let mut lines = Lines::new(Dripping(text, piece));
        let collect = |line: Line<'_>| {
            found.push(match line {
                Line::Whole(line) => Ok(line.to_vec()),
                Line::TooLong(head) => Err(head.len()),
            });
            true
        };
        lines.for_each(collect).unwrap();
        found
    }

    #[test]
    fn any_split_gives_the_same_lines_and_long_ones_are_skipped_once() {
        for piece in [1, 3, 1 << 20] {
            assert_eq!(lines(b"a\r\n\nbc", piece), [Ok(b"a".to_vec()), Ok(vec![]), Ok(b"bc".to_vec())]);
        }
        let mut text = vec![b'x'; 3 * BUFFER_BYTES];
        text.extend_from_slice(b"\nok\n");
        assert_eq!(lines(&text, 1 << 20), [Err(LINE_BYTES_MAX), Ok(b"ok".to_vec())]);
        assert_eq!(lines(&[b'x'; LINE_BYTES_MAX + 1], 1 << 20), [Err(LINE_BYTES_MAX)]);
        let mut exact = vec![b'x'; LINE_BYTES_MAX];
        exact.extend_from_slice(b"\n1");
        assert_eq!(lines(&exact, 4096).len(), 2);
    }
}
