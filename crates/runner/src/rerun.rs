//! Void trials are run again at the end of the blocks, so that one disturbance does not cost an interval.
//!
//! Invariants: what is run again stands in the plan of `run.json` before it begins, with the cell and block of the void
//! trial and a number of its own; the void trial stays in the folder and in every count; a place is run again at most
//! [`TRIES`] times and a run at most by [`SHARE`] of its trials, because what keeps coming back is no accident.
//! Absent on purpose: trials that failed, which a resumed run repeats in their own place.

use analyze::TrialData;
use schema::capacity::LadderOrder;
use schema::plan::{ExperimentPlan, TrialPlan};
use schema::trial::TrialOutcome;
use std::collections::BTreeMap;

/// Times that a trial is run again.
const TRIES: usize = 2;
/// Of all trials of the plan, so many are run again at most; two at least.
const SHARE: f64 = 0.25;

/// Adds the trials that are run again to the plan, and returns them.
pub(crate) fn plan(plan: &mut ExperimentPlan, trials: &[TrialData]) -> Vec<TrialPlan> {
    // A ladder that rises and falls visits a cell twice in a block, and where it does so is what it is about.
    if plan.capacity.as_ref().is_some_and(|capacity| capacity.order == LadderOrder::UpDown) {
        return Vec::new();
    }
    let mut times: BTreeMap<(u32, &str), usize> = BTreeMap::new();
    for planned in &plan.order {
        *times.entry((planned.block, planned.cell.as_str())).or_default() += 1;
    }
    let most = ((times.len() as f64 * SHARE) as usize).max(2);
    let left = most.saturating_sub(plan.order.len() - times.len());
    let is_void = |block: u32, cell: &str| {
        let mut of_place = trials.iter().filter(|trial| trial.file.block == block && trial.file.cell == cell);
        let is_one = of_place.clone().next().is_some();
        is_one && of_place.all(|trial| trial.file.outcome == TrialOutcome::Void)
    };
    let again: Vec<(u32, String)> = times
        .iter()
        .filter(|((block, cell), times)| **times <= TRIES && is_void(*block, cell))
        .map(|((block, cell), _)| (*block, (*cell).to_owned()))
        .take(left)
        .collect();
    let last = plan.order.iter().map(|planned| planned.id).max().unwrap_or_default();
    let again = again.into_iter().zip(last + 1..).map(|((block, cell), id)| TrialPlan { id, block, cell });
    let before = plan.order.len();
    plan.order.extend(again);
    plan.order[before..].to_vec()
}

/// What is run again, for people.
pub(crate) fn words(again: &[TrialPlan]) -> String {
    match again {
        [one] => format!("the void trial of block {} is run again as trial {}", one.block, one.id),
        all => format!("{} void trials are run again", all.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adaptive::tests::{plan as planned, stopping, trials};

    /// Six blocks of two cells, of which these trials are void.
    fn run(void: &[u32]) -> (ExperimentPlan, Vec<TrialData>) {
        let mut plan = planned(stopping(None, None, 6), 6);
        plan.design.stopping = None;
        let mut trials = trials(&plan, 0.01);
        for trial in &mut trials {
            if void.contains(&trial.file.id) {
                trial.file.outcome = TrialOutcome::Void;
            }
        }
        (plan, trials)
    }

    fn place(trial: &TrialPlan) -> (u32, &str) {
        (trial.block, &trial.cell)
    }

    #[test]
    fn a_void_trial_is_run_again_in_its_block_and_cell_under_a_new_number() {
        let (mut run_plan, trials) = run(&[4]);
        let again = plan(&mut run_plan, &trials);
        assert_eq!((again.len(), again[0].id), (1, 13));
        assert_eq!(place(&again[0]), place(&run_plan.order[3]));
        assert_eq!(run_plan.order.last(), again.last());
        assert_eq!(
            words(&again),
            format!("the void trial of block {} is run again as trial 13", again[0].block)
        );
    }

    #[test]
    fn without_void_trials_nothing_is_added() {
        let (mut run_plan, trials) = run(&[]);
        assert!(plan(&mut run_plan, &trials).is_empty());
        assert_eq!(run_plan.order.len(), 12);
    }

    #[test]
    fn what_was_valid_the_second_time_is_left_alone() {
        let (mut run_plan, mut trials) = run(&[4]);
        let again = plan(&mut run_plan, &trials);
        let mut second = crate::adaptive::tests::trials(&run_plan, 0.01).pop().unwrap();
        assert_eq!(second.file.id, again[0].id);
        second.file.outcome = TrialOutcome::Valid;
        trials.push(second);
        assert!(plan(&mut run_plan, &trials).is_empty());
    }

    #[test]
    fn what_stays_void_is_run_again_twice_and_no_more() {
        let (mut run_plan, mut trials) = run(&[4]);
        for tried in [1, 1, 0] {
            let again = plan(&mut run_plan, &trials);
            assert_eq!(again.len(), tried);
            for _ in &again {
                let mut file = crate::adaptive::tests::trials(&run_plan, 0.01).pop().unwrap();
                file.file.outcome = TrialOutcome::Void;
                trials.push(file);
            }
        }
    }

    #[test]
    fn a_quarter_of_the_trials_is_run_again_at_most() {
        let (mut run_plan, trials) = run(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
        assert_eq!(plan(&mut run_plan, &trials).len(), 3);
        assert!(plan(&mut run_plan, &trials).is_empty(), "the cap is of the run, not of a look");
    }
}
