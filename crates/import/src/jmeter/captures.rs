//! Extractors as captured values.

use super::element::Element;
use super::path::pointer;
use super::plan::Context;
use regex::Regex;
use schema::scenario::Capture;
use std::collections::BTreeMap;

/// The classes that are extractors.
const KINDS: [&str; 3] = ["RegexExtractor", "JSONPostProcessor", "BoundaryExtractor"];

/// Whether an element takes values from answers.
pub(super) fn is_extractor(element: &Element<'_>) -> bool {
    KINDS.contains(&element.kind())
}

/// The names of the variables that an extractor sets.
fn names<'a>(element: &Element<'a>) -> Vec<&'a str> {
    let key = match element.kind() {
        "RegexExtractor" => "RegexExtractor.refname",
        "BoundaryExtractor" => "BoundaryExtractor.refname",
        _ => "JSONPostProcessor.referenceNames",
    };
    element.value(key).unwrap_or_default().split(';').map(str::trim).filter(|name| !name.is_empty()).collect()
}

/// Where each variable of an extractor comes from, or why it cannot come from there.
type Found<'a> = Vec<(&'a str, Result<Capture, &'static str>)>;

/// Whether an extractor can be kept, for each of its names.
pub(super) fn places<'a>(element: &Element<'a>) -> Found<'a> {
    let names = names(element);
    if let Some(why) = element.looks_elsewhere("Sample.scope") {
        return names.into_iter().map(|name| (name, Err(why))).collect();
    }
    match element.kind() {
        "JSONPostProcessor" => json(element, &names),
        kind => {
            let place = if kind == "RegexExtractor" { regex(element) } else { boundary(element) };
            names.into_iter().take(1).map(|name| (name, place.clone())).collect()
        }
    }
}

/// Adds an extractor's values to those of a request.
pub(super) fn add(
    element: &Element<'_>,
    captures: &mut BTreeMap<String, Capture>,
    context: &mut Context<'_>,
) {
    let places = places(element);
    if places.is_empty() {
        context.leave_out(element, "it names no variable");
    }
    if places.iter().any(|(_, place)| place.as_ref().is_ok_and(|capture| capture.regex.is_some())) {
        let key = |name: &str| format!("{}.{name}", element.kind());
        if element.value(&key("match_number")) == Some("0") {
            context.change(element, "the first match is captured, not one at random");
        }
        if element.value(&key("useHeaders")) == Some("unescaped") {
            context.change(element, "its value is captured as it stands, with the entities of HTML");
        }
    }
    for (name, place) in places {
        match place {
            Ok(capture) => {
                captures.insert(context.values.captured(name), capture);
            }
            Err(why) => context.leave_out(element, why),
        }
    }
}

/// Only the first match has a place; 0 is any of them, so the first is one.
fn is_first(number: Option<&str>) -> bool {
    matches!(number.unwrap_or("1").trim(), "" | "0" | "1")
}

fn default_of(text: Option<&str>, is_empty: bool) -> Option<String> {
    match text {
        // A default that is a variable is known only during the load.
        Some(text) if !text.contains("${") => Some(text.to_owned()),
        _ => is_empty.then(String::new),
    }
}

fn regex(element: &Element<'_>) -> Result<Capture, &'static str> {
    // Blanks belong to it.
    let text = element.properties().value("RegexExtractor.regex").unwrap_or_default();
    if text.contains("${") {
        return Err("its expression has variables");
    }
    if !is_first(element.value("RegexExtractor.match_number")) {
        return Err("only the first match can be captured");
    }
    let default =
        default_of(element.value("RegexExtractor.default"), element.is("RegexExtractor.default_empty_value"));
    let Ok(compiled) = Regex::new(text) else {
        return Err(
            "prony's regular expressions have no such pattern (look-around and back references are missing)",
        );
    };
    let groups = compiled.captures_len() - 1;
    let is_taken = match element.value("RegexExtractor.template").unwrap_or("$1$") {
        "$1$" => groups >= 1,
        "$0$" => groups == 0,
        _ => false,
    };
    if !is_taken {
        return Err("only the first group of an expression can be captured, or all of one without groups");
    }
    match element.value("RegexExtractor.useHeaders").unwrap_or("false") {
        "true" => header(text).map(|capture| Capture { default, ..capture }),
        "false" | "unescaped" => Ok(Capture { regex: Some(text.to_owned()), default, ..Capture::default() }),
        _ => Err("values come from the body or the header fields of an answer"),
    }
}

/// `Name: (.+)` is a field, `Set-Cookie: name=([^;]+)` a cookie.
fn header(text: &str) -> Result<Capture, &'static str> {
    const WHY: &str = "of a header only a whole field or a cookie can be captured";
    let (name, value) = text.split_once(':').ok_or(WHY)?;
    let value = value.trim_start().trim_start_matches(r"\s*").trim_start_matches(r"\s+");
    let name = name.trim_start_matches('^').trim();
    if http::HeaderName::from_bytes(name.as_bytes()).is_err() {
        return Err(WHY);
    }
    if name.eq_ignore_ascii_case("set-cookie") {
        let (cookie, rest) = value.split_once('=').ok_or(WHY)?;
        let is_all = matches!(rest.trim_end_matches(';'), "([^;]+)" | "([^;]*)" | "(.+?)" | "(.*?)");
        let is_name = !cookie.is_empty()
            && cookie.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
        return if is_all && is_name {
            Ok(Capture { cookie: Some(cookie.to_owned()), ..Capture::default() })
        } else {
            Err(WHY)
        };
    }
    let is_all = matches!(value.trim_end_matches('$'), "(.+)" | "(.*)" | "(.+?)" | r"(\S+)" | r"([^\r\n]+)");
    if is_all { Ok(Capture { header: Some(name.to_owned()), ..Capture::default() }) } else { Err(WHY) }
}

fn boundary(element: &Element<'_>) -> Result<Capture, &'static str> {
    let (left, right) = (
        element.properties().value("BoundaryExtractor.lboundary").unwrap_or_default(),
        element.properties().value("BoundaryExtractor.rboundary").unwrap_or_default(),
    );
    if left.contains("${") || right.contains("${") {
        return Err("its boundaries have variables");
    }
    if !is_first(element.value("BoundaryExtractor.match_number")) {
        return Err("only the first match can be captured");
    }
    if !matches!(element.value("BoundaryExtractor.useHeaders").unwrap_or("false"), "false" | "unescaped") {
        return Err("boundaries are looked for in the body");
    }
    let end = if right.is_empty() { r"\z".to_owned() } else { regex::escape(right) };
    let default = default_of(
        element.value("BoundaryExtractor.default"),
        element.is("BoundaryExtractor.default_empty_value"),
    );
    Ok(Capture {
        regex: Some(format!("(?s){}(.*?){end}", regex::escape(left))),
        default,
        ..Capture::default()
    })
}

fn json<'a>(element: &Element<'a>, names: &[&'a str]) -> Found<'a> {
    let list = |key: &str| -> Vec<&'a str> {
        element.value(key).map(|text| text.split(';').map(str::trim).collect()).unwrap_or_default()
    };
    let (paths, numbers, defaults) = (
        list("JSONPostProcessor.jsonPathExprs"),
        list("JSONPostProcessor.match_numbers"),
        list("JSONPostProcessor.defaultValues"),
    );
    let one = |(place, name): (usize, &&'a str)| {
        let capture = match paths.get(place).and_then(|path| pointer(path)) {
            _ if !is_first(numbers.get(place).copied()) => Err("only the first match can be captured"),
            None => Err("its path names no single place (prony has JSON pointers)"),
            Some(json) => {
                let default = default_of(defaults.get(place).copied().filter(|text| !text.is_empty()), false);
                Ok(Capture { json: Some(json), default, ..Capture::default() })
            }
        };
        (*name, capture)
    };
    names.iter().enumerate().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_fields_and_cookies_are_captured_as_such() {
        let field = |name: &str| Ok(Capture { header: Some(name.to_owned()), ..Capture::default() });
        let cookie = |name: &str| Ok(Capture { cookie: Some(name.to_owned()), ..Capture::default() });
        assert_eq!(header("Location: (.+)"), field("Location"));
        assert_eq!(header(r"X-Token:\s*(\S+)"), field("X-Token"));
        assert_eq!(header("Set-Cookie: sid=([^;]+);"), cookie("sid"));
        assert!(header("Location: .*id=(.+)").is_err());
        assert!(header("Set-Cookie: sid=(\\d+)").is_err());
        assert!(header("(.+)").is_err());
    }
}
