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
//! Invariant: what was not read is absent, never 0. A name that no trial has is a mistake, which `named` says.

use super::TrialData;
use schema::counter_metric::{CounterMetric, Per};
use schema::said;
use schema::said::Said;
use schema::signals::Signals;
use schema::trial::IntervalLine;
use std::collections::BTreeMap;

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
