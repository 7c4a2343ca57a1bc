//! Values taken from an answer for later requests.
//!
//! Invariants: a value is one of an answer that is right; null in JSON is no value; a folded header field loses its
//! line ends. Whether a value may stand where it is used is decided there, not here.

use super::cookies::parse_set_cookie;
use super::json::{Pointer, text_of};
use super::notes::Notes;
use regex::bytes::Regex;
use serde_json::Value;
use wire::Header;

/// One value to be taken.
#[derive(Clone, Debug)]
pub(super) struct CaptureRule {
    /// What the caller knows the name by.
    pub(super) index: usize,
    pub(super) from: Place,
    /// The value where none is found; without it, that is a failed check.
    pub(super) default: Option<Vec<u8>>,
    pub(super) number: u16,
}

/// Where a value is taken from.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// The first header field of this name.
    Header(String),
    /// The cookie of this name that was set last.
    Cookie(String),
    /// A place in the body as JSON.
    Json(Pointer),
    /// The first match in the body: its first group where the expression has one.
    Regex(Regex),
}

impl CaptureRule {
    pub(super) fn reads_body(&self) -> bool {
        matches!(self.from, Place::Json(_) | Place::Regex(_))
    }

    pub(super) fn reads_json(&self) -> bool {
        matches!(self.from, Place::Json(_))
    }

    /// Takes the value where it stands in the header section.
    pub(super) fn take_from_headers(&self, headers: &[Header<'_>], notes: &mut Notes) {
        match &self.from {
            Place::Header(name) => {
                let field = headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
                if let Some(field) = field {
                    capture_field(self.index, field.value, notes);
                }
            }
            Place::Cookie(name) => {
                let fields = headers.iter().filter(|header| header.name.eq_ignore_ascii_case("set-cookie"));
                let mut cookies = fields.filter_map(|field| parse_set_cookie(field.value));
                let last = cookies.rfind(|(set, _)| set == name).map(|(_, value)| value);
                if let Some(value) = last.filter(|value| !value.is_empty()) {
                    notes.capture(self.index, value.as_bytes());
                }
            }
            Place::Json(_) | Place::Regex(_) => {}
        }
    }

    /// Takes the value where it stands in the body, or else the default. Says no where there is none.
    pub(super) fn take(&self, document: Option<&Value>, notes: &mut Notes) -> bool {
        let is_taken = match &self.from {
            Place::Header(_) | Place::Cookie(_) => notes.has_captured(self.index),
            Place::Json(pointer) => {
                let text = document.and_then(|document| pointer.find(document)).and_then(text_of);
                text.is_some_and(|text| notes.capture(self.index, text.as_bytes()))
            }
            Place::Regex(regex) => {
                let range = first_match(regex, notes.body());
                range.is_some_and(|range| notes.capture_body(self.index, range))
            }
        };
        is_taken || self.default.as_ref().is_some_and(|default| notes.capture(self.index, default))
    }
}

fn first_match(regex: &Regex, body: &[u8]) -> Option<std::ops::Range<usize>> {
    if regex.captures_len() > 1 {
        regex.captures(body)?.get(1).map(|group| group.range())
    } else {
        regex.find(body).map(|found| found.range())
    }
}

/// A field that was folded over lines is one line again (RFC 9112 §5.2).
fn capture_field(index: usize, value: &[u8], notes: &mut Notes) {
    if value.contains(&b'\r') || value.contains(&b'\n') {
        let line: Vec<u8> =
            value.iter().map(|byte| if matches!(byte, b'\r' | b'\n') { b' ' } else { *byte }).collect();
        notes.capture(index, &line);
    } else {
        notes.capture(index, value);
    }
}
