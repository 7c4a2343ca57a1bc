//! Did a series move, or does it only remember? A likelihood-ratio test of a move against noise whose neighbours are
//! alike, with the law of the statistic simulated.
//!
//! Noise of a first-order autoregression wanders, and a wandering level looks like steps and trends. So the best move
//! (one step, a linear trend, or a level that is left and come back to) is held against none, *both* with such noise:
//! T = n ln(σ²₀/σ²₁) less 2 ln n for a second step, with σ² the mean squared innovation and φ profiled (Cochrane &
//! Orcutt, JASA 44, 1949; the likelihood ratio of a change in an autoregression: Davis, Huang & Yao, Ann. Statist. 23,
//! 1995). Its law depends on φ, which is estimated too low once a move was taken out. So φ is the one for which
//! simulated series without a move give, in the median, the φ that is left in this one after its best move (median-unbiased
//! estimate: Andrews, Econometrica 61, 1993), and p is the share of series simulated with that φ whose T is as large
//! (parametric bootstrap: Davison & Hinkley 1997, §4.2).
//! Invariants: the seed is handed in and the work is bounded: more than `VALUES_MAX` values are replaced by the means
//! of neighbours.

use super::by_position::{autocorrelation, residuals, slope};
use units::{Rng, Seed};

/// Most values that are looked at.
const VALUES_MAX: usize = 60;
/// Simulated series for p.
const SERIES: usize = 299;
/// The same for each φ of the grid.
const SERIES_OF_GRID: usize = 59;
/// φ that are tried.
const GRID: [f64; 9] = [0.0, 0.15, 0.3, 0.45, 0.6, 0.7, 0.8, 0.88, 0.95];
/// Highest autocorrelation that is taken for noise; beyond, a walk would explain every step.
const PHI_MAX: f64 = 0.95;

/// Best move of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Best {
    gain: f64,
    /// Autocorrelation of what is left.
    phi: f64,
}

/// p of no move in `values`, whose segments have `segment` values at least; `floor` is the smallest standard deviation of
/// innovations that is believed (0 for none). `None` where the values are too few or do not vary.
#[must_use]
pub fn p_of_no_move(values: &[f64], segment: usize, floor: f64, seed: Seed) -> Option<f64> {
    let block = values.len().div_ceil(VALUES_MAX).max(1);
    let values: Vec<f64> =
        values.chunks(block).map(|part| part.iter().sum::<f64>() / part.len() as f64).collect();
    let segment = segment.div_ceil(block).max(2);
    let n = values.len();
    if n < 2 * segment || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let best = best(&values, segment, floor)?;
    // Series are simulated with innovations of 1; a floor must be as large beside theirs as it is beside these.
    let innovation = innovation(&values, floor)?;
    let relative = (floor / innovation).min(1.0);
    let mut rng = seed.derive("memory", n as u64).rng();
    let mut simulated = |phi: f64, count: usize| -> Vec<Best> {
        let one = |_| self::best(&autoregression(n, phi, &mut rng), segment, relative);
        (0..count).filter_map(one).collect()
    };
    let median = |all: &[Best]| {
        let mut left: Vec<f64> = all.iter().map(|one| one.phi).collect();
        left.sort_unstable_by(f64::total_cmp);
        left.get(left.len() / 2).copied().unwrap_or(0.0)
    };
    let medians: Vec<f64> = GRID.iter().map(|phi| median(&simulated(*phi, SERIES_OF_GRID))).collect();
    let phi = inverse(&medians, best.phi);
    let all = simulated(phi, SERIES);
    let as_good = all.iter().filter(|one| one.gain >= best.gain).count();
    Some((as_good + 1) as f64 / (all.len() + 1) as f64)
}

/// The φ of the grid whose median is `found`, linear between its points.
fn inverse(medians: &[f64], found: f64) -> f64 {
    for (at, pair) in medians.windows(2).enumerate() {
        if found <= pair[1].max(pair[0]) {
            let share = ((found - pair[0]) / (pair[1] - pair[0]).max(1e-9)).clamp(0.0, 1.0);
            return GRID[at] + share * (GRID[at + 1] - GRID[at]);
        }
    }
    GRID[GRID.len() - 1]
}

/// Noise whose neighbours are alike by `phi`, below 1 in size; innovations have a standard deviation of 1.
pub(super) fn autoregression(n: usize, phi: f64, rng: &mut Rng) -> Vec<f64> {
    let mut noise = rng.normal() / (1.0 - phi * phi).sqrt();
    (0..n)
        .map(|_| {
            let value = noise;
            noise = phi * noise + rng.normal();
            value
        })
        .collect()
}

/// Standard deviation of the innovations around no move.
fn innovation(values: &[f64], floor: f64) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let rest: Vec<f64> = values.iter().map(|value| value - mean).collect();
    let (misfit, _) = misfit(&rest, floor);
    let sd = (misfit / n).exp().sqrt();
    (sd.is_finite() && sd > 0.0).then_some(sd)
}

fn best(values: &[f64], segment: usize, floor: f64) -> Option<Best> {
    let n = values.len();
    let mean = values.iter().sum::<f64>() / n as f64;
    let mut rest: Vec<f64> = values.iter().map(|value| value - mean).collect();
    let (none, phi) = misfit(&rest, floor);
    if !none.is_finite() {
        return None;
    }
    let mut best = Best { gain: 0.0, phi };
    let mut take = |rest: &[f64], penalty: f64| {
        let (misfit, phi) = misfit(rest, floor);
        let gain = none - misfit - penalty;
        if gain > best.gain {
            best = Best { gain, phi };
        }
    };
    let sums = sums(values);
    let level = |from: usize, to: usize| (sums[to] - sums[from]) / (to - from) as f64;
    for at in segment..=n - segment {
        let (before, after) = (level(0, at), level(at, n));
        for (index, value) in values.iter().enumerate() {
            rest[index] = value - if index < at { before } else { after };
        }
        take(&rest, 0.0);
    }
    take(&residuals(values, slope(values)), 0.0);
    let stride = (n / 20).max(1);
    let penalty = 2.0 * (n as f64).ln();
    for from in (segment..n).step_by(stride) {
        for to in (from + segment..=n - segment).step_by(stride) {
            let inside = level(from, to);
            let outside = (sums[n] - sums[to] + sums[from]) / (n - to + from) as f64;
            for (index, value) in values.iter().enumerate() {
                rest[index] = value - if (from..to).contains(&index) { inside } else { outside };
            }
            take(&rest, penalty);
        }
    }
    Some(best)
}

fn sums(values: &[f64]) -> Vec<f64> {
    let mut sums = Vec::with_capacity(values.len() + 1);
    sums.push(0.0);
    let mut sum = 0.0;
    sums.extend(values.iter().map(|value| {
        sum += value;
        sum
    }));
    sums
}

/// n ln(mean squared innovation) of what is left, and its autocorrelation.
fn misfit(rest: &[f64], floor: f64) -> (f64, f64) {
    let squares: f64 = rest.iter().map(|value| value * value).sum();
    let products: f64 = rest.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let phi = if squares > 0.0 { (products / squares).clamp(-PHI_MAX, PHI_MAX) } else { 0.0 };
    let used = phi.max(0.0);
    // Σ (xₜ − φ xₜ₋₁)² by the sums at hand.
    let (first, last) = (rest.first().copied().unwrap_or(0.0), rest.last().copied().unwrap_or(0.0));
    let innovations =
        (squares - first * first) - 2.0 * used * products + used * used * (squares - last * last);
    let n = rest.len() as f64;
    let sum = innovations.max(0.0) + (1.0 - used * used) * first * first;
    (n * (sum / n + floor * floor).ln(), phi)
}

/// The smallest linear drift over a window that a trend test at 1 %, corrected for some five series, would have seen
/// nine times in ten: 4.4 standard errors of the change over the window, √(12/n · σ²(1+φ)/(1−φ)), where σ² and φ are
/// those of the values less their line.
/// `None` with fewer than five values.
#[must_use]
pub fn smallest_drift_seen(values: &[f64]) -> Option<f64> {
    const STANDARD_ERRORS: f64 = 4.4;
    let n = values.len() as f64;
    if values.len() < 5 {
        return None;
    }
    let rest = residuals(values, slope(values));
    let squares: f64 = rest.iter().map(|value| value * value).sum();
    let phi = autocorrelation(&rest, PHI_MAX);
    let variance = squares / (n - 2.0) * (1.0 + phi) / (1.0 - phi);
    let seen = STANDARD_ERRORS * (12.0 / n * variance).sqrt();
    seen.is_finite().then_some(seen)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn p(values: &[f64]) -> f64 {
        p_of_no_move(values, 5, 0.0, Seed(1)).unwrap()
    }

    #[test]
    fn moves_are_seen_through_noise_that_remembers() {
        for seed in 0..5 {
            let mut rng = Seed(seed).rng();
            let noise = autoregression(60, 0.5, &mut rng);
            assert!(
                p(&noise
                    .iter()
                    .enumerate()
                    .map(|(at, x)| x + if at < 20 { 8.0 } else { 0.0 })
                    .collect::<Vec<_>>())
                    < 0.01
            );
            assert!(
                p(&noise.iter().enumerate().map(|(at, x)| x + 0.2 * at as f64).collect::<Vec<_>>()) < 0.01
            );
        }
    }

    #[test]
    fn noise_that_remembers_is_no_move_more_often_than_p_says() {
        for phi in [0.0, 0.7] {
            let small =
                (0..100).filter(|seed| p(&autoregression(40, phi, &mut Seed(*seed).rng())) <= 0.05).count();
            assert!(small <= 12, "φ {phi}: p ≤ 5 % in {small} of 100");
        }
    }

    #[test]
    fn what_cannot_be_judged_has_no_p() {
        assert_eq!(p_of_no_move(&[1.0; 9], 5, 0.0, Seed(1)), None);
        assert_eq!(p_of_no_move(&[1.0; 20], 5, 0.0, Seed(1)), None);
        assert_eq!(smallest_drift_seen(&[1.0; 4]), None);
        assert_eq!(smallest_drift_seen(&[1.0; 40]), Some(0.0));
    }

    /// A drift as large as stated is seen by Student's test of the slope at 1 % over five series, nine times in ten.
    #[test]
    fn the_drift_that_would_have_been_seen_is() {
        let mut rng = Seed(9).rng();
        let values: Vec<f64> = (0..4_000).map(|_| rng.normal()).collect();
        let seen = smallest_drift_seen(&values).unwrap();
        assert!((seen / (4.4 * (12.0_f64 / 4_000.0).sqrt()) - 1.0).abs() < 0.15, "{seen}");
    }
}
