//! How many values a t interval or a t test needs, and what a given number of them can show.
//!
//! The power of the two-sided t test is that of the noncentral t law: with n values of standard deviation σ and a true
//! mean δ, T has n − 1 degrees of freedom and noncentrality δ√n/σ (Student's one-sample test; Johnson, Kotz and
//! Balakrishnan, Continuous Univariate Distributions 2, 1995, ch. 31).
//! A standard deviation from few values is as often too small as too large, so sample sizes are taken from an upper
//! limit of it (Browne, Statistics in Medicine 14, 1995; Kieser and Wassmer, Biometrical Journal 38, 1996).
//! Absent on purpose: what is measured, and how long it takes.

use super::Refusal;
use super::student::t_quantile;
use statrs::distribution::{ChiSquared, ContinuousCDF, Normal};
use statrs::function::gamma::ln_gamma;

/// Panels of Simpson's rule; more change no digit that is tested.
const PANELS: usize = 2_000;
/// Standard deviations of the chi law on either side that are integrated over.
const REACH: f64 = 12.0;

/// P(T ≤ t) of the noncentral t law with `freedom` degrees of freedom (1 or more).
///
/// T = (Z + δ)/S with S = √(χ²/ν), so P(T ≤ t) = E Φ(tS − δ); the expectation is integrated over the density of S.
#[must_use]
pub fn noncentral_t_cdf(t: f64, freedom: usize, noncentrality: f64) -> f64 {
    if t.is_nan() || noncentrality.is_nan() {
        return 0.0;
    }
    let standard = Normal::standard();
    over_spread(freedom, |s| standard.cdf(t * s - noncentrality)).clamp(0.0, 1.0)
}

/// E g(S) of S = √(χ²/ν) with ν = `freedom`, by Simpson's rule.
fn over_spread(freedom: usize, g: impl Fn(f64) -> f64) -> f64 {
    let nu = freedom.max(1) as f64;
    let (centre, sd) = (1.0, 1.0 / (2.0 * nu).sqrt());
    let low = (centre - REACH * sd).max(0.0);
    let step = (centre + REACH * sd - low) / PANELS as f64;
    let scale = std::f64::consts::LN_2 + nu / 2.0 * (nu / 2.0).ln() - ln_gamma(nu / 2.0);
    let density = |s: f64| match (s > 0.0, freedom <= 1) {
        (false, false) => 0.0,
        (false, true) => scale.exp(),
        (true, _) => (scale + (nu - 1.0) * s.ln() - nu * s * s / 2.0).exp(),
    };
    let sum: f64 = (0..=PANELS)
        .map(|at| {
            let s = low + at as f64 * step;
            let weight = match at {
                0 | PANELS => 1.0,
                odd if odd % 2 == 1 => 4.0,
                _ => 2.0,
            };
            weight * density(s) * g(s)
        })
        .sum();
    sum * step / 3.0
}

/// The chance that the two-sided t test at `alpha` of `n` values finds a true mean of `effect` standard deviations.
///
/// 0 with fewer than two values.
#[must_use]
pub fn power(n: u32, effect: f64, alpha: f64) -> f64 {
    if n < 2 || !effect.is_finite() {
        return 0.0;
    }
    let freedom = n as usize - 1;
    let critical = t_quantile(1.0 - alpha / 2.0, freedom);
    if !critical.is_finite() {
        return 0.0;
    }
    let delta = effect.abs() * f64::from(n).sqrt();
    let above = 1.0 - noncentral_t_cdf(critical, freedom, delta);
    (above + noncentral_t_cdf(-critical, freedom, delta)).clamp(0.0, 1.0)
}

/// The fewest values, `least` to `most`, with which the test has at least this power; `None` where `most` are too few.
#[must_use]
pub fn count_for_power(effect: f64, alpha: f64, wanted: f64, least: u32, most: u32) -> Option<u32> {
    fewest(least.max(2), most, |n| power(n, effect, alpha) >= wanted)
}

/// The chance that two one-sided tests at `alpha` of `n` values show a true mean of 0 to lie within ± `margin` standard
/// deviations: E max(0, 2Φ(√n (margin − t S/√n)) − 1) over S = √(χ²/ν) (Phillips, J. Pharmacokin. Biopharm. 18, 1990).
///
/// 0 with fewer than two values.
#[must_use]
pub fn equivalence_power(n: u32, margin: f64, alpha: f64) -> f64 {
    if n < 2 || !margin.is_finite() || margin <= 0.0 {
        return 0.0;
    }
    let freedom = n as usize - 1;
    let critical = t_quantile(1.0 - alpha, freedom);
    if !critical.is_finite() {
        return 0.0;
    }
    let standard = Normal::standard();
    let reach = margin * f64::from(n).sqrt();
    over_spread(freedom, |s| (2.0 * standard.cdf(reach - critical * s) - 1.0).max(0.0)).clamp(0.0, 1.0)
}

/// The fewest values, `least` to `most`, with which a true mean of 0 is shown to lie within the margin with this chance;
/// `None` where `most` are too few.
#[must_use]
pub fn count_for_equivalence(margin: f64, alpha: f64, wanted: f64, least: u32, most: u32) -> Option<u32> {
    fewest(least.max(2), most, |n| equivalence_power(n, margin, alpha) >= wanted)
}

/// The smallest true mean, in standard deviations, that the test of `n` values finds with this chance; `None` with
/// fewer than two values, or where `wanted` is not above `alpha` and below 1.
#[must_use]
pub fn smallest_effect(n: u32, alpha: f64, wanted: f64) -> Option<f64> {
    if n < 2 || !(wanted > alpha && wanted < 1.0 && alpha > 0.0) {
        return None;
    }
    let mut high = 1.0;
    while power(n, high, alpha) < wanted {
        high *= 2.0;
        if high > 1e6 {
            return None;
        }
    }
    let mut low = 0.0;
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if power(n, middle, alpha) < wanted { low = middle } else { high = middle }
    }
    Some(high)
}

/// Half-width of the t interval of the mean of `n` values of this standard deviation: t_{n−1} · sd/√n; infinite with
/// fewer than two.
#[must_use]
pub fn half_width(n: u32, sd: f64, confidence: f64) -> f64 {
    if n < 2 {
        return f64::INFINITY;
    }
    t_quantile(0.5 + confidence / 2.0, n as usize - 1) * sd / f64::from(n).sqrt()
}

/// The fewest values, `least` to `most`, whose interval has at most this half-width; `None` where `most` are too few.
#[must_use]
pub fn count_for_width(sd: f64, wanted: f64, confidence: f64, least: u32, most: u32) -> Option<u32> {
    fewest(least.max(2), most, |n| half_width(n, sd, confidence) <= wanted)
}

/// The first of `low..=high` that is enough, where all after it are; by bisection.
fn fewest(low: u32, high: u32, is_enough: impl Fn(u32) -> bool) -> Option<u32> {
    if low > high || !is_enough(high) {
        return None;
    }
    let (mut low, mut high) = (low, high);
    while low < high {
        let middle = low + (high - low) / 2;
        if is_enough(middle) { high = middle } else { low = middle + 1 }
    }
    Some(high)
}

/// The upper limit of the true standard deviation with this `assurance` (0 to 1): s √(ν/χ²_{1−assurance, ν}).
///
/// # Errors
/// [`Refusal`] without a degree of freedom or with a standard deviation that is no finite number.
pub fn sd_upper(sd: f64, freedom: usize, assurance: f64) -> Result<f64, Refusal> {
    if !sd.is_finite() || sd < 0.0 || !(assurance > 0.0 && assurance < 1.0) {
        return Err(Refusal::NotFinite);
    }
    if freedom == 0 {
        return Err(Refusal::TooFew { needed: 2, had: 1 });
    }
    let law = ChiSquared::new(freedom as f64).map_err(|_| Refusal::NotFinite)?;
    let upper = sd * (freedom as f64 / law.inverse_cdf(1.0 - assurance)).sqrt();
    if upper.is_finite() { Ok(upper) } else { Err(Refusal::NotFinite) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(got: f64, wanted: f64, tolerance: f64) {
        assert!((got - wanted).abs() <= tolerance * wanted.abs().max(1e-3), "{got} is not {wanted}");
    }

    #[test]
    fn the_noncentral_law_agrees_with_scipy() {
        // scipy.stats.nct.cdf 1.17.1.
        for (t, freedom, delta, wanted) in [
            (2.776_445, 4, 3.0, 0.380_742_434_513_628_4),
            (-2.776_445, 4, 1.0, 0.002_796_673_675_856_338),
            (0.0, 3, 0.5, 0.308_537_538_725_986_9),
            (2.262_157_162_8, 9, 2.5, 0.393_873_221_018_237_9),
            (12.706_2, 1, 5.0, 0.694_839_793_255_580_8),
            (1.98, 100, 2.8, 0.206_962_607_932_301_87),
            (2.0, 30, -1.0, 0.998_085_598_166_049_7),
        ] {
            near(noncentral_t_cdf(t, freedom, delta), wanted, 1e-9);
        }
        assert!(noncentral_t_cdf(3.0, 5, 30.0) < 1e-12, "scipy has 1e-67");
    }

    #[test]
    fn power_agrees_with_scipy_and_statsmodels() {
        // By scipy.stats.nct 1.17.1; the first, second and fifth also by statsmodels 0.15.0, TTestPower().power.
        for (n, effect, wanted) in [
            (5, 1.0, 0.401_389_917_371_795),
            (10, 0.5, 0.293_175_606_514_076_9),
            (10, 1.0, 0.803_096_856_632_721_9),
            (20, 0.5, 0.564_504_418_439_021),
            (34, 0.5, 0.807_777_501_279_273_8),
            (2, 3.0, 0.260_770_714_229_109_75),
            (60, 0.2, 0.331_678_646_201_806_7),
        ] {
            near(power(n, effect, 0.05), wanted, 1e-8);
        }
    }

    #[test]
    fn sample_sizes_and_effects_agree_with_statsmodels() {
        // TTestPower().solve_power(effect, alpha = 0.05, power = 0.8): 33.37, 9.94, 4.22 and 198.15, rounded up.
        for (effect, wanted) in [(0.5, 34), (1.0, 10), (2.0, 5), (0.2, 199)] {
            assert_eq!(count_for_power(effect, 0.05, 0.8, 2, 1_000), Some(wanted));
        }
        for (n, wanted) in [(5, 1.681_997_083_323), (10, 0.996_001_910_762), (30, 0.529_235_704_524)] {
            // Its solver stops within a millionth.
            near(smallest_effect(n, 0.05, 0.8).unwrap(), wanted, 1e-6);
        }
        // By scipy.stats.t.ppf, counting up from 5.
        for (sd, half, wanted) in [(0.02, 0.019_8, 7), (0.05, 0.019_8, 27), (1.0, 0.25, 64)] {
            assert_eq!(count_for_width(sd, half, 0.95, 5, 10_000), Some(wanted));
        }
    }

    /// Against 40,000 simulated samples: the standard error is 0.0025.
    #[test]
    fn the_power_of_equivalence_is_that_of_a_simulation() {
        let mut rng = units::Seed(3).rng();
        for (n, margin, alpha) in [(5_u32, 1.5, 0.05), (10, 1.0, 0.05), (6, 2.5, 0.01)] {
            let runs = 40_000;
            let critical = t_quantile(1.0 - alpha, n as usize - 1);
            let shown = (0..runs).filter(|_| {
                let values: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
                let mean = values.iter().sum::<f64>() / f64::from(n);
                let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
                let half = critical * (squares / f64::from(n - 1) / f64::from(n)).sqrt();
                mean.abs() + half <= margin
            });
            let share = shown.count() as f64 / f64::from(runs);
            let wanted = equivalence_power(n, margin, alpha);
            assert!((share - wanted).abs() < 0.01, "{n} {margin}: {share} is not {wanted}");
        }
        assert_eq!(equivalence_power(1, 1.0, 0.05), 0.0);
        let needed = count_for_equivalence(1.0, 0.05, 0.8, 5, 100).unwrap();
        assert!(
            equivalence_power(needed, 1.0, 0.05) >= 0.8 && equivalence_power(needed - 1, 1.0, 0.05) < 0.8
        );
    }

    #[test]
    fn limits_of_the_standard_deviation_agree_with_scipy() {
        // numpy.sqrt(nu / scipy.stats.chi2.ppf(1 - g, nu)).
        for (freedom, assurance, wanted) in [
            (4, 0.8, 1.557_575_422_556_63),
            (9, 0.8, 1.293_385_444_472_952_5),
            (49, 0.8, 1.099_476_806_492_153_6),
            (4, 0.95, 2.372_355_691_409_755_4),
        ] {
            near(sd_upper(1.0, freedom, assurance).unwrap(), wanted, 1e-9);
        }
    }

    #[test]
    fn what_cannot_be_is_refused_or_zero() {
        assert_eq!(power(1, 1.0, 0.05), 0.0);
        assert_eq!(power(5, f64::NAN, 0.05), 0.0);
        assert_eq!(smallest_effect(1, 0.05, 0.8), None);
        assert_eq!(smallest_effect(5, 0.05, 0.05), None);
        assert_eq!(smallest_effect(5, 0.05, 1.0), None);
        assert_eq!(count_for_power(1e-9, 0.05, 0.8, 5, 100), None);
        assert_eq!(count_for_width(1.0, 0.0, 0.95, 5, 100), None);
        assert_eq!(half_width(1, 1.0, 0.95), f64::INFINITY);
        assert_eq!(sd_upper(1.0, 0, 0.8), Err(Refusal::TooFew { needed: 2, had: 1 }));
        assert_eq!(sd_upper(f64::NAN, 4, 0.8), Err(Refusal::NotFinite));
        // A spread of nothing needs no more than the fewest.
        assert_eq!(count_for_width(0.0, 0.01, 0.95, 5, 100), Some(5));
    }

    #[test]
    fn power_grows_with_values_and_effect_and_is_alpha_without_one() {
        near(power(8, 0.0, 0.05), 0.05, 1e-6);
        let by_count: Vec<f64> = (2..40).map(|n| power(n, 0.7, 0.05)).collect();
        assert!(by_count.windows(2).all(|pair| pair[0] < pair[1]), "{by_count:?}");
        let by_effect: Vec<f64> = (0..40).map(|at| power(6, f64::from(at) * 0.2, 0.05)).collect();
        assert!(by_effect.windows(2).all(|pair| pair[0] <= pair[1] + 1e-12), "{by_effect:?}");
        // The effect that is found with 80 % is found with 80 %.
        for n in [2, 5, 12, 60] {
            near(power(n, smallest_effect(n, 0.05, 0.8).unwrap(), 0.05), 0.8, 1e-9);
        }
    }
}
