//! What is wrong with a table: where, why, and what to do about it.

use std::fmt;

/// A file in which no table can be read, or an option that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct AuditError {
    /// The file as the user named it.
    pub file: String,
    /// Line, counted from 1, where it is known.
    pub line: Option<usize>,
    /// What is wrong.
    pub cause: String,
    /// What to do about it.
    pub remedy: String,
}

impl fmt::Display for AuditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}\n  remedy: {}", self.cause, self.remedy)
    }
}

/// An [`AuditError`] before the file's name is put to it.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) line: Option<usize>,
    pub(crate) cause: String,
    pub(crate) remedy: String,
}

impl Problem {
    pub(crate) fn new(cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { line: None, cause: cause.into(), remedy: remedy.into() }
    }

    pub(crate) fn at(line: usize, cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { line: Some(line), cause: cause.into(), remedy: remedy.into() }
    }

    /// Place and cause, without the remedy.
    pub(crate) fn in_words(&self) -> String {
        self.line.map_or_else(|| self.cause.clone(), |line| format!("line {line}: {}", self.cause))
    }

    pub(crate) fn in_file(self, file: &str) -> AuditError {
        let file = file.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
        AuditError { file, line: self.line, cause: self.cause, remedy: self.remedy }
    }
}

/// Longest piece of a foreign text that is quoted in a message.
const QUOTED_CHARS_MAX: usize = 60;

/// A foreign text for a message: in one line, without control characters, and cut where it is long.
pub(crate) fn quoted(text: &str) -> String {
    format!("`{}`", shown(text))
}

/// As [`quoted`], without the marks.
pub(crate) fn shown(text: &str) -> String {
    let mut shown: String = text
        .chars()
        .take(QUOTED_CHARS_MAX)
        .map(|char| match char {
            '\t' | '\n' | '\r' => ' ',
            char if char.is_control() => '\u{fffd}',
            char => char,
        })
        .collect();
    if text.chars().nth(QUOTED_CHARS_MAX).is_some() {
        shown.push('…');
    }
    shown
}
