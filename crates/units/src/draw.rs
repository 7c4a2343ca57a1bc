//! Which of many numbered things belong to a sample.
//!
//! Invariant: whether one does is a function of the seed and its number, so that no period of the load can meet a period of
//! the sample, and every process draws the same.

use crate::Seed;

/// A sample of numbered things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    seed: Seed,
    label: &'static str,
    /// Those whose random number is below; absent for all.
    below: Option<u64>,
}

impl Draw {
    /// A `share` of all things, 0 to 1; samples of different labels are independent.
    #[must_use]
    pub fn new(seed: Seed, label: &'static str, share: f64) -> Self {
        // 2⁶⁴ is the count of 64-bit numbers; the cast ends at the largest.
        let below = (share < 1.0).then(|| (share.max(0.0) * 2_f64.powi(64)) as u64);
        Self { seed, label, below }
    }

    /// Whether thing `number` is in the sample.
    #[inline]
    #[must_use]
    pub fn takes(self, number: u64) -> bool {
        self.below.is_none_or(|below| self.seed.derive(self.label, number).0 < below)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_drawn_by_seed_and_number_and_meets_no_period() {
        let drawn = |seed: u64, of: &dyn Fn(u64) -> bool| -> Vec<u64> {
            let draw = Draw::new(Seed(seed), "each", 0.1);
            (0..200_000).filter(|number| of(*number) && draw.takes(*number)).collect()
        };
        let all = drawn(1, &|_| true);
        // Six standard deviations of a binomial count.
        assert!(all.len().abs_diff(20_000) < 800, "{}", all.len());
        assert_eq!(all, drawn(1, &|_| true), "the same seed draws the same things");
        assert_ne!(all, drawn(2, &|_| true));
        for period in [2, 4, 10, 64, 100] {
            let count = drawn(1, &|number| number.is_multiple_of(period)).len() as f64;
            let expected = 20_000.0 / period as f64;
            assert!(
                (count - expected).abs() < 6.0 * expected.sqrt(),
                "every {period}th: {count} of {expected}"
            );
        }
        assert!((0..1000).all(|number| Draw::new(Seed(1), "each", 1.0).takes(number)));
        assert!((0..1000).all(|number| !Draw::new(Seed(1), "each", 0.0).takes(number)));
    }
}
