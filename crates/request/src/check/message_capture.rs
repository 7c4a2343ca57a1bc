//! Values taken from the message of an answer: found by numbers of fields, written as JSON writes such a value.
//!
//! Invariants: warm, nothing allocates but a value that is longer than any before; texts that are no UTF-8 stay as they are.
//! Source: ProtoJSON (protobuf.dev/programming-guides/json): 64-bit numbers in decimal, `bytes` in base64, enumerations by
//! name.

use super::notes::{CAPTURED_BYTES_MAX, Notes};
use crate::protobuf::{DELIMITED, Raw, find, wire_type, within};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schema::plan::{MessageCapture, ScalarKind};
use std::collections::BTreeMap;
use std::io::Write as _;

/// A value that is taken from a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MessageTaken {
    /// What the caller knows the name by.
    index: usize,
    /// What is taken, in words.
    words: String,
    /// Numbers of fields on the way, and which of their values.
    path: Box<[(u32, u32)]>,
    kind: ScalarKind,
    names: BTreeMap<i32, String>,
    /// Whether a message without the field has it with its default value.
    is_implied: bool,
    /// The value where none is found; without it, that is a failed check.
    default: Option<String>,
}

impl MessageTaken {
    pub(super) fn new(plan: &MessageCapture, index: usize) -> Self {
        Self {
            index,
            words: format!("capture {}: message", plan.name),
            path: plan.path.clone().into(),
            kind: plan.kind,
            names: plan.names.clone(),
            is_implied: plan.implied,
            default: plan.default.clone(),
        }
    }

    pub(super) fn words(&self) -> &str {
        &self.words
    }

    /// Takes the value from the kept message, or else the default. Says no where there is none.
    pub(super) fn take(&self, notes: &mut Notes) -> bool {
        notes.capture_written(self.index, |message, out| self.write(message, out))
            || self.default.as_ref().is_some_and(|default| notes.capture(self.index, default.as_bytes()))
    }

    fn write(&self, message: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let (&(number, place), before) = self.path.split_last()?;
        let message = within(message, before)?;
        let wire_type = wire_type(self.kind);
        let is_delimited = wire_type == DELIMITED;
        let found = find(message, number, place, (!is_delimited).then_some(wire_type));
        let default = if is_delimited { Raw::Bytes(b"") } else { Raw::Number(0) };
        match found.or(self.is_implied.then_some(default))? {
            Raw::Number(number) if !is_delimited => self.write_number(number, out),
            Raw::Bytes(bytes) if is_delimited => write_bytes(self.kind, bytes, out),
            // Of another type than the descriptor says.
            Raw::Number(_) | Raw::Bytes(_) => None,
        }
    }

    #[expect(clippy::cast_possible_wrap, reason = "the bits of a number are those of its type")]
    fn write_number(&self, bits: u64, out: &mut Vec<u8>) -> Option<()> {
        use ScalarKind as K;
        let mut decimal = itoa::Buffer::new();
        // As the lower half of a number is.
        let low = bits as u32;
        let text = match self.kind {
            K::Bool => {
                if bits == 0 {
                    "false"
                } else {
                    "true"
                }
            }
            K::Int32 | K::Sfixed32 => decimal.format(low as i32),
            K::Uint32 | K::Fixed32 => decimal.format(low),
            K::Sint32 => decimal.format(zigzag(u64::from(low)) as i32),
            K::Int64 | K::Sfixed64 => decimal.format(bits as i64),
            K::Uint64 | K::Fixed64 => decimal.format(bits),
            K::Sint64 => decimal.format(zigzag(bits)),
            K::Enum => match self.names.get(&(low as i32)) {
                Some(name) => name,
                None => decimal.format(low as i32),
            },
            K::Float => return write_float(f32::from_bits(low), out),
            K::Double => return write_float(f64::from_bits(bits), out),
            K::String | K::Bytes => return None,
        };
        out.extend_from_slice(text.as_bytes());
        Some(())
    }
}

/// A text as it is, `bytes` in base64. One that is too long is not copied: its length says no.
fn write_bytes(kind: ScalarKind, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    if bytes.len() > CAPTURED_BYTES_MAX {
        return None;
    }
    if kind == ScalarKind::String {
        out.extend_from_slice(bytes);
        return Some(());
    }
    let start = out.len();
    out.resize(start + bytes.len().div_ceil(3) * 4, 0);
    STANDARD.encode_slice(bytes, &mut out[start..]).ok().map(drop)
}

const fn zigzag(bits: u64) -> i64 {
    (bits >> 1) as i64 ^ -((bits & 1) as i64)
}

/// The shortest decimal that means the same number; JSON has none for NaN and the infinities, which it writes as texts.
fn write_float(value: impl Float, out: &mut Vec<u8>) -> Option<()> {
    let text = match value.class() {
        Some(text) => return out.write_all(text.as_bytes()).ok(),
        None => value,
    };
    write!(out, "{text:?}").ok()
}

/// Both sizes of numbers with a point.
trait Float: Copy + std::fmt::Debug {
    /// The name of what is no number.
    fn class(self) -> Option<&'static str>;
}

macro_rules! float {
    ($size:ty) => {
        impl Float for $size {
            fn class(self) -> Option<&'static str> {
                match self {
                    value if value.is_nan() => Some("NaN"),
                    Self::INFINITY => Some("Infinity"),
                    Self::NEG_INFINITY => Some("-Infinity"),
                    _ => None,
                }
            }
        }
    };
}
float!(f32);
float!(f64);

#[cfg(test)]
mod tests {
    use super::*;
    use ScalarKind as K;

    fn taken(kind: K, path: &[(u32, u32)]) -> MessageTaken {
        let capture = MessageCapture {
            name: "x".into(),
            path: path.to_vec(),
            kind,
            names: BTreeMap::from([(1, "FRUIT".to_owned())]),
            implied: false,
            default: None,
        };
        MessageTaken::new(&capture, 3)
    }

    fn text(taken: &MessageTaken, message: &[u8]) -> Option<String> {
        let mut notes = Notes::default();
        notes.begin();
        notes.keep_body(message);
        taken.take(&mut notes).then(|| {
            let (index, value) = notes.captured().next().unwrap();
            assert_eq!(index, 3);
            String::from_utf8(value.to_vec()).unwrap()
        })
    }

    #[test]
    fn values_are_written_as_json_writes_them() {
        let double = [&[0x09][..], &1.5_f64.to_le_bytes()].concat();
        let whole = [&[0x09][..], &2.0_f64.to_le_bytes()].concat();
        let nan = [&[0x0d][..], &f32::NAN.to_le_bytes()].concat();
        let minus = [&[0x08][..], &[0xff; 9], &[1]].concat();
        for (kind, message, expected) in [
            (K::Int32, &[8, 7][..], "7"),
            (K::Int32, &minus, "-1"),
            (K::Int64, &minus, "-1"),
            (K::Uint64, &minus, "18446744073709551615"),
            (K::Sint32, &[8, 5], "-3"),
            (K::Sint64, &[8, 4], "2"),
            (K::Fixed32, &[0x0d, 9, 0, 0, 0], "9"),
            (K::Sfixed32, &[0x0d, 0xff, 0xff, 0xff, 0xff], "-1"),
            (K::Sfixed64, &[9, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], "-1"),
            (K::Bool, &[8, 1], "true"),
            (K::Enum, &[8, 1], "FRUIT"),
            (K::Enum, &[8, 9], "9"),
            (K::Double, &double, "1.5"),
            (K::Double, &whole, "2.0"),
            (K::Float, &nan, "NaN"),
            (K::String, "\u{a}\u{3}pä".as_bytes(), "pä"),
            (K::Bytes, b"\x0a\x02hi", "aGk="),
        ] {
            assert_eq!(
                text(&taken(kind, &[(1, 0)]), message).as_deref(),
                Some(expected),
                "{kind:?} {message:?}"
            );
        }
        assert_eq!(text(&taken(K::Int32, &[(1, 1)]), &[10, 2, 5, 6]).as_deref(), Some("6"), "a packed list");
        assert_eq!(
            text(&taken(K::Int32, &[(2, 1), (1, 0)]), b"\x12\x00\x12\x02\x08\x05").as_deref(),
            Some("5")
        );
    }

    #[test]
    fn what_is_not_there_is_implied_or_given_or_lost() {
        let mut rule = taken(K::Int64, &[(1, 0)]);
        assert_eq!(text(&rule, b""), None);
        rule.default = Some("none".into());
        assert_eq!(text(&rule, b"").as_deref(), Some("none"));
        rule.is_implied = true;
        assert_eq!(text(&rule, b"").as_deref(), Some("0"));
        let empty = MessageTaken { is_implied: true, ..taken(K::String, &[(1, 0)]) };
        assert_eq!(text(&empty, b"").as_deref(), Some(""));
        assert_eq!(text(&taken(K::Int64, &[(2, 0), (1, 0)]), b"\x08\x01"), None);
        let long = [&b"\x0a\x81\x40"[..], &[b'x'; CAPTURED_BYTES_MAX + 1]].concat();
        assert_eq!(text(&taken(K::String, &[(1, 0)]), &long), None, "too long");
        assert_eq!(text(&taken(K::Int32, &[(1, 0)]), b"\x0a\x01\xff"), None, "no number in a packed list");
        assert_eq!(text(&taken(K::String, &[(1, 0)]), b"\x08\x01"), None, "another type");
    }

    #[test]
    fn a_warm_capture_takes_no_memory() {
        let message = [&b"\x08\x96\x01\x12\x02hi"[..], &[0x19], &0.1_f64.to_le_bytes()].concat();
        let rules = [taken(K::Int64, &[(1, 0)]), taken(K::Bytes, &[(2, 0)]), taken(K::Double, &[(3, 0)])];
        let mut notes = Notes::default();
        let mut round = || {
            notes.begin();
            notes.keep_body(&message);
            assert!(rules.iter().all(|rule| rule.take(&mut notes)));
        };
        (0..10).for_each(|_| round());
        let counts = allocation_counter::measure(|| (0..100).for_each(|_| round()));
        assert_eq!(counts.count_total, 0);
    }
}
