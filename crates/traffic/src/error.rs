//! What can be wrong with a log or with what is to be made of it, each with its remedy.

use std::path::{Path, PathBuf};

/// Most characters of a foreign line that are shown.
const SHOWN_CHARS_MAX: usize = 120;

/// Why a log cannot be modelled or replayed.
#[derive(Debug, thiserror::Error)]
pub enum TrafficError {
    /// A file cannot be read or written.
    #[error("cannot {action} {file}: {source}\n  remedy: check the path and its permissions", file = file.display())]
    Io {
        /// What was tried, for example `read`.
        action: &'static str,
        /// The file.
        file: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// None of the first lines is of a known format, or of the one that was asked for.
    #[error(
        "{file}: no line of the first {tried} is {wanted}; line 1 is `{line}`\n  remedy: name the format with \
         --format common, combined, json or csv; other formats must be rewritten to one of them",
        file = file.display()
    )]
    Format {
        /// The log.
        file: PathBuf,
        /// Lines that were tried.
        tried: usize,
        /// The format, in words.
        wanted: &'static str,
        /// Its first line, cleaned and cut.
        line: String,
    },
    /// The log has no lines.
    #[error("{file} is empty\n  remedy: give a log with at least two requests", file = file.display())]
    Empty {
        /// The log.
        file: PathBuf,
    },
    /// There is too little in the log.
    #[error("{cause}\n  remedy: {remedy}")]
    TooLittle {
        /// What is missing.
        cause: String,
        /// What to do.
        remedy: &'static str,
    },
    /// There is more in the log than can be replayed.
    #[error("{cause}\n  remedy: {remedy}")]
    TooMuch {
        /// Which limit was passed.
        cause: String,
        /// What to do.
        remedy: &'static str,
    },
}

impl TrafficError {
    /// For `map_err`: what was tried on which file.
    pub(crate) fn io(action: &'static str, file: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let file = file.to_owned();
        move |source| Self::Io { action, file, source }
    }
}

/// A foreign line fit for a terminal: control characters and bytes that are no UTF-8 become `?`, and it is cut.
#[must_use]
pub fn cleaned(line: &[u8]) -> String {
    let head = &line[..line.len().min(4 * SHOWN_CHARS_MAX)];
    let text = String::from_utf8_lossy(head);
    let clean = |c: char| if c.is_control() || c == '\u{fffd}' || is_invisible(c) { '?' } else { c };
    let mut shown: String = text.chars().take(SHOWN_CHARS_MAX).map(clean).collect();
    if text.chars().count() > SHOWN_CHARS_MAX || head.len() < line.len() {
        shown.push('…');
    }
    shown
}

/// Marks that turn the direction of text or hide.
const fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_cannot_write_to_the_terminal() {
        assert_eq!(cleaned(b"a\x1b[31mb\xff\r"), "a?[31mb??");
        assert_eq!(cleaned("a\u{202e}b".as_bytes()), "a?b");
        let long = cleaned(&[b'x'; 10_000]);
        assert_eq!(long.chars().count(), SHOWN_CHARS_MAX + 1);
        assert!(long.ends_with('…'));
    }
}
