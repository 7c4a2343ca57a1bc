//! Variance by level of repetition, for any number of levels (Kalibera & Jones, ISMM 2013, §4–6; the same, technical
//! report 4-12 of the University of Kent, 2012).
//!
//! Level 1 is the innermost (a sample), level n the outermost (a build, a run, a host). Sᵢ² is the mean squared deviation
//! of level-i means about their level-(i+1) mean, T₁² = S₁² and Tᵢ² = Sᵢ² − Sᵢ₋₁²/rᵢ₋₁: what level i brings in by itself.
//! With cᵢ the cost of one more repetition at level i, the counts that give the narrowest interval for the time spent are
//! rᵢ = √((cᵢ₊₁/cᵢ)(Tᵢ²/Tᵢ₊₁²)), rounded up. The interval of the mean is mean ± t₍ᵣₙ₋₁₎ √(Sₙ²/rₙ).
//! Invariant: the design is balanced, every level-(i+1) unit has rᵢ units of level i.

use super::student::{MeanTest, t_quantile};
use super::{Refusal, check_values};

/// Variances by level.
#[derive(Clone, Debug, PartialEq)]
pub struct Levels {
    /// Repetitions, innermost first.
    pub counts: Vec<usize>,
    /// Of all values.
    pub mean: f64,
    /// S² of each level, innermost first.
    pub between_means: Vec<f64>,
    /// T² of each level, innermost first; below 0 where a level differs less than what it holds would have it.
    pub own: Vec<f64>,
    /// Means of the outermost level.
    outermost: Vec<f64>,
}

impl Levels {
    /// Of `values` in nested order, the innermost level running fastest, with `counts` repetitions, innermost first.
    ///
    /// # Errors
    /// [`Refusal`] with no level, fewer than two repetitions at one, a number of values that is not the product of the
    /// counts, or values that are not finite.
    pub fn of(values: &[f64], counts: &[usize]) -> Result<Self, Refusal> {
        check_values(values, 2)?;
        let wanted = counts.iter().try_fold(1_usize, |product, count| product.checked_mul(*count));
        if counts.is_empty() || wanted != Some(values.len()) {
            return Err(Refusal::Unpaired { first: values.len(), second: wanted.unwrap_or(0) });
        }
        if let Some(few) = counts.iter().find(|count| **count < 2) {
            return Err(Refusal::TooFew { needed: 2, had: *few });
        }
        let mut means = values.to_vec();
        let (mut between_means, mut own, mut outermost) = (Vec::new(), Vec::new(), Vec::new());
        let mut below = 0.0;
        for count in counts {
            outermost.clone_from(&means);
            let groups = means.chunks(*count);
            let next: Vec<f64> = groups.map(|group| group.iter().sum::<f64>() / *count as f64).collect();
            let squares: f64 = means
                .chunks(*count)
                .zip(&next)
                .map(|(group, mean)| group.iter().map(|value| (value - mean).powi(2)).sum::<f64>())
                .sum();
            let between = squares / (next.len() * (count - 1)) as f64;
            own.push(between - below);
            below = between / *count as f64;
            between_means.push(between);
            means = next;
        }
        let mean = means[0];
        mean.is_finite().then_some(()).ok_or(Refusal::NotFinite)?;
        Ok(Self { counts: counts.to_vec(), mean, between_means, own, outermost })
    }

    /// The best number of repetitions at `level` (from 0, not the outermost), not rounded, for the `costs` of one more
    /// repetition at each level, innermost first. `None` where the level above brings nothing in, or a cost is not above 0.
    #[must_use]
    pub fn best_count(&self, level: usize, costs: &[f64]) -> Option<f64> {
        let (own, above) = (*self.own.get(level)?, *self.own.get(level + 1)?);
        let (cost, cost_above) = (*costs.get(level)?, *costs.get(level + 1)?);
        let best = (cost_above / cost * own / above).sqrt();
        (own >= 0.0 && above > 0.0 && cost > 0.0 && best.is_finite()).then_some(best)
    }

    /// The interval of the mean at `level` of confidence (0 to 1), which rests on the outermost level alone.
    #[must_use]
    pub fn interval(&self, level: f64) -> (f64, f64) {
        let n = self.outermost.len();
        let spread = self.between_means.last().copied().unwrap_or(0.0);
        let half = t_quantile(0.5 + level.clamp(0.0, 1.0) / 2.0, n - 1) * (spread / n as f64).sqrt();
        (self.mean - half, self.mean + half)
    }

    /// The means of the outermost level as a test of their mean.
    ///
    /// # Errors
    /// As [`MeanTest::of`].
    pub fn test(&self) -> Result<MeanTest, Refusal> {
        MeanTest::of(&self.outermost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: &[f64], wanted: &[f64], within: f64) {
        assert_eq!(got.len(), wanted.len());
        for (got, wanted) in got.iter().zip(wanted) {
            assert!((got - wanted).abs() <= within, "{got} is not {wanted}");
        }
    }

    /// The worked example of the paper, as libkalibera's tests have it: three levels of 3, 2 and 2.
    #[test]
    fn the_worked_example_of_the_paper() {
        let values = [9.0, 5.0, 8.0, 3.0, 10.0, 6.0, 7.0, 11.0, 1.0, 12.0, 2.0, 4.0];
        let found = Levels::of(&values, &[2, 2, 3]).unwrap();
        assert_eq!(found.mean, 6.5);
        close(&found.between_means, &[16.5, 2.6, 3.6], 0.05);
        close(&found.own, &[16.5, -5.7, 2.3], 0.05);
        // The same values in two levels.
        let found = Levels::of(&values, &[4, 3]).unwrap();
        close(&found.between_means, &[12.7, 3.6], 0.05);
        close(&found.own, &[12.7, 0.4], 0.05);
    }

    /// Numbers of libkalibera's tests: T² and the best counts at costs of 3, 20 and 100 s.
    #[test]
    fn best_counts_agree_with_libkalibera() {
        let values = [3.0, 4.0, 3.0, 1.2, 3.1, 3.0, 0.2, 1.0, 1.5, 1.0, 2.0, 3.0];
        let found = Levels::of(&values, &[3, 2, 2]).unwrap();
        close(&found.own, &[0.726_666_7, 0.262_777_778, 0.7747], 1e-4);
        let best: Vec<f64> =
            (0..2).map(|level| found.best_count(level, &[3.0, 20.0, 100.0]).unwrap()).collect();
        close(&best, &[4.2937, 1.3023], 1e-3);
        assert_eq!(best.iter().map(|best| best.ceil() as u32).collect::<Vec<_>>(), [5, 2]);
        assert_eq!(found.best_count(2, &[3.0, 20.0, 100.0]), None);
    }

    #[test]
    fn the_interval_rests_on_the_outermost_level() {
        let values = [3.0, 4.0, 3.0, 1.2, 3.1, 3.0, 0.2, 1.0, 1.5, 1.0, 2.0, 3.0];
        let found = Levels::of(&values, &[3, 2, 2]).unwrap();
        let (low, high) = found.interval(0.95);
        let (t_low, t_high) = found.test().unwrap().interval(0.95);
        close(&[low, high], &[t_low, t_high], 1e-9);
    }

    #[test]
    fn what_is_not_balanced_is_refused() {
        assert!(Levels::of(&[1.0, 2.0, 3.0], &[2, 2]).is_err());
        assert!(Levels::of(&[1.0, 2.0], &[2, 1]).is_err());
        assert!(Levels::of(&[1.0, f64::NAN], &[2]).is_err());
        assert!(Levels::of(&[], &[]).is_err());
        assert!(Levels::of(&[1.0, 2.0], &[usize::MAX, usize::MAX]).is_err());
    }
}
