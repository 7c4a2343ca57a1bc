//! Evenly spaced arrivals: multiples of the period without rounding drift.

use crate::Share;
use crate::scale::PERIOD_NUMERATOR;
use units::Nanos;

/// Multiples of the period without rounding drift: Bresenham's algorithm on whole nanoseconds.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    at_ns: u64,
    step_ns: u64,
    /// Carried remainder and its step, in units of 1/denominator ns.
    remainder: u64,
    remainder_step: u64,
    denominator: u64,
}

impl Grid {
    pub(crate) fn new(rate_micro: u64, share: Share) -> Self {
        let denominator = u128::from(rate_micro);
        let first = PERIOD_NUMERATOR * u128::from(share.first());
        let step = PERIOD_NUMERATOR * u128::from(share.stride());
        Self {
            at_ns: (first / denominator) as u64,
            step_ns: (step / denominator) as u64,
            remainder: (first % denominator) as u64,
            remainder_step: (step % denominator) as u64,
            denominator: rate_micro,
        }
    }

    #[inline]
    pub(crate) fn step(&mut self) -> Nanos {
        let taken = Nanos(self.at_ns);
        self.at_ns += self.step_ns;
        self.remainder += self.remainder_step;
        if self.remainder >= self.denominator {
            self.remainder -= self.denominator;
            self.at_ns += 1;
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_arrivals_do_not_drift_in_a_billion_requests() {
        let mut grid = Grid::new(3_000_000, Share::WHOLE);
        // Jump: a stride of 10^8 workers makes each step 10^8 arrivals of the same grid.
        let mut far = Grid::new(3_000_000, Share::new(0, 100_000_000));
        assert_eq!([grid.step().0, grid.step().0, grid.step().0], [0, 333_333_333, 666_666_666]);
        let tenth = (0..=10).map(|_| far.step().0).last().unwrap();
        assert_eq!(tenth, 333_333_333_333_333_333, "arrival 10^9 at 3/s");
    }
}
