//! Bad input: a stated refusal, never a panic, never a number that JSON cannot hold.

use crate::synth::{claim, claim_of, closed, report, run, second, trial, trials};
use analyze::{TrialData, analyze, latency, validity, warmth};
use schema::analysis::{AnalysisFile, Basis, BeliefLevel, ClaimVerdict};
use schema::load::{MessageSummary, StreamLength};
use schema::metric::Metric;
use schema::plan::{ClaimComparison, ClaimMargin, ClaimPlan, ClaimTest};
use schema::run::RunFile;
use schema::trial::TrialOutcome;

/// Reading back what was written fails where a NaN or an infinity became null in a place for numbers; then every
/// number left is looked at, and every missing interval must have its reason.
fn check(run: &RunFile, data: &[TrialData]) -> AnalysisFile {
    let file = analyze(run, data);
    let text = serde_json::to_string(&file).expect("can be written");
    serde_json::from_str::<AnalysisFile>(&text).expect("can be read back");
    for word in ["NaN", "inf ", "inf%", "inf,", "1e999"] {
        assert!(!text.contains(word), "{word} in {text}");
    }
    for metric in file.cells.iter().flat_map(|cell| &cell.metrics) {
        assert_ne!(metric.interval.is_some(), metric.refused.is_some(), "{metric:?}");
        assert!(metric.center.is_none_or(f64::is_finite));
    }
    for pair in &file.comparisons {
        let answered = match pair.basis {
            Basis::Ratio => pair.interval.is_some(),
            Basis::Difference => pair.difference_interval.is_some(),
        };
        assert_ne!(answered, pair.refused.is_some(), "{pair:?}");
        let numbers = [pair.ratio, pair.hodges_lehmann, pair.difference, pair.p_value, pair.p_family];
        assert!(numbers.into_iter().flatten().all(f64::is_finite), "{pair:?}");
    }
    for claim in &file.claims {
        assert!(!claim.evidence.is_empty() && claim.ratio.is_none_or(f64::is_finite), "{claim:?}");
        assert!(claim.value.is_none_or(f64::is_finite), "{claim:?}");
    }
    assert!(!file.answer.is_empty() && !file.belief.summary.is_empty());
    file
}

fn plan() -> RunFile {
    let mut plan = run(&["a", "b"], &[closed(64)], 5);
    plan.plan.claims = claims(1.0);
    plan
}

/// The first is about a ratio, then one of each other kind, with this bound or margin.
fn claims(bound: f64) -> Vec<ClaimPlan> {
    let mut claims = vec![claim(Metric::Throughput, "c1", ClaimComparison::AtLeast, "c2", bound)];
    for metric in [Metric::Throughput, Metric::ErrorRate] {
        let (a, b) = ("c1".to_owned(), "c2".to_owned());
        let comparison = ClaimComparison::LessThan;
        for margin in [ClaimMargin::Ratio(bound), ClaimMargin::Difference(bound)] {
            claims.push(claim_of(metric, ClaimTest::Equivalent { a: a.clone(), b: b.clone(), margin }));
            claims.push(claim_of(metric, ClaimTest::NoWorse { cell: a.clone(), than: b.clone(), margin }));
        }
        claims.push(claim_of(metric, ClaimTest::Ordering { cells: vec![a.clone(), b.clone(), a.clone()] }));
        claims.push(claim_of(metric, ClaimTest::Ordering { cells: Vec::new() }));
        claims.push(claim_of(metric, ClaimTest::Threshold { cell: a.clone(), comparison, bound }));
        claims.push(claim_of(metric, ClaimTest::Difference { minuend: a, subtrahend: b, comparison, bound }));
    }
    claims
}

fn wobble(cell: usize, block: u32) -> f64 {
    1e4 + f64::from(block * 7 % 5) + cell as f64
}

#[test]
fn no_trials_one_trial_no_cells() {
    let file = check(&plan(), &[]);
    assert_eq!((file.belief.level, file.claims[0].verdict), (BeliefLevel::No, ClaimVerdict::Void));
    assert_eq!(
        file.answer,
        "No answer: no trial was run to its end; run the experiment again, or `prony run --resume`."
    );
    let one = trials(&plan(), wobble)[..1].to_vec();
    assert_eq!(check(&plan(), &one).claims[0].verdict, ClaimVerdict::Void);
    let mut empty = plan();
    empty.plan.cells.clear();
    let file = check(&empty, &trials(&plan(), wobble));
    assert!(file.belief.notes.iter().any(|note| note.text.contains("the plan does not have")));
    assert!(file.claims[0].evidence.contains("no cell c1"));
    empty.plan.order.clear();
    check(&empty, &[]);
}

#[test]
fn numbers_that_are_none() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 0.0, f64::MIN_POSITIVE, f64::MAX] {
        // In one trial, in all of one cell, in all.
        for chosen in [|id: u32| id == 3, |id: u32| id % 2 == 1, |_: u32| true] {
            let plan = plan();
            let mut data = trials(&plan, wobble);
            for trial in data.iter_mut().filter(|trial| chosen(trial.file.id)) {
                let load = trial.file.load.as_mut().unwrap();
                load.throughput_per_s = bad;
                load.latency_ns.response.mean = Some(bad);
                load.window.in_system_mean = bad;
                trial.file.target.cpu_per_request_ns = Some(bad);
            }
            check(&plan, &data);
        }
    }
}

#[test]
fn wild_values_stay_finite() {
    let plan = plan();
    let data = trials(&plan, |cell, block| match (cell, block % 2) {
        (0, 0) => f64::MAX,
        (0, _) => 1e-300,
        (_, 0) => 1e-300,
        _ => 1e300,
    });
    check(&plan, &data);
    let apart =
        trials(&plan, |cell, block| if cell == 0 { f64::MAX / f64::from(block) } else { f64::MIN_POSITIVE });
    check(&plan, &apart);
}

#[test]
fn all_void_all_failed_all_constant() {
    for outcome in [TrialOutcome::Void, TrialOutcome::Failed] {
        let mut data = trials(&plan(), wobble);
        for trial in &mut data {
            trial.file.outcome = outcome;
            trial.file.load = None;
        }
        assert_eq!(check(&plan(), &data).belief.level, BeliefLevel::No);
    }
    let file = check(&plan(), &trials(&plan(), |_, _| 1e4));
    // Equal in every block is equal within a step of the measurement, which leaves open whether it is at least as much.
    assert_eq!(file.claims[0].verdict, ClaimVerdict::Inconclusive);
    assert!(file.claims[0].interval.is_some(), "{}", file.claims[0].evidence);
    // Valid by name, but without numbers.
    let mut data = trials(&plan(), wobble);
    data.iter_mut().for_each(|trial| trial.file.load = None);
    check(&plan(), &data);
}

#[test]
fn settings_that_cannot_be_used() {
    for (confidence, margin) in
        [(f64::NAN, f64::NAN), (0.0, 0.0), (1.0, -1.0), (2.0, f64::INFINITY), (0.5, 1e308)]
    {
        let mut plan = plan();
        plan.plan.confidence = confidence;
        plan.plan.margin = margin;
        plan.plan.claims = claims(margin);
        let file = check(&plan, &trials(&plan, wobble));
        assert!(file.confidence > 0.5 && file.confidence < 1.0 && file.margin > 0.0);
        assert_eq!(file.belief.level, BeliefLevel::WithReservations);
    }
    let mut near_one = plan();
    near_one.plan.confidence = 1.0 - f64::EPSILON;
    check(&near_one, &trials(&near_one, wobble));
}

#[test]
fn twice_the_same_trial_and_cells_with_the_same_name() {
    let plan = plan();
    let mut data = trials(&plan, wobble);
    data.extend(data.clone());
    assert_eq!(check(&plan, &data).comparisons[0].blocks, 5);
    let mut twins = plan.clone();
    twins.plan.cells[1].id = "c1".into();
    check(&twins, &trials(&plan, wobble));
}

/// A clock that went backwards leaves its trial out of every number, and says so.
#[test]
fn clocks_that_went_backwards() {
    let plan = plan();
    let mut data = trials(&plan, wobble);
    // On its own this value would move every interval.
    data[2].file.load.as_mut().unwrap().throughput_per_s = 1e9;
    data[2].intervals = vec![second(1, 10), second(0, 10)];
    let file = check(&plan, &data);
    assert_eq!(file.comparisons[0].blocks, 4);
    let cell = file.cells.iter().find(|cell| cell.cell == data[2].file.cell).unwrap();
    assert_eq!(cell.trials_valid, 4);
    assert!(cell.metrics.iter().all(|metric| !metric.values.contains(&1e9)));
    let note = file.belief.notes.iter().find(|note| note.text.contains("backwards")).unwrap();
    assert_eq!(note.text, "the clock ran backwards in trial 3, left out");
    for trial in &mut data {
        trial.intervals = vec![second(1, 10), second(0, 10)];
    }
    let file = check(&plan, &data);
    assert_eq!(file.claims[0].verdict, ClaimVerdict::Void);
    // In order, and with a hole, it counts.
    for trial in &mut data {
        trial.intervals = vec![second(0, 10), second(2, 10)];
    }
    assert_eq!(check(&plan, &data).comparisons[0].blocks, 5);
}

#[test]
fn hostile_counts_and_texts() {
    let mut plan = plan();
    plan.plan.cells[0].load.connections = u32::MAX;
    plan.plan.cells[0].target = "\u{202e}<script>\n".into();
    let mut data: Vec<TrialData> = (1..=10).map(|id| trial(&plan, id, &[(Metric::P50, 1e18)])).collect();
    for trial in &mut data {
        let load = trial.file.load.as_mut().unwrap();
        load.requests.completed = u64::MAX;
        load.requests.failed = u64::MAX;
        load.latency_ns.response.censored = u64::MAX;
        let mut histogram = hdrhistogram::Histogram::new(3).unwrap();
        histogram.record_n(u64::MAX, u64::MAX).unwrap();
        trial.response = Some(histogram.clone());
        load.latency_ns.response = latency(&histogram, u64::MAX, analyze::Of::Requests);
        load.errors.insert(schema::load::ErrorClass::Io, u64::MAX);
        load.messages = Some(MessageSummary {
            scheduled: u64::MAX,
            completed: u64::MAX,
            received: u64::MAX,
            per_stream: Some(StreamLength { streams: u64::MAX, mean: f64::MAX, ..StreamLength::default() }),
            ..MessageSummary::default()
        });
        load.window.duration_ns = u64::MAX;
        let found = validity(load, &analyze::TrialFacts { answered_all: u64::MAX, ..Default::default() });
        assert!(!found.ok);
        let text = serde_json::to_string(&found).unwrap();
        serde_json::from_str::<schema::load::Validity>(&text).expect("gates hold numbers");
    }
    check(&plan, &data);
    assert!(!warmth(&[], &[], &Default::default(), 0).is_warm);
    let mut hostile = report(closed(0));
    hostile.generator.busy_share = f64::NEG_INFINITY;
    assert!(!validity(&hostile, &analyze::TrialFacts::default()).ok);
}
