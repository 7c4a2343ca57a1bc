//! Think times of a closed loop: the pause between an answer and the connection's next request (METHOD §1).

use crate::{PaceError, Share, gap::Gap};
use schema::arrival::ThinkPlan;
use units::{Nanos, Rng, Seed};

/// Longest mean: a day.
const MEAN_MAX_NS: u64 = 86_400_000_000_000;

/// The think times of one worker, seeded for itself: whose connection is free next is the target's doing, so there is
/// no one sequence to split.
#[derive(Clone, Debug)]
pub struct Think {
    rng: Rng,
    mean_ns: f64,
    law: Law,
}

#[derive(Clone, Copy, Debug)]
enum Law {
    Constant,
    Positive(Gap),
    /// max(0, 1 + cv·Z): negative draws become 0, which raises the mean (by 0.4 % at cv 0.5, 8.3 % at cv 1).
    ClippedNormal {
        cv: f64,
    },
    /// From `least` to 2 − `least` times the mean.
    Uniform {
        least: f64,
    },
}

impl Think {
    /// The think times of worker `share`.
    ///
    /// # Errors
    /// [`PaceError::Parameter`]: means up to a day; cv above 0, up to 1 for the normal law, where clipping would
    /// else decide the mean, and 10 for the lognormal; shapes as for arrivals; a longest time not below the shortest.
    pub fn new(plan: &ThinkPlan, seed: Seed, share: Share) -> Result<Self, PaceError> {
        let (mean_ns, law) = match *plan {
            ThinkPlan::Constant { mean_ns } => (mean_ns, Law::Constant),
            ThinkPlan::Exponential { mean_ns } => (mean_ns, Law::Positive(Gap::Exponential)),
            ThinkPlan::Normal { mean_ns, cv } => {
                PaceError::check("cv", cv, 0.001, 1.0)?;
                (mean_ns, Law::ClippedNormal { cv })
            }
            ThinkPlan::Lognormal { mean_ns, cv } => {
                PaceError::check("cv", cv, 0.001, 10.0)?;
                (mean_ns, Law::Positive(Gap::lognormal(cv)))
            }
            ThinkPlan::Weibull { mean_ns, shape } => (mean_ns, Law::Positive(Gap::weibull(shape)?)),
            ThinkPlan::Gamma { mean_ns, shape } => (mean_ns, Law::Positive(Gap::gamma(shape)?)),
            ThinkPlan::Uniform { from_ns, to_ns } => {
                PaceError::check(
                    "to in seconds",
                    to_ns as f64 / 1e9,
                    from_ns as f64 / 1e9,
                    MEAN_MAX_NS as f64 / 1e9,
                )?;
                let mean_ns = from_ns + (to_ns - from_ns) / 2;
                (mean_ns, Law::Uniform { least: from_ns as f64 / (mean_ns as f64).max(1.0) })
            }
        };
        PaceError::check("mean in seconds", mean_ns as f64 / 1e9, 0.0, MEAN_MAX_NS as f64 / 1e9)?;
        let rng = seed.derive("think", share.first()).rng();
        Ok(Self { rng, mean_ns: mean_ns as f64, law })
    }

    /// The next pause.
    #[inline]
    #[expect(clippy::should_implement_trait, reason = "endless: there is no end to signal")]
    pub fn next(&mut self) -> Nanos {
        let factor = match &self.law {
            Law::Constant => 1.0,
            Law::Positive(gap) => gap.draw(&mut self.rng),
            Law::ClippedNormal { cv } => 1.0 + cv * self.rng.normal(),
            Law::Uniform { least } => least + 2.0 * (1.0 - least) * self.rng.unit(),
        };
        // The cast takes negative numbers to 0.
        Nanos((factor * self.mean_ns) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEAN_NS: u64 = 10_000_000;

    fn draws(plan: ThinkPlan, worker: u32) -> Vec<f64> {
        let mut think = Think::new(&plan, Seed(5), Share::new(worker, 2)).unwrap();
        (0..100_000).map(|_| think.next().0 as f64 / MEAN_NS as f64).collect()
    }

    /// Mean and standard deviation over the mean asked for, within four standard errors and 3 %.
    fn check(plan: ThinkPlan, mean: f64, sd: f64) {
        let draws = draws(plan, 0);
        let n = draws.len() as f64;
        let got_mean = draws.iter().sum::<f64>() / n;
        let got_sd = (draws.iter().map(|draw| (draw - got_mean).powi(2)).sum::<f64>() / n).sqrt();
        assert!((got_mean - mean).abs() <= 4.0 * sd / n.sqrt() + 1e-9, "{plan:?}: mean {got_mean}");
        assert!((got_sd - sd).abs() <= 0.03 * sd, "{plan:?}: sd {got_sd}");
    }

    #[test]
    fn the_laws_have_their_means_and_spreads() {
        check(ThinkPlan::Constant { mean_ns: MEAN_NS }, 1.0, 0.0);
        check(ThinkPlan::Exponential { mean_ns: MEAN_NS }, 1.0, 1.0);
        check(ThinkPlan::Normal { mean_ns: MEAN_NS, cv: 0.2 }, 1.0, 0.2);
        // E max(0, X) = Φ(1) + φ(1) = 0.8413 + 0.2420; its sd by the second moment 2Φ(1) + φ(1).
        check(ThinkPlan::Normal { mean_ns: MEAN_NS, cv: 1.0 }, 1.083_315, 0.866_3);
        check(ThinkPlan::Lognormal { mean_ns: MEAN_NS, cv: 0.5 }, 1.0, 0.5);
        // A uniform law has the standard deviation of its width over √12.
        let (from_ns, to_ns) = (MEAN_NS / 2, MEAN_NS / 2 * 3);
        check(ThinkPlan::Uniform { from_ns, to_ns }, 1.0, 1.0 / 12.0_f64.sqrt());
        check(ThinkPlan::Uniform { from_ns: MEAN_NS, to_ns: MEAN_NS }, 1.0, 0.0);
        check(ThinkPlan::Gamma { mean_ns: MEAN_NS, shape: 4.0 }, 1.0, 0.5);
        check(
            ThinkPlan::Weibull { mean_ns: MEAN_NS, shape: 2.0 },
            1.0,
            (4.0 / std::f64::consts::PI - 1.0).sqrt(),
        );
    }

    #[test]
    fn workers_draw_for_themselves_and_repeatably() {
        let plan = ThinkPlan::Exponential { mean_ns: MEAN_NS };
        assert_eq!(draws(plan, 0), draws(plan, 0));
        assert_ne!(draws(plan, 0), draws(plan, 1));
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        for plan in [
            ThinkPlan::Constant { mean_ns: u64::MAX },
            ThinkPlan::Normal { mean_ns: 1, cv: 3.0 },
            ThinkPlan::Lognormal { mean_ns: 1, cv: f64::NAN },
            ThinkPlan::Uniform { from_ns: 2, to_ns: 1 },
            ThinkPlan::Uniform { from_ns: 0, to_ns: u64::MAX },
            ThinkPlan::Weibull { mean_ns: 1, shape: 0.0 },
            ThinkPlan::Gamma { mean_ns: u64::MAX, shape: 1.0 },
        ] {
            assert!(Think::new(&plan, Seed(1), Share::WHOLE).is_err(), "{plan:?}");
        }
    }
}
