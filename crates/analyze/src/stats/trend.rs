//! Trends without a law of errors: Mann–Kendall (with the correction of Hamed & Rao) and the Theil–Sen line.
//!
//! Sources: Mann, Econometrica 13, 1945; Kendall, *Rank Correlation Methods*, 4th ed. 1970; Hamed & Rao, J. Hydrology
//! 204, 1998; Theil, Proc. KNAW 53, 1950; Sen, JASA 63, 1968. METHOD §5 and §8 use them.
//! Bounds: both look at all pairs, so more than [`THIN_ABOVE`] values are first replaced by the medians of blocks of
//! neighbours; the result says how many values a block held. Absent on purpose: seasonal tests, and missing values
//! (leave them out of the series and give their times to [`theil_sen`]).

use super::fit::mid_ranks;
use super::{Refusal, check_values};
use statrs::distribution::{ContinuousCDF, Normal};

/// Most values whose pairs are all looked at: eight million slopes, 64 MB for a moment.
pub const THIN_ABOVE: usize = 4_000;
/// Two-sided 5 % point of the normal law: autocorrelations nearer to 0 than this over √n do not count.
const NORMAL_975: f64 = 1.959_963_984_540_054;
/// Residuals this small beside the values are rounding: they carry no autocorrelation.
const ROUNDING: f64 = 1e-12;

/// The Mann–Kendall test for a monotonic trend, without and with the correction for autocorrelation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MannKendall {
    /// Values tested; medians of blocks where `block` is above 1.
    pub n: usize,
    /// Neighbouring values that one tested value stands for.
    pub block: usize,
    /// Pairs that rise minus pairs that fall.
    pub s: i64,
    /// S over the number of pairs, from −1 to 1.
    pub tau: f64,
    /// Variance of S without a trend, corrected for ties.
    pub variance: f64,
    /// Standard normal deviate with continuity correction: (S ∓ 1)/√variance.
    pub z: f64,
    /// Two-sided p of no trend for independent values.
    pub p_value: f64,
    /// n/n*: what autocorrelation multiplies the variance by. 1 without any that is significant.
    pub factor: f64,
    /// Whether the estimated factor was not positive, so that 1 stands for it. It happens when neighbours repel each
    /// other; their S varies less than that of independent values, so 1 errs on the side of no trend.
    pub factor_refused: bool,
    /// `variance` times `factor`.
    pub corrected_variance: f64,
    /// As `z`, with the corrected variance.
    pub corrected_z: f64,
    /// As `p_value`, with the corrected variance.
    pub corrected_p_value: f64,
    /// Theil–Sen slope per original value, the one the residuals were taken from.
    pub slope: f64,
}

/// Tests a series of equally spaced values for a monotonic trend.
///
/// The variance of S is n(n−1)(2n+5)/18 less t(t−1)(2t+5)/18 for each tie of t values; p is of the normal law. The
/// correction multiplies it by n/n* = 1 + 2/(n(n−1)(n−2)) · Σ (n−k)(n−k−1)(n−k−2) ρ(k) over all lags k from 1 to n−1
/// whose autocorrelation ρ(k) is significant at 5 % (outside ±1.96/√n). ρ is taken on the ranks of the values less
/// their Theil–Sen line: the definition of Hamed & Rao 1998 as `hamed_rao_modification_test` of pymannkendall has it
/// (lag = None).
///
/// # Errors
/// [`Refusal`] with fewer than five values (no p could be below 5 %), equal ones, or ones that are not finite or span
/// more than the range of `f64`.
pub fn mann_kendall(values: &[f64]) -> Result<MannKendall, Refusal> {
    check_values(values, 5)?;
    check_spread(values)?;
    let (values, block) = thinned(values);
    check_spread(&values)?;
    let n = values.len();
    let s = rising_less_falling(&values);
    let variance = variance_of_s(n, &[&values]);
    if variance <= 0.0 {
        return Err(Refusal::NoSpread { had: n });
    }
    let positions: Vec<f64> = (0..n).map(|index| index as f64).collect();
    let slope = median_in_place(&mut pair_slopes(&positions, &values)?);
    let estimate = variance_factor(&values, slope);
    let factor = if estimate > 0.0 { estimate } else { 1.0 };
    let (z, corrected_z) = (deviate(s, variance), deviate(s, variance * factor));
    Ok(MannKendall {
        n,
        block,
        s,
        tau: s as f64 / pairs(n),
        variance,
        z,
        p_value: two_sided(z),
        factor,
        factor_refused: estimate <= 0.0,
        corrected_variance: variance * factor,
        corrected_z,
        corrected_p_value: two_sided(corrected_z),
        slope: slope / block as f64,
    })
}

/// A line through the medians, with Sen's interval of its slope.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TheilSen {
    /// Points used; medians of blocks where `block` is above 1.
    pub n: usize,
    /// Neighbouring points that one used point stands for.
    pub block: usize,
    /// Median of the slopes between all pairs of points, in units of values per unit of time.
    pub slope: f64,
    /// Median of the values less slope times the median of the times (Conover 1980).
    pub intercept: f64,
    /// Lower end of the interval of the slope.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// The ends are the smallest and the largest of all slopes and even so cover less than was asked for: too few
    /// points for this confidence.
    pub clipped: bool,
}

/// The Theil–Sen line of `values` over `times`, with the interval of its slope at `confidence` (0 to 1).
///
/// As `scipy.stats.theilslopes` with method "separate": pairs at equal times have no slope and do not count; the ends
/// are the slopes of ranks (N ∓ z√variance)/2, rounded half to even, with the variance of Sen 1968 (2.6), which
/// subtracts the ties of times and of values. Points may come in any order.
///
/// # Errors
/// [`Refusal`] with fewer than three points, series of different lengths, equal times or values, ties that leave no
/// variance, or numbers that are not finite.
pub fn theil_sen(times: &[f64], values: &[f64], confidence: f64) -> Result<TheilSen, Refusal> {
    if times.len() != values.len() {
        return Err(Refusal::Unpaired { first: times.len(), second: values.len() });
    }
    for side in [times, values] {
        check_values(side, 3)?;
        check_spread(side)?;
    }
    if !confidence.is_finite() {
        return Err(Refusal::NotFinite);
    }
    let (times, values, block) = thinned_points(times, values);
    for side in [&times, &values] {
        check_spread(side)?;
    }
    let mut slopes = pair_slopes(&times, &values)?;
    let variance = variance_of_s(times.len(), &[&times, &values]);
    if variance <= 0.0 {
        return Err(Refusal::TooManyTies { had: times.len() });
    }
    let tail = (1.0 - confidence.clamp(0.0, 1.0)) / 2.0;
    let (low_rank, high_rank, clipped) = ranks_of_interval(slopes.len(), variance.sqrt(), tail);
    let slope = median_in_place(&mut slopes);
    let line = TheilSen {
        n: times.len(),
        block,
        slope,
        intercept: median_of(&values) - slope * median_of(&times),
        low: nth(&mut slopes, low_rank),
        high: nth(&mut slopes, high_rank),
        clipped,
    };
    if line.intercept.is_finite() { Ok(line) } else { Err(Refusal::NotFinite) }
}

/// Refuses equal values, and ones further apart than `f64` can say.
fn check_spread(values: &[f64]) -> Result<(), Refusal> {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if low == high {
        return Err(Refusal::NoSpread { had: values.len() });
    }
    if (high - low).is_finite() { Ok(()) } else { Err(Refusal::NotFinite) }
}

fn pairs(n: usize) -> f64 {
    n as f64 * (n as f64 - 1.0) / 2.0
}

/// Values that one block must hold so that at most [`THIN_ABOVE`] blocks are left.
fn block_of(n: usize) -> usize {
    n.div_ceil(THIN_ABOVE).max(1)
}

/// The values, or the medians of blocks of neighbours; the last block may be shorter.
pub(super) fn thinned(values: &[f64]) -> (Vec<f64>, usize) {
    let block = block_of(values.len());
    (if block == 1 { values.to_vec() } else { values.chunks(block).map(median_of).collect() }, block)
}

/// The points, or the medians of times and of values of blocks that are neighbours in time.
fn thinned_points(times: &[f64], values: &[f64]) -> (Vec<f64>, Vec<f64>, usize) {
    let mut points: Vec<(f64, f64)> = times.iter().copied().zip(values.iter().copied()).collect();
    points.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let (times, values): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
    let (times, block) = thinned(&times);
    (times, thinned(&values).0, block)
}

fn median_of(values: &[f64]) -> f64 {
    super::order::median(values).unwrap_or(0.0)
}

/// S = Σ sign(xⱼ − xᵢ) over i < j, by counting while merging: n log n steps.
fn rising_less_falling(values: &[f64]) -> i64 {
    let mut sorted = values.to_vec();
    let mut scratch = vec![0.0; values.len()];
    merge_count(&mut sorted, &mut scratch)
}

/// Sorts `values` and says how many pairs rose less how many fell.
fn merge_count(values: &mut [f64], scratch: &mut [f64]) -> i64 {
    if values.len() < 2 {
        return 0;
    }
    let middle = values.len() / 2;
    let mut balance = merge_count(&mut values[..middle], &mut scratch[..middle]);
    balance += merge_count(&mut values[middle..], &mut scratch[middle..]);
    let (left, right) = values.split_at(middle);
    for value in right {
        let below = left.partition_point(|other| other < value);
        let above = left.len() - left.partition_point(|other| other <= value);
        balance += below as i64 - above as i64;
    }
    scratch.copy_from_slice(values);
    merge(&scratch[..middle], &scratch[middle..], values);
    balance
}

/// Merges two sorted series into `out`, which is as long as both.
fn merge(left: &[f64], right: &[f64], out: &mut [f64]) {
    let (mut at_left, mut at_right) = (0, 0);
    for slot in out {
        let take_left = at_right == right.len() || (at_left < left.len() && left[at_left] <= right[at_right]);
        *slot = if take_left { left[at_left] } else { right[at_right] };
        at_left += usize::from(take_left);
        at_right += usize::from(!take_left);
    }
}

/// [n(n−1)(2n+5) − Σ t(t−1)(2t+5)]/18, with the ties t of each of the series.
fn variance_of_s(n: usize, tied: &[&[f64]]) -> f64 {
    let term = |count: usize| {
        let count = count as f64;
        count * (count - 1.0) * (2.0 * count + 5.0)
    };
    let ties: f64 = tied.iter().flat_map(|series| runs_of_equals(series)).map(term).sum();
    (term(n) - ties) / 18.0
}

/// How often each distinct value occurs.
fn runs_of_equals(values: &[f64]) -> Vec<usize> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.chunk_by(|a, b| a == b).map(<[f64]>::len).collect()
}

fn deviate(s: i64, variance: f64) -> f64 {
    (s - s.signum()) as f64 / variance.sqrt()
}

fn two_sided(z: f64) -> f64 {
    (2.0 * Normal::standard().sf(z.abs())).clamp(0.0, 1.0)
}

/// The slopes of all pairs of points with different times.
fn pair_slopes(times: &[f64], values: &[f64]) -> Result<Vec<f64>, Refusal> {
    let mut slopes = Vec::with_capacity(times.len() * times.len().saturating_sub(1) / 2);
    for first in 0..times.len() {
        for second in first + 1..times.len() {
            let run = times[second] - times[first];
            if run != 0.0 {
                slopes.push((values[second] - values[first]) / run);
            }
        }
    }
    if slopes.iter().all(|slope| slope.is_finite()) { Ok(slopes) } else { Err(Refusal::NotFinite) }
}

/// The value of rank `index` from 0; reorders. `values` is not empty.
fn nth(values: &mut [f64], index: usize) -> f64 {
    *values.select_nth_unstable_by(index, f64::total_cmp).1
}

/// The median, without sorting all of what may be millions of slopes.
fn median_in_place(values: &mut [f64]) -> f64 {
    let upper = nth(values, values.len() / 2);
    let lower = nth(values, (values.len() - 1) / 2);
    lower / 2.0 + upper / 2.0
}

/// Ranks, from 0, of the ends of Sen's interval among `count` slopes, and whether they had to be moved inwards.
fn ranks_of_interval(count: usize, deviation: f64, tail: f64) -> (usize, usize, bool) {
    let last = count as f64 - 1.0;
    let half = if tail > 0.0 { -Normal::standard().inverse_cdf(tail) * deviation } else { f64::INFINITY };
    let low = ((count as f64 - half) / 2.0).round_ties_even() - 1.0;
    let high = ((count as f64 + half) / 2.0).round_ties_even();
    let clipped = low < 0.0 || high > last;
    (low.clamp(0.0, last) as usize, high.clamp(0.0, last) as usize, clipped)
}

/// n/n* of Hamed & Rao on the ranks of what the line of `slope` leaves; may be estimated at 0 or below.
fn variance_factor(values: &[f64], slope: f64) -> f64 {
    let residuals: Vec<f64> =
        values.iter().zip(1..).map(|(value, at)| value - f64::from(at) * slope).collect();
    let size = values.iter().fold(0.0_f64, |size, value| size.max(value.abs()));
    let low = residuals.iter().copied().fold(f64::INFINITY, f64::min);
    let high = residuals.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !(high - low > ROUNDING * size) {
        return 1.0;
    }
    let ranks = mid_ranks(&residuals);
    let n = ranks.len() as f64;
    let centred: Vec<f64> = ranks.iter().map(|rank| rank - (n + 1.0) / 2.0).collect();
    let power: f64 = centred.iter().map(|rank| rank * rank).sum();
    if power <= 0.0 {
        return 1.0;
    }
    let sum: f64 = (1..centred.len())
        .map(|lag| (lag as f64, autocovariance(&centred, lag) / power))
        .filter(|(_, correlation)| correlation.abs() > NORMAL_975 / n.sqrt())
        .map(|(lag, correlation)| (n - lag) * (n - lag - 1.0) * (n - lag - 2.0) * correlation)
        .sum();
    1.0 + 2.0 / (n * (n - 1.0) * (n - 2.0)) * sum
}

/// Sum of the products of values `lag` apart.
fn autocovariance(centred: &[f64], lag: usize) -> f64 {
    centred.iter().zip(&centred[lag..]).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
#[path = "trend_tests.rs"]
mod tests;
