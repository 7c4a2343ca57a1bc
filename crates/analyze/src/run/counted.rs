//! One number per trial made of a counter, for claims that name it ([`CounterMetric`]).
//!
//! | per | value |
//! |---|---|
//! | nothing | mean of the level over the intervals of the samples in which it was read; of a percentile or maximum the largest |
//! | `second` | increase over the seconds of the intervals in which it was read |
//! | `request` | increase over the right answers of these intervals |
//! | `total` | increase within the samples |
//! | another counter | increase over that of the other, or mean level over mean level, in the intervals in which both were read |
//!
//! Invariants: what was not read is absent, never 0; a counter that no trial of a cell has is told as a mistake, with the
//! nearest that the run has, before anything is judged.

use super::TrialData;
use super::data::RunData;
use crate::measure::Measure;
use schema::counter_metric::{CounterMetric, Per};
use schema::said;
use schema::said::Said;
use schema::signals::Signals;
use schema::text::nearest;
use schema::trial::IntervalLine;
use std::collections::{BTreeMap, BTreeSet};

/// One value for each interval of the samples.
type Series = [Option<f64>];

/// The value in one trial; `None` where it was not read, is no number, or nothing happened to divide by.
pub(super) fn value(trial: &TrialData, counter: &CounterMetric) -> Option<f64> {
    let signals = trial.signals.as_ref()?;
    let value = raw(trial, signals, counter)? * counter.scale().1;
    (value.is_finite() && value >= 0.0).then_some(value)
}

fn raw(trial: &TrialData, signals: &Signals, counter: &CounterMetric) -> Option<f64> {
    let level = |key: &str| signals.gauges.get(key).map(Vec::as_slice);
    let increase = |key: &str| signals.deltas.get(key).map(Vec::as_slice);
    let key = counter.counter.as_str();
    match counter.per() {
        Per::Mean => {
            let (sum, read) = added(level(key)?.iter().map(|value| Some((*value, 1.0))))?;
            Some(sum / read)
        }
        Per::Largest => level(key)?.iter().copied().flatten().reduce(f64::max),
        Per::Total => Some(added(increase(key)?.iter().map(|value| Some((*value, 0.0))))?.0),
        Per::Second => over(trial, signals, increase(key)?, seconds),
        Per::Request => over(trial, signals, increase(key)?, |line| line.completed as f64),
        Per::Counter(other) => {
            let both = increase(key).zip(increase(other)).or_else(|| level(key).zip(level(other)));
            let (ours, others) = both?;
            let pairs = ours.iter().zip(others).map(|(ours, others)| Some((*ours, (*others)?)));
            divided(added(pairs)?)
        }
    }
}

/// A sum over what the intervals have of something else.
fn over(
    trial: &TrialData,
    signals: &Signals,
    series: &Series,
    of: impl Fn(&IntervalLine) -> f64,
) -> Option<f64> {
    let lines: BTreeMap<u64, &IntervalLine> =
        trial.intervals.iter().map(|line| (line.end_ns, line)).collect();
    let pairs = signals.ends_ns.iter().zip(series);
    divided(added(pairs.map(|(end, value)| Some((*value, of(lines.get(end)?)))))?)
}

/// Both sums over the intervals in which the first was read; `None` where it never was.
fn added(pairs: impl Iterator<Item = Option<(Option<f64>, f64)>>) -> Option<(f64, f64)> {
    pairs.flatten().filter_map(|(value, other)| Some((value?, other))).reduce(|a, b| (a.0 + b.0, a.1 + b.1))
}

fn divided((sum, by): (f64, f64)) -> Option<f64> {
    (by > 0.0).then(|| sum / by)
}

fn seconds(line: &IntervalLine) -> f64 {
    line.end_ns.saturating_sub(line.start_ns) as f64 / 1e9
}

/// Why a trial that has the counter has no value of it.
pub(super) fn why_missing(trial: &TrialData, counter: &CounterMetric) -> Said {
    if trial.signals.is_none() {
        return said!("counted.no_counters", "a valid trial kept no counters");
    }
    said!(
        "counted.not_read",
        "{measure} has no value in trial {trial}: it was not read, or there was nothing to divide by",
        measure = counter.words(),
        trial = trial.file.id
    )
}

/// What a claim names wrongly: a counter that no valid trial of a cell has, or one of the other kind. `None` where all is
/// well, and where there is no valid trial yet to tell by.
pub(super) fn unknown(data: &RunData<'_>, measure: Measure<'_>, cells: &[&str]) -> Option<Said> {
    let Measure::Counter(counter) = measure else { return None };
    cells.iter().find_map(|cell| {
        let signals = || data.valid(cell).filter_map(|trial| trial.signals.as_ref());
        signals().next()?;
        let is_level = |key: &str| signals().any(|found| found.gauges.contains_key(key));
        let grows = |key: &str| signals().any(|found| found.deltas.contains_key(key));
        let missing = counter.counters().into_iter().find(|key| !is_level(key) && !grows(key));
        match missing {
            Some(missing) => Some(not_there(data, cell, missing)),
            None => of_other_kind(counter, is_level, grows),
        }
    })
}

fn of_other_kind(
    counter: &CounterMetric,
    is_level: impl Fn(&str) -> bool,
    grows: impl Fn(&str) -> bool,
) -> Option<Said> {
    let key = counter.counter.as_str();
    match counter.per() {
        Per::Mean | Per::Largest if !is_level(key) => Some(said!(
            "counted.grows",
            "{key} counts up, so it has no mean: add per = \"second\", \"request\", \"total\" or another counter",
            key
        )),
        Per::Second | Per::Request | Per::Total if !grows(key) => {
            Some(said!("counted.level", "{key} is a level, of which the mean is taken: remove `per`", key))
        }
        Per::Counter(other) if !(is_level(key) && is_level(other) || grows(key) && grows(other)) => {
            Some(said!(
                "counted.unlike",
                "{key} and {other} cannot be divided, because one is a level and the other counts up: choose two of one kind",
                key,
                other
            ))
        }
        _ => None,
    }
}

fn not_there(data: &RunData<'_>, cell: &str, missing: &str) -> Said {
    let label = data.cell(cell).map_or(cell, |cell| &cell.label);
    let signals = data.trials.iter().filter_map(|trial| trial.signals.as_ref());
    let names: BTreeSet<&str> = signals
        .flat_map(|found| found.gauges.keys().chain(found.deltas.keys()))
        .map(String::as_str)
        .filter(|name| *name != missing)
        .collect();
    match nearest(missing, names) {
        Some(near) => said!(
            "counted.unknown_near",
            "no trial of {label} counted {missing}: did you mean {near}?",
            label,
            missing,
            near
        ),
        None => said!(
            "counted.unknown",
            "no trial of {label} counted {missing}: the report lists the counters of each trial",
            label,
            missing
        ),
    }
}
