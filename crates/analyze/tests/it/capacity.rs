//! Ladders proved against known truth: queues and quotas whose limit is known, and ladders without a knee.

use crate::synth::{claim_of, closed, open, run, trial};
use analyze::{TrialData, analyze as analyse};
use schema::analysis::{ClaimResult, ClaimVerdict};
use schema::arrival::ThinkPlan;
use schema::capacity::{Capacity, CapacityPlan, LadderOrder, LoadAxis};
use schema::metric::Metric;
use schema::plan::{ClaimComparison, ClaimTest, LoadPlan, TrialPlan};
use schema::run::RunFile;
use units::{Rng, Seed};

const DOUBLING: [u32; 8] = [5, 10, 20, 40, 80, 160, 320, 640];

fn plan(axis: LoadAxis, order: LadderOrder) -> CapacityPlan {
    CapacityPlan { axis, order, search: None, notes: Vec::new() }
}

/// A knee run over closed loads of these connections.
pub(crate) fn ladder(connections: &[u32], think_ns: u64, blocks: u32) -> RunFile {
    let load = |n: &u32| LoadPlan {
        think: (think_ns > 0).then_some(ThinkPlan::Exponential { mean_ns: think_ns }),
        ..closed(*n)
    };
    let loads: Vec<LoadPlan> = connections.iter().map(load).collect();
    let mut run = run(&["a"], &loads, blocks);
    run.plan.capacity = Some(plan(LoadAxis::Connections, LadderOrder::Random));
    run
}

/// A knee run over open loads of these rates.
pub(crate) fn rates(rates: &[f64], blocks: u32) -> RunFile {
    let loads: Vec<LoadPlan> = rates.iter().map(|rate| open(64, *rate)).collect();
    let mut run = run(&["a"], &loads, blocks);
    run.plan.capacity = Some(plan(LoadAxis::Rate, LadderOrder::Random));
    run
}

/// The load of a trial's cell and its block.
fn load_of(run: &RunFile, planned: &TrialPlan) -> f64 {
    let cell = run.plan.cells.iter().find(|cell| cell.id == planned.cell).unwrap();
    cell.load.rate_per_s.unwrap_or(f64::from(cell.load.connections))
}

/// All trials, with the throughput and p95 that the truth gives at each load, times lognormal noise of `sd`.
fn measured(run: &RunFile, sd: f64, rng: &mut Rng, truth: impl Fn(f64) -> (f64, f64)) -> Vec<TrialData> {
    run.plan
        .order
        .iter()
        .map(|planned| {
            let load = load_of(run, planned);
            let (throughput, p95_ns) = truth(load);
            let mut noisy = |value: f64| value * (sd * rng.normal()).exp();
            let values = [
                (Metric::Throughput, noisy(throughput)),
                (Metric::Mean, noisy(p95_ns / 3.0)),
                (Metric::P95, noisy(p95_ns)),
            ];
            trial(run, planned.id, &values)
        })
        .collect()
}

pub(crate) fn only(run: &RunFile, trials: &[TrialData]) -> Capacity {
    let mut found = analyse(run, trials).capacity;
    assert_eq!(found.len(), 1);
    found.remove(0)
}

fn claimed(capacity: &Capacity) -> bool {
    capacity.knees.iter().any(|knee| knee.at.is_some())
}

/// Throughput of the machine-repair model M/M/c//N: N users that think for Z, c servers that take S (Gross, Shortle,
/// Thompson & Harris, *Fundamentals of Queueing Theory*, 4th ed. 2008, §2.7). Capacity c/S.
fn machine_repair(users: f64, servers: u32, think_s: f64, service_s: f64) -> f64 {
    let (n, c) = (users as u32, f64::from(servers));
    let mut log_p = vec![0.0_f64];
    for k in 1..=n {
        let arrivals = f64::from(n - k + 1) / think_s;
        let served = f64::from(k).min(c) / service_s;
        log_p.push(log_p[k as usize - 1] + (arrivals / served).ln());
    }
    let top = log_p.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = log_p.iter().map(|p| (p - top).exp()).collect();
    let busy: f64 = weights.iter().enumerate().map(|(k, p)| p * (k as f64).min(c)).sum();
    busy / weights.iter().sum::<f64>() / service_s
}

/// What a family of ladders came to.
#[derive(Debug, Default)]
struct Tally {
    runs: u32,
    near: u32,
    covered: u32,
    knees: u32,
    covered_knees: u32,
}

/// Ladders of a known highest throughput, and of a known knee where there is a sharp one.
fn capacities(runs: u64, kind: &str, ask: impl Fn(&mut Rng) -> (Capacity, f64, Option<f64>)) -> Tally {
    let mut tally = Tally::default();
    for number in 0..runs {
        let (found, highest, knee) = ask(&mut Seed(11).derive(kind, number).rng());
        tally.runs += 1;
        let Some(seen) = &found.highest else { continue };
        tally.near += u32::from((seen.per_s / highest - 1.0).abs() <= 0.05);
        let interval = seen.interval.expect("five blocks have an interval");
        tally.covered += u32::from(
            interval.low.unwrap_or(0.0) <= highest && interval.high.is_none_or(|high| highest <= high),
        );
        let throughput = found.knees.iter().find(|knee| knee.metric == Metric::Throughput).unwrap();
        tally.knees += u32::from(throughput.at.is_some());
        let holds = throughput.interval.zip(knee).is_some_and(|(interval, knee)| {
            interval.low.is_none_or(|low| low <= knee) && interval.high.is_none_or(|high| knee <= high)
        });
        tally.covered_knees += u32::from(holds);
    }
    tally
}

/// Four servers of 10 ms, users that think for 90 ms: at most 400/s.
fn queue(rng: &mut Rng) -> (Capacity, f64, Option<f64>) {
    let run = ladder(&DOUBLING, 90_000_000, 5);
    let trials = measured(&run, 0.01, rng, |n| {
        let x = machine_repair(n, 4, 0.09, 0.01);
        (x, 3e9 * (n / x - 0.09))
    });
    (only(&run, &trials), 400.0, None)
}

/// No think time and a quota: N/R until 2,000/s, sharply.
fn quota(rng: &mut Rng) -> (Capacity, f64, Option<f64>) {
    let run = ladder(&DOUBLING, 0, 5);
    let trials = measured(&run, 0.02, rng, |n| {
        let x = (n / 0.033).min(2_000.0);
        (x, 3e9 * n / x)
    });
    (only(&run, &trials), 2_000.0, Some(66.0))
}

/// A quota under offered rates: all is answered until 3,000/s.
fn quota_under_rates(rng: &mut Rng) -> (Capacity, f64, Option<f64>) {
    let offered: Vec<f64> = (1..=10).map(|i| 500.0 * f64::from(i)).collect();
    let run = rates(&offered, 5);
    let trials = measured(&run, 0.01, rng, |rate| {
        (rate.min(3_000.0), if rate < 3_000.0 { 5e6 / (1.0 - rate / 3_030.0) } else { 1e9 })
    });
    (only(&run, &trials), 3_000.0, Some(3_000.0))
}

fn hold(tally: &Tally, covered: f64, knee: bool) {
    let runs = f64::from(tally.runs);
    let share = |count: u32| f64::from(count) / runs;
    assert!(share(tally.near) >= 0.95, "within 5 %: {tally:?}");
    assert!(share(tally.covered) >= covered, "interval of the highest: {tally:?}");
    assert!(share(tally.knees) >= 0.95, "knee claimed: {tally:?}");
    assert!(!knee || share(tally.covered_knees) >= covered, "interval of the knee: {tally:?}");
}

#[test]
fn known_capacities_are_found() {
    hold(&capacities(25, "queue", queue), 0.80, false);
    hold(&capacities(25, "quota", quota), 0.80, true);
    hold(&capacities(40, "rates", quota_under_rates), 0.80, true);
}

#[test]
#[ignore = "3,000 ladders with their bootstraps; part of make test-all"]
fn known_capacities_are_found_full_size() {
    for (kind, knee) in [("queue", false), ("quota", true), ("rates", true)] {
        let tally = match kind {
            "queue" => capacities(1_000, kind, queue),
            "quota" => capacities(1_000, kind, quota),
            _ => capacities(1_000, kind, quota_under_rates),
        };
        println!("{kind}: {tally:?}");
        hold(&tally, 0.92, knee);
    }
}

/// Ladders without a knee: how many claimed one, of throughput or of p95.
fn false_claims(runs: u64, kind: &str, sd: f64, blocks: u32, truth: impl Fn(f64) -> (f64, f64)) -> u64 {
    (0..runs)
        .filter(|number| {
            let run = rates(&DOUBLING.map(f64::from), blocks);
            let mut rng = Seed(12).derive(kind, *number).rng();
            claimed(&only(&run, &measured(&run, sd, &mut rng, &truth)))
        })
        .count() as u64
}

/// Name, throughput and p95 over load.
type Straight = (&'static str, fn(f64) -> (f64, f64));

/// Flat, in proportion, affine on plain axes, and a power law.
const STRAIGHT: [Straight; 4] = [
    ("flat", |_| (5_000.0, 2e6)),
    ("proportional", |n| (31.0 * n, 2e6)),
    ("affine", |n| (300.0 + 12.0 * n, 1e6 + 4e4 * n)),
    ("power", |n| (40.0 * n.powf(0.6), 1e6 * n.powf(0.4))),
];

fn no_knees(runs: u64, share: f64) {
    for (kind, truth) in STRAIGHT {
        for (sd, blocks) in [(0.005, 5), (0.05, 5), (0.3, 5), (0.05, 1), (0.05, 2)] {
            let claims = false_claims(runs, kind, sd, blocks, truth);
            println!("{kind}, noise {sd}, {blocks} blocks: {claims} of {runs}");
            assert!(
                claims as f64 <= share * runs as f64,
                "{kind}, noise {sd}, {blocks} blocks: {claims} of {runs}"
            );
        }
    }
}

#[test]
fn straight_and_noisy_ladders_have_no_knee() {
    no_knees(40, 0.10);
}

#[test]
#[ignore = "20,000 ladders; part of make test-all"]
fn straight_and_noisy_ladders_have_no_knee_full_size() {
    no_knees(1_000, 0.05);
}

#[test]
fn refusals_say_why_and_what_would_cure_it() {
    let mut rng = Seed(1).rng();
    let run = ladder(&DOUBLING, 0, 5);
    let rising = only(&run, &measured(&run, 0.01, &mut rng, |n| (30.0 * n, 1e6)));
    let knee = &rising.knees[0];
    assert!(knee.refused.as_ref().unwrap().contains("the knee lies beyond; raise the ladder"), "{knee:?}");
    assert!(
        rising.highest.is_none() && rising.highest_refused.as_ref().unwrap().contains("raise the ladder")
    );
    assert!(rising.answer.contains("no knee is claimed") && !rising.answer.contains("NaN"));
    let flat = only(&run, &measured(&run, 0.01, &mut rng, |_| (900.0, 1e6)));
    assert!(flat.knees[0].refused.as_ref().unwrap().contains("begin the ladder lower"), "{flat:?}");
    assert!((flat.highest.unwrap().per_s / 900.0 - 1.0).abs() < 0.02);
    let short = ladder(&[1, 2, 4], 0, 5);
    let short = only(&short, &measured(&short, 0.01, &mut rng, |n| (n, 1e6)));
    assert!(short.knees[0].refused.as_ref().unwrap().contains("5 levels"), "{short:?}");
    assert!(short.usl_refused.as_ref().unwrap().contains("4 values needed"), "{short:?}");
    let offered = rates(&[100.0, 200.0], 1);
    let offered = only(&offered, &measured(&offered, 0.0, &mut rng, |rate| (rate, 1e6)));
    assert!(offered.usl_refused.unwrap().contains("speaks of concurrency"));
    let none = only(&run, &[]);
    assert!(none.rows.iter().all(|row| row.throughput_per_s.value.is_none()) && none.highest.is_none());
    // A hard limit bends more sharply than the law can.
    let sharp = only(&run, &measured(&run, 0.001, &mut rng, |n| (n.min(80.0) * 10.0, 1e6)));
    assert!(sharp.knees[0].at.is_some_and(|at| (at / 80.0 - 1.0).abs() < 0.05), "{:?}", sharp.knees[0]);
}

/// The verdict of a claim about the knee of `a` on a ladder with this truth.
fn claim_of_knee(comparison: ClaimComparison, bound: f64, truth: impl Fn(f64) -> (f64, f64)) -> ClaimResult {
    let mut run = ladder(&DOUBLING, 0, 5);
    let test = ClaimTest::Knee { target: "a".into(), comparison, bound };
    run.plan.claims = vec![claim_of(Metric::Throughput, test)];
    analyse(&run, &measured(&run, 0.001, &mut Seed(6).rng(), truth)).claims.remove(0)
}

#[test]
fn claims_about_a_knee_are_held_against_its_interval() {
    use ClaimComparison::{AtLeast, AtMost, MoreThan};
    // It bends at 80 connections.
    let bent = |n: f64| (n.min(80.0) * 10.0, 1e6);
    for (comparison, bound, verdict) in [
        (MoreThan, 60.0, ClaimVerdict::Holds),
        (AtMost, 100.0, ClaimVerdict::Holds),
        (MoreThan, 100.0, ClaimVerdict::DoesNotHold),
        (AtLeast, 80.0, ClaimVerdict::Inconclusive),
    ] {
        let answer = claim_of_knee(comparison, bound, bent);
        assert_eq!(answer.verdict, verdict, "{comparison:?} {bound}: {}", answer.evidence);
        assert!(answer.evidence.starts_with("knee of requests per second of a 8"), "{}", answer.evidence);
        assert!(answer.value.is_some() && answer.interval.is_some() && answer.metric.is_none());
    }
    // No knee in the ladder: that is no evidence of where it lies.
    let straight = claim_of_knee(MoreThan, 60.0, |n| (30.0 * n, 1e6));
    assert_eq!(straight.verdict, ClaimVerdict::Inconclusive, "{}", straight.evidence);
    assert!(straight.evidence.contains("raise the ladder"), "{}", straight.evidence);
    // No ladder at all.
    let mut run = run(&["a"], &[closed(5)], 5);
    let test = ClaimTest::Knee { target: "a".into(), comparison: MoreThan, bound: 60.0 };
    run.plan.claims = vec![claim_of(Metric::Throughput, test)];
    let none = analyse(&run, &measured(&run, 0.001, &mut Seed(6).rng(), bent)).claims.remove(0);
    assert_eq!(none.verdict, ClaimVerdict::Void);
    assert!(none.evidence.contains("prony knee"), "{}", none.evidence);
}

#[test]
fn rows_obey_the_operational_laws_and_a_planted_breach_shows() {
    let run = ladder(&DOUBLING, 90_000_000, 5);
    let mut rng = Seed(2).rng();
    let mut trials = measured(&run, 0.0005, &mut rng, |n| {
        let x = machine_repair(n, 4, 0.09, 0.01);
        (x, 3e9 * (n / x - 0.09))
    });
    let found = only(&run, &trials);
    assert!(found.rows.iter().all(|row| row.laws.holds == Some(true)), "{:#?}", found.rows);
    assert!(found.rows.iter().all(|row| row.laws.bound_share.unwrap() < 1.01), "{:#?}", found.rows);
    for trial in trials.iter_mut().filter(|trial| trial.file.cell == "c3") {
        let load = trial.file.load.as_mut().unwrap();
        load.latency_ns.response.mean = load.latency_ns.response.mean.map(|mean| mean + 20e6);
    }
    let broken = only(&run, &trials);
    let laws: Vec<_> = broken.rows.iter().map(|row| row.laws.holds).collect();
    assert_eq!(laws.iter().filter(|holds| **holds == Some(false)).count(), 1, "{laws:?}");
    assert_eq!(laws[2], Some(false));
}

#[test]
fn contention_and_coherence_are_found_with_their_peak() {
    let run = ladder(&[1, 2, 4, 8, 16, 32, 64, 128], 0, 5);
    let law = |n: f64| 500.0 * n / (1.0 + 0.03 * (n - 1.0) + 2e-4 * n * (n - 1.0));
    let found = only(&run, &measured(&run, 0.01, &mut Seed(3).rng(), |n| (law(n), 3e9 * n / law(n))));
    let usl = found.usl.expect("the law is there");
    let holds = |estimate: schema::capacity::Estimate, truth: f64| {
        let interval = estimate.interval.unwrap();
        interval.low.unwrap() <= truth && interval.high.is_none_or(|high| truth <= high)
    };
    assert!(holds(usl.alpha, 0.03) && holds(usl.beta, 2e-4) && holds(usl.gamma, 500.0), "{usl:?}");
    let peak = (0.97_f64 / 2e-4).sqrt();
    assert!(holds(usl.peak, peak) && (usl.peak.value.unwrap() / peak - 1.0).abs() < 0.1, "{usl:?}");
    assert!(!usl.peak_is_beyond && usl.predictions.iter().all(|point| point.is_beyond));
    assert!((usl.peak_per_s.value.unwrap() / law(peak) - 1.0).abs() < 0.05);
    // Seeded: the same run says the same.
    let again = only(&run, &measured(&run, 0.01, &mut Seed(3).rng(), |n| (law(n), 3e9 * n / law(n))));
    assert_eq!(again.usl, Some(usl));
}

#[test]
fn hysteresis_is_the_difference_of_up_and_down_at_one_level() {
    let mut run = ladder(&DOUBLING, 0, 12);
    run.plan.capacity = Some(plan(LoadAxis::Connections, LadderOrder::UpDown));
    let mut rng = Seed(5).rng();
    let ask = |factor: f64, rng: &mut Rng| {
        let mut trials = measured(&run, 0.01, rng, |n| (n.min(100.0) * 20.0, 1e6));
        for trial in &mut trials {
            if trial.file.block % 2 == 0 && trial.file.cell == "c6" {
                trial.file.load.as_mut().unwrap().throughput_per_s *= factor;
            }
        }
        only(&run, &trials).hysteresis
    };
    let planted = ask(0.8, &mut rng);
    let shown: Vec<_> = planted.iter().filter(|row| row.is_shown).collect();
    assert_eq!(shown.len(), 1, "{planted:#?}");
    assert_eq!((shown[0].load, shown[0].metric, shown[0].pairs), (160.0, Metric::Throughput, 6));
    assert!((shown[0].ratio.unwrap() / 1.25 - 1.0).abs() < 0.05);
    let interval = shown[0].interval.unwrap();
    assert!(interval.low.unwrap() < 1.25 && interval.high.unwrap() > 1.25, "{interval:?}");
    assert!(ask(1.0, &mut rng).iter().all(|row| !row.is_shown));
}

#[test]
fn no_ladder_makes_a_number_that_is_none() {
    let mut rng = Seed(7).rng();
    let odd = [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-300, 1e300, 5.0];
    for case in 0..60 {
        let blocks = 1 + rng.below(6) as u32;
        let mut run = ladder(&DOUBLING, 0, blocks);
        if case % 2 == 0 {
            run.plan.capacity = Some(plan(LoadAxis::Connections, LadderOrder::UpDown));
        }
        let mut trials = measured(&run, 0.1, &mut rng, |n| (n, 1e6));
        for trial in &mut trials {
            let mut pick = || odd[rng.below(odd.len() as u64) as usize];
            let load = trial.file.load.as_mut().unwrap();
            (load.throughput_per_s, load.latency_ns.response.mean) = (pick(), Some(pick()));
            trial.file.target.cpu_per_request_ns = Some(pick());
        }
        let text = format!("{:?}", only(&run, &trials));
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    }
    let mut run = ladder(&[1, 1, 1, 1], 0, 1);
    run.plan.cells.iter_mut().for_each(|cell| cell.load.connections = 0);
    assert!(analyse(&run, &[]).capacity.is_empty());
}
