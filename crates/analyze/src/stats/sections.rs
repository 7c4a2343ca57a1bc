//! The interval of a value that is read from all trials together, such as a percentile of merged histograms.
//!
//! The value of the whole is not the mean of the trials' values: a percentile of few requests is biased, and that of
//! all of them n times less. What the trials say still tells how uncertain the whole is (*sectioning*: Asmussen & Glynn,
//! Stochastic Simulation, 2007, §III.5; Nakayama, ACM TOMACS 24(4), 2014): ln of the whole ± t_{n−1}·S/√n with S² = Σ (ln
//! of a trial − ln of the whole)²/(n − 1).
//!
//! Two things make this too narrow, and too narrow above rather than below. A trial that holds few independent
//! exceedances of a percentile varies less than it should, as the ones that would have been far out are missing. And
//! where the law of the trials is skewed, a low estimate comes with a low S. So where a trial holds fewer than
//! [`EXCEEDANCES_FEW`] independent exceedances, or where the trials are visibly skewed, S is the larger of the above
//! and of the standard deviation of the jackknife's pseudo-values (Tukey 1958; trials are left out whole, which is
//! consistent for quantiles: Shao & Wu, Ann. Statist. 17, 1989), and the interval is stretched to the ends that Hall's
//! cubic transformation gives (Hall, J. R. Stat. Soc. B 54, 1992), with the skewness of the pseudo-values.
//! Measured: `tests/it/tails.rs`. Absent on purpose: how whole, trials and exceedances are counted (`run::pooled`).

use super::student::{MeanTest, t_quantile};
use super::{Refusal, check_values};

/// Independent exceedances a trial below which trials alone do not show how uncertain the whole is.
pub const EXCEEDANCES_FEW: f64 = 4.0;
/// Standard errors of the skewness above which trials count as skewed.
const SKEWED: f64 = 1.5;
/// Fewest trials: below, neither spread nor skewness means anything (METHOD §3).
const TRIALS_MIN: usize = 5;

/// Logarithms of a value, read from all trials, from each, and from all but each.
#[derive(Clone, Debug, PartialEq)]
pub struct Sections {
    /// From all trials together.
    pub whole: f64,
    /// From each trial alone.
    pub each: Vec<f64>,
    /// From all but one, in the order of `each`.
    pub without: Vec<f64>,
    /// Independent observations beyond the value, a trial; infinite where the question does not arise.
    pub exceedances: f64,
}

impl Sections {
    /// The interval of the logarithm at `level` (0 to 1).
    ///
    /// # Errors
    /// [`Refusal`] with fewer than five trials, where they do not differ, or where a value is not finite.
    pub fn interval(&self, level: f64) -> Result<(f64, f64), Refusal> {
        check_values(&self.each, TRIALS_MIN)?;
        check_values(&self.without, TRIALS_MIN)?;
        check_values(&[self.whole], 1)?;
        if self.each.len() != self.without.len() {
            return Err(Refusal::Unpaired { first: self.each.len(), second: self.without.len() });
        }
        MeanTest::of_logs(&self.each)?;
        let n = self.each.len() as f64;
        let t = t_quantile(0.5 + level.clamp(0.0, 1.0) / 2.0, self.each.len() - 1);
        let about = self.each.iter().map(|log| (log - self.whole).powi(2)).sum::<f64>();
        let sections = (about / (n - 1.0)).sqrt();
        let pseudo: Vec<f64> =
            self.without.iter().map(|without| n * self.whole - (n - 1.0) * without).collect();
        let (jackknife, skewness) = spread_and_skewness(&pseudo);
        let is_skewed = skewness.abs() > SKEWED * skewness_error(n);
        if !is_skewed && self.exceedances >= EXCEEDANCES_FEW {
            let half = t * sections / n.sqrt();
            return Ok((self.whole - half, self.whole + half));
        }
        let unit = sections.max(jackknife) / n.sqrt();
        let low = t.max(hall(t, skewness, n));
        let high = (-t).min(hall(-t, skewness, n));
        Ok((self.whole - unit * low, self.whole - unit * high))
    }
}

/// Standard deviation with n − 1, and the adjusted Fisher–Pearson skewness G₁ (Joanes & Gill 1998); 0 without spread.
fn spread_and_skewness(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let moment = |power: i32| values.iter().map(|value| (value - mean).powi(power)).sum::<f64>() / n;
    let variance = moment(2);
    if variance <= 0.0 {
        return (0.0, 0.0);
    }
    let skewness = moment(3) / variance.powf(1.5) * (n * (n - 1.0)).sqrt() / (n - 2.0);
    ((variance * n / (n - 1.0)).sqrt(), if skewness.is_finite() { skewness } else { 0.0 })
}

/// Standard error of G₁ of `n` normal values (Joanes & Gill 1998).
fn skewness_error(n: f64) -> f64 {
    (6.0 * n * (n - 1.0) / ((n - 2.0) * (n + 1.0) * (n + 3.0))).sqrt()
}

/// The point of Student's statistic that belongs to the point `t` of the law without skewness: the inverse of
/// g(T) = T + γT²/(3√n) + γ²T³/(27n) + γ/(6√n).
fn hall(t: f64, skewness: f64, n: f64) -> f64 {
    if skewness.abs() < 1e-6 {
        return t;
    }
    let root = n.sqrt();
    let inner = 1.0 + skewness / root * (t - skewness / (6.0 * root));
    3.0 * root / skewness * (inner.cbrt() - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(each: &[f64], exceedances: f64) -> Sections {
        let n = each.len() as f64;
        let whole = each.iter().sum::<f64>() / n;
        let without = each.iter().map(|one| (n * whole - one) / (n - 1.0)).collect();
        Sections { whole, each: each.to_vec(), without, exceedances }
    }

    #[test]
    fn values_that_are_means_have_students_interval() {
        let each = [1.0, 2.0, 3.0, 4.0, 5.0];
        let (low, high) = of(&each, f64::INFINITY).interval(0.95).unwrap();
        let (wanted_low, wanted_high) = MeanTest::of(&each).unwrap().interval(0.95);
        assert!((low - wanted_low).abs() < 1e-12 && (high - wanted_high).abs() < 1e-12, "{low} {high}");
        // Symmetrical, so few exceedances change nothing.
        let (low, high) = of(&each, 1.0).interval(0.95).unwrap();
        assert!((low - wanted_low).abs() < 1e-9 && (high - wanted_high).abs() < 1e-9, "{low} {high}");
    }

    #[test]
    fn the_spread_is_about_the_whole_and_not_about_the_mean() {
        // Each trial reads low: the interval stands on the whole and holds what the trials miss.
        let each = [0.9, 1.0, 1.1, 1.0, 1.0];
        let sections = Sections { whole: 1.2, without: vec![1.2; 5], each: each.to_vec(), exceedances: 9.0 };
        let (low, high) = sections.interval(0.95).unwrap();
        assert!(((low + high) / 2.0 - 1.2).abs() < 1e-12);
        let s = (each.iter().map(|log: &f64| (log - 1.2).powi(2)).sum::<f64>() / 4.0).sqrt();
        assert!(((high - low) / 2.0 - 2.776_445_105 * s / 5.0_f64.sqrt()).abs() < 1e-6);
    }

    #[test]
    fn a_long_tail_above_stretches_the_upper_end() {
        let each = [0.0, 0.01, 0.02, 0.0, 0.01, 0.02, 0.01, 0.5];
        let (low, high) = of(&each, f64::INFINITY).interval(0.95).unwrap();
        let (t_low, t_high) = MeanTest::of(&each).unwrap().interval(0.95);
        assert!(high > t_high + 0.02 && low <= t_low + 1e-12, "{low} {high} for {t_low} {t_high}");
    }

    /// Hall 1992 (3): the transformation is monotone and g of its inverse is the point itself.
    #[test]
    fn the_transformation_is_inverted() {
        let g = |t: f64, skewness: f64, n: f64| {
            let root = n.sqrt();
            t + skewness * t * t / (3.0 * root)
                + skewness * skewness * t.powi(3) / (27.0 * n)
                + skewness / (6.0 * root)
        };
        for skewness in [-2.0, -0.3, 0.0, 0.7, 2.2] {
            for t in [-2.78, -1.0, 0.0, 1.0, 2.78] {
                let back = g(hall(t, skewness, 5.0), skewness, 5.0);
                assert!((back - t).abs() < 1e-9, "{t} {skewness}: {back}");
            }
        }
    }

    #[test]
    fn what_has_no_interval_is_refused() {
        assert_eq!(of(&[1.0, 2.0], 9.0).interval(0.95), Err(Refusal::TooFew { needed: 5, had: 2 }));
        assert_eq!(of(&[1.0; 6], 9.0).interval(0.95), Err(Refusal::NoSpread { had: 6 }));
        assert_eq!(of(&[1.0, 2.0, 3.0, 4.0, f64::NAN], 9.0).interval(0.95), Err(Refusal::NotFinite));
    }
}
