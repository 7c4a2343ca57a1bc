//! The four laws: distribution, density, mean, spread, and draws.

use super::Family;
use super::special::lower_gamma;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal};
use statrs::function::gamma::{gamma, ln_gamma};
use std::f64::consts::PI;
use units::Rng;

/// A law of positive values with its parameters, all finite; every one but `mu` above 0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "family", rename_all = "snake_case")]
pub enum Law {
    /// Density e^(−x/mean)/mean.
    Exponential {
        /// Mean.
        mean: f64,
    },
    /// F(x) = 1 − e^(−(x/scale)^shape).
    Weibull {
        /// k.
        shape: f64,
        /// λ.
        scale: f64,
    },
    /// Density proportional to x^(shape−1) e^(−x/scale).
    Gamma {
        /// k.
        shape: f64,
        /// θ; the mean is shape · scale.
        scale: f64,
    },
    /// ln X is normal.
    Lognormal {
        /// Mean of ln X.
        mu: f64,
        /// Standard deviation of ln X.
        sigma: f64,
    },
}

impl Law {
    /// Its family.
    #[must_use]
    pub const fn family(&self) -> Family {
        match self {
            Self::Exponential { .. } => Family::Exponential,
            Self::Weibull { .. } => Family::Weibull,
            Self::Gamma { .. } => Family::Gamma,
            Self::Lognormal { .. } => Family::Lognormal,
        }
    }

    /// P(X ≤ x).
    #[must_use]
    pub fn cdf(&self, x: f64) -> f64 {
        if x <= 0.0 {
            return 0.0;
        }
        match *self {
            Self::Exponential { mean } => -(-x / mean).exp_m1(),
            Self::Weibull { shape, scale } => -(-(x / scale).powf(shape)).exp_m1(),
            Self::Gamma { shape, scale } => lower_gamma(shape, x / scale),
            Self::Lognormal { mu, sigma } => Normal::standard().cdf((x.ln() - mu) / sigma),
        }
    }

    /// ∫₀ˣ F(t) dt = x·F(x) − E[X; X ≤ x].
    #[must_use]
    pub fn cdf_integral(&self, x: f64) -> f64 {
        if x <= 0.0 {
            return 0.0;
        }
        let partial_mean = match *self {
            Self::Exponential { mean } => return x + mean * (-x / mean).exp_m1(),
            Self::Weibull { shape, scale } => {
                scale * gamma(1.0 + 1.0 / shape) * lower_gamma(1.0 + 1.0 / shape, (x / scale).powf(shape))
            }
            Self::Gamma { shape, scale } => shape * scale * lower_gamma(shape + 1.0, x / scale),
            Self::Lognormal { mu, sigma } => {
                let z = (x.ln() - mu) / sigma - sigma;
                (mu + sigma * sigma / 2.0).exp() * Normal::standard().cdf(z)
            }
        };
        x * self.cdf(x) - partial_mean
    }

    /// Natural logarithm of the density at `x` > 0.
    #[must_use]
    pub fn ln_density(&self, x: f64) -> f64 {
        match *self {
            Self::Exponential { mean } => -x / mean - mean.ln(),
            Self::Weibull { shape, scale } => {
                let ratio = x / scale;
                (shape / scale).ln() + (shape - 1.0) * ratio.ln() - ratio.powf(shape)
            }
            Self::Gamma { shape, scale } => {
                (shape - 1.0) * x.ln() - x / scale - ln_gamma(shape) - shape * scale.ln()
            }
            Self::Lognormal { mu, sigma } => {
                let z = (x.ln() - mu) / sigma;
                -z * z / 2.0 - x.ln() - sigma.ln() - (2.0 * PI).ln() / 2.0
            }
        }
    }

    /// Mean.
    #[must_use]
    pub fn mean(&self) -> f64 {
        match *self {
            Self::Exponential { mean } => mean,
            Self::Weibull { shape, scale } => scale * gamma(1.0 + 1.0 / shape),
            Self::Gamma { shape, scale } => shape * scale,
            Self::Lognormal { mu, sigma } => (mu + sigma * sigma / 2.0).exp(),
        }
    }

    /// Standard deviation over mean.
    #[must_use]
    pub fn cv(&self) -> f64 {
        match *self {
            Self::Exponential { .. } => 1.0,
            Self::Weibull { shape, .. } => {
                let ratio = (ln_gamma(1.0 + 2.0 / shape) - 2.0 * ln_gamma(1.0 + 1.0 / shape)).exp();
                (ratio - 1.0).max(0.0).sqrt()
            }
            Self::Gamma { shape, .. } => shape.recip().sqrt(),
            Self::Lognormal { sigma, .. } => (sigma * sigma).exp_m1().sqrt(),
        }
    }

    /// A value drawn from the law.
    pub fn draw(&self, rng: &mut Rng) -> f64 {
        match *self {
            Self::Exponential { mean } => mean * rng.exponential(),
            Self::Weibull { shape, scale } => scale * rng.exponential().powf(shape.recip()),
            Self::Gamma { shape, scale } => scale * draw_gamma(shape, rng),
            Self::Lognormal { mu, sigma } => (mu + sigma * rng.normal()).exp(),
        }
    }
}

/// Marsaglia & Tsang (ACM Trans. Math. Softw. 26, 2000); below 1, G(k) = G(k + 1)·U^(1/k).
fn draw_gamma(shape: f64, rng: &mut Rng) -> f64 {
    if shape < 1.0 {
        let boost = (1.0 - rng.unit()).powf(shape.recip());
        return draw_gamma(shape + 1.0, rng) * boost;
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let z = rng.normal();
        let v = (1.0 + c * z).powi(3);
        if v > 0.0 && (1.0 - rng.unit()).ln() < z * z / 2.0 + d - d * v + d * v.ln() {
            return d * v;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Seed;

    const LAWS: [Law; 6] = [
        Law::Exponential { mean: 2.0 },
        Law::Weibull { shape: 0.7, scale: 1.5 },
        Law::Weibull { shape: 3.0, scale: 1.5 },
        Law::Gamma { shape: 0.6, scale: 2.0 },
        Law::Gamma { shape: 7.0, scale: 0.3 },
        Law::Lognormal { mu: -0.2, sigma: 0.8 },
    ];

    #[test]
    fn density_distribution_and_its_integral_belong_together() {
        for law in LAWS {
            let step = 1e-5;
            for x in [0.05, 0.4, 1.0, 2.5, 6.0] {
                let slope = (law.cdf(x + step) - law.cdf(x - step)) / (2.0 * step);
                assert!((slope - law.ln_density(x).exp()).abs() < 1e-6, "{law:?} at {x}");
                let slope = (law.cdf_integral(x + step) - law.cdf_integral(x - step)) / (2.0 * step);
                assert!((slope - law.cdf(x)).abs() < 1e-6, "{law:?} at {x}");
            }
            // E[X] = x − ∫F for large x.
            assert!((5000.0 - law.cdf_integral(5000.0) - law.mean()).abs() < 1e-6, "{law:?}");
        }
    }

    #[test]
    fn draws_have_the_moments_of_the_law() {
        for law in LAWS {
            let mut rng = Seed(5).rng();
            let n = 200_000;
            let values: Vec<f64> = (0..n).map(|_| law.draw(&mut rng)).collect();
            let mean = values.iter().sum::<f64>() / f64::from(n);
            let below = values.iter().filter(|x| **x <= law.mean()).count() as f64 / f64::from(n);
            let slack = 4.0 / f64::from(n).sqrt();
            assert!((mean / law.mean() - 1.0).abs() < slack * law.cv(), "{law:?}: {mean}");
            assert!((below - law.cdf(law.mean())).abs() < slack, "{law:?}: {below}");
        }
    }
}
