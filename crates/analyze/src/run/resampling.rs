//! The hierarchical bootstrap of a pair of cells: blocks of the run are drawn, then blocks of seconds within trials.
//!
//! Seconds are drawn for throughput, whose value in a trial is a ratio of sums over its seconds. Percentiles are no
//! such ratio and are never averaged (METHOD §0.3), and memory, CPU time and allocations have one value a trial: for
//! these only trials are drawn, and the result says so.
//! Invariants: the seed is the plan's, so an analysis made again is the same; the work is bounded whatever the plan.

use super::TrialData;
use super::data::RunData;
use super::trials::value;
use crate::stats::bootstrap::{SAMPLES_MIN, Series, draws, log_ratio};
use schema::analysis::BootstrapSummary;
use schema::metric::{Metric, Unit};
use schema::plan::CellPlan;
use schema::trial::{IntervalLine, Phase};
use std::collections::BTreeMap;
use units::Seed;

/// Samples of a pair where there is time for them: ends in the far tails then rest on ten values and more.
const SAMPLES: u64 = 5_000;
/// Draws that one analysis may take, below half a second's work of one core.
const DRAWS_MAX: u64 = 100_000_000;

/// How often is drawn.
pub(super) struct Resampling {
    /// For each pair and metric; 0 where the plan has too many pairs.
    samples: u32,
    seed: Seed,
}

impl Resampling {
    /// Shares the work among the pairs.
    pub(super) fn new(data: &RunData<'_>, pairs: &[(&CellPlan, &CellPlan)]) -> Self {
        let samples = samples(draws_of_a_sample(data), pairs.len() as u64);
        Self { samples, seed: Seed(data.plan.seed).derive("bootstrap", 0) }
    }

    /// The ratio a/b of a metric; `None` for shares, and where the bootstrap refuses.
    pub(super) fn ratio(
        &self,
        data: &RunData<'_>,
        a: &CellPlan,
        b: &CellPlan,
        metric: Metric,
    ) -> Option<BootstrapSummary> {
        if self.samples == 0 || metric.unit() == Unit::Share {
            return None;
        }
        let (of_a, of_b) = (by_block(data, a, metric), by_block(data, b, metric));
        let both: Vec<(&TrialData, &TrialData)> =
            of_a.iter().filter_map(|(block, a)| Some((*a, *of_b.get(block)?))).collect();
        let with_seconds = (metric == Metric::Throughput).then(|| series(&both, per_second)).flatten();
        let seconds = with_seconds.is_some();
        let pairs = match with_seconds {
            Some(pairs) => pairs,
            None => series(&both, |trial| Series::constant(value(&trial.file, metric)?).ok())?,
        };
        let seed = self.seed.derive(&format!("{}/{}/{}", a.id, b.id, metric.key()), 0);
        let found = log_ratio(&pairs, data.confidence, self.samples, seed).ok()?;
        let interval = super::ratio::interval_of_logs(found.low, found.high);
        Some(BootstrapSummary { interval, samples: found.samples, seconds })
    }
}

/// As many as the work allows; 0 where that is too few to be worth anything.
fn samples(draws_of_one: u64, pairs: u64) -> u32 {
    let all = draws_of_one.saturating_mul(pairs).max(1);
    let samples = (DRAWS_MAX / all).min(SAMPLES);
    if samples < u64::from(SAMPLES_MIN) { 0 } else { samples as u32 }
}

/// Draws that one sample of one pair takes over all metrics, at most.
fn draws_of_a_sample(data: &RunData<'_>) -> u64 {
    let seconds = data.trials.iter().map(|trial| trial.intervals.len()).max().unwrap_or_default();
    u64::from(data.plan.blocks).saturating_mul(2 * (draws(seconds) + Metric::ALL.len()) as u64)
}

/// The first valid trial of each block that has a value of the metric.
fn by_block<'a>(data: &RunData<'a>, cell: &CellPlan, metric: Metric) -> BTreeMap<u32, &'a TrialData> {
    let mut trials = BTreeMap::new();
    for trial in data.valid(&cell.id).filter(|trial| value(&trial.file, metric).is_some()) {
        trials.entry(trial.file.block).or_insert(trial);
    }
    trials
}

fn series(
    both: &[(&TrialData, &TrialData)],
    of: impl Fn(&TrialData) -> Option<Series>,
) -> Option<Vec<(Series, Series)>> {
    both.iter().map(|(a, b)| Some((of(a)?, of(b)?))).collect()
}

/// Right answers over time, by the seconds of the samples; `None` where the trial has none.
fn per_second(trial: &TrialData) -> Option<Series> {
    let second = |line: &IntervalLine| {
        let length_ns = line.end_ns.checked_sub(line.start_ns).filter(|length_ns| *length_ns > 0)?;
        Some((line.completed as f64, length_ns as f64 / 1e9))
    };
    let measured = trial.intervals.iter().filter(|line| line.phase == Some(Phase::Sample));
    let seconds: Vec<(f64, f64)> = measured.filter_map(second).collect();
    Series::new(&seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_work_is_bounded_whatever_the_plan() {
        for (draws_of_one, pairs, wanted) in [
            (0, 0, 5_000),
            (500, 1, 5_000),
            (500, 40, 5_000),
            (500, 80, 2_500),
            (500, 101, 0),
            (u64::MAX, u64::MAX, 0),
        ] {
            assert_eq!(samples(draws_of_one, pairs), wanted, "{draws_of_one} {pairs}");
        }
    }
}
