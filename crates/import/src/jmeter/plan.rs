//! What reading a plan needs everywhere: what names stand for, and the notes.
//!
//! Invariant: what has no place in a scenario is named with its line, never dropped without a word.

use super::element::Element;
use super::values::Values;
use crate::error::{Problem, quoted};
use crate::notes::Notes;

/// Names and notes of the plan that is read.
pub(super) struct Context<'n> {
    pub(super) values: Values,
    pub(super) notes: &'n mut Notes,
}

impl Context<'_> {
    /// Names an element that is left out, and why.
    pub(super) fn leave_out(&mut self, element: &Element<'_>, why: &str) {
        let note = format!("left out: {}, {why}", called(element));
        self.notes.count(&note);
    }

    /// Names an element that is kept, but not as it was.
    pub(super) fn change(&mut self, element: &Element<'_>, how: &str) {
        let note = format!("changed: {}, {how}", called(element));
        self.notes.count(&note);
    }

    /// A text of the scenario; problems have the line of the element.
    pub(super) fn text(&mut self, element: &Element<'_>, text: &str) -> Result<String, Problem> {
        self.values.text(text, self.notes).map_err(|problem| problem.at(element.line()))
    }

    /// A text that is known before the load.
    pub(super) fn plain(&mut self, element: &Element<'_>, text: &str) -> Result<Option<String>, Problem> {
        self.values.plain(text, self.notes).map_err(|problem| problem.at(element.line()))
    }

    /// A property of an element as a number that is known before the load.
    pub(super) fn number(&mut self, element: &Element<'_>, key: &str) -> Result<Option<f64>, Problem> {
        let Some(text) = element.value(key) else { return Ok(None) };
        let number = self.values.number(text, self.notes).map_err(|problem| problem.at(element.line()))?;
        if number.is_none() {
            let note = format!(
                "numbers that are not known before the load, taken for their defaults: {key} of {}",
                called(element)
            );
            self.notes.count(&note);
        }
        Ok(number)
    }
}

/// An element for people.
pub(super) fn called(element: &Element<'_>) -> String {
    let name = element.name();
    let name = if name.is_empty() { String::new() } else { format!(" {}", quoted(name)) };
    format!("{}{name} (line {})", element.kind(), element.line())
}
