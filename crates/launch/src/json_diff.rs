//! The first place at which two JSON values differ in meaning, as a path a reader can follow.
//!
//! Numbers are compared by value: 1 and 1.0 are equal. The order of keys does not matter. What is shown of a value
//! is bounded and without control characters.

use crate::tail::clean;
use request::same_number;
use serde_json::Value;
use std::fmt::Write as _;

/// Characters shown of a value.
const VALUE_CHARS: usize = 120;
/// Characters shown of a path.
const PATH_CHARS: usize = 200;

/// `PATH: expected X, got Y` for the first difference; `None` for equal values.
pub(crate) fn first_difference(expected: &Value, got: &Value) -> Option<String> {
    let mut path = String::from("$");
    let what = differ(expected, got, &mut path)?;
    Some(format!("{}: {what}", clean(&path, PATH_CHARS)))
}

/// Leaves `path` at the place of the difference. serde_json refuses values nested deeper than 128, which bounds the
/// recursion.
fn differ(expected: &Value, got: &Value, path: &mut String) -> Option<String> {
    match (expected, got) {
        (Value::Object(expected), Value::Object(got)) => {
            for (key, value) in expected {
                let found = at(path, &key_step(key), |path| match got.get(key) {
                    Some(got) => differ(value, got, path),
                    None => Some(format!("expected {}, but the key is missing", show(value))),
                });
                if found.is_some() {
                    return found;
                }
            }
            let (key, value) = got.iter().find(|(key, _)| !expected.contains_key(*key))?;
            at(path, &key_step(key), |_| Some(format!("expected no such key, got {}", show(value))))
        }
        (Value::Array(expected), Value::Array(got)) => {
            for (index, (expected, got)) in expected.iter().zip(got).enumerate() {
                let found = at(path, &format!("[{index}]"), |path| differ(expected, got, path));
                if found.is_some() {
                    return found;
                }
            }
            (expected.len() != got.len())
                .then(|| format!("expected {} elements, got {}", expected.len(), got.len()))
        }
        (Value::Number(a), Value::Number(b)) if same_number(a, b) => None,
        (expected, got) if expected == got => None,
        (expected, got) => Some(format!("expected {}, got {}", show(expected), show(got))),
    }
}

/// Takes one step down; the step stays in the path only where a difference was found.
fn at(path: &mut String, step: &str, look: impl FnOnce(&mut String) -> Option<String>) -> Option<String> {
    let length = path.len();
    path.push_str(step);
    let found = look(path);
    if found.is_none() {
        path.truncate(length);
    }
    found
}

fn key_step(key: &str) -> String {
    let plain = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || c == '_');
    let mut step = String::new();
    let _ = if plain { write!(step, ".{key}") } else { write!(step, "[{}]", Value::from(key)) };
    step
}

fn show(value: &Value) -> String {
    clean(&value.to_string(), VALUE_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expected: &str, got: &str, difference: Option<&str>) {
        let [a, b] = [expected, got].map(|text| serde_json::from_str::<Value>(text).unwrap());
        assert_eq!(first_difference(&a, &b).as_deref(), difference, "{expected} {got}");
    }

    #[test]
    fn meaning_not_spelling_is_compared() {
        check(r#"{"a":1,"b":[1.0, "x"]}"#, r#" {"b":[1,"x"], "a":1.00} "#, None);
        check(
            "9007199254740993",
            "9007199254740992",
            Some("$: expected 9007199254740993, got 9007199254740992"),
        );
        check("18446744073709551615", "18446744073709551615", None);
    }

    #[test]
    fn the_first_difference_is_named_by_its_path() {
        check(
            r#"{"data":[0,0,0,{"score":4.5}]}"#,
            r#"{"data":[0,0,0,{"score":"4.5"}]}"#,
            Some(r#"$.data[3].score: expected 4.5, got "4.5""#),
        );
        check(r#"{"a":{"b c":1}}"#, r#"{"a":{}}"#, Some(r#"$.a["b c"]: expected 1, but the key is missing"#));
        check(r#"{"a":1}"#, r#"{"a":1,"z":null}"#, Some("$.z: expected no such key, got null"));
        check("[1,2,3]", "[1,2]", Some("$: expected 3 elements, got 2"));
        check("[[1],[2]]", "[[1],[3]]", Some("$[1][0]: expected 2, got 3"));
        check("null", "{}", Some("$: expected null, got {}"));
    }

    #[test]
    fn hostile_values_are_shown_bounded_and_harmless() {
        let got = Value::from("\u{9b}31m".to_owned() + &"x".repeat(100_000));
        let text = first_difference(&Value::Null, &got).unwrap();
        assert!(text.chars().count() < 200 && !text.contains('\u{9b}'), "{text}");
    }
}
