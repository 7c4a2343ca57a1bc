//! Failed requests beside the verdict: their share, and how far it misleads.
//!
//! Invariants: any failure is said; the share alone decides the level. Times count right answers only. With 1 % of
//! failures the p99 of all requests lies among the failed ones, and with 10 % the p90 does: from there on every tail
//! percentile describes other requests than those that users sent. Absent on purpose: voiding a trial, for a target
//! that fails is a result.

use super::gate::count_requests;
use crate::words::{grouped, percent};
use schema::analysis::BeliefLevel;
use schema::load::{Failures, LoadReport, Requests};
use schema::said;

/// Share of failed requests from which the numbers are believed with reservations: p99 is that of the others.
pub(crate) const FAILURES_SAID: f64 = 0.01;
/// Share from which they must not be used: p90 is that of the others.
pub(crate) const FAILURES_MISLEAD: f64 = 0.10;

/// Failed over completed and failed, 0 to 1; `None` where no request ended either way.
pub(crate) fn failed_share(requests: &Requests) -> Option<f64> {
    let (completed, failed) = (requests.completed as f64, requests.failed as f64);
    (completed + failed > 0.0).then(|| failed / (completed + failed))
}

/// What a share of failures does to the belief in the numbers.
pub(crate) fn level_of(share: f64) -> BeliefLevel {
    match share {
        share if share >= FAILURES_MISLEAD => BeliefLevel::No,
        share if share >= FAILURES_SAID => BeliefLevel::WithReservations,
        _ => BeliefLevel::Yes,
    }
}

/// The failed requests of a load; `None` where none failed.
pub(super) fn failures(report: &LoadReport) -> Option<Failures> {
    let requests = &report.requests;
    let share = failed_share(requests).filter(|share| *share > 0.0)?;
    let level = level_of(share);
    let most = report.errors.iter().max_by_key(|(_, count)| **count);
    let (share_said, failed) = (percent(share), grouped(requests.failed));
    let ended = count_requests(requests.completed.saturating_add(requests.failed));
    let found = match most {
        Some((class, _)) => said!(
            "failures.of_load_most",
            "{share} of the requests failed ({failed} of {ended}, most as `{class}`)",
            share = share_said,
            failed,
            ended,
            class = class.key()
        ),
        None => said!(
            "failures.of_load",
            "{share} of the requests failed ({failed} of {ended})",
            share = share_said,
            failed,
            ended
        ),
    };
    let text = match level {
        BeliefLevel::Yes => found,
        BeliefLevel::WithReservations => said!(
            "failures.times_rate_right_answers",
            "{found}: times and rate are of the right answers only",
            found
        ),
        BeliefLevel::No => said!(
            "failures.hide_what_users_saw",
            "{found}: times and rate are of the right answers only and hide what users saw; mend the target or \
             the scenario, or accept the failures (`--errors-ok`, or `--fail` with your own limit)",
            found
        ),
    };
    Some(Failures { share, level, text })
}
