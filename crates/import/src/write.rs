//! A scenario as TOML for people: the keys in the order of the schema, what is empty left out, short tables on one
//! line.
//!
//! Invariant: reading the text gives an equal scenario. The values come from serde's own form, so a new key of the
//! schema is written without a change here.

use schema::json::is_unseen;
use schema::scenario::ScenarioFile;
use serde_json::{Map, Value};
use std::fmt::Write as _;

/// Longest line on which a table or list is written.
const LINE_CHARS_MAX: usize = 100;
/// Keys that say the same when they are empty as when they are missing, by the table that they stand in.
const EMPTY_IN_REQUEST: [&str; 4] = ["query", "headers", "expect", "capture"];
const EMPTY_IN_EXPECT: [&str; 6] = ["status", "headers", "contains", "regex", "json_has", "json_equals"];

/// The text of a scenario file: tidy, commented, in an order that does not change.
#[must_use]
pub fn to_toml(scenario: &ScenarioFile) -> String {
    // Keys are texts and numbers are finite, so serde_json has a form for every scenario.
    let mut root = match serde_json::to_value(scenario) {
        Ok(Value::Object(root)) => root,
        _ => Map::new(),
    };
    let mut text = String::from("# What prony sends. Every key: docs/guides/experiment-file.md\n");
    let requests = root.remove("requests");
    for (key, value) in &root {
        if !value.is_null() && !value.is_object() {
            line(&mut text, key, value);
        }
    }
    if let Some(Value::Object(request)) = root.get("request") {
        table(&mut text, "[request]", &slim(request, &EMPTY_IN_REQUEST));
    }
    if let Some(Value::Object(expect)) = root.get("expect") {
        table(&mut text, "[expect]", &slim(expect, &EMPTY_IN_EXPECT));
    }
    if let Some(Value::Object(vars)) = root.get("vars").filter(|vars| is_filled(vars)) {
        comment(&mut text, "Values drawn once for each request; ${NAME} puts one in.");
        table_head(&mut text, "[vars]");
        lines(&mut text, vars);
    }
    for (group, about) in [
        ("feeders", "Rows from files; ${NAME.COLUMN} puts one in."),
        ("tokens", "JSON Web Tokens; ${token(\"NAME\")} puts one in."),
    ] {
        if let Some(Value::Object(group_table)) = root.get(group).filter(|table| is_filled(table)) {
            comment(&mut text, about);
            for (name, value) in group_table {
                let Value::Object(value) = value else { continue };
                table(&mut text, &format!("[{group}.{}]", self::key(name)), &slim(value, &["claims"]));
            }
        }
    }
    if let Some(Value::Object(session)) = root.get("session") {
        comment(&mut text, "One virtual user sends the requests in order.");
        let mut session = slim(session, &[]);
        shorten_think(&mut session);
        table(&mut text, "[session]", &session);
    }
    if let Some(Value::Array(requests)) = requests {
        all_requests(&mut text, &requests);
    }
    text
}

fn all_requests(text: &mut String, requests: &[Value]) {
    let weighted =
        requests.iter().any(|request| request.get("weight").is_some_and(|weight| !weight.is_null()));
    if weighted {
        comment(text, "Each request is chosen in proportion to its weight.");
    }
    for request in requests {
        let Value::Object(request) = request else { continue };
        let mut request = request.clone();
        if let Some(Value::Object(expect)) = request.get_mut("expect") {
            *expect = slim(expect, &EMPTY_IN_EXPECT);
        }
        let mut request = slim(&request, &EMPTY_IN_REQUEST);
        if let Some(weight) = request.get_mut("weight") {
            *weight = whole(weight);
        }
        shorten_think(&mut request);
        table(text, "[[requests]]", &request);
    }
}

/// A weight of 3.0 reads better as 3, and is the same.
fn whole(number: &Value) -> Value {
    match number.as_f64() {
        Some(float) if float.fract() == 0.0 && float.abs() < 1e15 => Value::from(float as i64),
        _ => number.clone(),
    }
}

/// A constant pause is its length alone.
fn shorten_think(table: &mut Map<String, Value>) {
    let Some(think) = table.get_mut("think") else { return };
    if think.get("law").is_some_and(|law| law == "constant")
        && let Some(mean) = think.get("mean").cloned()
    {
        *think = mean;
    }
}

fn is_filled(value: &Value) -> bool {
    match value {
        Value::Object(table) => !table.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => true,
    }
}

/// Without nulls, and without those of `empty` that are.
fn slim(table: &Map<String, Value>, empty: &[&str]) -> Map<String, Value> {
    let keep = |(key, value): &(&String, &Value)| {
        !value.is_null() && (is_filled(value) || !empty.contains(&key.as_str()))
    };
    table.iter().filter(keep).map(|(key, value)| (key.clone(), value.clone())).collect()
}

fn comment(text: &mut String, about: &str) {
    let _ = write!(text, "\n# {about}");
}

fn table_head(text: &mut String, head: &str) {
    let _ = write!(text, "\n{head}\n");
}

/// A table whose long inner tables get heads of their own, after all other keys.
fn table(text: &mut String, head: &str, content: &Map<String, Value>) {
    table_head(text, head);
    let (long, short): (Vec<_>, Vec<_>) = content.iter().partition(|(key, value)| is_long(key, value));
    for (key, value) in short {
        line(text, key, value);
    }
    let path = head.trim_matches(['[', ']']);
    for (key, value) in long {
        if let Value::Object(inner) = value {
            let _ = writeln!(text, "[{path}.{}]", self::key(key));
            lines(
                text,
                &inner
                    .iter()
                    .filter(|(_, value)| !value.is_null())
                    .map(|(k, v)| (k.clone(), v.clone()))
                    .collect(),
            );
        }
    }
}

fn is_long(name: &str, value: &Value) -> bool {
    value.is_object() && name.len() + 3 + inline(value).chars().count() > LINE_CHARS_MAX
}

fn lines(text: &mut String, content: &Map<String, Value>) {
    for (key, value) in content {
        line(text, key, value);
    }
}

fn line(text: &mut String, name: &str, value: &Value) {
    let name = key(name);
    let short = inline(value);
    match value {
        Value::Array(items) if name.len() + 3 + short.chars().count() > LINE_CHARS_MAX => {
            let _ = writeln!(text, "{name} = [");
            for item in items {
                let _ = writeln!(text, "    {},", inline(item));
            }
            text.push_str("]\n");
        }
        _ => {
            let _ = writeln!(text, "{name} = {short}");
        }
    }
}

/// A value on one line, but for texts of several lines.
fn inline(value: &Value) -> String {
    match value {
        Value::String(string) => quoted(string),
        Value::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::Object(table) => {
            let pairs = table.iter().filter(|(_, value)| !value.is_null());
            let pairs: Vec<String> =
                pairs.map(|(name, value)| format!("{} = {}", key(name), inline(value))).collect();
            if pairs.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", pairs.join(", ")) }
        }
        other => other.to_string(),
    }
}

/// As `toml` writes a text, unless it has characters that an editor obeys instead of showing: a basic string has
/// escapes for them.
fn quoted(string: &str) -> String {
    let is_shown = |c: char| matches!(c, '\n' | '\t') || !is_unseen(c);
    if string.chars().all(is_shown) {
        toml::Value::String(string.to_owned()).to_string()
    } else {
        basic(string)
    }
}

/// A basic string of TOML.
fn basic(string: &str) -> String {
    let mut text = String::from("\"");
    for c in string.chars() {
        let _ = match c {
            '"' | '\\' => write!(text, "\\{c}"),
            c if is_unseen(c) && u32::from(c) <= 0xffff => write!(text, "\\u{:04X}", u32::from(c)),
            c if is_unseen(c) => write!(text, "\\U{:08X}", u32::from(c)),
            c => write!(text, "{c}"),
        };
    }
    text + "\""
}

/// Bare where it may be, else a basic string.
fn key(name: &str) -> String {
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if !name.is_empty() && name.bytes().all(is_bare) { name.to_owned() } else { basic(name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_are_not_shown_are_escaped_and_read_back() {
        let foreign = "a\u{202e}b\u{9b}c\u{e0041}\"\\\u{7f}\n'é";
        for written in [quoted(foreign), basic(foreign)] {
            assert!(!written.chars().any(is_unseen), "{written:?}");
            let read: toml::Table = format!("{} = {written}", key(foreign)).parse().unwrap();
            assert_eq!(read[foreign].as_str(), Some(foreign));
        }
        assert_eq!(key("a b"), "\"a b\"");
    }
}
