//! Where the start-up of a series ends: the marginal standard error rule on batches of five, MSER-5.
//!
//! Source: White, Simulation 69, 1997; White, Cobb & Spratt, Proc. Winter Simulation Conference 2000 (batches of
//! five); METHOD §5. The rule cuts where the mean of the rest is known best: too early a cut leaves the start-up in
//! the spread, too late a cut throws good values away.
//! Absent on purpose: any test of significance. On a flat series it may cut a few batches by chance; that costs
//! values, not truth.

use super::{Refusal, check_values};

/// Values in a batch.
pub const BATCH: usize = 5;
/// Fewest batches: with fewer, the only cut allowed besides none is the limit itself.
const BATCHES_MIN: usize = 4;

/// The best cut of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mser {
    /// Whole batches in the series; values after the last whole batch are not looked at.
    pub batches: usize,
    /// d*: batches to cut off.
    pub cut_batches: usize,
    /// Values to cut off: five times as many.
    pub cut: usize,
    /// The least Σ (Zᵢ − Z̄)²/(k − d)², in squared units of the values.
    pub statistic: f64,
    /// Mean of the whole batches after the cut.
    pub mean: f64,
}

/// MSER-5: d* = argmin over 0 ≤ d < k/2 of Σ_{i≥d} (Zᵢ − Z̄_d)²/(k − d)² over the k means Z of batches of five.
///
/// Of equally good cuts the earliest is taken.
///
/// # Errors
/// [`Refusal`] with fewer than 20 values, equal ones, or ones that are not finite or span more than the range of
/// `f64`; [`Refusal::AtLimit`] where d* is the largest d allowed, because then the start-up may well go on beyond it.
pub fn mser5(values: &[f64]) -> Result<Mser, Refusal> {
    check_values(values, BATCH * BATCHES_MIN)?;
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let range = values.iter().copied().fold(f64::NEG_INFINITY, f64::max) - low;
    if range == 0.0 {
        return Err(Refusal::NoSpread { had: values.len() });
    }
    if !range.is_finite() {
        return Err(Refusal::NotFinite);
    }
    // Means of values in 0 to 1: squares neither overflow nor lose the spread beside a large level.
    let means: Vec<f64> = values
        .chunks_exact(BATCH)
        .map(|batch| batch.iter().map(|value| (value - low) / range).sum::<f64>() / BATCH as f64)
        .collect();
    let k = means.len();
    let limit = k.div_ceil(2) - 1;
    let (cut_batches, statistic, mean) = best_cut(&means, limit);
    if cut_batches == limit {
        return Err(Refusal::AtLimit { had: values.len() });
    }
    let best = Mser {
        batches: k,
        cut_batches,
        cut: cut_batches * BATCH,
        statistic: statistic * range * range,
        mean: low + mean * range,
    };
    if best.statistic.is_finite() && best.mean.is_finite() { Ok(best) } else { Err(Refusal::NotFinite) }
}

/// The earliest best d up to `limit`, its statistic and the mean after it. Goes from the last batch to the first,
/// updating mean and squared deviations as each batch joins (Welford 1962).
fn best_cut(means: &[f64], limit: usize) -> (usize, f64, f64) {
    let (mut mean, mut squares) = (0.0, 0.0);
    let mut best = (limit, f64::INFINITY, 0.0);
    for (joined, (d, z)) in (1..).zip(means.iter().enumerate().rev()) {
        let n = f64::from(joined);
        let from_mean = z - mean;
        mean += from_mean / n;
        squares += from_mean * (z - mean);
        let statistic = squares / (n * n);
        if d <= limit && statistic <= best.1 {
            best = (d, statistic, mean);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::super::series::{NILE, SUNSPOTS, autoregressive};
    use super::*;

    /// As in the header, term by term.
    fn by_definition(values: &[f64]) -> (usize, f64) {
        let means: Vec<f64> =
            values.chunks_exact(BATCH).map(|batch| batch.iter().sum::<f64>() / BATCH as f64).collect();
        let k = means.len();
        let statistic = |d: usize| {
            let rest = &means[d..];
            let mean = rest.iter().sum::<f64>() / rest.len() as f64;
            rest.iter().map(|z| (z - mean).powi(2)).sum::<f64>() / (rest.len() as f64).powi(2)
        };
        (0..k)
            .filter(|d| 2 * d < k)
            .map(|d| (d, statistic(d)))
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .expect("a cut of none is always allowed")
    }

    fn check(values: &[f64], batches: usize, cut_batches: usize, statistic: f64, mean: f64) {
        let got = mser5(values).unwrap();
        assert_eq!((got.batches, got.cut_batches, got.cut), (batches, cut_batches, 5 * cut_batches));
        assert!((got.statistic / statistic - 1.0).abs() < 1e-9, "{got:?}");
        assert!((got.mean - mean).abs() < 1e-9 * mean.abs().max(1.0), "{got:?}");
    }

    #[test]
    fn cuts_agree_with_the_definition_in_numpy() {
        // By the definition in the header, term by term, in numpy 2.4.6.
        let decay = autoregressive(103, 0.4, 7, 0.0);
        let decay: Vec<f64> =
            decay.iter().enumerate().map(|(at, value)| value + 3.0 * (-(at as f64) / 8.0).exp()).collect();
        check(&decay, 20, 3, 0.003_164_294_748_127_421_3, -0.006_219_468_468_351_983);
        let step = autoregressive(60, 0.0, 8, 0.0);
        let step: Vec<f64> =
            step.iter().enumerate().map(|(at, u)| 0.1 * u + if at < 12 { 1.0 } else { 0.0 }).collect();
        check(&step, 12, 3, 2.553_563_282_737_366_6e-5, 0.004_473_930_148_200_856);
        check(&SUNSPOTS, 12, 0, 131.834_669_212_962_98, 55.251_666_666_666_665);
        // The best cut of the Nile is that of 45 years, the latest allowed.
        assert_eq!(mser5(&NILE), Err(Refusal::AtLimit { had: 100 }));
    }

    #[test]
    fn the_one_pass_agrees_with_the_definition() {
        for seed in 1..200 {
            let n = 20 + (seed as usize * 7) % 130;
            let values = autoregressive(n, 0.5, seed, if seed % 3 == 0 { -0.01 } else { 0.0 });
            let (cut, statistic) = by_definition(&values);
            match mser5(&values) {
                Ok(got) => {
                    assert_eq!(got.cut_batches, cut, "seed {seed}");
                    assert!((got.statistic / statistic - 1.0).abs() < 1e-9, "seed {seed}");
                }
                Err(refusal) => {
                    assert_eq!(refusal, Refusal::AtLimit { had: n }, "seed {seed}");
                    assert_eq!(cut, (n / BATCH).div_ceil(2) - 1, "seed {seed}");
                }
            }
        }
    }

    #[test]
    fn a_start_up_longer_than_half_is_refused() {
        let line: Vec<f64> = (0..40).map(f64::from).collect();
        assert_eq!(mser5(&line), Err(Refusal::AtLimit { had: 40 }));
    }

    #[test]
    fn what_has_no_cut_is_refused() {
        assert_eq!(mser5(&[1.0; 19]), Err(Refusal::TooFew { needed: 20, had: 19 }));
        assert_eq!(mser5(&[1.0; 20]), Err(Refusal::NoSpread { had: 20 }));
        let mut values = NILE.to_vec();
        values[50] = f64::NAN;
        assert_eq!(mser5(&values), Err(Refusal::NotFinite));
        values[50] = f64::MAX;
        values[51] = -f64::MAX;
        assert_eq!(mser5(&values), Err(Refusal::NotFinite));
        // A spread in the last, incomplete batch only: no batch differs, so nothing is cut.
        let mut values = vec![1.0; 42];
        values[41] = 2.0;
        assert_eq!(mser5(&values).map(|got| (got.cut, got.statistic)), Ok((0, 0.0)));
    }
}
