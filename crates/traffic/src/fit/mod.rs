//! Laws of gaps fitted by maximum likelihood (METHOD §7).
//!
//! Three kinds of data, each with its likelihood: gaps known exactly ([`exact`]), gaps known to whole ticks of a clock
//! ([`censored`]: interval-censored), and counts of arrivals in windows where the clock is too coarse for single gaps
//! ([`counts`]). Numbers of steps are values that were rounded up ([`lengths`]). Goodness of fit is by parametric bootstrap, because the parameters were estimated from the same data.
//!
//! Where the gaps do not make the bursts of a log, a process of two rates is fitted to its counts ([`mmpp`]).
//!
//! Invariants: every result is finite; a sample that a law cannot be fitted to is a [`Refusal`], never a panic; the
//! bootstrap is seeded. Absent on purpose: choosing what to fit (crate module `model`).

pub mod censored;
pub mod counts;
pub mod exact;
mod law;
pub mod lengths;
pub mod mmpp;
mod search;
mod special;

pub use law::Law;

use serde::Serialize;
use units::Seed;

/// Samples of the parametric bootstrap: p is then known to within about 0.03 near 0.05.
pub const BOOTSTRAP_SAMPLES: u64 = 200;

/// The four families.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// One parameter, the mean: Poisson arrivals.
    Exponential,
    /// Shape and scale.
    Weibull,
    /// Shape and scale.
    Gamma,
    /// Mean and standard deviation of the logarithm.
    Lognormal,
}

impl Family {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Exponential, Self::Weibull, Self::Gamma, Self::Lognormal];

    /// For people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exponential => "exponential",
            Self::Weibull => "Weibull",
            Self::Gamma => "gamma",
            Self::Lognormal => "lognormal",
        }
    }

    /// Free parameters.
    #[must_use]
    pub const fn parameters(self) -> u32 {
        match self {
            Self::Exponential => 1,
            _ => 2,
        }
    }
}

/// Why a law cannot be fitted.
#[derive(Clone, Debug, PartialEq, thiserror::Error, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// Fewer values than are needed.
    #[error("{had} values are too few, {needed} are needed")]
    TooFew {
        /// Needed.
        needed: usize,
        /// There.
        had: usize,
    },
    /// A value that is not finite or not above 0.
    #[error("a value is {value}; all must be finite and above 0")]
    NotPositive {
        /// The value.
        value: f64,
    },
    /// All values are the same, so the likelihood has no maximum.
    #[error("all values are the same, so the law has no spread to be fitted")]
    NoSpread,
    /// The data cannot tell this law from others.
    #[error("the clock of the log is too coarse for this law: {why}")]
    TooCoarse {
        /// In words.
        why: String,
    },
}

/// A law with how well it describes the data.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fit {
    /// The law of maximum likelihood.
    pub law: Law,
    /// Natural logarithm of the likelihood there.
    pub log_likelihood: f64,
    /// 2 · parameters − 2 · log-likelihood (Akaike, IEEE Trans. Autom. Control 19, 1974): the smallest is best.
    pub aic: f64,
}

impl Fit {
    fn new(law: Law, log_likelihood: f64) -> Self {
        let aic = 2.0 * f64::from(law.family().parameters()) - 2.0 * log_likelihood;
        Self { law, log_likelihood, aic }
    }
}

/// How far the data lie from the fitted law.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Goodness {
    /// Largest distance between the distributions (Kolmogorov-Smirnov), from 0 to 1.
    pub distance: f64,
    /// Share of samples drawn from the fitted law, and fitted again, that lie as far or farther from their own fit:
    /// (1 + so many)/(1 + all) (Davison & Hinkley, Bootstrap Methods and their Application, 1997, §4.2).
    pub p: f64,
    /// Samples drawn.
    pub samples: u64,
}

/// The bootstrap: `distance` of the data, and `resampled`, which draws a sample, fits it and tells its distance.
/// Samples that cannot be fitted are drawn again, at most as many times as there are samples.
fn bootstrap(
    distance: f64,
    samples: u64,
    seed: Seed,
    mut resampled: impl FnMut(&mut units::Rng) -> Option<f64>,
) -> Option<Goodness> {
    let (mut drawn, mut as_far) = (0, 0);
    for index in 0..2 * samples {
        if drawn == samples {
            break;
        }
        if let Some(other) = resampled(&mut seed.derive("bootstrap", index).rng()) {
            drawn += 1;
            as_far += u64::from(other >= distance);
        }
    }
    let p = (1 + as_far) as f64 / (1 + drawn) as f64;
    (drawn > 0).then_some(Goodness { distance, p, samples: drawn })
}
