//! Quotas in the analysis: planted throttling is found, what was asked for is a fact, what could not be had is said.

use crate::synth::{closed, run, trial};
use analyze::{TrialData, analyze};
use schema::analysis::{AnalysisFile, FindingLevel};
use schema::limits::{Confinement, GroupUsage};
use schema::metric::Metric;
use schema::run::RunFile;
use schema::said::Said;
use schema::trial::TrialOutcome;

/// Two targets with these quotas in one load, each trial throttled in this share of its 100 periods.
fn quotas(cpus: [Option<f64>; 2], throttled: u64) -> (RunFile, Vec<TrialData>) {
    let mut run = run(&["a", "b"], &[closed(16)], 5);
    for (cell, cpus) in run.plan.cells.iter_mut().zip(cpus) {
        cell.limits.cpus = cpus;
    }
    let group = GroupUsage {
        periods: Some(100),
        throttled_periods: Some(throttled),
        throttled_ns: Some(throttled * 50_000_000),
        ..GroupUsage::default()
    };
    let ids = 1..=run.plan.order.len() as u32;
    let trials = ids.map(|id| {
        let mut data = trial(&run, id, &[(Metric::Throughput, 1000.0 + f64::from(id))]);
        data.file.target.group = Some(group);
        data
    });
    let trials = trials.collect();
    (run, trials)
}

fn found(cpus: [Option<f64>; 2], throttled: u64) -> AnalysisFile {
    let (run, trials) = quotas(cpus, throttled);
    analyze(&run, &trials)
}

#[test]
fn throttling_from_five_percent_of_periods_on_is_a_finding() {
    let file = found([Some(0.5), None], 43);
    let [finding] = &file.findings[..] else { panic!("{:?}", file.findings) };
    assert_eq!((finding.level, finding.cell.as_str()), (FindingLevel::Finding, "c1"));
    assert!(
        finding.text.contains("0.5 CPUs") && finding.text.contains("43 % of its periods, 2.15 s"),
        "{finding:?}"
    );
    assert!(finding.text.contains("consistent with") && !finding.text.contains("because"), "{finding:?}");
    let seen = file.cells[0].throttling.unwrap();
    assert_eq!((seen.trials, seen.share, seen.throttled_ns), (5, 0.43, 2.15e9));
    assert_eq!((file.cells[0].limits.as_str(), file.cells[1].throttling), ("0.5 CPUs", None));
    assert!(found([Some(0.5), None], 4).findings.is_empty(), "below the limit of METHOD §9");
    assert_eq!(found([Some(0.5), None], 5).findings.len(), 1);
}

#[test]
fn a_quota_that_the_experiment_varies_is_a_fact_and_parts_the_loads() {
    let (mut run, trials) = quotas([Some(0.5), Some(1.0)], 43);
    for cell in &mut run.plan.cells {
        cell.target = "a".to_owned();
    }
    let file = analyze(&run, &trials);
    let levels: Vec<FindingLevel> = file.findings.iter().map(|finding| finding.level).collect();
    assert_eq!(levels, [FindingLevel::Fact], "one cause of one target is reported once");
    assert!(file.findings[0].text.ends_with("as the experiment asks; so also in 1 other cell"));
    assert!(file.findings[0].remedy.is_none());
    let loads: Vec<&str> = file.cells.iter().map(|cell| cell.load.as_str()).collect();
    assert_eq!(loads, ["16 connections with 0.5 CPUs", "16 connections with 1 CPU"]);
}

#[test]
fn targets_of_different_quotas_are_compared_where_the_quota_is_theirs_and_not_a_factor() {
    assert!(!found([Some(0.5), Some(1.0)], 0).comparisons.is_empty(), "that is what is asked");
    let mut run = run(&["a", "b"], &[closed(16), closed(16)], 5);
    for (cell, cpus) in run.plan.cells.iter_mut().zip([0.5, 0.5, 1.0, 1.0]) {
        cell.limits.cpus = Some(cpus);
    }
    let trials: Vec<TrialData> =
        (1..=20).map(|id| trial(&run, id, &[(Metric::Throughput, 1000.0 + f64::from(id))])).collect();
    let file = analyze(&run, &trials);
    let mut pairs: Vec<(&str, &str)> =
        file.comparisons.iter().map(|pair| (pair.a.as_str(), pair.b.as_str())).collect();
    pairs.dedup();
    assert_eq!(pairs, [("c1", "c2"), ("c3", "c4")], "each level by itself");
}

#[test]
fn void_trials_say_nothing_of_throttling() {
    let (run, mut trials) = quotas([Some(0.5), None], 43);
    trials.iter_mut().for_each(|trial| trial.file.outcome = TrialOutcome::Void);
    let file = analyze(&run, &trials);
    assert!(file.findings.is_empty() && file.cells[0].throttling.is_none());
}

#[test]
fn what_could_not_be_had_is_a_reservation_once_and_so_are_kills() {
    let (mut run, mut trials) = quotas([Some(0.5), None], 0);
    let missing = Said::from("the CPU quota could not be set");
    run.weaknesses.push(missing.clone());
    for trial in &mut trials {
        let weaknesses = vec![missing.clone(), "no network of its own".into()];
        trial.file.target.confinement = Some(Confinement { weaknesses, ..Confinement::default() });
    }
    trials[2].file.target.group.as_mut().unwrap().oom_kills = Some(2);
    let file = analyze(&run, &trials);
    let count = |text: &str| file.belief.notes.iter().filter(|note| note.text.contains(text)).count();
    assert_eq!((count("quota could not be set"), count("no network of its own")), (1, 1));
    assert_eq!(count("2 kills at the memory limit of a target in trial 3"), 1, "{:?}", file.belief.notes);
}
