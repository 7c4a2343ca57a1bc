//! A whole run: from its plan and trials to `analysis.json`.
//!
//! Invariants: only valid trials carry numbers into cells, comparisons and claims; the order in which trials are
//! handed over does not matter; cells without trials are named and refused, never left out.

mod across;
mod agents;
mod answer;
mod asked;
mod belief;
mod between;
mod capacity;
mod cells;
mod claims;
mod clock;
mod comparisons;
mod confinement;
mod control;
mod counted;
mod cross_checks;
mod data;
mod drift;
mod effects;
mod events;
mod extremes;
mod failures;
mod families;
mod instrument;
mod judged;
mod layers;
mod levels;
mod load;
mod look;
mod machine;
mod memory_view;
mod messages;
mod named;
mod notable;
mod outliers;
mod pairs;
mod parts;
mod pooled;
mod ratio;
mod resampling;
mod shift;
mod shown;
mod steady;
mod thresholds;
mod trial_data;
mod trials;
mod why;

pub use across::{CompareError, Costs, HistorySettings, Past, Wanted, advice, compare, history};
pub use agents::fleet;
pub use asked::allowed as allowed_cpus;
use capacity::SearchState;
use data::RunData;
pub(crate) use load::load_in_words;
pub use look::{Look, look, undecided};
use schema::analysis::{AnalysisFile, BeliefLevel};
use schema::capacity::SearchStep;
use schema::plan::ExperimentPlan;
use schema::run::RunFile;
use schema::version::AnalysisVersion;
pub use shown::shown_first;
pub use trial_data::TrialData;

/// Fewest trials, or blocks, for an interval (METHOD §3).
pub(crate) const MIN_TRIALS: usize = 5;

/// Computes everything that a report shows of a run.
///
/// `trials` may be incomplete, in any order, void or failed; what they do not allow is refused in words.
#[must_use]
pub fn analyze(run: &RunFile, trials: &[TrialData]) -> AnalysisFile {
    let data = RunData::new(&run.plan, trials).with_instrument(run.calibration.as_ref());
    let cells = cells::summaries(&data);
    let families = families::Families::new(&data);
    let comparisons = comparisons::all_pairs(&data, &families);
    let family = families.summary();
    let outliers = outliers::outliers(&data);
    let belief = belief::belief(run, &data, &cells, &comparisons, family.as_ref(), &outliers);
    let capacity = capacity::capacities(&data, &cells, families.knees(&data));
    let claims = claims::answers(&data, &families, &capacity);
    let why = why::why(&data);
    AnalysisFile {
        schema: AnalysisVersion::default(),
        run: run.id.clone(),
        question: run.plan.question.clone(),
        answer: capacity::answer(&capacity)
            .filter(|_| belief.level != BeliefLevel::No || run.plan.search().is_some())
            .unwrap_or_else(|| answer::answer(&data, &cells, &comparisons, &belief)),
        trials_planned: u32::try_from(run.plan.order.len()).unwrap_or(u32::MAX),
        trials: data.trials.iter().map(|trial| trials::row(trial)).collect(),
        confidence: data.confidence,
        margin: data.margin,
        events: events::summaries(&data),
        findings: control::finding(&data, &comparisons)
            .into_iter()
            .chain(why::condensed(&data, &why))
            .collect(),
        why,
        effects: effects::effects(&data),
        shifts: shift::shifts(&data),
        layers: layers::layers(&data),
        instrument: Some(instrument::sentence(&data, run.calibration.as_ref(), &cells)),
        belief,
        outliers,
        capacity,
        cells,
        comparisons,
        family,
        claims,
        thresholds: thresholds::answers(&data),
        fleet: agents::fleet(run, trials),
        soak: None,
    }
}

/// A search that goes on: the trials so far, and the rate that comes next (METHOD §6).
pub struct RunningSearch {
    state: SearchState,
}

impl RunningSearch {
    /// The search of a plan, given its trials in the order in which they were run; `None` where the plan has none.
    #[must_use]
    pub fn of(plan: &ExperimentPlan, trials: &[TrialData]) -> Option<Self> {
        let mut search = Self { state: SearchState::new(plan.search()?, plan.seed) };
        trials.iter().for_each(|trial| search.observe(plan, trial));
        Some(search)
    }

    /// Takes in the trial that was asked for.
    pub fn observe(&mut self, plan: &ExperimentPlan, trial: &TrialData) {
        self.state.observe(plan, trial);
    }

    /// The rate to measure next, per second; `None` where the search has ended.
    #[must_use]
    pub fn next_rate(&self) -> Option<f64> {
        self.state.next_rate()
    }

    /// How the last trial was judged.
    #[must_use]
    pub fn last(&self) -> Option<&SearchStep> {
        self.state.last()
    }
}
