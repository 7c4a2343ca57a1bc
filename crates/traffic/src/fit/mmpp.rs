//! A Poisson process whose rate jumps between two, MMPP(2), fitted by maximum likelihood to counts in equal bins.
//!
//! The states of neighbouring bins are a hidden chain with the transition matrix exp(Q·Δ), where Q leaves the busy state
//! at 1/busy_s and the quiet one at 1/quiet_s; given the state, a bin's count is Poisson with the shape's expectation
//! times the state's intensity. The likelihood is that of the forward recursion, scaled (Fischer & Meier-Hellstern,
//! Performance Evaluation 18, 1993, §3; Rydén, Comm. Statist. Stochastic Models 12, 1996; Rabiner, Proc. IEEE 77, 1989).
//! A state that ends within a bin is taken to end at its border, which matters where states last a few bins only: such
//! fits are refused. BIC (Schwarz, Ann. Statist. 6, 1978) is against the Poisson process of the same shape, on the same
//! counts.
//! Invariant: mean intensity 1, so that the rate is the shape's.

use super::search::maximum;

/// Bins that the search looks at.
const BINS_MAX: usize = 20_000;
/// Fewest bins.
const BINS_MIN: usize = 200;
/// A state lasts as many bins on average at least.
const DWELL_MIN_BINS: f64 = 3.0;

/// Two states.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mmpp {
    /// Intensity of the busy state over the mean, above 1.
    pub high: f64,
    /// Intensity of the quiet state over the mean, 0 to 1.
    pub low: f64,
    /// Mean time in the busy state, in seconds.
    pub busy_s: f64,
    /// Mean time in the quiet state, in seconds.
    pub quiet_s: f64,
    /// BIC of the Poisson process less that of this one: above 0 this one is preferred, above 10 strongly (Kass &
    /// Raftery, JASA 90, 1995).
    pub bic_gain: f64,
}

/// The fit to `counts` in bins of `bin_s` seconds of which `expected` are expected by the shape of the rate; `None` with
/// too few bins, or where no two states can be told from one.
#[must_use]
pub fn fitted(counts: &[u32], expected: &[f64], bin_s: f64) -> Option<Mmpp> {
    let n = counts.len().min(expected.len()).min(BINS_MAX);
    let (counts, expected) = (&counts[..n], &expected[..n]);
    if n < BINS_MIN || expected.iter().any(|mean| !mean.is_finite() || *mean <= 0.0) {
        return None;
    }
    let value = |place: &[f64; 3]| likelihood(counts, expected, bin_s, &of(place));
    // Ratio of the intensities, and the times in both states, on the log scale; the likelihood has local maxima.
    let starts = [0.5, 3.0, 20.0].into_iter().flat_map(|busy_s: f64| {
        [1.0, 4.0]
            .map(|times| [8.0_f64.ln(), (busy_s * bin_s / 0.1).ln(), (times * busy_s * bin_s / 0.1).ln()])
    });
    let found = starts.map(|start| maximum(start, 0.5, 1e-3, value)).max_by(|a, b| a.1.total_cmp(&b.1))?;
    let best = of(&found.0);
    let poisson = likelihood(counts, expected, bin_s, &Mmpp { high: 1.0, low: 1.0, ..best });
    let bic_gain = 2.0 * (found.1 - poisson) - 3.0 * (n as f64).ln();
    let is_distinct = best.busy_s.min(best.quiet_s) >= DWELL_MIN_BINS * bin_s
        && best.busy_s.max(best.quiet_s) <= n as f64 * bin_s / 4.0;
    (is_distinct && bic_gain > 0.0 && bic_gain.is_finite()).then_some(Mmpp { bic_gain, ..best })
}

fn of(place: &[f64; 3]) -> Mmpp {
    // Bounded, so that no step of the search overflows.
    let at = |index: usize, least: f64, most: f64| place[index].clamp(least, most).exp();
    let (ratio, busy_s, quiet_s) = (at(0, 0.01, 9.0), at(1, -7.0, 12.0), at(2, -7.0, 12.0));
    let low = (busy_s + quiet_s) / (ratio * busy_s + quiet_s);
    Mmpp { high: ratio * low, low, busy_s, quiet_s, bic_gain: 0.0 }
}

/// ln of the likelihood, without the terms that no parameter changes.
fn likelihood(counts: &[u32], expected: &[f64], bin_s: f64, law: &Mmpp) -> f64 {
    let (leave_busy, leave_quiet) = (1.0 / law.busy_s, 1.0 / law.quiet_s);
    let busy = leave_quiet / (leave_busy + leave_quiet);
    let stays = (-(leave_busy + leave_quiet) * bin_s).exp();
    // From busy to quiet and back within a bin's time.
    let (to_quiet, to_busy) = ((1.0 - busy) * (1.0 - stays), busy * (1.0 - stays));
    let (ln_high, ln_low) = (law.high.ln(), law.low.max(1e-12).ln());
    let (mut is_busy, mut is_quiet) = (busy, 1.0 - busy);
    let mut sum = 0.0;
    for (count, mean) in counts.iter().zip(expected) {
        let count = f64::from(*count);
        let (high, low) = (count * ln_high - mean * law.high, count * ln_low - mean * law.low);
        let most = high.max(low);
        let (high, low) = (is_busy * (high - most).exp(), is_quiet * (low - most).exp());
        let all = high + low;
        sum += most + all.ln();
        let (high, low) = (high / all, low / all);
        is_busy = high * (1.0 - to_quiet) + low * to_busy;
        is_quiet = high * to_quiet + low * (1.0 - to_busy);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Seed;

    /// Counts of a process that is simulated arrival by arrival.
    fn counts(high: f64, low: f64, busy_s: f64, quiet_s: f64, per_s: f64, bins: usize) -> Vec<u32> {
        let mut rng = Seed(12).rng();
        let mean = (high * busy_s + low * quiet_s) / (busy_s + quiet_s);
        let mut counts = vec![0; bins];
        let (mut at_s, mut until_s, mut is_busy) = (0.0, 0.0, false);
        while at_s < bins as f64 * 0.1 {
            if at_s >= until_s {
                is_busy = !is_busy;
                until_s = at_s + rng.exponential() * if is_busy { busy_s } else { quiet_s };
            }
            let rate = per_s * if is_busy { high } else { low } / mean;
            let next_s = at_s + rng.exponential() / rate;
            if next_s < until_s {
                if let Some(count) = counts.get_mut((next_s * 10.0) as usize) {
                    *count += 1;
                }
                at_s = next_s;
            } else {
                at_s = until_s;
            }
        }
        counts
    }

    #[test]
    fn the_process_that_made_the_counts_is_found() {
        let made = counts(15.0, 1.0, 2.0, 8.0, 38.0, 18_000);
        let found = fitted(&made, &vec![3.8; made.len()], 0.1).unwrap();
        println!("{found:?}");
        assert!((found.high / found.low / 15.0 - 1.0).abs() < 0.15, "{found:?}");
        assert!(
            (found.busy_s / 2.0 - 1.0).abs() < 0.25 && (found.quiet_s / 8.0 - 1.0).abs() < 0.25,
            "{found:?}"
        );
        assert!(found.bic_gain > 1_000.0, "{found:?}");
        assert!(
            ((found.high * found.busy_s + found.low * found.quiet_s) / (found.busy_s + found.quiet_s) - 1.0)
                .abs()
                < 1e-9
        );
    }

    #[test]
    fn one_rate_has_no_two_states() {
        let made = counts(1.0, 1.0, 2.0, 8.0, 38.0, 6_000);
        let mean = made.iter().map(|count| f64::from(*count)).sum::<f64>() / made.len() as f64;
        assert_eq!(fitted(&made, &vec![mean; made.len()], 0.1), None);
        assert_eq!(fitted(&made[..100], &vec![mean; 100], 0.1), None);
        assert_eq!(fitted(&made, &vec![0.0; made.len()], 0.1), None);
    }
}
