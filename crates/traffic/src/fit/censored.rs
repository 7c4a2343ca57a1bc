//! Maximum likelihood for gaps of which only whole ticks of a clock are known.
//!
//! A gap X between two arrivals whose times were cut to whole ticks is seen as D = ⌊U + X⌋, U the place of the first
//! arrival within its tick. With U uniform, which holds for any stationary process whose clock is not its own,
//! P(D = d) = G(d + 1) − 2G(d) + G(d − 1) with G(x) = ∫₀ˣF: the likelihood of interval-censored data with all of the
//! interval (d − 1, d + 1) weighed as the cut weighs it. Nothing is jittered.
//!
//! Rates that change over time are taken out first: a gap seen where the rate is λ is held against the law of λX.

use super::search::maximum;
use super::{Family, Fit, Goodness, Law, Refusal, bootstrap};
use units::{Rng, Seed};

/// Samples of the bootstrap: each needs a search.
pub const SAMPLES: u64 = 99;
/// Search ends when the logarithms of the parameters move less.
const TOLERANCE: f64 = 1e-8;
/// Enough for the bootstrap, which only compares distances.
const TOLERANCE_DRAWN: f64 = 1e-3;
/// Probability below which a cell counts as this, so that one wild gap does not decide alone.
const TINY: f64 = 1e-300;

/// Gaps of one size seen at one rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ticks {
    /// Whole ticks between the cut times.
    pub ticks: u64,
    /// Length of a tick in units of the law, above 0: ticks times the rate, where the law is to have the mean 1.
    pub tick: f64,
    /// How many gaps.
    pub count: u64,
}

/// Fits one family to gaps.
///
/// # Errors
/// [`Refusal`]: fewer than ten gaps, or all of them of one size or shorter than the clock tells.
pub fn fit(gaps: &[Ticks], family: Family) -> Result<Fit, Refusal> {
    search(gaps, family, TOLERANCE)
}

fn search(gaps: &[Ticks], family: Family, tolerance: f64) -> Result<Fit, Refusal> {
    let count: u64 = gaps.iter().map(|gap| gap.count).sum();
    let needed = 10;
    if count < needed {
        return Err(Refusal::TooFew { needed: needed as usize, had: count as usize });
    }
    let weigh = |each: fn(&Ticks) -> f64| {
        gaps.iter().map(|gap| gap.count as f64 * each(gap)).sum::<f64>() / count as f64
    };
    // D has the mean of X in ticks, whatever the law.
    let mean = weigh(|gap| gap.ticks as f64 * gap.tick);
    if mean <= 0.0 {
        return Err(Refusal::TooCoarse { why: "all gaps are shorter than its tick".to_owned() });
    }
    // Two gaps of neighbouring sizes may be the same gap.
    let few = gaps.iter().map(|gap| gap.ticks).min().zip(gaps.iter().map(|gap| gap.ticks).max());
    if family != Family::Exponential && few.is_some_and(|(low, high)| high <= low + 1) {
        return Err(Refusal::TooCoarse {
            why: "no gap differs from another by more than its tick".to_owned(),
        });
    }
    let spread = weigh(|gap| (gap.ticks as f64 * gap.tick).powi(2)) - mean * mean;
    let cv = (spread.max(0.0).sqrt() / mean).clamp(0.05, 20.0);
    let likelihood = |law: Law| log_likelihood(gaps, &law);
    let (law, best) = match family {
        Family::Exponential => {
            let at = |x: &[f64; 1]| Law::Exponential { mean: mean * x[0].exp() };
            let (place, best) = maximum([0.0], 0.1, tolerance, |x| likelihood(at(x)));
            (at(&place), best)
        }
        Family::Weibull => {
            let at = |x: &[f64; 2]| Law::Weibull { shape: bounded(x[0]), scale: mean * x[1].exp() };
            let (place, best) = maximum([-cv.ln(), 0.0], 0.2, tolerance, |x| likelihood(at(x)));
            (at(&place), best)
        }
        Family::Gamma => {
            let at = |x: &[f64; 2]| {
                let shape = bounded(x[0]);
                Law::Gamma { shape, scale: mean * x[1].exp() / shape }
            };
            let (place, best) = maximum([-2.0 * cv.ln(), 0.0], 0.2, tolerance, |x| likelihood(at(x)));
            (at(&place), best)
        }
        Family::Lognormal => {
            let sigma = (cv * cv).ln_1p().sqrt();
            let at = |x: &[f64; 2]| Law::Lognormal { mu: x[1], sigma: bounded(x[0]) };
            let start = [sigma.ln(), mean.ln() - sigma * sigma / 2.0];
            let (place, best) = maximum(start, 0.2, tolerance, |x| likelihood(at(x)));
            (at(&place), best)
        }
    };
    if best.is_finite() { Ok(Fit::new(law, best)) } else { Err(Refusal::NoSpread) }
}

/// A parameter by its logarithm, kept where the special functions are at home.
fn bounded(log: f64) -> f64 {
    log.clamp(-4.6, 6.9).exp()
}

/// P(D = d).
fn probability(law: &Law, ticks: u64, tick: f64) -> f64 {
    let below = |place: f64| law.cdf_integral(place * tick) / tick;
    let d = ticks as f64;
    below(d + 1.0) - 2.0 * below(d) + below(d - 1.0)
}

/// P(D ≤ d) = G(d + 1) − G(d).
fn probability_up_to(law: &Law, ticks: u64, tick: f64) -> f64 {
    let d = ticks as f64;
    (law.cdf_integral((d + 1.0) * tick) - law.cdf_integral(d * tick)) / tick
}

fn log_likelihood(gaps: &[Ticks], law: &Law) -> f64 {
    gaps.iter().map(|gap| gap.count as f64 * probability(law, gap.ticks, gap.tick).max(TINY).ln()).sum()
}

/// Goodness of a fit by the bootstrap: gaps are drawn at the same rates, cut by a clock, and fitted again.
#[must_use]
pub fn goodness(gaps: &[Ticks], fitted: &Law, samples: u64, seed: Seed) -> Option<Goodness> {
    let distance = distance(gaps, fitted);
    bootstrap(distance, samples, seed, |rng| {
        let drawn = draw(gaps, fitted, rng);
        let again = search(&drawn, fitted.family(), TOLERANCE_DRAWN).ok()?;
        Some(self::distance(&drawn, &again.law))
    })
}

fn draw(gaps: &[Ticks], law: &Law, rng: &mut Rng) -> Vec<Ticks> {
    let mut drawn = Vec::new();
    for gap in gaps {
        for _ in 0..gap.count {
            let ticks = (rng.unit() + law.draw(rng) / gap.tick).min(1e15) as u64;
            drawn.push(Ticks { ticks, tick: gap.tick, count: 1 });
        }
    }
    grouped(drawn)
}

/// The same gaps with equal ones together, in order.
#[must_use]
pub fn grouped(mut gaps: Vec<Ticks>) -> Vec<Ticks> {
    gaps.sort_unstable_by(|a, b| a.tick.total_cmp(&b.tick).then(a.ticks.cmp(&b.ticks)));
    gaps.dedup_by(|next, kept| {
        let same = next.tick == kept.tick && next.ticks == kept.ticks;
        if same {
            kept.count += next.count;
        }
        same
    });
    gaps
}

/// The largest distance between the shares of gaps up to each size, seen and expected, at the same rates.
fn distance(gaps: &[Ticks], law: &Law) -> f64 {
    let count: u64 = gaps.iter().map(|gap| gap.count).sum();
    let mut seen: Vec<(u64, u64)> = gaps.iter().map(|gap| (gap.ticks, gap.count)).collect();
    seen.sort_unstable();
    let mut rates: Vec<(f64, u64)> = gaps.iter().map(|gap| (gap.tick, gap.count)).collect();
    rates.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    rates.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    let expected = |ticks: u64| {
        let weigh = |rate: &(f64, u64)| rate.1 as f64 * probability_up_to(law, ticks, rate.0);
        rates.iter().map(weigh).sum::<f64>() / count as f64
    };
    let (mut up_to, mut worst) = (0, 0.0_f64);
    for (index, (ticks, n)) in seen.iter().enumerate() {
        up_to += n;
        if seen.get(index + 1).is_some_and(|next| next.0 == *ticks) {
            continue;
        }
        worst = worst.max((up_to as f64 / count as f64 - expected(*ticks)).abs());
        // Just below the next size that was seen, nothing was added but much may have been expected.
        if let Some((next, _)) = seen.get(index + 1).filter(|next| next.0 > ticks + 1) {
            worst = worst.max((up_to as f64 / count as f64 - expected(next - 1)).abs());
        }
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Arrivals of a renewal process, their times cut to whole ticks.
    fn cut(law: &Law, tick: f64, n: usize) -> Vec<Ticks> {
        let mut rng = Seed(3).rng();
        let mut at = 0.0;
        let mut last = 0;
        let mut gaps = Vec::new();
        for _ in 0..n {
            at += law.draw(&mut rng);
            let now = (at / tick) as u64;
            gaps.push(Ticks { ticks: now - last, tick, count: 1 });
            last = now;
        }
        grouped(gaps)
    }

    #[test]
    fn probabilities_add_up_to_one() {
        let laws = [
            Law::Exponential { mean: 1.0 },
            Law::Weibull { shape: 0.7, scale: 1.0 },
            Law::Gamma { shape: 2.0, scale: 0.5 },
            Law::Lognormal { mu: -0.3, sigma: 0.7 },
        ];
        for law in laws {
            let sum: f64 = (0..400).map(|d| probability(&law, d, 0.5)).sum();
            assert!((sum - 1.0).abs() < 1e-6, "{law:?}: {sum}");
            let up_to: f64 = (0..=3).map(|d| probability(&law, d, 0.5)).sum();
            assert!((up_to - probability_up_to(&law, 3, 0.5)).abs() < 1e-12, "{law:?}");
        }
    }

    #[test]
    fn the_law_shows_through_the_clock() {
        let truth = Law::Weibull { shape: 0.6, scale: 1.0 };
        let gaps = cut(&truth, 0.5, 20_000);
        let Law::Weibull { shape, scale } = fit(&gaps, Family::Weibull).unwrap().law else { panic!() };
        assert!((shape / 0.6 - 1.0).abs() < 0.05 && (scale - 1.0).abs() < 0.05, "{shape} {scale}");
        let fits = Family::ALL.map(|family| fit(&gaps, family).unwrap());
        let best = fits.iter().min_by(|a, b| a.aic.total_cmp(&b.aic)).unwrap();
        assert_eq!(best.law.family(), Family::Weibull);
    }

    #[test]
    fn a_fine_clock_gives_what_exact_gaps_give() {
        let truth = Law::Gamma { shape: 1.7, scale: 0.6 };
        let tick = 1e-3;
        let gaps = cut(&truth, tick, 3000);
        let exact: Vec<f64> = gaps
            .iter()
            .flat_map(|gap| (0..gap.count).map(|_| (gap.ticks as f64 * tick).max(tick / 2.0)))
            .collect();
        for family in Family::ALL {
            let (a, b) =
                (fit(&gaps, family).unwrap().law, super::super::exact::fit(&exact, family).unwrap().law);
            assert!((a.mean() / b.mean() - 1.0).abs() < 0.01, "{a:?} {b:?}");
            assert!((a.cv() / b.cv() - 1.0).abs() < 0.02, "{a:?} {b:?}");
        }
    }

    #[test]
    fn the_exponential_maximum_is_the_root_of_its_score() {
        // With p = e^(−t/m) the probabilities are closed forms, so the score can be written out.
        let gaps = cut(&Law::Exponential { mean: 1.0 }, 0.4, 500);
        let Law::Exponential { mean } = fit(&gaps, Family::Exponential).unwrap().law else { panic!() };
        let closed = |m: f64| {
            let r = 0.4 / m;
            let p = |d: u64| match d {
                0 => 1.0 - (1.0 - (-r).exp()) / r,
                d => (-(d as f64 - 1.0) * r).exp() * (1.0 - (-r).exp()).powi(2) / r,
            };
            gaps.iter().map(|gap| gap.count as f64 * p(gap.ticks).ln()).sum::<f64>()
        };
        let step = 1e-4;
        let slope = (closed(mean * (1.0 + step)) - closed(mean * (1.0 - step))) / (2.0 * step);
        // A relative error of 1e-6 in the mean would show as a slope of 500e-6.
        assert!(slope.abs() < 5e-4, "{slope}");
    }

    #[test]
    fn the_bootstrap_accepts_the_law_and_refuses_another() {
        let gaps = cut(&Law::Gamma { shape: 4.0, scale: 0.25 }, 0.4, 600);
        let p = |family| {
            let law = fit(&gaps, family).unwrap().law;
            goodness(&gaps, &law, 40, Seed(1)).unwrap().p
        };
        assert!(p(Family::Gamma) > 0.05);
        assert!(p(Family::Exponential) < 0.05);
    }

    #[test]
    fn what_the_clock_hides_is_refused() {
        let gap = |ticks, count| Ticks { ticks, tick: 1.0, count };
        assert!(matches!(fit(&[gap(0, 50)], Family::Exponential), Err(Refusal::TooCoarse { .. })));
        assert!(matches!(fit(&[gap(0, 50), gap(1, 5)], Family::Gamma), Err(Refusal::TooCoarse { .. })));
        assert!(fit(&[gap(0, 50), gap(1, 5)], Family::Exponential).is_ok());
        assert!(matches!(fit(&[gap(0, 2)], Family::Gamma), Err(Refusal::TooFew { .. })));
    }
}
