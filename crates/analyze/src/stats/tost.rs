//! Two one-sided tests of equivalence (Schuirmann, J. Pharmacokin. Biopharm. 15, 1987; METHOD §3).
//!
//! Equivalence within (low, high) is shown at α iff both one-sided p are at most α, which is the same as the two-sided
//! (1 − 2α) interval lying within the bounds. One of the two p alone is a test of non-inferiority.

use super::student::MeanTest;

/// One-sided p values against two bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tost {
    /// p of "the mean is at or below the lower bound".
    pub p_above_low: f64,
    /// p of "the mean is at or above the upper bound".
    pub p_below_high: f64,
}

impl Tost {
    /// Of the mean behind `test` against the bounds; `low` below `high`.
    #[must_use]
    pub fn of(test: &MeanTest, low: f64, high: f64) -> Self {
        Self { p_above_low: test.p_above(low), p_below_high: test.p_below(high) }
    }

    /// p of "the mean is not between the bounds": the larger of the two.
    #[must_use]
    pub fn p_value(&self) -> f64 {
        self.p_above_low.max(self.p_below_high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[f64], low: f64, high: f64, p_above_low: f64, p_below_high: f64) {
        let got = Tost::of(&MeanTest::of(values).unwrap(), low, high);
        for (got, wanted) in [(got.p_above_low, p_above_low), (got.p_below_high, p_below_high)] {
            assert!((got - wanted).abs() < 1e-9, "{got} is not {wanted}");
        }
        assert_eq!(got.p_value(), got.p_above_low.max(got.p_below_high));
    }

    #[test]
    fn p_values_agree_with_statsmodels() {
        // statsmodels.stats.weightstats.DescrStatsW.ttost_mean 0.15.0.
        // Student 1908: drug 1 minus drug 2 (R's `sleep`).
        let sleep = [-1.2, -2.4, -1.3, -1.3, 0.0, -1.0, -1.8, -0.8, -4.6, -1.4];
        check(&sleep, -3.0, 3.0, 0.002_655_570_292_658_671, 4.522_694_965_832_453e-7);
        // Darwin 1876: crossed minus selfed maize, in inches.
        let maize =
            [6.125, -8.375, 1.0, 2.0, 0.75, 2.875, 3.5, 5.125, 1.75, 3.625, 7.0, 3.0, 9.375, 7.5, -6.0];
        check(&maize, -5.0, 5.0, 1.059_080_359_580_83e-5, 0.035_331_711_519_365_39);
        check(&maize, -3.0, 6.0, 0.000_202_096_617_043_723_46, 0.007_413_450_867_164_03);
    }

    #[test]
    fn it_is_the_narrower_interval_within_the_bounds() {
        let values = [0.4, -0.3, 0.9, 0.1, -0.2, 0.6, 0.0, 0.5];
        let test = MeanTest::of(&values).unwrap();
        let (low, high) = test.interval(0.9);
        for bound in [0.2, 0.4, 0.5, 0.5999, 0.7] {
            let by_interval = low >= -bound && high <= bound;
            assert_eq!(Tost::of(&test, -bound, bound).p_value() <= 0.05, by_interval, "{bound}");
        }
        let exact = high.max(-low);
        assert!((Tost::of(&test, -exact, exact).p_value() - 0.05).abs() < 1e-9);
    }
}
