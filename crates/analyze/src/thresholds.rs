//! Thresholds: limits of health, held against every valid trial of a run and every window of a soak.
//!
//! No statistics: one trial or window that crosses a limit is enough. A limit that was never read is unknown, which who
//! decides on an exit code takes for crossed.
//! Invariant: a value that was not read is left out and counted, never taken for 0.

use crate::measure::Measure;
use crate::soak::SegmentData;
use crate::words::{self, Noun, count};
use schema::counter_metric::{ClaimMetric, CounterMetric, Per};
use schema::metric::Metric;
use schema::plan::ClaimComparison;
use schema::said;
use schema::said::Said;
use schema::soak::{SoakCounter, WindowLine};
use schema::threshold::{ThresholdAnswer, ThresholdPlan, ThresholdVerdict};

/// A trial, or a window of a segment, with its value.
pub(crate) type Held = (Said, Option<f64>);

/// How all of them kept a threshold. `noun` is what they are; `missing` is why none of them has a value.
pub(crate) fn answer(
    plan: &ThresholdPlan,
    held: impl IntoIterator<Item = Held>,
    noun: Noun,
    missing: Said,
) -> ThresholdAnswer {
    let (mut checked, mut unread) = (0_u32, 0_usize);
    let mut crossed: Vec<(Said, f64)> = Vec::new();
    let mut worst: Option<f64> = None;
    for (place, value) in held {
        let Some(value) = value.filter(|value| value.is_finite()) else {
            unread += 1;
            continue;
        };
        checked += 1;
        worst = Some(worst.map_or(value, |worst| further(plan.comparison, worst, value)));
        if !plan.comparison.holds(value, plan.bound) {
            crossed.push((place, value));
        }
    }
    let verdict = match (checked, crossed.is_empty()) {
        (0, _) => ThresholdVerdict::Unknown,
        (_, true) => ThresholdVerdict::Kept,
        (_, false) => ThresholdVerdict::Crossed,
    };
    let found = match (worst, crossed.first()) {
        (None, _) => missing,
        (Some(worst), first) => evidence(plan, worst, first, (crossed.len(), checked), noun),
    };
    ThresholdAnswer {
        text: plan.text.clone(),
        metric: plan.metric.clone(),
        unit: plan.metric.unit(),
        comparison: plan.comparison,
        bound: plan.bound,
        verdict,
        checked,
        crossed: u32::try_from(crossed.len()).unwrap_or(u32::MAX),
        worst,
        evidence: if unread > 0 && checked > 0 {
            said!(
                "threshold.unread",
                "{found}; without a value in {unread}",
                found,
                unread = count(unread, noun)
            )
        } else {
            found
        },
    }
}

fn evidence(
    plan: &ThresholdPlan,
    worst: f64,
    first: Option<&(Said, f64)>,
    (crossed, checked): (usize, u32),
    noun: Noun,
) -> Said {
    let measure = Measure::from(&plan.metric);
    let limit = said!(
        "threshold.limit",
        "limit {sign} {bound}",
        sign = plan.comparison.sign(),
        bound = words::value(measure, plan.bound)
    );
    let (name, worst) = (measure.words(), words::value(measure, worst));
    let checked = count(checked as usize, noun);
    match first {
        None => said!(
            "threshold.kept",
            "{name} at worst {worst} over {checked}, {limit}",
            name,
            worst,
            checked,
            limit
        ),
        Some((place, value)) => said!(
            "threshold.crossed",
            "{name} crossed it in {crossed} of {checked}, first in {place} with {value}, at worst {worst}, {limit}",
            name,
            crossed,
            checked,
            place,
            value = words::value(measure, *value),
            worst,
            limit
        ),
    }
}

/// The one that is further from health.
fn further(comparison: ClaimComparison, a: f64, b: f64) -> f64 {
    match comparison {
        ClaimComparison::AtMost | ClaimComparison::LessThan => a.max(b),
        ClaimComparison::AtLeast | ClaimComparison::MoreThan => a.min(b),
    }
}

/// The answers of a soak, in plan order.
pub(crate) fn of_soak(plans: &[ThresholdPlan], segments: &[&SegmentData]) -> Vec<ThresholdAnswer> {
    let of = |plan: &ThresholdPlan| {
        let held = segments.iter().flat_map(|segment| {
            let place = move |window: &WindowLine| {
                said!(
                    "threshold.window",
                    "window {window} of segment {trial}",
                    window = window.window,
                    trial = segment.file.trial
                )
            };
            segment.windows.iter().map(move |window| (place(window), window_value(window, &plan.metric)))
        });
        let missing = said!(
            "threshold.never_read",
            "{measure} was read in no window: the report lists the counters that this target has",
            measure = Measure::from(&plan.metric).words()
        );
        answer(plan, held, Noun::Window, missing)
    };
    plans.iter().map(of).collect()
}

/// The value in one window; `None` where it was not read, or there was nothing to divide by.
#[must_use]
pub fn window_value(window: &WindowLine, metric: &ClaimMetric) -> Option<f64> {
    match metric {
        ClaimMetric::Named(Metric::ErrorRate) => {
            let ended = window.answers.saturating_add(window.failed);
            (ended > 0).then(|| window.failed as f64 / ended as f64)
        }
        ClaimMetric::Named(metric) => window.value(in_window(*metric)?),
        ClaimMetric::Counter(counter) => counted(window, counter).map(|value| value * counter.scale().1),
    }
}

fn counted(window: &WindowLine, counter: &CounterMetric) -> Option<f64> {
    let of = |key: &str| window.counters.get(key);
    let found = of(&counter.counter)?;
    match counter.per() {
        Per::Mean | Per::Largest => found.over_ns.is_none().then_some(found.value),
        Per::Second => found.per_second(),
        Per::Request => window.per_answer(&counter.counter),
        Per::Total => found.over_ns.map(|_| found.value),
        Per::Counter(other) => {
            let other = of(other)?;
            let are_alike = found.over_ns.is_some() == other.over_ns.is_some();
            (are_alike && other.value > 0.0).then(|| found.value / other.value)
        }
    }
}

/// The counter of a soak that a metric is.
const fn in_window(metric: Metric) -> Option<SoakCounter> {
    match metric {
        Metric::Throughput => Some(SoakCounter::Throughput),
        Metric::P50 => Some(SoakCounter::P50),
        Metric::P99 => Some(SoakCounter::P99),
        Metric::CpuPerRequest => Some(SoakCounter::CpuPerRequest),
        _ => None,
    }
}

/// Whether a soak keeps what a threshold needs in each window: throughput, p50, p99, the error rate, CPU per request, and
/// every counter.
#[must_use]
pub const fn is_kept_in_windows(metric: &ClaimMetric) -> bool {
    match metric {
        ClaimMetric::Counter(_) | ClaimMetric::Named(Metric::ErrorRate) => true,
        ClaimMetric::Named(metric) => in_window(*metric).is_some(),
    }
}

/// What is reported the moment a window crosses a threshold; `None` where it keeps it, or nothing was read.
#[must_use]
pub fn crossing(plan: &ThresholdPlan, window: &WindowLine) -> Option<Said> {
    let value =
        window_value(window, &plan.metric).filter(|value| !plan.comparison.holds(*value, plan.bound))?;
    let measure = Measure::from(&plan.metric);
    Some(said!(
        "threshold.crossing",
        "window {window} crosses a threshold: {text}, with {value}",
        window = window.window,
        text = &plan.text,
        value = words::value(measure, value)
    ))
}
