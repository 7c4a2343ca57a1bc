//! One gate, and the numbers that several gates say.

use crate::words::{Noun, count};
use schema::load::Gate;
use schema::said;
use schema::said::Said;

/// A gate with finite numbers; one whose value or limit is not finite fails.
pub(crate) fn gate(name: &str, ok: bool, value: f64, limit: f64, text: Said) -> Gate {
    if value.is_finite() && limit.is_finite() {
        return Gate { gate: name.to_owned(), ok, value, limit, text };
    }
    let text = said!(
        "gate.not_finite",
        "{name} cannot be computed, a number in it is not finite: report this as a fault of prony",
        name
    );
    let finite = |number: f64| if number.is_finite() { number } else { 0.0 };
    Gate { gate: name.to_owned(), ok: false, value: finite(value), limit: finite(limit), text }
}

pub(super) fn count_requests(number: u64) -> Said {
    count(usize::try_from(number).unwrap_or(usize::MAX), Noun::Request)
}
