//! The chunked decoder (RFC 9112 §7.1), one byte of state at a time so that any split is the same.

use crate::Malformed;
use crate::request::is_token_byte as is_token;

const CHUNK_BYTES_MAX: u64 = 1 << 60;
const EXTENSION_BYTES_MAX: u32 = 4 * 1024;
const TRAILER_BYTES_MAX: u32 = 64 * 1024;

/// Where in the chunked body the decoder stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// In the hexadecimal size; `digits` seen so far.
    Size {
        digits: u32,
    },
    /// After the size, up to the line end.
    Extension {
        length: u32,
    },
    SizeLineFeed,
    Data,
    DataCarriageReturn,
    DataLineFeed,
    /// In the trailer section.
    Trailer(Trailer),
    EndLineFeed,
}

/// Where in the trailer section: its fields have the grammar of header fields (RFC 9112 §7.1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trailer {
    /// Before the first byte of a line; a blank continues the field of the line before (RFC 9112 §5.2).
    LineStart {
        after_field: bool,
    },
    Name,
    Value,
    /// After the carriage return that ends a field.
    LineFeed,
}

/// Decodes one chunked body (RFC 9112 §7.1).
#[derive(Clone, Copy, Debug)]
pub struct Chunked {
    state: State,
    /// The size being read, then the bytes of data that are left.
    left: u64,
    trailer_bytes: u32,
}

impl Default for Chunked {
    fn default() -> Self {
        Self::new()
    }
}

impl Chunked {
    /// Before its first byte.
    #[must_use]
    pub const fn new() -> Self {
        Self { state: State::Size { digits: 0 }, left: 0, trailer_bytes: 0 }
    }

    /// Takes bytes from `input`; gives data to `data` and appends trailer fields, with their line ends, to `trailers`.
    /// Returns the bytes taken and whether the body is complete.
    ///
    /// # Errors
    /// [`Malformed`] for bytes that are no chunks; the decoder is then of no more use.
    pub fn feed(
        &mut self,
        input: &[u8],
        data: &mut impl FnMut(&[u8]),
        trailers: &mut Vec<u8>,
    ) -> Result<(usize, bool), Malformed> {
        let mut at = 0;
        while at < input.len() {
            if self.state == State::Data {
                let take = self.left.min((input.len() - at) as u64) as usize;
                data(&input[at..at + take]);
                at += take;
                self.left -= take as u64;
                if self.left == 0 {
                    self.state = State::DataCarriageReturn;
                }
                continue;
            }
            at += 1;
            if self.framing_byte(input[at - 1])? {
                return Ok((at, true));
            }
            if self.trailer_bytes as usize > trailers.len() {
                trailers.push(input[at - 1]);
            }
        }
        Ok((at, false))
    }

    /// One byte outside chunk data. Returns whether it was the last of the body.
    fn framing_byte(&mut self, byte: u8) -> Result<bool, Malformed> {
        self.state = match self.state {
            State::Size { digits } => self.size_byte(byte, digits)?,
            State::Extension { .. } if byte == b'\r' => State::SizeLineFeed,
            State::Extension { length } if length >= EXTENSION_BYTES_MAX => {
                return Err(Malformed::ChunkTooLarge);
            }
            State::Extension { .. } if byte == b'\n' => return Err(Malformed::BadChunk),
            State::Extension { length } => State::Extension { length: length + 1 },
            State::SizeLineFeed if byte != b'\n' => return Err(Malformed::BadChunk),
            State::SizeLineFeed if self.left == 0 => {
                State::Trailer(Trailer::LineStart { after_field: false })
            }
            State::SizeLineFeed => State::Data,
            State::DataCarriageReturn if byte == b'\r' => State::DataLineFeed,
            State::DataLineFeed if byte == b'\n' => State::Size { digits: 0 },
            State::DataCarriageReturn | State::DataLineFeed | State::Data => return Err(Malformed::BadChunk),
            State::Trailer(Trailer::LineStart { .. }) if byte == b'\r' => State::EndLineFeed,
            State::Trailer(trailer) => self.trailer_byte(byte, trailer)?,
            State::EndLineFeed if byte == b'\n' => return Ok(true),
            State::EndLineFeed => return Err(Malformed::BadChunk),
        };
        Ok(false)
    }

    fn size_byte(&mut self, byte: u8, digits: u32) -> Result<State, Malformed> {
        if let Some(digit) = (byte as char).to_digit(16) {
            // The limit itself times 16 does not fit 64 bits: a size that wraps to 0 would end the body.
            self.left = self.left.saturating_mul(16).saturating_add(u64::from(digit));
            return if self.left > CHUNK_BYTES_MAX {
                Err(Malformed::ChunkTooLarge)
            } else {
                // Leading zeros are legal but need a bound.
                if digits >= 32 { Err(Malformed::BadChunk) } else { Ok(State::Size { digits: digits + 1 }) }
            };
        }
        match byte {
            _ if digits == 0 => Err(Malformed::BadChunk),
            b'\r' => Ok(State::SizeLineFeed),
            b';' | b' ' | b'\t' => Ok(State::Extension { length: 0 }),
            _ => Err(Malformed::BadChunk),
        }
    }

    fn trailer_byte(&mut self, byte: u8, trailer: Trailer) -> Result<State, Malformed> {
        self.trailer_bytes += 1;
        if self.trailer_bytes > TRAILER_BYTES_MAX {
            return Err(Malformed::TrailersTooLong);
        }
        Ok(State::Trailer(match (trailer, byte) {
            (Trailer::LineStart { after_field: true }, b' ' | b'\t') => Trailer::Value,
            (Trailer::LineStart { .. } | Trailer::Name, byte) if is_token(byte) => Trailer::Name,
            (Trailer::Name, b':') => Trailer::Value,
            (Trailer::Value, b'\r') => Trailer::LineFeed,
            // A lone line feed ends a field in the header section, too.
            (Trailer::Value | Trailer::LineFeed, b'\n') => Trailer::LineStart { after_field: true },
            (Trailer::Value, b'\t' | b' '..=0x7e | 0x80..) => Trailer::Value,
            _ => return Err(Malformed::BadTrailer),
        }))
    }
}
