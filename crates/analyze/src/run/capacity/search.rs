//! A search replayed over its trials: what each was for, how it was judged, what comes next, and what was found.
//!
//! Invariant: the state follows from the plan and the trials alone, so the runner that goes on with a search, and the
//! report that shows it years later, see the same.

use crate::run::TrialData;
use crate::run::data::RunData;
use crate::stats::search::{End, Next, Purpose, Search, SearchSettings};
use crate::trial::{Judgement, Objective};
use crate::words::{number, percent};
use schema::analysis::Interval;
use schema::capacity::{SearchEnd, SearchPlan, SearchPurpose, SearchResult, SearchStep};
use schema::plan::ExperimentPlan;
use schema::said;
use schema::said::Said;

/// A search as far as its trials go.
pub(crate) struct SearchState {
    search: Search,
    objective: Option<Objective>,
    steps: Vec<SearchStep>,
}

impl SearchState {
    pub(crate) fn new(plan: &SearchPlan, seed: u64) -> Self {
        let settings = SearchSettings {
            start: plan.start_per_s,
            lowest: plan.lowest_per_s,
            highest: plan.highest_per_s,
            tolerance: plan.tolerance,
            confirmations: plan.confirmations,
            trials_max: plan.trials_max,
            seed,
        };
        let objective = plan.objective.join(" and ").parse().ok();
        Self { search: Search::new(settings), objective, steps: Vec::new() }
    }

    /// Takes in the next trial.
    pub(crate) fn observe(&mut self, plan: &ExperimentPlan, trial: &TrialData) {
        let Next::Measure(rate, purpose) = self.search.next() else { return };
        let cell = plan.cells.iter().find(|cell| cell.id == trial.file.cell);
        let measured = cell.and_then(|cell| cell.load.rate_per_s);
        let judgement = match (&self.objective, measured) {
            (Some(objective), Some(measured)) if (measured / rate - 1.0).abs() < 1e-9 => {
                objective.judge(&trial.file, &trial.intervals)
            }
            _ => Judgement {
                passed: None,
                reasons: vec![said!(
                    "capacity.search.another_rate",
                    "the trial is not of the rate that the search asked for"
                )],
            },
        };
        self.search.observe(judgement.passed);
        self.steps.push(SearchStep {
            trial: trial.file.id,
            rate_per_s: rate,
            purpose: purpose_of(purpose),
            passed: judgement.passed,
            reasons: judgement.reasons,
        });
    }

    /// The rate to be measured next; `None` where the search has ended.
    pub(crate) fn next_rate(&self) -> Option<f64> {
        match self.search.next() {
            Next::Measure(rate, _) => Some(rate),
            Next::Done(_) => None,
        }
    }

    /// How the last trial was judged.
    pub(crate) fn last(&self) -> Option<&SearchStep> {
        self.steps.last()
    }
}

const fn purpose_of(purpose: Purpose) -> SearchPurpose {
    match purpose {
        Purpose::Bracket => SearchPurpose::Bracket,
        Purpose::Bisect => SearchPurpose::Bisect,
        Purpose::Confirm => SearchPurpose::Confirm,
    }
}

pub(super) fn result(data: &RunData<'_>, plan: &SearchPlan) -> SearchResult {
    let mut state = SearchState::new(plan, data.plan.seed);
    for trial in &data.trials {
        state.observe(data.plan, trial);
    }
    let SearchState { search, steps, .. } = state;
    let end = match search.next() {
        Next::Done(End::Verified) => SearchEnd::Verified,
        Next::Done(End::AtHighest) => SearchEnd::AtHighest,
        Next::Done(End::NothingPasses) => SearchEnd::NothingPasses,
        Next::Done(End::TrialsSpent) | Next::Measure(..) => SearchEnd::CutOff,
    };
    let limit = search.interval(data.confidence).map(|(low, high)| Interval { low: Some(low), high });
    let refused = refused(plan, &search, end, &steps);
    let after_failure = search.verified().map_or(0, |rate| after_failure(&steps, rate));
    SearchResult {
        objective: plan.objective.clone(),
        verified_per_s: search.verified(),
        limit,
        confirmations: plan.confirmations,
        after_failure,
        end,
        refused,
        steps,
    }
}

/// Confirmations of a rate that came right after a trial that failed.
fn after_failure(steps: &[SearchStep], rate: f64) -> u32 {
    let from_above = |pair: &&[SearchStep]| {
        let is_confirmation = pair[1].purpose == SearchPurpose::Confirm && pair[1].passed == Some(true);
        is_confirmation && pair[1].rate_per_s == rate && pair[0].passed == Some(false)
    };
    steps.windows(2).filter(from_above).count() as u32
}

/// Why there is no answer, or what stands behind it that is not the target.
fn refused(plan: &SearchPlan, search: &Search, end: SearchEnd, steps: &[SearchStep]) -> Option<Said> {
    let gave_up = search.gave_up_at().map(|rate| {
        let why = steps.iter().rev().find(|step| step.passed.is_none()).and_then(|step| step.reasons.first());
        said!(
            "capacity.search.trials_requests_per_second",
            "trials at {rate} requests per second could not be judged and counted as failed \
             ({reason}): the limit may be that of the instrument or of the trial's length, not \
             the target's",
            rate = number(rate),
            reason =
                why.cloned().unwrap_or_else(|| said!("capacity.search.no_reason_given", "no reason given"))
        )
    });
    match end {
        SearchEnd::Verified => gave_up,
        SearchEnd::AtHighest => Some(said!(
            "capacity.search.highest_rate_allowed_per",
            "the highest rate that was allowed, {highest} per second, passes: the limit lies \
             beyond; allow more with --max-rate",
            highest = number(plan.highest_per_s)
        )),
        SearchEnd::NothingPasses => gave_up.or_else(|| {
            Some(said!(
                "capacity.search.even_requests_per_second",
                "even {lowest} requests per second fails, the lowest rate at which a trial of \
                 this length can be judged: relax the objective, or lengthen the trials",
                lowest = number(plan.lowest_per_s)
            ))
        }),
        SearchEnd::CutOff => Some(said!(
            "capacity.search.search_ended_before_confirmed",
            "the search ended before {rates} were confirmed {confirmations} times (tolerance \
             {tolerance}): give it more --budget, or finish it with `prony run --resume`",
            rates = if search.verified().is_some() {
                said!("capacity.search.best_candidates", "its best candidates")
            } else {
                said!("capacity.search.any_rates", "any rates")
            },
            confirmations = plan.confirmations,
            tolerance = percent(plan.tolerance)
        )),
    }
}
