//! Where the spread of each cell comes from, in words: one row for each cell that has levels.

use crate::{clean, format};
use schema::analysis::{AnalysisFile, CellSummary, Levels};

/// What the table shows.
pub(crate) const ABOUT: &str = "Standard deviation between the samples of one trial and between trials, as shares of \
    the mean (Kalibera and Jones). Where most variance lies between trials, restarting changes the answer: more blocks \
    narrow the interval, longer trials do not.";

/// Heads of the columns: cell, metric, and the values of a view.
pub(crate) const HEADER: [&str; 7] = [
    "Cell",
    "Metric",
    "Trials × samples",
    "Between samples",
    "Between trials",
    "Variance between trials",
    "Best samples in a trial",
];

/// The levels of one cell.
pub(crate) struct LevelView {
    pub(crate) cell: String,
    pub(crate) metric: &'static str,
    /// Counts, spread of samples, spread of trials, share of the latter, best count of samples.
    pub(crate) values: [String; 5],
}

/// All cells that have levels, in the order of the analysis.
pub(crate) fn views(analysis: &AnalysisFile) -> Vec<LevelView> {
    analysis.cells.iter().filter_map(|cell| Some(view(cell, &cell.levels?))).collect()
}

fn view(cell: &CellSummary, levels: &Levels) -> LevelView {
    let none = || format::NONE.to_owned();
    LevelView {
        cell: clean::line(&cell.label),
        metric: levels.metric.title(),
        values: [
            format!("{} × {}", levels.trials, levels.samples),
            format::percent(levels.sample_cv),
            if levels.clipped {
                "none beyond the samples'".to_owned()
            } else {
                format::percent(levels.trial_cv)
            },
            levels.trial_share.map_or_else(none, format::percent),
            levels.samples_best.map_or_else(none, |best| best.to_string()),
        ],
    }
}
