//! Claims that a difference does not matter: equivalence and non-inferiority, by one-sided tests against a margin.

use super::judge::{Judged, values_interval, verdict};
use super::undecided;
use crate::measure::Measure;
use crate::run::data::RunData;
use crate::run::families::Level;
use crate::run::ratio::{interval_of_logs, interval_of_values, paired};
use crate::words;
use schema::analysis::{ClaimVerdict, Interval};
use schema::plan::ClaimMargin;
use schema::said;
use schema::said::Said;

/// Two one-sided tests (crate::stats::tost): holds iff the (1 − 2α) interval lies within the margin, does not hold iff it
/// lies wholly beyond it on one side.
pub(super) fn equivalent(
    data: &RunData<'_>,
    level: Level,
    metric: Measure<'_>,
    cells: (&str, &str),
    margin: ClaimMargin,
) -> Judged {
    judged(data, level, metric, cells, margin, |low, high, bound| {
        verdict(low >= -bound && high <= bound, low > bound || high < -bound)
    })
}

/// One of the two: holds iff the (1 − 2α) interval excludes that the first cell is worse by the margin.
pub(super) fn no_worse(
    data: &RunData<'_>,
    level: Level,
    metric: Measure<'_>,
    cells: (&str, &str),
    margin: ClaimMargin,
) -> Judged {
    judged(data, level, metric, cells, margin, |low, high, bound| {
        // How much better the first cell is, at worst and at best.
        let (worst, best) = if metric.higher_is_better() { (low, high) } else { (-high, -low) };
        verdict(worst > -bound, best < -bound)
    })
}

/// `judge` gets both ends and the margin on the scale of the margin: logs or differences.
fn judged(
    data: &RunData<'_>,
    level: Level,
    metric: Measure<'_>,
    cells: (&str, &str),
    margin: ClaimMargin,
    judge: impl Fn(f64, f64, f64) -> ClaimVerdict,
) -> Judged {
    let paired = paired(data, cells.0, cells.1, metric);
    let alpha = level.alpha();
    let level = 1.0 - 2.0 * alpha;
    let (bound, ends) = match margin {
        ClaimMargin::Ratio(share) => {
            (share.ln_1p(), paired.test.as_ref().map(|test| test.interval(level)).map_err(Clone::clone))
        }
        ClaimMargin::Difference(size) => {
            let ends = values_interval(&paired.differences(), &paired.difference_test, level, alpha);
            (size, ends)
        }
    };
    let (ratio, value) = match margin {
        ClaimMargin::Ratio(_) => (paired.ratio, None),
        ClaimMargin::Difference(_) => (None, paired.difference),
    };
    let (verdict, interval, rest) = match ends {
        Ok((low, high)) => {
            let interval = interval_of(margin, low, high);
            let text = said!(
                "claims.margin.sure",
                "({interval}, {blocks})",
                interval = told(metric, margin, level, interval),
                blocks = words::count(paired.blocks, words::Noun::Block)
            );
            (judge(low, high, bound), Some(interval), text)
        }
        Err(reason) => {
            let (verdict, reason) = undecided(data, cells, &reason);
            (verdict, None, said!("claims.margin.without_interval", "without an interval: {reason}", reason))
        }
    };
    let estimate = estimate(metric, ratio, value);
    let evidence = said!(
        "claims.margin.evidence",
        "{estimate} {rest}, {margin}",
        estimate,
        rest,
        margin = margin_in_words(metric, margin)
    );
    Judged { verdict, evidence, ratio, value, interval }
}

fn interval_of(margin: ClaimMargin, low: f64, high: f64) -> Interval {
    match margin {
        ClaimMargin::Ratio(_) => interval_of_logs(low, high),
        ClaimMargin::Difference(_) => interval_of_values((low, high)),
    }
}

fn estimate(metric: Measure<'_>, ratio: Option<f64>, value: Option<f64>) -> Said {
    let name = metric.words();
    match (ratio, value) {
        (Some(ratio), _) => {
            said!("claims.margin.ratio", "ratio of {name} {ratio}", name, ratio = words::ratio(ratio))
        }
        (None, Some(value)) => said!(
            "claims.margin.difference",
            "difference in {name} {difference}",
            name,
            difference = words::value(metric, value)
        ),
        (None, None) => said!("claims.margin.no_compare", "no {name} to compare", name),
    }
}

/// `90 % interval 0.98 to 1.01`.
fn told(metric: Measure<'_>, margin: ClaimMargin, level: f64, interval: Interval) -> Said {
    let end = |end: Option<f64>| match (end, margin) {
        (None, _) => "unbounded".to_owned(),
        (Some(end), ClaimMargin::Ratio(_)) => words::ratio(end),
        (Some(end), ClaimMargin::Difference(_)) => words::value(metric, end),
    };
    said!(
        "claims.margin.interval",
        "{level} interval {low} to {high}",
        level = words::percent(level),
        low = end(interval.low),
        high = end(interval.high)
    )
}

fn margin_in_words(metric: Measure<'_>, margin: ClaimMargin) -> Said {
    match margin {
        ClaimMargin::Ratio(share) => said!(
            "claims.margin.margin",
            "margin {share} ({low} to {high})",
            share = words::percent(share),
            low = words::ratio(1.0 / (1.0 + share)),
            high = words::ratio(1.0 + share)
        ),
        ClaimMargin::Difference(size) => {
            said!("claims.margin.margin_size", "margin {size}", size = words::value(metric, size))
        }
    }
}
