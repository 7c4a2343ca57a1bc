//! Whether trials were steady, and where their warm-up was cut, in words and as a line of bars.

use crate::{clean, format};
use schema::analysis::{AnalysisFile, CellSummary, TrialRow};
use schema::steady::{SteadyClass, WarmUpEndedBy, WarmUpLine};

/// Bars from the lowest to the highest.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Between what was cut and what was kept.
const CUT: char = '│';

/// The start of one trial of a cell.
pub(crate) struct WarmUpView {
    pub(crate) cell: String,
    /// Bars of the warm-up, the cut, bars of the samples.
    pub(crate) line: String,
    /// How long the warm-up was and what ended it.
    pub(crate) how: String,
    /// Whether its length was fixed, so that there is little to see.
    pub(crate) is_fixed: bool,
}

/// One view for each cell that has one.
pub(crate) fn views(analysis: &AnalysisFile) -> Vec<WarmUpView> {
    analysis.cells.iter().filter_map(|cell| Some(view(cell, cell.warm_up.as_ref()?))).collect()
}

fn view(cell: &CellSummary, found: &WarmUpLine) -> WarmUpView {
    let bars = |heights: &[u8]| -> String {
        heights.iter().filter_map(|height| BARS.get(usize::from(*height).min(BARS.len() - 1))).collect()
    };
    let ended = match found.by {
        Some(WarmUpEndedBy::Steady) => ", until steady",
        Some(WarmUpEndedBy::AtMost) => ", the longest allowed, not yet steady",
        Some(WarmUpEndedBy::Fixed) => ", as fixed",
        None => "",
    };
    WarmUpView {
        cell: clean::line(&cell.label),
        line: format!("{}{CUT}{}", bars(&found.cut), bars(&found.kept)),
        how: format!("trial {}: {} cut{ended}", found.trial, format::setting(found.cut_ns)),
        is_fixed: found.by == Some(WarmUpEndedBy::Fixed),
    }
}

/// The class of a trial for a table.
pub(crate) fn word(row: &TrialRow) -> &'static str {
    match row.steadiness.as_ref().map(|found| found.class) {
        None => format::NONE,
        Some(None) => "unknown",
        Some(Some(SteadyClass::Flat)) => "steady",
        Some(Some(SteadyClass::WarmUp)) => "warm-up",
        Some(Some(SteadyClass::SlowDown)) => "slow-down",
        Some(Some(SteadyClass::Unsteady)) => "unsteady",
    }
}

/// The same for a file; empty where it is not known.
pub(crate) fn key(row: &TrialRow) -> &'static str {
    match row.steadiness.as_ref().and_then(|found| found.class) {
        None => "",
        Some(SteadyClass::Flat) => "flat",
        Some(SteadyClass::WarmUp) => "warm_up",
        Some(SteadyClass::SlowDown) => "slow_down",
        Some(SteadyClass::Unsteady) => "unsteady",
    }
}
