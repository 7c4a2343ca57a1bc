//! Claims about the ratio or the difference of two cells, by paired t over blocks.

use super::judge::{Judged, against_bound, values_interval};
use super::undecided;
use crate::run::data::RunData;
use crate::run::ratio::{Paired, interval_of_logs, interval_of_values, paired};
use crate::words;
use schema::metric::Metric;
use schema::plan::ClaimComparison;

/// metric of the first cell / metric of the second, on the log scale.
pub(super) fn ratio(
    data: &RunData<'_>,
    metric: Metric,
    cells: (&str, &str),
    (comparison, bound): (ClaimComparison, f64),
) -> Judged {
    let paired = paired(data, cells.0, cells.1, metric);
    let claimed = format!("claimed {} {}", comparison.sign(), words::ratio(bound));
    match &paired.test {
        Ok(test) => {
            let (low, high) = test.interval(data.confidence);
            let interval = interval_of_logs(low, high);
            let (low, high) = (interval.low.unwrap_or(0.0), interval.high.unwrap_or(f64::INFINITY));
            Judged {
                verdict: against_bound(low, high, comparison, bound),
                evidence: format!("{}, {claimed}", told(data, metric, &paired, (low, high))),
                ratio: paired.ratio,
                value: None,
                interval: Some(interval),
            }
        }
        Err(reason) => {
            let (verdict, reason) = undecided(data, cells, reason);
            let evidence = match paired.ratio {
                None => reason,
                Some(ratio) => format!(
                    "ratio of {} {} without an interval, {claimed}; {reason}",
                    metric.words(),
                    words::ratio(ratio)
                ),
            };
            Judged { ratio: paired.ratio, ..Judged::without_interval(verdict, evidence) }
        }
    }
}

fn told(data: &RunData<'_>, metric: Metric, paired: &Paired, (low, high): (f64, f64)) -> String {
    let [ratio, low, high] = words::ratios(paired.ratio, (low, high));
    format!(
        "ratio of {} {ratio} ({} {low} to {high}, {})",
        metric.words(),
        data.interval_name(),
        words::count(paired.blocks, "block")
    )
}

/// metric of the first cell − metric of the second, in the unit of the metric.
pub(super) fn difference(
    data: &RunData<'_>,
    metric: Metric,
    cells: (&str, &str),
    (comparison, bound): (ClaimComparison, f64),
) -> Judged {
    let paired = paired(data, cells.0, cells.1, metric);
    let name = metric.words();
    let claimed = format!("claimed {} {}", comparison.sign(), words::value(metric, bound));
    let (differences, alpha) = (paired.differences(), 1.0 - data.confidence);
    let value = paired.difference.map_or("unknown".to_owned(), |value| words::value(metric, value));
    match values_interval(&differences, &paired.difference_test, data.confidence, alpha) {
        Ok((low, high)) => {
            let [shown, from, to] = words::values(metric, paired.difference, (low, high));
            let evidence = format!(
                "difference in {name} {shown} ({} {from} to {to}, {}), {claimed}",
                data.interval_name(),
                words::count(paired.blocks, "block")
            );
            let verdict = against_bound(low, high, comparison, bound);
            let interval = Some(interval_of_values((low, high)));
            Judged { verdict, evidence, ratio: None, value: paired.difference, interval }
        }
        Err(reason) => {
            let (verdict, reason) = undecided(data, cells, &reason);
            let evidence = match paired.difference {
                None => reason,
                Some(_) => format!("difference in {name} {value} without an interval, {claimed}; {reason}"),
            };
            Judged { value: paired.difference, ..Judged::without_interval(verdict, evidence) }
        }
    }
}
