//! HPACK against a reference that keeps its table as a list and reads Huffman codes bit by bit (RFC 7541).
//!
//! Input: one byte (whether the table is announced with its default, with 100 bytes or with none), then blocks, each behind a
//! byte with its length. The limits are `wire`'s; the way of reading shares nothing with it but the code's lengths. What can
//! be read is written again, and read from that.

use crate::Broken;
use std::sync::LazyLock;
use wire::hpack::{
    Decoder, Encoder, FIELDS_MAX, FieldList, LIST_BYTES_MAX, huffman_bytes, huffman_encode, push_field,
};

type Fields = Vec<(Vec<u8>, Vec<u8>)>;

/// Reads the blocks of one connection, up to the first that is none.
pub type Reader = dyn Fn(u32, &[&[u8]]) -> Vec<Option<Fields>>;

/// The property of the target `hpack`.
///
/// # Errors
/// Fields differ from the reference, or from what they are once they are written again.
pub fn check(input: &[u8]) -> Result<(), Broken> {
    check_with(input, &read)
}

/// [`check`] of any reader.
///
/// # Errors
/// As [`check`].
pub fn check_with(input: &[u8], reader: &Reader) -> Result<(), Broken> {
    let (choice, mut rest) = input.split_first().map_or((0, input), |(choice, rest)| (*choice, rest));
    let limit = [4096, 100, 0][usize::from(choice) % 3];
    let mut blocks = Vec::new();
    while let Some((length, after)) = rest.split_first() {
        let (block, after) = after.split_at(usize::from(*length).min(after.len()));
        blocks.push(block);
        rest = after;
    }
    let got = reader(limit, &blocks);
    let expected = Reference::new(limit).read(&blocks);
    Broken::unless(got == expected, || format!("{got:?}, reference: {expected:?}"))?;
    let lists: Vec<Fields> = got.into_iter().flatten().collect();
    written_again(limit, &lists)
}

/// What `wire` makes of the blocks.
#[must_use]
pub fn read(limit: u32, blocks: &[&[u8]]) -> Vec<Option<Fields>> {
    let (mut decoder, mut list) = (Decoder::new(limit), FieldList::default());
    let mut all = Vec::new();
    for block in blocks {
        if decoder.decode(block, &mut list).is_err() {
            all.push(None);
            break;
        }
        all.push(Some(list.iter().map(|(name, value)| (name.to_vec(), value.to_vec())).collect()));
    }
    all
}

fn written_again(limit: u32, lists: &[Fields]) -> Result<(), Broken> {
    let (mut encoder, mut decoder) = (Encoder::new(false), Decoder::new(limit));
    let mut list = FieldList::default();
    encoder.limit(limit);
    for fields in lists {
        let mut parts = Vec::new();
        fields.iter().for_each(|(name, value)| push_field(name, value, &mut parts));
        // The first time, when fields enter the table, as indices, and as a copy of that.
        for _ in 0..3 {
            let mut block = Vec::new();
            encoder.encode(&parts, true, &mut block);
            let result = decoder.decode(&block, &mut list);
            let read: Fields = list.iter().map(|(name, value)| (name.to_vec(), value.to_vec())).collect();
            Broken::unless(result.is_ok() && read == *fields, || {
                format!("{fields:?} written as {block:x?}, read as {result:?} {read:?}")
            })?;
        }
    }
    Ok(())
}

/// A decoder as the standard words it.
struct Reference {
    /// Newest first.
    table: Vec<(Vec<u8>, Vec<u8>)>,
    capacity: usize,
    limit: usize,
    update_due: bool,
}

impl Reference {
    fn new(limit: u32) -> Self {
        let limit = limit as usize;
        Self { table: Vec::new(), capacity: 4096, limit, update_due: limit < 4096 }
    }

    fn read(&mut self, blocks: &[&[u8]]) -> Vec<Option<Fields>> {
        let mut all = Vec::new();
        for block in blocks {
            all.push(self.block(block));
            if all.last().is_some_and(Option::is_none) {
                break;
            }
        }
        all
    }

    fn block(&mut self, block: &[u8]) -> Option<Fields> {
        let mut bits = Bits { bytes: block, at: 0 };
        let mut fields = Fields::new();
        while bits.at / 8 < block.len() {
            let first = block[bits.at / 8];
            if first >> 5 == 0b001 {
                bits.at += 3;
                self.capacity = bits.integer(5).filter(|size| fields.is_empty() && *size <= self.limit)?;
                self.update_due = false;
                self.evict();
                continue;
            }
            if self.update_due {
                return None;
            }
            let field = if first >> 7 == 1 {
                bits.at += 1;
                let index = bits.integer(7)?;
                self.field(index)?
            } else {
                let prefix = if first >> 6 == 1 { 6 } else { 4 };
                bits.at += 8 - prefix;
                let index = bits.integer(prefix)?;
                let name = if index == 0 { bits.text()? } else { self.field(index)?.0 };
                let field = (name, bits.text()?);
                if prefix == 6 {
                    self.table.insert(0, field.clone());
                    self.evict();
                }
                field
            };
            fields.push(field);
            let size: usize = fields.iter().map(size).sum();
            if size > LIST_BYTES_MAX as usize || fields.len() > FIELDS_MAX {
                return None;
            }
        }
        Some(fields)
    }

    fn field(&self, index: usize) -> Option<(Vec<u8>, Vec<u8>)> {
        match index.checked_sub(62) {
            Some(place) => self.table.get(place).cloned(),
            None => STATIC.get(index).filter(|_| index > 0).cloned(),
        }
    }

    fn evict(&mut self) {
        while self.table.iter().map(size).sum::<usize>() > self.capacity {
            self.table.pop();
        }
    }
}

fn size((name, value): &(Vec<u8>, Vec<u8>)) -> usize {
    name.len() + value.len() + 32
}

/// The static table by index, as `wire` reads an index alone; its texts are tried in `wire` itself.
static STATIC: LazyLock<Vec<(Vec<u8>, Vec<u8>)>> = LazyLock::new(|| {
    let field = |index: u8| {
        let read = read(4096, &[&[0x80 | index]]).pop().flatten();
        read.and_then(|mut fields| fields.pop()).unwrap_or_default()
    };
    (0..62).map(field).collect()
});

struct Bits<'a> {
    bytes: &'a [u8],
    /// In bits.
    at: usize,
}

impl Bits<'_> {
    fn number(&mut self, count: usize) -> Option<usize> {
        let mut number = 0;
        for _ in 0..count {
            let byte = self.bytes.get(self.at / 8)?;
            number = number << 1 | usize::from(byte >> (7 - self.at % 8) & 1);
            self.at += 1;
        }
        Some(number)
    }

    /// At most 32 bits in five bytes behind the prefix.
    fn integer(&mut self, prefix: usize) -> Option<usize> {
        let first = self.number(prefix)?;
        if first < (1 << prefix) - 1 {
            return Some(first);
        }
        let mut value = first as u128;
        for place in 0..5 {
            let goes_on = self.number(1)? == 1;
            value += (self.number(7)? as u128) << (7 * place);
            if !goes_on {
                return usize::try_from(value).ok().filter(|value| *value <= u32::MAX as usize);
            }
        }
        None
    }

    fn text(&mut self) -> Option<Vec<u8>> {
        let is_coded = self.number(1)? == 1;
        let length = self.integer(7)?;
        let start = self.at / 8;
        let text = self.bytes[start..].get(..length)?;
        self.at += 8 * length;
        if is_coded { huffman(text) } else { Some(text.to_vec()) }
    }
}

/// Code and length of each byte, as it is written.
static CODES: LazyLock<Vec<(usize, usize)>> = LazyLock::new(|| {
    let code = |byte: u8| {
        let length = huffman_bytes(&[byte; 8]);
        let mut written = Vec::new();
        huffman_encode(&[byte], &mut written);
        let code = Bits { bytes: &written, at: 0 }.number(length).unwrap_or_default();
        (code, length)
    };
    (0..=u8::MAX).map(code).collect()
});

fn huffman(text: &[u8]) -> Option<Vec<u8>> {
    let mut bits = Bits { bytes: text, at: 0 };
    let mut out = Vec::new();
    'symbols: loop {
        let start = bits.at;
        let (mut code, mut length) = (0, 0);
        while let Some(bit) = bits.number(1) {
            (code, length) = (code << 1 | bit, length + 1);
            if let Some(byte) = CODES.iter().position(|have| *have == (code, length)) {
                out.push(byte as u8);
                continue 'symbols;
            }
            if length == 30 {
                // EOS alone is left.
                return None;
            }
        }
        let padding = text.len() * 8 - start;
        return (padding < 8 && code == (1 << length) - 1).then_some(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 7541 appendix C.4, its first two requests.
    const REQUESTS: &[u8] = b"\x00\x11\x82\x86\x84\x41\x8c\xf1\xe3\xc2\xe5\xf2\x3a\x6b\xa0\xab\x90\xf4\xff\
        \x0c\x82\x86\x84\xbe\x58\x86\xa8\xeb\x10\x64\x9c\xbf";

    #[test]
    fn the_reference_reads_the_standards_examples() {
        assert_eq!(check(REQUESTS), Ok(()));
        let blocks = [&REQUESTS[2..19], &REQUESTS[20..]];
        let read = Reference::new(4096).read(&blocks);
        let fields = read[1].as_ref().unwrap();
        assert_eq!(fields[3], (b":authority".to_vec(), b"www.example.com".to_vec()));
        assert_eq!(fields[4], (b"cache-control".to_vec(), b"no-cache".to_vec()));
    }

    #[test]
    fn readers_that_are_wrong_are_caught() {
        let forgets_its_table: &Reader =
            &|limit, blocks| blocks.iter().flat_map(|block| read(limit, &[block])).collect();
        let changes_case: &Reader = &|limit, blocks| {
            let mut all = read(limit, blocks);
            if let Some(Some(fields)) = all.last_mut() {
                fields.iter_mut().for_each(|field| field.1.make_ascii_uppercase());
            }
            all
        };
        let takes_anything: &Reader = &|limit, blocks| {
            read(limit, blocks).into_iter().map(|fields| Some(fields.unwrap_or_default())).collect()
        };
        assert!(check_with(REQUESTS, forgets_its_table).is_err());
        assert!(check_with(REQUESTS, changes_case).is_err());
        assert!(check_with(b"\x00\x01\xff", takes_anything).is_err());
    }
}
