//! Claims about counters, each from planted intervals and counters.

use crate::asked::planted;
use crate::synth::{claim_of, closed, run, trial};
use analyze::{TrialData, analyze};
use schema::analysis::{ClaimResult, ClaimVerdict};
use schema::counter_metric::{ClaimMetric, CounterMetric};
use schema::metric::Metric;
use schema::plan::{ClaimComparison, ClaimMargin, ClaimPlan, ClaimQuantity, ClaimTest};
use schema::published::{ClaimSource, PublishedPlan, PublishedVerdict, Span};
use schema::threshold::{ThresholdAnswer, ThresholdPlan, ThresholdVerdict};

const TRIALS: u32 = 5;

fn of(counter: &str, per: Option<&str>) -> ClaimMetric {
    ClaimMetric::Counter(CounterMetric {
        counter: counter.into(),
        per: per.map(str::to_owned),
        higher_is_better: false,
    })
}

/// Two targets with the same counters; `spoil` changes those of the second.
fn answer(claim: ClaimPlan, spoil: impl Fn(u32, &mut TrialData)) -> ClaimResult {
    let mut file = run(&["a", "b"], &[closed(4)], TRIALS);
    file.plan.claims = vec![claim];
    let trials: Vec<TrialData> = (1..=2 * TRIALS)
        .map(|id| {
            let mut one = trial(&file, id, &[]);
            planted(&mut one);
            if one.file.cell == "c2" {
                spoil(one.file.block, &mut one);
            }
            one
        })
        .collect();
    analyze(&file, &trials).claims.remove(0)
}

fn value_of(metric: ClaimMetric, cell: &str, comparison: ClaimComparison, bound: f64) -> ClaimPlan {
    claim_of(metric, ClaimTest::Threshold { cell: cell.into(), comparison, bound })
}

/// The increases of a counter in both seconds.
fn set(trial: &mut TrialData, key: &str, values: [f64; 2]) {
    let signals = trial.signals.as_mut().expect("planted");
    signals.deltas.insert(key.into(), values.map(Some).to_vec());
}

#[test]
fn each_per_is_read_as_its_table_says() {
    for (counter, per, wanted) in [
        // 9 and 1 MB.
        ("go.runtime/heap_bytes", None, 5e6),
        // Percentiles are never averaged: the largest of both seconds.
        ("go.runtime/gc_pause_p99_ns", None, 3e6),
        ("go.runtime/gc_pause_max_ns", None, 4e6),
        ("go.runtime/gc_cycles", Some("second"), 12.0),
        // 900 right answers a second.
        ("go.runtime/gc_cycles", Some("request"), 24.0 / 1_800.0),
        ("go.runtime/gc_cycles", Some("total"), 24.0),
        ("go.runtime/gc_pause_ns", Some("second"), 0.02),
        ("go.runtime/fallbacks", Some("go.runtime/guarded_calls"), 0.25),
        // Two levels: 10 of 45 MB.
        ("go.runtime/heap_bytes", Some("go.runtime/total_bytes"), 10.0 / 45.0),
    ] {
        let claim = value_of(of(counter, per), "c1", ClaimComparison::AtLeast, 0.0);
        let found = answer(claim, |_, _| ()).value.unwrap_or(f64::NAN);
        assert!((found - wanted).abs() < 1e-9 * wanted, "{counter} per {per:?}: {found} instead of {wanted}");
    }
}

#[test]
fn a_counter_that_was_read_in_one_interval_is_taken_over_that_one() {
    let half = |_: u32, trial: &mut TrialData| {
        let signals = trial.signals.as_mut().expect("planted");
        signals.deltas.insert("go.runtime/gc_cycles".into(), vec![None, Some(14.0)]);
    };
    let claim = value_of(of("go.runtime/gc_cycles", Some("second")), "c2", ClaimComparison::AtLeast, 0.0);
    assert_eq!(answer(claim, half).value, Some(14.0));
}

/// A planted fault: the second target falls back more often, by block a little differently.
fn more_fallbacks(block: u32, trial: &mut TrialData) {
    set(trial, "go.runtime/fallbacks", [4.0, 16.0 + f64::from(block) / 10.0]);
}

#[test]
fn a_planted_difference_decides_every_kind_of_claim() {
    let share = || of("go.runtime/fallbacks", Some("go.runtime/guarded_calls"));
    let rate = || of("go.runtime/fallbacks", Some("second"));
    let (a, b) = (|| "c1".to_owned(), || "c2".to_owned());
    let (at_least, at_most) = (ClaimComparison::AtLeast, ClaimComparison::AtMost);
    for (metric, test, verdict) in [
        (
            share(),
            ClaimTest::Threshold { cell: b(), comparison: at_most, bound: 0.3 },
            ClaimVerdict::DoesNotHold,
        ),
        (share(), ClaimTest::Threshold { cell: b(), comparison: at_least, bound: 0.3 }, ClaimVerdict::Holds),
        (
            rate(),
            ClaimTest::Ratio { numerator: b(), denominator: a(), comparison: at_least, bound: 1.5 },
            ClaimVerdict::Holds,
        ),
        (
            rate(),
            ClaimTest::Ratio { numerator: b(), denominator: a(), comparison: at_most, bound: 1.5 },
            ClaimVerdict::DoesNotHold,
        ),
        (
            share(),
            ClaimTest::Difference { minuend: b(), subtrahend: a(), comparison: at_least, bound: 0.2 },
            ClaimVerdict::Holds,
        ),
        (
            share(),
            ClaimTest::Equivalent { a: a(), b: b(), margin: ClaimMargin::Difference(0.05) },
            ClaimVerdict::DoesNotHold,
        ),
        (
            share(),
            ClaimTest::NoWorse { cell: b(), than: a(), margin: ClaimMargin::Difference(0.05) },
            ClaimVerdict::DoesNotHold,
        ),
        (rate(), ClaimTest::Ordering { cells: vec![a(), b()] }, ClaimVerdict::Holds),
        (rate(), ClaimTest::Ordering { cells: vec![b(), a()] }, ClaimVerdict::DoesNotHold),
        (
            share(),
            ClaimTest::Within {
                quantity: ClaimQuantity::Value { cell: b() },
                span: Span { low: Some(0.1), high: Some(0.3) },
            },
            ClaimVerdict::DoesNotHold,
        ),
    ] {
        let found = answer(claim_of(metric.clone(), test.clone()), more_fallbacks);
        assert_eq!(found.verdict, verdict, "{test:?}: {}", found.evidence);
        assert_eq!(found.metric, Some(metric));
        assert!(found.evidence.contains("go.runtime/fallbacks"), "{}", found.evidence);
    }
}

#[test]
fn higher_may_be_better() {
    let ClaimMetric::Counter(counter) = of("go.runtime/fallbacks", Some("second")) else { unreachable!() };
    let metric = ClaimMetric::Counter(CounterMetric { higher_is_better: true, ..counter });
    let cells = vec!["c2".to_owned(), "c1".to_owned()];
    let found = answer(claim_of(metric, ClaimTest::Ordering { cells }), more_fallbacks);
    assert_eq!(found.verdict, ClaimVerdict::Holds, "{}", found.evidence);
}

#[test]
fn a_published_value_of_a_counter_is_answered() {
    let metric = of("go.runtime/fallbacks", Some("go.runtime/guarded_calls"));
    let span = Span { low: Some(0.24), high: Some(0.26) };
    let test = ClaimTest::Within { quantity: ClaimQuantity::Value { cell: "c2".into() }, span };
    let source = ClaimSource { article: "000".into(), place: "table".into() };
    let published = PublishedPlan {
        source,
        value: Some(Span { low: Some(0.25), high: Some(0.25) }),
        direction: None,
        conditions: schema::published::Conditions::default(),
    };
    let claim = ClaimPlan { published: Some(published), ..claim_of(metric, test) };
    let found = answer(claim, more_fallbacks);
    assert_eq!(found.published.unwrap().verdict, PublishedVerdict::Exceeded, "{}", found.evidence);
    assert!(found.evidence.contains("published 25 %"), "{}", found.evidence);
}

#[test]
fn names_that_the_run_does_not_have_are_mistakes() {
    for (counter, per, wanted) in [
        ("go.runtime/falbacks", Some("second"), "did you mean go.runtime/fallbacks?"),
        ("go.runtime/fallbacks", Some("go.runtime/guarded_cals"), "did you mean go.runtime/guarded_calls?"),
        ("jvm.x/y", Some("second"), "the report lists the counters"),
        ("go.runtime/gc_cycles", None, "counts up, so it has no mean: add per"),
        ("go.runtime/heap_bytes", Some("second"), "is a level, of which the mean is taken"),
        ("go.runtime/heap_bytes", Some("go.runtime/gc_cycles"), "one is a level and the other counts up"),
    ] {
        let found = answer(value_of(of(counter, per), "c1", ClaimComparison::AtLeast, 0.0), |_, _| ());
        assert_eq!(found.verdict, ClaimVerdict::Void, "{}", found.evidence);
        assert!(found.evidence.contains(wanted), "{counter}: no `{wanted}` in {}", found.evidence);
    }
}

#[test]
fn what_was_not_read_is_absent_and_never_0() {
    let blind = |block: u32, trial: &mut TrialData| {
        if block == 3 {
            trial.signals = None;
        }
    };
    let claim = value_of(of("go.runtime/gc_cycles", Some("second")), "c2", ClaimComparison::AtLeast, 0.0);
    let found = answer(claim, blind);
    assert_eq!(found.verdict, ClaimVerdict::Inconclusive, "{}", found.evidence);
    assert!(found.evidence.contains("kept no counters"), "{}", found.evidence);
    let idle = |_: u32, trial: &mut TrialData| set(trial, "go.runtime/guarded_calls", [0.0, 0.0]);
    let share = of("go.runtime/fallbacks", Some("go.runtime/guarded_calls"));
    let found = answer(value_of(share, "c2", ClaimComparison::AtLeast, 0.0), idle);
    assert_eq!((found.verdict, found.value), (ClaimVerdict::Inconclusive, None), "{}", found.evidence);
    assert!(found.evidence.contains("nothing to divide by"), "{}", found.evidence);
}

/// How both targets keep a threshold; `spoil` changes the trials of the second.
fn threshold(
    metric: impl Into<ClaimMetric>,
    target: Option<&str>,
    bound: f64,
    spoil: impl Fn(u32, &mut TrialData),
) -> ThresholdAnswer {
    let mut file = run(&["a", "b"], &[closed(4)], TRIALS);
    file.plan.thresholds = vec![ThresholdPlan {
        text: "It is healthy".into(),
        metric: metric.into(),
        target: target.map(str::to_owned),
        comparison: ClaimComparison::AtMost,
        bound,
    }];
    let trials: Vec<TrialData> = (1..=2 * TRIALS)
        .map(|id| {
            let mut one = trial(&file, id, &[(Metric::P99, 5e6)]);
            planted(&mut one);
            if one.file.cell == "c2" {
                spoil(one.file.block, &mut one);
            }
            one
        })
        .collect();
    analyze(&file, &trials).thresholds.remove(0)
}

#[test]
fn one_trial_beyond_a_threshold_crosses_it() {
    let fault = |block: u32, trial: &mut TrialData| {
        if block == 2 {
            set(trial, "go.runtime/gc_cycles", [50.0, 50.0]);
        }
    };
    let rate = || of("go.runtime/gc_cycles", Some("second"));
    let crossed = threshold(rate(), None, 20.0, fault);
    assert_eq!((crossed.verdict, crossed.crossed, crossed.checked), (ThresholdVerdict::Crossed, 1, 10));
    assert_eq!(crossed.worst, Some(50.0), "{}", crossed.evidence);
    assert!(
        crossed.evidence.contains("crossed it in 1 of 10 trials, first in trial"),
        "{}",
        crossed.evidence
    );
    let kept = threshold(rate(), Some("a"), 20.0, fault);
    assert_eq!((kept.verdict, kept.checked), (ThresholdVerdict::Kept, 5), "{}", kept.evidence);
    assert_eq!(threshold(Metric::P99, None, 6e6, fault).verdict, ThresholdVerdict::Kept);
    assert_eq!(threshold(Metric::P99, None, 4e6, fault).crossed, 10);
    let void = |_: u32, trial: &mut TrialData| {
        trial.file.outcome = schema::trial::TrialOutcome::Void;
        set(trial, "go.runtime/gc_cycles", [50.0, 50.0]);
    };
    let kept = threshold(rate(), None, 20.0, void);
    assert_eq!((kept.verdict, kept.checked), (ThresholdVerdict::Kept, 5), "void trials carry no numbers");
}

#[test]
fn a_threshold_that_nobody_watched_is_unknown_and_says_why() {
    let typo = threshold(of("go.runtime/gc_cycls", Some("second")), None, 20.0, |_, _| ());
    assert_eq!(typo.verdict, ThresholdVerdict::Unknown);
    assert!(typo.evidence.contains("did you mean go.runtime/gc_cycles?"), "{}", typo.evidence);
    let rate = || of("go.runtime/gc_cycles", Some("second"));
    let blind = |_: u32, trial: &mut TrialData| trial.signals = None;
    let half = threshold(rate(), None, 20.0, blind);
    assert_eq!((half.verdict, half.checked), (ThresholdVerdict::Unknown, 5));
    let wanted = "without a value in 5 trials, but never read of ";
    assert!(
        half.evidence.contains(wanted) && half.evidence.contains("kept no counters"),
        "{}",
        half.evidence
    );
    // What was crossed is crossed, whoever else was not watched.
    assert_eq!(threshold(rate(), None, 5.0, blind).verdict, ThresholdVerdict::Crossed);
    let once = |block: u32, trial: &mut TrialData| {
        if block == 1 {
            trial.signals = None;
        }
    };
    let most = threshold(rate(), None, 20.0, once);
    assert_eq!((most.verdict, most.checked), (ThresholdVerdict::Kept, 9));
    assert!(most.evidence.ends_with("without a value in 1 trial"), "{}", most.evidence);
}
