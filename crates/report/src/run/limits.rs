//! What targets were confined to and what their quotas did, in words.

use crate::{clean, format};
use schema::analysis::{AnalysisFile, CellSummary, ThrottlingSummary};

/// What the table shows.
pub(crate) const ABOUT: &str = "What the target of each cell was confined to, and how often its CPU quota stopped it \
    within the samples: periods of 100 ms out of those in which it wanted to run, and the time in a trial, added up \
    over its CPUs.";

/// The limits of one cell.
pub(crate) struct LimitsView {
    pub(crate) cell: String,
    pub(crate) limits: String,
    /// `throttled in 43 % of periods, 12.1 s`; a dash without a quota.
    pub(crate) throttling: String,
}

/// Cells with limits, in plan order.
pub(crate) fn views(analysis: &AnalysisFile) -> Vec<LimitsView> {
    analysis.cells.iter().filter(|cell| !cell.limits.is_empty()).map(view).collect()
}

fn view(cell: &CellSummary) -> LimitsView {
    LimitsView {
        cell: clean::line(&cell.label),
        limits: clean::line(&cell.limits),
        throttling: cell.throttling.as_ref().map_or_else(|| format::NONE.to_owned(), throttling),
    }
}

fn throttling(seen: &ThrottlingSummary) -> String {
    if seen.share == 0.0 {
        return "never throttled".to_owned();
    }
    format!(
        "throttled in {} of periods, {}",
        format::percent(seen.share),
        format::duration(seen.throttled_ns)
    )
}
