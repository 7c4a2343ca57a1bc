//! Messages of protobuf whose fields are rendered for each request: fixed parts are copied, values evaluated and encoded
//! by their type.
//!
//! A length is put in front of what it measures once that is written, so nothing is computed twice. Invariants: nothing
//! allocates once the memory has grown; a value that its field cannot hold is an error and never another value.
//! Source: the encoding of Protocol Buffers (protobuf.dev/programming-guides/encoding).

use super::eval::{Frame, Outside};
use super::node::{Field, Message, Part, Piece};
use super::value::{Span, Value};
use crate::program::MakeCause;
use crate::protobuf::{DELIMITED, wire_type};
use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use schema::plan::ScalarKind;
use wire::grpc::{MESSAGE_BYTES_MAX, PREFIX_BYTES, push_prefix};
use wire::varint;

/// As JSON writes bytes; padding may lack.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

impl Field {
    /// `None` where a number or a choice is not one expression, or one literal.
    pub(crate) fn new(
        number: u32,
        kind: ScalarKind,
        text: Vec<Piece>,
        names: Vec<(Vec<u8>, i32)>,
    ) -> Option<Self> {
        let wire_type = wire_type(kind);
        let fits = wire_type == DELIMITED || text.len() == 1;
        fits.then(|| Self { key: key(number, wire_type), kind, text, names })
    }
}

impl Part {
    pub(crate) fn message(number: u32, parts: Vec<Self>) -> Self {
        Self::Message { key: key(number, DELIMITED), parts }
    }
}

fn key(number: u32, wire_type: u8) -> Vec<u8> {
    let mut key = Vec::new();
    varint::put(&mut key, u64::from(number) << 3 | u64::from(wire_type));
    key
}

/// Puts the length of what was written since `from` in front of it.
fn measure(from: usize, out: &mut Vec<u8>) {
    let length = out.len() - from;
    let bytes = varint::bytes(length as u64);
    out.resize(out.len() + bytes, 0);
    out.copy_within(from..from + length, from + bytes);
    let mut rest = length as u64;
    for place in &mut out[from..from + bytes - 1] {
        *place = rest as u8 | 0x80;
        rest >>= 7;
    }
    out[from + bytes - 1] = rest as u8;
}

impl Message {
    /// Appends the message behind its prefix.
    pub(crate) fn render<O: Outside>(
        &self,
        frame: &mut Frame<'_, O>,
        out: &mut Vec<u8>,
    ) -> Result<(), MakeCause> {
        let from = out.len();
        push_prefix(0, false, out);
        render(&self.0, frame, out)?;
        let length = out.len() - from - PREFIX_BYTES;
        let length = u32::try_from(length).ok().filter(|length| *length <= MESSAGE_BYTES_MAX);
        let length = length.ok_or(MakeCause::MessageTooLong)?;
        out[from + 1..from + PREFIX_BYTES].copy_from_slice(&length.to_be_bytes());
        Ok(())
    }
}

fn render<O: Outside>(parts: &[Part], frame: &mut Frame<'_, O>, out: &mut Vec<u8>) -> Result<(), MakeCause> {
    for part in parts {
        match part {
            Part::Fixed(bytes) => out.extend_from_slice(bytes),
            Part::Value(field) => field.render(frame, out)?,
            Part::Message { key, parts } => {
                out.extend_from_slice(key);
                let from = out.len();
                render(parts, frame, out)?;
                measure(from, out);
            }
        }
    }
    Ok(())
}

impl Field {
    fn render<O: Outside>(&self, frame: &mut Frame<'_, O>, out: &mut Vec<u8>) -> Result<(), MakeCause> {
        use ScalarKind as K;
        out.extend_from_slice(&self.key);
        let mark = frame.scratch.len();
        match self.kind {
            K::String | K::Bytes => self.text(frame, out)?,
            K::Double => out.extend_from_slice(&self.float(frame)?.to_le_bytes()),
            K::Float => {
                let value = self.float(frame)?;
                let narrow = value as f32;
                if narrow.is_infinite() && value.is_finite() {
                    return Err(MakeCause::Unfit);
                }
                out.extend_from_slice(&narrow.to_le_bytes());
            }
            kind => {
                let value = self.integer(frame)?;
                push_integer(kind, value, out).ok_or(MakeCause::Unfit)?;
            }
        }
        frame.scratch.truncate(mark);
        Ok(())
    }

    /// A text or bytes, with their length in front.
    fn text<O: Outside>(&self, frame: &mut Frame<'_, O>, out: &mut Vec<u8>) -> Result<(), MakeCause> {
        let from = out.len();
        for piece in &self.text {
            match piece {
                Piece::Literal(text) => out.extend_from_slice(text),
                Piece::Value(node) => {
                    let range = frame.text(node)?.range();
                    out.extend_from_slice(&frame.scratch[range]);
                }
            }
        }
        if self.kind == ScalarKind::String {
            std::str::from_utf8(&out[from..]).map_err(|_| MakeCause::Unfit)?;
        } else {
            decode(from, out)?;
        }
        measure(from, out);
        Ok(())
    }

    /// The value of the one piece that there is.
    fn value<O: Outside>(&self, frame: &mut Frame<'_, O>) -> Result<Value, MakeCause> {
        match self.text.first() {
            Some(Piece::Value(node)) => frame.eval(node),
            Some(Piece::Literal(text)) => {
                let from = frame.scratch.len();
                frame.scratch.extend_from_slice(text);
                Ok(Value::Text(Span { from, to: frame.scratch.len() }))
            }
            None => Err(MakeCause::Unfit),
        }
    }

    fn float<O: Outside>(&self, frame: &mut Frame<'_, O>) -> Result<f64, MakeCause> {
        Ok(match self.value(frame)? {
            Value::Int(value) => value as f64,
            Value::Float(value) => value,
            Value::Text(span) => parse(&frame.scratch[span.range()]).ok_or(MakeCause::Unfit)?,
        })
    }

    /// A whole number; that of a name, of an enumeration, or of a truth value.
    fn integer<O: Outside>(&self, frame: &mut Frame<'_, O>) -> Result<i128, MakeCause> {
        match self.value(frame)? {
            Value::Int(value) => Ok(value),
            Value::Float(value) if value.fract() == 0.0 && value.abs() < 1e30 => Ok(value as i128),
            Value::Float(_) => Err(MakeCause::Unfit),
            Value::Text(span) => {
                let text = frame.scratch[span.range()].trim_ascii();
                let named = self.names.iter().find(|(name, _)| name == text);
                let truth = || match text {
                    b"true" if self.kind == ScalarKind::Bool => Some(1),
                    b"false" if self.kind == ScalarKind::Bool => Some(0),
                    _ => None,
                };
                let number = named.map(|(_, number)| i128::from(*number)).or_else(truth);
                number.or_else(|| parse(text)).ok_or(MakeCause::Unfit)
            }
        }
    }
}

fn parse<T: std::str::FromStr>(text: &[u8]) -> Option<T> {
    std::str::from_utf8(text).ok()?.trim().parse().ok()
}

/// Decodes the base64 that stands from `from` on, in place.
fn decode(from: usize, out: &mut Vec<u8>) -> Result<(), MakeCause> {
    let end = out.len();
    out.resize(end + base64::decoded_len_estimate(end - from), 0);
    let (text, room) = out.split_at_mut(end);
    let length = BASE64.decode_slice(&text[from..], room).map_err(|_| MakeCause::Unfit)?;
    out.copy_within(end..end + length, from);
    out.truncate(from + length);
    Ok(())
}

/// Appends a whole number as its type is encoded; `None` where the type does not hold it.
fn push_integer(kind: ScalarKind, value: i128, out: &mut Vec<u8>) -> Option<()> {
    use ScalarKind as K;
    match kind {
        K::Int32 | K::Enum => varint::put(out, i64::from(i32::try_from(value).ok()?).cast_unsigned()),
        K::Int64 => varint::put(out, i64::try_from(value).ok()?.cast_unsigned()),
        K::Uint32 => varint::put(out, u64::from(u32::try_from(value).ok()?)),
        K::Uint64 => varint::put(out, u64::try_from(value).ok()?),
        K::Bool => varint::put(out, u64::try_from(value).ok().filter(|value| *value < 2)?),
        K::Sint32 => {
            let value = i32::try_from(value).ok()?;
            varint::put(out, u64::from((value << 1 ^ value >> 31).cast_unsigned()));
        }
        K::Sint64 => {
            let value = i64::try_from(value).ok()?;
            varint::put(out, (value << 1 ^ value >> 63).cast_unsigned());
        }
        K::Fixed32 => out.extend_from_slice(&u32::try_from(value).ok()?.to_le_bytes()),
        K::Fixed64 => out.extend_from_slice(&u64::try_from(value).ok()?.to_le_bytes()),
        K::Sfixed32 => out.extend_from_slice(&i32::try_from(value).ok()?.to_le_bytes()),
        K::Sfixed64 => out.extend_from_slice(&i64::try_from(value).ok()?.to_le_bytes()),
        K::Double | K::Float | K::String | K::Bytes => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_put_in_front() {
        for length in [0, 1, 127, 128, 300, 16_383, 16_384, 70_000] {
            let mut out = vec![9; 3];
            out.extend(vec![7; length]);
            measure(3, &mut out);
            let mut expected = vec![9; 3];
            varint::put(&mut expected, length as u64);
            expected.extend(vec![7; length]);
            assert_eq!(out, expected, "{length}");
        }
    }

    #[test]
    fn whole_numbers_are_encoded_by_their_type_or_refused() {
        use ScalarKind as K;
        for (kind, value, bytes) in [
            (K::Int32, 150, Some(&[0x96, 1][..])),
            (K::Int32, -1, Some(&[255, 255, 255, 255, 255, 255, 255, 255, 255, 1])),
            (K::Int32, 1 << 31, None),
            (K::Int64, i128::from(i64::MAX) + 1, None),
            (K::Uint32, -1, None),
            (K::Uint64, i128::from(u64::MAX), Some(&[255, 255, 255, 255, 255, 255, 255, 255, 255, 1])),
            (K::Sint32, -2, Some(&[3])),
            (K::Sint32, i128::from(i32::MIN), Some(&[255, 255, 255, 255, 15])),
            (K::Sint64, 2, Some(&[4])),
            (K::Fixed32, 1, Some(&[1, 0, 0, 0])),
            (K::Fixed64, 1, Some(&[1, 0, 0, 0, 0, 0, 0, 0])),
            (K::Sfixed32, -1, Some(&[255; 4])),
            (K::Sfixed64, -1, Some(&[255; 8])),
            (K::Bool, 1, Some(&[1])),
            (K::Bool, 2, None),
            (K::Enum, -3, Some(&[253, 255, 255, 255, 255, 255, 255, 255, 255, 1])),
            (K::String, 1, None),
        ] {
            let mut out = Vec::new();
            let fits = push_integer(kind, value, &mut out).is_some();
            assert_eq!(fits.then_some(&out[..]), bytes, "{kind:?} {value}");
        }
    }

    #[test]
    fn base64_is_decoded_in_place() {
        for (text, bytes) in [("", Some(&b""[..])), ("aGk=", Some(b"hi")), ("aGk", Some(b"hi")), ("a", None)]
        {
            let mut out = [b"> ", text.as_bytes()].concat();
            let result = decode(2, &mut out).ok().map(|()| out[2..].to_vec());
            assert_eq!(result.as_deref(), bytes, "{text}");
        }
    }
}
