//! From JSON to protobuf: all at once where a message is always the same, else in parts, of which those with `${…}` wait for
//! the request.
//!
//! Parts are written in the order of the JSON text, which protobuf allows. What is not a template is encoded by
//! `prost-reflect`, by the canonical mapping (protobuf.dev/programming-guides/json).

use prost_reflect::prost::Message as _;
use prost_reflect::{DeserializeOptions, DynamicMessage, FieldDescriptor, Kind, MessageDescriptor};
use schema::plan::{Encoded, MessagePart, ScalarKind, ValuePart};
use schema::text::nearest;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A message, encoded as far as it can be.
#[derive(Debug)]
pub(super) enum Message {
    /// It is always the same.
    Fixed(Vec<u8>),
    /// Parts of it are rendered for each request.
    Parts(Vec<MessagePart>),
}

/// Encodes a message of this type.
///
/// # Errors
/// What does not fit the type, in words.
pub(super) fn message(kind: &MessageDescriptor, value: Value) -> Result<Message, String> {
    if is_template(&value)? {
        let mut parts = Vec::new();
        fields(kind, value, &mut parts)?;
        return Ok(Message::Parts(parts));
    }
    fixed(kind, value).map(Message::Fixed)
}

/// Whether `${` stands in any of the texts.
///
/// # Errors
/// It stands in a name.
fn is_template(value: &Value) -> Result<bool, String> {
    Ok(match value {
        Value::String(text) => text.contains("${"),
        Value::Array(items) => {
            // Not `any`: each is looked at for wrong names.
            let found = items.iter().map(is_template).collect::<Result<Vec<bool>, _>>()?;
            found.contains(&true)
        }
        Value::Object(fields) => {
            if let Some(name) = fields.keys().find(|name| name.contains("${")) {
                return Err(format!("the name `{name}` holds ${{…}}; only values may"));
            }
            let found = fields.values().map(is_template).collect::<Result<Vec<bool>, _>>()?;
            found.contains(&true)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    })
}

/// Encodes a message without templates.
fn fixed(kind: &MessageDescriptor, value: Value) -> Result<Vec<u8>, String> {
    let strict = DeserializeOptions::new();
    let message = DynamicMessage::deserialize_with_options(kind.clone(), value, &strict);
    message.map(|message| message.encode_to_vec()).map_err(|error| format!("it does not fit: {error}"))
}

/// Joins encoded fields to those before them.
fn push_fixed(bytes: Vec<u8>, parts: &mut Vec<MessagePart>) {
    match parts.last_mut() {
        Some(MessagePart::Fixed(before)) => before.0.extend(bytes),
        _ => parts.push(MessagePart::Fixed(Encoded(bytes))),
    }
}

fn fields(kind: &MessageDescriptor, value: Value, parts: &mut Vec<MessagePart>) -> Result<(), String> {
    let Value::Object(values) = value else {
        return Err(format!("{} is a message; write it as an object", kind.full_name()));
    };
    for (name, value) in values {
        let field = field_of(kind, &name)?;
        if is_template(&value)? {
            templated(&field, value, parts)?;
        } else {
            push_fixed(fixed(kind, Value::Object(Map::from_iter([(name, value)])))?, parts);
        }
    }
    Ok(())
}

/// The field of this name, as JSON or as the file has it.
pub(super) fn field_of(kind: &MessageDescriptor, name: &str) -> Result<FieldDescriptor, String> {
    let known = kind.get_field_by_json_name(name).or_else(|| kind.get_field_by_name(name));
    known.ok_or_else(|| unknown(kind, name))
}

fn unknown(kind: &MessageDescriptor, name: &str) -> String {
    let names: Vec<String> = kind.fields().map(|field| field.json_name().to_owned()).collect();
    let near = nearest(name, names.iter().map(String::as_str));
    let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    format!("{} has no field `{name}`{near}", kind.full_name())
}

/// A field with a template somewhere in it.
fn templated(field: &FieldDescriptor, value: Value, parts: &mut Vec<MessagePart>) -> Result<(), String> {
    match value {
        Value::Object(entries) if field.is_map() => map(field, entries, parts),
        Value::Array(items) if field.is_list() => {
            items.into_iter().try_for_each(|item| single(field, item, parts))
        }
        _ if field.is_map() => Err(format!("the field `{}` is a map; write it as an object", field.name())),
        _ if field.is_list() => Err(format!("the field `{}` is a list; write it as an array", field.name())),
        value => single(field, value, parts),
    }
}

/// One value of a field.
fn single(field: &FieldDescriptor, value: Value, parts: &mut Vec<MessagePart>) -> Result<(), String> {
    if field.is_group() {
        return Err(format!("the field `{}` is a group, which takes no ${{…}}", field.name()));
    }
    match (field.kind(), value) {
        (Kind::Message(inner), value) => {
            let mut within = Vec::new();
            inner_message(field, &inner, value, &mut within)?;
            parts.push(MessagePart::Message { field: field.number(), parts: within });
        }
        (kind, Value::String(text)) if text.contains("${") => {
            parts.push(MessagePart::Value(scalar(field.number(), &kind, text)));
        }
        (_, value) => push_fixed(alone(field, value)?, parts),
    }
    Ok(())
}

/// What a message that is a field holds. Those with a form of their own in JSON take templates where it is that of their
/// only value.
fn inner_message(
    field: &FieldDescriptor,
    inner: &MessageDescriptor,
    value: Value,
    within: &mut Vec<MessagePart>,
) -> Result<(), String> {
    let Some(name) = inner.full_name().strip_prefix("google.protobuf.") else {
        return fields(inner, value, within);
    };
    if !is_template(&value)? {
        push_fixed(fixed(inner, value)?, within);
        return Ok(());
    }
    let wraps = name.len() > "Value".len() && name.ends_with("Value") && name != "ListValue";
    match inner.get_field(1) {
        Some(only) if wraps => single(&only, value, within),
        _ => Err(format!("the field `{}` is a {}, which takes no ${{…}}", field.name(), inner.full_name())),
    }
}

/// One value of a field, encoded as that of a message without other fields.
pub(super) fn alone(field: &FieldDescriptor, value: Value) -> Result<Vec<u8>, String> {
    let value = if field.is_list() { Value::Array(vec![value]) } else { value };
    let name = field.json_name().to_owned();
    fixed(field.parent_message(), Value::Object(Map::from_iter([(name, value)])))
}

fn map(
    field: &FieldDescriptor,
    entries: Map<String, Value>,
    parts: &mut Vec<MessagePart>,
) -> Result<(), String> {
    let Kind::Message(entry) = field.kind() else { return Err("a map without entries".to_owned()) };
    for (key, value) in entries {
        let mut within = Vec::new();
        let key = match (entry.map_entry_key_field().kind(), key.as_str()) {
            (Kind::Bool, "true") => Value::Bool(true),
            (Kind::Bool, "false") => Value::Bool(false),
            (_, text) => Value::String(text.to_owned()),
        };
        push_fixed(alone(&entry.map_entry_key_field(), key)?, &mut within);
        single(&entry.map_entry_value_field(), value, &mut within)?;
        parts.push(MessagePart::Message { field: field.number(), parts: within });
    }
    Ok(())
}

fn scalar(field: u32, kind: &Kind, text: String) -> ValuePart {
    let names = match kind {
        Kind::Enum(kind) => kind.values().map(|value| (value.name().to_owned(), value.number())).collect(),
        _ => BTreeMap::new(),
    };
    ValuePart { field, kind: scalar_kind(kind), text, names }
}

pub(super) fn scalar_kind(kind: &Kind) -> ScalarKind {
    match kind {
        Kind::Double => ScalarKind::Double,
        Kind::Float => ScalarKind::Float,
        Kind::Int32 => ScalarKind::Int32,
        Kind::Int64 => ScalarKind::Int64,
        Kind::Uint32 => ScalarKind::Uint32,
        Kind::Uint64 => ScalarKind::Uint64,
        Kind::Sint32 => ScalarKind::Sint32,
        Kind::Sint64 => ScalarKind::Sint64,
        Kind::Fixed32 => ScalarKind::Fixed32,
        Kind::Fixed64 => ScalarKind::Fixed64,
        Kind::Sfixed32 => ScalarKind::Sfixed32,
        Kind::Sfixed64 => ScalarKind::Sfixed64,
        Kind::Bool => ScalarKind::Bool,
        // Messages are taken apart before.
        Kind::String | Kind::Message(_) => ScalarKind::String,
        Kind::Bytes => ScalarKind::Bytes,
        Kind::Enum(_) => ScalarKind::Enum,
    }
}
