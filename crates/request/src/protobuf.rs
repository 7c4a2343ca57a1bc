//! How values stand in a message of protobuf: wire types, and a walk over the fields of a message.
//!
//! Invariants: nothing is decoded that is not asked for, and nothing allocates; a message ends where it is no protobuf.
//! Source: the encoding of Protocol Buffers (protobuf.dev/programming-guides/encoding).

use schema::plan::ScalarKind;
use wire::varint;

pub(crate) const VARINT: u8 = 0;
pub(crate) const EIGHT_BYTES: u8 = 1;
pub(crate) const DELIMITED: u8 = 2;
pub(crate) const FOUR_BYTES: u8 = 5;

/// The wire type of values of this type.
pub(crate) const fn wire_type(kind: ScalarKind) -> u8 {
    use ScalarKind as K;
    match kind {
        K::Double | K::Fixed64 | K::Sfixed64 => EIGHT_BYTES,
        K::Float | K::Fixed32 | K::Sfixed32 => FOUR_BYTES,
        K::String | K::Bytes => DELIMITED,
        K::Int32 | K::Int64 | K::Uint32 | K::Uint64 | K::Sint32 | K::Sint64 | K::Bool | K::Enum => VARINT,
    }
}

/// A value as it stands in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Raw<'a> {
    /// A number of any wire type.
    Number(u64),
    /// A text, bytes, a message, or packed numbers.
    Bytes(&'a [u8]),
}

/// The fields of a message in order: numbers and values.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a>(pub &'a [u8]);

impl<'a> Iterator for Fields<'a> {
    type Item = (u64, Raw<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let key = varint::take(&mut self.0)?;
        Some((key >> 3, value((key & 7) as u8, &mut self.0)?))
    }
}

/// The value of a field, the `place`-th where it has several. `packed` is the wire type of items that may be packed.
pub(crate) fn find(message: &[u8], number: u32, mut place: u32, packed: Option<u8>) -> Option<Raw<'_>> {
    for (_, raw) in Fields(message).filter(|(found, _)| *found == u64::from(number)) {
        match (raw, packed) {
            (Raw::Bytes(mut items), Some(wire_type)) => {
                while !items.is_empty() {
                    let item = value(wire_type, &mut items)?;
                    if place == 0 {
                        return Some(item);
                    }
                    place -= 1;
                }
            }
            (raw, _) if place == 0 => return Some(raw),
            _ => place -= 1,
        }
    }
    None
}

/// The message at the end of a way of fields, each with which of its values is meant.
pub(crate) fn within<'a>(mut message: &'a [u8], way: &[(u32, u32)]) -> Option<&'a [u8]> {
    for &(number, place) in way {
        let Raw::Bytes(bytes) = find(message, number, place, None)? else { return None };
        message = bytes;
    }
    Some(message)
}

fn value<'a>(wire_type: u8, rest: &mut &'a [u8]) -> Option<Raw<'a>> {
    match wire_type {
        VARINT => varint::take(rest).map(Raw::Number),
        EIGHT_BYTES => take(rest, 8).map(number),
        FOUR_BYTES => take(rest, 4).map(number),
        DELIMITED => {
            let length = usize::try_from(varint::take(rest)?).ok()?;
            take(rest, length).map(Raw::Bytes)
        }
        _ => None,
    }
}

fn number(bytes: &[u8]) -> Raw<'_> {
    Raw::Number(bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, behind) = rest.split_at_checked(length)?;
    *rest = behind;
    Some(taken)
}
