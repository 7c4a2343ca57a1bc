//! Which trials stand for their cells where not all can be shown.

use schema::analysis::{AnalysisFile, TrialRow};
use schema::metric::Metric;
use schema::trial::TrialOutcome;

/// One trial a cell, in the order of the cells: the valid one whose throughput is the lower middle, among equals the
/// earlier; of a cell without any its last trial, because what went wrong is what people look for.
#[must_use]
pub fn shown_first(analysis: &AnalysisFile) -> Vec<u32> {
    analysis.cells.iter().filter_map(|cell| of_cell(&analysis.trials, &cell.cell)).collect()
}

fn of_cell(trials: &[TrialRow], cell: &str) -> Option<u32> {
    let all = || trials.iter().filter(|trial| trial.cell == cell);
    let mut valid: Vec<(f64, u32)> = all()
        .filter(|trial| trial.outcome == TrialOutcome::Valid)
        .filter_map(|trial| Some((throughput(trial)?, trial.id)))
        .collect();
    valid.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let middle = valid.len().checked_sub(1).map(|last| valid[last / 2].1);
    middle.or_else(|| all().next_back().map(|trial| trial.id))
}

fn throughput(trial: &TrialRow) -> Option<f64> {
    trial.values.iter().find(|value| value.metric == Metric::Throughput)?.value
}
