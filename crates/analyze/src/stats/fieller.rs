//! Fieller's set for the ratio of two means (Fieller, J. R. Stat. Soc. B 16, 1954; METHOD §3).
//!
//! The ratios ρ for which ā − ρ b̄ does not differ from 0 at the level: |ā − ρ b̄| ≤ t √(v_aa − 2ρ v_ab + ρ² v_bb), where
//! v are the estimated variances and covariance of the two means. As the solution of a quadratic inequality it is an
//! interval, everything outside an interval, or every number; the latter two where the denominator does not differ from 0.

use super::student::t_quantile;
use super::{Refusal, check_values};

/// Two means with the variances of these means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoMeans {
    /// Mean of the numerator.
    pub a: f64,
    /// Mean of the denominator.
    pub b: f64,
    /// Estimated variance of `a`, not negative.
    pub var_a: f64,
    /// Estimated variance of `b`, not negative.
    pub var_b: f64,
    /// Estimated covariance of `a` and `b`; 0 for independent samples.
    pub cov: f64,
    /// Degrees of freedom of the variances.
    pub freedom: usize,
}

/// The ratios that the data do not rule out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FiellerSet {
    /// Those between two ends, both included.
    Between(f64, f64),
    /// Those up to the first end and those from the second: the denominator may be 0.
    Outside(f64, f64),
    /// Every number: numerator and denominator may both be 0.
    Everything,
}

impl TwoMeans {
    /// From pairs (numerator, denominator), one a block.
    ///
    /// # Errors
    /// [`Refusal`] with fewer than two pairs, or where a value or a variance is not finite.
    pub fn paired(pairs: &[(f64, f64)]) -> Result<Self, Refusal> {
        let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        check_values(&a, 2)?;
        check_values(&b, 2)?;
        let n = pairs.len() as f64;
        let (mean_a, mean_b) = (a.iter().sum::<f64>() / n, b.iter().sum::<f64>() / n);
        let moment = |x: &[f64], mean_x: f64, y: &[f64], mean_y: f64| {
            x.iter().zip(y).map(|(x, y)| (x - mean_x) * (y - mean_y)).sum::<f64>() / (n - 1.0) / n
        };
        let means = Self {
            a: mean_a,
            b: mean_b,
            var_a: moment(&a, mean_a, &a, mean_a),
            var_b: moment(&b, mean_b, &b, mean_b),
            cov: moment(&a, mean_a, &b, mean_b),
            freedom: pairs.len() - 1,
        };
        let all = [means.a, means.b, means.var_a, means.var_b, means.cov];
        if all.iter().all(|value| value.is_finite()) { Ok(means) } else { Err(Refusal::NotFinite) }
    }

    /// ā/b̄; `None` where the denominator is 0 or the ratio overflows.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        Some(self.a / self.b).filter(|ratio| ratio.is_finite())
    }

    /// The set at `level` (0 to 1).
    ///
    /// # Errors
    /// [`Refusal::NoSpread`] where neither mean varies, [`Refusal::NotFinite`] where a number overflows.
    pub fn fieller(&self, level: f64) -> Result<FiellerSet, Refusal> {
        if self.var_a <= 0.0 && self.var_b <= 0.0 {
            return Err(Refusal::NoSpread { had: self.freedom + 1 });
        }
        // In units of the means (or of their errors where a mean is 0), so that squares neither overflow nor vanish.
        let (unit_a, unit_b) = (self.a.abs().max(self.var_a.sqrt()), self.b.abs().max(self.var_b.sqrt()));
        let unit = |unit: f64| if unit > 0.0 { unit } else { 1.0 };
        let (unit_a, unit_b) = (unit(unit_a), unit(unit_b));
        let (a, b) = (self.a / unit_a, self.b / unit_b);
        let t2 = t_quantile(0.5 + level.clamp(0.0, 1.0) / 2.0, self.freedom).powi(2);
        let square = b * b - t2 * self.var_b / unit_b / unit_b;
        let half_linear = a * b - t2 * self.cov / unit_a / unit_b;
        let constant = a * a - t2 * self.var_a / unit_a / unit_a;
        let root = (half_linear * half_linear - square * constant).max(0.0).sqrt();
        let scale = unit_a / unit_b;
        let set = if square > 0.0 {
            FiellerSet::Between((half_linear - root) / square * scale, (half_linear + root) / square * scale)
        } else if square < 0.0 && root > 0.0 {
            FiellerSet::Outside((half_linear + root) / square * scale, (half_linear - root) / square * scale)
        } else {
            FiellerSet::Everything
        };
        match set {
            FiellerSet::Between(low, high) | FiellerSet::Outside(low, high)
                if !(low.is_finite() && high.is_finite()) =>
            {
                Err(Refusal::NotFinite)
            }
            set => Ok(set),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Darwin 1876, heights of 15 pairs of maize in inches, crossed over selfed (Fisher 1935, ch. 3).
    const MAIZE: [(f64, f64); 15] = [
        (23.5, 17.375),
        (12.0, 20.375),
        (21.0, 20.0),
        (22.0, 20.0),
        (19.125, 18.375),
        (21.5, 18.625),
        (22.125, 18.625),
        (20.375, 15.25),
        (18.25, 16.5),
        (21.625, 18.0),
        (23.25, 16.25),
        (21.0, 18.0),
        (22.125, 12.75),
        (23.0, 15.5),
        (12.0, 18.0),
    ];
    /// Student 1908, additional hours of sleep by two drugs in ten patients; in R as `sleep`.
    const SLEEP: [(f64, f64); 10] = [
        (0.7, 1.9),
        (-1.6, 0.8),
        (-0.2, 1.1),
        (-1.2, 0.1),
        (-0.1, -0.1),
        (3.4, 4.4),
        (3.7, 5.5),
        (0.8, 1.6),
        (0.0, 4.6),
        (2.0, 3.4),
    ];

    fn near(got: f64, wanted: f64) {
        assert!((got - wanted).abs() < 1e-9 * wanted.abs().max(1.0), "{got} is not {wanted}");
    }

    fn between(pairs: &[(f64, f64)], level: f64, low: f64, high: f64) {
        match TwoMeans::paired(pairs).unwrap().fieller(level).unwrap() {
            FiellerSet::Between(got_low, got_high) => {
                near(got_low, low);
                near(got_high, high);
            }
            other => panic!("{other:?}"),
        }
    }

    fn swapped(pairs: &[(f64, f64)]) -> Vec<(f64, f64)> {
        pairs.iter().map(|(a, b)| (*b, *a)).collect()
    }

    #[test]
    fn intervals_are_where_the_paired_t_test_turns() {
        // Roots in ρ of |t(a − ρb)| = t₀.₉₇₅: scipy.stats.ttest_1samp inverted by scipy.optimize.brentq 1.17.1.
        near(TwoMeans::paired(&MAIZE).unwrap().ratio().unwrap(), 1.148_885_727_833_096_4);
        between(&MAIZE, 0.95, 1.000_212_364_931_937_7, 1.312_155_989_932_443);
        between(&MAIZE, 0.9, 1.025_849_247_924_126_1, 1.281_752_602_813_429_8);
        near(TwoMeans::paired(&SLEEP).unwrap().ratio().unwrap(), 0.321_888_412_017_167_45);
        between(&SLEEP, 0.95, -0.484_919_775_371_917_7, 0.656_596_685_286_180_1);
    }

    #[test]
    fn a_denominator_that_may_be_0_has_an_unbounded_set() {
        // The interval of the mean of drug 1, 0.75 hours, is −0.53 to 2.03: it holds 0.
        match TwoMeans::paired(&swapped(&SLEEP)).unwrap().fieller(0.95).unwrap() {
            FiellerSet::Outside(low, high) => {
                near(low, -2.062_196_781_381_071);
                near(high, 1.523_004_947_190_902_6);
            }
            other => panic!("{other:?}"),
        }
        let noise = [(1.0, -1.0), (-1.0, 2.0), (2.0, 1.0), (-2.0, -2.0), (0.5, 0.3)];
        assert_eq!(TwoMeans::paired(&noise).unwrap().fieller(0.95), Ok(FiellerSet::Everything));
    }

    #[test]
    fn swapping_inverts_and_units_cancel() {
        let FiellerSet::Between(low, high) = TwoMeans::paired(&MAIZE).unwrap().fieller(0.95).unwrap() else {
            panic!("bounded");
        };
        between(&swapped(&MAIZE), 0.95, 1.0 / high, 1.0 / low);
        for unit in [1e-150, 1e-9, 1e9, 1e150] {
            let scaled: Vec<_> = MAIZE.iter().map(|(a, b)| (a * unit, b * unit)).collect();
            between(&scaled, 0.95, low, high);
        }
    }

    #[test]
    fn a_fixed_denominator_leaves_students_interval() {
        let fixed: Vec<_> = SLEEP.iter().map(|(_, b)| (*b, 2.0)).collect();
        // scipy.stats.ttest_1samp of drug 2: its interval, halved.
        between(&fixed, 0.95, 0.448_838_769_688_352_57, 1.881_161_230_311_647_2);
    }

    #[test]
    fn what_has_no_answer_is_refused() {
        assert_eq!(TwoMeans::paired(&[(1.0, 1.0)]), Err(Refusal::TooFew { needed: 2, had: 1 }));
        assert_eq!(TwoMeans::paired(&[(1.0, f64::NAN), (1.0, 1.0)]), Err(Refusal::NotFinite));
        assert_eq!(TwoMeans::paired(&[(f64::MAX, 1.0), (-f64::MAX, 1.0)]), Err(Refusal::NotFinite));
        let constant = TwoMeans::paired(&[(1.0, 2.0); 5]).unwrap();
        assert_eq!(constant.fieller(0.95), Err(Refusal::NoSpread { had: 5 }));
        assert_eq!(TwoMeans::paired(&[(1.0, 0.0); 5]).unwrap().ratio(), None);
    }
}
