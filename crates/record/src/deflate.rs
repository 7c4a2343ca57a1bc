//! Histograms in HdrHistogram's compressed format V2, by one compressor that is kept.
//!
//! The library's own serializer creates a compressor for each histogram, which allocates and zeroes 256 KiB, and it writes
//! the bounds that a histogram has, so that one which ends below an hour had to be copied first. Together that was a third
//! of the controller's time, on a CPU that a worker may need at any moment.

use flate2::{Compress, Compression, FlushCompress, Status};
use hdrhistogram::serialization::{Serializer, V2SerializeError, V2Serializer};
use hdrhistogram::{Counter, Histogram};
use std::io::{self, Write};
use std::ops::Range;

/// First word of a compressed histogram (HdrHistogram, `V2CompressedEncodingCookieBase` and its sub-type 0x10).
const COOKIE: u32 = 0x1c84_9304 | 0x10;
/// Where the highest value stands in the bytes of a histogram before they are compressed.
const HIGHEST: Range<usize> = 24..32;
/// More than deflate ever adds: its blocks' heads, and zlib's head and sum.
const ROOM: usize = 128;

/// Writes histograms as ones that could hold [`units::TIME_NS_MAX`], whatever they can.
pub(crate) struct Deflate {
    plain: V2Serializer,
    bytes: Vec<u8>,
    packed: Vec<u8>,
    compress: Compress,
    /// Called between the steps, of which each takes long for a core under load.
    pub(crate) pause: fn(),
}

impl Deflate {
    pub(crate) fn new() -> Self {
        Self {
            plain: V2Serializer::new(),
            bytes: Vec::new(),
            packed: Vec::new(),
            compress: Compress::new(Compression::default(), true),
            pause: || {},
        }
    }

    fn pack(&mut self) -> io::Result<()> {
        self.packed.clear();
        self.packed.extend(COOKIE.to_be_bytes());
        self.packed.extend([0; 4]);
        self.packed.reserve(self.bytes.len() + self.bytes.len() / 1000 + ROOM);
        self.compress.reset();
        (self.pause)();
        // The room is enough for all of it at once.
        match self.compress.compress_vec(&self.bytes, &mut self.packed, FlushCompress::Finish)? {
            Status::StreamEnd => {}
            other => return Err(io::Error::other(format!("a histogram could not be compressed: {other:?}"))),
        }
        let length = u32::try_from(self.packed.len() - 8).map_err(io::Error::other)?;
        self.packed[4..8].copy_from_slice(&length.to_be_bytes());
        Ok(())
    }
}

impl Serializer for Deflate {
    type SerializeError = V2SerializeError;

    fn serialize<T: Counter, W: Write>(
        &mut self,
        histogram: &Histogram<T>,
        writer: &mut W,
    ) -> Result<usize, V2SerializeError> {
        self.bytes.clear();
        self.plain.serialize(histogram, &mut self.bytes)?;
        self.bytes[HIGHEST].copy_from_slice(&units::TIME_NS_MAX.to_be_bytes());
        (self.pause)();
        self.pack()?;
        (self.pause)();
        writer.write_all(&self.packed)?;
        Ok(self.packed.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hlog::new_histogram;
    use hdrhistogram::serialization::{Deserializer, V2DeflateSerializer};

    #[test]
    fn the_bytes_are_those_of_the_library_for_a_histogram_of_an_hour() {
        let (mut ours, mut theirs) = (Deflate::new(), V2DeflateSerializer::new());
        let mut whole = new_histogram();
        let mut grown: Histogram<u64> = Histogram::new(units::TIME_DIGITS).unwrap();
        for round in 0..50_u64 {
            for value in 0..round * 20 {
                let time_ns = (value * 7_919 + round) * (value + 1) % units::TIME_NS_MAX;
                whole.record_n(time_ns, value % 5 + 1).unwrap();
                grown.record_n(time_ns, value % 5 + 1).unwrap();
            }
            let (mut a, mut b, mut c) = (Vec::new(), Vec::new(), Vec::new());
            assert_eq!(ours.serialize(&grown, &mut a).unwrap(), a.len());
            ours.serialize(&whole, &mut b).unwrap();
            theirs.serialize(&whole, &mut c).unwrap();
            assert!(
                a == c && b == c,
                "round {round}: {} and {} bytes, {} of the library",
                a.len(),
                b.len(),
                c.len()
            );
            let read: Histogram<u64> = Deserializer::new().deserialize(&mut &*a).unwrap();
            assert_eq!(read, whole);
        }
    }
}
