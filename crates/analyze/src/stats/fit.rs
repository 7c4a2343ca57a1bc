//! Goodness of fit of a sample to a law, and the order of its values (METHOD §2).

use super::{Refusal, check_values};
use schema::load::{AndersonDarling, SerialCorrelation};

/// Largest D that chance brings in one sample of a thousand, times √n (Kolmogorov 1933, asymptotic; Smirnov's table).
pub const KOLMOGOROV_999: f64 = 1.949;
/// Two-sided standard normal deviate of one in a thousand.
pub const NORMAL_999: f64 = 3.291;
/// Limits of A²(1 + 0.6/n) for the exponential law with estimated mean at 5 % and 1 % (METHOD §2; Stephens, JASA 69,
/// 1974, as in SciPy; D'Agostino & Stephens 1986, table 4.14, have 1.321 and 1.959: ADR 0024).
const EXPONENTIAL_LIMITS: (f64, f64) = (1.341, 1.957);

/// Kolmogorov–Smirnov: the largest distance between the empirical distribution of `sorted` and `cdf`. From 0 to 1.
///
/// # Errors
/// [`Refusal`] without values or with ones that are not finite.
pub fn ks_distance(sorted: &[f64], cdf: impl Fn(f64) -> f64) -> Result<f64, Refusal> {
    check_values(sorted, 1)?;
    let n = sorted.len() as f64;
    Ok(sorted.iter().enumerate().fold(0.0, |worst: f64, (below, value)| {
        let share = cdf(*value);
        worst.max(share - below as f64 / n).max((below as f64 + 1.0) / n - share)
    }))
}

/// Anderson–Darling against the exponential law with the mean of the sample. Values of 0 count as `resolution`.
///
/// # Errors
/// [`Refusal`] with fewer than five values, ones that are not finite, or only zeros.
pub fn anderson_darling_exponential(sorted: &[f64], resolution: f64) -> Result<AndersonDarling, Refusal> {
    check_values(sorted, 5)?;
    let n = sorted.len() as f64;
    let mean = sorted.iter().sum::<f64>() / n;
    if mean <= 0.0 {
        return Err(Refusal::NoSpread { had: sorted.len() });
    }
    // ln F(x) and, counted from the other end, ln(1 − F(x)) = −x/mean.
    let sum: f64 = (0..sorted.len())
        .map(|index| {
            let log_below = (-(-sorted[index].max(resolution) / mean).exp_m1()).ln();
            let log_above = -sorted[sorted.len() - 1 - index] / mean;
            (2.0 * index as f64 + 1.0) * (log_below + log_above)
        })
        .sum();
    let a2 = (-n - sum / n) * (1.0 + 0.6 / n);
    Ok(AndersonDarling { a2, limit_5: EXPONENTIAL_LIMITS.0, limit_1: EXPONENTIAL_LIMITS.1 })
}

/// Spearman's correlation between each value and the next one of the same series.
///
/// The effective n is the number of pairs: values at the seam of two series are no neighbours and make none.
///
/// # Errors
/// [`Refusal`] with fewer than five pairs, equal values, or ones that are not finite.
pub fn lag_one(series: &[Vec<f64>]) -> Result<SerialCorrelation, Refusal> {
    let pairs = || series.iter().flat_map(|values| values.windows(2));
    let first: Vec<f64> = pairs().map(|pair| pair[0]).collect();
    let second: Vec<f64> = pairs().map(|pair| pair[1]).collect();
    check_values(&first, 5)?;
    check_values(&second, 5)?;
    let rho = correlation(&mid_ranks(&first), &mid_ranks(&second));
    if !rho.is_finite() {
        return Err(Refusal::NoSpread { had: first.len() });
    }
    Ok(SerialCorrelation { rho, expected: 0.0, limit: 0.0, n_effective: first.len() as u64 })
}

/// Ranks from 1; equal values share the mean of their ranks. Sorts, so that a million values are no matter.
pub(super) fn mid_ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut begin = 0;
    while begin < order.len() {
        let equal = order[begin..].iter().take_while(|index| values[**index] == values[order[begin]]).count();
        let rank = begin as f64 + (equal as f64 + 1.0) / 2.0;
        order[begin..begin + equal].iter().for_each(|index| ranks[*index] = rank);
        begin += equal;
    }
    ranks
}

/// Pearson's correlation; NaN where one side does not vary.
fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len() as f64;
    let (mean_a, mean_b) = (a.iter().sum::<f64>() / n, b.iter().sum::<f64>() / n);
    let (mut product, mut squares_a, mut squares_b) = (0.0, 0.0, 0.0);
    for (a, b) in a.iter().zip(b) {
        let (x, y) = (a - mean_a, b - mean_b);
        product += x * y;
        squares_a += x * x;
        squares_b += y * y;
    }
    product / (squares_a * squares_b).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: [f64; 5] = [0.1, 0.2, 0.5, 1.0, 3.2];

    #[test]
    fn a_squared_is_the_integral_that_defines_it() {
        // n∫(F_n − F)²/(F(1 − F)) dF over the six pieces of F_n, by hand in another program: 0.34490339613537935.
        let got = anderson_darling_exponential(&SAMPLE, 0.0).unwrap();
        assert!((got.a2 - 0.344_903_396_135_379_35 * 1.12).abs() < 1e-12, "{got:?}");
        assert_eq!((got.limit_5, got.limit_1), (1.341, 1.957));
        assert!(anderson_darling_exponential(&[0.0; 9], 1e-9).is_err());
    }

    #[test]
    fn the_distance_is_the_largest_step_between_the_curves() {
        let d = ks_distance(&SAMPLE, |x| 1.0 - (-x).exp()).unwrap();
        assert!((d - 0.218_730_753_077_981_84).abs() < 1e-12, "{d}");
        assert_eq!(ks_distance(&[], |x| x), Err(Refusal::TooFew { needed: 1, had: 0 }));
    }

    #[test]
    fn neighbours_are_correlated_within_a_series_only() {
        let rising: Vec<f64> = (0..9).map(f64::from).collect();
        let got = lag_one(&[rising.clone(), rising.clone()]).unwrap();
        assert_eq!((got.rho, got.n_effective), (1.0, 16));
        let zigzag: Vec<f64> = (0..9).map(|i| if i % 2 == 0 { 1.0 } else { 2.0 }).collect();
        assert!((lag_one(&[zigzag]).unwrap().rho + 1.0).abs() < 1e-12);
        assert!(lag_one(&[vec![1.0; 9]]).is_err());
        // Ties share ranks.
        assert_eq!(mid_ranks(&[3.0, 1.0, 3.0, 2.0]), [3.5, 1.0, 3.5, 2.0]);
    }
}
