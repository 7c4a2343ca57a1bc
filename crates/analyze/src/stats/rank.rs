//! Ranks with ties, and Spearman's rank correlation (Spearman, Am. J. Psychol. 15, 1904).

use super::{Refusal, check_values};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Up to this many values p is counted over all orders (8! = 40,320); beyond, by Student's t.
const EXACT_MAX: usize = 8;

/// A rank correlation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spearman {
    /// From −1 to 1.
    pub rho: f64,
    /// Two-sided p of no association.
    pub p_value: f64,
}

/// Correlation of the values with their position: does the series rise or fall?
///
/// # Errors
/// [`Refusal`] with fewer than five values (no p could be below 5 %), equal ones, or ones that are not finite.
pub fn trend(values: &[f64]) -> Result<Spearman, Refusal> {
    check_values(values, 5)?;
    let n = values.len();
    let mut ranks = mid_ranks(values);
    let rho = with_position(&ranks);
    if !rho.is_finite() {
        return Err(Refusal::NoSpread { had: n });
    }
    let p_value = if n <= EXACT_MAX { p_by_counting(&mut ranks, rho) } else { p_by_student(rho, n) };
    Ok(Spearman { rho, p_value })
}

/// Ranks from 1 in the order given; equal values share the mean of their ranks.
fn mid_ranks(values: &[f64]) -> Vec<f64> {
    values
        .iter()
        .map(|value| {
            let below = values.iter().filter(|other| *other < value).count();
            let equal = values.iter().filter(|other| *other == value).count();
            below as f64 + (equal as f64 + 1.0) / 2.0
        })
        .collect()
}

/// Pearson's correlation of the ranks with 1…n; NaN where all ranks are equal.
fn with_position(ranks: &[f64]) -> f64 {
    let middle = (ranks.len() as f64 + 1.0) / 2.0;
    let (mut product, mut position_squares, mut rank_squares) = (0.0, 0.0, 0.0);
    for (index, rank) in ranks.iter().enumerate() {
        let (x, y) = (index as f64 + 1.0 - middle, rank - middle);
        product += x * y;
        position_squares += x * x;
        rank_squares += y * y;
    }
    product / (position_squares * rank_squares).sqrt()
}

/// The share of all orders with a correlation at least as far from 0.
fn p_by_counting(ranks: &mut [f64], rho: f64) -> f64 {
    let (mut all, mut as_far) = (0_u32, 0_u32);
    every_order(ranks, ranks.len(), &mut |order| {
        all += 1;
        as_far += u32::from(with_position(order).abs() >= rho.abs() - 1e-9);
    });
    f64::from(as_far) / f64::from(all)
}

/// Heap's algorithm: calls `visit` once for each order of the first `length` items.
fn every_order(items: &mut [f64], length: usize, visit: &mut impl FnMut(&[f64])) {
    if length <= 1 {
        visit(items);
        return;
    }
    for index in 0..length {
        every_order(items, length - 1, visit);
        let other = if length.is_multiple_of(2) { index } else { 0 };
        if index + 1 < length {
            items.swap(other, length - 1);
        }
    }
}

/// t = ρ √((n − 2)/(1 − ρ²)) with n − 2 degrees of freedom.
fn p_by_student(rho: f64, n: usize) -> f64 {
    let freedom = n as f64 - 2.0;
    let t = rho.abs() * (freedom / (1.0 - rho * rho).max(f64::MIN_POSITIVE)).sqrt();
    let law = StudentsT::new(0.0, 1.0, freedom).expect("more than two values");
    (2.0 * law.sf(t)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[f64], rho: f64, p_value: f64) {
        let got = trend(values).unwrap();
        assert!((got.rho - rho).abs() < 1e-9 && (got.p_value - p_value).abs() < 1e-9, "{got:?}");
    }

    #[test]
    fn small_samples_agree_with_counting_by_scipy() {
        // scipy.stats.permutation_test(…, permutation_type="pairings", n_resamples=inf) 1.17.1.
        check(&[1.0, 2.0, 3.0, 4.0, 5.0], 1.0, 1.0 / 60.0);
        check(&[5.0, 4.0, 3.0, 2.0, 1.0], -1.0, 1.0 / 60.0);
        check(&[2.0, 1.0, 4.0, 3.0, 5.0], 0.8, 2.0 / 15.0);
    }

    #[test]
    fn larger_samples_agree_with_spearmanr_of_scipy() {
        // Hours of television by rising IQ, the worked example of Wikipedia's article: rho = -29/165.
        // IQ 86, 97, 99, 100, 101, 103, 106, 110, 112, 113 watch 2, 20, 28, 27, 50, 29, 7, 17, 6, 12 hours.
        let television = [2.0, 20.0, 28.0, 27.0, 50.0, 29.0, 7.0, 17.0, 6.0, 12.0];
        check(&television, -29.0 / 165.0, 0.627_188_344_776_484_6);
    }

    #[test]
    fn ties_share_their_ranks_and_constants_are_refused() {
        assert_eq!(mid_ranks(&[3.0, 1.0, 3.0, 2.0]), [3.5, 1.0, 3.5, 2.0]);
        assert_eq!(trend(&[1.0; 5]), Err(Refusal::NoSpread { had: 5 }));
        assert_eq!(trend(&[1.0, 2.0, 3.0, 4.0]), Err(Refusal::TooFew { needed: 5, had: 4 }));
        assert_eq!(trend(&[1.0, 2.0, 3.0, f64::NAN]), Err(Refusal::NotFinite));
    }

    #[test]
    fn heaps_algorithm_visits_every_order_once() {
        let mut seen = std::collections::BTreeSet::new();
        let mut visits = 0;
        every_order(&mut [1.0, 2.0, 3.0, 4.0], 4, &mut |order| {
            visits += 1;
            seen.insert(order.iter().map(|item| *item as u32).collect::<Vec<_>>());
        });
        assert_eq!((visits, seen.len()), (24, 24));
    }
}
