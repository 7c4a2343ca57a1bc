//! The hierarchical bootstrap of a log ratio: pairs of trials are drawn, then blocks of seconds within each.
//!
//! Trials are drawn with replacement (they are the unit of analysis, METHOD §0.1), seconds in circular blocks, so that
//! what neighbours share stays together (Künsch, Ann. Statist. 17, 1989; Politis & Romano 1992; Davison & Hinkley,
//! *Bootstrap Methods and their Application*, 1997, §3.8 and §8.2). Block length ⌈n^⅓⌉, the order that minimises the
//! error of the variance (Hall, Horowitz & Jing, Biometrika 82, 1995).
//! The interval is the expanded percentile one: percentiles at Φ(−√(n/(n−1)) t_{n−1}), which gives the width of Student's
//! interval back to a distribution that n values make too narrow (Hesterberg, Am. Stat. 69, 2015, §4.4).
//! Invariant: same data, seed and count of samples give the same ends on every machine.

use super::student::t_quantile;
use super::{Refusal, check_values};
use statrs::distribution::{ContinuousCDF, Normal};
use units::{Rng, Seed};

/// Fewest samples of a bootstrap (METHOD §3).
pub const SAMPLES_MIN: u32 = 2_000;
/// With fewer pairs the distribution of their mean has too few points, and ends before the tails that are asked for.
pub const PAIRS_MIN: usize = 6;

/// One trial: its value is a ratio of sums over seconds, such as answers over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Sums over the first k seconds, of two rounds, so that a block may go over the end.
    sums: Vec<[f64; 2]>,
    /// Seconds in a block.
    length: usize,
    /// Seconds in one round.
    seconds: u32,
    /// Blocks that are drawn for one trial; 0 where there are no seconds to draw.
    blocks: usize,
    /// Log of the value as measured.
    log: f64,
}

impl Series {
    /// From numerator and denominator of each second, in order of time.
    ///
    /// # Errors
    /// [`Refusal`] without seconds, where one is not finite or negative, or where a sum is 0: it has no logarithm.
    pub fn new(seconds: &[(f64, f64)]) -> Result<Self, Refusal> {
        let flat: Vec<f64> = seconds.iter().flat_map(|(over, under)| [*over, *under]).collect();
        check_values(&flat, 2)?;
        if flat.iter().any(|value| *value < 0.0) {
            return Err(Refusal::NotFinite);
        }
        let n = seconds.len();
        let length = block_length(n);
        let mut sums = Vec::with_capacity(2 * n + 1);
        sums.push([0.0; 2]);
        let mut sum = [0.0; 2];
        for (over, under) in seconds.iter().chain(seconds) {
            sum = [sum[0] + over, sum[1] + under];
            sums.push(sum);
        }
        if !(sum[0] > 0.0 && sum[1] > 0.0 && sum[0].is_finite() && sum[1].is_finite()) {
            return Err(Refusal::NoSpread { had: n });
        }
        let seconds = u32::try_from(n).map_err(|_| Refusal::NotFinite)?;
        let log = (sums[n][0] / sums[n][1]).ln();
        Ok(Self { sums, length, seconds, blocks: draws(n), log })
    }

    /// A trial of which only its value is known: drawing seconds within it changes nothing.
    ///
    /// # Errors
    /// [`Refusal::NotFinite`] unless it is positive and finite.
    pub fn constant(value: f64) -> Result<Self, Refusal> {
        if !(value.is_finite() && value > 0.0) {
            return Err(Refusal::NotFinite);
        }
        Ok(Self { sums: Vec::new(), length: 0, seconds: 0, blocks: 0, log: value.ln() })
    }

    /// Log of the value of one drawn trial.
    fn drawn(&self, rng: &mut Starts) -> f64 {
        if self.blocks == 0 {
            return self.log;
        }
        let (mut over, mut under) = (0.0, 0.0);
        for _ in 0..self.blocks {
            let start = rng.below(self.seconds);
            let (from, to) = (self.sums[start], self.sums[start + self.length]);
            over += to[0] - from[0];
            under += to[1] - from[1];
        }
        (over / under).ln()
    }
}

/// Places drawn two to a random number. The bias of taking 32 bits is below seconds/2³², one in ten million for a day.
struct Starts {
    rng: Rng,
    spare: Option<u32>,
}

impl Starts {
    #[inline]
    fn below(&mut self, bound: u32) -> usize {
        let bits = match self.spare.take() {
            Some(bits) => bits,
            None => {
                let both = self.rng.next_u64();
                self.spare = Some(both as u32);
                (both >> 32) as u32
            }
        };
        ((u64::from(bits) * u64::from(bound)) >> 32) as usize
    }
}

/// How many blocks of seconds are drawn for a trial of so many.
#[must_use]
pub fn draws(seconds: usize) -> usize {
    seconds.div_ceil(block_length(seconds))
}

fn block_length(seconds: usize) -> usize {
    ((seconds as f64).cbrt().ceil() as usize).clamp(1, seconds.max(1))
}

/// A bootstrap interval of a mean log ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bootstrap {
    /// Mean log ratio as measured.
    pub estimate: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Standard deviation of the drawn means.
    pub standard_error: f64,
    /// How many samples gave a number.
    pub samples: u32,
}

/// The mean over pairs of ln(a/b), with its interval at `level` (0 to 1) from `samples` draws.
///
/// # Errors
/// [`Refusal`] with fewer than [`PAIRS_MIN`] pairs, where all pairs agree, or where more than one drawn sample in a
/// hundred has no logarithm because its seconds add up to 0.
pub fn log_ratio(
    pairs: &[(Series, Series)],
    level: f64,
    samples: u32,
    seed: Seed,
) -> Result<Bootstrap, Refusal> {
    let n = pairs.len();
    if n < PAIRS_MIN {
        return Err(Refusal::TooFew { needed: PAIRS_MIN, had: n });
    }
    let estimate = pairs.iter().map(|(a, b)| a.log - b.log).sum::<f64>() / n as f64;
    let count = u32::try_from(n).map_err(|_| Refusal::NotFinite)?;
    let wanted = samples.max(SAMPLES_MIN);
    let mut rng = Starts { rng: seed.rng(), spare: None };
    let mut means: Vec<f64> = (0..wanted)
        .map(|_| {
            let draw = |_| {
                let (a, b) = &pairs[rng.below(count)];
                a.drawn(&mut rng) - b.drawn(&mut rng)
            };
            (0..n).map(draw).sum::<f64>() / n as f64
        })
        .filter(|mean| mean.is_finite())
        .collect();
    if (means.len() as f64) < 0.99 * f64::from(wanted) || !estimate.is_finite() {
        return Err(Refusal::NotFinite);
    }
    let standard_error = spread(&means);
    if standard_error <= 1e-12 {
        return Err(Refusal::NoSpread { had: n });
    }
    let tail = tail(level, n);
    let low = percentile(&mut means, tail);
    let high = percentile(&mut means, 1.0 - tail);
    Ok(Bootstrap { estimate, low, high, standard_error, samples: means.len() as u32 })
}

/// Share of the drawn means below the lower end.
fn tail(level: f64, n: usize) -> f64 {
    let t = t_quantile(0.5 + level.clamp(0.0, 1.0) / 2.0, n - 1);
    Normal::standard().cdf(-t * (n as f64 / (n as f64 - 1.0)).sqrt())
}

/// Linear between order statistics at (B + 1)q, the usual choice for bootstrap percentiles (Davison & Hinkley §5.2).
fn percentile(values: &mut [f64], share: f64) -> f64 {
    let last = values.len() - 1;
    let place = (share * (values.len() as f64 + 1.0) - 1.0).clamp(0.0, last as f64);
    let below = place as usize;
    let (_, low, above) = values.select_nth_unstable_by(below, f64::total_cmp);
    let low = *low;
    let high = above.iter().copied().reduce(f64::min).unwrap_or(low);
    low + (high - low) * (place - below as f64)
}

fn spread(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn constants(logs: &[f64]) -> Vec<(Series, Series)> {
        let series = |value: f64| Series::constant(value).unwrap();
        logs.iter().map(|log| (series(log.exp() * 5.0), series(5.0))).collect()
    }

    fn check(logs: &[f64], low: f64, high: f64, standard_error: f64) {
        let got = log_ratio(&constants(logs), 0.95, 100_000, Seed(3)).unwrap();
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        assert!((got.estimate - mean).abs() < 1e-12, "{got:?}");
        // Monte Carlo: both sides drew; a twentieth of the standard error is far beyond what 100,000 draws vary by.
        for (got, wanted) in [(got.low, low), (got.high, high), (got.standard_error, standard_error)] {
            assert!((got - wanted).abs() < standard_error / 20.0, "{got} is not {wanted}");
        }
    }

    #[test]
    fn trials_alone_agree_with_scipy() {
        // scipy.stats.bootstrap(np.mean, method="percentile", n_resamples=200000) 1.17.1 at the expanded percentiles.
        // ln(crossed/selfed) of Darwin's maize.
        let maize: [(f64, f64); 15] = [
            (23.5, 17.375),
            (12.0, 20.375),
            (21.0, 20.0),
            (22.0, 20.0),
            (19.125, 18.375),
            (21.5, 18.625),
            (22.125, 18.625),
            (20.375, 15.25),
            (18.25, 16.5),
            (21.625, 18.0),
            (23.25, 16.25),
            (21.0, 18.0),
            (22.125, 12.75),
            (23.0, 15.5),
            (12.0, 18.0),
        ];
        let logs: Vec<f64> = maize.iter().map(|(a, b)| (a / b).ln()).collect();
        check(&logs, -0.040_327_997_632_376_2, 0.268_444_491_171_501_4, 0.069_841_825_825_931_85);
        let ratios = [1.08_f64, 1.02, 1.11, 0.99, 1.05, 1.07, 1.01, 1.10];
        check(
            &ratios.map(f64::ln),
            0.016_912_935_843_446_5,
            0.084_813_570_443_770_19,
            0.013_760_832_516_045_552,
        );
    }

    #[test]
    fn percentiles_are_expanded_as_hesterberg_has_it() {
        // scipy.stats.norm.cdf(-t.ppf(0.975, n − 1)·√(n/(n − 1))).
        assert!((tail(0.95, 15) - 0.013_207_173_126_811_439).abs() < 1e-9);
        assert!((tail(0.95, 8) - 0.005_737_520_517_029_877_5).abs() < 1e-9);
        // Without end it is the plain percentile.
        assert!((tail(0.95, 1_000_000) - 0.025).abs() < 1e-5);
    }

    #[test]
    fn seconds_are_drawn_in_blocks_and_widen_the_interval() {
        // All trials alike: what varies is drawn within them. 27 seconds make 9 blocks of 3; each mean of 9 blocks of
        // alternating 90 and 110 has an error that can be counted: a block holds 2 of the one, 1 of the other.
        let seconds: Vec<(f64, f64)> =
            (0..27).map(|i| (if i % 2 == 0 { 90.0 } else { 110.0 }, 1.0)).collect();
        let series = Series::new(&seconds).unwrap();
        assert_eq!((series.length, series.blocks, draws(27), draws(60), draws(1)), (3, 9, 9, 15, 1));
        let pairs = vec![(series, Series::constant(100.0).unwrap()); 8];
        let got = log_ratio(&pairs, 0.95, 20_000, Seed(1)).unwrap();
        // A block's mean is 100 ± 3.33 (one in 27 begins at the seam and has 90, 90, 110 too): sd about 3.33; over
        // 9 blocks and 8 pairs 3.33/√72 of 100.
        assert!((got.standard_error - 0.0333 / 72.0_f64.sqrt()).abs() < 2e-4, "{got:?}");
    }

    #[test]
    fn the_same_seed_gives_the_same_ends_and_the_unit_cancels() {
        let second = |i: u32, unit: f64| (unit * f64::from(100 + i * 7 % 13), 1.0);
        let pairs = |unit: f64| -> Vec<(Series, Series)> {
            (0..6)
                .map(|trial| {
                    let a: Vec<_> = (0..20).map(|i| second(i + trial, unit)).collect();
                    let b: Vec<_> = (0..20).map(|i| second(3 * i + trial, unit)).collect();
                    (Series::new(&a).unwrap(), Series::new(&b).unwrap())
                })
                .collect()
        };
        let got = log_ratio(&pairs(1.0), 0.95, 2_000, Seed(1)).unwrap();
        assert_eq!(got, log_ratio(&pairs(1.0), 0.95, 2_000, Seed(1)).unwrap());
        assert_ne!(got, log_ratio(&pairs(1.0), 0.95, 2_000, Seed(2)).unwrap());
        let scaled = log_ratio(&pairs(1e6), 0.95, 2_000, Seed(1)).unwrap();
        assert!((got.low - scaled.low).abs() < 1e-9 && (got.high - scaled.high).abs() < 1e-9);
        // Fewer samples than METHOD allows are never drawn.
        assert_eq!(log_ratio(&pairs(1.0), 0.95, 1, Seed(1)).unwrap().samples, SAMPLES_MIN);
    }

    #[test]
    fn what_has_no_answer_is_refused() {
        let few = log_ratio(&constants(&[0.1, 0.2, 0.3, 0.4, 0.5]), 0.95, 2_000, Seed(1));
        assert_eq!(few, Err(Refusal::TooFew { needed: 6, had: 5 }));
        assert_eq!(log_ratio(&constants(&[0.0; 8]), 0.95, 2_000, Seed(1)), Err(Refusal::NoSpread { had: 8 }));
        assert!(Series::new(&[]).is_err() && Series::new(&[(1.0, f64::NAN), (1.0, 1.0)]).is_err());
        assert!(Series::new(&[(1.0, -1.0), (1.0, 1.0)]).is_err());
        assert!(Series::new(&[(0.0, 1.0), (0.0, 1.0)]).is_err() && Series::constant(0.0).is_err());
        // Half of the drawn trials have no answer at all.
        let gaps: Vec<(f64, f64)> = (0..8).map(|i| (if i == 0 { 1.0 } else { 0.0 }, 1.0)).collect();
        let pairs = vec![(Series::new(&gaps).unwrap(), Series::constant(1.0).unwrap()); 6];
        assert_eq!(log_ratio(&pairs, 0.95, 2_000, Seed(1)), Err(Refusal::NotFinite));
    }
}
