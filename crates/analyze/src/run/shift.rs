//! The shift function of two targets: how much longer the one takes at every quantile, with a band that holds the whole
//! curve (Doksum, Ann. Statist. 2, 1974; Rousselet, Pernet & Wilcox, Eur. J. Neurosci. 46, 2017).
//!
//! By block the logarithm of the ratio of the two trials' quantiles, over blocks their mean: the trial is the unit, as in
//! every comparison. The band is mean ± c·s/√n at each quantile with one c for all, the 95 % point of the largest |T| over
//! the curve. Neighbouring quantiles go together, so c is smaller than Bonferroni's: its law is drawn from made-up normal
//! blocks with the correlations of the real ones (Westfall & Young, *Resampling-Based Multiple Testing*, 1993), where each
//! quantile has a mean and a deviation of its own, as it has in n real blocks.
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

/// The point that the largest |T| over all series stays below with `level`, in made-up blocks whose series go together as
/// these do, each with a mean and a deviation of its own.
fn critical(series: &[&[f64]], level: f64, seed: Seed) -> Option<f64> {
    let n = series.first()?.len();
    let standard: Vec<Vec<f64>> = series
        .iter()
        .map(|logs| {
            let test = MeanTest::of_logs(logs).ok()?;
            // Σ of the squares is 1, so the products of two series sum to their correlation.
            let scale = test.sd * ((n - 1) as f64).sqrt();
            Some(logs.iter().map(|log| (log - test.mean) / scale).collect())
        })
        .collect::<Option<_>>()?;
    let factor = factor(&standard, n);
    let mut rng = seed.rng();
    let mut largest: Vec<f64> = (0..DRAWS).map(|_| draw(&factor, n, &mut rng)).collect();
    largest.sort_unstable_by(f64::total_cmp);
    let place = ((level.clamp(0.0, 1.0) * DRAWS as f64).ceil() as usize).clamp(1, DRAWS) - 1;
    largest.get(place).copied().filter(|found| found.is_finite())
}

/// L with L·Lᵀ = the correlations (Cholesky), a row a series.
///
/// n blocks have at most n − 1 directions, so the fewer blocks, the more alike series look. What n blocks say of a
/// correlation is drawn towards none by the share of its error, (1 − r²)²/(n − 1) (Schäfer & Strimmer, Stat. Appl. Genet.
/// Mol. Biol. 4, 2005), which errs on the side of a wider band.
fn factor(standard: &[Vec<f64>], n: usize) -> Vec<Vec<f64>> {
    let shrink = shrinkage(standard, n);
    let mut rows: Vec<Vec<f64>> = Vec::with_capacity(standard.len());
    for (at, row) in standard.iter().enumerate() {
        let mut made: Vec<f64> = Vec::with_capacity(at + 1);
        for (before, other) in rows.iter().enumerate() {
            let r = (1.0 - shrink) * row.iter().zip(&standard[before]).map(|(x, y)| x * y).sum::<f64>();
            let known: f64 = made.iter().zip(other).map(|(x, y)| x * y).sum();
            made.push(if other[before] > 1e-6 { (r - known) / other[before] } else { 0.0 });
        }
        let rest = 1.0 - made.iter().map(|x| x * x).sum::<f64>();
        made.push(rest.max(0.0).sqrt());
        rows.push(made);
    }
    rows
}

fn shrinkage(standard: &[Vec<f64>], n: usize) -> f64 {
    let (mut errors, mut squares) = (0.0, 0.0);
    for (at, row) in standard.iter().enumerate() {
        for other in &standard[..at] {
            let r: f64 = row.iter().zip(other).map(|(x, y)| x * y).sum();
            errors += (1.0 - r * r).powi(2) / (n - 1) as f64;
            squares += r * r;
        }
    }
    if squares > 0.0 { (errors / squares).min(1.0) } else { 0.0 }
}

/// The largest |T| over the series in `n` made-up blocks.
fn draw(factor: &[Vec<f64>], n: usize, rng: &mut Rng) -> f64 {
    let mut sums = vec![(0.0, 0.0); factor.len()];
    for _ in 0..n {
        let normal: Vec<f64> = factor.iter().map(|_| rng.normal()).collect();
        for (row, (sum, squares)) in factor.iter().zip(&mut sums) {
            let value: f64 = row.iter().zip(&normal).map(|(x, g)| x * g).sum();
            *sum += value;
            *squares += value * value;
        }
    }
    let n = n as f64;
    let t = |(sum, squares): (f64, f64)| {
        let mean = sum / n;
        let variance = (squares - n * mean * mean).max(f64::MIN_POSITIVE) / (n - 1.0);
        (mean / (variance / n).sqrt()).abs()
    };
    sums.into_iter().map(t).fold(0.0, f64::max)
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
