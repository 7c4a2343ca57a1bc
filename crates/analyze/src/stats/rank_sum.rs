//! The shift between two samples: Hodges–Lehmann estimate and the rank-sum interval (Hodges and Lehmann, Annals of
//! Mathematical Statistics 34, 1963; Hollander and Wolfe, Nonparametric Statistical Methods, 2nd ed. 1999, ch. 4).
//!
//! The interval runs from the k-th smallest to the k-th largest of all differences x − y, with k the lower point of the
//! rank-sum law as R's `qwilcox` has it; exact with fewer than 50 values on each side, else by the normal law.

use super::order::median_of_sorted;
use super::{Refusal, check_values};
use statrs::distribution::{ContinuousCDF, Normal};

/// From this many values on a side the normal law is used, as in R's `wilcox.test`.
const EXACT_BELOW: usize = 50;
/// Most values on a side: all differences are kept.
const VALUES_MAX: usize = 2_000;

/// How far one sample lies above another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shift {
    /// Median of all differences, first minus second.
    pub estimate: f64,
    /// Lower and upper end; `None` where the values are too few for any at this level.
    pub interval: Option<(f64, f64)>,
}

/// The shift of `a` against `b` with its interval at `level` (0 to 1).
///
/// # Errors
/// [`Refusal`] without values, with more than 2,000 on a side, or with one that is not finite.
pub fn shift(a: &[f64], b: &[f64], level: f64) -> Result<Shift, Refusal> {
    check_values(a, 1)?;
    check_values(b, 1)?;
    if let Some(had) = [a.len(), b.len()].into_iter().find(|had| *had > VALUES_MAX) {
        return Err(Refusal::TooMany { most: VALUES_MAX, had });
    }
    let mut differences: Vec<f64> = a.iter().flat_map(|x| b.iter().map(move |y| x - y)).collect();
    differences.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - level.clamp(0.0, 1.0)) / 2.0;
    let rank = if a.len() < EXACT_BELOW && b.len() < EXACT_BELOW {
        exact_rank(a.len(), b.len(), tail)
    } else {
        normal_rank(a.len(), b.len(), tail)
    };
    let interval = rank.checked_sub(1).and_then(|low| {
        let high = differences.len().checked_sub(rank)?;
        (low <= high).then(|| (differences[low], differences[high]))
    });
    let estimate = median_of_sorted(&differences).ok_or(Refusal::TooFew { needed: 1, had: 0 })?;
    Ok(Shift { estimate, interval })
}

/// The smallest x with P(U ≤ x) ≥ `tail`; 0 is none.
fn exact_rank(m: usize, n: usize, tail: f64) -> usize {
    let law = law(m, n);
    let mut cumulated = 0.0;
    let found = law.iter().position(|probability| {
        cumulated += probability;
        cumulated >= tail
    });
    found.unwrap_or(0)
}

/// P(U = u): U(m, n) is n more than U(m − 1, n) where the largest value is of the first sample, of chance m/(m + n), else
/// U(m, n − 1).
fn law(m: usize, n: usize) -> Vec<f64> {
    // One row of the table over n for each m.
    let mut row: Vec<Vec<f64>> = vec![vec![1.0]; n + 1];
    for i in 1..=m {
        let mut next: Vec<Vec<f64>> = vec![vec![1.0]];
        for j in 1..=n {
            let mut of = vec![0.0; i * j + 1];
            let (first, second) = (i as f64 / (i + j) as f64, j as f64 / (i + j) as f64);
            row[j].iter().enumerate().for_each(|(u, chance)| of[u + j] += first * chance);
            next[j - 1].iter().enumerate().for_each(|(u, chance)| of[u] += second * chance);
            next.push(of);
        }
        row = next;
    }
    row.swap_remove(n)
}

/// The same by the normal law, rounded down so that the interval errs to the wide side.
fn normal_rank(m: usize, n: usize, tail: f64) -> usize {
    if !(tail > 0.0 && tail < 0.5) {
        return 0;
    }
    let (m, n) = (m as f64, n as f64);
    let rank = m * n / 2.0 + Normal::standard().inverse_cdf(tail) * (m * n * (m + n + 1.0) / 12.0).sqrt();
    if rank >= 1.0 { rank as usize } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(a: &[f64], b: &[f64], level: f64, wanted: (f64, f64, f64)) {
        let found = shift(a, b, level).unwrap();
        let (low, high) = found.interval.unwrap();
        for (got, wanted) in [(found.estimate, wanted.0), (low, wanted.1), (high, wanted.2)] {
            assert!((got - wanted).abs() < 1e-9, "{found:?}: {got} is not {wanted}");
        }
    }

    #[test]
    fn permeability_agrees_with_the_book() {
        // Hollander and Wolfe, Table 4.1, Examples 4.2 and 4.4: estimate 0.305; the ends by counting in Python.
        let a = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
        let b = [1.15, 0.88, 0.90, 0.74, 1.21];
        check(&a, &b, 0.95, (0.305, -0.15, 0.76));
        check(&a, &b, 0.9, (0.305, -0.08, 0.72));
    }

    #[test]
    fn sleep_agrees_with_counting() {
        // R's wilcox.test(extra ~ group, sleep, conf.int = TRUE) gives about -1.346, -3.600 and 0.100 by the normal law.
        let a = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let b = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
        check(&a, &b, 0.95, (-1.35, -3.6, 0.1));
    }

    #[test]
    fn exact_ranks_agree_with_qwilcox() {
        // qwilcox(0.025, m, n) and qwilcox(0.05, m, n), by counting in Python.
        for (m, n, at_95, at_90) in
            [(3, 3, 0, 0), (4, 4, 1, 2), (5, 5, 3, 5), (5, 10, 9, 12), (10, 10, 24, 28), (7, 12, 19, 22)]
        {
            assert_eq!((exact_rank(m, n, 0.025), exact_rank(m, n, 0.05)), (at_95, at_90), "{m}, {n}");
        }
    }

    #[test]
    fn too_few_values_have_an_estimate_and_no_interval() {
        let found = shift(&[3.0, 4.0], &[1.0, 2.0], 0.95).unwrap();
        assert_eq!(found, Shift { estimate: 2.0, interval: None });
        assert_eq!(shift(&[], &[1.0], 0.95), Err(Refusal::TooFew { needed: 1, had: 0 }));
        assert_eq!(shift(&[f64::NAN], &[1.0], 0.95), Err(Refusal::NotFinite));
        assert_eq!(shift(&vec![0.0; 2_001], &[1.0], 0.95), Err(Refusal::TooMany { most: 2_000, had: 2_001 }));
    }

    #[test]
    fn laws_are_laws() {
        for (m, n) in [(1, 1), (3, 5), (10, 10), (49, 49)] {
            let law = law(m, n);
            assert_eq!(law.len(), m * n + 1);
            assert!((law.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert!(law.iter().zip(law.iter().rev()).all(|(a, b)| (a - b).abs() < 1e-12), "symmetric");
        }
    }
}
