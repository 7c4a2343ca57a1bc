//! The response parser: the same in any split, bounded, and of one mind with `httparse` and a plain reading of the
//! framing rules (RFC 9112 §6.3).
//!
//! Input: one byte (lowest bit: whether HEAD was asked; all of it: the split), then what the connection gave.

use crate::Broken;
use crate::chunked;
use crate::read::{End, Reader, Seen, cuts, read};
use std::borrow::Cow;
use wire::{Ended, HEAD_BYTES_MAX};

const HEADERS_MAX: usize = 1024;
const INTERIM_MAX: usize = 32;
/// Longer inputs are not read byte by byte: the header section is parsed again at each line, which is quadratic.
const SINGLE_BYTES_MAX: usize = 1024;

/// The property of the target `response`.
///
/// # Errors
/// What is seen depends on the split, on bytes after the end, or differs from the plain reading.
pub fn check(input: &[u8]) -> Result<(), Broken> {
    check_with(input, &read)
}

/// [`check`] of any reader.
///
/// # Errors
/// As [`check`].
pub fn check_with(input: &[u8], reader: &Reader) -> Result<(), Broken> {
    let (choice, bytes) = input.split_first().map_or((0, input), |(choice, bytes)| (*choice, bytes));
    let answers_head = choice & 1 == 1;
    let whole = reader(bytes, &[], answers_head);
    let mut splits = vec![cuts(bytes.len(), choice)];
    if bytes.len() <= SINGLE_BYTES_MAX {
        splits.push((0..bytes.len()).collect());
    }
    for cuts in splits {
        let got = reader(bytes, &cuts, answers_head);
        Broken::unless(got == whole, || format!("cut at {cuts:?}: {got:?}, whole: {whole:?}"))?;
    }
    bounded(&whole, bytes)?;
    only_its_own_bytes(&whole, bytes, answers_head, reader)?;
    plain_reading(&whole, bytes, answers_head)
}

fn bounded((seen, end): &(Seen, End), bytes: &[u8]) -> Result<(), Broken> {
    Broken::unless(seen.heads <= 1, || format!("{} final header sections", seen.heads))?;
    Broken::unless(seen.headers.len() <= HEADERS_MAX, || format!("{} fields", seen.headers.len()))?;
    let head_bytes: usize = seen.headers.iter().map(|(name, value)| name.len() + value.len()).sum();
    Broken::unless(head_bytes <= HEAD_BYTES_MAX, || format!("{head_bytes} bytes of fields"))?;
    let taken = if let End::Complete { taken, .. } = end { *taken } else { bytes.len() };
    Broken::unless(taken <= bytes.len() && seen.body.len() <= taken, || {
        format!("{} bytes of body from {taken} of {}", seen.body.len(), bytes.len())
    })
}

/// A complete answer is complete without what follows it, and not without its last byte.
fn only_its_own_bytes(
    whole: &(Seen, End),
    bytes: &[u8],
    answers_head: bool,
    reader: &Reader,
) -> Result<(), Broken> {
    let End::Complete { taken, .. } = whole.1 else { return Ok(()) };
    let alone = reader(&bytes[..taken], &[], answers_head);
    Broken::unless(alone == *whole, || format!("without what follows: {alone:?}, with it: {whole:?}"))?;
    let (_, short) = reader(&bytes[..taken - 1], &[], answers_head);
    Broken::unless(short == End::Closed(Ended::Premature), || format!("one byte short: {short:?}"))
}

/// Compares with what `httparse` and a plain reading of the rules make of the whole input.
fn plain_reading((seen, end): &(Seen, End), bytes: &[u8], answers_head: bool) -> Result<(), Broken> {
    let expected = plain(bytes, answers_head);
    let agrees = match &expected {
        Plain::Malformed => matches!(end, End::Malformed(_)),
        Plain::Head(status, headers, _) if (*status, headers) != (seen.status, &seen.headers) => false,
        Plain::Head(_, _, Body::Ends { data, taken }) => {
            *data == seen.body && matches!(end, End::Complete { taken: got, .. } if got == taken)
        }
        Plain::Head(_, _, Body::CutOff(data)) => *data == seen.body && *end == End::Closed(Ended::Premature),
        Plain::Head(_, _, Body::UntilClose(data)) => {
            *data == seen.body && *end == End::Closed(Ended::Complete)
        }
        Plain::Head(_, _, Body::Malformed(data)) => *data == seen.body && matches!(end, End::Malformed(_)),
        Plain::NoHead => seen.heads == 0 && *end == End::Closed(Ended::Premature),
    };
    Broken::unless(agrees, || format!("{seen:?} {end:?}, plain reading: {expected:?}"))
}

/// What a plain reading makes of an answer.
#[derive(Debug)]
enum Plain {
    Malformed,
    /// No final header section yet.
    NoHead,
    Head(u16, Vec<(String, Vec<u8>)>, Body),
}

#[derive(Debug)]
enum Body {
    Ends { data: Vec<u8>, taken: usize },
    CutOff(Vec<u8>),
    UntilClose(Vec<u8>),
    Malformed(Vec<u8>),
}

fn plain(bytes: &[u8], answers_head: bool) -> Plain {
    let mut at = 0;
    for _ in 0..=INTERIM_MAX {
        let rest = &highest_known(&bytes[at..]);
        let prefix = &b"HTTP/1."[..rest.len().min(7)];
        if !rest.starts_with(prefix) {
            return Plain::Malformed;
        }
        let mut fields = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut response = httparse::Response::new(&mut fields);
        let mut config = httparse::ParserConfig::default();
        // RFC 9112 §5.2: folded fields are read.
        config.allow_obsolete_multiline_headers_in_responses(true);
        let length = match config.parse_response(&mut response, &rest[..rest.len().min(HEAD_BYTES_MAX)]) {
            Err(_) => return Plain::Malformed,
            Ok(httparse::Status::Partial) if rest.len() >= HEAD_BYTES_MAX => return Plain::Malformed,
            Ok(httparse::Status::Partial) => return Plain::NoHead,
            Ok(httparse::Status::Complete(length)) => length,
        };
        at += length;
        let status = response.code.unwrap_or_default();
        let Some(framing) = framing(status, response.headers, answers_head) else { return Plain::Malformed };
        match status {
            0..100 | 101 => return Plain::Malformed,
            100..200 => {}
            _ => {
                let fields =
                    response.headers.iter().map(|field| (field.name.to_owned(), field.value.to_vec()));
                return Plain::Head(status, fields.collect(), body(&framing, bytes, at));
            }
        }
    }
    Plain::Malformed
}

/// A later minor version reads as 1 (RFC 9110 §2.5).
fn highest_known(bytes: &[u8]) -> Cow<'_, [u8]> {
    let mut bytes = Cow::Borrowed(bytes);
    if bytes.get(7).is_some_and(|minor| (b'2'..=b'9').contains(minor)) {
        bytes.to_mut()[7] = b'1';
    }
    bytes
}

/// How long the body is: `Some(n)` bytes, chunked, or until the end of the connection.
enum Framing {
    Length(u64),
    Chunked,
    UntilClose,
}

/// RFC 9112 §6.3 by the letter; `None` where the fields contradict each other or are no numbers.
fn framing(status: u16, fields: &[httparse::Header<'_>], answers_head: bool) -> Option<Framing> {
    let values = |name: &str| -> Vec<&[u8]> {
        let named = fields.iter().filter(|field| field.name.eq_ignore_ascii_case(name));
        named.flat_map(|field| field.value.split(|byte| *byte == b',')).map(<[u8]>::trim_ascii).collect()
    };
    let numbers: Option<Vec<u64>> = values("content-length").into_iter().map(number).collect();
    let mut numbers = numbers?;
    numbers.dedup();
    let codings = values("transfer-encoding");
    match (numbers.as_slice(), codings.last()) {
        ([_, _, ..], _) => None,
        _ if answers_head || status < 200 || status == 204 || status == 304 => Some(Framing::Length(0)),
        ([_], Some(_)) => None,
        ([length], None) => Some(Framing::Length(*length)),
        ([], Some(last)) if last.eq_ignore_ascii_case(b"chunked") => Some(Framing::Chunked),
        ([], _) => Some(Framing::UntilClose),
    }
}

/// A decimal number of 64 bits with at most 32 digits, which is `wire`'s limit.
fn number(text: &[u8]) -> Option<u64> {
    let is_short_decimal = (1..=32).contains(&text.len()) && text.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(text).ok().filter(|_| is_short_decimal)?.parse().ok()
}

fn body(framing: &Framing, bytes: &[u8], at: usize) -> Body {
    let rest = &bytes[at..];
    match framing {
        Framing::UntilClose => Body::UntilClose(rest.to_vec()),
        Framing::Length(length) => {
            match usize::try_from(*length).ok().and_then(|length| rest.get(..length)) {
                Some(data) => Body::Ends { data: data.to_vec(), taken: at + data.len() },
                None => Body::CutOff(rest.to_vec()),
            }
        }
        Framing::Chunked => {
            let decoded = chunked::decode(rest);
            match decoded.end {
                Ok(Some(taken)) => Body::Ends { data: decoded.data, taken: at + taken },
                Ok(None) => Body::CutOff(decoded.data),
                Err(_) => Body::Malformed(decoded.data),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: &[u8] = b"\x02HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloREST";

    fn caught(reader: &Reader) -> bool {
        assert_eq!(check(ANSWER), Ok(()));
        check_with(ANSWER, reader).is_err()
    }

    #[test]
    fn a_reader_whose_result_depends_on_the_split_is_caught() {
        assert!(caught(&|bytes, cuts, head| {
            let (mut seen, end) = read(bytes, cuts, head);
            seen.status += u16::from(cuts.len() > 1);
            (seen, end)
        }));
    }

    #[test]
    fn a_reader_that_takes_what_follows_is_caught() {
        assert!(caught(&|bytes, cuts, head| match read(bytes, cuts, head) {
            (seen, End::Complete { keep_alive, .. }) =>
                (seen, End::Complete { taken: bytes.len(), keep_alive }),
            other => other,
        }));
    }

    #[test]
    fn a_reader_that_shows_framing_as_body_is_caught() {
        assert!(caught(&|bytes, cuts, head| {
            let (mut seen, end) = read(bytes, cuts, head);
            seen.body.insert(0, b'\n');
            (seen, end)
        }));
    }

    #[test]
    fn a_reader_that_takes_what_is_malformed_is_caught() {
        let lax = |bytes: &[u8], cuts: &[usize], head: bool| match read(bytes, cuts, head) {
            (seen, End::Malformed(_)) => (seen, End::Closed(Ended::Premature)),
            other => other,
        };
        assert!(check_with(b"\x00SSH-2.0\r\n", &lax).is_err());
    }
}
