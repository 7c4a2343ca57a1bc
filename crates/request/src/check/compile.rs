//! From a plan's expectations and captures to a [`Check`]. Every mistake in them is reported here, before any
//! load is sent.

use super::Check;
use super::capture::{CaptureRule, Place};
use super::content::{Content, HeaderRule, JsonRule};
use super::json::Pointer;
use super::status::StatusSet;
use super::text_rule::TextRule;
use memchr::memmem::Finder;
use regex::bytes::Regex;
use schema::plan::{BodyExpectation, ExpectPlan};
use schema::scenario::{Capture, LengthRange};
use std::collections::BTreeMap;
use std::fmt;

/// Checks of one request; more are surely a mistake of a program that wrote the file.
const CHECKS_MAX: usize = 1000;
/// Characters shown of a text in the name of a check.
const SHOWN_CHARS: usize = 80;

/// What is wrong with an expectation or a capture.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {cause}\n  remedy: {remedy}")]
pub struct CheckError {
    /// Where, dotted, as seen from the request: `expect.regex.1`, `capture.user.json`.
    pub key: String,
    /// What is wrong.
    pub cause: String,
    /// What to do about it.
    pub remedy: String,
}

impl CheckError {
    fn new(key: impl Into<String>, cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { key: key.into(), cause: cause.into(), remedy: remedy.into() }
    }
}

impl Check {
    /// Compiles the expectations of one request and the values to be taken from its answers.
    ///
    /// `exact_body` is the body that must come byte for byte; where it is absent, an exact body of the plan stands for
    /// it, and a JSON body of the plan is compared by meaning. `capture_index` gives the index by which
    /// [`super::Notes::captured`] tells a name. With `cookies`, the cookies of every answer are collected.
    ///
    /// # Errors
    /// A regular expression, JSON pointer, checksum, length or share that is none, a capture that does not say where
    /// from, or more than 1000 checks.
    pub fn compile(
        expect: &ExpectPlan,
        exact_body: Option<Vec<u8>>,
        capture: &BTreeMap<String, Capture>,
        capture_index: &dyn Fn(&str) -> usize,
        cookies: bool,
    ) -> Result<Self, CheckError> {
        let mut content = Content { collects_cookies: cookies, ..Content::default() };
        let mut body = exact_body;
        // A body that was seen before is compared as it comes, coded or not; one that is written down is meant.
        let decodes_body = body.is_none() || matches!(&expect.body, BodyExpectation::Exact(_));
        if body.is_none() {
            match &expect.body {
                BodyExpectation::Any => {}
                BodyExpectation::Exact(text) => body = Some(text.clone().into_bytes()),
                BodyExpectation::Json(value) => {
                    let number = content.name("json".to_owned())?;
                    let pointer = Pointer::default();
                    content.json.push(JsonRule { pointer, expected: Some(value.clone()), number });
                }
            }
        }
        content.add_outside(expect)?;
        content.add_followed(expect)?;
        content.add_kept(expect)?;
        // Those of messages are the call's.
        for (name, capture) in capture.iter().filter(|(_, capture)| capture.message.is_none()) {
            content.add_capture(name, capture, capture_index(name))?;
        }
        content.threshold = threshold(expect.sample)?;
        let is_plain = content.names.is_empty() && !cookies;
        let content = (!is_plain).then(|| Box::new(content));
        Ok(Self { status: StatusSet::new(&expect.status), body, decodes_body, content, call: None })
    }
}

impl Content {
    /// Gives a check its number.
    fn name(&mut self, name: String) -> Result<u16, CheckError> {
        if self.names.len() >= CHECKS_MAX {
            let cause = format!("there are more than {CHECKS_MAX} checks");
            return Err(CheckError::new("expect", cause, "keep those that matter"));
        }
        self.names.push(name);
        Ok(self.names.len() as u16 - 1)
    }

    /// Header fields and length.
    fn add_outside(&mut self, expect: &ExpectPlan) -> Result<(), CheckError> {
        for (name, prefix) in &expect.headers {
            let name = name.to_ascii_lowercase();
            let number = self.name(format!("header {name}"))?;
            self.headers.push(HeaderRule { name, prefix: prefix.clone().into_bytes(), number });
        }
        if let Some(range) = expect.length {
            let name = length_name(range)?;
            self.length = Some((range, self.name(name)?));
        }
        Ok(())
    }

    /// Texts and the checksum.
    fn add_followed(&mut self, expect: &ExpectPlan) -> Result<(), CheckError> {
        for (place, text) in expect.contains.iter().enumerate() {
            if text.is_empty() {
                let (key, cause) = (format!("expect.contains.{place}"), "every body contains the empty text");
                return Err(CheckError::new(key, cause, "give a text, or remove it"));
            }
            let number = self.name(format!("contains \"{}\"", Shown(text)))?;
            self.text_bytes_max = self.text_bytes_max.max(text.len());
            self.contains.push(TextRule { finder: Finder::new(text).into_owned(), number });
        }
        if let Some(text) = &expect.sha256 {
            let digest = sha256_of(text)?;
            self.sha256 = Some((digest, self.name(format!("sha256 {}", text.to_ascii_lowercase()))?));
        }
        Ok(())
    }

    /// Regular expressions and JSON.
    fn add_kept(&mut self, expect: &ExpectPlan) -> Result<(), CheckError> {
        for (place, pattern) in expect.regex.iter().enumerate() {
            let regex = regex_of(&format!("expect.regex.{place}"), pattern)?;
            let number = self.name(format!("regex \"{}\"", Shown(pattern)))?;
            self.regex.push((regex, number));
        }
        for (place, text) in expect.json_has.iter().enumerate() {
            let pointer = pointer_of(&format!("expect.json_has.{place}"), text)?;
            let number = self.name(format!("json_has {}", PointerName(text)))?;
            self.json.push(JsonRule { pointer, expected: None, number });
        }
        for (text, value) in &expect.json_equals {
            let pointer = pointer_of("expect.json_equals", text)?;
            let value_shown = value.to_string();
            let name = format!("json_equals {} = {}", PointerName(text), Shown(&value_shown));
            let number = self.name(name)?;
            self.json.push(JsonRule { pointer, expected: Some(value.clone()), number });
        }
        Ok(())
    }

    fn add_capture(&mut self, name: &str, capture: &Capture, index: usize) -> Result<(), CheckError> {
        let key = format!("capture.{name}");
        let (from, words) = match (&capture.header, &capture.cookie, &capture.json, &capture.regex) {
            (Some(header), None, None, None) => (
                Place::Header(header.to_ascii_lowercase()),
                format!("header {}", header.to_ascii_lowercase()),
            ),
            (None, Some(cookie), None, None) => (Place::Cookie(cookie.clone()), format!("cookie {cookie}")),
            (None, None, Some(text), None) => {
                let pointer = pointer_of(&format!("{key}.json"), text)?;
                (Place::Json(pointer), format!("json {}", PointerName(text)))
            }
            (None, None, None, Some(pattern)) => {
                let regex = regex_of(&format!("{key}.regex"), pattern)?;
                (Place::Regex(regex), format!("regex \"{}\"", Shown(pattern)))
            }
            (None, None, None, None) => {
                let remedy = "give one of header, cookie, json, regex";
                return Err(CheckError::new(key, "nothing says where the value is taken from", remedy));
            }
            _ => {
                let remedy = "keep one of header, cookie, json, regex";
                return Err(CheckError::new(key, "the value is taken from more than one place", remedy));
            }
        };
        let number = self.name(format!("capture {name}: {words}"))?;
        let default = capture.default.clone().map(String::into_bytes);
        self.captures.push(CaptureRule { index, from, default, number });
        Ok(())
    }
}

/// Compiles a regular expression over bytes.
fn regex_of(key: &str, pattern: &str) -> Result<Regex, CheckError> {
    // The parser of the same project tells the position, which the compiler only draws.
    let parsed = regex_syntax::ParserBuilder::new().utf8(false).build().parse(pattern);
    let (what, at) = match &parsed {
        Ok(_) => {
            return Regex::new(pattern).map_err(|error| {
                let cause = format!("the regular expression `{}` cannot be used: {error}", Shown(pattern));
                CheckError::new(key, cause, "write a smaller one")
            });
        }
        Err(regex_syntax::Error::Parse(error)) => (error.kind().to_string(), error.span().start),
        Err(regex_syntax::Error::Translate(error)) => (error.kind().to_string(), error.span().start),
        Err(other) => (other.to_string(), regex_syntax::ast::Position::new(0, 1, 1)),
    };
    let line = if at.line > 1 { format!("line {}, ", at.line) } else { String::new() };
    let cause = format!(
        "the regular expression `{}` is wrong at {line}character {}: {what}",
        Shown(pattern),
        at.column
    );
    Err(CheckError::new(
        key,
        cause,
        "mend it there; a character that is meant itself is written with \\ before it",
    ))
}

fn pointer_of(key: &str, text: &str) -> Result<Pointer, CheckError> {
    Pointer::parse(text).map_err(|cause| {
        CheckError::new(
            key,
            cause,
            "write / before every step, ~1 for a / and ~0 for a ~ within one, as in /items/0/id",
        )
    })
}

fn sha256_of(text: &str) -> Result<[u8; 32], CheckError> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|digit| digit.to_digit(16).map(|digit| digit as u8)).collect();
    let bytes = digits.filter(|digits| digits.len() == 64).map(|digits| {
        let mut bytes = [0; 32];
        digits.chunks_exact(2).zip(&mut bytes).for_each(|(pair, byte)| *byte = pair[0] << 4 | pair[1]);
        bytes
    });
    bytes.ok_or_else(|| {
        let cause = format!("`{}` is no SHA-256: it takes 64 hexadecimal digits", Shown(text));
        CheckError::new("expect.sha256", cause, "write what `sha256sum FILE` prints of the body")
    })
}

fn length_name(range: LengthRange) -> Result<String, CheckError> {
    match (range.at_least, range.at_most) {
        (Some(least), Some(most)) if least > most => {
            let cause = format!("no length is at least {least} and at most {most}");
            Err(CheckError::new("expect.length", cause, "exchange the two"))
        }
        (Some(least), Some(most)) => Ok(format!("length {least} to {most} bytes")),
        (Some(least), None) => Ok(format!("length at least {least} bytes")),
        (None, Some(most)) => Ok(format!("length at most {most} bytes")),
        (None, None) => {
            Err(CheckError::new("expect.length", "no bound is given", "give at_least, at_most or both"))
        }
    }
}

/// The largest hash of an answer that is examined.
fn threshold(sample: Option<f64>) -> Result<Option<u64>, CheckError> {
    match sample {
        None => Ok(None),
        Some(share) if share > 0.0 && share < 1.0 => Ok(Some((share * 2_f64.powi(64)) as u64)),
        Some(1.0) => Ok(None),
        Some(share) => {
            let cause = format!("{share} is no share of the answers");
            Err(CheckError::new("expect.sample", cause, "give a number above 0 and at most 1, as 0.01"))
        }
    }
}

/// A text, shortened, on one line.
struct Shown<'a>(&'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars().take(SHOWN_CHARS) {
            if character.is_control() {
                write!(f, "{}", character.escape_default())?;
            } else {
                write!(f, "{character}")?;
            }
        }
        if self.0.chars().nth(SHOWN_CHARS).is_some() { f.write_str("…") } else { Ok(()) }
    }
}

/// A pointer; that of the whole document would not be seen.
struct PointerName<'a>(&'a str);

impl fmt::Display for PointerName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { f.write_str("\"\"") } else { Shown(self.0).fmt(f) }
    }
}
