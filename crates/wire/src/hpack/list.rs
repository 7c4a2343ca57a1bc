//! A decoded list of fields, in memory that is used again.

use super::error::HpackError;
use super::table::ENTRY_BYTES;

/// Most bytes of a list, each field with 32 more than its texts, as SETTINGS_MAX_HEADER_LIST_SIZE counts them
/// (RFC 9113 §6.5.2). That of HTTP/1.1's header section is the same.
pub const LIST_BYTES_MAX: u32 = 64 * 1024;
/// Most fields of a list.
pub const FIELDS_MAX: usize = 256;

/// Fields in order.
#[derive(Debug, Default)]
pub struct FieldList {
    /// Names and values one after another.
    bytes: Vec<u8>,
    /// Where each name and its value end.
    ends: Vec<(u32, u32)>,
    /// As [`LIST_BYTES_MAX`] counts.
    size: u32,
}

impl FieldList {
    /// Fields in the list.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Names and values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        (0..self.len()).map(|at| self.get(at))
    }

    fn get(&self, at: usize) -> (&[u8], &[u8]) {
        let start = if at == 0 { 0 } else { self.ends[at - 1].1 as usize };
        let (name_end, end) = (self.ends[at].0 as usize, self.ends[at].1 as usize);
        (&self.bytes[start..name_end], &self.bytes[name_end..end])
    }

    /// The field that was pushed last.
    pub(super) fn last(&self) -> Option<(&[u8], &[u8])> {
        Some(self.get(self.len().checked_sub(1)?))
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.size = 0;
    }

    /// Adds a field whose texts `name` and `value` append.
    ///
    /// # Errors
    /// Theirs, and a list beyond its limits.
    #[inline]
    pub(super) fn push(
        &mut self,
        name: impl FnOnce(&mut Vec<u8>) -> Result<(), HpackError>,
        value: impl FnOnce(&mut Vec<u8>) -> Result<(), HpackError>,
    ) -> Result<(), HpackError> {
        if self.len() == FIELDS_MAX {
            return Err(HpackError::TooManyFields);
        }
        let start = self.bytes.len();
        name(&mut self.bytes)?;
        let name_end = self.bytes.len();
        value(&mut self.bytes)?;
        self.ends.push((name_end as u32, self.bytes.len() as u32));
        // A block is bounded, and so is what a single field can add.
        self.size = self.size.saturating_add((self.bytes.len() - start) as u32 + ENTRY_BYTES);
        if self.size > LIST_BYTES_MAX { Err(HpackError::ListTooLong) } else { Ok(()) }
    }
}
