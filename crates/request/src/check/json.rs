//! JSON pointers (RFC 6901), compiled once, and equality of JSON values by meaning.

use serde_json::{Number, Value};

/// A JSON pointer, split and unescaped. The default points to the whole document.
#[derive(Clone, Debug, Default)]
pub struct Pointer(Vec<String>);

impl Pointer {
    /// Reads a pointer: empty for the whole document, else `/` before every step, with `~1` for `/` and `~0` for `~`.
    ///
    /// # Errors
    /// What is wrong, with the position counted from 1.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Ok(Self(Vec::new()));
        }
        if !text.starts_with('/') {
            return Err(format!("`{text}` is no JSON pointer: it does not begin with `/`"));
        }
        if let Some(at) = bad_escape(text) {
            return Err(format!(
                "`{text}` is no JSON pointer: `~` without 0 or 1 behind it at character {at}"
            ));
        }
        let steps = text[1..].split('/');
        Ok(Self(steps.map(|step| step.replace("~1", "/").replace("~0", "~")).collect()))
    }

    /// The value that it points to.
    #[must_use]
    pub fn find<'a>(&self, document: &'a Value) -> Option<&'a Value> {
        self.0.iter().try_fold(document, |value, step| match value {
            Value::Object(members) => members.get(step),
            Value::Array(items) => items.get(array_index(step)?),
            _ => None,
        })
    }
}

fn bad_escape(text: &str) -> Option<usize> {
    let mut characters = text.chars().enumerate().peekable();
    while let Some((at, character)) = characters.next() {
        if character == '~' && !matches!(characters.peek(), Some((_, '0' | '1'))) {
            return Some(at + 1);
        }
    }
    None
}

/// Digits without leading zeros (RFC 6901 §4).
fn array_index(step: &str) -> Option<usize> {
    let is_index = step.bytes().all(|byte| byte.is_ascii_digit()) && (step == "0" || !step.starts_with('0'));
    if is_index { step.parse().ok() } else { None }
}

/// Whether two values mean the same: members of objects in any order, numbers by value.
pub(super) fn means_the_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => same_number(a, b),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| means_the_same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| means_the_same(a, b)))
        }
        _ => a == b,
    }
}

/// By value: 1 is 1.0, and large whole numbers are not rounded.
#[must_use]
pub fn same_number(a: &Number, b: &Number) -> bool {
    match (whole(a), whole(b)) {
        (Some(a), Some(b)) => a == b,
        (None, None) => a.as_f64() == b.as_f64(),
        _ => false,
    }
}

fn whole(number: &Number) -> Option<i128> {
    if let Some(number) = number.as_i64() {
        return Some(i128::from(number));
    }
    if let Some(number) = number.as_u64() {
        return Some(i128::from(number));
    }
    // Below 2^100 a whole float converts exactly; beyond, both sides are floats.
    let float = number.as_f64()?;
    (float.fract() == 0.0 && float.abs() < 2_f64.powi(100)).then_some(float as i128)
}

/// The value as it goes into a request: the text of a string, everything else as JSON. Null is no value.
pub(super) fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pointers_of_rfc_6901() {
        // The document and the table of RFC 6901 §5.
        let document = json!({
            "foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, "k\"l": 6, " ": 7, "m~n": 8
        });
        for (pointer, expected) in [
            ("", document.clone()),
            ("/foo", json!(["bar", "baz"])),
            ("/foo/0", json!("bar")),
            ("/", json!(0)),
            ("/a~1b", json!(1)),
            ("/c%d", json!(2)),
            ("/e^f", json!(3)),
            ("/g|h", json!(4)),
            ("/i\\j", json!(5)),
            ("/k\"l", json!(6)),
            ("/ ", json!(7)),
            ("/m~0n", json!(8)),
        ] {
            assert_eq!(Pointer::parse(pointer).unwrap().find(&document), Some(&expected), "{pointer}");
        }
        for nowhere in
            ["/foo/2", "/foo/-", "/foo/00", "/foo/+0", "/foo/", "/x", "/foo/0/x", "/foo/99999999999999999999"]
        {
            assert_eq!(Pointer::parse(nowhere).unwrap().find(&document), None, "{nowhere}");
        }
        assert!(Pointer::parse("foo").unwrap_err().contains("does not begin with `/`"));
        for (text, position) in [("/a~2", "character 3"), ("/a~", "character 3"), ("/ü~~0", "character 3")] {
            let error = Pointer::parse(text).unwrap_err();
            assert!(error.contains(position), "{error}");
        }
    }

    #[test]
    fn values_are_equal_by_meaning() {
        let parse = |text| serde_json::from_str::<Value>(text).unwrap();
        for (a, b, same) in [
            ("1", "1.0", true),
            ("1", "1e0", true),
            ("-0.0", "0", true),
            ("0.1", "1e-1", true),
            ("1", "1.5", false),
            ("1", "\"1\"", false),
            ("9007199254740993", "9007199254740992.0", false),
            ("18446744073709551615", "18446744073709551614", false),
            ("18446744073709551615", "-1", false),
            ("1e300", "1e300", true),
            ("[1, {\"a\": 2, \"b\": 3}]", "[1.0, {\"b\": 3.0, \"a\": 2.0}]", true),
            ("[1]", "[1, 2]", false),
            ("{\"a\": 1}", "{\"b\": 1}", false),
            ("{\"a\": 1}", "{\"a\": 1, \"b\": 1}", false),
            ("null", "null", true),
            ("null", "false", false),
        ] {
            assert_eq!(means_the_same(&parse(a), &parse(b)), same, "{a} and {b}");
            assert_eq!(means_the_same(&parse(b), &parse(a)), same, "{b} and {a}");
        }
    }

    #[test]
    fn values_as_text() {
        for (value, text) in [
            (json!("a\"b"), Some("a\"b")),
            (json!(12), Some("12")),
            (json!(true), Some("true")),
            (json!([1, "x"]), Some("[1,\"x\"]")),
            (json!(null), None),
        ] {
            assert_eq!(text_of(&value).as_deref(), text);
        }
    }
}
