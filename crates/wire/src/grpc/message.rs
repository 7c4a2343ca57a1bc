//! Messages in a body: five bytes of prefix, a flag and a length, and then as many bytes.

use super::fault::Fault;
use super::limit::MESSAGE_BYTES_MAX;

/// Bytes in front of each message.
pub const PREFIX_BYTES: usize = 5;

/// Appends the prefix of a message of this length.
pub fn push_prefix(length: u32, is_compressed: bool, out: &mut Vec<u8>) {
    out.push(u8::from(is_compressed));
    out.extend_from_slice(&length.to_be_bytes());
}

/// A message with its prefix; compressed by gzip where asked for.
///
/// # Errors
/// The length of a message that is longer than [`MESSAGE_BYTES_MAX`].
pub fn frame(message: &[u8], gzip: bool) -> Result<Vec<u8>, usize> {
    if message.len() > MESSAGE_BYTES_MAX as usize {
        return Err(message.len());
    }
    let packed = gzip.then(|| pack(message));
    let bytes = packed.as_deref().unwrap_or(message);
    let mut out = Vec::with_capacity(PREFIX_BYTES + bytes.len());
    push_prefix(bytes.len() as u32, gzip, &mut out);
    out.extend_from_slice(bytes);
    Ok(out)
}

fn pack(message: &[u8]) -> Vec<u8> {
    use std::io::Write as _;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    // Writing to memory does not fail.
    let _ = encoder.write_all(message);
    encoder.finish().unwrap_or_default()
}

/// A part of the messages in a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// A message of this many bytes begins.
    Begin(u32),
    /// Its next bytes, never none.
    Bytes(&'a [u8]),
    /// It is whole.
    End,
}

/// Finds the messages in a body that comes in pieces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Messages {
    /// While a prefix is read its length so far, then the bytes of the message that are left.
    length: u32,
    /// Whole messages so far.
    count: u32,
    /// Bytes of the prefix that were read; all of them within a message.
    prefix: u8,
}

impl Messages {
    /// Whole messages so far.
    #[inline]
    #[must_use]
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// Reads the next piece; `may_be_compressed` says whether a coding was named.
    ///
    /// # Errors
    /// What breaks the framing. Nothing is read after it.
    #[inline]
    pub fn feed(
        &mut self,
        mut bytes: &[u8],
        may_be_compressed: bool,
        mut on: impl FnMut(Part<'_>),
    ) -> Result<(), Fault> {
        while let Some((&first, rest)) = bytes.split_first() {
            if usize::from(self.prefix) < PREFIX_BYTES {
                bytes = rest;
                if !self.read_prefix(first, may_be_compressed)? {
                    continue;
                }
                on(Part::Begin(self.length));
            } else {
                let (part, behind) = bytes.split_at(bytes.len().min(self.length as usize));
                bytes = behind;
                self.length -= part.len() as u32;
                on(Part::Bytes(part));
            }
            if self.length == 0 {
                (self.prefix, self.count) = (0, self.count.saturating_add(1));
                on(Part::End);
            }
        }
        Ok(())
    }

    /// Takes a byte of the prefix. Returns whether it was the last.
    #[inline]
    fn read_prefix(&mut self, byte: u8, may_be_compressed: bool) -> Result<bool, Fault> {
        self.prefix += 1;
        if self.prefix == 1 {
            self.length = 0;
            return match byte {
                0 => Ok(false),
                1 if may_be_compressed => Ok(false),
                1 => Err(Fault::Uncoded),
                other => Err(Fault::Flag(other)),
            };
        }
        self.length = self.length << 8 | u32::from(byte);
        let is_whole = usize::from(self.prefix) == PREFIX_BYTES;
        if is_whole && self.length > MESSAGE_BYTES_MAX {
            return Err(Fault::TooLong(self.length));
        }
        Ok(is_whole)
    }

    /// The body has ended.
    ///
    /// # Errors
    /// It ended within a message.
    pub const fn end(&self) -> Result<(), Fault> {
        if self.prefix == 0 { Ok(()) } else { Err(Fault::Cut) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Read as _;

    /// What is read of `body`, cut into these pieces: messages, and the fault.
    fn read(pieces: &[&[u8]], may_be_compressed: bool) -> (Vec<Vec<u8>>, Option<Fault>) {
        let (mut messages, mut whole, mut open) = (Messages::default(), Vec::new(), Vec::new());
        for piece in pieces {
            let result = messages.feed(piece, may_be_compressed, |part| match part {
                Part::Begin(length) => {
                    assert!(open.is_empty() && length <= MESSAGE_BYTES_MAX);
                }
                Part::Bytes(bytes) => {
                    assert!(!bytes.is_empty());
                    open.extend_from_slice(bytes);
                }
                Part::End => whole.push(std::mem::take(&mut open)),
            });
            if let Err(fault) = result {
                return (whole, Some(fault));
            }
        }
        assert_eq!(messages.count() as usize, whole.len());
        (whole, messages.end().err())
    }

    #[test]
    fn what_is_framed_is_read() {
        let body = [frame(b"", false).unwrap(), frame(b"hello", false).unwrap()].concat();
        assert_eq!(body, b"\0\0\0\0\0\0\0\0\0\x05hello");
        assert_eq!(read(&[&body], false), (vec![vec![], b"hello".to_vec()], None));
    }

    #[test]
    fn the_longest_message_that_is_framed_is_read() {
        let longest = vec![0; MESSAGE_BYTES_MAX as usize];
        assert_eq!(read(&[&frame(&longest, false).unwrap()], false), (vec![longest.clone()], None));
        let longer = [&longest[..], b"x"].concat();
        for gzip in [false, true] {
            assert_eq!(frame(&longer, gzip), Err(longer.len()));
        }
    }

    #[test]
    fn packed_messages_carry_the_flag() {
        let text = vec![b'x'; 10_000];
        let body = frame(&text, true).unwrap();
        assert!(body.len() < 200 && body[0] == 1);
        let (messages, fault) = read(&[&body], true);
        assert_eq!(fault, None);
        let mut plain = Vec::new();
        flate2::read::GzDecoder::new(&messages[0][..]).read_to_end(&mut plain).unwrap();
        assert_eq!(plain, text);
        assert_eq!(read(&[&body], false).1, Some(Fault::Uncoded));
    }

    #[test]
    fn hostile_bodies_are_faults() {
        let longest = [b"\0".as_slice(), &MESSAGE_BYTES_MAX.to_be_bytes()].concat();
        for (body, fault) in [
            (&b"\x02\0\0\0\0"[..], Fault::Flag(2)),
            (b"\xff", Fault::Flag(255)),
            (b"\0\xff\xff\xff\xff", Fault::TooLong(u32::MAX)),
            (b"\0\0\x40\0\x01", Fault::TooLong(MESSAGE_BYTES_MAX + 1)),
            (b"\0\0\0\0\x05hell", Fault::Cut),
            (b"\0\0\0\0", Fault::Cut),
            (&longest, Fault::Cut),
            (b"\x01\0\0\0\x01x", Fault::Uncoded),
        ] {
            assert_eq!(read(&[body], false).1, Some(fault), "{body:?}");
        }
    }

    proptest! {
        #[test]
        fn splits_change_nothing(
            lengths in prop::collection::vec(0..40_usize, 0..6),
            cuts in prop::collection::vec(0..200_usize, 0..12),
            flaw in prop::option::of((0..200_usize, any::<u8>())),
        ) {
            let mut body: Vec<u8> =
                lengths.iter().flat_map(|length| frame(&vec![7; *length], false).unwrap()).collect();
            if let Some((at, byte)) = flaw
                && let Some(place) = body.get_mut(at)
            {
                *place = byte;
            }
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(body.len())).collect();
            cuts.extend([0, body.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &body[pair[0]..pair[1]]).collect();
            prop_assert_eq!(read(&pieces, false), read(&[&body], false));
        }
    }
}
