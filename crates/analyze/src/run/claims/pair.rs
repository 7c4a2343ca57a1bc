//! Claims about the ratio or the difference of two cells, by paired t over blocks.

use super::judge::{Judged, against_bound, values_interval};
use super::undecided;
use crate::measure::Measure;
use crate::run::data::RunData;
use crate::run::families::Level;
use crate::run::ratio::{Paired, interval_of_logs, interval_of_values, paired};
use crate::words;
use schema::plan::ClaimComparison;
use schema::said;
use schema::said::Said;

/// metric of the first cell / metric of the second, on the log scale.
pub(super) fn ratio(
    data: &RunData<'_>,
    level: Level,
    metric: Measure<'_>,
    cells: (&str, &str),
    (comparison, bound): (ClaimComparison, f64),
) -> Judged {
    let paired = paired(data, cells.0, cells.1, metric);
    let claimed = said!(
        "claims.claimed",
        "claimed {sign} {bound}",
        sign = comparison.sign(),
        bound = words::ratio(bound)
    );
    match &paired.test {
        Ok(test) => {
            let (low, high) = test.interval(level.confidence);
            let interval = interval_of_logs(low, high);
            let (low, high) = (interval.low.unwrap_or(0.0), interval.high.unwrap_or(f64::INFINITY));
            Judged {
                verdict: against_bound(low, high, comparison, bound),
                evidence: said!(
                    "claims.pair.evidence",
                    "{found}, {claimed}",
                    found = told(level, metric, &paired, (low, high)),
                    claimed
                ),
                ratio: paired.ratio,
                value: None,
                interval: Some(interval),
            }
        }
        Err(reason) => {
            let (verdict, reason) = undecided(data, cells, reason);
            let evidence = match paired.ratio {
                None => reason,
                Some(ratio) => said!(
                    "claims.pair.ratio_without_interval",
                    "ratio of {metric} {ratio} without an interval, {claimed}; {reason}",
                    metric = metric.words(),
                    ratio = words::ratio(ratio),
                    claimed,
                    reason
                ),
            };
            Judged { ratio: paired.ratio, ..Judged::without_interval(verdict, evidence) }
        }
    }
}

fn told(level: Level, metric: Measure<'_>, paired: &Paired, (low, high): (f64, f64)) -> Said {
    let [ratio, low, high] = words::ratios(paired.ratio, (low, high));
    said!(
        "claims.pair.ratio",
        "ratio of {metric} {ratio} ({interval} {low} to {high}, {blocks})",
        metric = metric.words(),
        ratio,
        interval = level.name(),
        low,
        high,
        blocks = words::count(paired.blocks, words::Noun::Block)
    )
}

/// metric of the first cell − metric of the second, in the unit of the metric.
pub(super) fn difference(
    data: &RunData<'_>,
    level: Level,
    metric: Measure<'_>,
    cells: (&str, &str),
    (comparison, bound): (ClaimComparison, f64),
) -> Judged {
    let paired = paired(data, cells.0, cells.1, metric);
    let name = metric.words();
    let claimed = said!(
        "claims.claimed",
        "claimed {sign} {bound}",
        sign = comparison.sign(),
        bound = words::value(metric, bound)
    );
    let differences = paired.differences();
    let value = paired.difference.map_or("unknown".to_owned(), |value| words::value(metric, value));
    match values_interval(&differences, &paired.difference_test, level.confidence, level.alpha()) {
        Ok((low, high)) => {
            let [shown, from, to] = words::values(metric, paired.difference, (low, high));
            let evidence = said!(
                "claims.pair.difference",
                "difference in {name} {shown} ({interval} {from} to {to}, {blocks}), {claimed}",
                name,
                shown,
                interval = level.name(),
                from,
                to,
                blocks = words::count(paired.blocks, words::Noun::Block),
                claimed
            );
            let verdict = against_bound(low, high, comparison, bound);
            let interval = Some(interval_of_values((low, high)));
            Judged { verdict, evidence, ratio: None, value: paired.difference, interval }
        }
        Err(reason) => {
            let (verdict, reason) = undecided(data, cells, &reason);
            let evidence = match paired.difference {
                None => reason,
                Some(_) => said!(
                    "claims.pair.difference_without_interval",
                    "difference in {name} {value} without an interval, {claimed}; {reason}",
                    name,
                    value,
                    claimed,
                    reason
                ),
            };
            Judged { value: paired.difference, ..Judged::without_interval(verdict, evidence) }
        }
    }
}
