//! Header blocks are read (RFC 7541 §3 and §6).

use super::error::HpackError;
use super::fixed::{self, STATIC_FIELDS};
use super::list::FieldList;
use super::table::{DEFAULT_TABLE_BYTES, Table};
use super::{huffman, integer};

/// Reads the blocks of one connection, in their order.
#[derive(Debug)]
pub struct Decoder {
    table: Table,
    /// The capacity that was announced.
    limit: u32,
    /// The next block must take over a limit below the table's capacity (RFC 7541 §4.2).
    update_due: bool,
}

impl Decoder {
    /// A decoder whose table was announced with `limit` bytes (SETTINGS_HEADER_TABLE_SIZE) before the first block.
    #[must_use]
    pub fn new(limit: u32) -> Self {
        // A peer begins with the default, and says so where it takes more or less.
        let table = Table::new(DEFAULT_TABLE_BYTES);
        Self { table, limit, update_due: limit < DEFAULT_TABLE_BYTES }
    }

    /// A block of equal bytes has equal fields, and changes nothing, while this is the same: provided that it was the same
    /// before and after such a block.
    #[inline]
    #[must_use]
    pub const fn generation(&self) -> u64 {
        self.table.generation()
    }

    /// Reads a whole block into `list`, whose old fields go.
    ///
    /// # Errors
    /// Bytes that are no block, or too many fields; the decoder is then of no more use.
    pub fn decode(&mut self, block: &[u8], list: &mut FieldList) -> Result<(), HpackError> {
        list.clear();
        let mut at = 0;
        while let Some(first) = block.get(at) {
            if first & 0xe0 == 0x20 {
                self.resize(block, &mut at, list)?;
                continue;
            }
            if self.update_due {
                return Err(HpackError::UpdateMissing);
            }
            if first & 0x80 != 0 {
                let index = integer::take(block, &mut at, 7)?;
                let (name, value) = self.field(index)?;
                list.push(|out| append(name, out), |out| append(value, out))?;
                continue;
            }
            let enters = first & 0x40 != 0;
            self.literal(block, &mut at, if enters { 6 } else { 4 }, list)?;
            if enters && let Some((name, value)) = list.last() {
                self.table.insert(name, value);
            }
        }
        Ok(())
    }

    /// A dynamic table size update (RFC 7541 §6.3).
    fn resize(&mut self, block: &[u8], at: &mut usize, list: &FieldList) -> Result<(), HpackError> {
        if !list.is_empty() {
            return Err(HpackError::LateUpdate);
        }
        let capacity = integer::take(block, at, 5)?;
        if capacity > self.limit {
            return Err(HpackError::UpdateTooLarge);
        }
        self.update_due = false;
        self.table.resize(capacity);
        Ok(())
    }

    /// A literal field with an index of its name of `bits` bits (RFC 7541 §6.2).
    fn literal(
        &self,
        block: &[u8],
        at: &mut usize,
        bits: u32,
        list: &mut FieldList,
    ) -> Result<(), HpackError> {
        let index = integer::take(block, at, bits)?;
        let name = if index == 0 { Text::take(block, at)? } else { Text::Plain(self.field(index)?.0) };
        let value = Text::take(block, at)?;
        list.push(|out| name.append(out), |out| value.append(out))
    }

    #[inline]
    fn field(&self, index: u32) -> Result<(&[u8], &[u8]), HpackError> {
        let field = match index.checked_sub(STATIC_FIELDS + 1) {
            Some(place) => self.table.get(place),
            None => fixed::field(index),
        };
        field.ok_or(HpackError::Index)
    }
}

fn append(text: &[u8], out: &mut Vec<u8>) -> Result<(), HpackError> {
    out.extend_from_slice(text);
    Ok(())
}

/// A string literal (RFC 7541 §5.2).
enum Text<'a> {
    Plain(&'a [u8]),
    Huffman(&'a [u8]),
}

impl<'a> Text<'a> {
    fn take(block: &'a [u8], at: &mut usize) -> Result<Self, HpackError> {
        let is_huffman = block.get(*at).ok_or(HpackError::CutOff)? & 0x80 != 0;
        let length = integer::take(block, at, 7)? as usize;
        let text = block[*at..].get(..length).ok_or(HpackError::CutOff)?;
        *at += length;
        Ok(if is_huffman { Self::Huffman(text) } else { Self::Plain(text) })
    }

    fn append(&self, out: &mut Vec<u8>) -> Result<(), HpackError> {
        match self {
            Self::Plain(text) => append(text, out),
            Self::Huffman(code) => huffman::decode(code, out),
        }
    }
}
