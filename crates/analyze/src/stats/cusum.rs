//! Did the last values of a series leave its level? A two-sided CUSUM chart on standardised innovations.
//!
//! The level is that of all values but the last [`RECENT`], which nothing says are of it: with mean m and deviation s of
//! those n, T = (x − m)/(s√(1 + 1/n)) has Student's law with n−1 degrees of freedom, and U = Φ⁻¹(F(T)) is standard normal
//! (the scale of self-starting charts: Hawkins, J. Quality Technology 19, 1987; Hawkins & Olwell, Cumulative Sum Charts,
//! 1998, ch. 7). Sums S⁺ = max(0, S⁺ + U − k) and S⁻ with k = 0.5 signal beyond h = 4.77: a false signal once in 370
//! values on average (ibid., table 3.1), and a lasting step of three deviations after 2 to 3 values.
//! Values that are like their neighbours are replaced by innovations xₙ − φ xₙ₋₁ first (Lu & Reynolds, J. Quality
//! Technology 33, 2001); φ is that of the same n values, with its bias corrected, at most 0.9.
//! Invariant: a signal counts only while it lasts to the last value.

use super::by_position::{autocorrelation, residuals};
use super::student::t_law;
use statrs::distribution::{ContinuousCDF, Normal};

/// Allowance of the sums: half of the step that is to be found soonest, in standard deviations.
const ALLOWANCE: f64 = 0.5;
/// Limit of the sums.
const LIMIT: f64 = 4.77;
/// Values between two false signals on average.
pub const AVERAGE_RUN_LENGTH: u32 = 370;
/// Fewest values of a level.
const LEARNT: usize = 6;
/// Values that are watched; of a step before them enough lie behind it for it to be dated as a change.
pub const RECENT: usize = 6;
/// Highest autocorrelation that is taken for noise.
const PHI_MAX: f64 = 0.9;

/// A signal at the end of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alarm {
    /// Index of the first value since the sum was last 0.
    pub since: usize,
    /// Index of the value at which the sum passed its limit.
    pub raised: usize,
}

/// The signal that lasts to the last of `values`; `None` without one, with too few values, or where they do not vary.
#[must_use]
pub fn alarm(values: &[f64]) -> Option<Alarm> {
    let known = values.len().checked_sub(RECENT).filter(|known| *known > LEARNT)?;
    if values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let phi = autocorrelation(&residuals(&values[..known], 0.0), PHI_MAX);
    let innovations: Vec<f64> = values.windows(2).map(|pair| pair[1] - phi * pair[0]).collect();
    let before = &innovations[..known - 1];
    let n = before.len() as f64;
    let mean = before.iter().sum::<f64>() / n;
    let sd = (before.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
    if sd <= 1e-12 {
        return None;
    }
    let (normal, law) = (Normal::standard(), t_law(before.len() - 1));
    let (mut up, mut down) = (Sum::default(), Sum::default());
    for (at, innovation) in innovations.iter().enumerate().skip(known - 1) {
        let t = (innovation - mean) / (sd * (1.0 + 1.0 / n).sqrt());
        let u = normal.inverse_cdf(law.cdf(t).clamp(1e-12, 1.0 - 1e-12));
        up.add(u, at + 1);
        down.add(-u, at + 1);
    }
    [up, down].into_iter().find_map(|sum| Some(Alarm { since: sum.since, raised: sum.raised? }))
}

#[derive(Default)]
struct Sum {
    sum: f64,
    since: usize,
    raised: Option<usize>,
}

impl Sum {
    fn add(&mut self, u: f64, at: usize) {
        if self.sum == 0.0 {
            self.since = at;
        }
        self.sum = (self.sum + u - ALLOWANCE).max(0.0);
        self.raised = (self.sum > LIMIT).then_some(self.raised.unwrap_or(at));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Seed;

    fn noise(n: usize, phi: f64, seed: u64) -> Vec<f64> {
        let mut rng = Seed(77).derive("cusum", seed).rng();
        let mut noise = rng.normal();
        (0..n)
            .map(|_| {
                let value = noise;
                noise = phi * noise + (1.0 - phi * phi).sqrt() * rng.normal();
                value
            })
            .collect()
    }

    fn signals(runs: u64, phi: f64, step: f64, last: usize) -> usize {
        (0..runs)
            .filter(|seed| {
                let mut values = noise(30, phi, *seed);
                values[30 - last..].iter_mut().for_each(|value| *value += step);
                alarm(&values).is_some()
            })
            .count()
    }

    #[test]
    fn the_last_values_are_watched_and_noise_is_not_signalled() {
        for phi in [0.0, 0.5, 0.8] {
            let found = signals(500, phi, 0.0, 1);
            println!("φ {phi}: signals at the last of 30 values in {found} of 500 without a step");
            assert!(found <= 30, "φ {phi}: {found} of 500");
        }
        for (last, least) in [(2, 150), (3, 350), (5, 430)] {
            let found = signals(500, 0.0, 3.0, last);
            println!("a step of 3 deviations {last} values before the end: {found} of 500");
            assert!(found >= least, "{last} values after it: {found} of 500");
        }
    }

    #[test]
    fn a_signal_says_since_when() {
        let mut values = noise(30, 0.0, 3);
        values[26..].iter_mut().for_each(|value| *value += 6.0);
        let found = alarm(&values).unwrap();
        assert!(found.since.abs_diff(26) <= 2 && found.raised >= found.since, "{found:?}");
        assert_eq!(alarm(&[1.0; 30]), None);
        assert_eq!(alarm(&[1.0, 2.0]), None);
    }
}
