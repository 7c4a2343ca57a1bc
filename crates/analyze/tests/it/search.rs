//! Searches proved against known truth, and each criterion by which a trial passes with its fault planted.

use crate::capacity::{only, rates};
use crate::synth::{SECOND_NS, open, run, trial};
use analyze::{Objective, RunningSearch, TrialData};
use schema::capacity::{Capacity, CapacityPlan, LadderOrder, LoadAxis, SearchEnd, SearchPlan};
use schema::load::Gate;
use schema::metric::Metric;
use schema::plan::TrialPlan;
use schema::trial::{IntervalLine, Phase, TrialOutcome};
use units::Seed;

fn search_plan(objective: &str) -> SearchPlan {
    SearchPlan {
        objective: vec![objective.to_owned()],
        start_per_s: 500.0,
        lowest_per_s: 100.0,
        highest_per_s: 1e6,
        tolerance: 0.05,
        confirmations: 5,
        trials_max: 150,
        budget_ns: None,
    }
}

/// Runs a search over made-up trials: `answer` gives p99 and the share that is answered at a rate.
fn searched(plan: SearchPlan, mut answer: impl FnMut(f64) -> (f64, f64)) -> Capacity {
    let mut run = run(&["a"], &[open(64, plan.start_per_s)], 1);
    run.plan.order.clear();
    run.plan.capacity = Some(CapacityPlan {
        axis: LoadAxis::Rate,
        order: LadderOrder::Random,
        search: Some(plan),
        notes: Vec::new(),
    });
    let mut trials: Vec<TrialData> = Vec::new();
    while let Some(rate) = RunningSearch::of(&run.plan, &trials).unwrap().next_rate() {
        let known =
            run.plan.cells.iter().find(|cell| cell.load.rate_per_s == Some(rate)).map(|cell| cell.id.clone());
        let cell = known.unwrap_or_else(|| {
            let mut cell = run.plan.cells[0].clone();
            (cell.id, cell.load.rate_per_s) = (format!("c{}", run.plan.cells.len() + 1), Some(rate));
            run.plan.cells.push(cell);
            run.plan.cells[run.plan.cells.len() - 1].id.clone()
        });
        let id = trials.len() as u32 + 1;
        run.plan.order.push(TrialPlan { id, block: 1, cell });
        let (p99_ns, share) = answer(rate);
        let offered = (rate * 10.0) as u64;
        let mut found = trial(&run, id, &[(Metric::Throughput, rate * share), (Metric::P99, p99_ns)]);
        let load = found.file.load.as_mut().unwrap();
        load.requests.scheduled = offered;
        load.requests.completed = offered;
        load.window.answers = (offered as f64 * share) as u64;
        trials.push(found);
    }
    only(&run, &trials)
}

/// M/M/1 whose p99 is ln 100/(μ − λ): 50 ms at μ − 92.1.
fn objective_of_a_queue(runs: u64) -> (u64, u64) {
    let (service, limit) = (2_000.0, 2_000.0 - 100_f64.ln() / 0.05);
    let (mut near, mut held) = (0, 0);
    for number in 0..runs {
        let mut rng = Seed(13).derive("search", number).rng();
        let found = searched(search_plan("p99 < 50ms"), |rate| {
            if rate >= service {
                return (5e9, service / rate);
            }
            (100_f64.ln() / (service - rate) * 1e9 * (0.05 * rng.normal()).exp(), 1.0)
        });
        let search = found.search.unwrap();
        let verified = search.verified_per_s.unwrap_or_default();
        near += u64::from((verified / limit - 1.0).abs() <= 0.05);
        let interval = search.limit.unwrap();
        held += u64::from(interval.low.unwrap() <= limit && interval.high.is_none_or(|high| limit <= high));
    }
    (near, held)
}

#[test]
fn the_highest_rate_under_an_objective_is_found() {
    let (near, held) = objective_of_a_queue(20);
    assert!(near >= 19 && held >= 18, "{near} within 5 %, {held} intervals hold it, of 20");
    // Quota-bound: nothing but goodput tells.
    let found = searched(search_plan("errors < 1%"), |rate| (1e6, (3_000.0 / rate).min(1.0)));
    let search = found.search.as_ref().unwrap();
    let verified = search.verified_per_s.unwrap();
    assert!((verified / 3_000.0 - 1.0).abs() <= 0.05, "{verified}");
    assert_eq!(search.end, SearchEnd::Verified);
    let passed = search.steps.iter().filter(|step| step.rate_per_s == verified && step.passed == Some(true));
    assert!(passed.count() >= 5, "{search:#?}");
    // Counted again by hand.
    let from_above = search.steps.windows(2).filter(|pair| {
        pair[0].passed == Some(false)
            && pair[1].passed == Some(true)
            && pair[1].rate_per_s == verified
            && pair[1].purpose == schema::capacity::SearchPurpose::Confirm
    });
    assert_eq!(from_above.count() as u32, search.after_failure);
    assert!(found.answer.contains("verified in 5 fresh trials"), "{}", found.answer);
}

#[test]
#[ignore = "1,000 searches; part of make test-all"]
fn the_highest_rate_under_an_objective_is_found_full_size() {
    let (near, held) = objective_of_a_queue(1_000);
    println!("{near} of 1000 within 5 %, {held} intervals hold it");
    assert!(near >= 950 && held >= 930, "{near} {held}");
}

#[test]
fn a_search_that_finds_nothing_says_why() {
    let nothing = searched(search_plan("p99 < 1ms"), |_| (5e6, 1.0)).search.unwrap();
    assert_eq!((nothing.end, nothing.verified_per_s), (SearchEnd::NothingPasses, None));
    assert!(nothing.refused.unwrap().contains("even 100 requests per second fails"));
    let mut few = search_plan("p99 < 50ms");
    few.trials_max = 6;
    let few = searched(few, |rate| (rate * 1e4, 1.0));
    assert_eq!(few.search.as_ref().unwrap().end, SearchEnd::CutOff);
    assert!(
        few.answer.contains("No rate of a is verified") && few.answer.contains("--budget"),
        "{}",
        few.answer
    );
    let mut low = search_plan("p99 < 50ms");
    low.highest_per_s = 2_000.0;
    let low = searched(low, |_| (1e6, 1.0)).search.unwrap();
    assert_eq!((low.end, low.verified_per_s), (SearchEnd::AtHighest, Some(2_000.0)));
    assert!(low.refused.unwrap().contains("--max-rate"));
}

/// A trial at 1,000/s in which all is well, and its intervals.
fn well() -> (TrialData, Vec<IntervalLine>) {
    let run = rates(&[1_000.0, 2_000.0], 1);
    let mut found = trial(&run, 1, &[(Metric::Throughput, 1_000.0), (Metric::P99, 9e6)]);
    let load = found.file.load.as_mut().unwrap();
    (load.requests.scheduled, load.requests.completed) = (10_000, 10_000);
    load.window.answers = 10_000;
    let lines = (0..10).map(|second| IntervalLine {
        start_ns: second * SECOND_NS,
        end_ns: (second + 1) * SECOND_NS,
        phase: Some(Phase::Sample),
        in_flight: [4, 6, 5, 7, 3, 6, 5, 4, 6, 5][second as usize],
        ..IntervalLine::default()
    });
    (found, lines.collect())
}

#[test]
fn every_criterion_of_a_search_trips_on_its_fault() {
    let objective: Objective = "p99 < 10ms and errors < 1%".parse().unwrap();
    type Plant = fn(&mut TrialData, &mut Vec<IntervalLine>);
    let cases: [(&str, Plant, Option<bool>, &str); 10] = [
        ("nothing", |_, _| {}, Some(true), "p99 < 10ms holds"),
        (
            "slow",
            |trial, _| trial.file.load.as_mut().unwrap().latency_ns.response.p99 = Some(11_000_000),
            Some(false),
            "p99 < 10ms does not hold: 11 ms",
        ),
        (
            "answers that come late",
            |trial, _| trial.file.load.as_mut().unwrap().window.answers = 9_890,
            Some(false),
            "goodput is 98.9 %",
        ),
        (
            "answers that never come",
            |trial, _| trial.file.load.as_mut().unwrap().requests.completed = 9_000,
            Some(false),
            "goodput is 90 %",
        ),
        (
            "errors",
            |trial, _| {
                let load = trial.file.load.as_mut().unwrap();
                (load.requests.completed, load.requests.failed) = (9_910, 101);
            },
            Some(false),
            "errors < 1% does not hold",
        ),
        (
            "a backlog that rises",
            |_, lines| lines.iter_mut().enumerate().for_each(|(i, line)| line.backlog = 5 * i as u64),
            Some(false),
            "the backlog rose",
        ),
        (
            "too few requests for the percentile",
            |trial, _| {
                let response = &mut trial.file.load.as_mut().unwrap().latency_ns.response;
                response.p99 = None;
                response.intervals.clear();
            },
            None,
            "p99 < 10ms is unknown",
        ),
        (
            "a percentile among requests that never ended",
            |trial, _| {
                let response = &mut trial.file.load.as_mut().unwrap().latency_ns.response;
                response.p99 = None;
                response.intervals.clear();
                response.at_least.insert("p99".into(), 5_000_000);
            },
            Some(false),
            "p99 < 10ms does not hold",
        ),
        ("a generator that was the limit", |trial, _| void(trial, "generator_cpu"), None, "planted"),
        ("a target that died", |trial, _| void(trial, "target_alive"), Some(false), "planted"),
    ];
    for (name, plant, passed, text) in cases {
        let (mut trial, mut lines) = well();
        plant(&mut trial, &mut lines);
        let found = objective.judge(&trial.file, &lines);
        assert_eq!(found.passed, passed, "{name}: {found:?}");
        assert!(found.reasons.iter().any(|reason| reason.contains(text)), "{name}: {found:?}");
    }
}

fn void(trial: &mut TrialData, gate: &str) {
    trial.file.outcome = TrialOutcome::Void;
    trial.file.reasons = vec!["planted".into()];
    let validity = &mut trial.file.load.as_mut().unwrap().validity;
    validity.ok = false;
    validity.reasons =
        vec![Gate { gate: gate.to_owned(), ok: false, value: 1.0, limit: 0.0, text: "planted".into() }];
}
