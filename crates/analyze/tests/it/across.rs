//! Comparisons of two runs and histories of many, with known truth.

use crate::synth::{closed, run, trials};
use analyze::{CompareError, HistorySettings, Past, compare, history};
use schema::analysis::Verdict;
use schema::doctor::{Bearing, Fact, Severity};
use schema::metric::Metric;
use schema::trial::TrialOutcome;
use units::Seed;

/// A run of a and b, begun on this day, whose throughput is 1,000/s for a and `b` for b with 1 % of noise.
fn past(day: u32, b: f64) -> Past {
    let mut file = run(&["a", "b"], &[closed(64)], 6);
    file.id = format!("2026-11-{day:02}-synthetic");
    file.started_wall = format!("2026-11-{day:02}T09:30:00Z");
    let mut rng = Seed(7).derive("past", day.into()).rng();
    let trials = trials(&file, |cell, _| [1_000.0, b][cell] * (0.01 * rng.normal()).exp());
    Past { run: file, trials }
}

fn fact(value: &str) -> Fact {
    Fact {
        id: "cpu.model".into(),
        title: "CPU".into(),
        value: Some(value.into()),
        severity: Severity::Ok,
        effect: "decides every number".into(),
        remedy: None,
        bearing: Bearing::Numbers,
        amount: None,
    }
}

#[test]
fn a_change_between_two_runs_is_found_in_the_right_cell_and_direction() {
    let found = compare(&past(1, 1_000.0), &past(2, 900.0), false).unwrap();
    let of = |cell: usize, metric: Metric| {
        found.cells[cell].metrics.iter().find(|one| one.metric == metric).unwrap()
    };
    assert_eq!(of(1, Metric::Throughput).verdict, Verdict::Slower);
    assert_ne!(of(0, Metric::Throughput).verdict, Verdict::Slower);
    let changed = of(1, Metric::Throughput);
    let interval = changed.interval.unwrap();
    assert!(interval.low.unwrap() < 0.9 && 0.9 < interval.high.unwrap(), "{changed:?}");
    let rank = changed.rank_interval.unwrap();
    assert!(rank.low.unwrap() < 0.9 && 0.9 < rank.high.unwrap(), "{changed:?}");
    assert!(changed.p_holm.unwrap() < 0.05);
    let back = compare(&past(2, 900.0), &past(1, 1_000.0), false).unwrap();
    assert_eq!(back.cells[1].metrics[0].verdict, Verdict::Faster);
    assert!((back.cells[1].metrics[0].ratio.unwrap() * changed.ratio.unwrap() - 1.0).abs() < 1e-12);
    // A metric that no trial has is refused in words.
    let p99 = of(0, Metric::P99);
    assert!(p99.verdict == Verdict::Refused && p99.refused.is_some(), "{p99:?}");
}

#[test]
fn equal_runs_differ_at_the_stated_rate_only() {
    // The 99.9 % point of Bin(200, 5 %) is 21 (scipy.stats.binom.ppf).
    let file = run(&["a"], &[closed(64)], 6);
    let wrong = (0..200_u64).filter(|index| {
        let mut rng = Seed(8).derive("equal", *index).rng();
        let mut one = || Past {
            run: file.clone(),
            trials: trials(&file, |_, _| 1_000.0 * (0.03 * rng.normal()).exp()),
        };
        let found = compare(&one(), &one(), false).unwrap();
        matches!(found.cells[0].metrics[0].verdict, Verdict::Faster | Verdict::Slower)
    });
    let wrong = wrong.count();
    assert!((1..=21).contains(&wrong), "{wrong} of 200");
}

#[test]
fn other_hosts_give_numbers_and_no_verdict_unless_accepted() {
    let (mut a, mut b) = (past(1, 1_000.0), past(2, 900.0));
    a.run.environment.facts.push(fact("one"));
    b.run.environment.facts.push(fact("other"));
    let found = compare(&a, &b, false).unwrap();
    let reason = found.refused.as_deref().unwrap();
    assert!(reason.contains("CPU") && reason.contains("--across-hosts"), "{reason}");
    let one = &found.cells[1].metrics[0];
    assert!(one.verdict == Verdict::Refused && one.ratio.is_some() && one.refused.is_some());
    let accepted = compare(&a, &b, true).unwrap();
    assert_eq!(accepted.cells[1].metrics[0].verdict, Verdict::Slower);
    assert!(accepted.refused.is_none() && accepted.warnings.iter().any(|text| text.contains("one → other")));
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let (a, mut b) = (past(1, 1_000.0), past(2, 1_000.0));
    b.run.plan.name = "other".into();
    let error = compare(&a, &b, false).unwrap_err();
    assert!(matches!(error, CompareError::Experiments { .. }), "{error}");
    let mut empty = past(2, 1_000.0);
    empty.trials.clear();
    assert!(compare(&a, &empty, false).unwrap_err().to_string().contains("no valid trial"));
    let mut void = past(2, 1_000.0);
    void.trials.iter_mut().for_each(|trial| trial.file.outcome = TrialOutcome::Void);
    assert!(matches!(compare(&void, &a, false), Err(CompareError::Empty(_))));
    let mut elsewhere = past(2, 1_000.0);
    elsewhere.run.plan.cells.iter_mut().for_each(|cell| cell.load.connections = 65);
    assert_eq!(compare(&a, &elsewhere, false), Err(CompareError::NoCommonCell));
    let mut half = past(2, 1_000.0);
    half.run.plan.cells[0].load.connections = 65;
    let found = compare(&a, &half, false).unwrap();
    assert_eq!((found.cells.len(), found.only_a.len(), found.only_b.len()), (1, 1, 1));
    let mut few = past(2, 1_000.0);
    few.trials.truncate(4);
    let found = compare(&a, &few, false).unwrap();
    assert!(found.cells[0].metrics[0].refused.as_deref().unwrap().contains("5 trials in each run"));
    let mut zero = past(2, 1_000.0);
    zero.trials.iter_mut().for_each(|trial| {
        if let Some(load) = &mut trial.file.load {
            load.throughput_per_s = 0.0;
        }
    });
    assert!(
        compare(&a, &zero, false).unwrap().cells[0].metrics[0].refused.as_deref().unwrap().contains("is 0")
    );
}

const SETTINGS: HistorySettings = HistorySettings { significance: 0.05, permutations: 999, seed: 1 };

#[test]
fn a_regression_is_dated() {
    let mut runs: Vec<Past> = (1..=12).map(|day| past(day, if day < 8 { 1_000.0 } else { 900.0 })).collect();
    runs[7].run.versions.insert("b: go".into(), "1.27".into());
    for before in &mut runs[..7] {
        before.run.versions.insert("b: go".into(), "1.26".into());
    }
    let found = history("synthetic", &runs, SETTINGS);
    let of = |cell: &str| {
        let is = |one: &&schema::across::HistorySeries| {
            one.metric == Metric::Throughput && one.cell.starts_with(cell)
        };
        found.series.iter().find(is).unwrap()
    };
    assert!(of("a").changes.is_empty(), "{:?}", of("a").changes);
    let [change] = &of("b").changes[..] else { panic!("{:?}", of("b").changes) };
    assert_eq!(
        (change.first_run.as_str(), change.after_run.as_str()),
        ("2026-11-08-synthetic", "2026-11-07-synthetic")
    );
    assert!(change.is_worse && (change.ratio - 0.9).abs() < 0.01, "{change:?}");
    assert_eq!(found.runs[7].changed, ["b: go: 1.26 → 1.27"]);
    assert!(found.notes[0].contains("by chance alone"), "{:?}", found.notes);
}

#[test]
fn histories_that_cannot_tell_are_refused() {
    let runs: Vec<Past> = (1..=7).map(|day| past(day, 1_000.0)).collect();
    let found = history("synthetic", &runs, SETTINGS);
    assert!(!found.series.is_empty());
    for one in &found.series {
        assert!(one.refused.as_deref().unwrap().contains("1 more times"), "{:?}", one.refused);
    }
    assert!(history("synthetic", &[], SETTINGS).series.is_empty());
    let mut empty: Vec<Past> = (1..=9).map(|day| past(day, 1_000.0)).collect();
    empty.iter_mut().for_each(|past| past.trials.clear());
    assert!(history("synthetic", &empty, SETTINGS).series.is_empty(), "no values, no series");
    let coarse = history(
        "synthetic",
        &(1..=9).map(|day| past(day, 1_000.0)).collect::<Vec<_>>(),
        HistorySettings { permutations: 9, ..SETTINGS },
    );
    assert!(coarse.notes.iter().any(|note| note.contains("use more of them")), "{:?}", coarse.notes);
}

#[test]
fn values_that_never_differ_have_no_change() {
    let runs: Vec<Past> = (1..=9)
        .map(|day| {
            let mut past = past(day, 1_000.0);
            past.trials.iter_mut().for_each(|trial| {
                if let Some(load) = &mut trial.file.load {
                    load.throughput_per_s = 500.0;
                }
            });
            past
        })
        .collect();
    let found = history("synthetic", &runs, SETTINGS);
    assert!(found.series.iter().all(|one| one.refused.is_none() && one.changes.is_empty()));
}
