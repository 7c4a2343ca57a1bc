//! Text of targets made fit for people: the end of a log, and any foreign text without control characters.
//!
//! Invariant: what comes out is bounded and cannot move a terminal's cursor or reverse its reading direction.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// Lines of a log that an error shows.
const TAIL_LINES: usize = 30;
/// Bytes read from the end of a log; the rest of a huge log is never touched.
const TAIL_BYTES: u64 = 16 * 1024;
/// Characters shown of one line.
const LINE_CHARS: usize = 400;

/// The last lines of a log, indented for an error text; says so where there are none.
pub(crate) fn tail(log: &Path) -> String {
    let bytes = match last_bytes(log) {
        Ok(bytes) => bytes,
        Err(error) => return format!("\n  log {}: cannot be read: {error}", log.display()),
    };
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    if lines.is_empty() {
        return format!("\n  log {} is empty", log.display());
    }
    let shown = &lines[lines.len().saturating_sub(TAIL_LINES)..];
    let mut out = format!("\n  last lines of {}:", log.display());
    for line in shown {
        let _ = write!(out, "\n  | {}", clean(line, LINE_CHARS));
    }
    out
}

/// The last lines of a log, at most `most`, bounded and clean: of a long log only its end is read.
///
/// # Errors
/// When it cannot be read.
pub fn last_lines(log: &Path, most: usize) -> std::io::Result<Vec<String>> {
    let bytes = last_bytes(log)?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    Ok(lines[lines.len().saturating_sub(most)..].iter().map(|line| clean(line, LINE_CHARS)).collect())
}

/// `text` with control and direction characters removed, cut after `max_chars` characters.
pub(crate) fn clean(text: &str, max_chars: usize) -> String {
    let mut visible = text.chars().map(|c| if c == '\t' { ' ' } else { c }).filter(|c| !is_hidden(*c));
    let mut out: String = visible.by_ref().take(max_chars).collect();
    if visible.next().is_some() {
        out.push('…');
    }
    out
}

fn is_hidden(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn last_bytes(log: &Path) -> std::io::Result<Vec<u8>> {
    let mut file = File::open(log)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
    let mut bytes = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_is_the_end_and_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("t.log");
        let text: String = (0..10_000).map(|n| format!("line {n}\n")).collect();
        std::fs::write(&log, text).unwrap();
        let shown = tail(&log);
        assert_eq!(shown.lines().filter(|line| line.starts_with("  | ")).count(), TAIL_LINES);
        assert!(shown.ends_with("| line 9999"), "{shown}");
        std::fs::write(&log, "").unwrap();
        assert!(tail(&log).ends_with("is empty"));
        assert!(tail(&folder.path().join("none")).contains("cannot be read"));
    }

    #[test]
    fn foreign_text_cannot_steer_the_terminal() {
        assert_eq!(clean("a\x1b[31mred\u{9b}\r\u{202e}x\ty", 99), "a[31mredx y");
        assert_eq!(clean("abcdef", 3), "abc…");
    }
}
