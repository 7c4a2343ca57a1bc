//! Each cell in one line, as load tools print it: rate, mean, quantiles, longest response, use of the CPUs, errors.

use crate::{clean, format};
use schema::analysis::{AnalysisFile, CellSummary};
use schema::metric::{Metric, Unit};

/// What the table shows.
pub(crate) const ABOUT: &str = "Centres over the valid trials without their intervals, and what is never compared: the longest \
    response of all trials, the CPU time of the target over what it may use, and the same in the busiest interval.";

/// Heads of the columns: cell, and the values of a view.
pub(crate) const HEADER: [&str; 11] =
    ["Cell", "Throughput", "Mean", "p50", "p90", "p95", "p99", "Max", "CPU", "CPU peak", "Errors"];

const METRICS: [Metric; 6] =
    [Metric::Throughput, Metric::Mean, Metric::P50, Metric::P90, Metric::P95, Metric::P99];

/// One cell.
pub(crate) struct UsualView {
    pub(crate) cell: String,
    pub(crate) values: Vec<String>,
}

/// All cells with a valid trial, in the order of the analysis.
pub(crate) fn views(analysis: &AnalysisFile) -> Vec<UsualView> {
    analysis.cells.iter().filter(|cell| cell.trials_valid > 0).map(view).collect()
}

fn view(cell: &CellSummary) -> UsualView {
    let none = || format::NONE.to_owned();
    let centre = |metric: Metric| {
        let summary = cell.metrics.iter().find(|summary| summary.metric == metric);
        summary
            .and_then(|summary| summary.center)
            .map_or_else(none, |center| format::value(metric.unit(), center))
    };
    let share = |share: Option<f64>| share.map_or_else(none, |share| format::value(Unit::Share, share));
    let mut values: Vec<String> = METRICS.into_iter().map(centre).collect();
    values.push(cell.extremes.max_ns.map_or_else(none, format::nanos));
    values.extend([share(cell.extremes.cpu), share(cell.extremes.cpu_peak), centre(Metric::ErrorRate)]);
    UsualView { cell: clean::line(&cell.label), values }
}
