//! Maximum likelihood for values known exactly, by closed forms and safeguarded Newton steps.
//!
//! Exponential: the mean. Lognormal: mean and standard deviation (divisor n) of the logarithms. Gamma: the root of
//! ln k − ψ(k) = ln x̄ − mean(ln x). Weibull: the root of Σxᵏln x/Σxᵏ − 1/k = mean(ln x). Both functions are monotone
//! in k, so a bracket always holds the root (Johnson, Kotz & Balakrishnan, Continuous Univariate Distributions 1,
//! 1994, §§17.7, 21.4).

use super::special::{digamma, trigamma};
use super::{Family, Fit, Goodness, Law, Refusal, bootstrap};
use analyze::stats::fit::ks_distance;
use units::Seed;

/// Newton steps at most; a few are needed.
const STEPS_MAX: u32 = 200;
/// Shapes beyond are those of samples without spread.
const SHAPE_MAX: f64 = 1e9;

/// Fits one family.
///
/// # Errors
/// [`Refusal`]: fewer than two values, one that is not positive and finite, or (but for the exponential law) no
/// spread.
pub fn fit(values: &[f64], family: Family) -> Result<Fit, Refusal> {
    let needed = 2;
    if values.len() < needed {
        return Err(Refusal::TooFew { needed, had: values.len() });
    }
    if let Some(value) = values.iter().copied().find(|value| !value.is_finite() || *value <= 0.0) {
        return Err(Refusal::NotPositive { value });
    }
    let law = match family {
        Family::Exponential => Law::Exponential { mean: mean(values) },
        Family::Weibull => weibull(values)?,
        Family::Gamma => gamma(values)?,
        Family::Lognormal => lognormal(values)?,
    };
    let log_likelihood: f64 = values.iter().map(|value| law.ln_density(*value)).sum();
    if !log_likelihood.is_finite() {
        return Err(Refusal::NoSpread);
    }
    Ok(Fit::new(law, log_likelihood))
}

/// Goodness of a fit by the bootstrap; `None` where nothing could be drawn and fitted again.
#[must_use]
pub fn goodness(values: &[f64], fitted: &Law, samples: u64, seed: Seed) -> Option<Goodness> {
    let distance = distance(values.to_vec(), fitted)?;
    bootstrap(distance, samples, seed, |rng| {
        let drawn: Vec<f64> = values.iter().map(|_| fitted.draw(rng)).collect();
        let again = fit(&drawn, fitted.family()).ok()?;
        self::distance(drawn, &again.law)
    })
}

fn distance(mut values: Vec<f64>, law: &Law) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    ks_distance(&values, |x| law.cdf(x)).ok()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn is_flat(values: &[f64]) -> bool {
    values.iter().all(|value| *value == values[0])
}

fn lognormal(values: &[f64]) -> Result<Law, Refusal> {
    if is_flat(values) {
        return Err(Refusal::NoSpread);
    }
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let mu = mean(&logs);
    let variance = logs.iter().map(|log| (log - mu).powi(2)).sum::<f64>() / logs.len() as f64;
    if variance > 0.0 { Ok(Law::Lognormal { mu, sigma: variance.sqrt() }) } else { Err(Refusal::NoSpread) }
}

fn gamma(values: &[f64]) -> Result<Law, Refusal> {
    let mean = mean(values);
    // ln x̄ − mean(ln x), above 0 by Jensen's inequality; as a mean of logarithms of ratios it keeps its digits.
    let spread = -values.iter().map(|value| (value / mean).ln()).sum::<f64>() / values.len() as f64;
    if is_flat(values) || spread < 1.0 / SHAPE_MAX {
        return Err(Refusal::NoSpread);
    }
    // Minka's first guess (Estimating a Gamma distribution, 2002), within 1.5 %.
    let guess = (3.0 - spread + ((spread - 3.0).powi(2) + 24.0 * spread).sqrt()) / (12.0 * spread);
    let shape = root(guess, |k| (k.ln() - digamma(k) - spread, 1.0 / k - trigamma(k)))?;
    Ok(Law::Gamma { shape, scale: mean / shape })
}

fn weibull(values: &[f64]) -> Result<Law, Refusal> {
    if is_flat(values) {
        return Err(Refusal::NoSpread);
    }
    // Over the geometric mean, so that the mean of the logarithms is 0.
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let center = mean(&logs);
    let logs: Vec<f64> = logs.into_iter().map(|log| log - center).collect();
    let largest = logs.iter().copied().fold(f64::MIN, f64::max);
    // Σ yᵏ, Σ yᵏ ln y, Σ yᵏ ln² y, each over the largest yᵏ.
    let sums = |k: f64| {
        logs.iter().fold((0.0, 0.0, 0.0), |(a, b, c), log| {
            let weight = (k * (log - largest)).exp();
            (a + weight, b + weight * log, c + weight * log * log)
        })
    };
    let sd = (logs.iter().map(|log| log * log).sum::<f64>() / logs.len() as f64).sqrt();
    // The logarithm of a Weibull value has the standard deviation π/(√6 k).
    let guess = std::f64::consts::PI / (6.0_f64.sqrt() * sd);
    let shape = root(guess, |k| {
        let (a, b, c) = sums(k);
        // Negated, so that it falls as the equation of the gamma law does.
        (1.0 / k - b / a, -(1.0 / (k * k) + c / a - (b / a).powi(2)))
    })?;
    let (sum, _, _) = sums(shape);
    let log_scale = center + largest + (sum / logs.len() as f64).ln() / shape;
    Ok(Law::Weibull { shape, scale: log_scale.exp() })
}

/// The root of a falling function of k > 0, given with its derivative: Newton's method, halved where a step would leave
/// the bracket that shrinks around the root.
fn root(guess: f64, equation: impl Fn(f64) -> (f64, f64)) -> Result<f64, Refusal> {
    let (mut low, mut high) = (0.0, SHAPE_MAX);
    let mut k = if guess.is_finite() { guess.clamp(1e-6, SHAPE_MAX / 2.0) } else { 1.0 };
    for _ in 0..STEPS_MAX {
        let (value, slope) = equation(k);
        if value == 0.0 {
            return Ok(k);
        }
        if value > 0.0 {
            low = k;
        } else {
            high = k;
        }
        let newton = k - value / slope;
        let next = if newton > low && newton < high { newton } else { low / 2.0 + high.min(4.0 * k) / 2.0 };
        if (next - k).abs() <= 1e-14 * k {
            return Ok(next);
        }
        k = next;
    }
    if k.is_finite() && k < SHAPE_MAX / 4.0 { Ok(k) } else { Err(Refusal::NoSpread) }
}

#[cfg(test)]
#[path = "exact_tests.rs"]
mod tests;
