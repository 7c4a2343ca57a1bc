//! Assertions as checks of the answer.
//!
//! An answer is right in JMeter where its status is 200 to 399, as in a scenario that says nothing; an assertion that
//! ignores the status allows all of them.

use super::element::Element;
use super::path::pointer;
use super::plan::Context;
use crate::error::Problem;
use regex::Regex;
use schema::scenario::{Expect, LengthRange, StatusItem};
use serde_json::Value;

/// Bits of `Assertion.test_type`.
const MATCHES: u32 = 1;
const CONTAINS: u32 = 2;
const NOT: u32 = 4;
const EQUALS: u32 = 8;
const SUBSTRING: u32 = 16;
const OR: u32 = 32;

/// What a right answer is, by these assertions.
pub(super) fn expected(assertions: &[Element<'_>], context: &mut Context<'_>) -> Result<Expect, Problem> {
    let mut expect = Expect::default();
    for assertion in assertions {
        add(assertion, &mut expect, context)?;
    }
    let ignores_status = |assertion: &Element<'_>| {
        assertion.kind() == "ResponseAssertion" && assertion.is("Assertion.assume_success")
    };
    if expect.status.is_empty() && assertions.iter().any(ignores_status) {
        expect.status = ["2xx", "3xx", "4xx", "5xx"].map(|class| StatusItem::Range(class.to_owned())).into();
    }
    Ok(expect)
}

fn add(element: &Element<'_>, expect: &mut Expect, context: &mut Context<'_>) -> Result<(), Problem> {
    if let Some(why) = element.looks_elsewhere("Assertion.scope") {
        context.leave_out(element, why);
        return Ok(());
    }
    match element.kind() {
        "ResponseAssertion" => response(element, expect, context),
        "JSONPathAssertion" => json(element, expect, context),
        "SizeAssertion" => size(element, expect, context),
        "DurationAssertion" => {
            let limit = element.value("DurationAssertion.duration").unwrap_or("?");
            context
                .leave_out(element, &format!("limit times of a whole load instead: --fail 'max>{limit}ms'"));
            Ok(())
        }
        _ => {
            context.leave_out(element, "no check of prony is like it");
            Ok(())
        }
    }
}

/// The patterns of a response assertion, as they are before the load.
fn patterns(element: &Element<'_>, context: &mut Context<'_>) -> Result<Option<Vec<String>>, Problem> {
    // The slip of the pen is JMeter's, and in all of its files.
    let items = element.properties().items("Asserion.test_strings");
    let items: Vec<&str> = items.map(|item| item.text()).collect();
    items.into_iter().map(|text| context.plain(element, text)).collect()
}

fn response(element: &Element<'_>, expect: &mut Expect, context: &mut Context<'_>) -> Result<(), Problem> {
    let kind: u32 =
        element.value("Assertion.test_type").and_then(|text| text.parse().ok()).unwrap_or(CONTAINS);
    let Some(patterns) = patterns(element, context)? else {
        context.leave_out(element, "its pattern is known only during the load");
        return Ok(());
    };
    if patterns.is_empty() {
        context.leave_out(element, "it has no pattern");
        return Ok(());
    }
    if kind & NOT != 0 {
        context.leave_out(element, "prony checks what an answer has, not what it lacks");
        return Ok(());
    }
    let is_any = kind & OR != 0 && patterns.len() > 1;
    let why = match element.value("Assertion.test_field").unwrap_or_default() {
        "Assertion.response_data" => body(kind, is_any, &patterns, expect),
        "Assertion.response_code" => status(kind, is_any, &patterns, expect),
        "Assertion.response_headers" => headers(kind, is_any, &patterns, expect),
        _ => Some("prony checks status, header fields and body"),
    };
    if let Some(why) = why {
        context.leave_out(element, why);
    }
    Ok(())
}

/// Why it cannot be, if it cannot.
fn body(kind: u32, is_any: bool, patterns: &[String], expect: &mut Expect) -> Option<&'static str> {
    if kind & EQUALS != 0 {
        return match patterns {
            [only] if expect.body.is_none() && expect.json.is_none() => {
                expect.body = Some(only.clone());
                None
            }
            _ => Some("a body equals one text"),
        };
    }
    if kind & SUBSTRING != 0 && !is_any {
        expect.contains.extend(patterns.iter().filter(|text| !text.is_empty()).cloned());
        return None;
    }
    let as_regex = |pattern: &String| match kind {
        kind if kind & SUBSTRING != 0 => regex::escape(pattern),
        kind if kind & MATCHES != 0 => format!(r"\A(?:{pattern})\z"),
        _ => pattern.clone(),
    };
    let mut regexes: Vec<String> = patterns.iter().map(as_regex).collect();
    if is_any {
        regexes = vec![regexes.iter().map(|regex| format!("(?:{regex})")).collect::<Vec<_>>().join("|")];
    }
    if regexes.iter().any(|regex| Regex::new(regex).is_err()) {
        return Some(
            "prony's regular expressions have no such pattern (look-around and back references are missing)",
        );
    }
    expect.regex.extend(regexes);
    None
}

fn status(kind: u32, is_any: bool, patterns: &[String], expect: &mut Expect) -> Option<&'static str> {
    let items: Option<Vec<Vec<StatusItem>>> =
        patterns.iter().map(|pattern| statuses(kind, pattern)).collect();
    match items {
        // Several codes that must all be seen are none.
        Some(items) if (items.len() == 1 || is_any) && expect.status.is_empty() => {
            expect.status = items.into_iter().flatten().collect();
            None
        }
        _ => Some("its codes are no list of codes, classes and ranges"),
    }
}

/// `200`, `2..`, `2\d\d`, `2\d{2}`, `200|201`, `(200|201)`.
fn statuses(kind: u32, pattern: &str) -> Option<Vec<StatusItem>> {
    let one = |text: &str| {
        let text = text.trim();
        if let Ok(code) = text.parse::<u16>() {
            return (100..=999).contains(&code).then_some(StatusItem::Code(code));
        }
        if kind & (EQUALS | SUBSTRING) != 0 {
            return None;
        }
        let class = text
            .strip_suffix("..")
            .or_else(|| text.strip_suffix(r"\d\d"))
            .or_else(|| text.strip_suffix(r"\d{2}").or_else(|| text.strip_suffix("[0-9][0-9]")))?;
        matches!(class, "1" | "2" | "3" | "4" | "5").then(|| StatusItem::Range(format!("{class}xx")))
    };
    let bare = pattern.trim().trim_start_matches('^').trim_end_matches('$');
    let bare = bare.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).unwrap_or(bare);
    bare.split('|').map(one).collect()
}

/// `Name: begin of its value`, for texts that must be in the header.
fn headers(kind: u32, is_any: bool, patterns: &[String], expect: &mut Expect) -> Option<&'static str> {
    const WHY: &str = "only `Name: value` of a field can be checked";
    if is_any || kind & (MATCHES | EQUALS) != 0 {
        return Some(WHY);
    }
    let field = |pattern: &String| {
        let (name, value) = pattern.split_once(':')?;
        let is_plain = kind & SUBSTRING != 0 || regex::escape(value) == value.replace('-', r"\-");
        let is_field = http::HeaderName::from_bytes(name.trim().as_bytes()).is_ok()
            && http::HeaderValue::from_str(value.trim()).is_ok();
        (is_plain && is_field).then(|| (name.trim().to_owned(), value.trim().to_owned()))
    };
    match patterns.iter().map(field).collect::<Option<Vec<_>>>() {
        Some(fields) => {
            expect.headers.extend(fields);
            None
        }
        None => Some(WHY),
    }
}

fn json(element: &Element<'_>, expect: &mut Expect, context: &mut Context<'_>) -> Result<(), Problem> {
    let path = element.value("JSON_PATH").unwrap_or_default();
    let Some(pointer) = pointer(path) else {
        context.leave_out(element, "its path names no single place (prony has JSON pointers)");
        return Ok(());
    };
    if element.is("INVERT") {
        context.leave_out(element, "prony checks what an answer has, not what it lacks");
        return Ok(());
    }
    if !element.is("JSONVALIDATION") {
        expect.json_has.push(pointer);
        return Ok(());
    }
    if element.is("EXPECT_NULL") {
        expect.json_equals.insert(pointer, Value::Null);
        return Ok(());
    }
    let wanted = context.plain(element, element.value("EXPECTED_VALUE").unwrap_or_default())?;
    match wanted {
        // A pattern, unless it says that it is none.
        Some(wanted) if element.value("ISREGEX") == Some("false") => {
            let value = serde_json::from_str(&wanted).unwrap_or(Value::String(wanted));
            expect.json_equals.insert(pointer, value);
        }
        _ => {
            context.change(element, "only that there is a value is checked, not which");
            expect.json_has.push(pointer);
        }
    }
    Ok(())
}

fn size(element: &Element<'_>, expect: &mut Expect, context: &mut Context<'_>) -> Result<(), Problem> {
    let field = element.value("Assertion.test_field").unwrap_or_default();
    let size = context.number(element, "SizeAssertion.size")?.filter(|size| *size >= 0.0 && *size < 1e15);
    let operator: u32 =
        element.value("SizeAssertion.operator").and_then(|text| text.parse().ok()).unwrap_or_default();
    let (Some(size), true) = (size.map(|size| size as u64), field.ends_with("response_data")) else {
        context.leave_out(element, "only the length of the body can be checked");
        return Ok(());
    };
    // =, ≠, >, <, ≥, ≤
    let (at_least, at_most) = match operator {
        1 => (Some(size), Some(size)),
        3 => (Some(size + 1), None),
        4 => (None, Some(size.saturating_sub(1))),
        5 => (Some(size), None),
        6 => (None, Some(size)),
        _ => {
            context.leave_out(element, "a length is between two bounds");
            return Ok(());
        }
    };
    let known = expect.length.unwrap_or_default();
    expect.length = Some(LengthRange {
        at_least: at_least.max(known.at_least),
        at_most: at_most.into_iter().chain(known.at_most).min(),
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_codes_are_codes_and_classes() {
        let range = |text: &str| StatusItem::Range(text.to_owned());
        for (kind, pattern, wanted) in [
            (EQUALS, "200", Some(vec![StatusItem::Code(200)])),
            (CONTAINS, r"2\d\d", Some(vec![range("2xx")])),
            (MATCHES, "^(200|3..)$", Some(vec![StatusItem::Code(200), range("3xx")])),
            (MATCHES, r"4\d{2}|503", Some(vec![range("4xx"), StatusItem::Code(503)])),
            (SUBSTRING, "2..", None),
            (CONTAINS, "20", None),
            (CONTAINS, "OK", None),
            (CONTAINS, "9..", None),
        ] {
            assert_eq!(statuses(kind, pattern), wanted, "{pattern}");
        }
    }

    #[test]
    fn bodies_are_texts_expressions_or_refused() {
        let check = |kind, is_any, patterns: &[&str]| {
            let mut expect = Expect::default();
            let patterns: Vec<String> = patterns.iter().map(|text| (*text).to_owned()).collect();
            let why = body(kind, is_any, &patterns, &mut expect);
            (expect.contains, expect.regex, expect.body, why.is_some())
        };
        let owned = |text: &str| vec![text.to_owned()];
        assert_eq!(check(SUBSTRING, false, &["a.b"]), (owned("a.b"), vec![], None, false));
        assert_eq!(check(CONTAINS, false, &["a.b"]), (vec![], owned("a.b"), None, false));
        assert_eq!(check(MATCHES, false, &["a.b"]), (vec![], owned(r"\A(?:a.b)\z"), None, false));
        assert_eq!(check(SUBSTRING, true, &["a.", "b"]), (vec![], owned(r"(?:a\.)|(?:b)"), None, false));
        assert_eq!(check(EQUALS, false, &["a"]), (vec![], vec![], Some("a".to_owned()), false));
        assert!(check(CONTAINS, false, &["(?!x)"]).3 && check(EQUALS, false, &["a", "b"]).3);
    }
}
