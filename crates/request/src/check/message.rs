//! Checks of fields in the message of an answer: a walk over its bytes by numbers of fields.

use crate::protobuf::{DELIMITED, Raw, find, wire_type, within};
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
        let Some(within) = within(message, before) else { return false };
        let found = find(within, number, place, self.packed);
        let Some(expected) = &self.expected else { return found.is_some() };
        // A field with its default value is left out.
        let default = if self.packed.is_some() { Raw::Number(0) } else { Raw::Bytes(b"") };
        found.unwrap_or(default) == find(expected, number, 0, self.packed).unwrap_or(default)
    }
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
