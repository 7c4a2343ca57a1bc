//! One trial in numbers: its row, its value of each metric, its points for a chart.

use super::TrialData;
use crate::trial::failed_share;
use schema::analysis::{MetricValue, SeriesPoint, TrialRow};
use schema::metric::Metric;
use schema::trial::{IntervalLine, TrialFile};

/// The value of a metric in one trial; `None` where it is refused, cannot be read, or is no number at all
/// (NaN, infinite, negative: none of the metrics can be).
pub(super) fn value(trial: &TrialFile, metric: Metric) -> Option<f64> {
    raw_value(trial, metric).filter(|value| value.is_finite() && *value >= 0.0)
}

fn raw_value(trial: &TrialFile, metric: Metric) -> Option<f64> {
    let load = trial.load.as_ref()?;
    let response = &load.latency_ns.response;
    match metric {
        Metric::Throughput => Some(load.throughput_per_s),
        Metric::Mean => response.mean,
        Metric::P50 => response.p50.map(|ns| ns as f64),
        Metric::P90 => response.p90.map(|ns| ns as f64),
        Metric::P95 => response.p95.map(|ns| ns as f64),
        Metric::P99 => response.p99.map(|ns| ns as f64),
        Metric::P999 => response.p999.map(|ns| ns as f64),
        Metric::ErrorRate => failed_share(&load.requests),
        Metric::CpuPerRequest => trial.target.cpu_per_request_ns,
        Metric::Memory => trial.target.rss_peak_bytes.map(|bytes| bytes as f64),
        Metric::AllocPerRequest => trial.target.alloc_per_request_bytes,
        _ => None,
    }
}

pub(super) fn row(trial: &TrialData) -> TrialRow {
    let file = &trial.file;
    let requests = file.load.as_ref().map(|load| load.requests).unwrap_or_default();
    TrialRow {
        id: file.id,
        block: file.block,
        cell: file.cell.clone(),
        outcome: file.outcome,
        reasons: file.reasons.clone(),
        values: Metric::ALL
            .into_iter()
            .map(|metric| MetricValue { metric, value: value(file, metric) })
            .collect(),
        scheduled: requests.scheduled,
        completed: requests.completed,
        failed: requests.failed,
        censored: requests.censored,
        steadiness: super::steady::of_trial(trial),
        series: trial.intervals.iter().filter_map(point).collect(),
    }
}

/// An interval without length has no rate and no point.
fn point(line: &IntervalLine) -> Option<SeriesPoint> {
    let length_ns = line.end_ns.checked_sub(line.start_ns).filter(|length| *length > 0)?;
    Some(SeriesPoint {
        t_ns: line.end_ns,
        phase: line.phase,
        throughput_per_s: line.completed as f64 / (length_ns as f64 / 1e9),
        p50_ns: line.p50_ns,
        p99_ns: line.p99_ns,
        failed: line.failed.values().fold(0, |sum, count| sum.saturating_add(*count)),
    })
}
