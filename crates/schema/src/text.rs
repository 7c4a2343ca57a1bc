//! Reading TOML written by people: an error names the file, line, column and key, the cause and the remedy.
//!
//! Absent on purpose: opening files (callers hand in the text), and any default for a key (plans are resolved later).

use serde::de::DeserializeOwned;
use std::fmt;
use toml::de::{DeTable, DeValue};

/// What is wrong with a user's file, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct FileError {
    /// The file as the user named it.
    pub file: String,
    /// Line and column, counted from 1, where they are known.
    pub at: Option<(usize, usize)>,
    /// What is wrong.
    pub cause: String,
    /// What to do about it.
    pub remedy: Option<String>,
}

/// What stands between an error's cause and its remedy.
const REMEDY: &str = "\n  remedy: ";

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some((line, column)) = self.at {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.cause)?;
        match &self.remedy {
            Some(remedy) => write!(f, "{REMEDY}{remedy}"),
            None => Ok(()),
        }
    }
}

/// The parts of an error's text, as prony prints errors: the cause, and the remedy where it has one.
#[must_use]
pub fn cause_and_remedy(text: &str) -> (&str, Option<&str>) {
    match text.split_once(REMEDY) {
        Some((cause, remedy)) => (cause, Some(remedy)),
        None => (text, None),
    }
}

/// A mistake in the meaning of a file, found after parsing; becomes a [`FileError`] by [`Problem::locate`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where: table names and array indices from the root, for example `["claim", "0", "metric"]`.
    pub key: Vec<String>,
    /// What is wrong.
    pub cause: String,
    /// What to do about it.
    pub remedy: String,
}

impl Problem {
    /// A problem at a dotted key path such as `claim.0.metric`.
    pub fn at(key: &str, cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { key: key.split('.').map(str::to_owned).collect(), cause: cause.into(), remedy: remedy.into() }
    }

    /// Finds the line of the key, or of the nearest table above it that is written in the file.
    #[must_use]
    pub fn locate(self, file: &str, text: &str) -> FileError {
        let offset = DeTable::parse(text).ok().and_then(|root| offset_of(root.get_ref(), &self.key));
        FileError {
            file: file.to_owned(),
            at: offset.map(|offset| line_and_column(text, offset)),
            cause: format!("{} (key `{}`)", self.cause, self.key.join(".")),
            remedy: Some(self.remedy),
        }
    }
}

/// Parses `text` into `T`, whose serde form must reject unknown fields.
///
/// # Errors
/// Syntax errors, wrong types, unknown keys (with the nearest valid key), each with line and column.
pub fn parse_toml<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, FileError> {
    toml::from_str(text).map_err(|error| {
        let (cause, remedy) = explain(error.message());
        FileError {
            file: file.to_owned(),
            at: error.span().map(|span| line_and_column(text, span.start)),
            cause,
            remedy,
        }
    })
}

/// Longer names are no slips of the pen; comparing costs time and memory by the product of the lengths.
const NAME_BYTES_MAX: usize = 200;

/// The candidate most like `wrong`, where one is near enough to be meant (Damerau-Levenshtein similarity ≥ 0.5).
#[must_use]
pub fn nearest<'a>(wrong: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .filter(|candidate| wrong.len().max(candidate.len()) <= NAME_BYTES_MAX)
        .map(|candidate| (strsim::normalized_damerau_levenshtein(wrong, candidate), candidate))
        .filter(|(likeness, _)| *likeness >= 0.5)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// Rewrites the texts of serde and of the TOML parser into a cause and a remedy.
pub(crate) fn explain(message: &str) -> (String, Option<String>) {
    let (kind, what) = match message {
        m if m.starts_with("unknown field `") => ("key", "unknown field `"),
        m if m.starts_with("unknown variant `") => ("value", "unknown variant `"),
        _ => return (message.trim().to_owned(), Some(what_to_write(message))),
    };
    let mut quoted = message[what.len() - 1..].split('`').skip(1).step_by(2);
    let wrong = quoted.next().unwrap_or_default();
    let valid: Vec<&str> = quoted.collect();
    let remedy = match nearest(wrong, valid.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if valid.is_empty() => "remove it; nothing is set here".to_owned(),
        None => format!("use one of: {}", valid.join(", ")),
    };
    (format!("unknown {kind} `{wrong}`"), Some(remedy))
}

/// The remedy that lies in a message: what is missing, what was expected, or what the message itself advises.
fn what_to_write(message: &str) -> String {
    let message = message.trim();
    if let Some(key) = message.strip_prefix("missing field ") {
        return format!("add {key}");
    }
    if let Some((_, advice)) = message.rsplit_once("; write ") {
        return format!("write {advice}");
    }
    if let Some((_, wanted)) = message.rsplit_once("expected ") {
        return format!("write {wanted}");
    }
    "mend what stands here; docs/guides/experiment-file.md has an example of each key".to_owned()
}

/// The byte offset of the deepest part of `path` that exists.
fn offset_of(table: &DeTable<'_>, path: &[String]) -> Option<usize> {
    let (first, rest) = path.split_first()?;
    let (key, value) = table.iter().find(|(key, _)| key.get_ref() == first.as_str())?;
    Some(offset_in_value(value.get_ref(), rest).unwrap_or(key.span().start))
}

fn offset_in_value(value: &DeValue<'_>, path: &[String]) -> Option<usize> {
    match value {
        DeValue::Table(table) => offset_of(table, path),
        DeValue::Array(items) => {
            let (index, rest) = path.split_first()?;
            let item = items.get(index.parse::<usize>().ok()?)?;
            Some(offset_in_value(item.get_ref(), rest).unwrap_or(item.span().start))
        }
        _ => None,
    }
}

fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let column = String::from_utf8_lossy(before.rsplit(|byte| *byte == b'\n').next().unwrap_or_default());
    (line, column.chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::ExperimentFile;

    fn check(text: &str, expected: &str) {
        let error = parse_toml::<ExperimentFile>("e.toml", text).expect_err("must be refused");
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn unknown_keys_come_with_place_and_suggestion() {
        check(
            "[experiment]\nname = \"x\"\n[load]\nmodel = \"closed\"\nconections = 3\n",
            "e.toml:5:1: unknown key `conections`\n  remedy: did you mean `connections`?",
        );
        check(
            "[experiment]\nname = \"x\"\n[load]\nmodel = \"close\"\n",
            "e.toml:4:9: unknown value `close`\n  remedy: did you mean `closed`?",
        );
    }

    #[test]
    fn syntax_and_types_are_located() {
        let error = parse_toml::<ExperimentFile>("e.toml", "[experiment\n").unwrap_err();
        assert_eq!(error.at, Some((1, 12)));
        let error = parse_toml::<ExperimentFile>("e.toml", "[experiment]\nname = 3\n").unwrap_err();
        assert_eq!(error.at, Some((2, 8)));
    }

    #[test]
    fn a_text_is_taken_apart_as_it_was_put_together() {
        let mut error = FileError { file: "f".into(), at: None, cause: "c".into(), remedy: Some("r".into()) };
        assert_eq!(cause_and_remedy(&error.to_string()), ("f: c", Some("r")));
        error.remedy = None;
        assert_eq!(cause_and_remedy(&error.to_string()), ("f: c", None));
    }

    #[test]
    fn every_mistake_has_a_remedy() {
        for (text, remedy) in [
            ("[experiment]\nname = 3\n", "write a string"),
            ("[experiment]\n", "add `name`"),
            ("[experiment]\nname = \"x\"\nblocks = \"x\"\n", "write for example 1000, 10k or 1m"),
            ("[experiment]\nname = \"x\"\nblocks = -1\n", "mend what stands here"),
        ] {
            let error = parse_toml::<ExperimentFile>("e.toml", text).expect_err("must be refused");
            assert!(error.remedy.as_deref().is_some_and(|got| got.starts_with(remedy)), "{error}");
        }
    }

    #[test]
    fn long_names_are_not_compared() {
        let long = "x".repeat(1 << 20);
        let almost = format!("{long}y");
        assert_eq!(nearest(&long, [almost.as_str(), "x"]), None);
    }

    #[test]
    fn problems_find_their_line_or_the_table_above() {
        let text = "[experiment]\nname = \"x\"\n\n[[claim]]\ntext = \"t\"\nmetric = \"p98\"\n";
        let place = |key: &str| Problem::at(key, "c", "r").locate("e.toml", text).at;
        assert_eq!(place("claim.0.metric"), Some((6, 1)));
        assert_eq!(place("claim.0.better"), Some((4, 1)));
        assert_eq!(place("experiment.name"), Some((2, 1)));
        assert_eq!(place("scenario.use"), None);
    }
}
