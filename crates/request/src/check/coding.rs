//! Content codings undone while a body passes by: gzip, deflate, br, zstd (RFC 9110 §8.4).
//!
//! Only for answers whose body a check or a capture reads. Invariants: what comes out of one answer is bounded in
//! bytes and in its ratio to what went in, and so is the memory of a decoder (RFC 9659 for zstd); the result does
//! not depend on how the bytes were split; no input panics. A coding that is not known is a failure and never
//! guessed at.

mod brotli;
mod deflate;
mod step;
mod zstd;

use super::undecoded::Undecoded;
use brotli::Brotli;
use deflate::Deflate;
use step::Step;
use wire::Header;
use zstd::Zstd;

/// Most bytes that one answer may decode to.
pub(super) const DECODED_BYTES_MAX: u64 = 64 << 20;
/// Most bytes out of each byte that went in.
const RATIO_MAX: u64 = 256;
/// Bytes that go in between two looks at the ratio, which makes it the same in any split. A body that has just begun
/// may give [`RATIO_MAX`] times as much: 1 MiB.
const PIECE_BYTES: u64 = 4 << 10;
/// Bytes that are decoded at a time.
const OUT_BYTES: usize = 16 << 10;

/// How an answer's body is coded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
    /// Another one, or several.
    Unknown,
}

impl Coding {
    /// The coding that the fields name; none where there is none but `identity`.
    pub(super) fn of(headers: &[Header<'_>]) -> Option<Self> {
        let fields = headers.iter().filter(|header| header.name.eq_ignore_ascii_case("content-encoding"));
        let mut names = fields
            .flat_map(|field| field.value.split(|byte| *byte == b','))
            .map(<[u8]>::trim_ascii)
            .filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case(b"identity"));
        let name = names.next()?;
        let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        Some(match () {
            () if names.next().is_some() => Self::Unknown,
            () if is("gzip") || is("x-gzip") => Self::Gzip,
            () if is("deflate") => Self::Deflate,
            () if is("br") => Self::Brotli,
            () if is("zstd") => Self::Zstd,
            () => Self::Unknown,
        })
    }
}

/// Decodes one body.
#[derive(Debug)]
pub(super) struct Decoder {
    format: Format,
    /// Bytes that went in.
    taken: u64,
    /// Bytes that came out.
    given: u64,
    failure: Option<Undecoded>,
}

#[derive(Debug)]
enum Format {
    Deflate(Deflate),
    Brotli(Brotli),
    Zstd(Box<Zstd>),
    None,
}

impl Decoder {
    pub(super) fn new(coding: Coding) -> Self {
        let (format, failure) = match coding {
            Coding::Gzip => (Format::Deflate(Deflate::gzip()), None),
            Coding::Deflate => (Format::Deflate(Deflate::unknown()), None),
            Coding::Brotli => (Format::Brotli(Brotli::new()), None),
            Coding::Zstd => (Format::Zstd(Box::new(Zstd::new())), None),
            Coding::Unknown => (Format::None, Some(Undecoded::Unknown)),
        };
        Self { format, taken: 0, given: 0, failure }
    }

    /// Decoded bytes so far.
    pub(super) const fn decoded_bytes(&self) -> u64 {
        self.given
    }

    /// Takes the next bytes of the body and gives what they decode to.
    pub(super) fn push(&mut self, bytes: &[u8], give: &mut dyn FnMut(&[u8])) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let room = PIECE_BYTES - self.taken % PIECE_BYTES;
            let count = usize::try_from(room).map_or(rest.len(), |room| room.min(rest.len()));
            let (piece, after) = rest.split_at(count);
            self.taken += count as u64;
            rest = after;
            if self.failure.is_none() {
                self.failure = self.decode(piece, give).err();
            }
        }
    }

    /// Takes bytes of one piece.
    fn decode(&mut self, bytes: &[u8], give: &mut dyn FnMut(&[u8])) -> Result<(), Undecoded> {
        let mut rest = bytes;
        let mut out = [0; OUT_BYTES];
        loop {
            let step = match &mut self.format {
                Format::Deflate(deflate) => deflate.step(&mut rest, &mut out)?,
                Format::Brotli(brotli) => brotli.step(&mut rest, &mut out)?,
                Format::Zstd(zstd) => zstd.step(&mut rest, &mut out)?,
                Format::None => return Ok(()),
            };
            let Step::Out(count) = step else { return Ok(()) };
            self.given += count as u64;
            if self.given > DECODED_BYTES_MAX {
                return Err(Undecoded::TooLarge);
            }
            if self.given > self.taken.next_multiple_of(PIECE_BYTES) * RATIO_MAX {
                return Err(Undecoded::TooDense);
            }
            give(&out[..count]);
        }
    }

    /// Why the body, now complete, could not be decoded. An empty one needs no decoding, whatever its coding: an
    /// answer to HEAD has none.
    pub(super) fn failure(&self) -> Option<Undecoded> {
        if self.taken == 0 {
            return None;
        }
        let is_complete = match &self.format {
            Format::Deflate(deflate) => deflate.is_complete(),
            Format::Brotli(brotli) => brotli.is_complete(),
            Format::Zstd(zstd) => zstd.is_complete(),
            Format::None => false,
        };
        self.failure.or((!is_complete).then_some(Undecoded::Cut))
    }
}
