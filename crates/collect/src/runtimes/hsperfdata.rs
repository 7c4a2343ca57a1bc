//! The file of performance data that HotSpot maps into memory, `/tmp/hsperfdata_<user>/<pid>`: what jstat reads, read
//! here without a process or a safepoint.
//!
//! Source of the format: openjdk/jdk, src/hotspot/share/runtime/perfMemory.hpp (`PerfDataPrologue`, `PerfDataEntry`).
//! All numbers but the magic are in the byte order that the fifth byte tells.
//!
//! | at | bytes | prologue |
//! |---|---|---|
//! | 0 | 4 | magic 0xcafec0c0, big-endian |
//! | 4 | 1 | byte order: 0 big-endian, 1 little-endian |
//! | 5 | 2 | version, 2.0 |
//! | 7 | 1 | 1 once the data may be read |
//! | 24 | 4 | offset of the first entry |
//! | 28 | 4 | number of entries |
//!
//! | at | bytes | entry |
//! |---|---|---|
//! | 0 | 4 | length of the entry |
//! | 4 | 4 | offset of the name, which ends with a zero byte |
//! | 8 | 4 | length of a vector, 0 for a single value |
//! | 12 | 1 | type: `J` 64-bit number, `B` bytes |
//! | 16 | 4 | offset of the data |
//!
//! Invariants: any bytes are read without a panic and in time linear in them; a value outside of the file is absent.
//! The JVM writes while this reads: each number is whole, but two of them may be of two moments.

use crate::error::ParseError;
use std::collections::BTreeMap;

const MAGIC: [u8; 4] = [0xca, 0xfe, 0xc0, 0xc0];
/// Entries of one file; HotSpot 17 has some 240.
const ENTRIES_MAX: usize = 4096;
/// Longest text that is kept.
const TEXT_BYTES_MAX: usize = 256;

/// Values by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PerfData {
    /// Numbers.
    pub longs: BTreeMap<String, i64>,
    /// Texts, cut after 256 bytes.
    pub texts: BTreeMap<String, String>,
}

/// Parses a file.
///
/// # Errors
/// It is no such file, of another version, or not yet filled by its JVM.
pub fn parse(bytes: &[u8]) -> Result<PerfData, ParseError> {
    if bytes.get(..4) != Some(&MAGIC) {
        return Err(ParseError::Missing("the mark of performance data of HotSpot"));
    }
    let is_little = match bytes.get(4) {
        Some(0) => false,
        Some(1) => true,
        _ => return Err(ParseError::Missing("a known byte order")),
    };
    let file = File { bytes, is_little };
    if bytes.get(5) != Some(&2) {
        return Err(ParseError::Missing("version 2 of the format"));
    }
    if bytes.get(7) != Some(&1) {
        return Err(ParseError::Missing("the data, which its JVM has not yet made readable,"));
    }
    let first = file.place(24).ok_or(ParseError::Missing("the offset of the first entry"))?;
    let count = file.place(28).ok_or(ParseError::Missing("the number of entries"))?;
    Ok(file.entries(first, count.min(ENTRIES_MAX)))
}

struct File<'a> {
    bytes: &'a [u8],
    is_little: bool,
}

impl File<'_> {
    fn array<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.bytes.get(at..at.checked_add(N)?)?.try_into().ok()
    }

    /// An offset or a length.
    fn place(&self, at: usize) -> Option<usize> {
        let bytes = self.array(at)?;
        let value = if self.is_little { i32::from_le_bytes(bytes) } else { i32::from_be_bytes(bytes) };
        usize::try_from(value).ok()
    }

    fn long(&self, at: usize) -> Option<i64> {
        let bytes = self.array(at)?;
        Some(if self.is_little { i64::from_le_bytes(bytes) } else { i64::from_be_bytes(bytes) })
    }

    /// The text up to a zero byte, the end of `within` or the longest length.
    fn text(&self, at: usize, length: usize) -> Option<String> {
        let bytes = self.bytes.get(at..at.checked_add(length)?.min(self.bytes.len()))?;
        let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        Some(String::from_utf8_lossy(text).into_owned())
    }

    fn entries(&self, first: usize, count: usize) -> PerfData {
        let mut data = PerfData::default();
        let mut at = first;
        for _ in 0..count {
            // An entry that ends the walk: outside of the file, or without a length.
            let Some(length) = self.place(at).filter(|length| *length > 0) else { break };
            self.entry(at, &mut data);
            let Some(next) = at.checked_add(length) else { break };
            at = next;
        }
        data
    }

    /// Keeps one entry; nothing where a part of it lies outside of the file.
    fn entry(&self, at: usize, data: &mut PerfData) -> Option<()> {
        let name = self.text(at.checked_add(self.place(at + 4)?)?, TEXT_BYTES_MAX)?;
        let vector = self.place(at + 8)?;
        let value = at.checked_add(self.place(at + 16)?)?;
        match (*self.bytes.get(at + 12)?, vector) {
            (b'J', 0) => data.longs.insert(name, self.long(value)?).map(|_| ()),
            (b'B', 1..) => data.texts.insert(name, self.text(value, vector.min(TEXT_BYTES_MAX))?).map(|_| ()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REAL: &[u8] = include_bytes!("../../fixtures/jvm/first.hsperf");

    #[test]
    fn a_real_file_of_openjdk_17() {
        let data = parse(REAL).unwrap();
        assert!(data.longs.len() > 150, "{}", data.longs.len());
        assert_eq!(data.texts["sun.gc.policy.name"], "GarbageFirst");
        assert_eq!(data.texts["sun.gc.collector.0.name"], "G1 young collection pauses");
        assert_eq!(data.longs["sun.os.hrt.frequency"], 1_000_000_000);
        assert_eq!(data.longs["java.threads.live"], 8);
    }

    #[test]
    fn other_files_are_refused() {
        let check = |change: &dyn Fn(&mut Vec<u8>), part: &str| {
            let mut bytes = REAL.to_vec();
            change(&mut bytes);
            let error = parse(&bytes).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        };
        check(&|bytes| bytes[0] = 0, "mark");
        check(&|bytes| bytes[4] = 7, "byte order");
        check(&|bytes| bytes[5] = 1, "version 2");
        check(&|bytes| bytes[7] = 0, "not yet");
        check(&|bytes| bytes.truncate(20), "offset of the first entry");
    }

    #[test]
    fn a_file_that_lies_about_its_places_is_read_as_far_as_it_goes() {
        for at in (24..4_000).step_by(4) {
            for value in [i32::MIN, -1, 0, 1, i32::MAX] {
                let mut bytes = REAL.to_vec();
                bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
                let _ = parse(&bytes);
            }
        }
        (0..REAL.len()).step_by(7).for_each(|end| drop(parse(&REAL[..end])));
    }
}
