//! Maximum likelihood for numbers of steps: values of a law that were rounded up to whole numbers.
//!
//! P(n) = F(n) − F(n − 1) for n ≥ 1. Of the exponential law that is the geometric one, exactly; the other families have no
//! closed form, so the likelihood is searched.

use super::search::maximum;
use super::{Family, Fit, Goodness, Law, Refusal, bootstrap};
use std::collections::BTreeMap;
use units::{Rng, Seed};

/// Samples of the bootstrap: each needs a search.
pub const SAMPLES: u64 = 99;
/// Fewest values: a law of two parameters, and a tail that can be seen.
pub const FEWEST: u64 = 50;
/// Search ends when the logarithms of the parameters move less.
const TOLERANCE: f64 = 1e-8;
/// Enough for the bootstrap, which only compares distances.
const TOLERANCE_DRAWN: f64 = 1e-3;
/// Probability below which a value counts as this, so that one wild length does not decide alone.
const TINY: f64 = 1e-300;
/// Longest drawn value.
const LENGTH_MAX: f64 = 1e9;

/// How often each length was seen.
pub type Seen = BTreeMap<u64, u64>;

/// Fits one family.
///
/// # Errors
/// [`Refusal`]: fewer than fifty values, or (but for the exponential law) all of them alike.
pub fn fit(seen: &Seen, family: Family) -> Result<Fit, Refusal> {
    search(seen, family, TOLERANCE)
}

fn search(seen: &Seen, family: Family, tolerance: f64) -> Result<Fit, Refusal> {
    let count: u64 = seen.values().sum();
    if count < FEWEST {
        return Err(Refusal::TooFew { needed: FEWEST as usize, had: count as usize });
    }
    if seen.keys().next() == Some(&0) {
        return Err(Refusal::NotPositive { value: 0.0 });
    }
    if seen.len() < 2 {
        return Err(Refusal::NoSpread);
    }
    let weigh = |each: fn(f64) -> f64| {
        seen.iter().map(|(length, times)| *times as f64 * each(*length as f64)).sum::<f64>() / count as f64
    };
    let mean = weigh(|length| length);
    if family == Family::Exponential {
        // Geometric: the share of last steps is the mean's inverse.
        let law = Law::Exponential { mean: -1.0 / (-1.0 / mean).ln_1p() };
        let best = log_likelihood(seen, &law);
        return if best.is_finite() { Ok(Fit::new(law, best)) } else { Err(Refusal::NoSpread) };
    }
    // A value is half a step less than what it was rounded to, on average.
    let before = (mean - 0.5).max(0.1);
    let cv = ((weigh(|length| length * length) - mean * mean).max(0.0).sqrt() / before).clamp(0.05, 20.0);
    let sigma = (cv * cv).ln_1p().sqrt();
    let at = |x: &[f64; 2]| {
        let shape = x[0].clamp(-4.6, 6.9).exp();
        match family {
            Family::Weibull => Law::Weibull { shape, scale: before * x[1].exp() },
            Family::Gamma => Law::Gamma { shape, scale: before * x[1].exp() / shape },
            // Within what has a mean that can be written.
            _ => Law::Lognormal { mu: x[1].clamp(-50.0, 50.0), sigma: shape.min(5.0) },
        }
    };
    let start = match family {
        Family::Weibull => [-cv.ln(), 0.0],
        Family::Gamma => [-2.0 * cv.ln(), 0.0],
        _ => [sigma.ln(), before.ln() - sigma * sigma / 2.0],
    };
    let (place, best) = maximum(start, 0.2, tolerance, |x| log_likelihood(seen, &at(x)));
    if best.is_finite() { Ok(Fit::new(at(&place), best)) } else { Err(Refusal::NoSpread) }
}

fn log_likelihood(seen: &Seen, law: &Law) -> f64 {
    let one = |(length, times): (&u64, &u64)| {
        let n = *length as f64;
        *times as f64 * (law.cdf(n) - law.cdf(n - 1.0)).max(TINY).ln()
    };
    seen.iter().map(one).sum()
}

/// Goodness of a fit by the bootstrap: values are drawn, rounded up and fitted again.
#[must_use]
pub fn goodness(seen: &Seen, fitted: &Law, samples: u64, seed: Seed) -> Option<Goodness> {
    bootstrap(distance(seen, fitted), samples, seed, |rng| {
        let drawn = draw(seen.values().sum(), fitted, rng);
        let again = search(&drawn, fitted.family(), TOLERANCE_DRAWN).ok()?;
        Some(distance(&drawn, &again.law))
    })
}

fn draw(count: u64, law: &Law, rng: &mut Rng) -> Seen {
    let mut drawn = Seen::new();
    for _ in 0..count {
        *drawn.entry(law.draw(rng).ceil().clamp(1.0, LENGTH_MAX) as u64).or_default() += 1;
    }
    drawn
}

/// The largest distance between the shares of lengths up to each, seen and expected.
fn distance(seen: &Seen, law: &Law) -> f64 {
    let count: u64 = seen.values().sum();
    let (mut below, mut worst) = (0, 0.0_f64);
    for (length, times) in seen {
        // Just below it, nothing was added but much may have been expected.
        let share = |up_to: u64| up_to as f64 / (count as f64).max(1.0);
        worst = worst.max((share(below) - law.cdf(*length as f64 - 1.0)).abs());
        below += times;
        worst = worst.max((share(below) - law.cdf(*length as f64)).abs());
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn laws_that_made_the_lengths_come_back() {
        for (law, slack) in [
            (Law::Exponential { mean: 5.0 }, 0.06),
            (Law::Lognormal { mu: 1.5, sigma: 0.7 }, 0.08),
            (Law::Weibull { shape: 1.6, scale: 8.0 }, 0.08),
            (Law::Gamma { shape: 2.5, scale: 3.0 }, 0.12),
        ] {
            let seen = draw(4000, &law, &mut Seed(9).rng());
            let fitted = fit(&seen, law.family()).unwrap();
            let off = |a: f64, b: f64| (a / b - 1.0).abs();
            assert!(off(fitted.law.mean(), law.mean()) < slack, "{law:?}: {fitted:?}");
            assert!(off(fitted.law.cv(), law.cv()) < slack, "{law:?}: {fitted:?}");
            let goodness = goodness(&seen, &fitted.law, SAMPLES, Seed(8)).unwrap();
            assert!(goodness.p > 0.05, "{law:?}: {goodness:?}");
            let best = Family::ALL.into_iter().filter_map(|family| fit(&seen, family).ok());
            let best = best.min_by(|a, b| a.aic.total_cmp(&b.aic)).unwrap();
            // The exponential law is a Weibull and a gamma law, too.
            assert!(best.aic > fitted.aic - 4.0, "{law:?}: {best:?}");
        }
    }

    #[test]
    fn a_second_parameter_is_not_biased() {
        // Over eight logs the shape of the Weibull law that is exponential has a standard error of 0.78/√32,000.
        let law = Law::Exponential { mean: 5.0 };
        let shape = |seed| match fit(&draw(4000, &law, &mut Seed(seed).rng()), Family::Weibull).unwrap().law {
            Law::Weibull { shape, .. } => shape,
            other => panic!("{other:?}"),
        };
        let mean = (20..28).map(shape).sum::<f64>() / 8.0;
        assert!((mean - 1.0).abs() < 4.0 * 0.78 / 32_000.0_f64.sqrt(), "{mean}");
    }

    #[test]
    fn another_law_is_told_by_its_goodness() {
        // Half of the sessions have one step, half have thirty.
        let seen = Seen::from([(1, 500), (30, 500)]);
        for family in Family::ALL {
            let fitted = fit(&seen, family).unwrap();
            assert!(goodness(&seen, &fitted.law, SAMPLES, Seed(1)).unwrap().p < 0.05, "{fitted:?}");
        }
    }

    #[test]
    fn too_few_and_equal_lengths_are_refused() {
        let few = Seen::from([(1, 20), (2, 29)]);
        assert_eq!(fit(&few, Family::Gamma), Err(Refusal::TooFew { needed: 50, had: 49 }));
        let equal = Seen::from([(3, 100)]);
        assert_eq!(fit(&equal, Family::Exponential), Err(Refusal::NoSpread));
        let zero = Seen::from([(0, 60), (2, 50)]);
        assert!(matches!(fit(&zero, Family::Weibull), Err(Refusal::NotPositive { .. })));
        let wild = Seen::from([(1, 60), (u64::MAX, 1)]);
        for family in Family::ALL {
            if let Ok(found) = fit(&wild, family) {
                assert!(found.aic.is_finite() && found.law.mean().is_finite(), "{found:?}");
            }
        }
    }
}
