//! How many steps a session has: a law's value, rounded up.
//!
//! Invariants: at least one step, at most [`STEPS_MAX`]; the number is a function of the session and the seed, so it does
//! not depend on how many workers there are. Absent on purpose: which steps they are.

use crate::{PaceError, gap::Gap};
use schema::arrival::LengthPlan;
use units::Seed;

/// Most steps of a session: with a wild law some would else never end.
const STEPS_MAX: u64 = 100_000;

/// The lengths of all sessions of a load.
#[derive(Clone, Copy, Debug)]
pub struct Lengths {
    seed: Seed,
    mean: f64,
    law: Gap,
}

impl Lengths {
    /// The law of `plan`.
    ///
    /// # Errors
    /// [`PaceError::Parameter`]: a mean above 0 and at most 100,000; cv and shape as for arrivals.
    pub fn new(plan: &LengthPlan, seed: Seed) -> Result<Self, PaceError> {
        let (mean, law) = match *plan {
            LengthPlan::Exponential { mean } => (mean, Gap::Exponential),
            LengthPlan::Lognormal { mean, cv } => {
                PaceError::check("cv", cv, 0.001, 10.0)?;
                (mean, Gap::lognormal(cv))
            }
            LengthPlan::Weibull { mean, shape } => (mean, Gap::weibull(shape)?),
            LengthPlan::Gamma { mean, shape } => (mean, Gap::gamma(shape)?),
        };
        PaceError::check("mean of the length", mean, 0.01, STEPS_MAX as f64)?;
        Ok(Self { seed: seed.derive("length", 0), mean, law })
    }

    /// Steps of a session.
    #[inline]
    #[must_use]
    pub fn of(&self, session: u64) -> u64 {
        let drawn = self.mean * self.law.draw(&mut self.seed.derive("session", session).rng());
        (drawn.ceil() as u64).clamp(1, STEPS_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const N: u64 = 100_000;

    fn lengths(plan: LengthPlan) -> impl Iterator<Item = f64> {
        let lengths = Lengths::new(&plan, Seed(3)).unwrap();
        (0..N).map(move |session| lengths.of(session) as f64)
    }

    #[test]
    fn an_exponential_length_is_geometric() {
        // P(n) = e^(−(n − 1)/m)(1 − e^(−1/m)), whose mean is 1/(1 − e^(−1/m)).
        let plan = LengthPlan::Exponential { mean: 5.0 };
        let mean = lengths(plan).sum::<f64>() / N as f64;
        let wanted = 1.0 / (1.0 - (-0.2_f64).exp());
        assert!((mean - wanted).abs() < 4.0 * wanted / (N as f64).sqrt(), "{mean}, not {wanted}");
        let ones = lengths(plan).filter(|length| *length == 1.0).count() as f64 / N as f64;
        assert!((ones - 1.0 / wanted).abs() < 4.0 * (0.25 / N as f64).sqrt(), "{ones}");
    }

    #[test]
    fn a_session_has_its_length_whoever_asks_and_never_none() {
        let plan = LengthPlan::Lognormal { mean: 3.0, cv: 2.0 };
        assert!(lengths(plan).eq(lengths(plan)));
        assert!(lengths(plan).all(|length| (1.0..=STEPS_MAX as f64).contains(&length)));
        let tiny = LengthPlan::Gamma { mean: 0.01, shape: 0.1 };
        assert!(lengths(tiny).all(|length| length >= 1.0));
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        for plan in [
            LengthPlan::Exponential { mean: 0.0 },
            LengthPlan::Exponential { mean: 1e9 },
            LengthPlan::Lognormal { mean: 2.0, cv: f64::NAN },
            LengthPlan::Weibull { mean: 2.0, shape: 0.0 },
        ] {
            assert!(Lengths::new(&plan, Seed(1)).is_err(), "{plan:?}");
        }
    }
}
