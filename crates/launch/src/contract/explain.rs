//! Why an answer is not as expected, in words: what was expected and what came.
//!
//! Invariant: whatever a target sends, a message is bounded and cannot steer a terminal.

use super::ContractFault;
use crate::json_diff::first_difference;
use crate::tail::clean;
use probe::Answer;
use request::{Check, Judged, Notes, Pointer, Rule};
use schema::scenario::LengthRange;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;

/// Characters shown of a header's value or of a wrong body.
const SHOWN_CHARS: usize = 120;
/// Bytes shown before and after the first difference of exact bodies.
const AROUND_BYTES: usize = 24;

/// What is wrong with an answer that was judged so; nothing where it is right.
pub(super) fn fault(check: &Check, judged: Judged, answer: &Answer, notes: &Notes) -> Option<ContractFault> {
    match judged {
        Judged::Right => None,
        Judged::UnexpectedStatus => Some(ContractFault::Status {
            expected: check.expected_status(),
            got: answer.status,
            body: show(&answer.body),
        }),
        Judged::WrongBody => Some(ContractFault::Body(exact(check, &answer.body))),
        Judged::Failed(number) => Some(failed(check, judged, &check.describe(number), answer)),
        Judged::Refused(code) => {
            let words = clean(&String::from_utf8_lossy(notes.beginning()), SHOWN_CHARS);
            let words = if words.is_empty() { words } else { format!(": {words}") };
            Some(ContractFault::Call(format!("{}{words}", check.describe_status(code))))
        }
        Judged::Broken(fault) => Some(ContractFault::Call(fault.to_string())),
    }
}

/// How a body differs in meaning from the JSON that it should be, if it does.
pub(super) fn json(expected: &Value, body: &[u8]) -> Option<ContractFault> {
    let text = match serde_json::from_slice(body) {
        Ok(got) => first_difference(expected, &got).map(|text| format!("differs at {text}")),
        Err(error) => Some(no_json(&error, body)),
    };
    text.map(ContractFault::Body)
}

fn failed(check: &Check, judged: Judged, words: &str, answer: &Answer) -> ContractFault {
    match check.rule(judged) {
        Some(Rule::Header { name, prefix }) => header(name, prefix, answer),
        Some(Rule::Length(range)) => ContractFault::Body(length(range, &answer.body)),
        Some(Rule::Sha256(expected)) => ContractFault::Body(sha256(expected, &answer.body)),
        Some(Rule::Json { pointer, expected }) => {
            ContractFault::Body(json_at(pointer, expected, words, &answer.body))
        }
        _ if check.call().is_some() => {
            ContractFault::Call(format!("the message fails the check {}", clean(words, SHOWN_CHARS * 2)))
        }
        _ => ContractFault::Body(format!(
            "fails the check {}; it begins with {}",
            clean(words, SHOWN_CHARS * 2),
            show(&answer.body)
        )),
    }
}

fn header(name: &str, prefix: &[u8], answer: &Answer) -> ContractFault {
    let values: Vec<&str> = answer
        .headers
        .iter()
        .filter(|(field, _)| field.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.as_str())
        .collect();
    let got = if values.is_empty() { "no such header".to_owned() } else { quote(&values.join(", ")) };
    ContractFault::Header { name: name.to_owned(), expected: show(prefix), got }
}

fn length(range: LengthRange, body: &[u8]) -> String {
    let expected = match (range.at_least, range.at_most) {
        (Some(least), Some(most)) => format!("{least} to {most}"),
        (Some(least), None) => format!("at least {least}"),
        (None, most) => format!("at most {}", most.unwrap_or(u64::MAX)),
    };
    format!("has {} bytes, expected {expected}; it begins with {}", body.len(), show(body))
}

fn sha256(expected: [u8; 32], body: &[u8]) -> String {
    let got: [u8; 32] = Sha256::digest(body).into();
    let (expected, got) = (hexadecimal(&expected), hexadecimal(&got));
    format!(
        "has SHA-256 {got}, expected {expected}; it has {} bytes and begins with {}",
        body.len(),
        show(body)
    )
}

fn json_at(pointer: &Pointer, expected: Option<&Value>, words: &str, body: &[u8]) -> String {
    let words = clean(words, SHOWN_CHARS * 2);
    let document: Value = match serde_json::from_slice(body) {
        Ok(document) => document,
        Err(error) => return no_json(&error, body),
    };
    match (pointer.find(&document), expected) {
        (None, _) => format!("fails the check {words}: there is nothing; it begins with {}", show(body)),
        (Some(got), Some(expected)) => {
            let difference = first_difference(expected, got).unwrap_or_else(|| quote(&got.to_string()));
            format!("fails the check {words}: from there, {difference}")
        }
        (Some(_), None) => format!("fails the check {words}"),
    }
}

fn no_json(error: &serde_json::Error, body: &[u8]) -> String {
    format!("is not JSON ({error}): {}", show(body))
}

/// Where two bodies first differ, with their surroundings.
fn exact(check: &Check, got: &[u8]) -> String {
    let expected = check.exact_body().unwrap_or_default();
    let at = expected.iter().zip(got).take_while(|(a, b)| a == b).count();
    let around = |bytes: &[u8]| {
        let end = bytes.len().min(at + AROUND_BYTES);
        show(&bytes[at.saturating_sub(AROUND_BYTES)..end])
    };
    format!(
        "differs at byte {at}: expected {} ({} bytes), got {} ({} bytes)",
        around(expected),
        expected.len(),
        around(got),
        got.len()
    )
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn show(bytes: &[u8]) -> String {
    // Cut first: a hostile body has megabytes.
    let end = bytes.len().min(SHOWN_CHARS * 4);
    quote(&String::from_utf8_lossy(&bytes[..end]))
}

fn quote(text: &str) -> String {
    format!("\"{}\"", clean(text, SHOWN_CHARS))
}
