//! Independent gaps, summed: on a steady rate in nanoseconds, on a shape in units of the mean gap.
//!
//! A sum needs all gaps, also those of other workers: one draw for each arrival that is skipped, which keeps the schedule
//! the same whatever the number of workers.

use crate::amount::Amount;
use crate::gap::Gap;
use crate::turns::Turns;
use units::{Rng, Seed};

/// The running sum of gaps, with the fraction of a unit carried along: nothing is lost however long it grows.
#[derive(Clone, Debug)]
pub(crate) struct Renewal {
    rng: Rng,
    gap: Gap,
    /// Mean gap in units: nanoseconds, or 1.
    mean: f64,
    whole: u64,
    fraction: f64,
    turns: Turns,
}

impl Renewal {
    /// All arrivals.
    pub(crate) fn new(gap: Gap, mean: f64, seed: Seed) -> Self {
        // Stored seeds of Poisson runs depend on this label.
        let label = if matches!(gap, Gap::Exponential) { "poisson" } else { "renewal" };
        let rng = seed.derive(label, 0).rng();
        let mut renewal = Self { rng, gap, mean, whole: 0, fraction: 0.0, turns: Turns::WHOLE };
        renewal.advance(1);
        renewal
    }

    /// The same before its first arrival was taken, with the arrivals of `turns` alone.
    pub(crate) fn narrowed(mut self, turns: Turns) -> Self {
        self.advance(turns.first());
        self.turns = turns;
        self
    }

    fn advance(&mut self, steps: u64) {
        // A loop for each law: the choice is made once, and the sum stays in registers.
        match self.gap {
            Gap::Exponential => self.add(steps, Rng::exponential),
            gap => self.add(steps, |rng| gap.draw(rng)),
        }
    }

    #[inline]
    fn add(&mut self, steps: u64, draw: impl Fn(&mut Rng) -> f64) {
        let (mut rng, mut at, mut fraction) = (self.rng.clone(), self.whole, self.fraction);
        for _ in 0..steps {
            let sum = draw(&mut rng) * self.mean + fraction;
            let whole = sum as u64;
            at = at.saturating_add(whole);
            fraction = sum - whole as f64;
        }
        (self.rng, self.whole, self.fraction) = (rng, at, fraction);
    }

    /// The next arrival in whole units.
    #[inline]
    pub(crate) fn draw(&mut self) -> u64 {
        let taken = self.whole;
        let steps = self.turns.steps();
        self.advance(steps);
        taken
    }

    /// The next arrival with its fraction.
    #[inline]
    pub(crate) fn draw_amount(&mut self) -> Amount {
        let taken = Amount::new(self.whole, self.fraction);
        let steps = self.turns.steps();
        self.advance(steps);
        taken
    }
}
