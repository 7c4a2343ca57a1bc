//! Header sections and trailers by the rules of RFC 9113 §8.
//!
//! Blanks around values are let pass, though the standard forbids them: servers send them, and they change nothing.

use super::fault::Fault;
use super::ring::UNKNOWN;
use crate::hpack::{FIELDS_MAX, FieldList};
use crate::http1::content_length;
use crate::request::is_token_byte;
use crate::{Header, Malformed};

/// Fields that are shown without a second try; more are rare.
const FIELDS_USUAL: usize = 32;

/// What a header section says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    pub(super) status: u16,
    /// Content-Length, or [`UNKNOWN`].
    pub(super) length: u64,
}

/// Whether a field belongs to a connection of HTTP/1.1 and may not be sent over HTTP/2 (RFC 9113 §8.2.2); `name` is in lower
/// case.
#[must_use]
pub fn is_of_connection(name: &[u8]) -> bool {
    matches!(name, b"connection" | b"keep-alive" | b"proxy-connection" | b"transfer-encoding" | b"upgrade")
}

/// Reads a header section.
///
/// # Errors
/// Fields that no answer may have.
pub(super) fn head(list: &FieldList) -> Result<Head, Fault> {
    let mut fields = list.iter();
    let status = match fields.next() {
        Some((b":status", digits)) => status(digits)?,
        _ => return Err(Fault::Fields("the first is not :status")),
    };
    let mut length = None;
    for (name, value) in fields {
        check(name, value)?;
        if name == b"content-length" {
            length = Some(content_length(value, length)?);
        }
    }
    if length == Some(UNKNOWN) {
        return Err(Fault::Length(Malformed::LengthTooLarge));
    }
    Ok(Head { status, length: length.unwrap_or(UNKNOWN) })
}

/// Checks trailers.
///
/// # Errors
/// Fields that no trailers may have.
pub(super) fn trailers(list: &FieldList) -> Result<(), Fault> {
    list.iter().try_for_each(|(name, value)| check(name, value))
}

fn status(digits: &[u8]) -> Result<u16, Fault> {
    match digits {
        [b'1'..=b'9', b'0'..=b'9', b'0'..=b'9'] => {
            Ok(digits.iter().fold(0, |sum, digit| sum * 10 + u16::from(digit - b'0')))
        }
        _ => Err(Fault::Fields("a status that is no number from 100 to 999")),
    }
}

fn check(name: &[u8], value: &[u8]) -> Result<(), Fault> {
    if name.first() == Some(&b':') {
        return Err(Fault::Fields("a pseudo field where none may be"));
    }
    if name.iter().any(u8::is_ascii_uppercase) {
        return Err(Fault::Fields("a name with an upper-case letter"));
    }
    if name.is_empty() || !name.iter().all(|byte| is_token_byte(*byte)) {
        return Err(Fault::Fields("invalid header name"));
    }
    if value.iter().any(|byte| matches!(byte, 0 | b'\r' | b'\n')) {
        return Err(Fault::Fields("invalid header value"));
    }
    if is_of_connection(name) {
        return Err(Fault::Fields("a field of HTTP/1.1 connections"));
    }
    Ok(())
}

/// Shows the fields behind the first `skipped`; their names are checked.
pub(super) fn show<R>(list: &FieldList, skipped: usize, show: impl FnOnce(&[Header<'_>]) -> R) -> R {
    if list.len() - skipped <= FIELDS_USUAL {
        show(fill(list, skipped, &mut [httparse::EMPTY_HEADER; FIELDS_USUAL]))
    } else {
        show(fill(list, skipped, &mut [httparse::EMPTY_HEADER; FIELDS_MAX]))
    }
}

fn fill<'a, 'b>(list: &'a FieldList, skipped: usize, room: &'b mut [Header<'a>]) -> &'b [Header<'a>] {
    let mut count = 0;
    for ((name, value), header) in list.iter().skip(skipped).zip(room.iter_mut()) {
        // Tokens are ASCII.
        *header = Header { name: std::str::from_utf8(name).unwrap_or_default(), value };
        count += 1;
    }
    &room[..count]
}
