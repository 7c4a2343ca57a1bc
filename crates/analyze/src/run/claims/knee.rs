//! Claims about where a target bends, by the interval of the knee of its ladders (METHOD §6).
//!
//! Invariant: a knee that is refused decides nothing; of several ladders of one target each must keep the bound.

use super::judge::{Judged, against_bound};
use crate::run::data::RunData;
use crate::words::{number, numbers};
use schema::analysis::ClaimVerdict;
use schema::capacity::{Capacity, Knee};
use schema::metric::Metric;
use schema::plan::ClaimComparison;
use schema::said;
use schema::said::{Joint, Said};

/// The load at the knee of the metric, of every ladder of the target, against the bound.
pub(super) fn knee(
    data: &RunData<'_>,
    capacities: &[Capacity],
    metric: Metric,
    target: &str,
    against: (ClaimComparison, f64),
) -> Judged {
    let ladders: Vec<(&Capacity, &Knee)> = capacities
        .iter()
        .filter(|capacity| capacity.target == target)
        .filter_map(|capacity| Some((capacity, capacity.knees.iter().find(|knee| knee.metric == metric)?)))
        .collect();
    let judged = ladders.iter().map(|(capacity, knee)| of_ladder(data, capacity, knee, against));
    let mut judged: Vec<Judged> = judged.collect();
    match judged.len() {
        0 => Judged::void(said!(
            "claims.knee.has_no_ladder_this",
            "{target} has no ladder in this run: climb one by prony knee",
            target
        )),
        1 => judged.remove(0),
        _ => all(judged),
    }
}

/// The plan refuses such a claim; a file by hand may have one.
pub(super) fn of_a_counter() -> Judged {
    Judged::void(said!(
        "claims.knee.of_a_counter",
        "no knee of a counter is looked for: name throughput or p95"
    ))
}

fn of_ladder(
    data: &RunData<'_>,
    capacity: &Capacity,
    knee: &Knee,
    (comparison, bound): (ClaimComparison, f64),
) -> Judged {
    let level = if capacity.level.is_empty() {
        Said::default()
    } else {
        said!("claims.knee.level", " ({level})", level = &capacity.level)
    };
    let what = said!(
        "claims.knee.knee",
        "knee of {metric} of {target}{level}",
        metric = knee.metric.words(),
        target = &capacity.target,
        level
    );
    let claimed =
        said!("claims.claimed", "claimed {sign} {bound}", sign = comparison.sign(), bound = number(bound));
    let (Some(at), Some(interval)) = (knee.at, &knee.interval) else {
        let reason = knee
            .refused
            .clone()
            .unwrap_or_else(|| said!("claims.knee.has_no_interval", "it has no interval"));
        return Judged {
            value: knee.at,
            ..Judged::without_interval(
                ClaimVerdict::Inconclusive,
                said!(
                    "claims.knee.no_claimed",
                    "no {what} is claimed: {reason}; {claimed}",
                    what,
                    reason,
                    claimed
                ),
            )
        };
    };
    // An absent end lies at or beyond the end of the ladder.
    let (low, high) = (interval.low.unwrap_or(0.0), interval.high.unwrap_or(f64::INFINITY));
    let [shown, from, to] = numbers(Some(at), (low, high));
    let or_end = |end: Option<f64>, shown: String| match end {
        Some(_) => Said::from(shown),
        None => said!("claims.knee.end_ladder", "the end of the ladder"),
    };
    let evidence = said!(
        "claims.knee.found",
        "{what} {shown} ({interval} {low} to {high}), {claimed}",
        what,
        shown,
        interval = data.interval_name(),
        low = or_end(interval.low, from),
        high = or_end(interval.high, to),
        claimed
    );
    Judged {
        verdict: against_bound(low, high, comparison, bound),
        evidence,
        ratio: None,
        value: Some(at),
        interval: Some(*interval),
    }
}

/// It holds where each does, and does not where one does not.
fn all(judged: Vec<Judged>) -> Judged {
    let any = |verdict| judged.iter().any(|one| one.verdict == verdict);
    let verdict = if any(ClaimVerdict::DoesNotHold) {
        ClaimVerdict::DoesNotHold
    } else if any(ClaimVerdict::Inconclusive) {
        ClaimVerdict::Inconclusive
    } else {
        ClaimVerdict::Holds
    };
    let evidence: Vec<Said> = judged.into_iter().map(|one| one.evidence).collect();
    Judged::without_interval(verdict, Said::list(Joint::Semicolon, evidence))
}
