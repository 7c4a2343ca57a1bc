//! The claims of the experiment, answered by the same paired intervals as the comparisons.
//!
//! A claim holds iff the whole interval agrees with its bound, does not hold iff the whole interval contradicts it.

use super::data::RunData;
use super::ratio::{Paired, interval_of_logs, paired};
use super::{MIN_TRIALS, data::too_few};
use crate::words;
use schema::analysis::{ClaimResult, ClaimVerdict, Interval};
use schema::plan::{ClaimComparison, ClaimPlan};

/// One answer a claim, in plan order.
pub(super) fn answers(data: &RunData<'_>) -> Vec<ClaimResult> {
    data.plan.claims.iter().map(|claim| answer(data, claim)).collect()
}

fn answer(data: &RunData<'_>, claim: &ClaimPlan) -> ClaimResult {
    for cell in [&claim.numerator, &claim.denominator] {
        if data.cell(cell).is_none() {
            let evidence = format!("the plan has no cell {cell}: correct the claim's target or load");
            return result(claim, ClaimVerdict::Void, evidence, None, None);
        }
    }
    let paired = paired(data, &claim.numerator, &claim.denominator, claim.metric);
    match &paired.test {
        Ok(test) => {
            let (low, high) = test.interval(data.confidence);
            let interval = interval_of_logs(low, high);
            let verdict = judge(claim, interval);
            let evidence = evidence(data, claim, &paired, interval);
            result(claim, verdict, evidence, paired.ratio, Some(interval))
        }
        Err(reason) => {
            let enough = common_valid_blocks(data, claim) >= MIN_TRIALS;
            let verdict = if enough { ClaimVerdict::Inconclusive } else { ClaimVerdict::Void };
            let evidence = no_interval(data, claim, &paired, reason);
            result(claim, verdict, evidence, paired.ratio, None)
        }
    }
}

fn result(
    claim: &ClaimPlan,
    verdict: ClaimVerdict,
    evidence: String,
    ratio: Option<f64>,
    interval: Option<Interval>,
) -> ClaimResult {
    ClaimResult { text: claim.text.clone(), verdict, evidence, ratio, interval }
}

/// An unbounded end agrees and contradicts with nothing.
fn judge(claim: &ClaimPlan, interval: Interval) -> ClaimVerdict {
    let (low, high) = (interval.low.unwrap_or(0.0), interval.high.unwrap_or(f64::INFINITY));
    let bound = claim.bound;
    let (holds, contradicts) = match claim.comparison {
        ClaimComparison::AtLeast => (low >= bound, high < bound),
        ClaimComparison::MoreThan => (low > bound, high <= bound),
        ClaimComparison::AtMost => (high <= bound, low > bound),
        ClaimComparison::LessThan => (high < bound, low >= bound),
    };
    match (holds, contradicts) {
        (true, _) => ClaimVerdict::Holds,
        (_, true) => ClaimVerdict::DoesNotHold,
        _ => ClaimVerdict::Inconclusive,
    }
}

/// Blocks in which both cells have a valid trial, with or without a value of the metric.
fn common_valid_blocks(data: &RunData<'_>, claim: &ClaimPlan) -> usize {
    let blocks = |cell: &str| -> std::collections::BTreeSet<u32> {
        data.valid(cell).map(|trial| trial.file.block).collect()
    };
    blocks(&claim.numerator).intersection(&blocks(&claim.denominator)).count()
}

fn evidence(data: &RunData<'_>, claim: &ClaimPlan, paired: &Paired, interval: Interval) -> String {
    let ratio = paired.ratio.map_or("unknown".to_owned(), words::ratio);
    let end = |end: Option<f64>| end.map_or("unbounded".to_owned(), words::ratio);
    format!(
        "ratio of {} {ratio} ({} {} to {}, {}), claimed {}",
        words::metric(claim.metric),
        data.interval_name(),
        end(interval.low),
        end(interval.high),
        words::count(paired.blocks, "block"),
        bound(claim)
    )
}

fn no_interval(data: &RunData<'_>, claim: &ClaimPlan, paired: &Paired, reason: &str) -> String {
    let common = common_valid_blocks(data, claim);
    let reason = if common < MIN_TRIALS {
        too_few("blocks with a valid trial of both", common)
    } else {
        reason.to_owned()
    };
    match paired.ratio {
        Some(ratio) => {
            format!(
                "ratio of {} {} without an interval, claimed {}; {reason}",
                words::metric(claim.metric),
                words::ratio(ratio),
                bound(claim)
            )
        }
        None => reason,
    }
}

fn bound(claim: &ClaimPlan) -> String {
    let sign = match claim.comparison {
        ClaimComparison::AtLeast => ">=",
        ClaimComparison::MoreThan => ">",
        ClaimComparison::AtMost => "<=",
        ClaimComparison::LessThan => "<",
    };
    format!("{sign} {}", words::ratio(claim.bound))
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::metric::Metric;

    fn check(comparison: ClaimComparison, low: f64, high: f64, wanted: ClaimVerdict) {
        let claim = ClaimPlan {
            text: String::new(),
            metric: Metric::Throughput,
            numerator: "c1".into(),
            denominator: "c2".into(),
            comparison,
            bound: 1.0,
        };
        let interval = Interval { low: Some(low), high: Some(high) };
        assert_eq!(judge(&claim, interval), wanted, "{comparison:?} {low} {high}");
    }

    #[test]
    fn the_whole_interval_must_agree() {
        use ClaimComparison::{AtLeast, AtMost, LessThan, MoreThan};
        use ClaimVerdict::{DoesNotHold, Holds, Inconclusive};
        for (comparison, low, high, wanted) in [
            (AtLeast, 1.0, 1.1, Holds),
            (AtLeast, 0.99, 1.1, Inconclusive),
            (AtLeast, 0.8, 1.0, Inconclusive),
            (AtLeast, 0.8, 0.99, DoesNotHold),
            (MoreThan, 1.0, 1.1, Inconclusive),
            (MoreThan, 1.01, 1.1, Holds),
            (MoreThan, 0.9, 1.0, DoesNotHold),
            (AtMost, 0.9, 1.0, Holds),
            (AtMost, 0.9, 1.01, Inconclusive),
            (AtMost, 1.01, 1.1, DoesNotHold),
            (LessThan, 0.9, 0.99, Holds),
            (LessThan, 0.9, 1.0, Inconclusive),
            (LessThan, 1.0, 1.1, DoesNotHold),
        ] {
            check(comparison, low, high, wanted);
        }
    }
}
