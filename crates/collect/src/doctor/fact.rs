//! How one file of the kernel becomes one fact: a table row with a judge.

use crate::{Roots, text};
use schema::doctor::{Amount, Bearing, Fact, Severity};
use schema::said;
use schema::said::Said;
use std::path::PathBuf;

/// Longest value that is repeated from a file.
pub(super) const VALUE_CHARS_MAX: usize = 400;

/// What a fact is about; the same whatever was found.
#[derive(Clone, Copy, Debug)]
pub(super) struct About {
    pub(super) id: &'static str,
    pub(super) title: fn() -> Said,
    /// Which measured numbers depend on it.
    pub(super) bearing: Bearing,
    /// What it does to a measurement.
    pub(super) effect: fn() -> Said,
}

/// What was found and how much it matters.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Judgement {
    pub(super) value: Said,
    pub(super) severity: Severity,
    pub(super) remedy: Option<Said>,
    /// What tells two hosts apart where the text of the value always differs a little.
    pub(super) amount: Option<Amount>,
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
        let mut fact = Fact {
            id: self.id.to_owned(),
            title: (self.title)(),
            value: None,
            severity: Severity::Note,
            effect: (self.effect)(),
            remedy: None,
            bearing: self.bearing,
            amount: None,
        };
        if let Some(found) = judgement {
            fact.value = Some(short(found.value));
            fact.severity = found.severity;
            fact.remedy = found.remedy;
            fact.amount = found.amount;
        }
        fact
    }
}

impl Judgement {
    pub(super) fn ok(value: impl Into<Said>) -> Self {
        Self { value: value.into(), severity: Severity::Ok, remedy: None, amount: None }
    }

    pub(super) fn note(value: impl Into<Said>, remedy: impl Into<Said>) -> Self {
        Self::of(Severity::Note, value, remedy)
    }

    pub(super) fn warning(value: impl Into<Said>, remedy: impl Into<Said>) -> Self {
        Self::of(Severity::Warning, value, remedy)
    }

    pub(super) fn problem(value: impl Into<Said>, remedy: impl Into<Said>) -> Self {
        Self::of(Severity::Problem, value, remedy)
    }

    /// What is as it should be needs no remedy.
    pub(super) fn of(severity: Severity, value: impl Into<Said>, remedy: impl Into<Said>) -> Self {
        let remedy = (severity > Severity::Ok).then(|| remedy.into());
        Self { value: value.into(), severity, remedy, amount: None }
    }

    /// Two hosts differ in this fact where the values are further apart than this share of the larger.
    pub(super) fn amounting(mut self, value: f64, tolerance: f64) -> Self {
        self.amount = Some(Amount { value, tolerance });
        self
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

/// The file as text, or nothing; bytes that no kernel writes here are as good as nothing.
pub(super) fn read_text(path: PathBuf) -> Option<String> {
    let is_strange = |c: char| c.is_control() && !c.is_ascii_whitespace();
    String::from_utf8(text::read_optional(&path)?).ok().filter(|text| !text.contains(is_strange))
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

/// What a file says is repeated up to a length; a sentence is as long as it is.
fn short(value: Said) -> Said {
    if value.id().is_empty() {
        Said::plain(value.chars().take(VALUE_CHARS_MAX).collect::<String>())
    } else {
        value
    }
}

pub(super) fn on() -> Said {
    said!("fact.on", "on")
}

pub(super) fn off() -> Said {
    said!("fact.off", "off")
}

pub(super) fn none() -> Said {
    said!("fact.none", "none")
}

/// A share in percent, with so many digits after the point.
pub(super) fn percent(share: f64, digits: usize) -> String {
    format!("{:.digits$} %", 100.0 * share)
}

/// Bytes for people.
pub(super) fn gib(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))
}
