//! Claims of every kind on made-up runs: what holds, what does not, what is undecided, and in which words.

use crate::synth::{claim_of, closed, run, trial};
use analyze::{TrialData, analyze};
use schema::analysis::{ClaimResult, ClaimVerdict};
use schema::metric::Metric;
use schema::plan::{ClaimComparison, ClaimMargin, ClaimPlan, ClaimQuantity, ClaimTest};
use schema::published::{ClaimSource, Conditions, Direction, PublishedPlan, PublishedVerdict, Span};
use schema::trial::TrialOutcome;

/// Fixed small deviations, ± 0.7 % at most.
const WOBBLE: [f64; 10] = [0.004, -0.006, 0.002, 0.007, -0.005, 0.001, -0.003, 0.006, -0.002, -0.004];

fn wobble(cell: usize, block: u32) -> f64 {
    1.0 + WOBBLE[(block as usize * (cell + 1) * 3 + cell * 7) % 10]
}

/// Three targets, a, b and c, whose throughput is in the ratio 3 : 2 : 2, and whose p99 is 20, 30 and 30 ms. Only the
/// last has errors.
fn answers(metric: Metric, tests: Vec<ClaimTest>, spoil: impl Fn(&mut Vec<TrialData>)) -> Vec<ClaimResult> {
    answers_to(tests.into_iter().map(|test| claim_of(metric, test)).collect(), spoil)
}

fn answers_to(claims: Vec<ClaimPlan>, spoil: impl Fn(&mut Vec<TrialData>)) -> Vec<ClaimResult> {
    let mut plan = run(&["a", "b", "c"], &[closed(64)], 6);
    plan.plan.claims = claims;
    let mut data: Vec<TrialData> = (1..=18)
        .map(|id| {
            let planned = &plan.plan.order[id as usize - 1];
            let cell = plan.plan.cells.iter().position(|cell| cell.id == planned.cell).expect("planned");
            let by = wobble(cell, planned.block);
            trial(
                &plan,
                id,
                &[
                    (Metric::Throughput, [3e4, 2e4, 2e4][cell] * by),
                    (Metric::P99, [20e6, 30e6, 30e6][cell] * by),
                    (Metric::ErrorRate, [0.0, 0.0, 0.004][cell] * by),
                    (Metric::AllocPerRequest, [1024.0, 2048.0, 2048.0][cell] * by),
                ],
            )
        })
        .collect();
    spoil(&mut data);
    analyze(&plan, &data).claims
}

fn check(metric: Metric, test: ClaimTest, verdict: ClaimVerdict, evidence: &str) {
    let answer = &answers(metric, vec![test.clone()], |_| ())[0];
    assert_eq!((answer.verdict, answer.evidence.as_str()), (verdict, evidence), "{test:?}");
    assert_eq!((answer.kind.as_str(), answer.metric.clone()), (test.key(), Some(metric.into())));
}

fn names(cells: &[&str]) -> Vec<String> {
    cells.iter().map(|cell| (*cell).to_owned()).collect()
}

fn difference(a: &str, b: &str, comparison: ClaimComparison, bound: f64) -> ClaimTest {
    ClaimTest::Difference { minuend: a.into(), subtrahend: b.into(), comparison, bound }
}

fn threshold(cell: &str, comparison: ClaimComparison, bound: f64) -> ClaimTest {
    ClaimTest::Threshold { cell: cell.into(), comparison, bound }
}

fn equivalent(a: &str, b: &str, margin: ClaimMargin) -> ClaimTest {
    ClaimTest::Equivalent { a: a.into(), b: b.into(), margin }
}

fn no_worse(cell: &str, than: &str, margin: ClaimMargin) -> ClaimTest {
    ClaimTest::NoWorse { cell: cell.into(), than: than.into(), margin }
}

#[test]
fn differences_are_held_against_a_bound_in_the_unit_of_the_metric() {
    use ClaimComparison::{AtLeast, AtMost, LessThan};
    use ClaimVerdict::{DoesNotHold, Holds, Inconclusive};
    for (comparison, bound, verdict) in [
        (AtMost, -9e6, Holds),
        (AtMost, -11e6, DoesNotHold),
        (AtMost, -10e6, Inconclusive),
        (AtLeast, -11e6, Holds),
    ] {
        let answer = &answers(Metric::P99, vec![difference("c1", "c2", comparison, bound)], |_| ())[0];
        assert_eq!(answer.verdict, verdict, "{comparison:?} {bound}: {}", answer.evidence);
        assert!(answer.value.is_some_and(|value| (value + 10e6).abs() < 0.3e6) && answer.ratio.is_none());
    }
    // No error in either of a and b: all differences are 0, and six of them are evidence.
    check(
        Metric::ErrorRate,
        difference("c1", "c2", AtMost, 0.001),
        Holds,
        "difference in error rate 0 % (95 % joint interval 0 % to 0 %, 6 blocks), claimed <= 0.1 %",
    );
    check(
        Metric::ErrorRate,
        difference("c1", "c2", LessThan, 0.0),
        DoesNotHold,
        "difference in error rate 0 % (95 % joint interval 0 % to 0 %, 6 blocks), claimed < 0 %",
    );
    let answer = &answers(Metric::ErrorRate, vec![difference("c3", "c1", AtMost, 0.001)], |_| ())[0];
    assert_eq!(answer.verdict, DoesNotHold, "{}", answer.evidence);
}

#[test]
fn thresholds_are_about_one_target() {
    use ClaimComparison::{AtMost, LessThan, MoreThan};
    use ClaimVerdict::{DoesNotHold, Holds, Inconclusive};
    for (metric, test, verdict) in [
        (Metric::P99, threshold("c1", LessThan, 21e6), Holds),
        (Metric::P99, threshold("c1", LessThan, 20e6), Inconclusive),
        (Metric::P99, threshold("c1", LessThan, 19e6), DoesNotHold),
        (Metric::Throughput, threshold("c1", MoreThan, 2.9e4), Holds),
        (Metric::AllocPerRequest, threshold("c2", AtMost, 1500.0), DoesNotHold),
        (Metric::ErrorRate, threshold("c3", LessThan, 0.01), Holds),
        (Metric::ErrorRate, threshold("c3", LessThan, 0.001), DoesNotHold),
    ] {
        let answer = &answers(metric, vec![test.clone()], |_| ())[0];
        assert_eq!(answer.verdict, verdict, "{test:?}: {}", answer.evidence);
        assert!(answer.interval.is_some() && answer.value.is_some());
    }
    check(
        Metric::ErrorRate,
        threshold("c1", LessThan, 0.001),
        Holds,
        "error rate of a 0 % (95 % joint interval 0 % to 0 %, 6 trials), claimed < 0.1 %",
    );
}

#[test]
fn an_order_holds_where_every_neighbour_is_better_than_the_next() {
    use ClaimVerdict::{DoesNotHold, Holds, Inconclusive};
    for (metric, cells, verdict) in [
        (Metric::Throughput, ["c1", "c2"].as_slice(), Holds),
        (Metric::Throughput, &["c2", "c1"], DoesNotHold),
        (Metric::P99, &["c1", "c2"], Holds),
        (Metric::P99, &["c2", "c1"], DoesNotHold),
        // b and c are equal: nothing is shown of them, whatever is of a.
        (Metric::Throughput, &["c1", "c2", "c3"], Inconclusive),
        (Metric::Throughput, &["c2", "c3", "c1"], DoesNotHold),
        // Shares by differences.
        (Metric::ErrorRate, &["c1", "c3"], Holds),
    ] {
        let answer = &answers(metric, vec![ClaimTest::Ordering { cells: names(cells) }], |_| ())[0];
        assert_eq!(answer.verdict, verdict, "{cells:?}: {}", answer.evidence);
    }
    let answer =
        &answers(Metric::Throughput, vec![ClaimTest::Ordering { cells: names(&["c1", "c2", "c3"]) }], |_| ())
            [0];
    assert!(
        answer.evidence.starts_with("requests per second: a against b ratio 1.49"),
        "{}",
        answer.evidence
    );
    assert!(answer.evidence.contains("p < 0.001); b against c ratio"), "{}", answer.evidence);
}

#[test]
fn what_does_not_matter_is_shown_against_a_margin() {
    use ClaimMargin::{Difference, Ratio};
    use ClaimVerdict::{DoesNotHold, Holds, Inconclusive};
    for (metric, test, verdict) in [
        (Metric::Throughput, equivalent("c2", "c3", Ratio(0.05)), Holds),
        (Metric::Throughput, equivalent("c2", "c3", Ratio(0.0001)), Inconclusive),
        (Metric::Throughput, equivalent("c1", "c3", Ratio(0.05)), DoesNotHold),
        (Metric::Throughput, equivalent("c3", "c1", Ratio(0.05)), DoesNotHold),
        (Metric::P99, equivalent("c2", "c3", Difference(2e6)), Holds),
        (Metric::P99, equivalent("c1", "c3", Difference(2e6)), DoesNotHold),
        (Metric::P99, equivalent("c1", "c3", Difference(12e6)), Holds),
        (Metric::ErrorRate, equivalent("c1", "c2", Difference(0.001)), Holds),
        (Metric::ErrorRate, equivalent("c1", "c3", Difference(0.001)), DoesNotHold),
        // a is much better, which is not worse; the other way round it is.
        (Metric::Throughput, no_worse("c1", "c2", Ratio(0.01)), Holds),
        (Metric::Throughput, no_worse("c2", "c1", Ratio(0.01)), DoesNotHold),
        (Metric::P99, no_worse("c1", "c2", Ratio(0.01)), Holds),
        (Metric::P99, no_worse("c2", "c1", Difference(1e6)), DoesNotHold),
        (Metric::P99, no_worse("c2", "c1", Difference(11e6)), Holds),
        (Metric::P99, no_worse("c2", "c3", Ratio(0.05)), Holds),
        (Metric::P99, no_worse("c2", "c3", Ratio(0.0001)), Inconclusive),
        (Metric::ErrorRate, no_worse("c1", "c2", Difference(0.001)), Holds),
    ] {
        let answer = &answers(metric, vec![test.clone()], |_| ())[0];
        assert_eq!(answer.verdict, verdict, "{test:?}: {}", answer.evidence);
    }
    check(
        Metric::ErrorRate,
        equivalent("c1", "c2", Difference(0.001)),
        Holds,
        "difference in error rate 0 % (92 % interval 0 % to 0 %, 6 blocks), margin 0.1 %",
    );
    let answer = &answers(Metric::Throughput, vec![equivalent("c2", "c3", Ratio(0.05))], |_| ())[0];
    assert!(answer.evidence.contains("(92 % interval "), "{}", answer.evidence);
    assert!(answer.evidence.ends_with("6 blocks), margin 5 % (0.952 to 1.05)"), "{}", answer.evidence);
}

/// One claim of each kind.
fn every_kind() -> Vec<ClaimTest> {
    let at_most = ClaimComparison::AtMost;
    vec![
        ClaimTest::Ratio {
            numerator: "c1".into(),
            denominator: "c2".into(),
            comparison: at_most,
            bound: 1.0,
        },
        difference("c1", "c2", at_most, 0.0),
        threshold("c1", at_most, 1.0),
        ClaimTest::Ordering { cells: names(&["c1", "c2", "c3"]) },
        equivalent("c1", "c2", ClaimMargin::Ratio(0.02)),
        no_worse("c1", "c2", ClaimMargin::Difference(1.0)),
    ]
}

#[test]
fn what_cannot_be_tested_is_void_or_inconclusive_in_words() {
    // Four valid trials of a, where five are needed.
    let few = answers(Metric::Throughput, every_kind(), |data| {
        for trial in data.iter_mut().filter(|trial| trial.file.cell == "c1").take(2) {
            trial.file.outcome = TrialOutcome::Void;
        }
    });
    for answer in &few {
        assert_eq!(answer.verdict, ClaimVerdict::Void, "{}: {}", answer.kind, answer.evidence);
        assert!(
            answer.evidence.contains("needed, had 4: run 1 more block"),
            "{}: {}",
            answer.kind,
            answer.evidence
        );
        assert!(answer.interval.is_none());
    }
    // Enough trials, none of which has the metric.
    for answer in &answers(Metric::P999, every_kind(), |_| ()) {
        assert_eq!(answer.verdict, ClaimVerdict::Inconclusive, "{}: {}", answer.kind, answer.evidence);
        assert!(
            answer.evidence.contains("a valid trial has no value"),
            "{}: {}",
            answer.kind,
            answer.evidence
        );
    }
    // A cell that is not in the plan.
    for test in
        [threshold("c9", ClaimComparison::AtMost, 1.0), ClaimTest::Ordering { cells: names(&["c1", "c9"]) }]
    {
        let answer = &answers(Metric::P99, vec![test], |_| ())[0];
        assert_eq!(answer.verdict, ClaimVerdict::Void);
        assert_eq!(answer.evidence, "the plan has no cell c9: correct the claim's target or load");
    }
}

/// A published ratio or value of throughput of a (30,000) and b (20,000), with a band around it.
fn published(quantity: ClaimQuantity, value: f64, direction: Option<Direction>) -> ClaimResult {
    let span = Span { low: Some(value / 1.1), high: Some(value * 1.1) };
    let test = ClaimTest::Within { quantity, span };
    let mut claim = claim_of(Metric::Throughput, test);
    claim.id = Some("x-1".into());
    claim.published = Some(PublishedPlan {
        source: ClaimSource { article: "000".into(), place: "table 1".into() },
        value: Some(Span { low: Some(value), high: Some(value) }),
        direction,
        conditions: Conditions::default(),
    });
    answers_to(vec![claim], |_| ()).remove(0)
}

#[test]
fn published_numbers_are_reproduced_exceeded_weaker_or_contradicted() {
    use ClaimVerdict::{DoesNotHold, Holds};
    use PublishedVerdict::{Contradicted, Exceeded, Reproduced, Weaker};
    let ratio = |a: &str, b: &str| ClaimQuantity::Ratio { numerator: a.into(), denominator: b.into() };
    for (quantity, value, direction, wanted, own) in [
        (ratio("c1", "c2"), 1.5, Some(Direction::More), Reproduced, Holds),
        (ratio("c1", "c2"), 1.2, Some(Direction::More), Exceeded, DoesNotHold),
        (ratio("c1", "c2"), 2.3, Some(Direction::More), Weaker, DoesNotHold),
        (ratio("c2", "c1"), 1.5, Some(Direction::More), Contradicted, DoesNotHold),
        (ratio("c2", "c3"), 1.5, Some(Direction::More), Contradicted, DoesNotHold),
        (ratio("c1", "c2"), 1.0, Some(Direction::Same), Contradicted, DoesNotHold),
        (ratio("c2", "c3"), 1.0, Some(Direction::Same), Reproduced, Holds),
        (ClaimQuantity::Value { cell: "c1".into() }, 31e3, None, Reproduced, Holds),
        (ClaimQuantity::Value { cell: "c1".into() }, 12e3, None, Exceeded, DoesNotHold),
        (ClaimQuantity::Value { cell: "c1".into() }, 60e3, None, Weaker, DoesNotHold),
    ] {
        let answer = published(quantity, value, direction);
        let found = answer.published.as_ref().expect("it is published");
        assert_eq!((found.verdict, answer.verdict), (wanted, own), "{value}: {}", answer.evidence);
        assert_eq!(answer.id.as_deref(), Some("x-1"));
    }
    let answer = published(ratio("c1", "c2"), 2.3, Some(Direction::More));
    let evidence = answer.evidence.as_str();
    assert!(
        evidence.starts_with("same direction, less than published (published 2.3): ratio of"),
        "{evidence}"
    );
    assert!(evidence.ends_with("claimed >= 2.091 and <= 2.53"), "{evidence}");
}

#[test]
fn a_published_direction_is_reproduced_or_contradicted_and_undecided_ones_stay_so() {
    let pair = |a: &str, b: &str, comparison| ClaimTest::Ratio {
        numerator: a.into(),
        denominator: b.into(),
        comparison,
        bound: 1.0,
    };
    let ask = |test: ClaimTest, spoil: fn(&mut Vec<TrialData>)| {
        let mut claim = claim_of(Metric::Throughput, test);
        claim.published = Some(PublishedPlan {
            source: ClaimSource { article: "000".into(), place: "text".into() },
            value: None,
            direction: None,
            conditions: Conditions::default(),
        });
        answers_to(vec![claim], spoil).remove(0).published.expect("it is published").verdict
    };
    let more = ClaimComparison::MoreThan;
    assert_eq!(ask(pair("c1", "c2", more), |_| ()), PublishedVerdict::Reproduced);
    assert_eq!(ask(pair("c2", "c1", more), |_| ()), PublishedVerdict::Contradicted);
    // The same within the margin: where more was published, there is no difference.
    assert_eq!(ask(pair("c2", "c3", more), |_| ()), PublishedVerdict::Contradicted);
    let noisy = |data: &mut Vec<TrialData>| {
        for trial in data.iter_mut().filter(|trial| trial.file.cell == "c2") {
            let factor = if trial.file.block.is_multiple_of(2) { 1.2 } else { 0.8 };
            trial.file.load.as_mut().expect("it was loaded").throughput_per_s *= factor;
        }
    };
    assert_eq!(ask(pair("c2", "c3", more), noisy), PublishedVerdict::Inconclusive);
    let none =
        |data: &mut Vec<TrialData>| data.iter_mut().for_each(|trial| trial.file.outcome = TrialOutcome::Void);
    assert_eq!(ask(pair("c1", "c2", more), none), PublishedVerdict::Void);
    assert_eq!(
        ask(ClaimTest::Ordering { cells: names(&["c2", "c1"]) }, |_| ()),
        PublishedVerdict::Contradicted
    );
}
