//! Change points of the mean: the optimal partition of a series, found by PELT.
//!
//! Sources: Killick, Fearnhead & Eckley, JASA 107, 2012 (pruned exact linear time); METHOD §5 for the scale
//! sd(diff)/√2, the penalty 3 ln n and segments of five at least. The scale is that of independent noise: positively
//! correlated noise makes it too small, so callers who cannot exclude that hand in a larger one.
//! Bounds: pruning needs change points to prune by, so a flat series takes n² steps; more than
//! [`THIN_ABOVE`](super::trend::THIN_ABOVE) values are first replaced by the medians of blocks of neighbours.

use super::trend::thinned;
use super::{Refusal, check_values};

/// Fewest values between two change points.
pub const SEGMENT_MIN: usize = 5;
/// The penalty of a change point is this times ln n.
const PENALTY: f64 = 3.0;
/// The scale is at least this share of the largest value: below it there is only the rounding of `f64`.
const ROUNDING: f64 = 1e-12;

/// A series cut into stretches of constant mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Segmentation {
    /// Index of the first value of each stretch but the first, rising.
    pub change_points: Vec<usize>,
    /// Neighbouring values that one value looked at stands for; change points are multiples of it.
    pub block: usize,
    /// Standard deviation that one value was taken to have.
    pub scale: f64,
    /// Cost of one change point.
    pub penalty: f64,
    /// Σ (x − mean of its stretch)²/scale² plus the penalties: the least there is.
    pub cost: f64,
}

/// Standard deviation of the noise of a series whose mean moves in steps: that of its differences, with n − 2, over √2.
///
/// # Errors
/// [`Refusal`] with fewer than three values, or ones that are not finite or span more than the range of `f64`.
pub fn noise_scale(values: &[f64]) -> Result<f64, Refusal> {
    check_values(values, 3)?;
    let (_, range) = bounds(values)?;
    if range == 0.0 {
        return Ok(0.0);
    }
    let steps: Vec<f64> = values.windows(2).map(|pair| (pair[1] - pair[0]) / range).collect();
    let mean = steps.iter().sum::<f64>() / steps.len() as f64;
    let squares: f64 = steps.iter().map(|step| (step - mean).powi(2)).sum();
    Ok((squares / (steps.len() as f64 - 1.0) / 2.0).sqrt() * range)
}

/// The partition of least cost, with [`noise_scale`] as the scale; a constant series has one stretch.
///
/// # Errors
/// As [`pelt_with_scale`].
pub fn pelt(values: &[f64]) -> Result<Segmentation, Refusal> {
    check_values(values, 2 * SEGMENT_MIN)?;
    let (values, block) = thinned(values);
    partition(&values, block, noise_scale(&values)?)
}

/// The same with a scale of the caller's, in units of the values. One that is 0 or less, or no larger than rounding,
/// is raised to the floor.
///
/// # Errors
/// [`Refusal`] with fewer than ten values, or numbers that are not finite or span more than the range of `f64`.
pub fn pelt_with_scale(values: &[f64], scale: f64) -> Result<Segmentation, Refusal> {
    check_values(values, 2 * SEGMENT_MIN)?;
    if !scale.is_finite() {
        return Err(Refusal::NotFinite);
    }
    let (values, block) = thinned(values);
    partition(&values, block, scale)
}

/// Smallest value and range.
fn bounds(values: &[f64]) -> Result<(f64, f64), Refusal> {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if (high - low).is_finite() { Ok((low, high - low)) } else { Err(Refusal::NotFinite) }
}

fn partition(values: &[f64], block: usize, scale: f64) -> Result<Segmentation, Refusal> {
    let (low, range) = bounds(values)?;
    let size = values.iter().fold(0.0_f64, |size, value| size.max(value.abs()));
    // The floor of a series of zeros is any positive number.
    let scale = scale.max(ROUNDING * size).max(f64::MIN_POSITIVE);
    let penalty = PENALTY * (values.len() as f64).ln();
    // In units of the range sums of squares stay small; the scale then is a factor of the cost.
    let unit = if range > 0.0 { range } else { scale };
    let factor = (unit / scale).powi(2);
    if !factor.is_finite() {
        return Err(Refusal::NotFinite);
    }
    let sums = Sums::new(values.iter().map(|value| (value - low) / unit));
    let (change_points, cost) = optimal(values.len(), penalty, |from, to| factor * sums.deviation(from, to));
    let change_points = change_points.into_iter().map(|index| index * block).collect();
    Ok(Segmentation { change_points, block, scale, penalty, cost })
}

/// Sums of values and of squares up to each index.
struct Sums {
    plain: Vec<f64>,
    squared: Vec<f64>,
}

impl Sums {
    fn new(values: impl Iterator<Item = f64>) -> Self {
        let (mut plain, mut squared) = (vec![0.0], vec![0.0]);
        let (mut sum, mut squares) = (0.0, 0.0);
        for value in values {
            // Half of the range taken off: the middle is nearer to the mean than the lowest value.
            let centred = value - 0.5;
            sum += centred;
            squares += centred * centred;
            plain.push(sum);
            squared.push(squares);
        }
        Self { plain, squared }
    }

    /// Sum of squared deviations of the values `from..to` from their mean.
    fn deviation(&self, from: usize, to: usize) -> f64 {
        let sum = self.plain[to] - self.plain[from];
        (self.squared[to] - self.squared[from] - sum * sum / (to - from) as f64).max(0.0)
    }
}

/// A possible last change point.
#[derive(Clone, Copy)]
struct Candidate {
    at: usize,
    /// Cannot be the best from this end on.
    until: usize,
}

/// Change points and cost of the best partition of `n` values into stretches of at least [`SEGMENT_MIN`].
///
/// F(t) = min over s of F(s) + C(s, t) + penalty. Once F(s) + C(s, t) ≥ F(t), a last change at t is never worse than
/// one at s, but only for ends that leave t a whole stretch: s is dropped from t + [`SEGMENT_MIN`] on, not at once.
fn optimal(n: usize, penalty: f64, cost: impl Fn(usize, usize) -> f64) -> (Vec<usize>, f64) {
    let mut best = vec![f64::INFINITY; n + 1];
    let mut last = vec![0; n + 1];
    best[0] = -penalty;
    let mut candidates: Vec<Candidate> = Vec::new();
    for end in SEGMENT_MIN..=n {
        let newest = end - SEGMENT_MIN;
        if best[newest].is_finite() {
            candidates.push(Candidate { at: newest, until: usize::MAX });
        }
        candidates.retain(|candidate| candidate.until > end);
        for candidate in &candidates {
            let total = best[candidate.at] + cost(candidate.at, end) + penalty;
            if total < best[end] {
                best[end] = total;
                last[end] = candidate.at;
            }
        }
        for candidate in candidates.iter_mut().filter(|candidate| candidate.until == usize::MAX) {
            if best[candidate.at] + cost(candidate.at, end) > best[end] {
                candidate.until = end + SEGMENT_MIN;
            }
        }
    }
    let mut change_points = Vec::new();
    let mut at = last[n];
    while at > 0 {
        change_points.push(at);
        at = last[at];
    }
    change_points.reverse();
    (change_points, best[n])
}

#[cfg(test)]
mod tests {
    use super::super::series::{NILE, SUNSPOTS, autoregressive};
    use super::*;

    /// Every partition is looked at (Jackson et al. 2005, optimal partitioning), with no pruning and sums recomputed.
    fn brute(values: &[f64], scale: f64, penalty: f64) -> (Vec<usize>, f64) {
        let n = values.len();
        let cost = |from: usize, to: usize| {
            let part = &values[from..to];
            let mean = part.iter().sum::<f64>() / part.len() as f64;
            part.iter().map(|value| ((value - mean) / scale).powi(2)).sum::<f64>()
        };
        let mut best: Vec<Option<(f64, Vec<usize>)>> = vec![None; n + 1];
        best[0] = Some((-penalty, Vec::new()));
        for end in SEGMENT_MIN..=n {
            for from in 0..=end - SEGMENT_MIN {
                let Some((before, points)) = best[from].clone() else { continue };
                let total = before + cost(from, end) + penalty;
                if best[end].as_ref().is_none_or(|(least, _)| total < *least) {
                    best[end] = Some((total, points.into_iter().chain([from]).collect()));
                }
            }
        }
        let (total, points) = best[n].clone().expect("the whole is a stretch");
        (points.into_iter().filter(|at| *at > 0).collect(), total)
    }

    fn check(values: &[f64], scale: f64, change_points: &[usize], cost: f64) {
        let got = pelt(values).unwrap();
        assert_eq!(got.change_points, change_points);
        assert!((got.scale / scale - 1.0).abs() < 1e-9 && (got.cost / cost - 1.0).abs() < 1e-9, "{got:?}");
    }

    #[test]
    fn agrees_with_ruptures() {
        // Pelt(model="l2", min_size=5, jump=1) of ruptures 1.1.10 on the values over their scale, penalty 3 ln n. The
        // drop of the Nile after 1898 is the textbook change point (Cobb 1978).
        check(&NILE, 118.887_217_480_742_38, &[28], 126.836_447_773_165_52);
        check(&SUNSPOTS, 19.349_661_897_471_595, &[35, 40, 45, 50, 55], 225.235_268_711_734_5);
        check(&autoregressive(60, 0.0, 11, 0.0), 0.275_210_792_285_391_1, &[], 59.744_890_824_267_124);
        let parts = [(20, 12, 1.0), (15, 13, 2.0), (25, 14, 1.5)];
        let steps: Vec<f64> = parts
            .iter()
            .flat_map(|(n, seed, level)| {
                autoregressive(*n, 0.0, *seed, 0.0).into_iter().map(move |u| 0.2 * u + level)
            })
            .collect();
        check(&steps, 0.109_269_393_667_542_43, &[20, 35], 42.086_217_396_064_7);
        let decay = autoregressive(103, 0.4, 7, 0.0);
        let decay: Vec<f64> =
            decay.iter().enumerate().map(|(at, value)| value + 3.0 * (-(at as f64) / 8.0).exp()).collect();
        check(&decay, 0.230_810_468_253_066_84, &[5, 12, 30, 43, 49, 83, 96], 257.019_067_616_170_05);
    }

    #[test]
    fn pruning_loses_nothing() {
        for seed in 1..150_u64 {
            let n = 10 + (seed as usize * 13) % 90;
            let level = |index: usize| f64::from(u8::from(index * 3 / n == 1)) * (seed % 5) as f64 * 0.3;
            let noise = autoregressive(n, 0.6, seed, 0.0);
            let values: Vec<f64> = noise.iter().enumerate().map(|(at, value)| value + level(at)).collect();
            // Small scales make many change points, large ones none.
            for scale in [0.02, 0.1, 0.3, 3.0] {
                let got = pelt_with_scale(&values, scale).unwrap();
                let (points, cost) = brute(&values, scale, got.penalty);
                assert_eq!(got.change_points, points, "seed {seed}, scale {scale}");
                assert!((got.cost - cost).abs() < 1e-6 * cost.abs().max(1.0), "seed {seed}, scale {scale}");
            }
        }
    }

    #[test]
    fn stretches_are_never_shorter_than_five() {
        // Without pruning late, a change near the end would be missed or a short stretch made.
        let mut values = vec![0.0; 30];
        values[12] = 50.0;
        let got = pelt_with_scale(&values, 0.1).unwrap();
        let borders: Vec<usize> = [0].into_iter().chain(got.change_points).chain([30]).collect();
        assert!(borders.windows(2).all(|pair| pair[1] - pair[0] >= SEGMENT_MIN), "{borders:?}");
    }

    #[test]
    fn constants_have_one_stretch_and_noiseless_steps_two() {
        assert_eq!(pelt(&[7.0; 40]).unwrap().change_points, Vec::<usize>::new());
        assert_eq!(pelt(&[0.0; 40]).unwrap().change_points, Vec::<usize>::new());
        let step: Vec<f64> = (0..40).map(|at| if at < 13 { 1e9 } else { 1e9 + 1.0 }).collect();
        assert_eq!(pelt(&step).unwrap().change_points, [13]);
        // The floor: what differs by rounding only is constant.
        let rounding: Vec<f64> = (0..40).map(|at| 1.0 + f64::from(at / 20) * f64::EPSILON).collect();
        assert_eq!(pelt(&rounding).unwrap().change_points, Vec::<usize>::new());
    }

    #[test]
    fn the_scale_of_the_units_does_not_matter() {
        for factor in [1e-200, 1e-9, 1.0, 1e9, 1e150] {
            let values: Vec<f64> = NILE.iter().map(|value| value * factor).collect();
            assert_eq!(pelt(&values).unwrap().change_points, [28], "{factor}");
        }
    }

    #[test]
    fn long_series_are_thinned() {
        let mut values = autoregressive(9_000, 0.0, 5, 0.0);
        values[6_000..].iter_mut().for_each(|value| *value += 1.0);
        let got = pelt(&values).unwrap();
        assert_eq!((got.block, got.change_points), (3, vec![6_000]));
    }

    #[test]
    fn what_cannot_be_cut_is_refused() {
        assert_eq!(pelt(&[1.0; 9]), Err(Refusal::TooFew { needed: 10, had: 9 }));
        let mut values = NILE;
        values[3] = f64::INFINITY;
        assert_eq!(pelt(&values), Err(Refusal::NotFinite));
        (values[3], values[4]) = (f64::MAX, -f64::MAX);
        assert_eq!(pelt(&values), Err(Refusal::NotFinite));
        assert_eq!(pelt_with_scale(&NILE, f64::NAN), Err(Refusal::NotFinite));
        assert_eq!(noise_scale(&[1.0, 2.0]), Err(Refusal::TooFew { needed: 3, had: 2 }));
    }
}
