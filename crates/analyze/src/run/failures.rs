//! Failed requests of a run beside its verdict: the cell in which the largest share failed.
//!
//! Invariants: any failure is said. From 10 % on a cell's times must not be used, unless failing was the question: in
//! a ladder or search, with events, or where a claim is about the error rate. Then it is a reservation.

use super::data::RunData;
use crate::trial::{failed_share, level_of};
use crate::words::percent;
use schema::analysis::{BeliefLevel, BeliefNote};
use schema::load::Requests;
use schema::metric::Metric;
use schema::said;

/// The share of failed requests over the valid trials of each cell, and what it means for the run.
pub(super) fn note(data: &RunData<'_>) -> Option<BeliefNote> {
    let shares: Vec<(&str, f64)> = data
        .plan
        .cells
        .iter()
        .filter_map(|cell| Some((cell.label.as_str(), failed_share(&requests(data, &cell.id))?)))
        .collect();
    let failing = shares.iter().filter(|(_, share)| *share > 0.0).count();
    let (label, share) =
        shares.iter().max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, share)| *share > 0.0)?;
    let least = shares.iter().map(|(_, share)| *share).fold(f64::INFINITY, f64::min);
    let mut level = level_of(*share);
    if is_asked_for(data) && level_of(least) != BeliefLevel::No {
        level = level.min(BeliefLevel::WithReservations);
    }
    let place = match failing {
        1 => said!("failures.in_cell", "({cell})", cell = label),
        _ => said!(
            "failures.worst_cells_had_failures",
            "in the worst of {cells} cells that had failures ({cell})",
            cells = failing,
            cell = label
        ),
    };
    let found = said!(
        "failures.requests_failed",
        "{share} of the requests failed {place}",
        share = percent(*share),
        place
    );
    Some(match level {
        BeliefLevel::Yes => BeliefNote { level, text: found, remedy: None },
        _ => BeliefNote {
            level,
            text: said!(
                "failures.times_rate_right_answers",
                "{found}: times and rate are of the right answers only",
                found
            ),
            remedy: Some(said!(
                "failures.look_errors_trials_mend",
                "look at the errors of its trials and mend the target or the scenario; where \
                     failing is the question, claim something about `error_rate`"
            )),
        },
    })
}

/// All requests of the valid trials of a cell.
fn requests(data: &RunData<'_>, cell: &str) -> Requests {
    let loads = data.valid(cell).filter_map(|trial| trial.file.load.as_ref());
    loads.fold(Requests::default(), |sum, load| Requests {
        completed: sum.completed.saturating_add(load.requests.completed),
        failed: sum.failed.saturating_add(load.requests.failed),
        ..sum
    })
}

/// Whether the plan drives targets until they fail, breaks them on purpose, or states a limit of its own.
fn is_asked_for(data: &RunData<'_>) -> bool {
    let plan = data.plan;
    plan.capacity.is_some()
        || !plan.events.is_empty()
        || plan.claims.iter().any(|claim| claim.metric == Some(Metric::ErrorRate.into()))
}
