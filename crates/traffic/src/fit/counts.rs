//! Maximum likelihood for counts of arrivals in windows, where the clock is too coarse for single gaps.
//!
//! With gaps of the law Gamma(k, 1/k) and m arrivals expected, P(N = n) = P(kn, km) − P(k(n + 1), km), P the regularised
//! incomplete gamma function (Winkelmann, J. Bus. Econ. Stat. 13, 1995); k = 1 is Poisson. The expected numbers come
//! from the shape of the rate, so k alone is free. Weibull and lognormal gaps have no such form, and counts of many
//! arrivals show no more of a law than its spread, which k holds: they are refused.

use super::search::maximum;
use super::special::lower_gamma;
use super::{Family, Fit, Goodness, Law, Refusal, bootstrap};
use analyze::stats::fit::ks_distance;
use units::{Rng, Seed};

/// Samples of the bootstrap: each needs a search.
pub const SAMPLES: u64 = 99;
/// Range of k in which the special functions are at home.
const LOG_SHAPE: (f64, f64) = (-6.9, 6.9);
/// As in the fits of gaps.
const TINY: f64 = 1e-300;

/// One window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Arrivals in it.
    pub count: u64,
    /// Arrivals expected, above 0.
    pub expected: f64,
}

/// Fits one family to windows; the mean of the law is 1, in expected arrivals.
///
/// # Errors
/// [`Refusal`]: fewer than ten windows, one that expects nothing, or a law that counts do not show.
pub fn fit(windows: &[Window], family: Family) -> Result<Fit, Refusal> {
    search(windows, family, 1e-8)
}

fn search(windows: &[Window], family: Family, tolerance: f64) -> Result<Fit, Refusal> {
    let needed = 10;
    if windows.len() < needed {
        return Err(Refusal::TooFew { needed, had: windows.len() });
    }
    if let Some(window) = windows.iter().find(|window| !window.expected.is_finite() || window.expected <= 0.0)
    {
        return Err(Refusal::NotPositive { value: window.expected });
    }
    let likelihood =
        |shape: f64| -> f64 { windows.iter().map(|window| probability(shape, window).max(TINY).ln()).sum() };
    match family {
        Family::Exponential => Ok(Fit::new(Law::Exponential { mean: 1.0 }, likelihood(1.0))),
        Family::Gamma => {
            let squares: f64 = windows.iter().map(|w| (w.count as f64 - w.expected).powi(2)).sum();
            let dispersion = squares / windows.iter().map(|window| window.expected).sum::<f64>();
            let shape = |x: &[f64; 1]| x[0].clamp(LOG_SHAPE.0, LOG_SHAPE.1).exp();
            let start = [(-dispersion.max(1e-3).ln()).clamp(LOG_SHAPE.0, LOG_SHAPE.1)];
            let (place, best) = maximum(start, 0.2, tolerance, |x| likelihood(shape(x)));
            let shape = shape(&place);
            Ok(Fit::new(Law::Gamma { shape, scale: shape.recip() }, best))
        }
        Family::Weibull | Family::Lognormal => {
            let why =
                "gaps are shorter than its tick, and counts show no more than the spread that gamma holds";
            Err(Refusal::TooCoarse { why: why.to_owned() })
        }
    }
}

/// P(N ≥ n).
fn at_least(shape: f64, n: u64, expected: f64) -> f64 {
    if n == 0 { 1.0 } else { lower_gamma(shape * n as f64, shape * expected) }
}

fn probability(shape: f64, window: &Window) -> f64 {
    at_least(shape, window.count, window.expected) - at_least(shape, window.count + 1, window.expected)
}

/// Goodness of a fit by the bootstrap: the middle of each count's step of the distribution against the even law.
#[must_use]
pub fn goodness(windows: &[Window], fitted: &Law, samples: u64, seed: Seed) -> Option<Goodness> {
    let distance = distance(windows, shape_of(fitted)?)?;
    bootstrap(distance, samples, seed, |rng| {
        let shape = shape_of(fitted)?;
        let draw = |window: &Window| Window { count: draw(shape, window.expected, rng), ..*window };
        let drawn: Vec<Window> = windows.iter().map(draw).collect();
        let again = search(&drawn, fitted.family(), 1e-3).ok()?;
        self::distance(&drawn, shape_of(&again.law)?)
    })
}

const fn shape_of(law: &Law) -> Option<f64> {
    match law {
        Law::Exponential { .. } => Some(1.0),
        Law::Gamma { shape, .. } => Some(*shape),
        _ => None,
    }
}

fn distance(windows: &[Window], shape: f64) -> Option<f64> {
    let middle = |window: &Window| {
        let (from, to) = (window.count, window.count + 1);
        1.0 - (at_least(shape, from, window.expected) + at_least(shape, to, window.expected)) / 2.0
    };
    let mut places: Vec<f64> = windows.iter().map(middle).collect();
    places.sort_unstable_by(f64::total_cmp);
    ks_distance(&places, |x| x.clamp(0.0, 1.0)).ok()
}

/// A count by inversion: the largest n with P(N ≥ n) ≥ u, found by doubling steps and halving.
fn draw(shape: f64, expected: f64, rng: &mut Rng) -> u64 {
    let u = 1.0 - rng.unit();
    let reaches = |n: u64| at_least(shape, n, expected) >= u;
    let (mut low, mut step) = (0_u64, (expected / shape).sqrt().max(1.0) as u64);
    let middle = expected as u64;
    if reaches(middle) {
        low = middle;
    }
    let mut high = if low == middle { low + step } else { middle };
    while low >= middle && reaches(high) && step < 1 << 40 {
        low = high;
        step *= 2;
        high += step;
    }
    while high - low > 1 {
        let between = low + (high - low) / 2;
        if reaches(between) {
            low = between;
        } else {
            high = between;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts of a gamma renewal process in windows that each begin with a gap.
    fn counted(shape: f64, expected: f64, n: usize) -> Vec<Window> {
        let law = Law::Gamma { shape, scale: shape.recip() };
        let mut rng = Seed(4).rng();
        let mut one = || {
            let (mut at, mut count) = (law.draw(&mut rng), 0);
            while at <= expected {
                at += law.draw(&mut rng);
                count += 1;
            }
            Window { count, expected }
        };
        (0..n).map(|_| one()).collect()
    }

    #[test]
    fn with_shape_one_the_counts_are_poissons() {
        for n in 0..20_u64 {
            let poisson =
                (-7.5 + n as f64 * 7.5_f64.ln() - statrs::function::gamma::ln_gamma(n as f64 + 1.0)).exp();
            let window = Window { count: n, expected: 7.5 };
            assert!((probability(1.0, &window) - poisson).abs() < 1e-12, "{n}");
        }
    }

    #[test]
    fn the_shape_is_found_again() {
        for (shape, expected) in [(0.3, 20.0), (1.0, 50.0), (4.0, 8.0)] {
            let windows = counted(shape, expected, 4000);
            let Law::Gamma { shape: found, .. } = fit(&windows, Family::Gamma).unwrap().law else { panic!() };
            assert!((found / shape - 1.0).abs() < 0.08, "{found} for {shape}");
        }
        assert!(matches!(fit(&counted(1.0, 5.0, 20), Family::Weibull), Err(Refusal::TooCoarse { .. })));
        assert!(matches!(fit(&[], Family::Gamma), Err(Refusal::TooFew { .. })));
        let empty = vec![Window { count: 0, expected: 0.0 }; 20];
        assert!(matches!(fit(&empty, Family::Gamma), Err(Refusal::NotPositive { .. })));
    }

    #[test]
    fn drawn_counts_have_mean_and_spread() {
        for (shape, expected) in [(1.0, 3.0), (1.0, 500.0), (0.2, 300.0), (5.0, 40.0)] {
            let mut rng = Seed(8).rng();
            let n = 4000_u32;
            let counts: Vec<f64> = (0..n).map(|_| draw(shape, expected, &mut rng) as f64).collect();
            let mean = counts.iter().sum::<f64>() / f64::from(n);
            // An ordinary renewal process counts (cv² − 1)/2 more than m, for m not small.
            let wanted = expected + (1.0 / shape - 1.0) / 2.0;
            let slack = 4.0 * (expected / shape / f64::from(n)).sqrt() + 0.2;
            assert!((mean - wanted).abs() < slack, "{shape} {expected}: {mean}");
        }
    }

    #[test]
    fn the_bootstrap_refuses_poisson_for_bursts() {
        let windows = counted(0.3, 20.0, 300);
        let p = |family| {
            let law = fit(&windows, family).unwrap().law;
            goodness(&windows, &law, 40, Seed(1)).unwrap().p
        };
        assert!(p(Family::Gamma) > 0.05);
        assert!(p(Family::Exponential) < 0.05);
    }
}
