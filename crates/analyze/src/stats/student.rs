//! Student's one-sample t: interval and test of a mean (Student, Biometrika 6, 1908).
//!
//! Paired comparison is the same on the differences. The t law itself comes from `statrs`.

use super::{Refusal, check_values};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Values that are logarithms and lie closer together than this differ by rounding only: it is a relative difference
/// of 1e-12 between the numbers themselves, some thousand times the rounding of an `f64` logarithm near 25.
const LOG_ROUNDING: f64 = 1e-12;

/// The mean of values with its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanTest {
    /// How many values.
    pub n: usize,
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation with n − 1.
    pub sd: f64,
}

impl MeanTest {
    /// From at least two finite values that are not all equal.
    ///
    /// # Errors
    /// [`Refusal`] where they are fewer, not finite, or do not differ.
    pub fn of(values: &[f64]) -> Result<Self, Refusal> {
        check_values(values, 2)?;
        let n = values.len();
        let mean = values.iter().sum::<f64>() / n as f64;
        let sd = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1) as f64).sqrt();
        if !mean.is_finite() || !sd.is_finite() {
            return Err(Refusal::NotFinite);
        }
        if sd == 0.0 || values.iter().all(|value| *value == values[0]) {
            return Err(Refusal::NoSpread { had: n });
        }
        Ok(Self { n, mean, sd })
    }

    /// The same for logarithms, where a spread below the rounding of `f64` counts as none.
    ///
    /// # Errors
    /// As [`MeanTest::of`].
    pub fn of_logs(logs: &[f64]) -> Result<Self, Refusal> {
        let test = Self::of(logs)?;
        let low = logs.iter().copied().fold(f64::INFINITY, f64::min);
        let high = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if high - low <= LOG_ROUNDING { Err(Refusal::NoSpread { had: logs.len() }) } else { Ok(test) }
    }

    /// For values that are all the same because they were measured in steps: the true mean lies within about one `step`,
    /// above 0, and more values do not narrow that, so the step is the standard error.
    #[must_use]
    pub fn within_step(n: usize, mean: f64, step: f64) -> Self {
        Self { n, mean, sd: step * (n as f64).sqrt() }
    }

    /// The same for differences of values as large as `size`, where a spread below their rounding counts as none.
    ///
    /// # Errors
    /// As [`MeanTest::of`].
    pub fn of_differences(differences: &[f64], size: f64) -> Result<Self, Refusal> {
        let test = Self::of(differences)?;
        let low = differences.iter().copied().fold(f64::INFINITY, f64::min);
        let high = differences.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let is_rounding = high - low <= LOG_ROUNDING * size.abs();
        if is_rounding { Err(Refusal::NoSpread { had: differences.len() }) } else { Ok(test) }
    }

    /// Standard error of the mean.
    #[must_use]
    pub fn standard_error(&self) -> f64 {
        self.sd / (self.n as f64).sqrt()
    }

    /// Two-sided interval of the mean at `level` (0 to 1): mean ± t_{n−1} · sd/√n.
    #[must_use]
    pub fn interval(&self, level: f64) -> (f64, f64) {
        let half = t_quantile(0.5 + level.clamp(0.0, 1.0) / 2.0, self.n - 1) * self.standard_error();
        (self.mean - half, self.mean + half)
    }

    /// Two-sided p of the hypothesis that the true mean is 0.
    #[must_use]
    pub fn p_value(&self) -> f64 {
        let t = self.mean.abs() / self.standard_error();
        (2.0 * law(self.n - 1).sf(t)).clamp(0.0, 1.0)
    }

    /// One-sided p of the hypothesis that the true mean is at most `bound`: small where it lies above.
    #[must_use]
    pub fn p_above(&self, bound: f64) -> f64 {
        self.upper_tail((self.mean - bound) / self.standard_error())
    }

    /// One-sided p of the hypothesis that the true mean is at least `bound`: small where it lies below.
    #[must_use]
    pub fn p_below(&self, bound: f64) -> f64 {
        self.upper_tail((bound - self.mean) / self.standard_error())
    }

    fn upper_tail(&self, t: f64) -> f64 {
        if t.is_nan() { 1.0 } else { law(self.n - 1).sf(t).clamp(0.0, 1.0) }
    }
}

/// The quantile of Student's t with `freedom` degrees of freedom; infinite at 0 and 1.
#[must_use]
pub fn t_quantile(probability: f64, freedom: usize) -> f64 {
    match probability {
        p if p.is_nan() || p <= 0.0 => f64::NEG_INFINITY,
        p if p >= 1.0 => f64::INFINITY,
        p => law(freedom).inverse_cdf(p),
    }
}

/// Student's law with `freedom` degrees of freedom, 1 at least.
pub(super) fn t_law(freedom: usize) -> StudentsT {
    law(freedom)
}

fn law(freedom: usize) -> StudentsT {
    StudentsT::new(0.0, 1.0, freedom.max(1) as f64).expect("scale and freedom are positive")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Student 1908, "additional hours of sleep": drug 1 minus drug 2 in ten patients; in R as `sleep`.
    const SLEEP: [f64; 10] = [-1.2, -2.4, -1.3, -1.3, 0.0, -1.0, -1.8, -0.8, -4.6, -1.4];
    /// Darwin 1876, heights of 15 pairs of maize, crossed minus selfed, in eighths of an inch (Fisher 1935, ch. 3).
    const MAIZE: [f64; 15] =
        [49.0, -67.0, 8.0, 16.0, 6.0, 23.0, 28.0, 41.0, 14.0, 29.0, 56.0, 24.0, 75.0, 60.0, -48.0];

    fn check(values: &[f64], mean: f64, low: f64, high: f64, p: f64) {
        let test = MeanTest::of(values).unwrap();
        let interval = test.interval(0.95);
        for (got, wanted) in [(test.mean, mean), (interval.0, low), (interval.1, high), (test.p_value(), p)] {
            assert!((got - wanted).abs() <= 1e-9 * wanted.abs().max(1.0), "{got} is not {wanted}");
        }
    }

    #[test]
    fn intervals_and_p_agree_with_r_and_scipy() {
        // R: t.test(extra ~ group, sleep, paired) prints t = -4.0621, p = 0.002833, (-2.4598858, -0.7001142);
        // the digits are of scipy.stats.ttest_1samp 1.17.1.
        check(&SLEEP, -1.58, -2.459_885_763_276_983, -0.700_114_236_723_017_5, 0.002_832_890_197_384_273);
        // Fisher 1935: t = 2.148, just beyond 5 %; digits of scipy for eighths of an inch, mean 20.933.
        let (low, high) = (0.003_899_164_799_122_445_4 * 8.0, 5.229_434_168_534_211 * 8.0);
        check(&MAIZE, 314.0 / 15.0, low, high, 0.049_702_944_021_800_866);
    }

    #[test]
    fn quantiles_agree_with_scipy() {
        for (p, freedom, wanted) in [
            (0.975, 1, 12.706_204_736_174_694),
            (0.9, 2, 1.885_618_083_164_127),
            (0.9995, 3, 12.923_978_636_687_961),
            (0.975, 4, 2.776_445_105_197_793_4),
            (0.95, 4, 2.131_846_786_326_649_5),
            (0.75, 4, 0.740_697_084_112_682_9),
            (0.975, 9, 2.262_157_162_798_205),
            (0.9995, 10, 4.586_893_858_702_708),
            (0.995, 29, 2.756_385_903_670_605),
            (0.6, 100, 0.254_022_182_458_227_66),
            (0.025, 4, -2.776_445_105_197_793_4),
        ] {
            let got = t_quantile(p, freedom);
            assert!((got - wanted).abs() < 1e-8 * wanted.abs(), "t({p}, {freedom}) = {got}, not {wanted}");
        }
        // No interval is wide enough to be certain.
        assert_eq!(t_quantile(1.0, 4), f64::INFINITY);
    }

    #[test]
    fn what_has_no_answer_is_refused() {
        assert_eq!(MeanTest::of(&[]), Err(Refusal::TooFew { needed: 2, had: 0 }));
        assert_eq!(MeanTest::of(&[1.0]), Err(Refusal::TooFew { needed: 2, had: 1 }));
        assert_eq!(MeanTest::of(&[0.1; 7]), Err(Refusal::NoSpread { had: 7 }));
        assert_eq!(MeanTest::of(&[1.0, f64::NAN]), Err(Refusal::NotFinite));
        assert_eq!(MeanTest::of(&[f64::MAX, f64::MAX, -f64::MAX]), Err(Refusal::NotFinite));
        assert_eq!(MeanTest::of_logs(&[1.0, 1.0 + 1e-15, 1.0]), Err(Refusal::NoSpread { had: 3 }));
        assert!(MeanTest::of_logs(&[1.0, 1.0 + 1e-9, 1.0]).is_ok());
    }
}
