//! Claims that a number lies between two bounds: both one-sided claims at once.
//!
//! Each side is judged by the module of its own kind, from the same interval: the claim holds iff the whole interval
//! lies between the bounds, and does not hold iff it lies wholly beyond one of them.

use super::judge::Judged;
use super::{knee, pair, threshold};
use crate::measure::Measure;
use crate::run::data::RunData;
use crate::run::families::Level;
use crate::words;
use schema::analysis::ClaimVerdict;
use schema::capacity::Capacity;
use schema::plan::{ClaimComparison, ClaimQuantity};
use schema::published::Span;
use schema::said;

/// A claim without any bound is void; the plan makes none.
pub(super) fn within(
    data: &RunData<'_>,
    level: Level,
    capacities: &[Capacity],
    metric: Measure<'_>,
    quantity: &ClaimQuantity,
    span: Span,
) -> Judged {
    let judged = |against: (ClaimComparison, f64)| match quantity {
        ClaimQuantity::Ratio { numerator, denominator } => {
            pair::ratio(data, level, metric, (numerator, denominator), against)
        }
        ClaimQuantity::Difference { minuend, subtrahend } => {
            pair::difference(data, level, metric, (minuend, subtrahend), against)
        }
        ClaimQuantity::Value { cell } => threshold::threshold(data, level, metric, cell, against),
        ClaimQuantity::Knee { target } => match metric {
            Measure::Metric(metric) => knee::knee(data, capacities, metric, target, against),
            Measure::Counter(_) => knee::of_a_counter(),
        },
    };
    let low = span.low.map(|low| judged((ClaimComparison::AtLeast, low)));
    let high = span.high.map(|high| (high, judged((ClaimComparison::AtMost, high))));
    match (low, high) {
        (Some(low), Some((bound, high))) => {
            let evidence = said!(
                "claims.within.both",
                "{evidence} and <= {bound}",
                evidence = low.evidence.clone(),
                bound = shown(quantity, metric, bound)
            );
            Judged { verdict: both(low.verdict, high.verdict), evidence, ..low }
        }
        (Some(one), None) | (None, Some((_, one))) => one,
        (None, None) => Judged::void(said!("claims.within.no_bound", "the claim has no bound")),
    }
}

/// Holds iff both do; does not hold as soon as one does not.
const fn both(low: ClaimVerdict, high: ClaimVerdict) -> ClaimVerdict {
    use ClaimVerdict::{DoesNotHold, Holds, Inconclusive, Void};
    match (low, high) {
        (Void, _) | (_, Void) => Void,
        (DoesNotHold, _) | (_, DoesNotHold) => DoesNotHold,
        (Holds, Holds) => Holds,
        _ => Inconclusive,
    }
}

fn shown(quantity: &ClaimQuantity, metric: Measure<'_>, bound: f64) -> String {
    match quantity {
        ClaimQuantity::Ratio { .. } => words::ratio(bound),
        ClaimQuantity::Knee { .. } => words::number(bound),
        ClaimQuantity::Difference { .. } | ClaimQuantity::Value { .. } => words::value(metric, bound),
    }
}
