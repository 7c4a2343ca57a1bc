//! The chunked decoder against a reference that sees the whole input at once (RFC 9112 §7.1).
//!
//! Input: one byte that chooses the split, then the chunked body. The limits and the order in which errors are
//! found are `wire`'s; the way of getting there shares nothing with it.

use crate::Broken;
use crate::read::{End, Reader, Seen, cuts, read};
use wire::{Ended, Malformed};

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const CHUNK_BYTES_MAX: u128 = 1 << 60;
const SIZE_DIGITS_MAX: usize = 32;
const EXTENSION_BYTES_MAX: usize = 4 * 1024;
const TRAILER_BYTES_MAX: usize = 64 * 1024;

/// What a chunked body is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The data, up to the end or the error.
    pub data: Vec<u8>,
    /// Bytes taken where the body is complete, `None` where it is cut off.
    pub end: Result<Option<usize>, Malformed>,
}

/// The property of the target `chunked`.
///
/// # Errors
/// Data, end or error differ from the reference.
pub fn check(input: &[u8]) -> Result<(), Broken> {
    check_with(input, &read)
}

/// [`check`] of any reader.
///
/// # Errors
/// As [`check`].
pub fn check_with(input: &[u8], reader: &Reader) -> Result<(), Broken> {
    let (seed, body) = input.split_first().map_or((0, input), |(seed, body)| (*seed, body));
    let expected = decode(body);
    let whole = [HEAD, body].concat();
    for cuts in [Vec::new(), cuts(whole.len(), seed)] {
        let (Seen { body: data, .. }, end) = reader(&whole, &cuts, false);
        let end = match end {
            End::Complete { taken, .. } => Ok(Some(taken - HEAD.len())),
            End::Closed(Ended::Premature) => Ok(None),
            End::Malformed(malformed) => Err(malformed),
            End::Closed(Ended::Complete) => return Err(Broken("a chunked body ended by closing".to_owned())),
        };
        let got = Decoded { data, end };
        Broken::unless(got == expected, || format!("cut at {cuts:?}: {got:?}, reference: {expected:?}"))?;
    }
    Ok(())
}

/// Decodes a whole chunked body the plain way.
#[must_use]
pub fn decode(input: &[u8]) -> Decoded {
    let mut data = Vec::new();
    let mut rest = input;
    let end = loop {
        let (size, after) = match size_line(rest) {
            Ok(Some(line)) => line,
            Ok(None) => break Ok(None),
            Err(malformed) => break Err(malformed),
        };
        if size == 0 {
            break trailers(after).map(|left| left.map(|left| input.len() - left.len()));
        }
        let take = size.min(after.len() as u128) as usize;
        data.extend_from_slice(&after[..take]);
        match line_end(&after[take..]) {
            Ok(Some(next)) => rest = next,
            Ok(None) => break Ok(None),
            Err(malformed) => break Err(malformed),
        }
    };
    Decoded { data, end }
}

/// The size and what follows its line.
fn size_line(input: &[u8]) -> Result<Option<(u128, &[u8])>, Malformed> {
    let digits = input.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let mut size = 0_u128;
    for (position, digit) in input[..digits].iter().enumerate() {
        size = size * 16 + u128::from((*digit as char).to_digit(16).unwrap_or_default());
        if size > CHUNK_BYTES_MAX {
            return Err(Malformed::ChunkTooLarge);
        }
        if position == SIZE_DIGITS_MAX {
            return Err(Malformed::BadChunk);
        }
    }
    let after = match input.get(digits) {
        None => return Ok(None),
        Some(_) if digits == 0 => return Err(Malformed::BadChunk),
        Some(b'\r') => &input[digits..],
        Some(b';' | b' ' | b'\t') => match extension(&input[digits + 1..])? {
            Some(after) => after,
            None => return Ok(None),
        },
        Some(_) => return Err(Malformed::BadChunk),
    };
    Ok(line_end(after)?.map(|after| (size, after)))
}

/// What follows a chunk extension, from its carriage return on.
fn extension(input: &[u8]) -> Result<Option<&[u8]>, Malformed> {
    let end = input.iter().position(|byte| matches!(byte, b'\r' | b'\n'));
    let is_long = |length: usize| length > EXTENSION_BYTES_MAX;
    match end {
        Some(at) if input[at] == b'\r' && !is_long(at) => Ok(Some(&input[at..])),
        Some(at) if !is_long(at + 1) => Err(Malformed::BadChunk),
        None if !is_long(input.len()) => Ok(None),
        _ => Err(Malformed::ChunkTooLarge),
    }
}

/// What follows a trailer section.
fn trailers(input: &[u8]) -> Result<Option<&[u8]>, Malformed> {
    let mut rest = input;
    loop {
        let taken = input.len() - rest.len();
        let room = TRAILER_BYTES_MAX - taken;
        let field = match rest.first() {
            None => return Ok(None),
            Some(b'\r') => return line_end(rest),
            Some(_) => field(rest, taken > 0),
        };
        match field {
            Field::Ends(length) if length <= room => rest = &rest[length..],
            Field::CutOff if rest.len() <= room => return Ok(None),
            Field::BadAt(at) if at < room => return Err(Malformed::BadTrailer),
            _ => return Err(Malformed::TrailersTooLong),
        }
    }
}

/// A line of the trailer section.
enum Field {
    /// It has this many bytes, its end included.
    Ends(usize),
    CutOff,
    /// The first byte that no field has there.
    BadAt(usize),
}

/// Reads `Name: value` (RFC 9110 §5), or the continuation of the field before.
fn field(line: &[u8], after_field: bool) -> Field {
    let folds = after_field && matches!(line[0], b' ' | b'\t');
    let name = line.iter().take_while(|byte| is_token(**byte)).count();
    let value = match line.get(name) {
        _ if folds => 1,
        None => return Field::CutOff,
        Some(b':') if name > 0 => name + 1,
        Some(_) => return Field::BadAt(name),
    };
    let is_of_value = |byte: &u8| *byte == b'\t' || (*byte >= b' ' && *byte != 0x7f);
    let end = value + line[value..].iter().take_while(|byte| is_of_value(byte)).count();
    match line[end..] {
        [] | [b'\r'] => Field::CutOff,
        [b'\n', ..] => Field::Ends(end + 1),
        [b'\r', b'\n', ..] => Field::Ends(end + 2),
        [b'\r', ..] => Field::BadAt(end + 1),
        _ => Field::BadAt(end),
    }
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"\"(),/:;<=>?@[\\]{}".contains(&byte)
}

/// What follows CR LF.
fn line_end(input: &[u8]) -> Result<Option<&[u8]>, Malformed> {
    match input {
        [] | [b'\r'] => Ok(None),
        [b'\r', b'\n', after @ ..] => Ok(Some(after)),
        _ => Err(Malformed::BadChunk),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_reads_the_standards_example() {
        let body = b"4\r\nWiki\r\n7;x=\"y\"\r\npedia i\r\n0\r\nExpires: never\r\n\r\nREST";
        let end = Ok(Some(body.len() - 4));
        assert_eq!(decode(body), Decoded { data: b"Wikipedia i".to_vec(), end });
    }

    #[test]
    fn a_decoder_whose_size_wraps_is_caught() {
        let wrapping = |bytes: &[u8], cuts: &[usize], head: bool| {
            let text = String::from_utf8_lossy(bytes).replace("\n10000000000000000\r", "\n0\r");
            read(text.as_bytes(), if text.len() == bytes.len() { cuts } else { &[] }, head)
        };
        assert!(check_with(b"\x0010000000000000000\r\n\r\n", &wrapping).is_err());
        assert_eq!(check(b"\x0010000000000000000\r\n\r\n"), Ok(()));
    }

    #[test]
    fn a_decoder_that_loses_a_byte_at_a_cut_is_caught() {
        let losing = |bytes: &[u8], cuts: &[usize], head: bool| {
            let (mut seen, end) = read(bytes, cuts, head);
            if cuts.iter().any(|cut| *cut > HEAD.len()) {
                seen.body.pop();
            }
            (seen, end)
        };
        let caught = (0..16).any(|seed: u8| {
            let input = [&[seed], &b"3\r\nabc\r\n0\r\n\r\n"[..]].concat();
            assert_eq!(check(&input), Ok(()));
            check_with(&input, &losing).is_err()
        });
        assert!(caught);
    }
}
