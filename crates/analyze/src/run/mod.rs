//! A whole run: from its plan and trials to `analysis.json`.
//!
//! Invariants: only valid trials carry numbers into cells, comparisons and claims; the order in which trials are
//! handed over does not matter; cells without trials are named and refused, never left out.

mod answer;
mod belief;
mod cells;
mod claims;
mod comparisons;
mod confinement;
mod data;
mod drift;
mod events;
mod levels;
mod machine;
mod ratio;
mod steady;
mod trials;

use data::RunData;
pub(crate) use data::load_in_words;
use hdrhistogram::Histogram;
use schema::analysis::AnalysisFile;
use schema::run::RunFile;
use schema::trial::{IntervalLine, TrialFile};
use schema::version::AnalysisVersion;

/// Fewest trials, or blocks, for an interval (METHOD §3).
pub(crate) const MIN_TRIALS: usize = 5;

/// One trial as read from its folder.
#[derive(Clone, Debug)]
pub struct TrialData {
    /// `trial.json`.
    pub file: TrialFile,
    /// `intervals.ndjson`.
    pub intervals: Vec<IntervalLine>,
    /// Response times of the measured window in nanoseconds, merged over intervals; absent where there are none.
    pub response: Option<Histogram<u64>>,
}

/// Computes everything that a report shows of a run.
///
/// `trials` may be incomplete, in any order, void or failed; what they do not allow is refused in words.
#[must_use]
pub fn analyze(run: &RunFile, trials: &[TrialData]) -> AnalysisFile {
    let data = RunData::new(&run.plan, trials);
    let cells = cells::summaries(&data);
    let comparisons = comparisons::all_pairs(&data);
    let claims = claims::answers(&data);
    let belief = belief::belief(run, &data, &cells, &comparisons);
    AnalysisFile {
        schema: AnalysisVersion::default(),
        run: run.id.clone(),
        question: run.plan.question.clone(),
        answer: answer::answer(&data, &cells, &comparisons, &belief),
        trials_planned: u32::try_from(run.plan.order.len()).unwrap_or(u32::MAX),
        trials: data.trials.iter().map(|trial| trials::row(trial)).collect(),
        confidence: data.confidence,
        margin: data.margin,
        events: events::summaries(&data),
        findings: confinement::findings(&data),
        belief,
        cells,
        comparisons,
        claims,
    }
}
