//! `report.html` by the front end: the page's data as JSON, and put into the page.
//!
//! Invariants: every text of the data is cleaned as everywhere in this crate, its keys too, so that no control, invisible
//! or direction-turning character reaches a browser; within the page no `<`, `>` or `&` of the data stands as it is, so
//! that nothing in it can end the script element that holds it, whatever a parser makes of its content.
//! Absent on purpose: reading the data (runner), and the page (`ui/`).

use crate::{ReportError, clean};
use schema::page::PageFile;
use serde_json::{Map, Value};

/// Where the data goes. The build of `assets` refuses a page in which it does not stand alone in a script element.
const PLACE: &str = "__PRONY_PAGE__";

/// The data as JSON on one line, its texts cleaned.
///
/// # Errors
/// [`ReportError::Json`], which none of prony's own types causes.
pub fn page_json(page: &PageFile) -> Result<String, ReportError> {
    clean_json(serde_json::to_value(page)?)
}

/// Any of prony's files as JSON on one line, its texts cleaned; for what is sent to a browser beside a page.
///
/// # Errors
/// As [`page_json`].
pub fn clean_json(value: Value) -> Result<String, ReportError> {
    Ok(schema::json::line(&cleaned(value))?)
}

/// `template` with the data in its place.
///
/// # Errors
/// [`ReportError::Template`] where the template has no place for it.
pub fn page_html(page: &PageFile, template: &str) -> Result<String, ReportError> {
    let (before, after) = template.split_once(PLACE).ok_or(ReportError::Template)?;
    let json = escaped(&page_json(page)?);
    let mut html = String::with_capacity(template.len() + json.len());
    [before, &json, after].iter().for_each(|part| html.push_str(part));
    Ok(html)
}

/// Outside of texts JSON has none of these characters, so each may be written as its escape.
fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len() + json.len() / 8);
    for c in json.chars() {
        match c {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            c => out.push(c),
        }
    }
    out
}

fn cleaned(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(clean::text(text)),
        Value::Array(items) => Value::Array(items.into_iter().map(cleaned).collect()),
        Value::Object(entries) => {
            let entries = entries.into_iter().map(|(key, value)| (clean::text(key), cleaned(value)));
            Value::Object(entries.collect::<Map<_, _>>())
        }
        other => other,
    }
}
