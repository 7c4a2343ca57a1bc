//! The body of a call: the message as it stands, or its parts compiled to what is rendered for each request.

use super::error::ProgramError;
use crate::template::node::{Field, Message, Node, Part};
use crate::template::{Piece, Scope, compile_text};
use schema::plan::{CallPlan, MessagePart, ValuePart};

/// Messages within messages. Each is three levels of JSON in a plan, of which readers of JSON take 128.
const DEPTH_MAX: usize = 32;

/// The pieces of a call's body; `fixed` is what the request's plan holds, `key` its place in the scenario.
///
/// # Errors
/// An expression that cannot be, or a field that cannot be rendered.
pub(super) fn body(
    call: &CallPlan,
    fixed: &[u8],
    key: &str,
    scope: Scope<'_>,
) -> Result<Vec<Piece>, ProgramError> {
    let Some(parts) = &call.message else { return Ok(vec![Piece::Literal(fixed.to_vec())]) };
    let key = format!("{key}.grpc.message");
    let parts = compile(parts, &key, scope, 0)?;
    Ok(vec![Piece::Value(Node::Message(Box::new(Message(parts))))])
}

fn compile(
    parts: &[MessagePart],
    key: &str,
    scope: Scope<'_>,
    depth: usize,
) -> Result<Vec<Part>, ProgramError> {
    if depth > DEPTH_MAX {
        let cause = format!("messages lie within each other more than {DEPTH_MAX} deep");
        return Err(ProgramError::new(key, cause, "send a flatter message"));
    }
    parts
        .iter()
        .map(|part| match part {
            MessagePart::Fixed(bytes) => Ok(Part::Fixed(bytes.0.clone())),
            MessagePart::Message { field, parts } => {
                Ok(Part::message(*field, compile(parts, key, scope, depth + 1)?))
            }
            MessagePart::Value(value) => self::value(value, key, scope),
        })
        .collect()
}

fn value(value: &ValuePart, key: &str, scope: Scope<'_>) -> Result<Part, ProgramError> {
    let text = value.text.as_bytes();
    let pieces = compile_text(text, scope).map_err(|fault| ProgramError::fault(key, text, fault))?;
    let names = value.names.iter().map(|(name, number)| (name.clone().into_bytes(), *number)).collect();
    Field::new(value.field, value.kind, pieces, names).map(Part::Value).ok_or_else(|| {
        let cause = format!("`{}` is more than one expression, for a field that holds no text", value.text);
        ProgramError::new(key, cause, "write one ${…}; it may calculate, as ${counter() + 10}")
    })
}

#[cfg(test)]
mod tests {
    use crate::program::tests::{compile, entry, plan};
    use crate::{Framed, MakeCause, Maker, ProgramError};
    use schema::plan::{CallPlan, Encoded, MessagePart, ScalarKind, ValuePart};
    use std::collections::BTreeMap;
    use std::sync::Arc;
    use wire::Http2;

    fn value(field: u32, kind: ScalarKind, text: &str) -> MessagePart {
        MessagePart::Value(ValuePart { field, kind, text: text.into(), names: BTreeMap::new() })
    }

    fn framed(parts: Vec<MessagePart>) -> Result<Arc<Framed<Http2>>, ProgramError> {
        let mut call = entry("call", "POST", "/p.S/M", &[("te", "trailers")], "");
        call.grpc = Some(CallPlan { message: Some(parts), ..CallPlan::default() });
        let program = compile(&plan(vec![call], &[("name", "choose('ä', 'ä')")]))?;
        Framed::new(program.shared())
    }

    /// The message of request `n`.
    fn made(parts: Vec<MessagePart>, n: u64) -> Result<Vec<u8>, MakeCause> {
        let mut maker = Maker::new(framed(parts).unwrap(), 0, 1);
        let mut out = Vec::new();
        maker.make(n, None, &mut out).map_err(|error| error.cause)?;
        // A parcel says how long its parts are, and ends with its body.
        let parts = u32::from_le_bytes(out[2..6].try_into().unwrap()) as usize;
        Ok(out.split_off(10 + parts))
    }

    #[test]
    fn a_message_is_rendered_field_by_field() {
        use ScalarKind as K;
        let inner = vec![value(1, K::String, "<${name}${counter()}>"), value(2, K::Bytes, "${base64(name)}")];
        let parts = vec![
            MessagePart::Fixed(Encoded(vec![0x28, 9])),
            value(1, K::Int64, "${counter() + 1}"),
            MessagePart::Message { field: 20, parts: inner },
            value(3, K::Bool, "${choose('true', 'true')}"),
            value(4, K::Double, "${1 / 2.0}"),
        ];
        let message = [
            &[0x28, 9, 0x08, 0xac, 2][..],
            &[0xa2, 1, 7 + 2 + 4],
            &[0x0a, 7],
            "<ä299>".as_bytes(),
            &[0x12, 2],
            "ä".as_bytes(),
            &[0x18, 1, 0x21],
            &0.5_f64.to_le_bytes(),
        ]
        .concat();
        let prefix = [0, 0, 0, 0, message.len() as u8];
        assert_eq!(made(parts, 299).unwrap(), [&prefix[..], &message].concat());
    }

    #[test]
    fn names_of_an_enumeration_stand_for_their_numbers() {
        let names = BTreeMap::from([("LOW".to_owned(), 1), ("HIGH".to_owned(), 7)]);
        let part = |text: &str| {
            let part =
                ValuePart { field: 1, kind: ScalarKind::Enum, text: text.into(), names: names.clone() };
            made(vec![MessagePart::Value(part)], 0)
        };
        assert_eq!(part("${choose('HIGH', 'HIGH')}").unwrap(), [0, 0, 0, 0, 2, 8, 7]);
        assert_eq!(part("${5}").unwrap(), [0, 0, 0, 0, 2, 8, 5]);
        assert_eq!(part("${choose('NO', 'NO')}"), Err(MakeCause::Unfit));
    }

    #[test]
    fn what_a_field_cannot_hold_is_no_request() {
        use ScalarKind as K;
        for (kind, text) in [
            (K::Int32, "${3000000000 + counter()}"),
            (K::Uint32, "${counter() - 1}"),
            (K::Int32, "${name}"),
            (K::Int32, "${counter() + 0.5}"),
            (K::Bool, "${counter() + 2}"),
            (K::Bytes, "${name}"),
            (K::Float, "${counter() + 1e300}"),
        ] {
            assert_eq!(made(vec![value(1, kind, text)], 0), Err(MakeCause::Unfit), "{kind:?} {text}");
        }
        let error = framed(vec![value(1, K::Int32, "1${counter()}")]).unwrap_err();
        assert_eq!(error.key, "requests.0.grpc.message");
        assert!(error.cause.contains("more than one expression"), "{error}");
        let error = framed(vec![value(1, K::Int32, "${no}")]).unwrap_err();
        assert_eq!(error.key, "requests.0.grpc.message", "{error}");
    }

    #[test]
    fn messages_have_a_depth_and_a_length() {
        let nested = |depth| {
            let inner = vec![value(1, ScalarKind::Int32, "${counter()}")];
            (0..depth).fold(inner, |parts, _| vec![MessagePart::Message { field: 1, parts }])
        };
        assert!(made(nested(super::DEPTH_MAX), 0).is_ok());
        let error = framed(nested(super::DEPTH_MAX + 1)).unwrap_err();
        assert!(error.cause.contains("more than 32 deep"), "{error}");
        let plan = serde_json::to_string(&nested(super::DEPTH_MAX)).unwrap();
        // The lists and tables of a plan around it.
        let plan = format!("{}{plan}{}", "[".repeat(20), "]".repeat(20));
        assert!(serde_json::from_str::<serde_json::Value>(&plan).is_ok());
        let long = |bytes: usize| vec![value(1, ScalarKind::String, &format!("${{string({bytes})}}"))];
        // The key and four bytes of length stand before the text.
        let longest = (4 << 20) - 5;
        assert_eq!(made(long(longest), 0).unwrap().len(), 5 + (4 << 20));
        assert_eq!(made(long(longest + 1), 0), Err(MakeCause::MessageTooLong));
    }

    #[test]
    fn a_warm_message_takes_no_memory() {
        use ScalarKind as K;
        let inner = vec![value(1, K::String, "${uuid4()}"), value(2, K::Sint64, "${uniform(-9, 9)}")];
        let parts = vec![value(1, K::Int64, "${counter()}"), MessagePart::Message { field: 2, parts: inner }];
        let (mut maker, mut out) = (Maker::new(framed(parts).unwrap(), 0, 1), Vec::new());
        let mut make = |n| maker.make(n, None, &mut out).map(drop);
        (0..100).for_each(|n| make(n).unwrap());
        let counts = allocation_counter::measure(|| (100..1_000).for_each(|n| make(n).unwrap()));
        assert_eq!(counts.count_total, 0);
    }
}
