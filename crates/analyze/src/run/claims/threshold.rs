//! Claims about the value of one cell, by the interval over its trials.

use super::judge::{Judged, against_bound, values_interval};
use crate::run::MIN_TRIALS;
use crate::run::data::{RunData, too_few};
use crate::run::families::Level;
use crate::run::ratio::interval_of_values;
use crate::stats::student::MeanTest;
use crate::words;
use schema::analysis::ClaimVerdict;
use schema::metric::Metric;
use schema::plan::ClaimComparison;
use schema::said;
use schema::said::Said;

/// By Student's t on the logarithms, as the cell's own interval; where a value is 0, on the values.
pub(super) fn threshold(
    data: &RunData<'_>,
    level: Level,
    metric: Metric,
    cell: &str,
    (comparison, bound): (ClaimComparison, f64),
) -> Judged {
    let values = data.values(cell, metric);
    let target = data.cell(cell).map_or("", |cell| &cell.target);
    let claimed = said!(
        "claims.claimed",
        "claimed {sign} {bound}",
        sign = comparison.sign(),
        bound = words::value(metric, bound)
    );
    let what = said!("claims.value_of", "{metric} of {target}", metric = metric.words(), target);
    let center = center(&values);
    match interval(level, &values) {
        Ok((low, high)) => {
            let [value, from, to] = words::values(metric, center, (low, high));
            let evidence = said!(
                "claims.threshold.found",
                "{what} {value} ({interval} {from} to {to}, {trials}), {claimed}",
                what,
                value,
                interval = level.name(),
                from,
                to,
                trials = words::count(values.len(), words::Noun::Trial),
                claimed
            );
            let verdict = against_bound(low, high, comparison, bound);
            Judged {
                verdict,
                evidence,
                ratio: None,
                value: center,
                interval: Some(interval_of_values((low, high))),
            }
        }
        Err(reason) => {
            let (verdict, reason) = undecided(data, metric, cell, reason);
            let evidence = match center {
                None => reason,
                Some(center) => {
                    said!(
                        "claims.threshold.without_interval",
                        "{what} {center} without an interval, {claimed}; {reason}",
                        what,
                        center = words::value(metric, center),
                        claimed,
                        reason
                    )
                }
            };
            Judged { value: center, ..Judged::without_interval(verdict, evidence) }
        }
    }
}

/// Void with too few valid trials, else inconclusive; with the reason that fits.
fn undecided(data: &RunData<'_>, metric: Metric, cell: &str, reason: Said) -> (ClaimVerdict, Said) {
    let valid = data.valid(cell).count();
    if valid < MIN_TRIALS {
        return (ClaimVerdict::Void, too_few(said!("noun.valid_trials", "valid trials"), valid));
    }
    (ClaimVerdict::Inconclusive, data.why_missing(cell, metric).unwrap_or(reason))
}

fn has_zero(values: &[f64]) -> bool {
    values.contains(&0.0)
}

/// Geometric mean, arithmetic where a value is 0.
fn center(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let center = if has_zero(values) {
        values.iter().map(|value| value / n).sum()
    } else {
        (values.iter().map(|value| value.ln()).sum::<f64>() / n).exp()
    };
    Some(center).filter(|center: &f64| !values.is_empty() && center.is_finite())
}

fn interval(level: Level, values: &[f64]) -> Result<(f64, f64), Said> {
    if values.len() < MIN_TRIALS {
        return Err(too_few(said!("noun.trials_with_a_value", "trials with a value"), values.len()));
    }
    let (confidence, alpha) = (level.confidence, level.alpha());
    let told = |refusal: crate::stats::Refusal| refusal.said();
    let (low, high) = if has_zero(values) {
        let size = values.iter().copied().fold(0.0, f64::max);
        let test = MeanTest::of_differences(values, size).map_err(told);
        values_interval(values, &test, confidence, alpha)?
    } else {
        let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
        let test = MeanTest::of_logs(&logs).map_err(told);
        if test.is_err() {
            values_interval(values, &test, confidence, alpha)?
        } else {
            let (low, high) = values_interval(&logs, &test, confidence, alpha)?;
            (low.exp(), high.exp())
        }
    };
    // None of the metrics can be negative.
    Ok((low.max(0.0), high))
}
