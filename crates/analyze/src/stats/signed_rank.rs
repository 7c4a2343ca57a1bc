//! The Hodges–Lehmann estimate of a centre of symmetry and its interval by Wilcoxon's signed-rank statistic.
//!
//! Source: Hollander, Wolfe & Chicken, *Nonparametric Statistical Methods*, 3rd ed. 2014, §3.1–3.3 (estimate 3.23,
//! interval 3.27–3.28, large samples 3.31). The interval needs symmetry but no normal law. Zeros and ties are kept.

use super::order::median_of_sorted;
use super::{Refusal, check_values};
use statrs::distribution::{ContinuousCDF, Normal};

/// Up to this many values the distribution of the signed-rank statistic is counted out, as R does; beyond, the normal
/// law is within one Walsh average of it.
const EXACT_MAX: usize = 50;

/// The estimate with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HodgesLehmann {
    /// Median of the Walsh averages.
    pub estimate: f64,
    /// Lower end; `None` is unbounded: n is too small for any bounded interval at this level.
    pub low: Option<f64>,
    /// Upper end; as `low`.
    pub high: Option<f64>,
    /// Whether the exact distribution was used.
    pub exact: bool,
}

/// The estimate and its interval at `level` (0 to 1) or the next higher level that exists.
///
/// At 95 % six values are the fewest with a bounded interval: with five the widest one, from the smallest to the
/// largest value, covers 93.75 % only.
///
/// # Errors
/// [`Refusal`] without values, or where one is not finite.
pub fn hodges_lehmann(values: &[f64], level: f64) -> Result<HodgesLehmann, Refusal> {
    check_values(values, 1)?;
    let walsh = walsh_averages(values);
    let exact = values.len() <= EXACT_MAX;
    let tail = (1.0 - level) / 2.0;
    let rank = if exact { exact_rank(values.len(), tail) } else { normal_rank(values.len(), tail) };
    let ends = rank.checked_sub(1).and_then(|index| {
        let other = walsh.len().checked_sub(rank)?;
        (index <= other).then(|| (walsh[index], walsh[other]))
    });
    Ok(HodgesLehmann {
        estimate: median_of_sorted(&walsh).ok_or(Refusal::TooFew { needed: 1, had: 0 })?,
        low: ends.map(|ends| ends.0),
        high: ends.map(|ends| ends.1),
        exact,
    })
}

/// The means of all pairs, each value with itself included, in rising order: n(n+1)/2 of them.
fn walsh_averages(values: &[f64]) -> Vec<f64> {
    let mut walsh: Vec<f64> = values
        .iter()
        .enumerate()
        .flat_map(|(i, first)| values[i..].iter().map(move |second| first / 2.0 + second / 2.0))
        .collect();
    walsh.sort_unstable_by(f64::total_cmp);
    walsh
}

/// The rank, from 1, of the Walsh average at the lower end: the smallest x with P(T⁺ ≤ x) ≥ `tail`; 0 is none.
///
/// T⁺ is a sum of 1…n with each term in or out by a fair coin, so its law is the product of (1 + z^k)/2. The law is
/// symmetric, and its lower half is enough for a tail below one half.
fn exact_rank(n: usize, tail: f64) -> usize {
    let half = n * (n + 1) / 4;
    let mut law = vec![0.0; half + 1];
    law[0] = 1.0;
    for term in 1..=n {
        for sum in (0..=half).rev() {
            let without = law[sum];
            let with = sum.checked_sub(term).map_or(0.0, |rest| law[rest]);
            law[sum] = (without + with) / 2.0;
        }
    }
    let mut cumulated = 0.0;
    law.iter()
        .position(|probability| {
            cumulated += probability;
            cumulated >= tail
        })
        .unwrap_or(0)
}

/// The same by the normal law, rounded down so that the interval errs to the wide side.
fn normal_rank(n: usize, tail: f64) -> usize {
    if !(tail > 0.0 && tail < 0.5) {
        return 0;
    }
    let n = n as f64;
    let mean = n * (n + 1.0) / 4.0;
    let sd = (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt();
    let rank = mean + Normal::standard().inverse_cdf(tail) * sd;
    if rank >= 1.0 { rank as usize } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[f64], level: f64, estimate: f64, ends: Option<(f64, f64)>) {
        let got = hodges_lehmann(values, level).unwrap();
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(near(got.estimate, estimate), "{got:?}");
        match (got.low.zip(got.high), ends) {
            (Some(got), Some(wanted)) => assert!(near(got.0, wanted.0) && near(got.1, wanted.1), "{got:?}"),
            (got, wanted) => assert_eq!(got, wanted),
        }
    }

    /// Hollander & Wolfe, Table 3.1: Hamilton depression scale factor IV, nine patients, second minus first visit.
    /// The book (Examples 3.3 and 3.4): estimate −0.46, interval (−0.786, −0.010); R's `wilcox.test` agrees.
    const DEPRESSION: [f64; 9] = [-0.952, 0.147, -1.022, -0.43, -0.62, -0.59, -0.49, 0.08, -0.01];

    #[test]
    fn the_textbook_interval_is_met() {
        check(&DEPRESSION, 0.95, -0.46, Some((-0.786, -0.010)));
    }

    #[test]
    fn darwins_maize_agrees_with_counting_in_python() {
        // Eighths of an inch. n = 15: qsignrank(0.025) = 26 of 120 Walsh averages; estimate 3.125 inches.
        let maize = [49., -67., 8., 16., 6., 23., 28., 41., 14., 29., 56., 24., 75., 60., -48.];
        check(&maize, 0.95, 25.0, Some((4.0, 41.5)));
    }

    #[test]
    fn five_values_have_no_bounded_95_percent_interval_but_a_90_percent_one() {
        let values = [1.0, 2.0, 3.0, 5.0, 9.0];
        check(&values, 0.95, 3.5, None);
        check(&values, 0.9, 3.5, Some((1.0, 9.0)));
    }

    #[test]
    fn exact_ranks_agree_with_qsignrank_of_r() {
        for (n, at_95, at_90) in [
            (5, 0, 1),
            (6, 1, 3),
            (8, 4, 6),
            (9, 6, 9),
            (10, 9, 11),
            (15, 26, 31),
            (20, 53, 61),
            (25, 90, 101),
            (30, 138, 152),
            (50, 435, 467),
        ] {
            assert_eq!((exact_rank(n, 0.025), exact_rank(n, 0.05)), (at_95, at_90), "n = {n}");
        }
    }

    #[test]
    fn beyond_the_exact_range_the_normal_law_is_within_one_walsh_average() {
        // qsignrank(0.025, 60) = 649 by counting; the normal law gives 648.8.
        assert_eq!(normal_rank(60, 0.025), 648);
        assert_eq!(normal_rank(60, 0.0), 0);
        let values: Vec<f64> = (0..60).map(f64::from).collect();
        let got = hodges_lehmann(&values, 0.95).unwrap();
        assert!(!got.exact && got.low.unwrap() < 29.5 && got.high.unwrap() > 29.5);
        assert!((got.estimate - 29.5).abs() < 1e-12);
    }

    #[test]
    fn no_values_and_infinite_values_are_refused() {
        assert_eq!(hodges_lehmann(&[], 0.95), Err(Refusal::TooFew { needed: 1, had: 0 }));
        assert_eq!(hodges_lehmann(&[f64::INFINITY], 0.95), Err(Refusal::NotFinite));
    }
}
