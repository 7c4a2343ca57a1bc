//! Thresholds of a run, held against each of its valid trials ([`crate::thresholds`]).
//!
//! Invariant: a threshold is kept only where every cell with a valid trial was read; one that nobody watched in a cell is
//! unknown.

use super::data::RunData;
use super::named;
use crate::measure::Measure;
use crate::thresholds::answer;
use crate::words::Noun;
use schema::plan::CellPlan;
use schema::said;
use schema::said::Said;
use schema::threshold::{ThresholdAnswer, ThresholdPlan, ThresholdVerdict};

/// One answer a threshold, in plan order.
pub(super) fn answers(data: &RunData<'_>) -> Vec<ThresholdAnswer> {
    data.plan.thresholds.iter().map(|plan| of_trials(data, plan)).collect()
}

fn of_trials(data: &RunData<'_>, plan: &ThresholdPlan) -> ThresholdAnswer {
    let measure = Measure::from(&plan.metric);
    let is_meant = |cell: &&CellPlan| plan.target.as_ref().is_none_or(|target| *target == cell.target);
    let cells: Vec<&str> = data.plan.cells.iter().filter(is_meant).map(|cell| cell.id.as_str()).collect();
    let held = cells.iter().flat_map(|cell| {
        data.valid(cell).map(|trial| {
            (said!("threshold.trial", "trial {id}", id = trial.file.id), data.value(trial, measure))
        })
    });
    let mut found = answer(plan, held, Noun::Trial, why_missing(data, measure, &cells));
    let is_blind = |cell: &&&str| data.valid(cell).next().is_some() && data.values(cell, measure).is_empty();
    if let (ThresholdVerdict::Kept, Some(cell)) = (found.verdict, cells.iter().find(is_blind)) {
        found.verdict = ThresholdVerdict::Unknown;
        found.evidence = said!(
            "threshold.never_read_in",
            "{found}, but never read of {label}: {why}",
            found = found.evidence,
            label = data.cell(cell).map_or(*cell, |cell| &cell.label),
            why = why_missing(data, measure, &[*cell])
        );
    }
    found
}

fn why_missing(data: &RunData<'_>, measure: Measure<'_>, cells: &[&str]) -> Said {
    let missing = || cells.iter().find_map(|cell| data.why_missing(cell, measure));
    named::unknown(data, measure, cells).or_else(missing).unwrap_or_else(|| {
        said!("threshold.no_valid_trial", "no valid trial shows it: look at why the trials were void")
    })
}
