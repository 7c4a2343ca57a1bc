//! The header section: what it says about the framing of the body (RFC 9112 §6 and §9.3).

use crate::Malformed;
use std::mem::MaybeUninit;

/// Longest header section that is taken, trailing blank line included.
pub const HEAD_BYTES_MAX: usize = 64 * 1024;

/// A header field as it came: name in any case, value as bytes.
pub type Header<'a> = httparse::Header<'a>;

/// Fields that are parsed without a second try; more are rare.
const HEADERS_USUAL: usize = 48;
const HEADERS_MAX: usize = 1024;
const LENGTH_DIGITS_MAX: usize = 32;
/// Where the minor version stands in `HTTP/1.1`.
const MINOR_AT: usize = 7;

/// How the end of the body is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    Empty,
    Length(u64),
    Chunked,
    UntilClose,
}

/// What the parser needs of a header section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) status: u16,
    pub(crate) framing: Framing,
    pub(crate) keep_alive: bool,
}

/// Parses a header section at the start of `input` and shows it to `visit`.
///
/// Returns the section and its length, or `None` when more bytes are needed. Because the grammar is checked from the
/// left, a longer input gives the same answer as a shorter one as soon as either is decided.
pub(crate) fn parse_head(
    input: &[u8],
    answers_head: bool,
    visit: &mut impl FnMut(u16, &[Header<'_>]),
) -> Result<Option<(Head, usize)>, Malformed> {
    check_prefix(input)?;
    let limited = &input[..input.len().min(HEAD_BYTES_MAX)];
    let mut usual = [const { MaybeUninit::uninit() }; HEADERS_USUAL];
    let parsed = match parse_into(limited, &mut usual, answers_head, visit) {
        Err(Malformed::TooManyHeaders) => {
            let mut many = [const { MaybeUninit::uninit() }; HEADERS_MAX];
            parse_into(limited, &mut many, answers_head, visit)?
        }
        other => other?,
    };
    if parsed.is_none() && input.len() >= HEAD_BYTES_MAX {
        return Err(Malformed::HeadTooLong);
    }
    Ok(parsed)
}

/// Refuses what cannot become a status line at its first wrong byte, so that garbage does not wait for a time-out.
fn check_prefix(input: &[u8]) -> Result<(), Malformed> {
    const PREFIX: &[u8] = b"HTTP/1.";
    let compared = input.len().min(PREFIX.len());
    if input[..compared] == PREFIX[..compared] { Ok(()) } else { Err(Malformed::NoStatusLine) }
}

fn parse_into<'a>(
    input: &'a [u8],
    fields: &mut [MaybeUninit<Header<'a>>],
    answers_head: bool,
    visit: &mut impl FnMut(u16, &[Header<'_>]),
) -> Result<Option<(Head, usize)>, Malformed> {
    let mut response = httparse::Response::new(&mut []);
    let mut config = httparse::ParserConfig::default();
    // A server must not fold a field over lines, but a client must read it (RFC 9112 §5.2).
    config.allow_obsolete_multiline_headers_in_responses(true);
    match config.parse_response_with_uninit_headers(&mut response, input, fields) {
        Ok(httparse::Status::Partial) => Ok(None),
        Ok(httparse::Status::Complete(length)) => {
            let status = response.code.unwrap_or_default();
            if status < 100 {
                return Err(Malformed::Head("status below 100"));
            }
            let head = interpret(status, response.version == Some(1), response.headers, answers_head)?;
            visit(status, response.headers);
            Ok(Some((head, length)))
        }
        Err(error) => Err(classify(error, input)),
    }
}

/// Shows the fields of a trailer section whose grammar was checked; `lines` has no empty line at its end, and is used up.
pub(crate) fn show_fields(lines: &mut Vec<u8>, show: impl FnOnce(&[Header<'_>])) {
    // The parser of header sections reads them, folded lines included, if a status line stands before them.
    const LINE: &[u8] = b"HTTP/1.1 200\r\n";
    lines.splice(..0, LINE.iter().copied());
    lines.extend_from_slice(b"\r\n");
    let mut fields = [const { MaybeUninit::uninit() }; HEADERS_MAX];
    let mut response = httparse::Response::new(&mut []);
    let mut config = httparse::ParserConfig::default();
    config.allow_obsolete_multiline_headers_in_responses(true);
    if config.parse_response_with_uninit_headers(&mut response, lines, &mut fields).is_ok() {
        show(response.headers);
    }
}

/// Whether the status line has a minor version above 1.
#[inline]
pub(crate) fn is_later_minor(input: &[u8]) -> bool {
    input.get(MINOR_AT).is_some_and(|minor| (b'2'..=b'9').contains(minor))
}

/// Writes the highest minor version that is known over a later one, which means the same (RFC 9110 §2.5).
pub(crate) fn lower_minor(input: &mut [u8]) {
    if is_later_minor(input) {
        input[MINOR_AT] = b'1';
    }
}

/// Whether the bytes before the reason phrase are right: `HTTP/1.1 200 `.
fn has_status_code(input: &[u8]) -> bool {
    matches!(input.get(MINOR_AT + 1..), Some([b' ', b'0'..=b'9', b'0'..=b'9', b'0'..=b'9', b' ', ..]))
}

fn classify(error: httparse::Error, input: &[u8]) -> Malformed {
    match error {
        httparse::Error::Status if has_status_code(input) => {
            Malformed::Head("control character in the reason phrase")
        }
        httparse::Error::TooManyHeaders => Malformed::TooManyHeaders,
        httparse::Error::HeaderName => Malformed::Head("invalid header name"),
        httparse::Error::HeaderValue => Malformed::Head("invalid header value"),
        httparse::Error::NewLine => Malformed::Head("invalid line end"),
        httparse::Error::Status => Malformed::Head("invalid status code"),
        httparse::Error::Version => Malformed::Head("invalid version"),
        httparse::Error::Token => Malformed::Head("invalid byte"),
    }
}

/// RFC 9112 §6.3: which framing the fields mean.
fn interpret(
    status: u16,
    is_1_1: bool,
    fields: &[Header<'_>],
    answers_head: bool,
) -> Result<Head, Malformed> {
    let mut length = None;
    let mut coding = None;
    let (mut says_close, mut says_keep_alive) = (false, false);
    for field in fields {
        match field.name.len() {
            14 if field.name.eq_ignore_ascii_case("content-length") => {
                length = Some(content_length(field.value, length)?);
            }
            17 if field.name.eq_ignore_ascii_case("transfer-encoding") => {
                coding = Some(ends_in_chunked(field.value));
            }
            10 if field.name.eq_ignore_ascii_case("connection") => {
                says_close |= has_token(field.value, b"close");
                says_keep_alive |= has_token(field.value, b"keep-alive");
            }
            _ => {}
        }
    }
    let has_no_body = answers_head || status < 200 || status == 204 || status == 304;
    let framing = match (coding, length) {
        _ if has_no_body => Framing::Empty,
        (Some(_), Some(_)) => return Err(Malformed::ConflictingLengths),
        (Some(true), None) => Framing::Chunked,
        (None, Some(0)) => Framing::Empty,
        (None, Some(length)) => Framing::Length(length),
        (Some(false) | None, None) => Framing::UntilClose,
    };
    let persists = if is_1_1 { !says_close } else { says_keep_alive && !says_close };
    Ok(Head { status, framing, keep_alive: persists && framing != Framing::UntilClose })
}

/// One or more equal numbers, in one field or several.
pub(crate) fn content_length(value: &[u8], mut known: Option<u64>) -> Result<u64, Malformed> {
    for part in value.split(|byte| *byte == b',') {
        let digits = part.trim_ascii();
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return Err(Malformed::BadLength);
        }
        let length = decimal(digits).ok_or(Malformed::LengthTooLarge)?;
        if known.is_some_and(|known| known != length) {
            return Err(Malformed::ConflictingLengths);
        }
        known = Some(length);
    }
    known.ok_or(Malformed::BadLength)
}

/// A number of 64 bits. Leading zeros are legal but need a bound.
fn decimal(digits: &[u8]) -> Option<u64> {
    let digits = Some(digits).filter(|digits| digits.len() <= LENGTH_DIGITS_MAX)?;
    digits.iter().try_fold(0_u64, |sum, digit| sum.checked_mul(10)?.checked_add(u64::from(digit - b'0')))
}

fn ends_in_chunked(value: &[u8]) -> bool {
    value
        .rsplit(|byte| *byte == b',')
        .next()
        .is_some_and(|last| last.trim_ascii().eq_ignore_ascii_case(b"chunked"))
}

fn has_token(value: &[u8], token: &[u8]) -> bool {
    value.split(|byte| *byte == b',').any(|part| part.trim_ascii().eq_ignore_ascii_case(token))
}
