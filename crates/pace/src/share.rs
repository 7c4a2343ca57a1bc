//! One worker's part of a whole.

/// Worker `index` of `workers`, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    index: u64,
    workers: u64,
}

impl Share {
    /// The whole, for a single worker.
    pub const WHOLE: Self = Self { index: 0, workers: 1 };

    /// Part `index` of `workers`.
    ///
    /// # Panics
    /// If `index` is not below `workers`: a programmer's error.
    #[must_use]
    pub fn new(index: u32, workers: u32) -> Self {
        assert!(index < workers, "worker {index} of {workers} does not exist");
        Self { index: index.into(), workers: workers.into() }
    }

    /// This worker's part of `total` things; the parts of all workers add up to `total` and differ by at most one.
    #[must_use]
    pub fn of(self, total: u64) -> u64 {
        total / self.workers + u64::from(self.index < total % self.workers)
    }

    /// Number of this worker, from 0.
    #[must_use]
    pub const fn index(self) -> u64 {
        self.index
    }

    /// Position of this worker's first item in the whole.
    /// Number in the whole of this worker's thing `n`, from 0, where they are dealt out in turn.
    #[inline]
    #[must_use]
    pub const fn number(self, n: u64) -> u64 {
        n.wrapping_mul(self.workers).wrapping_add(self.index)
    }

    /// How many workers share.
    #[must_use]
    pub const fn workers(self) -> u64 {
        self.workers
    }

    pub(crate) const fn first(self) -> u64 {
        self.index
    }

    /// Distance between two of this worker's items in the whole.
    pub(crate) const fn stride(self) -> u64 {
        self.workers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up_and_differ_by_at_most_one() {
        for total in [0, 1, 7, 64, 1_000_003] {
            for workers in [1, 2, 3, 8, 64] {
                let parts: Vec<u64> =
                    (0..workers).map(|index| Share::new(index, workers).of(total)).collect();
                assert_eq!(parts.iter().sum::<u64>(), total);
                assert!(parts.iter().max().unwrap() - parts.iter().min().unwrap() <= 1);
            }
        }
    }
}
