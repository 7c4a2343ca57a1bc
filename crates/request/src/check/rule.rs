//! The rule behind a failed check, for those who explain it to people with the answer at hand.
//!
//! Absent on purpose: the explanation itself, which is the business of whoever holds the whole answer.

use super::content::Content;
use super::json::Pointer;
use super::{Check, Judged};
use schema::scenario::LengthRange;
use serde_json::Value;

/// What a check demands of an answer.
#[derive(Clone, Copy, Debug)]
pub enum Rule<'a> {
    /// A header field, its name in lower case, has a value that begins so.
    Header {
        /// The name.
        name: &'a str,
        /// How the value begins.
        prefix: &'a [u8],
    },
    /// Bounds of the body's length.
    Length(LengthRange),
    /// SHA-256 of the body.
    Sha256([u8; 32]),
    /// A place in the body as JSON exists and, where a value is given, means the same.
    Json {
        /// The place.
        pointer: &'a Pointer,
        /// The value.
        expected: Option<&'a Value>,
    },
    /// A text, a regular expression, a value to be taken: [`Check::describe`] says all there is to say.
    Other,
}

impl Check {
    /// The rule that `judged` found broken; none where it is not one of the checks of content.
    #[must_use]
    pub fn rule(&self, judged: Judged) -> Option<Rule<'_>> {
        let Judged::Failed(number) = judged else { return None };
        let content = self.content.as_deref()?;
        let found = header(content, number)
            .or_else(|| length(content, number))
            .or_else(|| sha256(content, number))
            .or_else(|| json(content, number));
        Some(found.unwrap_or(Rule::Other))
    }
}

fn header(content: &Content, number: u16) -> Option<Rule<'_>> {
    let rule = content.headers.iter().find(|rule| rule.number == number)?;
    Some(Rule::Header { name: &rule.name, prefix: &rule.prefix })
}

fn length(content: &Content, number: u16) -> Option<Rule<'_>> {
    content.length.filter(|(_, own)| *own == number).map(|(range, _)| Rule::Length(range))
}

fn sha256(content: &Content, number: u16) -> Option<Rule<'_>> {
    content.sha256.filter(|(_, own)| *own == number).map(|(digest, _)| Rule::Sha256(digest))
}

fn json(content: &Content, number: u16) -> Option<Rule<'_>> {
    let rule = content.json.iter().find(|rule| rule.number == number)?;
    Some(Rule::Json { pointer: &rule.pointer, expected: rule.expected.as_ref() })
}
