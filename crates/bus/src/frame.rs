//! One message of a stream.
//!
//! ```text
//! 'D' number, bytes    a piece, counted from 0        'T' number    all pieces below it were taken        'O'    it is over
//! ```
//! Numbers are eight bytes, the highest first.

use bytes::{BufMut as _, Bytes, BytesMut};

/// Most bytes of a piece.
pub(crate) const PIECE_BYTES: usize = 32 << 10;
/// Longest message.
pub(crate) const FRAME_BYTES: usize = 1 + size_of::<u64>() + PIECE_BYTES;

/// One message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frame<'a> {
    Data(u64, &'a [u8]),
    Taken(u64),
    Over,
}

impl<'a> Frame<'a> {
    pub(crate) fn to_bytes(self) -> Bytes {
        let mut bytes = BytesMut::new();
        match self {
            Self::Data(number, piece) => {
                bytes.reserve(FRAME_BYTES);
                bytes.put_u8(b'D');
                bytes.put_u64(number);
                bytes.put_slice(piece);
            }
            Self::Taken(number) => {
                bytes.put_u8(b'T');
                bytes.put_u64(number);
            }
            Self::Over => bytes.put_u8(b'O'),
        }
        bytes.freeze()
    }

    /// `None` where it is no message of a stream.
    pub(crate) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (kind, rest) = bytes.split_first()?;
        if *kind == b'O' {
            return rest.is_empty().then_some(Self::Over);
        }
        let (number, piece) = rest.split_first_chunk()?;
        let number = u64::from_be_bytes(*number);
        match kind {
            b'D' if (1..=PIECE_BYTES).contains(&piece.len()) => Some(Self::Data(number, piece)),
            b'T' if piece.is_empty() => Some(Self::Taken(number)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive_and_others_are_none() {
        let longest = vec![7; PIECE_BYTES];
        for frame in [Frame::Data(0, b"x"), Frame::Data(u64::MAX, &longest), Frame::Taken(5), Frame::Over] {
            let bytes = frame.to_bytes();
            assert!(bytes.len() <= FRAME_BYTES);
            assert_eq!(Frame::parse(&bytes), Some(frame));
        }
        let too_long = Frame::Data(0, &vec![7; PIECE_BYTES + 1]).to_bytes();
        for bytes in [
            &b""[..],
            b"O1",
            b"D",
            b"D1234567",
            b"D12345678",
            b"T1234567",
            b"T123456789",
            b"x12345678",
            &too_long,
        ] {
            assert_eq!(Frame::parse(bytes), None, "{}", bytes.escape_ascii());
        }
    }
}
