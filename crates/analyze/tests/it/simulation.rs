//! Error rate, coverage and power of the comparison on synthetic runs with known truth.
//!
//! A trial's throughput is lognormal: block effect (shared by both targets, sd 3 %), trial effect (sd 1.5 %) and
//! the true ratio. Limits are the 99.9 % points of the binomial law, so a right implementation fails once in a
//! thousand seeds, and the seed is fixed.

use crate::synth::{closed, run, trial};
use analyze::{TrialData, analyze};
use schema::analysis::{AnalysisFile, Comparison, Verdict};
use schema::metric::Metric;
use schema::run::RunFile;
use units::{Rng, Seed};

const RUNS: u64 = 200;
const BLOCK_SD: f64 = 0.03;
const TRIAL_SD: f64 = 0.015;

/// Both targets over all blocks; the first is `ratio` times the second in throughput. The second metric, memory, has
/// noise of its own and no difference.
fn trials(plan: &RunFile, rng: &mut Rng, ratio: f64) -> Vec<TrialData> {
    let blocks: Vec<f64> = (0..plan.plan.blocks).map(|_| BLOCK_SD * rng.normal()).collect();
    let planned = plan.plan.order.iter();
    planned
        .map(|planned| {
            let truth = if planned.cell == "c1" { ratio.ln() } else { 0.0 };
            let log = truth + blocks[planned.block as usize - 1] + TRIAL_SD * rng.normal();
            let values = [
                (Metric::Throughput, 10_000.0 * log.exp()),
                (Metric::Mean, 6.4e6 * (-log).exp() * (0.005 * rng.normal()).exp()),
                (Metric::Memory, 1e8 * (0.05 * rng.normal()).exp()),
            ];
            trial(plan, planned.id, &values)
        })
        .collect()
}

fn simulated(blocks: u32, ratio: f64) -> Vec<AnalysisFile> {
    let plan = run(&["a", "b"], &[closed(64)], blocks);
    (0..RUNS)
        .map(|index| {
            let mut rng = Seed(2).derive("simulation", index).rng();
            analyze(&plan, &trials(&plan, &mut rng, ratio))
        })
        .collect()
}

fn of(file: &AnalysisFile, metric: Metric) -> &Comparison {
    file.comparisons.iter().find(|found| found.metric == metric).expect("every metric is compared")
}

fn count(files: &[AnalysisFile], chosen: impl Fn(&AnalysisFile) -> bool) -> usize {
    files.iter().filter(|file| chosen(file)).count()
}

fn differs(found: &Comparison) -> bool {
    matches!(found.verdict, Verdict::Faster | Verdict::Slower)
}

/// The 99.9 % point of Bin(200, 5 %) is 21, the 0.1 % point of Bin(200, 95 %) is 179 (scipy.stats.binom.ppf).
#[test]
fn the_same_target_twice_is_faster_or_slower_at_the_stated_rate_only() {
    for blocks in [5, 10] {
        let files = simulated(blocks, 1.0);
        for metric in [Metric::Throughput, Metric::Mean, Metric::Memory] {
            let wrong = count(&files, |file| differs(of(file, metric)));
            assert!(wrong <= 21, "{metric:?} differs in {wrong} of 200 at {blocks} blocks");
            assert_eq!(count(&files, |file| of(file, metric).verdict == Verdict::Refused), 0);
        }
        // Over all metrics of the pair at once the family keeps the same rate.
        let wrong = count(&files, |file| {
            file.comparisons.iter().any(|found| found.p_family.is_some_and(|p| p < 0.05))
        });
        assert!(wrong <= 21, "some metric differs in {wrong} of 200");
        let equivalent = count(&files, |file| of(file, Metric::Throughput).verdict == Verdict::Equivalent);
        assert!(
            equivalent > if blocks == 10 { 100 } else { 20 },
            "equivalent in {equivalent} at {blocks} blocks"
        );
    }
}

#[test]
fn a_difference_as_large_as_the_margin_is_called_equivalent_at_the_stated_rate_only() {
    for blocks in [5, 10] {
        let files = simulated(blocks, 1.02);
        let wrong = count(&files, |file| of(file, Metric::Throughput).verdict == Verdict::Equivalent);
        assert!(wrong <= 21, "{wrong} of 200 at {blocks} blocks");
    }
}

#[test]
fn intervals_of_the_ratio_cover_the_truth() {
    for (blocks, ratio) in [(5, 1.0), (5, 1.1), (10, 0.8)] {
        let files = simulated(blocks, ratio);
        let covers = |interval: schema::analysis::Interval| {
            interval.low.is_none_or(|low| low <= ratio) && interval.high.is_none_or(|high| high >= ratio)
        };
        let by_t = count(&files, |file| covers(of(file, Metric::Throughput).alone.unwrap()));
        let by_rank =
            count(&files, |file| covers(of(file, Metric::Throughput).hodges_lehmann_interval.unwrap()));
        assert!(by_t >= 179, "t covers in {by_t} of 200");
        assert!(by_rank >= 179, "signed rank covers in {by_rank} of 200");
        // And not because it is wide: it must miss now and then.
        assert!(by_t < 200, "t covers always");
    }
}

#[test]
fn ten_percent_is_found() {
    // sd of a block's log ratio is 2.1 %: the noncentral t has power above 0.999 at 5 blocks.
    let files = simulated(5, 1.1);
    let found = count(&files, |file| of(file, Metric::Throughput).verdict == Verdict::Faster);
    assert!(found >= 195, "found in {found} of 200");
    // A lower mean response time is the better one.
    let found = count(&files, |file| of(file, Metric::Mean).verdict == Verdict::Faster);
    assert!(found >= 195, "found in {found} of 200");
}

#[test]
fn intervals_of_a_cell_cover_its_truth() {
    let files = simulated(10, 1.0);
    let covered = count(&files, |file| {
        let throughput = &file.cells[1].metrics[0];
        let interval = throughput.interval.unwrap();
        assert_eq!(throughput.metric, Metric::Throughput);
        interval.low.unwrap() <= 10_000.0 && interval.high.unwrap() >= 10_000.0
    });
    assert!((179..200).contains(&covered), "{covered} of 200");
}
