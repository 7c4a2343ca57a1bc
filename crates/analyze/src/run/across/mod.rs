//! Several runs of one experiment: what they foretell, how two differ, and when the numbers changed.
//!
//! Invariants: cells of two runs are the same if target, scenario, load and limits are; runs are paired by nothing,
//! because their blocks did not share a moment; what runs cannot tell is refused in words.

mod advice;
mod compare;
mod history;
mod repetition;

pub use advice::{Costs, Wanted, advice};
pub use compare::{CompareError, compare};
pub use history::{HistorySettings, history};

use super::TrialData;
use super::load::same_load;
use schema::plan::CellPlan;
use schema::run::RunFile;

/// A run of the past, as read from its folder. Trials need no intervals and histograms.
#[derive(Clone, Debug)]
pub struct Past {
    /// `run.json`.
    pub run: RunFile,
    /// Its trials.
    pub trials: Vec<TrialData>,
}

/// Whether two cells of two runs are the same.
fn same_cell(a: &CellPlan, b: &CellPlan) -> bool {
    a.target == b.target && a.scenario == b.scenario && a.limits == b.limits && same_load(&a.load, &b.load)
}
