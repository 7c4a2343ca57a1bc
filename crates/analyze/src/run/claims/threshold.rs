//! Claims about the value of one cell, by the cell's own value and interval (`cells`) at the level of claims.

use super::judge::{Judged, against_bound, values_interval};
use crate::measure::Measure;
use crate::run::cells::center;
use crate::run::data::{RunData, too_few};
use crate::run::families::Level;
use crate::run::instrument::widened;
use crate::run::pooled::{Pooled, pooled};
use crate::run::ratio::interval_of_values;
use crate::run::{MIN_TRIALS, TrialData};
use crate::stats::student::MeanTest;
use crate::words;
use schema::analysis::ClaimVerdict;
use schema::plan::ClaimComparison;
use schema::said;
use schema::said::Said;

/// From merged histograms where the cell's value is (ADR 0022), else by Student's t on the logarithms; where a value is 0,
/// on the values.
pub(super) fn threshold(
    data: &RunData<'_>,
    level: Level,
    metric: Measure<'_>,
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
    let trials: Vec<&TrialData> = data.valid(cell).collect();
    let pooled = pooled(&trials, metric, &values);
    let center = center(&values, pooled.as_ref());
    match interval(level, &values, pooled.as_ref()) {
        Ok(ends) => {
            let ((low, high), _) = widened(data, cell, metric, ends);
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
fn undecided(data: &RunData<'_>, metric: Measure<'_>, cell: &str, reason: Said) -> (ClaimVerdict, Said) {
    let valid = data.valid(cell).count();
    if valid < MIN_TRIALS {
        return (ClaimVerdict::Void, too_few(said!("noun.valid_trials", "valid trials"), valid));
    }
    (ClaimVerdict::Inconclusive, data.why_missing(cell, metric).unwrap_or(reason))
}

fn has_zero(values: &[f64]) -> bool {
    values.contains(&0.0)
}

fn interval(level: Level, values: &[f64], pooled: Option<&Pooled>) -> Result<(f64, f64), Said> {
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
        let by_sections = pooled.and_then(|pooled| pooled.sections.interval(confidence).ok());
        match (test, by_sections) {
            (Ok(_), Some((low, high))) => (low.exp(), high.exp()),
            (Ok(test), None) => {
                let (low, high) = test.interval(confidence);
                (low.exp(), high.exp())
            }
            (test, _) => values_interval(values, &test, confidence, alpha)?,
        }
    };
    // None of the metrics can be negative.
    Ok((low.max(0.0), high))
}
