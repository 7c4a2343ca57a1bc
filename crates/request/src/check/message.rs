//! Checks of fields in the message of an answer: a walk over its bytes by numbers of fields.
//!
//! Invariants: nothing is decoded that is not asked for, and nothing allocates; a message that is no protobuf has no fields.
//! Source: the encoding of Protocol Buffers (protobuf.dev/programming-guides/encoding).

use crate::protobuf::{DELIMITED, EIGHT_BYTES, FOUR_BYTES, VARINT, wire_type};
use schema::plan::MessageCheck;

/// A field that must be there, or have a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageRule {
    /// The rule in words.
    name: String,
    /// Numbers of fields on the way, and which of their values.
    path: Box<[(u32, u32)]>,
    /// Wire type of the field's values where they may be packed.
    packed: Option<u8>,
    /// The field with the value that it must have, as a message of its own; empty where that is the default.
    expected: Option<Box<[u8]>>,
}

/// A value as it stands in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Raw<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl MessageRule {
    /// The rule of a plan.
    #[must_use]
    pub fn new(check: &MessageCheck) -> Self {
        Self {
            name: check.name.clone(),
            path: check.path.clone().into(),
            packed: check.kind.map(wire_type).filter(|wire_type| *wire_type != DELIMITED),
            expected: check.expected.as_ref().map(|encoded| encoded.0.clone().into()),
        }
    }

    /// The rule in words.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether a message keeps the rule.
    pub(super) fn holds(&self, message: &[u8]) -> bool {
        let Some((&(number, place), before)) = self.path.split_last() else { return false };
        let mut within = message;
        for &(number, place) in before {
            match find(within, number, place, None) {
                Some(Raw::Bytes(bytes)) => within = bytes,
                _ => return false,
            }
        }
        let found = find(within, number, place, self.packed);
        let Some(expected) = &self.expected else { return found.is_some() };
        // A field with its default value is left out.
        let default = if self.packed.is_some() { Raw::Number(0) } else { Raw::Bytes(b"") };
        found.unwrap_or(default) == find(expected, number, 0, self.packed).unwrap_or(default)
    }
}

/// The value of a field, the `place`-th where it has several.
fn find(mut message: &[u8], number: u32, mut place: u32, packed: Option<u8>) -> Option<Raw<'_>> {
    while !message.is_empty() {
        let key = varint(&mut message)?;
        let raw = value((key & 7) as u8, &mut message)?;
        if key >> 3 != u64::from(number) {
            continue;
        }
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

fn value<'a>(wire_type: u8, rest: &mut &'a [u8]) -> Option<Raw<'a>> {
    match wire_type {
        VARINT => varint(rest).map(Raw::Number),
        EIGHT_BYTES => take(rest, 8).map(number),
        FOUR_BYTES => take(rest, 4).map(number),
        DELIMITED => {
            let length = usize::try_from(varint(rest)?).ok()?;
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

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut sum = 0;
    for place in 0..10 {
        let (&byte, behind) = rest.split_first()?;
        *rest = behind;
        sum |= u64::from(byte & 0x7f) << (7 * place);
        if byte < 0x80 {
            return Some(sum);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::plan::{Encoded, ScalarKind};

    fn rule(path: &[(u32, u32)], kind: Option<ScalarKind>, expected: Option<&[u8]>) -> MessageRule {
        let expected = expected.map(|bytes| Encoded(bytes.to_vec()));
        MessageRule::new(&MessageCheck { name: "n".into(), path: path.to_vec(), kind, expected })
    }

    /// 1: 150; 2: "ab"; 3: { 1: 7 } twice, the second { 1: 8 }; 4: packed 1, 2; 4: 3; 5: a double of 0.5; 6: a fixed32 of 9.
    const MESSAGE: &[u8] = b"\x08\x96\x01\x12\x02ab\x1a\x02\x08\x07\x1a\x02\x08\x08\x22\x02\x01\x02\x20\x03\
        \x29\0\0\0\0\0\0\xe0\x3f\x35\x09\0\0\0";

    #[test]
    fn fields_are_found_and_compared() {
        use ScalarKind as K;
        let (int, text, double) = (Some(K::Int32), Some(K::String), Some(K::Double));
        for (path, kind, expected, holds) in [
            (&[(1, 0)][..], int, Some(&b"\x08\x96\x01"[..]), true),
            (&[(1, 0)], int, Some(b"\x08\x05"), false),
            (&[(1, 1)], int, None, false),
            (&[(2, 0)], text, Some(b"\x12\x02ab"), true),
            (&[(2, 0)], text, Some(b""), false),
            (&[(3, 0)], None, None, true),
            (&[(3, 1), (1, 0)], int, Some(b"\x08\x08"), true),
            (&[(3, 2), (1, 0)], int, Some(b""), false),
            (&[(3, 0), (2, 0)], text, Some(b""), true),
            (&[(3, 0), (2, 0)], text, None, false),
            (&[(4, 0)], int, Some(b"\x22\x01\x01"), true),
            (&[(4, 1)], int, Some(b"\x22\x01\x02"), true),
            (&[(4, 2)], int, Some(b"\x20\x03"), true),
            (&[(4, 3)], int, None, false),
            (&[(5, 0)], double, Some(b"\x29\0\0\0\0\0\0\xe0\x3f"), true),
            (&[(6, 0)], Some(K::Fixed32), Some(b"\x35\x09\0\0\0"), true),
            (&[(9, 0)], int, Some(b""), true),
            (&[(9, 0)], int, None, false),
        ] {
            assert_eq!(rule(path, kind, expected).holds(MESSAGE), holds, "{path:?} {expected:?}");
        }
    }

    #[test]
    fn no_bytes_make_it_panic_or_wander() {
        let there = rule(&[(1, 0)], Some(ScalarKind::Int32), None);
        for bytes in [
            &b"\xff"[..],
            b"\x08",
            b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
            b"\x09\0",
            b"\x0b\x0c",
            b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        ] {
            assert!(!there.holds(bytes), "{bytes:?}");
        }
        for end in 0..MESSAGE.len() {
            let _ = rule(&[(6, 0)], None, None).holds(&MESSAGE[..end]);
        }
    }
}
