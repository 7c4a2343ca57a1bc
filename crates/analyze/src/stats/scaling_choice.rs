//! Laws of throughput compared on one ladder: which of them fit at all, which of those the trials do not
//! distinguish, and what they say together.
//!
//! 1. A law **fits** where its lack of fit is not larger than the spread between trials explains: the F test of the
//!    deviations of the level means against pure error (Draper & Smith, *Applied Regression Analysis*, 1998, §2.1).
//! 2. Of those that fit, AICc ranks (Hurvich & Tsai, Biometrika 76, 1989), and all within [`ALIKE`] of the best count as
//!    not distinguished from it (Burnham & Anderson, *Model Selection and Multimodel Inference*, 2002, §2.6).
//! 3. An interval spans the intervals of all of them, so the choice of the law is in it.

use super::least_squares::{Fit, Parameters, Weighted};
use super::scaling::Law;
use super::student::t_quantile;
use statrs::distribution::{ContinuousCDF, FisherSnedecor};

/// A law whose lack of fit has a smaller p does not fit.
pub const MISFIT_P: f64 = 0.01;
/// AICc above the best up to which a law is not distinguished from it.
pub const ALIKE: f64 = 6.0;

/// What is known of a ladder, on logarithms.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Level means; the weights are 1 over the variances of the means, without what blocks share.
    pub levels: Vec<Weighted>,
    /// Σ of the squared deviations of trials from their level's mean, each over the variance of its level.
    pub pure: f64,
    /// Its degrees of freedom.
    pub freedom: usize,
    /// How many trials.
    pub trials: usize,
}

/// One law on the ladder.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Which.
    pub law: Law,
    /// Its best parameters.
    pub fit: Fit,
    /// AICc; smaller is better.
    pub aicc: f64,
    /// p of its lack of fit.
    pub p_fit: f64,
    /// Whether the trials do not speak against it.
    pub fits: bool,
    /// Its lack of fit over pure error, at least 1; 1 where it fits.
    birge: f64,
}

/// A quantity with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spanned {
    /// By the best law.
    pub value: f64,
    /// Over all laws that are not distinguished from it.
    pub low: f64,
    /// The same.
    pub high: f64,
}

/// All laws, the best first: those that fit by AICc, then those that do not.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// At least one.
    pub candidates: Vec<Candidate>,
    freedom: usize,
    /// Pure error over its expectation.
    scale: f64,
}

/// Fits every law that can be fitted; `None` with fewer than four levels, or without a spread between trials.
#[must_use]
pub fn compare(measured: &Measured, of_users: bool) -> Option<Compared> {
    let levels = measured.levels.len();
    if levels < 4 || measured.freedom == 0 || !(measured.pure > 0.0 && measured.pure.is_finite()) {
        return None;
    }
    let laws =
        Law::ALL.into_iter().filter(|law| (of_users || !law.is_of_users()) && law.parameters() < levels);
    let mut candidates: Vec<Candidate> = laws
        .flat_map(|law| {
            law.fits(&measured.levels).into_iter().filter_map(move |fit| candidate(measured, law, fit))
        })
        .collect();
    candidates.sort_by(|a, b| b.fits.cmp(&a.fits).then(a.aicc.total_cmp(&b.aicc)));
    let scale = measured.pure / measured.freedom as f64;
    (!candidates.is_empty()).then_some(Compared { candidates, freedom: measured.freedom, scale })
}

fn candidate(measured: &Measured, law: Law, fit: Fit) -> Option<Candidate> {
    let lack = (measured.levels.len() - law.parameters()) as f64;
    let freedom = measured.freedom as f64;
    let f = (fit.chi2 / lack) / (measured.pure / freedom);
    let p_fit = FisherSnedecor::new(lack, freedom).ok()?.sf(f.max(0.0));
    let (n, k) = (measured.trials as f64, law.parameters() as f64 + 1.0);
    let spare = n - k - 1.0;
    let small = if spare > 0.0 { 2.0 * k * (k + 1.0) / spare } else { f64::INFINITY };
    let aicc = n * ((fit.chi2 + measured.pure) / n).ln() + 2.0 * k + small;
    let fits = p_fit >= MISFIT_P;
    Some(Candidate { law, fit, aicc, p_fit, fits, birge: if fits { 1.0 } else { f.max(1.0) } })
}

impl Compared {
    /// The best law that fits.
    #[must_use]
    pub fn best(&self) -> Option<&Candidate> {
        self.candidates.first().filter(|best| best.fits)
    }

    /// The laws that fit and are not distinguished from the first; where none fits, those that fit least badly.
    pub fn alike(&self) -> impl Iterator<Item = &Candidate> {
        let first = self.candidates.first();
        let same = move |one: &&Candidate| {
            first.is_some_and(|first| one.fits == first.fits && one.aicc - first.aicc <= ALIKE)
        };
        self.candidates.iter().filter(same)
    }

    /// A quantity on its logarithm at `level` (0 to 1); laws that do not have it are passed over. `shared` is the
    /// variance of what all levels share, in addition. Where no law fits, intervals are widened by the misfit (Birge's
    /// ratio, Phys. Rev. 40, 1932). `None` where the first law does not have the quantity.
    #[must_use]
    pub fn says(
        &self,
        quantity: impl Fn(Law, &Parameters) -> Option<f64>,
        level: f64,
        shared: f64,
    ) -> Option<Spanned> {
        let best = self.candidates.first()?;
        let value = quantity(best.law, &best.fit.at)?;
        let t = t_quantile(0.5 + level / 2.0, self.freedom);
        let (mut low, mut high) = (value, value);
        for one in self.alike() {
            let Some(own) = quantity(one.law, &one.fit.at) else { continue };
            let variance =
                one.fit.variance(|at| quantity(one.law, at).unwrap_or(own)) * self.scale * one.birge;
            let half = t * (variance + shared).sqrt();
            (low, high) = (low.min(own - half), high.max(own + half));
        }
        Some(Spanned { value, low, high })
    }
}
