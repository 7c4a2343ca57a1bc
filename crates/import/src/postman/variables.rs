//! `{{name}}`: variables of the collection, values that were captured, and Postman's dynamic ones.

use crate::texts::{Piece, identifier};
use std::cell::Cell;
use std::collections::BTreeMap;

/// What a note calls variables that nobody sets.
pub(super) const UNKNOWN: &str = "variables that nothing in the collection sets";
/// Variables that hold variables.
const DEPTH_MAX: usize = 8;
/// All that they may put in, in the whole collection: variables that hold variables multiply.
const BYTES_MAX: usize = 64 << 20;

/// What names stand for.
pub(super) struct Variables {
    texts: BTreeMap<String, String>,
    /// Bytes that may still be put in; beyond them a variable counts as not known.
    left: Cell<usize>,
    /// Captured so far; these count above the collection's.
    captured: BTreeMap<String, String>,
}

impl Default for Variables {
    fn default() -> Self {
        Self { texts: BTreeMap::new(), left: Cell::new(BYTES_MAX), captured: BTreeMap::new() }
    }
}

impl Variables {
    /// A variable of the collection; one without a value is not known.
    pub(super) fn put(&mut self, name: &str, value: &str) {
        if !value.is_empty() {
            self.texts.insert(name.to_owned(), value.to_owned());
        }
    }

    /// From here on a name stands for a value that is taken from an answer. Gives its name in the scenario.
    pub(super) fn capture(&mut self, name: &str) -> String {
        self.captured.entry(name.to_owned()).or_insert_with(|| identifier(name)).clone()
    }

    /// A text in its pieces.
    pub(super) fn pieces(&self, text: &str) -> Vec<Piece> {
        let mut pieces = Vec::new();
        self.read(text, 0, &mut pieces);
        pieces
    }

    fn read(&self, text: &str, depth: usize, pieces: &mut Vec<Piece>) {
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            let Some((name, after)) = after.split_once("}}") else { break };
            literal(before, pieces);
            self.name(name.trim(), depth, pieces);
            rest = after;
        }
        literal(rest, pieces);
    }

    fn take(&self, text: &str) -> bool {
        let left = self.left.get().checked_sub(text.len());
        self.left.set(left.unwrap_or(0));
        left.is_some()
    }

    fn name(&self, name: &str, depth: usize, pieces: &mut Vec<Piece>) {
        if let Some(captured) = self.captured.get(name) {
            pieces.push(Piece::Expression(captured.clone()));
        } else if let Some(text) = self.texts.get(name).filter(|text| depth < DEPTH_MAX && self.take(text)) {
            self.read(text, depth + 1, pieces);
        } else if let Some(expression) = dynamic(name) {
            pieces.push(Piece::Expression(expression.to_owned()));
        } else {
            pieces.push(Piece::Unknown(format!("{{{{{name}}}}}")));
        }
    }
}

fn literal(text: &str, pieces: &mut Vec<Piece>) {
    match pieces.last_mut() {
        _ if text.is_empty() => {}
        Some(Piece::Literal(last)) => last.push_str(text),
        _ => pieces.push(Piece::Literal(text.to_owned())),
    }
}

/// Dynamic variables that prony has an equal of.
fn dynamic(name: &str) -> Option<&'static str> {
    Some(match name {
        "$guid" | "$randomUUID" => "uuid4()",
        "$timestamp" => "now_s()",
        "$randomInt" => "uniform(0,1000)",
        _ => return None,
    })
}
