//! A run as services that draw benchmarks over time read it: Bencher's metric format, and the custom lists of
//! github-action-benchmark.
//!
//! Each cell is a benchmark, each metric a measure with its interval. A metric without a value is absent. Values are in
//! the unit of the metric, times in nanoseconds.

use schema::analysis::{AnalysisFile, CellSummary, MetricSummary};
use schema::metric::{Metric, Unit};
use serde_json::{Map, Value, json};

/// Bencher Metric Format: benchmark, measure, value with its ends.
#[must_use]
pub fn bencher(analysis: &AnalysisFile, target: Option<&str>) -> Value {
    let benchmarks = cells(analysis, target).map(|cell| {
        let measures = known(cell).map(|(summary, center)| {
            let ends = summary.interval.as_ref();
            let mut measure = Map::from_iter([("value".to_owned(), json!(center))]);
            for (name, end) in [
                ("lower_value", ends.and_then(|ends| ends.low)),
                ("upper_value", ends.and_then(|ends| ends.high)),
            ] {
                if let Some(end) = end {
                    measure.insert(name.to_owned(), json!(end));
                }
            }
            (summary.metric.key().to_owned(), Value::Object(measure))
        });
        (cell.label.clone(), Value::Object(measures.collect()))
    });
    Value::Object(benchmarks.collect())
}

/// The custom list of github-action-benchmark for metrics of which more is better (`customBiggerIsBetter`), or of those of
/// which less is (`customSmallerIsBetter`): it takes one direction a file.
#[must_use]
pub fn github_benchmark(analysis: &AnalysisFile, target: Option<&str>, bigger: bool) -> Value {
    let rows = cells(analysis, target).flat_map(|cell| {
        let wanted = known(cell).filter(|(summary, _)| summary.metric.higher_is_better() == bigger);
        wanted.map(|(summary, center)| {
            let mut row = Map::from_iter([
                ("name".to_owned(), json!(format!("{}: {}", cell.label, summary.metric.title()))),
                ("unit".to_owned(), json!(unit(summary.metric))),
                ("value".to_owned(), json!(center)),
            ]);
            if let Some(half) = half_width(summary) {
                row.insert("range".to_owned(), json!(half.to_string()));
            }
            Value::Object(row)
        })
    });
    Value::Array(rows.collect())
}

fn cells<'a>(analysis: &'a AnalysisFile, target: Option<&'a str>) -> impl Iterator<Item = &'a CellSummary> {
    analysis.cells.iter().filter(move |cell| target.is_none_or(|name| cell.target == name))
}

/// The metrics that have a value.
fn known(cell: &CellSummary) -> impl Iterator<Item = (&MetricSummary, f64)> {
    cell.metrics.iter().filter_map(|summary| Some((summary, summary.center?)))
}

fn half_width(summary: &MetricSummary) -> Option<f64> {
    let ends = summary.interval.as_ref()?;
    Some((ends.high? - ends.low?) / 2.0)
}

const fn unit(metric: Metric) -> &'static str {
    match metric.unit() {
        Unit::PerSecond => "1/s",
        Unit::Nanoseconds => "ns",
        Unit::Share => "share",
        Unit::Bytes => "bytes",
        Unit::Count => "count",
        Unit::BytesPerSecond => "bytes/s",
    }
}
