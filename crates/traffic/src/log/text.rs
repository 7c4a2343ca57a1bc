//! Lines of the common and the combined log format (Apache `mod_log_config`, nginx `combined`):
//! `client ident user [time] "METHOD target HTTP/1.1" status bytes`, combined with `"referrer" "agent"` after it.
//!
//! Invariants: nothing is allocated; a line is read once from left to right; what follows the bytes is ignored.

use super::time::{StampReader, number, stamp_len};
use super::{LineKind, Record, hash, request_line};

/// Reads one line. `combined` asks for the two quoted fields at the end as well.
pub(super) fn parse<'a>(line: &'a [u8], combined: bool, stamps: &mut StampReader) -> LineKind<'a> {
    match fields(line, combined, stamps) {
        Some(found) => found,
        None => LineKind::Bad,
    }
}

fn fields<'a>(line: &'a [u8], combined: bool, stamps: &mut StampReader) -> Option<LineKind<'a>> {
    let client_end = memchr::memchr(b' ', line).filter(|end| *end > 0)?;
    let (time_ns, rest) = stamp(line, client_end, stamps)?;
    let rest = rest.strip_prefix(b" \"")?;
    let (request, rest) = rest.split_at(closing_quote(rest)?);
    let mut words = rest[1..].splitn(4, |byte| *byte == b' ').skip(1);
    let status = words.next().filter(|word| word.len() == 3).and_then(number)?;
    let bytes = match words.next() {
        Some(b"-") => None,
        Some(word) => Some(number(word)?),
        // Some logs end with the status.
        None if !combined => None,
        None => return None,
    };
    if combined && !has_two_quoted(words.next()?) {
        return None;
    }
    let Some((method, target)) = request_line(request) else { return Some(LineKind::NoRequest) };
    let client = hash(&line[..client_end]);
    Some(LineKind::Record(Record {
        time_ns,
        client,
        method,
        target,
        status: status as u16,
        bytes,
        request_ns: None,
        content_type: None,
        body: None,
        key: 0,
    }))
}

/// The time in brackets and what follows it. A user name may hold a bracket, so a few are tried.
fn stamp<'a>(line: &'a [u8], from: usize, stamps: &mut StampReader) -> Option<(u64, &'a [u8])> {
    let mut places = memchr::memchr_iter(b'[', &line[from..]).take(4);
    places.find_map(|place| {
        let rest = &line[from + place + 1..];
        let time_ns = stamps.read(rest)?;
        Some((time_ns, rest[stamp_len()..].strip_prefix(b"]")?))
    })
}

/// The place of the quote that ends a field. Apache writes a quote within as `\"`, nginx as `\x22`.
fn closing_quote(text: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'"', text).find(|place| {
        let slashes = text[..*place].iter().rev().take_while(|byte| **byte == b'\\').count();
        slashes % 2 == 0
    })
}

fn has_two_quoted(text: &[u8]) -> bool {
    let second = || {
        let rest = text.strip_prefix(b"\"")?;
        let rest = rest[closing_quote(rest)? + 1..].strip_prefix(b" \"")?;
        closing_quote(rest)
    };
    second().is_some()
}

/// The quoted fields of a line in order: request, referrer, agent and what a log has behind them.
pub(super) fn quoted_fields(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let begin = memchr::memchr(b'"', rest)? + 1;
        let end = begin + closing_quote(&rest[begin..])?;
        let field = &rest[begin..end];
        rest = &rest[end + 1..];
        Some(field)
    })
}
