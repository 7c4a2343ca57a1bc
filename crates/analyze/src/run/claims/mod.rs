//! The claims of the experiment, answered by the same paired intervals as the comparisons, all at the level of claims in
//! the family of the run (`families`).
//!
//! A claim holds iff the whole interval agrees with it, does not hold iff the whole interval contradicts it, and is
//! inconclusive in between; it is void where there are too few valid trials to judge by.
//! A new kind of claim is a variant of `ClaimTest` and an arm of `answer` with a module of its own.

mod judge;
mod knee;
mod margin;
mod ordering;
mod pair;
mod published;
mod threshold;
mod within;

use super::data::{RunData, too_few};
use super::families::{Families, Level};
use super::named;
use super::{MIN_TRIALS, claims::judge::Judged};
use crate::measure::Measure;
use schema::analysis::{ClaimResult, ClaimVerdict};
use schema::capacity::Capacity;
use schema::counter_metric::ClaimMetric;
use schema::plan::{ClaimPlan, ClaimTest};
use schema::said;
use schema::said::Said;
use std::collections::BTreeSet;

/// One answer a claim, in plan order.
pub(super) fn answers(data: &RunData<'_>, families: &Families, capacities: &[Capacity]) -> Vec<ClaimResult> {
    let level = families.claimed();
    let one = |claim| result(claim, answer(data, level, capacities, claim), data.margin);
    data.plan.claims.iter().map(one).collect()
}

fn answer(data: &RunData<'_>, level: Level, capacities: &[Capacity], claim: &ClaimPlan) -> Judged {
    if let Some(missing) = claim.test.cells().into_iter().find(|cell| data.cell(cell).is_none()) {
        return Judged::void(said!(
            "claims.plan_has_no_cell",
            "the plan has no cell {missing}: correct the claim's target or load",
            missing
        ));
    }
    let Some(metric) = claim.metric.as_ref().map(Measure::from) else {
        return Judged::void(said!(
            "claims.leaks_show_hours_load",
            "leaks show in hours of load: run the experiment by prony soak"
        ));
    };
    if let Some(wrong) = named::unknown(data, metric, &claim.test.cells()) {
        return Judged::void(wrong);
    }
    match &claim.test {
        ClaimTest::Ratio { numerator, denominator, comparison, bound } => {
            pair::ratio(data, level, metric, (numerator, denominator), (*comparison, *bound))
        }
        ClaimTest::Difference { minuend, subtrahend, comparison, bound } => {
            pair::difference(data, level, metric, (minuend, subtrahend), (*comparison, *bound))
        }
        ClaimTest::Threshold { cell, comparison, bound } => {
            threshold::threshold(data, level, metric, cell, (*comparison, *bound))
        }
        ClaimTest::Ordering { cells } => ordering::ordering(data, level, metric, cells),
        ClaimTest::Equivalent { a, b, margin } => margin::equivalent(data, level, metric, (a, b), *margin),
        ClaimTest::NoWorse { cell, than, margin } => {
            margin::no_worse(data, level, metric, (cell, than), *margin)
        }
        ClaimTest::Knee { target, comparison, bound } => match metric {
            Measure::Metric(metric) => knee::knee(data, capacities, metric, target, (*comparison, *bound)),
            Measure::Counter(_) => knee::of_a_counter(),
        },
        ClaimTest::Within { quantity, span } => {
            within::within(data, level, capacities, metric, quantity, *span)
        }
        ClaimTest::NoLeak { .. } => {
            Judged::void(said!("claims.leak_no_metric_leave", "a leak is of no metric: leave the metric out"))
        }
    }
}

fn result(claim: &ClaimPlan, mut judged: Judged, margin: f64) -> ClaimResult {
    let published = published::answered(claim, &mut judged, margin);
    ClaimResult {
        text: claim.text.clone(),
        verdict: judged.verdict,
        evidence: judged.evidence,
        kind: claim.test.key().to_owned(),
        // A knee is a load, whatever bends there.
        metric: claim.metric.clone().filter(|_| !claim.test.is_about_knee()),
        unit: claim.metric.as_ref().filter(|_| !claim.test.is_about_knee()).map(ClaimMetric::unit),
        ratio: judged.ratio,
        value: judged.value.filter(|value| value.is_finite()),
        interval: judged.interval,
        id: claim.id.clone(),
        published,
    }
}

/// Blocks in which both cells have a valid trial, with or without a value of the metric.
fn common_valid_blocks(data: &RunData<'_>, cells: (&str, &str)) -> usize {
    let blocks = |cell: &str| -> BTreeSet<u32> { data.valid(cell).map(|trial| trial.file.block).collect() };
    blocks(cells.0).intersection(&blocks(cells.1)).count()
}

/// Void with too few blocks of both, else inconclusive; with the reason that fits.
fn undecided(data: &RunData<'_>, cells: (&str, &str), reason: &Said) -> (ClaimVerdict, Said) {
    let common = common_valid_blocks(data, cells);
    if common < MIN_TRIALS {
        (
            ClaimVerdict::Void,
            too_few(said!("noun.blocks_with_both", "blocks with a valid trial of both"), common),
        )
    } else {
        (ClaimVerdict::Inconclusive, reason.clone())
    }
}
