//! Decisions at block borders, with trials whose values are known.

use super::*;
use schema::design::StoppingPlan;
use schema::plan::CellPlan;
use schema::trial::TrialOutcome;

/// Two targets, `done` blocks of which are ordered and run.
pub(crate) fn plan(stopping: StoppingPlan, done: u32) -> ExperimentPlan {
    let text = "[experiment]\nname = \"x\"\n[[target]]\nname = \"a\"\nreference = {}\n[[target]]\nname = \"b\"\n\
                reference = {}\n[scenario]\nrequest = { path = \"/\" }\n";
    let context = plan::Context { project: "/nonexistent".into(), usable_cpus: vec![0], pin: None };
    let mut plan = plan::experiment("x.toml", text, &context).unwrap();
    plan.order.clear();
    plan.blocks = 0;
    plan.design.stopping = Some(stopping);
    add_blocks(&mut plan, done);
    plan
}

pub(crate) fn stopping(precision: Option<f64>, budget_ns: Option<u64>, blocks_max: u32) -> StoppingPlan {
    StoppingPlan { precision, budget_ns, blocks_pilot: 5, blocks_max, ..StoppingPlan::default() }
}

/// Trials of all that is ordered; the ratio of a block departs from 1.1 by `noise` times a fixed pattern.
pub(crate) fn trials(plan: &ExperimentPlan, noise: f64) -> Vec<TrialData> {
    let value = |planned: &TrialPlan, cell: &CellPlan| {
        let pattern = [1.0, -1.0, 0.5, -0.5, 0.25, -0.25, 0.8][planned.block as usize % 7];
        if cell.target == "a" { 1_100.0 * (noise * pattern).exp() } else { 1_000.0 }
    };
    let of = |planned: &TrialPlan| {
        let cell = plan.cells.iter().find(|cell| cell.id == planned.cell).unwrap();
        let mut trial = analyze::made::trial(plan, planned).unwrap();
        trial.file.load.as_mut().unwrap().throughput_per_s = value(planned, cell);
        trial
    };
    plan.order.iter().map(of).collect()
}

/// Decides until the run has ended; the reason and the blocks. Each block takes `block_ns`.
fn play(stopping: StoppingPlan, noise: f64, block_ns: u64) -> (StopReason, u32, ExperimentPlan) {
    let mut plan = plan(stopping, 5);
    for _ in 0..200 {
        let spent_ns = block_ns * u64::from(plan.blocks);
        let so_far = trials(&plan, noise);
        if decide(&mut plan, None, &so_far, spent_ns).is_empty() {
            let stopped = plan.design.stopping.as_ref().and_then(|stopping| stopping.stopped.clone());
            return (stopped.unwrap().reason, plan.blocks, plan);
        }
    }
    panic!("it never ends");
}

#[test]
fn a_quiet_run_stops_early_and_a_loud_one_late() {
    let (reason, blocks, plan) = play(stopping(Some(0.02), None, 60), 0.001, 1);
    assert_eq!((reason, blocks), (StopReason::Precision, 8), "three blocks confirm what the fifth showed");
    assert!(words(&plan).unwrap().contains("the precision of ± 2.0 % is reached"), "{:?}", words(&plan));
    let (reason, blocks, plan) = play(stopping(Some(0.02), None, 60), 0.05, 1);
    assert_eq!(reason, StopReason::Precision);
    assert!((15..60).contains(&blocks), "{blocks}");
    let looks = plan.design.stopping.unwrap().looks;
    assert_eq!(looks.len() as u32, blocks - 4, "one look a block from the fifth on");
    assert!(looks[0].half_width.unwrap() > 0.02 && looks[0].blocks_needed.unwrap() > 5);
    assert!(looks.last().unwrap().half_width.unwrap() <= 0.02);
    let (reason, blocks, _) = play(stopping(Some(0.0005), None, 12), 0.05, 1);
    assert_eq!((reason, blocks), (StopReason::Blocks, 12));
}

#[test]
fn the_budget_ends_a_run_before_the_block_that_does_not_fit() {
    let (reason, blocks, plan) = play(stopping(Some(0.0005), Some(80), 100), 0.05, 10);
    assert_eq!((reason, blocks), (StopReason::Budget, 8));
    assert_eq!(plan.order.len(), 16);
    let (reason, blocks, _) = play(stopping(None, Some(89), 100), 0.05, 10);
    assert_eq!((reason, blocks), (StopReason::Budget, 8));
}

#[test]
fn a_budget_shorter_than_the_pilot_leaves_whole_blocks() {
    let mut plan = plan(stopping(None, Some(25), 100), 5);
    assert!(!is_over_budget(&mut plan, 1, 0), "the first block is always run");
    assert!(!is_over_budget(&mut plan, 2, 10));
    assert!(is_over_budget(&mut plan, 3, 20));
    assert_eq!((plan.blocks, plan.order.len()), (2, 4));
    assert!(!is_open(&plan), "and it is over for a resumed run, too");
    assert!(decide(&mut plan, None, &[], 20).is_empty());
}

#[test]
fn void_trials_cannot_stop_a_run_early() {
    let mut plan = plan(stopping(Some(0.02), None, 60), 5);
    let mut so_far = trials(&plan, 0.001);
    so_far[0].file.outcome = TrialOutcome::Void;
    assert_eq!(decide(&mut plan, None, &so_far, 1).len(), 2, "four whole blocks give no interval");
    let look = &plan.design.stopping.as_ref().unwrap().looks[0];
    assert!(look.half_width.is_none() && look.of.contains("5 blocks"), "{look:?}");
    assert!(words(&plan).unwrap().contains("nothing can be judged yet"));
}

#[test]
fn a_fixed_number_of_blocks_is_left_alone() {
    let mut fixed = plan(stopping(None, None, 5), 5);
    fixed.design.stopping = None;
    assert!(
        !is_open(&fixed) && decide(&mut fixed, None, &[], 1).is_empty() && !is_over_budget(&mut fixed, 2, 1)
    );
    assert_eq!(words(&fixed), None);
}

#[test]
fn a_run_that_waits_for_its_claims_ends_when_they_are_decided() {
    let claim = |numerator: &str, bound: f64| schema::plan::ClaimPlan {
        text: "a is faster".into(),
        metric: Some(schema::metric::Metric::Throughput.into()),
        test: schema::plan::ClaimTest::Ratio {
            numerator: numerator.into(),
            denominator: if numerator == "c1" { "c2".into() } else { "c1".into() },
            comparison: schema::plan::ClaimComparison::MoreThan,
            bound,
        },
        id: None,
        published: None,
    };
    let waiting = |bound: f64, noise: f64| {
        let mut plan = plan(StoppingPlan { until_decided: true, ..stopping(None, None, 20) }, 5);
        plan.claims = vec![claim("c1", bound)];
        while plan.design.stopping.as_ref().unwrap().stopped.is_none() {
            let so_far = trials(&plan, noise);
            decide(&mut plan, None, &so_far, 1);
        }
        plan
    };
    // The true ratio is 1.1.
    let clear = waiting(1.0, 0.01);
    let stopping = clear.design.stopping.as_ref().unwrap();
    assert_eq!((stopping.stopped.as_ref().unwrap().reason, clear.blocks), (StopReason::Decided, 5));
    assert_eq!(stopping.looks[0].undecided, Some(0));
    assert!(words(&clear).unwrap().contains("every claim is decided after 5 blocks"), "{:?}", words(&clear));
    let longer = waiting(1.0, 0.1);
    assert_eq!(
        longer.design.stopping.as_ref().unwrap().stopped.as_ref().unwrap().reason,
        StopReason::Decided
    );
    assert!((6..20).contains(&longer.blocks), "{}", longer.blocks);
    assert_eq!(longer.design.stopping.unwrap().looks[0].undecided, Some(1));
    // At the very bound nothing is ever decided: the most blocks end it.
    let never = waiting(1.1, 0.01);
    assert_eq!(
        (never.design.stopping.unwrap().stopped.unwrap().reason, never.blocks),
        (StopReason::Blocks, 20)
    );
}
