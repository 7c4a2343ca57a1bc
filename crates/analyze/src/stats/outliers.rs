//! Values far from the others of a small sample: Rosner's generalised extreme Studentised deviate (Technometrics 25, 1983),
//! which for one outlier is Grubbs' test (Technometrics 11, 1969).
//!
//! Each step takes the value that lies farthest from the mean of the others, in standard deviations of the others: that
//! is Student's t with n − 2 degrees of freedom, tested at its share of `alpha` by Bonferroni over values and steps. What
//! is farthest is taken out and the next one looked at, so that two outliers cannot hide each other; as many as the last
//! significant step are outliers.
//!
//! Median and MAD find the same outliers in large samples. Of five values the MAD is one of the deviations itself, near
//! zero so often that its limit at the same rate of false flags is several times as wide (ADR 0026 has the figures).
//!
//! Invariant: of values of one normal law at most a share of `alpha` of samples have an outlier (simulated in the tests).

use super::student::t_law;
use super::{Refusal, check_values};
use statrs::distribution::ContinuousCDF;

/// Fewest values: four others, whose spread has three degrees of freedom.
pub const VALUES_MIN: usize = 5;

/// A value far from the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlier {
    /// Its place among the values.
    pub place: usize,
    /// Two-sided p of a value as far from the others or farther in a sample of this size, from 0 to 1.
    pub p_value: f64,
}

/// The outliers of a sample, the farthest first; at most a third of it. `scale_min` is the standard deviation that the
/// others have at least, such as the step of what measured them; above 0.
///
/// # Errors
/// [`Refusal`] where there are fewer than [`VALUES_MIN`] values, or one is not finite.
pub fn outliers(values: &[f64], alpha: f64, scale_min: f64) -> Result<Vec<Outlier>, Refusal> {
    check_values(values, VALUES_MIN)?;
    let most = (values.len() - 1) / 3;
    let mut left: Vec<usize> = (0..values.len()).collect();
    let mut found: Vec<Outlier> = Vec::new();
    let mut significant = 0;
    for step in 1..=most {
        let Some(farthest) = farthest(values, &left, scale_min) else { break };
        left.retain(|place| *place != farthest.place);
        if farthest.p_value * most as f64 <= alpha {
            significant = step;
        }
        found.push(farthest);
    }
    found.truncate(significant);
    Ok(found)
}

/// The value of `left` farthest from the others of it; `None` where a number is not finite.
fn farthest(values: &[f64], left: &[usize], scale_min: f64) -> Option<Outlier> {
    let n = left.len() as f64;
    let mut most: Option<(usize, f64)> = None;
    for place in left {
        let others = || left.iter().filter(|other| *other != place).map(|other| values[*other]);
        let mean = others().sum::<f64>() / (n - 1.0);
        let variance = others().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 2.0);
        let scale = variance.sqrt().max(scale_min) * (1.0 + 1.0 / (n - 1.0)).sqrt();
        let t = (values[*place] - mean).abs() / scale;
        if t.is_finite() && most.is_none_or(|(_, far)| t > far) {
            most = Some((*place, t));
        }
    }
    let (place, t) = most?;
    let p_value = (2.0 * n * t_law(left.len() - 2).sf(t)).clamp(0.0, 1.0);
    Some(Outlier { place, p_value })
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::{Rng, Seed};

    const STEP: f64 = 1e-6;

    fn places(values: &[f64], alpha: f64) -> Vec<usize> {
        outliers(values, alpha, STEP).unwrap().iter().map(|found| found.place).collect()
    }

    /// Grubbs' critical value for n values at `alpha`, in standard deviations of all of them, by his formula.
    fn grubbs(n: usize, alpha: f64) -> f64 {
        let (size, t) = (n as f64, super::super::student::t_quantile(1.0 - alpha / (2.0 * n as f64), n - 2));
        (size - 1.0) / size.sqrt() * (t * t / (size - 2.0 + t * t)).sqrt()
    }

    #[test]
    fn of_five_values_it_is_grubbs_test() {
        // ISO 5725-2, table 5: 1.715 and 1.887 for 5 and 6 values at 5 %, two-sided.
        assert!((grubbs(5, 0.05) - 1.715).abs() < 1e-3 && (grubbs(6, 0.05) - 1.887).abs() < 1e-3);
        for rest in [[1.0, 2.0, 3.0, 4.0], [1.0, 1.1, 2.6, 4.0]] {
            let deviate = |far: f64| {
                let all = [rest[0], rest[1], rest[2], rest[3], far];
                let mean = all.iter().sum::<f64>() / 5.0;
                let sd = (all.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 4.0).sqrt();
                (far - mean) / sd
            };
            for tenth in 40..400 {
                let far = f64::from(tenth) / 10.0;
                let all = [rest[0], rest[1], rest[2], rest[3], far];
                assert_eq!(!places(&all, 0.05).is_empty(), deviate(far) >= grubbs(5, 0.05), "{far}");
            }
        }
    }

    #[test]
    fn planted_outliers_are_found_and_two_do_not_hide_each_other() {
        let calm = [0.00, 0.01, -0.01, 0.02, -0.02, 0.005, -0.005, 0.01];
        assert!(places(&calm, 0.05).is_empty());
        let mut one = calm;
        one[3] = -0.48;
        assert_eq!(places(&one, 0.001), [3]);
        let mut two = calm;
        (two[3], two[6]) = (-0.48, -0.47);
        let mut found = places(&two, 0.01);
        found.sort_unstable();
        assert_eq!(found, [3, 6], "by one step alone neither is found");
        // Equal values have the scale of what measured them.
        assert_eq!(places(&[1.0, 1.0, 1.0, 1.0, 1.1], 0.01), [4]);
        assert!(places(&[1.0; 6], 0.05).is_empty());
        assert!(outliers(&[1.0; 4], 0.05, STEP).is_err() && outliers(&[f64::NAN; 6], 0.05, STEP).is_err());
    }

    /// How the trials of a sample spread, and the level at which they are looked at.
    #[derive(Clone, Copy, Debug)]
    enum Law {
        /// Values of a normal law: at 5 %.
        Normal,
        /// Logarithms of a log-normal law with this standard deviation: at 5 %.
        Lognormal(f64),
        /// Logarithms of values of a normal law with this coefficient of variation, which are skewed to the left: at the
        /// 4 % that a run has.
        LogOfNormal(f64),
    }

    /// The share of samples with an outlier, where none was planted.
    fn false_flags(n: usize, law: Law, samples: usize) -> f64 {
        let mut random: Rng = Seed(n as u64).rng();
        let mut draw = || match law {
            Law::Normal => 9_000.0 + 90.0 * random.normal(),
            Law::Lognormal(sd) => sd * random.normal(),
            Law::LogOfNormal(cv) => (1.0 + cv * random.normal()).max(0.01).ln(),
        };
        let alpha = if matches!(law, Law::LogOfNormal(_)) { 0.04 } else { 0.05 };
        let flagged = (0..samples).filter(|_| {
            let values: Vec<f64> = (0..n).map(|_| draw()).collect();
            !places(&values, alpha).is_empty()
        });
        flagged.count() as f64 / samples as f64
    }

    fn check_false_flags(samples: usize) {
        // Four standard deviations of the share that a test at exactly 5 % has.
        let allowed = 0.05 + 4.0 * (0.05 * 0.95 / samples as f64).sqrt();
        for n in 5..=10 {
            for law in [Law::Normal, Law::Lognormal(0.02), Law::Lognormal(0.5), Law::LogOfNormal(0.1)] {
                let share = false_flags(n, law, samples);
                println!("n = {n}, {law:?}: {:.2} % flagged", 100.0 * share);
                assert!(share <= allowed, "n = {n}, {law:?}: {share}");
            }
        }
    }

    #[test]
    fn without_outliers_at_most_one_sample_in_twenty_is_flagged() {
        check_false_flags(2_000);
    }

    #[test]
    #[ignore = "slow: 24 cases of 100,000 samples"]
    fn without_outliers_at_most_one_sample_in_twenty_is_flagged_in_full() {
        check_false_flags(100_000);
    }
}
