//! Laws of independent gaps, each with mean 1.
//!
//! The algorithms are written out, not taken from a library, because a stored seed must give the same arrivals in
//! every release; libraries of distributions do not promise that.

use crate::PaceError;
use schema::arrival::ArrivalPlan;
use statrs::function::gamma::gamma;
use units::Rng;

/// A law of gaps with mean 1.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Gap {
    Exponential,
    /// Scale · E^(1/k), E exponential: inversion.
    Weibull {
        scale: f64,
        inverse_shape: f64,
    },
    /// exp(μ + σZ).
    Lognormal {
        mu: f64,
        sigma: f64,
    },
    Gamma(Gamma),
}

impl Gap {
    /// The law of `plan`; `None` for laws whose gaps are not independent.
    ///
    /// # Errors
    /// [`PaceError::Parameter`]: ranges are those in which a mean of a few thousand gaps is near 1, that is a
    /// coefficient of variation up to about 16.
    pub(crate) fn of(plan: &ArrivalPlan) -> Result<Option<Self>, PaceError> {
        Ok(Some(match *plan {
            ArrivalPlan::Poisson => Self::Exponential,
            ArrivalPlan::Weibull { shape } => Self::weibull(shape)?,
            ArrivalPlan::Lognormal { cv } => {
                PaceError::check("cv", cv, 0.01, 10.0)?;
                Self::lognormal(cv)
            }
            ArrivalPlan::Gamma { shape } => Self::gamma(shape)?,
            _ => return Ok(None),
        }))
    }

    /// Weibull with mean 1, whose scale is 1/Γ(1 + 1/k).
    pub(crate) fn weibull(shape: f64) -> Result<Self, PaceError> {
        PaceError::check("shape", shape, 0.2, 50.0)?;
        Ok(Self::Weibull { scale: 1.0 / gamma(1.0 + 1.0 / shape), inverse_shape: 1.0 / shape })
    }

    /// Gamma with mean 1.
    pub(crate) fn gamma(shape: f64) -> Result<Self, PaceError> {
        PaceError::check("shape", shape, 0.01, 1000.0)?;
        Ok(Self::Gamma(Gamma::new(shape)))
    }

    /// Lognormal with mean 1: σ² = ln(1 + cv²), μ = −σ²/2.
    pub(crate) fn lognormal(cv: f64) -> Self {
        let variance = (cv * cv).ln_1p();
        Self::Lognormal { mu: -variance / 2.0, sigma: variance.sqrt() }
    }

    #[inline]
    pub(crate) fn draw(&self, rng: &mut Rng) -> f64 {
        match self {
            Self::Exponential => rng.exponential(),
            Self::Weibull { scale, inverse_shape } => scale * rng.exponential().powf(*inverse_shape),
            Self::Lognormal { mu, sigma } => (mu + sigma * rng.normal()).exp(),
            Self::Gamma(gamma) => gamma.draw(rng),
        }
    }
}

/// Gamma with mean 1 (Marsaglia & Tsang, ACM Trans. Math. Softw. 26, 2000); for shapes below 1 their boost
/// G(k) = G(k + 1)·U^(1/k).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gamma {
    d: f64,
    c: f64,
    /// 1/k where k is below 1.
    boost: Option<f64>,
    /// 1/k: the mean of the standard law is k.
    scale: f64,
}

impl Gamma {
    fn new(shape: f64) -> Self {
        let (raised, boost) = if shape < 1.0 { (shape + 1.0, Some(1.0 / shape)) } else { (shape, None) };
        let d = raised - 1.0 / 3.0;
        Self { d, c: 1.0 / (9.0 * d).sqrt(), boost, scale: 1.0 / shape }
    }

    fn draw(&self, rng: &mut Rng) -> f64 {
        let raised = self.scale * self.raised(rng);
        match self.boost {
            Some(power) => raised * (1.0 - rng.unit()).powf(power),
            None => raised,
        }
    }

    /// Accepts more than 95 of 100 candidates whatever the shape.
    fn raised(&self, rng: &mut Rng) -> f64 {
        loop {
            let x = rng.normal();
            let v = (1.0 + self.c * x).powi(3);
            if v > 0.0 && (1.0 - rng.unit()).ln() < 0.5 * x * x + self.d * (1.0 - v + v.ln()) {
                return self.d * v;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Seed;

    /// Mean 1 and the coefficient of variation of the law, within five standard errors of a bounded law's estimate.
    fn check(plan: ArrivalPlan, cv: f64, tolerance: f64) {
        let gap = Gap::of(&plan).unwrap().expect("a renewal law");
        let mut rng = Seed(11).rng();
        let n = 400_000;
        let draws: Vec<f64> = (0..n).map(|_| gap.draw(&mut rng)).collect();
        let mean = draws.iter().sum::<f64>() / f64::from(n);
        let variance = draws.iter().map(|draw| (draw - mean).powi(2)).sum::<f64>() / f64::from(n);
        assert!((mean - 1.0).abs() < 5.0 * cv / f64::from(n).sqrt(), "{plan:?}: mean {mean}");
        assert!((variance.sqrt() / cv - 1.0).abs() < tolerance, "{plan:?}: cv {}, not {cv}", variance.sqrt());
        assert!(draws.iter().all(|draw| draw.is_finite() && *draw >= 0.0));
    }

    #[test]
    fn means_are_one_and_variations_are_those_of_the_laws() {
        check(ArrivalPlan::Poisson, 1.0, 0.02);
        check(ArrivalPlan::Weibull { shape: 1.0 }, 1.0, 0.02);
        // Γ(1 + 2/k)/Γ(1 + 1/k)² − 1 for k = 2: 4/π − 1.
        check(ArrivalPlan::Weibull { shape: 2.0 }, (4.0 / std::f64::consts::PI - 1.0).sqrt(), 0.02);
        // For k = 1/2: 4!/2!² − 1 = 5.
        check(ArrivalPlan::Weibull { shape: 0.5 }, 5.0_f64.sqrt(), 0.05);
        check(ArrivalPlan::Lognormal { cv: 0.5 }, 0.5, 0.02);
        check(ArrivalPlan::Lognormal { cv: 1.5 }, 1.5, 0.1);
        for shape in [0.25_f64, 1.0, 4.0, 100.0] {
            check(ArrivalPlan::Gamma { shape }, shape.powf(-0.5), 0.03);
        }
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        for plan in [
            ArrivalPlan::Weibull { shape: 0.0 },
            ArrivalPlan::Weibull { shape: f64::NAN },
            ArrivalPlan::Lognormal { cv: -1.0 },
            ArrivalPlan::Gamma { shape: 1e9 },
        ] {
            assert!(matches!(Gap::of(&plan), Err(PaceError::Parameter { .. })), "{plan:?}");
        }
    }
}
