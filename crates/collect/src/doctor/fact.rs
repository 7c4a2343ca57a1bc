//! How one file of the kernel becomes one fact: a table row with a judge.

use crate::{Roots, text};
use schema::doctor::{Fact, Severity};
use std::path::PathBuf;

/// Longest value that is repeated from a file.
const VALUE_CHARS_MAX: usize = 120;

/// What a fact is about; the same whatever was found.
#[derive(Clone, Copy, Debug)]
pub(super) struct About {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    /// What it does to a measurement.
    pub(super) effect: &'static str,
}

/// What was found and how much it matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Judgement {
    pub(super) value: String,
    pub(super) severity: Severity,
    pub(super) remedy: Option<String>,
}

/// A fact that one file tells. The judge gives nothing where the text makes no sense.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileFact {
    pub(super) about: About,
    pub(super) file: File,
    pub(super) judge: fn(&str) -> Option<Judgement>,
}

/// A file under one of the roots.
#[derive(Clone, Copy, Debug)]
pub(super) enum File {
    Proc(&'static str),
    Sys(&'static str),
}

impl About {
    /// The fact where something was found, else the fact without a value.
    pub(super) fn fact(&self, judgement: Option<Judgement>) -> Fact {
        let (value, severity, remedy) = match judgement {
            Some(found) => {
                (Some(found.value.chars().take(VALUE_CHARS_MAX).collect()), found.severity, found.remedy)
            }
            None => (None, Severity::Note, None),
        };
        Fact {
            id: self.id.to_owned(),
            title: self.title.to_owned(),
            value,
            severity,
            effect: self.effect.to_owned(),
            remedy,
        }
    }
}

impl Judgement {
    pub(super) fn ok(value: impl Into<String>) -> Self {
        Self { value: value.into(), severity: Severity::Ok, remedy: None }
    }

    pub(super) fn note(value: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { value: value.into(), severity: Severity::Note, remedy: Some(remedy.into()) }
    }

    pub(super) fn warning(value: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { value: value.into(), severity: Severity::Warning, remedy: Some(remedy.into()) }
    }

    pub(super) fn problem(value: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { value: value.into(), severity: Severity::Problem, remedy: Some(remedy.into()) }
    }
}

impl FileFact {
    pub(super) fn of_text(&self, text: Option<&str>) -> Fact {
        self.about.fact(text.map(str::trim).and_then(self.judge))
    }

    pub(super) fn read(&self, roots: &Roots) -> Fact {
        let path = match self.file {
            File::Proc(path) => roots.proc.join(path),
            File::Sys(path) => roots.sys.join(path),
        };
        self.of_text(read_text(path).as_deref())
    }
}

/// The file as text, or nothing.
pub(super) fn read_text(path: PathBuf) -> Option<String> {
    String::from_utf8(text::read_optional(&path)?).ok()
}

/// The number of things in a list such as `0-3,8`.
pub(super) fn list_count(list: &str) -> Option<u64> {
    let count = |part: &str| match part.split_once('-') {
        Some((low, high)) => {
            high.parse::<u32>().ok()?.checked_sub(low.parse::<u32>().ok()?).map(|d| u64::from(d) + 1)
        }
        None => part.parse::<u32>().ok().map(|_| 1),
    };
    list.trim().split(',').map(count).try_fold(0, |sum: u64, part| sum.checked_add(part?))
}

/// The value of the first line `key: value` or `key<blank>: value`.
pub(super) fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim_end() == key).then(|| value.trim())
    })
}

/// Bytes for people.
pub(super) fn gib(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))
}
