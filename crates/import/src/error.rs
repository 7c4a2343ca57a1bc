//! What is wrong with a foreign file: where, why, and what to do about it.

use std::fmt;

/// A file that cannot be imported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ImportError {
    /// The file as the user named it.
    pub file: String,
    /// Line, counted from 1, where it is known.
    pub line: Option<usize>,
    /// What is wrong.
    pub cause: String,
    /// What to do about it.
    pub remedy: String,
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}\n  remedy: {}", self.cause, self.remedy)
    }
}

/// An [`ImportError`] before the file's name is put to it.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) line: Option<usize>,
    pub(crate) cause: String,
    pub(crate) remedy: String,
}

impl Problem {
    pub(crate) fn new(cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { line: None, cause: cause.into(), remedy: remedy.into() }
    }

    /// Sets the line where none is known yet.
    pub(crate) fn at(mut self, line: usize) -> Self {
        self.line.get_or_insert(line);
        self
    }

    pub(crate) fn in_file(self, file: &str) -> ImportError {
        ImportError { file: file.to_owned(), line: self.line, cause: shown(&self.cause), remedy: self.remedy }
    }
}

/// Longest cause: parsers of JSON and TOML quote whole keys.
const CAUSE_CHARS_MAX: usize = 400;

/// A cause, which may quote a foreign text: on one line, and cut where it is long.
fn shown(cause: &str) -> String {
    let clean = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let mut shown: String = cause.chars().take(CAUSE_CHARS_MAX).map(clean).collect();
    if cause.chars().nth(CAUSE_CHARS_MAX).is_some() {
        shown.push('…');
    }
    shown
}

/// Longest piece of a foreign text that is quoted in a message.
const QUOTED_CHARS_MAX: usize = 60;

/// A foreign text for a message: without control characters, and cut where it is long.
pub(crate) fn quoted(text: &str) -> String {
    let mut shown: String = text
        .chars()
        .take(QUOTED_CHARS_MAX)
        .map(|char| if char.is_control() { '\u{fffd}' } else { char })
        .collect();
    if shown.len() < text.len() && text.chars().nth(QUOTED_CHARS_MAX).is_some() {
        shown.push('…');
    }
    format!("`{shown}`")
}
