//! A header block before it is known which fields its connection's table has: what is written once for each request, and
//! by [`super::Encoder`] once for each time that it is sent.
//!
//! Each part begins with a byte that says what it is. Integers are little-endian.
//! - *scheme*: nothing more; the connection knows it.
//! - *verbatim*: length (4 bytes), then bytes of a block that mean the same with every table.
//! - *literal*: size as a table counts it (4), index of the name or 0 (1), hash of what follows it (8), length (4), then the
//!   name where it has no index, and the value, both as strings of a block.

use super::table::ENTRY_BYTES;
use super::{fixed, huffman, integer};

const SCHEME: u8 = 0;
const VERBATIM: u8 = 1;
const LITERAL: u8 = 2;

/// A field whose texts are known before the load: worth a place in the peer's table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Literal<'a> {
    /// Bytes that it takes of a table.
    pub(super) size: u32,
    /// Index of its name, or 0.
    pub(super) name: u8,
    /// Of the name's index and of `texts`.
    pub(super) hash: u64,
    /// Its name, where that has no index, and its value.
    pub(super) texts: &'a [u8],
}

/// A part of a block.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part<'a> {
    Scheme,
    Verbatim(&'a [u8]),
    Literal(Literal<'a>),
}

/// The parts of a block; what is no part ends them.
pub(super) struct Parts<'a>(pub(super) &'a [u8]);

impl<'a> Parts<'a> {
    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number<const N: usize>(&mut self) -> Option<u64> {
        let mut wide = [0; 8];
        wide[..N].copy_from_slice(self.bytes(N)?);
        Some(u64::from_le_bytes(wide))
    }
}

impl<'a> Iterator for Parts<'a> {
    type Item = Part<'a>;

    #[inline]
    fn next(&mut self) -> Option<Part<'a>> {
        match *self.bytes(1)?.first()? {
            SCHEME => Some(Part::Scheme),
            VERBATIM => {
                let length = self.number::<4>()? as usize;
                self.bytes(length).map(Part::Verbatim)
            }
            LITERAL => {
                let size = self.number::<4>()? as u32;
                let name = self.number::<1>()? as u8;
                let hash = self.number::<8>()?;
                let length = self.number::<4>()? as usize;
                Some(Part::Literal(Literal { size, name, hash, texts: self.bytes(length)? }))
            }
            _ => None,
        }
    }
}

/// Appends the place of `:scheme`.
pub fn push_scheme(out: &mut Vec<u8>) {
    out.push(SCHEME);
}

/// Appends a field whose texts are known; `name` is in lower case.
pub fn push_field(name: &[u8], value: &[u8], out: &mut Vec<u8>) {
    if let Some(index) = fixed::index_of(name, value) {
        return push_verbatim(&[0x80 | index], out);
    }
    let index = fixed::index_of_name(name).unwrap_or_default();
    let mut texts = Vec::new();
    if index == 0 {
        push_text(name, &mut texts);
    }
    push_text(value, &mut texts);
    let size = (name.len() + value.len()) as u32 + ENTRY_BYTES;
    out.push(LITERAL);
    out.extend_from_slice(&size.to_le_bytes());
    out.push(index);
    out.extend_from_slice(&hash(index, &texts).to_le_bytes());
    out.extend_from_slice(&(texts.len() as u32).to_le_bytes());
    out.extend_from_slice(&texts);
}

/// Appends a field whose value differs from request to request: a literal that enters no table, in plain bytes. `key` is
/// its name by `key`.
pub fn push_value(key: &[u8], value: &[u8], out: &mut Vec<u8>) {
    out.push(VERBATIM);
    let length_at = out.len();
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(key);
    integer::put(0, 7, value.len() as u32, out);
    out.extend_from_slice(value);
    let length = (out.len() - length_at - 4) as u32;
    out[length_at..length_at + 4].copy_from_slice(&length.to_le_bytes());
}

/// The begin of a literal field that enters no table: its name, which is in lower case, or the index of that.
pub(crate) fn key(name: &[u8]) -> Vec<u8> {
    let mut key = Vec::new();
    match fixed::index_of_name(name) {
        Some(index) => integer::put(0, 4, u32::from(index), &mut key),
        None => {
            key.push(0);
            push_text(name, &mut key);
        }
    }
    key
}

fn push_verbatim(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(VERBATIM);
    out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    out.extend_from_slice(bytes);
}

/// A string, by Huffman where that is shorter (RFC 7541 §5.2).
fn push_text(text: &[u8], out: &mut Vec<u8>) {
    let coded = huffman::encoded_bytes(text);
    if coded < text.len() {
        integer::put(0x80, 7, coded as u32, out);
        huffman::encode(text, out);
    } else {
        integer::put(0, 7, text.len() as u32, out);
        out.extend_from_slice(text);
    }
}

/// FNV-1a; who finds an equal hash still compares the texts.
fn hash(name: u8, texts: &[u8]) -> u64 {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    texts.iter().fold(mix(0xcbf2_9ce4_8422_2325, &name), mix)
}
