//! The checks beyond status and exact body, compiled.
//!
//! Invariants: header fields and length are judged of every answer; the body is put to the other checks only where
//! the answer belongs to the sample. Texts and the checksum are followed as the body comes; regular expressions and
//! JSON read the kept body, which is bounded. Parsing JSON and nothing else here allocates for each answer.

use super::capture::CaptureRule;
use super::json::{Pointer, means_the_same};
use super::notes::{BODY_BYTES_MAX, Notes};
use super::text_rule::TextRule;
use super::undecoded::TOO_LONG;
use regex::bytes::Regex;
use schema::scenario::LengthRange;
use serde_json::Value;
use units::Seed;
use wire::Header;

/// The checks beyond status and exact body. Every `number` is the check's place in `names`.
#[derive(Clone, Debug, Default)]
pub(super) struct Content {
    /// The checks in words.
    pub(super) names: Vec<String>,
    pub(super) headers: Vec<HeaderRule>,
    pub(super) length: Option<(LengthRange, u16)>,
    pub(super) contains: Vec<TextRule>,
    /// Length of the longest text of `contains`.
    pub(super) text_bytes_max: usize,
    pub(super) sha256: Option<([u8; 32], u16)>,
    pub(super) regex: Vec<(Regex, u16)>,
    pub(super) json: Vec<JsonRule>,
    pub(super) captures: Vec<CaptureRule>,
    pub(super) collects_cookies: bool,
    /// Answers whose hash is at most this are examined; all where absent.
    pub(super) threshold: Option<u64>,
    pub(super) seed: u64,
}

/// A header field of this name must have a value that begins so.
#[derive(Clone, Debug)]
pub(super) struct HeaderRule {
    pub(super) name: String,
    pub(super) prefix: Vec<u8>,
    pub(super) number: u16,
}

/// A place in the body must exist and, where a value is given, mean the same.
#[derive(Clone, Debug)]
pub(super) struct JsonRule {
    pub(super) pointer: Pointer,
    pub(super) expected: Option<Value>,
    pub(super) number: u16,
}

/// What is known of a complete answer beside its notes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) failed_header: Option<u16>,
    /// Length of the body as it came, and without its coding.
    pub(super) body_bytes: usize,
    pub(super) plain_bytes: usize,
    /// Whether the answer belongs to the sample.
    pub(super) is_examined: bool,
}

impl Content {
    /// Whether the answer of this number belongs to the sample: a hash of seed and number, so that neither order nor
    /// workers matter.
    #[inline]
    pub(super) fn examines(&self, number: u64) -> bool {
        self.threshold.is_none_or(|threshold| Seed(self.seed).derive("", number).0 <= threshold)
    }

    /// Whether the body must be kept for what is to be done with it.
    pub(super) fn needs_body(&self, is_examined: bool) -> bool {
        is_examined && !(self.regex.is_empty() && self.json.is_empty())
            || self.captures.iter().any(CaptureRule::reads_body)
    }

    /// Whether any check or capture reads the body, in part or whole.
    pub(super) fn reads_body(&self, is_examined: bool) -> bool {
        is_examined && (!self.contains.is_empty() || self.sha256.is_some()) || self.needs_body(is_examined)
    }

    /// The first check of a header field that fails.
    pub(super) fn failed_header(&self, headers: &[Header<'_>]) -> Option<u16> {
        let fits = |rule: &HeaderRule| {
            headers.iter().any(|header| {
                header.name.eq_ignore_ascii_case(&rule.name) && header.value.starts_with(&rule.prefix)
            })
        };
        self.headers.iter().find(|rule| !fits(rule)).map(|rule| rule.number)
    }

    /// Makes notes ready for the checks that follow the body as it comes.
    pub(super) fn expect(&self, notes: &mut Notes) {
        notes.expect(self.contains.len() as u16, self.sha256.is_some());
    }

    /// Gives the next part of the body to the checks that follow it.
    pub(super) fn follow(&self, bytes: &[u8], notes: &mut Notes) {
        if self.sha256.is_some() {
            notes.digest(bytes);
        }
        notes.look_for_texts(&self.contains, self.text_bytes_max, bytes);
    }

    /// Captures values and collects cookies from the header section.
    pub(super) fn take_from_headers(&self, headers: &[Header<'_>], notes: &mut Notes) {
        for capture in &self.captures {
            capture.take_from_headers(headers, notes);
        }
        if self.collects_cookies {
            let fields = headers.iter().filter(|header| header.name.eq_ignore_ascii_case("set-cookie"));
            fields.for_each(|field| notes.keep_cookie(field.value));
        }
    }

    /// The first check that fails, once the answer is complete; captures what is to be taken from the body.
    pub(super) fn failure(&self, seen: Seen, notes: &mut Notes) -> Option<u16> {
        if seen.failed_header.is_some() {
            return seen.failed_header;
        }
        if let Some((range, number)) = &self.length
            && !is_within(*range, seen.body_bytes)
        {
            return Some(*number);
        }
        if let Some(undecoded) = notes.undecoded() {
            return Some(undecoded.number());
        }
        if seen.is_examined
            && let Some(number) = self.followed(notes)
        {
            return Some(number);
        }
        if self.needs_body(seen.is_examined) && seen.plain_bytes > BODY_BYTES_MAX {
            return Some(TOO_LONG);
        }
        self.kept(seen.is_examined, notes)
    }

    /// The checks that followed the body as it came.
    fn followed(&self, notes: &mut Notes) -> Option<u16> {
        if let Some(place) = notes.missing_text() {
            return Some(self.contains[usize::from(place)].number);
        }
        let (expected, number) = self.sha256.as_ref()?;
        (notes.sha256() != *expected).then_some(*number)
    }

    /// The checks and captures that read the kept body.
    fn kept(&self, is_examined: bool, notes: &mut Notes) -> Option<u16> {
        if is_examined
            && let Some((_, number)) = self.regex.iter().find(|(regex, _)| !regex.is_match(notes.body()))
        {
            return Some(*number);
        }
        let reads_json =
            is_examined && !self.json.is_empty() || self.captures.iter().any(CaptureRule::reads_json);
        // The parser refuses nesting deeper than 128, so that no document exhausts the stack.
        let document: Option<Value> =
            if reads_json { serde_json::from_slice(notes.body()).ok() } else { None };
        if is_examined && let Some(rule) = self.json.iter().find(|rule| !rule.holds(document.as_ref())) {
            return Some(rule.number);
        }
        let missing = self.captures.iter().find(|capture| !capture.take(document.as_ref(), notes));
        missing.map(|capture| capture.number)
    }
}

impl JsonRule {
    fn holds(&self, document: Option<&Value>) -> bool {
        let found = document.and_then(|document| self.pointer.find(document));
        found.is_some_and(|found| {
            self.expected.as_ref().is_none_or(|expected| means_the_same(found, expected))
        })
    }
}

fn is_within(range: LengthRange, bytes: usize) -> bool {
    let bytes = bytes as u64;
    range.at_least.is_none_or(|least| bytes >= least) && range.at_most.is_none_or(|most| bytes <= most)
}
