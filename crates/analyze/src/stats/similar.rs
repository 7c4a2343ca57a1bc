//! Did a history change, or does it only remember? A test of a step against noise whose neighbours are alike, whose size does
//! not depend on how alike they are.
//!
//! Noise of a first-order autoregression wanders, and a wandering level looks like steps and trends. The statistic is how
//! much better a step explains the series than such noise alone (`step_law`). Its law depends on φ, which is not
//! known; a φ put in its place, however unbiased, makes the test wrong twice as often as it says. So p is taken among
//! series that *show the same autocorrelation* as this one: without a step the lag-one autocorrelation is, next to level
//! and scale, nearly sufficient, and given a sufficient statistic nothing depends on φ any more (a similar test by Neyman's
//! structure: Lehmann & Romano, Testing Statistical Hypotheses, 2005, §4.3; conditional simulation: Engen & Lillegård,
//! Biometrika 84, 1997; Lindqvist & Taraldsen, Biometrika 92, 2005). Series are drawn with φ from its posterior without a
//! step, and those count whose autocorrelation is nearest.
//!
//! Invariants: the seed is handed in and the work is bounded: more than `VALUES_MAX` values are replaced by the means
//! of neighbours.

use super::memory::autoregression;
use super::step_law::{Found, GRID, StepLaw};
use units::{Rng, Seed};

/// Most values that are looked at.
const VALUES_MAX: usize = 60;
/// Series drawn.
const DRAWN: usize = 4_000;
/// Those that count: the nearest in autocorrelation.
const SERIES: usize = 399;

/// p of no step in `values`, which lasts `segment` values at least. `None` where the values are too few or do not vary.
#[must_use]
pub fn p_of_no_step(values: &[f64], segment: usize, seed: Seed) -> Option<f64> {
    let block = values.len().div_ceil(VALUES_MAX).max(1);
    let values: Vec<f64> =
        values.chunks(block).map(|part| part.iter().sum::<f64>() / part.len() as f64).collect();
    let segment = segment.div_ceil(block).max(2);
    let n = values.len();
    if n < 2 * segment || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let likeness = likeness(&values).filter(|likeness| likeness.is_finite())?;
    let law = StepLaw::new(n, segment);
    let found = law.of(&values)?;
    let mut rng = seed.derive("similar", n as u64).rng();
    let mut drawn: Vec<(f64, Vec<f64>)> = (0..DRAWN)
        .filter_map(|_| {
            let series = autoregression(n, drawn_phi(&found, &mut rng), &mut rng);
            Some(((self::likeness(&series)? - likeness).abs(), series))
        })
        .collect();
    drawn.sort_by(|a, b| a.0.total_cmp(&b.0));
    drawn.truncate(SERIES);
    let as_good =
        drawn.iter().filter(|(_, series)| law.of(series).is_some_and(|one| one.log_ratio >= found.log_ratio));
    Some((as_good.count() + 1) as f64 / (drawn.len() + 1) as f64)
}

/// A φ of the grid, drawn by its weight.
fn drawn_phi(found: &Found, rng: &mut Rng) -> f64 {
    let mut left = rng.unit();
    for (phi, weight) in GRID.iter().zip(found.weights) {
        left -= weight;
        if left < 0.0 {
            return *phi;
        }
    }
    GRID[GRID.len() - 1]
}

/// Autocorrelation at lag one of the values around their mean, −1 to 1, as it stands; `None` where they do not vary.
fn likeness(values: &[f64]) -> Option<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let products: f64 = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    (squares > 0.0).then(|| products / squares)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(n: usize, phi: f64, series: u64, step: f64) -> f64 {
        let found = (0..series).filter(|seed| {
            let mut rng = Seed(*seed).derive("similar tests", n as u64).rng();
            let sd = (1.0 - phi * phi).sqrt();
            let mut values: Vec<f64> = autoregression(n, phi, &mut rng).iter().map(|x| sd * x).collect();
            values[n / 2..].iter_mut().for_each(|value| *value += step);
            p_of_no_step(&values, 3, Seed(5)).unwrap() <= 0.05
        });
        found.count() as f64 / series as f64
    }

    #[test]
    fn p_is_as_small_as_it_says_however_alike_neighbours_are() {
        for phi in [0.0, 0.8] {
            let small = share(24, phi, 150, 0.0);
            // 5 %, and three standard errors.
            assert!(small <= 0.105, "φ {phi}: {small}");
        }
        assert!(share(24, 0.0, 40, 3.0) >= 0.65);
        assert!(share(40, 0.0, 20, 4.0) >= 0.9);
    }

    #[test]
    fn what_cannot_be_judged_has_no_p_and_the_scale_does_not_matter() {
        assert_eq!(p_of_no_step(&[1.0; 20], 3, Seed(1)), None);
        assert_eq!(p_of_no_step(&[1.0, 2.0, 3.0, 4.0, 5.0], 3, Seed(1)), None);
        assert_eq!(p_of_no_step(&[1.0, f64::NAN, 3.0, 4.0, 5.0, 6.0], 3, Seed(1)), None);
        let values: Vec<f64> = (0..12).map(|at| f64::from(at % 5) + if at < 6 { 0.0 } else { 9.0 }).collect();
        let scaled: Vec<f64> = values.iter().map(|value| 1e6 + 1e-3 * value).collect();
        let (p, q) = (p_of_no_step(&values, 3, Seed(1)).unwrap(), p_of_no_step(&scaled, 3, Seed(1)).unwrap());
        assert!((p - q).abs() < 0.02, "{p} {q}");
        // Nothing but a step, and a step so large that its rest is rounding: still a number.
        let bare: Vec<f64> = (0..12).map(|at| if at < 6 { 0.0 } else { 1.0 }).collect();
        assert!(p_of_no_step(&bare, 3, Seed(1)).is_some_and(|p| p <= 0.05));
        assert!(
            p_of_no_step(&[f64::MAX, -f64::MAX, 1.0, 2.0, 3.0, 4.0], 3, Seed(1)).is_none_or(f64::is_finite)
        );
    }
}
