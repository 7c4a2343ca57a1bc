//! Independent gaps, summed: on a steady rate in nanoseconds, on a shape in units of the mean gap.
//!
//! Each worker draws all gaps and keeps its own, which costs one draw per skipped arrival and keeps the schedule the
//! same whatever the number of workers.

use crate::amount::Amount;
use crate::{Share, gap::Gap};
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
    stride: u64,
}

impl Renewal {
    pub(crate) fn new(gap: Gap, mean: f64, seed: Seed, share: Share) -> Self {
        // Stored seeds of Poisson runs depend on this label.
        let label = if matches!(gap, Gap::Exponential) { "poisson" } else { "renewal" };
        let rng = seed.derive(label, 0).rng();
        let mut renewal = Self { rng, gap, mean, whole: 0, fraction: 0.0, stride: share.stride() };
        // Leave the first stride short by what lies before this worker's first arrival.
        for _ in 0..=share.first() {
            renewal.step();
        }
        renewal
    }

    #[inline]
    fn step(&mut self) {
        let sum = self.gap.draw(&mut self.rng) * self.mean + self.fraction;
        let whole = sum as u64;
        self.whole = self.whole.saturating_add(whole);
        self.fraction = sum - whole as f64;
    }

    #[inline]
    fn advance(&mut self) {
        for _ in 0..self.stride {
            self.step();
        }
    }

    /// The next arrival in whole units.
    #[inline]
    pub(crate) fn draw(&mut self) -> u64 {
        let taken = self.whole;
        self.advance();
        taken
    }

    /// The next arrival with its fraction.
    #[inline]
    pub(crate) fn draw_amount(&mut self) -> Amount {
        let taken = Amount::new(self.whole, self.fraction);
        self.advance();
        taken
    }
}
