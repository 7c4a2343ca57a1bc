//! Each cell over its valid trials: values, centre with interval, and the percentile curve.
//!
//! The centre of a time is read from the merged histograms of all trials, and its interval from how the trials differ
//! (ADR 0022): percentiles are never averaged (METHOD §0.3). For what has one value a trial, and for trials without
//! histograms, the centre is the geometric mean, because trial effects multiply (METHOD §3 works on log ratios); its
//! interval is Student's t on the logarithms.

use super::confinement;
use super::data::{RunData, too_few};
use super::levels::levels;
use super::pooled::{Pooled, pooled};
use super::ratio::interval_of_values;
use super::{MIN_TRIALS, TrialData};
use crate::stats::Refusal;
use crate::stats::order::lower_median;
use crate::stats::student::MeanTest;
use crate::trial::histogram::merged;
use crate::trial::{bins, curve};
use schema::analysis::{Bin, CellSummary, CurvePoint, Interval, MetricSummary};
use schema::metric::Metric;
use schema::plan::CellPlan;
use schema::said;
use schema::said::Said;
use schema::steady::Steadiness;
use schema::trial::TrialOutcome;

/// One summary a cell, in plan order.
pub(super) fn summaries(data: &RunData<'_>) -> Vec<CellSummary> {
    data.plan.cells.iter().map(|cell| summary(data, cell)).collect()
}

fn summary(data: &RunData<'_>, cell: &CellPlan) -> CellSummary {
    let ended =
        |outcome| data.trials_of(&cell.id).filter(|trial| trial.file.outcome == outcome).count() as u32;
    let (curve, histogram) = shapes(data.valid(&cell.id));
    CellSummary {
        cell: cell.id.clone(),
        label: cell.label.clone(),
        target: cell.target.clone(),
        load: data.level_in_words(cell),
        limits: cell.limits.to_string(),
        throttling: confinement::throttling(data, cell),
        trials_valid: data.valid(&cell.id).count() as u32,
        trials_void: ended(TrialOutcome::Void),
        trials_failed: ended(TrialOutcome::Failed),
        metrics: metrics(data, cell),
        cold_start_ns: cold_start_ns(data, cell),
        warm_up: super::steady::warm_up_line(data, &cell.id),
        levels: levels(data, cell),
        memory_view: super::memory_view::memory_view(data, cell),
        extremes: super::extremes::extremes(data, cell),
        parts: super::parts::parts(data, cell),
        messages: super::messages::of_cell(data, cell),
        notable: super::notable::of_cell(data, cell),
        spans: Vec::new(),
        curve,
        histogram,
    }
}

/// The lower median of all trials that became ready, void ones too: what voids a trial comes after its start.
fn cold_start_ns(data: &RunData<'_>, cell: &CellPlan) -> Option<u64> {
    lower_median(data.trials_of(&cell.id).filter_map(|trial| trial.file.ready_ns))
}

fn metrics(data: &RunData<'_>, cell: &CellPlan) -> Vec<MetricSummary> {
    let steadiness: Vec<Option<Steadiness>> = data.valid(&cell.id).map(super::steady::of_trial).collect();
    let with_drift = |summary: MetricSummary| {
        let half = super::steady::drift_unseen(&steadiness, summary.metric).map(|drift| drift / 2.0);
        let with_drift = half.zip(summary.interval).map(|(half, interval)| Interval {
            low: interval.low.map(|low| low / (1.0 + half)),
            high: interval.high.map(|high| high * (1.0 + half)).filter(|high| high.is_finite()),
        });
        MetricSummary { with_drift, ..summary }
    };
    Metric::ALL.into_iter().map(|metric| with_drift(metric_summary(data, cell, metric))).collect()
}

fn metric_summary(data: &RunData<'_>, cell: &CellPlan, metric: Metric) -> MetricSummary {
    let values = data.values(&cell.id, metric);
    let trials: Vec<&TrialData> = data.valid(&cell.id).collect();
    let pooled = pooled(&trials, metric, &values);
    let mut instrument = None;
    let (interval, refused) = match interval(data, &values, pooled.as_ref()) {
        Ok(ends) => {
            let (ends, part) = super::instrument::widened(data, &cell.id, metric, ends);
            instrument = part;
            (Some(interval_of_values(ends)), None)
        }
        Err(reason) => {
            let few = values.len() < MIN_TRIALS;
            let missing = few.then(|| data.why_missing(&cell.id, metric)).flatten();
            (None, Some(missing.unwrap_or(reason)))
        }
    };
    MetricSummary {
        metric,
        unit: metric.unit(),
        center: center(&values, pooled.as_ref()),
        values,
        interval,
        with_drift: None,
        instrument,
        effective_requests: pooled.and_then(|pooled| pooled.effective),
        refused,
    }
}

/// What is read from all trials together, else the geometric mean of their values, arithmetic where one is 0; `None`
/// without values.
pub(super) fn center(values: &[f64], pooled: Option<&Pooled>) -> Option<f64> {
    if let Some(pooled) = pooled {
        return Some(pooled.sections.whole.exp());
    }
    let n = values.len() as f64;
    let center = if values.contains(&0.0) {
        values.iter().map(|value| value / n).sum()
    } else {
        (values.iter().map(|value| value.ln()).sum::<f64>() / n).exp()
    };
    // Rounding of exp and ln must not lead out of the values, least of all where they are equal.
    let low = values.iter().copied().reduce(f64::min)?;
    let high = values.iter().copied().reduce(f64::max)?;
    Some(center).filter(|center: &f64| !center.is_nan()).map(|center| center.clamp(low, high))
}

fn interval(data: &RunData<'_>, values: &[f64], pooled: Option<&Pooled>) -> Result<(f64, f64), Said> {
    if values.len() < MIN_TRIALS {
        return Err(too_few(said!("noun.trials", "trials"), values.len()));
    }
    let zeros = values.iter().filter(|value| **value == 0.0).count();
    if zeros > 0 {
        return Err(said!(
            "cells.values_which_has_no",
            "{zeros} of {values} values are 0, which has no logarithm to make an interval of: \
             measure longer if a value near 0 matters",
            zeros,
            values = values.len()
        ));
    }
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let test = MeanTest::of_logs(&logs).map_err(|refusal| match refusal {
        Refusal::NoSpread { had } => {
            said!(
                "cells.all_trials_gave_same",
                "the same value in all {had} trials, ± one step of the measurement",
                had
            )
        }
        other => other.said(),
    })?;
    let by_sections = pooled.and_then(|pooled| pooled.sections.interval(data.confidence).ok());
    let (low, high) = by_sections.unwrap_or_else(|| test.interval(data.confidence));
    Ok((low.exp(), high.exp()))
}

/// Quantiles of the merged response times on a scale of nines, 0 to 0.9999, as far as METHOD §4 allows for all
/// requests together. Censored requests lie above every value; quantiles among them are left out.
/// The curve and the bins of all response times of these trials.
fn shapes<'a>(trials: impl Iterator<Item = &'a TrialData>) -> (Vec<CurvePoint>, Vec<Bin>) {
    let trials: Vec<&TrialData> = trials.filter(|trial| trial.response.is_some()).collect();
    let Some(sum) = merged(trials.iter().filter_map(|trial| trial.response.as_ref())) else {
        return Default::default();
    };
    let censored = trials.iter().filter_map(|trial| trial.file.load.as_ref());
    let n = censored.fold(sum.len(), |n, load| n.saturating_add(load.latency_ns.response.censored));
    (curve(&sum, n - sum.len()), bins(&sum, n - sum.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn centres() {
        assert!((center(&[1.0, 4.0], None).unwrap() - 2.0).abs() < 1e-12);
        assert_eq!(center(&[0.0, 4.0], None), Some(2.0));
        assert_eq!(center(&[0.0, f64::MAX, f64::MAX], None).map(f64::is_finite), Some(true));
        assert_eq!(center(&[1e4; 5], None), Some(1e4));
        assert_eq!(center(&[], None), None);
    }
}
