//! Coverage of every interval on runs with known truth: queues, bursts, noise that remembers, trials that differ.
//!
//! A right interval of 95 % covers in 930 to 970 of 1,000 runs except once in 250 tests; a test has a fixed seed. The fast part
//! runs 60 and asks for 50 at least, the 0.05 % point of Bin(60, 95 %) (scipy.stats.binom.ppf): it finds gross mistakes.

use crate::made::{Arrivals, autoregressive, summary, truth};
use crate::synth::{closed, run, trial};
use analyze::{TrialData, analyze};
use schema::analysis::{AnalysisFile, Interval};
use schema::metric::Metric;
use schema::run::RunFile;
use std::collections::BTreeMap;
use units::{Rng, Seed};

const FAST: u64 = 60;
const FULL: u64 = 1_000;

/// How one kind of run comes about; a is `RATIO` times b in every time.
#[derive(Clone, Copy)]
struct Kind {
    arrivals: Arrivals,
    blocks: u32,
    requests: u64,
    /// Standard deviation between blocks and between trials, on the log scale.
    block_sd: f64,
    trial_sd: f64,
}

const RATIO: f64 = 1.1;

/// How many intervals covered, of how many that were given.
#[derive(Default)]
struct Tally(BTreeMap<String, (u64, u64)>);

impl Tally {
    fn add(&mut self, name: &str, interval: Option<Interval>, truth: f64) {
        let Some(interval) = interval else { return };
        let covers =
            interval.low.is_none_or(|low| low <= truth) && interval.high.is_none_or(|high| high >= truth);
        let count = self.0.entry(name.to_owned()).or_default();
        count.0 += u64::from(covers);
        count.1 += 1;
    }

    /// Of so many runs each wanted interval was given in nearly all, and covered in 93 to 97 %; or, of few runs, in no
    /// fewer than chance allows.
    fn check(&self, runs: u64, wanted: &[&str]) {
        println!("{:?}", self.0);
        for name in wanted {
            let (covered, given) = self.0.get(*name).copied().unwrap_or_default();
            assert!(given * 20 >= runs * 19, "{name} was given in {given} of {runs} runs");
            let share = covered as f64 / given as f64;
            let range = if runs >= FULL { 0.93..=0.97 } else { 50.0 / 60.0..=1.0 };
            assert!(range.contains(&share), "{name} covered {covered} of {given}: {share}");
        }
    }
}

const METRICS: [Metric; 3] = [Metric::Mean, Metric::P50, Metric::P99];

fn queues(plan: &RunFile, kind: Kind, rng: &mut Rng) -> Vec<TrialData> {
    let blocks: Vec<f64> = (0..kind.blocks).map(|_| kind.block_sd * rng.normal()).collect();
    let planned = plan.plan.order.iter();
    planned
        .map(|planned| {
            let ratio = if planned.cell == "c1" { RATIO } else { 1.0 };
            let log = blocks[planned.block as usize - 1] + kind.trial_sd * rng.normal();
            let seen = summary(rng, kind.arrivals, kind.requests, ratio * log.exp());
            let value = |metric| match metric {
                Metric::Mean => seen.mean,
                Metric::P50 => seen.p50.map(|ns| ns as f64),
                _ => seen.p99.map(|ns| ns as f64),
            };
            let values: Vec<(Metric, f64)> =
                METRICS.into_iter().filter_map(|metric| Some((metric, value(metric)?))).collect();
            trial(plan, planned.id, &values)
        })
        .collect()
}

fn tally(file: &AnalysisFile, truth: [f64; 3], tally: &mut Tally) {
    for (metric, truth) in METRICS.into_iter().zip(truth) {
        let key = metric.key();
        let cell = file.cells[1].metrics.iter().find(|found| found.metric == metric).unwrap();
        tally.add(key, cell.interval, truth);
        let pair = file.comparisons.iter().find(|found| found.metric == metric).unwrap();
        tally.add(&format!("{key} ratio"), pair.alone, RATIO);
        tally.add(&format!("{key} Fieller"), pair.ratio_of_means.map(|found| found.interval), RATIO);
        tally.add(&format!("{key} bootstrap"), pair.bootstrap.map(|found| found.interval), RATIO);
        tally.add(&format!("{key} ranks"), pair.hodges_lehmann_interval, RATIO);
    }
}

/// All intervals of `runs` runs of a kind. The signed-rank one is exact and steps over 95 %, so it covers more.
fn check(kind: Kind, runs: u64) {
    let truth = truth(&mut Seed(71).rng(), kind.arrivals);
    let plan = run(&["a", "b"], &[closed(64)], kind.blocks);
    let mut found = Tally::default();
    for index in 0..runs {
        let mut rng = Seed(72).derive("coverage", index).rng();
        tally(&analyze(&plan, &queues(&plan, kind, &mut rng)), truth, &mut found);
    }
    let mut wanted =
        vec!["mean", "p50", "p99", "mean ratio", "p50 ratio", "p99 ratio", "mean Fieller", "p50 Fieller"];
    if kind.blocks >= 6 {
        wanted.extend(["mean bootstrap", "p50 bootstrap", "p99 bootstrap"]);
    }
    found.check(runs, &wanted);
    for name in ["mean ranks", "p50 ranks", "p99 ranks"] {
        let (covered, given) = found.0[name];
        assert!(covered * 100 >= given * 93 || runs < FULL, "{name} covered {covered} of {given}");
    }
}

const HALF: Kind =
    Kind { arrivals: Arrivals::Poisson(0.5), blocks: 5, requests: 30_000, block_sd: 0.0, trial_sd: 0.0 };
const BUSY: Kind =
    Kind { arrivals: Arrivals::Poisson(0.8), blocks: 8, requests: 60_000, block_sd: 0.0, trial_sd: 0.0 };
const BURSTS: Kind =
    Kind { arrivals: Arrivals::Mmpp(0.9, 0.1), blocks: 6, requests: 40_000, block_sd: 0.0, trial_sd: 0.0 };
const DIFFERENT: Kind =
    Kind { arrivals: Arrivals::Poisson(0.5), blocks: 6, requests: 30_000, block_sd: 0.1, trial_sd: 0.03 };

#[test]
fn a_few_runs_of_each_kind_of_queue_cover() {
    check(HALF, FAST);
    check(DIFFERENT, FAST);
}

#[test]
#[ignore = "a minute: 1,000 runs of 10 trials of 30,000 requests"]
fn a_queue_at_half_load_is_covered() {
    check(HALF, FULL);
}

#[test]
#[ignore = "minutes: 4,000 runs of 16 trials of 60,000 requests"]
fn a_queue_at_80_percent_is_covered() {
    // Means of a queue so busy are skewed, so that eight of them cover a little less: more runs tell 94 % from 93 %.
    check(BUSY, 4 * FULL);
}

#[test]
#[ignore = "minutes: 1,000 runs of 12 trials of 40,000 requests in bursts"]
fn a_queue_in_bursts_is_covered() {
    check(BURSTS, FULL);
}

#[test]
#[ignore = "a minute: 1,000 runs of 12 trials of 30,000 requests"]
fn trials_that_differ_are_covered() {
    check(DIFFERENT, FULL);
}

/// Throughput by the second, with noise that remembers, and effects of blocks and trials.
fn noisy(plan: &RunFile, trial_sd: f64, rng: &mut Rng) -> Vec<TrialData> {
    let blocks: Vec<f64> = (0..plan.plan.blocks).map(|_| 0.05 * rng.normal()).collect();
    let planned = plan.plan.order.iter();
    planned
        .map(|planned| {
            let ratio = if planned.cell == "c1" { RATIO } else { 1.0 };
            let log = blocks[planned.block as usize - 1] + trial_sd * rng.normal();
            let intervals = autoregressive(rng, 1e5 * ratio * log.exp(), 60);
            let answers: u64 = intervals.iter().map(|line| line.completed).sum();
            let mut trial = trial(plan, planned.id, &[(Metric::Throughput, answers as f64 / 60.0)]);
            trial.intervals = intervals;
            trial
        })
        .collect()
}

fn check_noise(blocks: u32, trial_sd: f64, runs: u64) {
    let plan = run(&["a", "b"], &[closed(64)], blocks);
    let mut found = Tally::default();
    for index in 0..runs {
        let mut rng = Seed(73).derive("noise", index).rng();
        let file = analyze(&plan, &noisy(&plan, trial_sd, &mut rng));
        let pair = &file.comparisons[0];
        assert!(pair.bootstrap.is_some_and(|found| found.seconds) || blocks < 6);
        found.add("mean", file.cells[1].metrics[0].interval, 1e5);
        found.add("ratio", pair.interval, RATIO);
        found.add("Fieller", pair.ratio_of_means.map(|found| found.interval), RATIO);
        found.add("bootstrap", pair.bootstrap.map(|found| found.interval), RATIO);
    }
    found.check(runs, &["mean", "ratio", "Fieller"]);
    if blocks >= 6 {
        // What is drawn within trials is in their means already, so the interval is a little wide where trials do not
        // differ by more than their seconds.
        let (covered, given) = found.0["bootstrap"];
        assert!(
            covered * 100 >= given * if runs >= FULL { 93 } else { 83 },
            "bootstrap {covered} of {given}"
        );
    }
}

#[test]
fn a_few_runs_of_noise_that_remembers_cover() {
    check_noise(6, 0.02, FAST / 3);
}

#[test]
#[ignore = "half an hour in a debug build: 1,000 runs each"]
fn noise_that_remembers_is_covered() {
    check_noise(5, 0.0, FULL);
    check_noise(6, 0.02, FULL);
    check_noise(10, 0.005, FULL);
}
