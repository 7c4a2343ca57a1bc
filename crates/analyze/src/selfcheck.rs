//! `prony selfcheck`: made-up runs of which the truth is known go through the same analysis as real ones, and it is
//! counted how often the answers are right. So a user need not believe what our tests say of another machine.
//!
//! The simulators here know nothing of the analysis: noise of blocks and trials, one queue (Lindley's recursion), a ladder
//! of two asymptotes, and seconds that are alike. Proofs are asked in turns, so that a budget of time is shared by all.
//! Invariant: seeded; what is counted depends on the number of runs only. Absent on purpose: clocks, sockets, and any
//! proof of the load generator (that is `prony calibrate`).

use crate::made;
use crate::run::{TrialData, analyze};
use crate::trial::{Of, latency, steadiness};
use hdrhistogram::Histogram;
use schema::analysis::{AnalysisFile, Interval, Verdict};
use schema::capacity::{CapacityPlan, LadderOrder, LoadAxis};
use schema::metric::Metric;
use schema::plan::{LoadPlan, TrialPlan};
use schema::run::RunFile;
use schema::selfcheck::{SelfcheckProof as Proof, SelfcheckRow};
use schema::steady::SteadyClass;
use schema::trial::{IntervalLine, Phase};
use units::{Rng, Seed};

/// Most runs of one proof: 95 % are then known within 2 %.
pub const RUNS_MAX: u64 = 1_000;
const BLOCK_SD: f64 = 0.03;
const TRIAL_SD: f64 = 0.015;
/// Load of the queue, and its requests a trial; a mean service takes a millisecond.
const LOAD: f64 = 0.85;
const REQUESTS: usize = 30_000;
const SERVICE_NS: f64 = 1e6;
/// Requests between two trials of the queue.
const SKIPPED: usize = 3_000;
const CONNECTIONS: [u32; 8] = [4, 8, 16, 32, 64, 128, 256, 512];
/// Where the asymptotes of the ladder cross.
const KNEE: f64 = 64.0;
const SECONDS: u32 = 30;

/// Rows after as many rounds as `goes_on` allows, at most [`RUNS_MAX`]; it is called with the number of rounds done.
#[must_use]
pub fn selfcheck(seed: Seed, mut goes_on: impl FnMut(u64) -> bool) -> Vec<SelfcheckRow> {
    let mut tallies = Tallies::default();
    let mut round = 0;
    while round < RUNS_MAX && goes_on(round) {
        let mut rng = seed.derive("selfcheck", round).rng();
        for blocks in [5, 10] {
            differences(blocks, &mut rng, &mut tallies);
        }
        queue(&[5, 10, 40], &mut rng, &mut tallies);
        ladders(&mut rng, &mut tallies);
        window(&mut rng, &mut tallies);
        round += 1;
    }
    tallies.rows()
}

/// Counts by proof and size, in the order in which they came first.
#[derive(Default)]
struct Tallies(Vec<(Proof, u32, u64, u64)>);

impl Tallies {
    fn add(&mut self, proof: Proof, size: u32, is_so: bool) {
        let found = self.0.iter_mut().find(|(known, of, ..)| (*known, *of) == (proof, size));
        match found {
            Some((.., runs, count)) => {
                *runs += 1;
                *count += u64::from(is_so);
            }
            None => self.0.push((proof, size, 1, u64::from(is_so))),
        }
    }

    fn rows(mut self) -> Vec<SelfcheckRow> {
        self.0.sort_by_key(|(proof, size, ..)| (*proof, *size));
        self.0.into_iter().map(|(proof, size, runs, count)| row(proof, size, runs, count)).collect()
    }
}

/// The share that is right, and how far chance takes that of so many runs.
fn row(proof: Proof, size: u32, runs: u64, count: u64) -> SelfcheckRow {
    let (least, most) = match proof {
        Proof::FalseDifference | Proof::FalseKnee => (0.0, 0.05),
        Proof::SteadyFlagged => (0.0, 0.06),
        Proof::DifferenceFound | Proof::KneeFound => (0.95, 1.0),
        Proof::RatioCovered | Proof::MeanCovered | Proof::P50Covered | Proof::P99Covered => (0.93, 0.97),
    };
    let share = count as f64 / runs.max(1) as f64;
    let near = if share < least { least } else { most };
    let near = near.clamp(0.02, 0.98);
    let chance = 3.0 * (near * (1.0 - near) / runs.max(1) as f64).sqrt();
    let passes = share >= least - chance && share <= most + chance;
    SelfcheckRow { proof, size, runs, count, share, least, most, chance, passes }
}

fn holds(interval: Option<Interval>, truth: f64) -> bool {
    interval.is_some_and(|found| {
        found.low.is_none_or(|low| low <= truth) && found.high.is_none_or(|high| high >= truth)
    })
}

/// Two targets whose throughput shares the effects of blocks.
fn differences(blocks: u32, rng: &mut Rng, tallies: &mut Tallies) {
    for ratio in [1.0, 1.1] {
        let run = made::run(&["a", "b"], &[made::closed(64)], blocks);
        let moods: Vec<f64> = (0..blocks).map(|_| BLOCK_SD * rng.normal()).collect();
        let trials = trials(&run, |cell, block| {
            let truth: f64 = if cell == "c1" { ratio } else { 1.0 };
            (truth.ln() + moods[block as usize - 1] + TRIAL_SD * rng.normal()).exp() * 10_000.0
        });
        let file = analyze(&run, &trials);
        let Some(found) = file.comparisons.iter().find(|found| found.metric == Metric::Throughput) else {
            continue;
        };
        if ratio == 1.0 {
            let differs = matches!(found.verdict, Verdict::Faster | Verdict::Slower);
            tallies.add(Proof::FalseDifference, blocks, differs);
        } else {
            tallies.add(Proof::DifferenceFound, blocks, found.verdict == Verdict::Faster);
            tallies.add(Proof::RatioCovered, blocks, holds(found.interval, ratio));
        }
    }
}

fn trials(run: &RunFile, mut throughput: impl FnMut(&str, u32) -> f64) -> Vec<TrialData> {
    let one = |planned: &TrialPlan| {
        let mut trial = made::trial(&run.plan, planned)?;
        trial.file.load.as_mut()?.throughput_per_s = throughput(&planned.cell, planned.block);
        Some(trial)
    };
    run.plan.order.iter().filter_map(one).collect()
}

/// One queue with Poisson arrivals and exponential service, whose response times are exponential.
fn queue(blocks: &[u32], rng: &mut Rng, tallies: &mut Tallies) {
    let most = blocks.iter().copied().max().unwrap_or_default();
    let mut waiting = 0.0_f64;
    let times: Vec<Histogram<u64>> = (0..most).filter_map(|_| response_times(&mut waiting, rng)).collect();
    let mean = SERVICE_NS / (1.0 - LOAD);
    for blocks in blocks {
        let run = made::run(&["a"], &[made::closed(64)], *blocks);
        let trial = |(planned, times): (&TrialPlan, &Histogram<u64>)| {
            let mut trial = made::trial(&run.plan, planned)?;
            trial.file.load.as_mut()?.latency_ns.response = latency(times, 0, Of::Requests);
            trial.response = Some(times.clone());
            Some(trial)
        };
        let trials: Vec<TrialData> = run.plan.order.iter().zip(&times).filter_map(trial).collect();
        let file = analyze(&run, &trials);
        for (metric, proof, truth) in [
            (Metric::Mean, Proof::MeanCovered, mean),
            (Metric::P50, Proof::P50Covered, mean * 2.0_f64.ln()),
            (Metric::P99, Proof::P99Covered, mean * 100.0_f64.ln()),
        ] {
            tallies.add(proof, *blocks, holds(interval(&file, metric), truth));
        }
    }
}

fn response_times(waiting: &mut f64, rng: &mut Rng) -> Option<Histogram<u64>> {
    let mut times = Histogram::new_with_bounds(1, 3_600_000_000_000, 3).ok()?;
    for index in 0..REQUESTS + SKIPPED {
        let response = *waiting + rng.exponential();
        if index >= SKIPPED {
            times.saturating_record((response * SERVICE_NS) as u64);
        }
        *waiting = (response - rng.exponential() / LOAD).max(0.0);
    }
    Some(times)
}

fn interval(file: &AnalysisFile, metric: Metric) -> Option<Interval> {
    file.cells.first()?.metrics.iter().find(|found| found.metric == metric)?.interval
}

fn ladder() -> RunFile {
    let mut run = made::run(&["a"], &CONNECTIONS.map(made::closed), 5);
    run.plan.capacity = Some(CapacityPlan {
        axis: LoadAxis::Connections,
        order: LadderOrder::Random,
        search: None,
        notes: Vec::new(),
    });
    run
}

/// A ladder of two asymptotes, and one of the first alone.
fn ladders(rng: &mut Rng, tallies: &mut Tallies) {
    for bends in [true, false] {
        let run = ladder();
        let trials = trials(&run, |cell, _| {
            let place = run.plan.cells.iter().position(|known| known.id == cell).unwrap_or_default();
            let connections = f64::from(CONNECTIONS[place]);
            let served = if bends { connections.min(KNEE) } else { connections };
            100.0 * served * (TRIAL_SD * rng.normal()).exp()
        });
        let file = analyze(&run, &trials);
        let knees = || file.capacity.iter().flat_map(|capacity| &capacity.knees);
        let at = knees().find(|knee| knee.metric == Metric::Throughput).and_then(|knee| knee.at);
        match bends {
            true => tallies.add(Proof::KneeFound, 5, at.is_some_and(|at| (at / KNEE - 1.0).abs() <= 0.25)),
            false => tallies.add(Proof::FalseKnee, 5, at.is_some()),
        }
    }
}

/// Seconds of one level with noise of 3 % whose neighbours are alike.
fn window(rng: &mut Rng, tallies: &mut Tallies) {
    const PHI: f64 = 0.7;
    let mut noise = 0.03 * rng.normal();
    let lines: Vec<IntervalLine> = (0..u64::from(SECONDS))
        .map(|second| {
            noise = PHI * noise + 0.03 * (1.0 - PHI * PHI).sqrt() * rng.normal();
            let p50_ns = (1e6 * (-noise).exp()) as u64;
            IntervalLine {
                start_ns: second * 1_000_000_000,
                end_ns: (second + 1) * 1_000_000_000,
                phase: Some(Phase::Sample),
                completed: (20_000.0 * noise.exp()) as u64,
                p50_ns: Some(p50_ns),
                p99_ns: Some(5 * p50_ns),
                ..IntervalLine::default()
            }
        })
        .collect();
    let found = steadiness(&lines, &[], &LoadPlan::default(), false);
    tallies.add(Proof::SteadyFlagged, SECONDS, found.class != Some(SteadyClass::Flat));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_rounds_fill_every_row_and_pass() {
        let rows = selfcheck(Seed(1), |round| round < 8);
        assert_eq!(rows.len(), 18, "{rows:#?}");
        for row in &rows {
            assert!(row.runs == 8 && row.passes, "{row:?}");
        }
    }

    #[test]
    fn wrong_shares_do_not_pass() {
        assert!(!row(Proof::P99Covered, 40, 400, 329).passes, "82 % as it was");
        assert!(!row(Proof::FalseDifference, 5, 400, 60).passes);
        assert!(
            !row(Proof::MeanCovered, 5, 1_000, 1_000).passes,
            "an interval that always holds is too wide"
        );
        assert!(row(Proof::P99Covered, 40, 400, 378).passes && row(Proof::FalseKnee, 5, 100, 2).passes);
    }

    #[test]
    fn the_same_seed_gives_the_same_table() {
        let once = || selfcheck(Seed(4), |round| round < 2);
        assert_eq!(once(), once());
    }
}
