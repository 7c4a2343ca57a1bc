//! Welch's t: the difference of two means of unequal spread (Welch, Biometrika 34, 1947), with the degrees of freedom of
//! Satterthwaite (Biometrics Bulletin 2, 1946). The t law itself comes from `statrs`.

use super::Refusal;
use super::student::MeanTest;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The difference of two means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Welch {
    /// Mean of the first minus mean of the second.
    pub difference: f64,
    /// Its standard error, above 0.
    pub standard_error: f64,
    /// Degrees of freedom, 1 or more, seldom whole.
    pub freedom: f64,
}

impl Welch {
    /// From logarithms of at least two values on each side.
    ///
    /// # Errors
    /// [`Refusal`] where a side has fewer, a value is not finite, or the values of both sides do not differ. One side
    /// without spread is no obstacle.
    pub fn of_logs(a: &[f64], b: &[f64]) -> Result<Self, Refusal> {
        let (first, second) = (side(a)?, side(b)?);
        let (va, vb) = (first.1.powi(2) / first.2, second.1.powi(2) / second.2);
        let variance = va + vb;
        if variance <= 0.0 {
            return Err(Refusal::NoSpread { had: a.len().min(b.len()) });
        }
        let freedom = variance.powi(2) / (va.powi(2) / (first.2 - 1.0) + vb.powi(2) / (second.2 - 1.0));
        let found = Self {
            difference: first.0 - second.0,
            standard_error: variance.sqrt(),
            freedom: freedom.max(1.0),
        };
        let all = [found.difference, found.standard_error, found.freedom];
        if all.iter().all(|value| value.is_finite()) { Ok(found) } else { Err(Refusal::NotFinite) }
    }

    /// Two-sided interval of the difference at `level` (0 to 1).
    #[must_use]
    pub fn interval(&self, level: f64) -> (f64, f64) {
        let tail = 0.5 + level.clamp(0.0, 1.0) / 2.0;
        let t = if tail >= 1.0 { f64::INFINITY } else { self.law().inverse_cdf(tail) };
        (self.difference - t * self.standard_error, self.difference + t * self.standard_error)
    }

    /// Two-sided p of the hypothesis that the true difference is 0.
    #[must_use]
    pub fn p_value(&self) -> f64 {
        (2.0 * self.law().sf(self.difference.abs() / self.standard_error)).clamp(0.0, 1.0)
    }

    fn law(&self) -> StudentsT {
        StudentsT::new(0.0, 1.0, self.freedom).expect("scale and freedom are positive")
    }
}

/// Mean, standard deviation (0 where the values do not differ but for rounding) and count.
fn side(logs: &[f64]) -> Result<(f64, f64, f64), Refusal> {
    match MeanTest::of_logs(logs) {
        Ok(test) => Ok((test.mean, test.sd, test.n as f64)),
        Err(Refusal::NoSpread { had }) => Ok((logs[0], 0.0, had as f64)),
        Err(other) => Err(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(a: &[f64], b: &[f64], freedom: f64, p: f64, (low, high): (f64, f64)) {
        let found = Welch::of_logs(a, b).unwrap();
        let interval = found.interval(0.95);
        for (got, wanted) in
            [(found.freedom, freedom), (found.p_value(), p), (interval.0, low), (interval.1, high)]
        {
            assert!((got - wanted).abs() < 1e-8 * wanted.abs().max(1.0), "{got} is not {wanted}");
        }
    }

    #[test]
    fn sleep_agrees_with_r_and_scipy() {
        // Student 1908. R: t.test(extra ~ group, sleep) prints df = 17.776, p = 0.07939, (-3.3654832, 0.2054832);
        // digits of scipy.stats.ttest_ind 1.17.1 with equal_var=False.
        let a = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let b = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
        let ends = (-3.365_483_230_711_710_4, 0.205_483_230_711_711_37);
        check(&a, &b, 17.776_473_516_178_488, 0.079_394_140_187_358_3, ends);
    }

    #[test]
    fn unequal_sizes_agree_with_scipy() {
        // Permeability of membranes, Hollander and Wolfe, Table 4.1.
        let a = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
        let b = [1.15, 0.88, 0.90, 0.74, 1.21];
        let ends = (-0.019_724_996_335_103_94, 0.693_724_996_335_103_9);
        check(&a, &b, 12.970_538_443_257_544, 0.062_101_343_781_078_47, ends);
    }

    #[test]
    fn what_has_no_answer_is_refused() {
        assert_eq!(Welch::of_logs(&[1.0], &[1.0, 2.0]), Err(Refusal::TooFew { needed: 2, had: 1 }));
        assert_eq!(Welch::of_logs(&[1.0, 2.0], &[]), Err(Refusal::TooFew { needed: 2, had: 0 }));
        assert_eq!(Welch::of_logs(&[1.0; 3], &[2.0; 4]), Err(Refusal::NoSpread { had: 3 }));
        assert_eq!(Welch::of_logs(&[1.0, f64::NAN], &[1.0, 2.0]), Err(Refusal::NotFinite));
        let one_sided = Welch::of_logs(&[1.0; 3], &[2.0, 2.5, 3.0]).unwrap();
        assert!((one_sided.freedom - 2.0).abs() < 1e-12, "all of the spread is the second's");
    }
}
