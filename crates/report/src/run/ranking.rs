//! The ranking that stands directly under the answer: the cells of each load, best first, with the metrics that people
//! ask for.
//!
//! Invariants: ranked by throughput, and by p99 where the load itself fixes the throughput; cells that are each at a
//! load of their own, as those of a ladder, keep the plan's order. A bar is as long as its value, against the largest.

use crate::words::Footnotes;
use crate::{clean, format};
use schema::analysis::{AnalysisFile, CellSummary, MetricSummary};
use schema::metric::Metric;

/// The columns with their headings, which say the unit that the values leave out.
pub(crate) const COLUMNS: [(&str, Metric); 6] = [
    ("requests/s", Metric::Throughput),
    ("p50", Metric::P50),
    ("p99", Metric::P99),
    ("CPU/req", Metric::CpuPerRequest),
    ("memory", Metric::Memory),
    ("errors", Metric::ErrorRate),
];
/// The sentence of a metric that had the same value in every trial.
const SAME: &str = "cells.all_trials_gave_same";
/// Characters of the longest bar.
const BAR: usize = 12;

/// All cells.
pub(crate) struct RankingView {
    /// `by requests/s`, or that there is no rank.
    pub(crate) order: String,
    pub(crate) loads: Vec<LoadView>,
    pub(crate) notes: Footnotes,
}

/// The cells of one load.
pub(crate) struct LoadView {
    /// Empty where there is only one.
    pub(crate) name: String,
    pub(crate) rows: Vec<RankView>,
}

/// One cell.
pub(crate) struct RankView {
    pub(crate) name: String,
    pub(crate) bar: String,
    /// In the order of [`COLUMNS`].
    pub(crate) values: Vec<RankedValue>,
}

/// A centre and how far its interval reaches.
pub(crate) struct RankedValue {
    pub(crate) center: String,
    /// `±0.5 %`; `same` where all trials had the same value, empty where there is no interval.
    pub(crate) half_width: String,
    /// The sign of the footnote that says why.
    pub(crate) note: String,
}

pub(crate) fn view(analysis: &AnalysisFile) -> RankingView {
    let mut notes = Footnotes::default();
    let mut loads: Vec<(&str, Vec<&CellSummary>)> = Vec::new();
    for cell in &analysis.cells {
        match loads.iter_mut().find(|(load, _)| *load == cell.load) {
            Some((_, cells)) => cells.push(cell),
            None => loads.push((&cell.load, vec![cell])),
        }
    }
    let is_ranked = loads.iter().any(|(_, cells)| cells.len() > 1);
    if !is_ranked {
        loads = vec![("", analysis.cells.iter().collect())];
    }
    let by = ranked_by(&loads, analysis.margin);
    let is_one = loads.len() == 1;
    let views = loads.into_iter().map(|(load, mut cells)| {
        if is_ranked {
            cells.sort_by(|a, b| rank(a, by).total_cmp(&rank(b, by)));
        }
        let name = if is_one { String::new() } else { clean::line(load) };
        LoadView { name, rows: rows(&cells, by, is_ranked, &mut notes) }
    });
    let loads = views.collect();
    let heading = COLUMNS.iter().find(|(_, metric)| *metric == by).map_or("", |(heading, _)| heading);
    let order = if is_ranked { format!("by {heading}") } else { "in the order of the plan".to_owned() };
    RankingView { order, loads, notes }
}

/// Throughput, unless at every load all cells have the same within the margin.
fn ranked_by(loads: &[(&str, Vec<&CellSummary>)], margin: f64) -> Metric {
    let is_fixed = |cells: &Vec<&CellSummary>| {
        let rates = || cells.iter().filter_map(|cell| center(cell, Metric::Throughput));
        let (low, high) = (rates().fold(f64::INFINITY, f64::min), rates().fold(0.0, f64::max));
        high <= low * (1.0 + margin)
    };
    let has_p99 = |cells: &Vec<&CellSummary>| cells.iter().all(|cell| center(cell, Metric::P99).is_some());
    match loads.iter().all(|(_, cells)| is_fixed(cells) && has_p99(cells)) {
        true => Metric::P99,
        false => Metric::Throughput,
    }
}

fn summary(cell: &CellSummary, metric: Metric) -> Option<&MetricSummary> {
    cell.metrics.iter().find(|summary| summary.metric == metric)
}

fn center(cell: &CellSummary, metric: Metric) -> Option<f64> {
    summary(cell, metric)?.center.filter(|center| center.is_finite())
}

/// Smaller is better; a cell without the value comes last.
fn rank(cell: &CellSummary, by: Metric) -> f64 {
    let sign = if by.higher_is_better() { -1.0 } else { 1.0 };
    center(cell, by).map_or(f64::INFINITY, |center| sign * center)
}

fn rows(cells: &[&CellSummary], by: Metric, is_ranked: bool, notes: &mut Footnotes) -> Vec<RankView> {
    let largest = cells.iter().filter_map(|cell| center(cell, by)).fold(0.0, f64::max);
    let is_alone = |cell: &CellSummary| cells.iter().filter(|one| one.target == cell.target).count() == 1;
    let row = |cell: &&CellSummary| RankView {
        name: clean::line(if is_ranked && is_alone(cell) { &cell.target } else { &cell.label }),
        bar: bar(center(cell, by).unwrap_or(0.0) / largest.max(f64::MIN_POSITIVE)),
        values: COLUMNS.iter().map(|(_, metric)| value(summary(cell, *metric), notes)).collect(),
    };
    cells.iter().map(row).collect()
}

/// In eighths of a character.
fn bar(share: f64) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share.clamp(0.0, 1.0) * (BAR * 8) as f64).round() as usize;
    "█".repeat(eighths / 8) + PARTS[eighths % 8]
}

fn value(summary: Option<&MetricSummary>, notes: &mut Footnotes) -> RankedValue {
    let Some(summary) = summary else {
        return RankedValue {
            center: format::NONE.to_owned(),
            half_width: String::new(),
            note: notes.sign("not measured"),
        };
    };
    // No error in any trial needs no excuse for having no interval, nor does a value that never varied.
    let is_clean = summary.metric == Metric::ErrorRate && summary.center == Some(0.0);
    let is_same = summary.refused.as_ref().is_some_and(|reason| reason.id() == SAME);
    let refused = summary.refused.as_ref().filter(|_| !is_clean && !is_same);
    let center = summary.center.map_or_else(
        || format::NONE.to_owned(),
        |center| {
            let shown = format::value(summary.unit, center);
            // The heading has the unit.
            shown.strip_suffix("/s").map_or_else(|| shown.clone(), str::to_owned)
        },
    );
    let interval = summary.center.zip(summary.interval.as_ref());
    RankedValue {
        center,
        half_width: match interval {
            Some((center, ends)) => format::half_width(center, ends),
            None if is_same => "same".to_owned(),
            None => String::new(),
        },
        note: refused.map(|reason| notes.sign(&clean::line(reason))).unwrap_or_default(),
    }
}
