//! Main effects and interactions on made-up runs of crossed factors with known truth.

use crate::synth::{closed, run, trials};
use analyze::{TrialData, analyze};
use schema::analysis::{Effect, Effects};
use schema::metric::Metric;
use schema::plan::Variant;
use schema::run::RunFile;
use schema::trial::TrialOutcome;
use std::collections::BTreeMap;
use units::Seed;

/// Noise of a trial on the log scale.
const SD: f64 = 0.004;

/// Cell k runs at `levels[k]`, with noise, and each block at a level of its own, which must cancel.
fn noisy(plan: &RunFile, levels: &[f64]) -> Vec<TrialData> {
    let mut rng = Seed(5).rng();
    let blocks: Vec<f64> = (0..plan.plan.blocks).map(|_| 0.1 * rng.normal()).collect();
    trials(plan, |cell, block| levels[cell] * (blocks[block as usize - 1] + SD * rng.normal()).exp())
}

fn of(effects: &Effects, metric: Metric) -> Vec<&Effect> {
    effects.effects.iter().filter(|effect| effect.metric == metric).collect()
}

/// `target go/echo, connections 128` and its ratio.
fn told(effect: &Effect) -> (String, f64) {
    let steps: Vec<String> = effect.of.iter().map(|step| format!("{} {}", step.factor, step.level)).collect();
    (steps.join(", "), effect.ratio.unwrap())
}

fn check(effects: &[&Effect], wanted: &[(&str, f64, bool)]) {
    assert_eq!(effects.len(), wanted.len(), "{effects:#?}");
    for (effect, (name, ratio, shown)) in effects.iter().zip(wanted) {
        let (got_name, got_ratio) = told(effect);
        assert_eq!(got_name, *name, "{effect:?}");
        // One that is not there may be reported by chance; how often is tested below.
        assert!(effect.shown || !shown, "{effect:?}");
        assert!((got_ratio / ratio).ln().abs() < 3.0 * SD, "{name}: {got_ratio} is not {ratio}");
        let interval = effect.interval.unwrap();
        assert!(interval.low.unwrap() < got_ratio && interval.high.unwrap() > got_ratio);
        assert!(effect.p_holm.unwrap() >= effect.p_value.unwrap());
    }
}

#[test]
fn a_target_and_a_load_act_each_by_itself_or_together() {
    let plan = run(&["a", "b"], &[closed(16), closed(128)], 8);
    // Cells: a 16, b 16, a 128, b 128. b is 10 % faster, 128 connections give 50 % more, whatever the other is.
    let effects = analyze(&plan, &noisy(&plan, &[1e4, 1.1e4, 1.5e4, 1.65e4])).effects.unwrap();
    let factors: Vec<_> =
        effects.factors.iter().map(|factor| (factor.name.as_str(), factor.levels.join(" "))).collect();
    assert_eq!(factors, [("target", "a b".to_owned()), ("connections", "16 128".to_owned())]);
    check(
        &of(&effects, Metric::Throughput),
        &[("target b", 1.1, true), ("connections 128", 1.5, true), ("target b, connections 128", 1.0, false)],
    );
    // Now b is faster at 128 connections only: half of it is seen as its main effect, all of it as interaction.
    let effects = analyze(&plan, &noisy(&plan, &[1e4, 1e4, 1e4, 1.21e4])).effects.unwrap();
    check(
        &of(&effects, Metric::Throughput),
        &[("target b", 1.1, true), ("connections 128", 1.1, true), ("target b, connections 128", 1.21, true)],
    );
    assert!(effects.metrics_refused["p99"].contains("a valid trial has no value"));
    // No trial has an error: 0 has no logarithm.
    assert!(effects.metrics_refused["error_rate"].contains("no logarithm"));
}

/// The targets as variants of two, with a knob of two values each.
fn with_knobs(plan: &mut RunFile) {
    for target in &mut plan.plan.targets {
        let (of, gogc) = target.name.split_once(" gogc=").expect("named by its knob");
        let knobs = BTreeMap::from([("gogc".to_owned(), gogc.to_owned())]);
        target.variant = Some(Variant { of: of.to_owned(), knobs });
    }
}

#[test]
fn knobs_are_factors_of_their_own() {
    let names = ["gin gogc=50", "gin gogc=100", "echo gogc=50", "echo gogc=100"];
    let mut plan = run(&names, &[closed(64)], 8);
    with_knobs(&mut plan);
    let effects = analyze(&plan, &noisy(&plan, &[1e4, 1.2e4, 1e4, 1.2e4])).effects.unwrap();
    check(
        &of(&effects, Metric::Throughput),
        &[("target echo", 1.0, false), ("gogc 100", 1.2, true), ("target echo, gogc 100", 1.0, false)],
    );
    // Where only one of two targets has the knob, the combinations lack: the targets count as they are, by name.
    let mut plan = run(&["gin gogc=50", "gin gogc=100", "echo"], &[closed(16), closed(64)], 8);
    plan.plan.targets[0].variant =
        Some(Variant { of: "gin".into(), knobs: BTreeMap::from([("gogc".into(), "50".into())]) });
    plan.plan.targets[1].variant =
        Some(Variant { of: "gin".into(), knobs: BTreeMap::from([("gogc".into(), "100".into())]) });
    let effects = analyze(&plan, &noisy(&plan, &[1e4; 6])).effects.unwrap();
    assert_eq!(effects.factors[0].levels, ["gin gogc=50", "gin gogc=100", "echo"]);
    assert_eq!(of(&effects, Metric::Throughput).len(), 2 + 1 + 2);
}

#[test]
fn scenarios_rates_and_quotas_are_factors() {
    let mut plan = run(&["a"], &[closed(16), closed(16), closed(16), closed(16)], 8);
    for (cell, (scenario, cpus)) in
        plan.plan.cells.iter_mut().zip([("json", 0.5), ("db", 0.5), ("json", 1.0), ("db", 1.0)])
    {
        (cell.scenario, cell.limits.cpus) = (scenario.to_owned(), Some(cpus));
    }
    let effects = analyze(&plan, &noisy(&plan, &[1e4, 0.5e4, 2e4, 1e4])).effects.unwrap();
    check(
        &of(&effects, Metric::Throughput),
        &[("scenario db", 0.5, true), ("cpus 1", 2.0, true), ("scenario db, cpus 1", 1.0, false)],
    );
}

#[test]
fn without_a_full_cross_or_full_blocks_nothing_is_told() {
    // One factor: its comparisons say it all.
    let plan = run(&["a", "b"], &[closed(16)], 8);
    assert!(analyze(&plan, &noisy(&plan, &[1e4; 2])).effects.is_none());
    // A cell is missing.
    let mut plan = run(&["a", "b"], &[closed(16), closed(128)], 8);
    let data = noisy(&plan, &[1e4; 4]);
    let gone = plan.plan.cells.pop().unwrap();
    plan.plan.order.retain(|trial| trial.cell != gone.id);
    let effects = analyze(&plan, &data).effects.unwrap();
    assert!(effects.effects.is_empty() && effects.refused.unwrap().contains("run all combinations"));
    // Four blocks are whole.
    let plan = run(&["a", "b"], &[closed(16), closed(128)], 6);
    let mut data = noisy(&plan, &[1e4; 4]);
    data[1].file.outcome = TrialOutcome::Void;
    data[6].file.outcome = TrialOutcome::Void;
    let effects = analyze(&plan, &data).effects.unwrap();
    let why = &effects.metrics_refused["throughput"];
    assert_eq!(why, "5 blocks with a valid trial of every cell needed, had 4: run 1 more block");
    // More levels than anything can be shown of.
    let names: Vec<String> = (0..30).map(|i| format!("t{i}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let loads: Vec<_> = (1..=10).map(closed).collect();
    let plan = run(&names, &loads, 1);
    let refused = analyze(&plan, &[]).effects.unwrap().refused.unwrap();
    assert!(refused.contains("299 effects on each metric are more than 200: use fewer levels"), "{refused}");
}

/// Five effects on one metric, none of which is real: Holm keeps the chance of telling any of them at 5 %. The 99.9 %
/// point of Bin(200, 5 %) is 21 (scipy.stats.binom.ppf).
#[test]
fn effects_that_are_not_there_are_told_at_the_stated_rate_only() {
    let plan = run(&["a", "b"], &[closed(16), closed(64), closed(128)], 6);
    let wrong = (0..200)
        .filter(|index| {
            let mut rng = Seed(11).derive("none", *index).rng();
            let data = trials(&plan, |_, _| 1e4 * (0.02 * rng.normal()).exp());
            let effects = analyze(&plan, &data).effects.unwrap();
            of(&effects, Metric::Throughput).iter().any(|effect| effect.shown)
        })
        .count();
    assert!(wrong <= 21, "{wrong} of 200");
}
