//! Examples: those that stand in a document, and values that any reader would take for a schema.
//!
//! In order: an example, the first of several, a constant, a default, the first of an enumeration, the first of the
//! alternatives, and for objects, lists and plain types a value made of what the schema says of them. What has a pattern
//! or a format that is not known here gets none, because a made-up value would be refused.

use serde_json::{Map, Value, json};
use std::cell::Cell;

/// References that lead to references, and schemas within schemas.
const DEPTH_MAX: usize = 32;
/// Schemas that are looked at for one value, and values that it is made of: lists within lists multiply.
const PARTS_MAX: u32 = 10_000;
static NOTHING: Value = Value::Null;
/// Longest text and list that is made.
const LENGTH_MAX: u64 = 1_024;

/// A document.
pub(super) struct Document<'d> {
    root: &'d Value,
    /// Parts that the value in progress may still have.
    left: Cell<u32>,
}

/// References that are being followed: a schema within itself has no value.
type Within<'w> = &'w mut Vec<String>;

impl<'d> Document<'d> {
    pub(super) const fn new(root: &'d Value) -> Self {
        Self { root, left: Cell::new(PARTS_MAX) }
    }

    pub(super) const fn root(&self) -> &'d Value {
        self.root
    }

    /// What a reference points to, else the value itself; null where it leads nowhere, or to another file.
    pub(super) fn followed<'v>(&self, value: &'v Value) -> &'v Value
    where
        'd: 'v,
    {
        let mut value = value;
        for _ in 0..DEPTH_MAX {
            let Some(reference) = value.get("$ref").and_then(Value::as_str) else { return value };
            let found = reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
            match found {
                Some(found) => value = found,
                None => return &NOTHING,
            }
        }
        &NOTHING
    }

    /// The value of a parameter.
    pub(super) fn parameter(&self, given: &Value) -> Option<Value> {
        let content = given["content"].as_object().and_then(|content| content.values().next());
        self.media(given).or_else(|| self.media(content?))
    }

    /// The value of a body.
    pub(super) fn media(&self, given: &Value) -> Option<Value> {
        self.left.set(PARTS_MAX);
        self.named(given).or_else(|| self.schema(&given["schema"], &mut Vec::new()))
    }

    /// An example that stands beside a schema.
    fn named(&self, given: &Value) -> Option<Value> {
        if let Some(example) = given.get("example") {
            return Some(example.clone());
        }
        let first = given.get("examples")?.as_object()?.values().next()?;
        self.followed(first).get("value").cloned()
    }

    /// Whether so many parts were left.
    fn take(&self, parts: u64) -> bool {
        let left = u64::from(self.left.get()).checked_sub(parts).and_then(|left| u32::try_from(left).ok());
        self.left.set(left.unwrap_or(0));
        left.is_some()
    }

    fn schema(&self, schema: &Value, within: Within<'_>) -> Option<Value> {
        let reference = schema.get("$ref").and_then(Value::as_str).unwrap_or_default();
        let is_within = !reference.is_empty() && within.iter().any(|known| known == reference);
        if is_within || within.len() > DEPTH_MAX || !self.take(1) {
            return None;
        }
        within.push(reference.to_owned());
        let value = self.described(self.followed(schema), within);
        within.pop();
        value
    }

    fn described(&self, schema: &Value, within: Within<'_>) -> Option<Value> {
        let listed =
            |key: &str| schema.get(key).and_then(Value::as_array).and_then(|all| all.first()).cloned();
        let plain = |key: &str| schema.get(key).cloned();
        let given = plain("example")
            .or_else(|| listed("examples"))
            .or_else(|| plain("const"))
            .or_else(|| plain("default"))
            .or_else(|| listed("enum"));
        if given.is_some() {
            return given.filter(|given| self.take(parts(given)));
        }
        if let Some(all) = schema["allOf"].as_array() {
            return self.all_of(all, schema, within);
        }
        for key in ["oneOf", "anyOf"] {
            if let Some(first) = schema[key].as_array().and_then(|all| all.first()) {
                return self.schema(first, within);
            }
        }
        self.by_type(schema, within)
    }

    fn all_of(&self, all: &[Value], schema: &Value, within: Within<'_>) -> Option<Value> {
        let mut whole = Map::new();
        for part in all {
            match self.schema(part, within)? {
                Value::Object(part) => whole.extend(part),
                other => return Some(other),
            }
        }
        if schema["properties"].is_object()
            && let Some(Value::Object(own)) = self.object(schema, within)
        {
            whole.extend(own);
        }
        Some(Value::Object(whole))
    }

    fn by_type(&self, schema: &Value, within: Within<'_>) -> Option<Value> {
        // 3.1 may list types, `null` among them.
        let kind = match &schema["type"] {
            Value::String(kind) => kind.as_str(),
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null")?,
            _ if schema["properties"].is_object() => "object",
            _ => return None,
        };
        match kind {
            "object" => self.object(schema, within),
            "array" => {
                let item = self.schema(&schema["items"], within)?;
                let fewest = schema["minItems"].as_u64().unwrap_or(1).clamp(1, LENGTH_MAX);
                if !self.take(parts(&item) * (fewest - 1)) {
                    return None;
                }
                Some(Value::Array(vec![item; usize::try_from(fewest).ok()?]))
            }
            "boolean" => Some(json!(true)),
            "integer" => Some(json!(number(schema).ceil() as i64)),
            "number" => Some(json!(number(schema))),
            "string" => string(schema),
            _ => None,
        }
    }

    /// All required properties, and of the others those that have a value.
    fn object(&self, schema: &Value, within: Within<'_>) -> Option<Value> {
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let mut whole = Map::new();
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            if self.followed(property)["readOnly"] == true {
                continue;
            }
            match self.schema(property, within) {
                Some(value) => drop(whole.insert(name.clone(), value)),
                None if required.contains(&name.as_str()) => return None,
                None => {}
            }
        }
        Some(Value::Object(whole))
    }
}

/// What a value is made of; a long text counts for as many as it could be.
fn parts(value: &Value) -> u64 {
    match value {
        Value::Array(all) => 1 + all.iter().map(parts).sum::<u64>(),
        Value::Object(all) => 1 + all.values().map(parts).sum::<u64>(),
        Value::String(text) => 1 + text.len() as u64 / LENGTH_MAX,
        _ => 1,
    }
}

/// The smallest number that is allowed, else 1 or what is allowed next to it.
fn number(schema: &Value) -> f64 {
    let least = schema["minimum"].as_f64().or_else(|| Some(schema["exclusiveMinimum"].as_f64()? + 1.0));
    let most = schema["maximum"].as_f64().or_else(|| Some(schema["exclusiveMaximum"].as_f64()? - 1.0));
    let strict = f64::from(u8::from(schema["exclusiveMinimum"] == true));
    least.map_or_else(|| most.map_or(1.0, |most| most.min(1.0)), |least| least + strict)
}

fn string(schema: &Value) -> Option<Value> {
    if schema.get("pattern").is_some() {
        return None;
    }
    Some(json!(match schema["format"].as_str() {
        None | Some("password") => {
            let fewest = schema["minLength"].as_u64().unwrap_or(0);
            let most = schema["maxLength"].as_u64().unwrap_or(LENGTH_MAX);
            let length = 6_u64.clamp(fewest.min(LENGTH_MAX), most.clamp(fewest.min(LENGTH_MAX), LENGTH_MAX));
            "string".chars().cycle().take(usize::try_from(length).ok()?).collect::<String>()
        }
        Some("date") => "2026-01-01".to_owned(),
        Some("date-time") => "2026-01-01T00:00:00Z".to_owned(),
        Some("uuid") => "00000000-0000-4000-8000-000000000000".to_owned(),
        Some("email") => "user@example.com".to_owned(),
        Some("uri" | "url") => "http://example.com/".to_owned(),
        Some("hostname") => "example.com".to_owned(),
        Some("ipv4") => "192.0.2.1".to_owned(),
        Some("byte") => "cHJvbnk=".to_owned(),
        Some(_) => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(schema: Value, wanted: Option<Value>) {
        let root = json!({ "components": { "schemas": {
            "Pet": { "type": "object", "required": ["name"], "properties": {
                "id": { "type": "integer", "readOnly": true }, "name": { "type": "string" },
                "owner": { "$ref": "#/components/schemas/Owner" }, "parent": { "$ref": "#/components/schemas/Pet" } } },
            "Owner": { "type": "object", "properties": { "age": { "type": "integer", "minimum": 18 } } },
            "Circle": { "$ref": "#/components/schemas/Circle" },
        } } });
        assert_eq!(Document::new(&root).schema(&schema, &mut Vec::new()), wanted, "{schema}");
    }

    #[test]
    fn values_come_from_examples_or_are_made_where_any_does() {
        check(json!({ "type": "string", "example": "a" }), Some(json!("a")));
        check(json!({ "type": "string", "enum": ["x", "y"] }), Some(json!("x")));
        check(json!({ "type": "integer", "default": 7 }), Some(json!(7)));
        check(json!({ "type": "string" }), Some(json!("string")));
        check(json!({ "type": "string", "minLength": 8 }), Some(json!("stringst")));
        check(json!({ "type": "string", "maxLength": 2 }), Some(json!("st")));
        check(
            json!({ "type": "string", "format": "uuid" }),
            Some(json!("00000000-0000-4000-8000-000000000000")),
        );
        check(json!({ "type": "string", "pattern": "^[A-Z]{3}$" }), None);
        check(json!({ "type": "string", "format": "iban" }), None);
        check(json!({ "type": ["null", "number"], "maximum": 0.5 }), Some(json!(0.5)));
        check(
            json!({ "type": "array", "items": { "type": "boolean" }, "minItems": 2 }),
            Some(json!([true, true])),
        );
        check(json!({ "oneOf": [{ "const": 3 }, { "const": 4 }] }), Some(json!(3)));
        check(json!({ "$ref": "#/components/schemas/Owner" }), Some(json!({ "age": 18 })));
        check(json!({ "$ref": "#/components/schemas/Circle" }), None);
        check(json!({ "$ref": "other.json#/x" }), None);
        let both = json!({ "allOf": [{ "$ref": "#/components/schemas/Owner" },
            { "type": "object", "properties": { "b": { "const": 1 } } }] });
        check(both, Some(json!({ "age": 18, "b": 1 })));
    }

    #[test]
    fn a_schema_within_itself_ends() {
        let root = json!({ "components": { "schemas": { "Pet": { "type": "object", "properties": {
            "name": { "type": "string" }, "parent": { "$ref": "#/components/schemas/Pet" } } } } } });
        let of = |schema| Document::new(&root).schema(&schema, &mut Vec::new());
        let made = of(json!({ "$ref": "#/components/schemas/Pet" }));
        assert_eq!(made, Some(json!({ "name": "string" })));
        // Each of twenty schemas holds all: more ways than anybody can go.
        let names: Vec<String> = (0..20).map(|n| format!("s{n}")).collect();
        let all: Map<String, Value> =
            names.iter().map(|name| (name.clone(), json!({ "$ref": format!("#/s/{name}") }))).collect();
        let schemas: Map<String, Value> =
            names.iter().map(|name| (name.clone(), json!({ "type": "object", "properties": all }))).collect();
        let root = json!({ "s": schemas });
        assert!(Document::new(&root).media(&json!({ "schema": { "$ref": "#/s/s0" } })).is_some());
    }
}
