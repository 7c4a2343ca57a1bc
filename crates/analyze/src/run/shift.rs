//! The shift function of two targets: how much longer the one takes at every quantile, with a band that holds the whole
//! curve (Doksum, Ann. Statist. 2, 1974; Rousselet, Pernet & Wilcox, Eur. J. Neurosci. 46, 2017).
//!
//! By block the logarithm of the ratio of the two trials' quantiles, over blocks their mean: the trial is the unit, as in
//! every comparison. The band is mean ± c·s/√n at each quantile with one c for all, the 95 % point of the largest |T| over
//! the curve. Neighbouring quantiles go together, so c is smaller than Bonferroni's: its law is drawn by reweighting the
//! blocks' residuals with normal multipliers (a multiplier bootstrap over blocks: Chernozhukov, Chetverikov & Kato, Ann.
//! Statist. 41, 2013) over the root of a mean square with n−1 degrees of freedom, as s is estimated from n blocks (max-T of
//! a multivariate t: Hothorn, Bretz & Westfall, Biometrical J. 50, 2008).
//! Invariants: seeded by the plan; a quantile is in the curve only where every trial gives it by METHOD §4.

use super::data::RunData;
use super::load::same_level;
use super::pairs::pairs;
use super::{MIN_TRIALS, TrialData};
use crate::stats::order::{fewest_for, rank_of};
use crate::stats::student::MeanTest;
use crate::trial::histogram::values_at;
use schema::analysis::{Interval, Shift, ShiftPoint};
use schema::plan::CellPlan;
use std::collections::BTreeMap;
use units::{Rng, Seed};

/// Quantiles of the curve, as far as the trials give them.
const QUANTILES: [f64; 15] =
    [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999];
/// Most pairs that have a curve.
const PAIRS_MAX: usize = 40;
/// Draws of the largest |T|.
const DRAWS: usize = 4_000;

/// One curve for each pair of targets at the same load, the first target over the second.
pub(super) fn shifts(data: &RunData<'_>) -> Vec<Shift> {
    let alike = pairs(data).into_iter().filter(|(a, b)| a.target != b.target && same_level(data.plan, a, b));
    alike.take(PAIRS_MAX).filter_map(|(a, b)| shift(data, a, b)).collect()
}

fn shift(data: &RunData<'_>, a: &CellPlan, b: &CellPlan) -> Option<Shift> {
    let (of_a, of_b) = (by_block(data, a), by_block(data, b));
    let both: Vec<(&TrialData, &TrialData)> =
        of_a.iter().filter_map(|(block, a)| Some((*a, *of_b.get(block)?))).collect();
    if both.len() < MIN_TRIALS {
        return None;
    }
    let logs: Vec<(f64, Vec<f64>)> = QUANTILES
        .into_iter()
        .filter_map(|quantile| {
            let ratio =
                |(a, b): &(&TrialData, &TrialData)| Some(at(a, quantile)?.ln() - at(b, quantile)?.ln());
            Some((quantile, both.iter().map(ratio).collect::<Option<Vec<f64>>>()?))
        })
        .filter(|(_, logs)| MeanTest::of_logs(logs).is_ok())
        .collect();
    let seed = Seed(data.plan.seed).derive(&format!("shift/{}/{}", a.id, b.id), 0);
    let series: Vec<&[f64]> = logs.iter().map(|(_, logs)| logs.as_slice()).collect();
    let critical = critical(&series, data.confidence, seed)?;
    let point = |(quantile, logs): &(f64, Vec<f64>)| {
        let test = MeanTest::of_logs(logs).ok()?;
        let half = critical * test.standard_error();
        let end = |log: f64| Some(log.exp()).filter(|end| end.is_finite());
        let band = Interval { low: end(test.mean - half), high: end(test.mean + half) };
        Some(ShiftPoint { quantile: *quantile, ratio: end(test.mean)?, band })
    };
    let points: Vec<ShiftPoint> = logs.iter().filter_map(point).collect();
    (!points.is_empty()).then(|| Shift {
        a: a.id.clone(),
        b: b.id.clone(),
        blocks: u32::try_from(both.len()).unwrap_or(u32::MAX),
        points,
    })
}

/// The first valid trial of each block with a histogram.
fn by_block<'a>(data: &RunData<'a>, cell: &CellPlan) -> BTreeMap<u32, &'a TrialData> {
    let mut trials = BTreeMap::new();
    for trial in data.valid(&cell.id).filter(|trial| trial.response.is_some()) {
        trials.entry(trial.file.block).or_insert(trial);
    }
    trials
}

/// A quantile of a trial's response times, in nanoseconds, above 0.
fn at(trial: &TrialData, quantile: f64) -> Option<f64> {
    let histogram = trial.response.as_ref()?;
    let censored = trial.file.load.as_ref()?.latency_ns.response.censored;
    let n = histogram.len().saturating_add(censored);
    // Rare below as above: the quantile that is farther from the middle decides.
    let needed = fewest_for(quantile.max(1.0 - quantile));
    let value = (n >= needed).then(|| values_at(histogram, &[rank_of(quantile, n)]).first().copied())??;
    (value > 0).then_some(value as f64)
}

/// The point that the largest |T| over all series stays below with `level`.
fn critical(series: &[&[f64]], level: f64, seed: Seed) -> Option<f64> {
    let n = series.first()?.len();
    let standard: Vec<Vec<f64>> = series
        .iter()
        .map(|logs| {
            let test = MeanTest::of_logs(logs).ok()?;
            // Σ of the squares is 1, so a sum with normal multipliers is standard normal.
            let scale = test.sd * ((n - 1) as f64).sqrt();
            Some(logs.iter().map(|log| (log - test.mean) / scale).collect())
        })
        .collect::<Option<_>>()?;
    let mut rng = seed.rng();
    let mut largest: Vec<f64> = (0..DRAWS).map(|_| draw(&standard, n, &mut rng)).collect();
    largest.sort_unstable_by(f64::total_cmp);
    let place = ((level.clamp(0.0, 1.0) * DRAWS as f64).ceil() as usize).clamp(1, DRAWS) - 1;
    largest.get(place).copied().filter(|found| found.is_finite())
}

fn draw(standard: &[Vec<f64>], n: usize, rng: &mut Rng) -> f64 {
    let multipliers: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
    let freedom = n - 1;
    let square: f64 = (0..freedom).map(|_| rng.normal().powi(2)).sum::<f64>() / freedom as f64;
    let one = |row: &Vec<f64>| row.iter().zip(&multipliers).map(|(x, g)| x * g).sum::<f64>().abs();
    standard.iter().map(one).fold(0.0, f64::max) / square.sqrt().max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::student::t_quantile;

    #[test]
    fn one_quantile_has_students_point_and_many_that_go_together_hardly_more() {
        let mut rng = Seed(3).rng();
        let first: Vec<f64> = (0..8).map(|_| rng.normal()).collect();
        let student = t_quantile(0.975, 7);
        let one = critical(&[&first], 0.95, Seed(1)).unwrap();
        assert!((one / student - 1.0).abs() < 0.06, "{one} for {student}");
        let alike: Vec<f64> = first.iter().map(|x| x + 0.01 * rng.normal()).collect();
        let together = critical(&[&first, &alike], 0.95, Seed(1)).unwrap();
        assert!(together < 1.05 * student, "{together}");
        let apart: Vec<Vec<f64>> = (0..6).map(|_| (0..8).map(|_| rng.normal()).collect()).collect();
        let series: Vec<&[f64]> = apart.iter().map(Vec::as_slice).collect();
        let apart = critical(&series, 0.95, Seed(1)).unwrap();
        assert!(apart > 1.3 * student && apart < t_quantile(1.0 - 0.025 / 6.0, 7) * 1.06, "{apart}");
    }
}
