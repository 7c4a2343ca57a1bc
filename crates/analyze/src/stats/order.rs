//! Order statistics: the rank of a quantile, and the median.

/// The rank, from 1 to `n`, of the smallest observation with at least the share `quantile` at or below it:
/// ⌈q·n⌉. A product that exceeds a whole number by rounding only is taken as that number. `n` = 0 gives 1.
#[must_use]
pub fn rank_of(quantile: f64, n: u64) -> u64 {
    let exact = quantile.clamp(0.0, 1.0) * n as f64;
    ((exact * (1.0 - 1e-12)).ceil() as u64).clamp(1, n.max(1))
}

/// The median of finite values in any order; `None` without values.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    median_of_sorted(&sorted)
}

/// The median of values in rising order; `None` without values.
pub(super) fn median_of_sorted(sorted: &[f64]) -> Option<f64> {
    let upper = *sorted.get(sorted.len() / 2)?;
    let lower = sorted[(sorted.len() - 1) / 2];
    Some(lower / 2.0 + upper / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_ceilings_without_rounding_noise() {
        for (quantile, n, rank) in [
            (0.5, 4, 2),
            (0.5, 5, 3),
            (0.99, 30_000, 29_700),
            (0.999, 300_000, 299_700),
            (0.9, 10, 9),
            (0.0, 10, 1),
            (1.0, 10, 10),
            (0.5, 0, 1),
            (f64::NAN, 10, 1),
        ] {
            assert_eq!(rank_of(quantile, n), rank, "{quantile} of {n}");
        }
    }

    #[test]
    fn medians() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&[f64::MAX, f64::MAX]), Some(f64::MAX));
        assert_eq!(median(&[]), None);
    }
}
