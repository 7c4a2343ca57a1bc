//! Order statistics: the rank of a quantile, the ranks that its true value lies between, and the median.

/// The rank, from 1 to `n`, of the smallest observation with at least the share `quantile` at or below it:
/// ⌈q·n⌉. A product that exceeds a whole number by rounding only is taken as that number. `n` = 0 gives 1.
#[must_use]
pub fn rank_of(quantile: f64, n: u64) -> u64 {
    let exact = quantile.clamp(0.0, 1.0) * n as f64;
    ((exact * (1.0 - 1e-12)).ceil() as u64).clamp(1, n.max(1))
}

/// Chance that a rank interval misses the true quantile on one side; both sides make 95 % (METHOD §4).
const MISSES: f64 = 0.025;
/// Above it the chance that no value lies beyond the quantile is too small for a double to start sums from.
const LN_NONE_MAX: f64 = 700.0;
/// Two-sided 95 % of the normal law.
const Z: f64 = 1.959_963_984_540_054;

/// Ranks, from 1, between whose values the true quantile lies with 95 %, if the values are independent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ranks {
    /// `None` where the values are too few for a lower end.
    pub low: Option<u64>,
    /// `None` where they are too few for an upper end.
    pub high: Option<u64>,
}

/// The narrowest ranks l < u with P(X < l) ≤ 2.5 % and P(X ≥ u) ≤ 2.5 %, where X ~ Bin(`n`, `quantile`) values lie at
/// or below the true quantile (David & Nagaraja, Order Statistics, 3rd ed., §7.1).
///
/// Exact as far as sums can start at the chance of none; beyond, by the normal law with continuity correction, which is
/// off by at most a rank there.
#[must_use]
pub fn ranks_of(quantile: f64, n: u64) -> Ranks {
    let quantile = if quantile.is_nan() { 1.0 } else { quantile.clamp(0.0, 1.0) };
    let (fewest, most) = beyond(quantile, n);
    let low = n.saturating_sub(most);
    Ranks { low: (low > 0).then_some(low), high: fewest.map(|fewest| n - fewest) }
}

/// Of `n` values, how many lie beyond the quantile: the largest number that is exceeded with 97.5 %, and the smallest
/// that is not exceeded with 97.5 %.
fn beyond(quantile: f64, n: u64) -> (Option<u64>, u64) {
    let share = 1.0 - quantile;
    let ln_none = n as f64 * quantile.ln();
    if -ln_none > LN_NONE_MAX {
        let (mean, sd) = (n as f64 * share, (n as f64 * share * quantile).sqrt());
        let below = mean - Z * sd - 0.5;
        let fewest = (below >= 0.0).then_some(below as u64);
        return (fewest, ((mean + Z * sd - 0.5).ceil() as u64).min(n));
    }
    // Sums of the binomial law from 0 on; a library's incomplete beta function has too few terms for large n.
    let (mut chance, mut sum, mut fewest) = (ln_none.exp(), 0.0, None);
    for count in 0..=n {
        sum += chance;
        if sum <= MISSES {
            fewest = Some(count);
        }
        if sum >= 1.0 - MISSES {
            return (fewest, count);
        }
        chance *= (n - count) as f64 / (count + 1) as f64 * share / quantile;
    }
    (fewest, n)
}

/// Fewest values that give a quantile an upper end: the smallest n with `quantile`ⁿ ≤ 2.5 %.
///
/// A quantile that no number of values bounds (1 and above, or NaN) has `u64::MAX`.
#[must_use]
pub fn fewest_for(quantile: f64) -> u64 {
    if quantile.is_nan() || quantile >= 1.0 {
        return u64::MAX;
    }
    if quantile <= 0.0 {
        return 1;
    }
    (MISSES.ln() / quantile.ln()).ceil() as u64
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

/// The value in the middle, of an even number the lower of two: one that was there. `None` without values.
pub(crate) fn lower_median(values: impl Iterator<Item = u64>) -> Option<u64> {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    values.get(values.len().saturating_sub(1) / 2).copied()
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
    fn fewest_values_for_an_upper_end() {
        for (quantile, fewest) in [
            (0.5, 6),
            (0.9, 36),
            (0.95, 72),
            (0.99, 368),
            (0.999, 3_688),
            (0.9999, 36_887),
            (0.0, 1),
            (1.0, u64::MAX),
            (f64::NAN, u64::MAX),
        ] {
            assert_eq!(fewest_for(quantile), fewest, "{quantile}");
            if fewest < u64::MAX && fewest > 1 {
                assert!(ranks_of(quantile, fewest).high.is_some(), "{quantile}");
                assert_eq!(ranks_of(quantile, fewest - 1).high, None, "{quantile}");
            }
        }
    }

    /// The tables of David & Nagaraja and R's `qbinom(c(.025, .975), n, q) + c(0, 1)`.
    #[test]
    fn ranks_are_those_of_the_binomial_law() {
        for (quantile, n, low, high) in [
            (0.5, 5, None, None),
            (0.5, 6, Some(1), Some(6)),
            (0.5, 10, Some(2), Some(9)),
            (0.5, 100, Some(40), Some(61)),
            (0.9, 36, Some(29), Some(36)),
            (0.99, 160, Some(156), None),
            (0.99, 1_000, Some(983), Some(997)),
            (0.0, 10, None, Some(1)),
            (0.5, 0, None, None),
        ] {
            assert_eq!(ranks_of(quantile, n), Ranks { low, high }, "{quantile} of {n}");
        }
    }

    #[test]
    fn both_ways_of_reckoning_agree_where_they_meet() {
        for quantile in [0.5_f64, 0.9, 0.99, 0.999] {
            let meet = (LN_NONE_MAX / -quantile.ln()) as u64;
            let (exact, normal) = (ranks_of(quantile, meet), ranks_of(quantile, meet + 2));
            for (exact, normal) in [(exact.low, normal.low), (exact.high, normal.high)] {
                assert!(exact.unwrap().abs_diff(normal.unwrap()) <= 3, "{quantile}: {exact:?} {normal:?}");
            }
        }
        let ranks = ranks_of(0.999, 1 << 60);
        assert!(ranks.low < ranks.high && ranks.high < Some(1 << 60));
    }

    /// Of samples whose true quantile is known, the interval holds it in 95 % or a little more.
    #[test]
    fn the_interval_holds_the_true_quantile_as_often_as_it_says() {
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        for (quantile, n) in [(0.5, 40), (0.9, 100), (0.99, 500)] {
            let ranks = ranks_of(quantile, n);
            let (low, high) = (ranks.low.unwrap() as usize, ranks.high.unwrap() as usize);
            let held = (0..2_000)
                .filter(|_| {
                    let mut values: Vec<f64> = (0..n).map(|_| uniform()).collect();
                    values.sort_by(f64::total_cmp);
                    (values[low - 1]..=values[high - 1]).contains(&quantile)
                })
                .count();
            assert!((1_870..=1_990).contains(&held), "{quantile} of {n}: {held} of 2,000");
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
