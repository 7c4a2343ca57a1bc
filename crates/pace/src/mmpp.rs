//! Markov-modulated Poisson process of two states (Fischer & Meier-Hellstern, Performance Evaluation 18, 1993).
//!
//! The state changes at exponential times of the clock; in a state, arrivals are Poisson with its intensity times the
//! rate of the course. The first state is drawn from the stationary law, so the mean rate is right from the begin.

use crate::PaceError;
use crate::amount::Amount;
use crate::course::{Course, NEVER_NS};
use crate::turns::Turns;
use units::{Rng, Seed};

/// The parameters, checked and scaled so that the mean intensity is 1.
#[derive(Clone, Copy, Debug)]
struct States {
    /// Quiet, busy.
    intensity: [f64; 2],
    mean_sojourn_ns: [f64; 2],
}

#[derive(Clone, Debug)]
pub(crate) struct Mmpp {
    rng: Rng,
    course: Course,
    states: States,
    busy: usize,
    /// The present state ends here.
    until_ns: u64,
    /// Λ at the end of the state.
    until: Amount,
    /// The last arrival.
    amount: Amount,
    turns: Turns,
}

impl Mmpp {
    /// All arrivals.
    ///
    /// # Errors
    /// [`PaceError::Parameter`].
    pub(crate) fn new(
        (high, low): (f64, f64),
        (high_for_ns, low_for_ns): (u64, u64),
        course: Course,
        seed: Seed,
    ) -> Result<Self, PaceError> {
        PaceError::check("high", high, f64::MIN_POSITIVE, 1e6)?;
        PaceError::check("low", low, 0.0, high)?;
        // Ten days: a state that outlasts every run is no modulation.
        PaceError::check("high_for in seconds", high_for_ns as f64 / 1e9, 1e-6, 864_000.0)?;
        PaceError::check("low_for in seconds", low_for_ns as f64 / 1e9, 1e-6, 864_000.0)?;
        let (busy_ns, quiet_ns) = (high_for_ns as f64, low_for_ns as f64);
        let mean = (high * busy_ns + low * quiet_ns) / (busy_ns + quiet_ns);
        let states = States { intensity: [low / mean, high / mean], mean_sojourn_ns: [quiet_ns, busy_ns] };
        let mut rng = seed.derive("mmpp", 0).rng();
        let busy = usize::from(rng.unit() < busy_ns / (busy_ns + quiet_ns));
        let mut process = Self {
            rng,
            course,
            states,
            busy,
            until_ns: 0,
            until: Amount::ZERO,
            amount: Amount::ZERO,
            turns: Turns::WHOLE,
        };
        process.sojourn();
        process.step();
        Ok(process)
    }

    /// The same before its first arrival was taken, with the arrivals of `turns` alone.
    pub(crate) fn narrowed(mut self, turns: Turns) -> Self {
        for _ in 0..turns.first() {
            self.step();
        }
        self.turns = turns;
        self
    }

    fn sojourn(&mut self) {
        let length_ns = self.rng.exponential() * self.states.mean_sojourn_ns[self.busy];
        self.until_ns = self.until_ns.saturating_add(1 + length_ns as u64);
        self.until = self.course.amount_at(self.until_ns);
    }

    /// Competing exponentials: an arrival that would fall behind the end of the state is drawn again from there, which
    /// the lack of memory allows. Ends with a course that comes to its end: no state then brings another arrival.
    fn step(&mut self) {
        loop {
            let intensity = self.states.intensity[self.busy];
            if intensity > 0.0 {
                let next = self.amount.plus(Amount::from_f64(self.rng.exponential() / intensity));
                if next.is_below(self.until) || self.course.time_of(next) == NEVER_NS {
                    self.amount = next;
                    return;
                }
            }
            if self.until_ns == NEVER_NS {
                return;
            }
            self.amount = self.until;
            self.busy = 1 - self.busy;
            self.sojourn();
        }
    }

    pub(crate) fn draw(&mut self) -> u64 {
        let taken = self.course.time_of(self.amount);
        if taken < NEVER_NS {
            for _ in 0..self.turns.steps() {
                self.step();
            }
        }
        taken
    }
}
