//! The closed loop: a connection's next request is intended the moment the connection became free (METHOD §1).

use crate::Share;
use units::Nanos;

/// The closed loop of one worker, with its part of the request budget.
#[derive(Clone, Debug)]
pub struct Closed {
    left: u64,
}

impl Closed {
    /// A loop that ends after this worker's share of `requests_max`, or never by count.
    #[must_use]
    pub fn new(requests_max: Option<u64>, share: Share) -> Self {
        Self { left: requests_max.map_or(u64::MAX, |total| share.of(total)) }
    }

    /// The intended time of the next request on a connection free since `free_at`; `None` when the budget is spent.
    #[inline]
    pub fn next(&mut self, free_at: Nanos) -> Option<Nanos> {
        self.left = self.left.checked_sub(1)?;
        Some(free_at)
    }

    /// Whether requests wait for a think time.
    #[must_use]
    pub const fn thinks(&self) -> bool {
        false
    }

    /// Whether the budget is spent.
    #[must_use]
    pub const fn is_spent(&self) -> bool {
        self.left == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_is_exact_over_workers() {
        let mut sent = 0;
        for index in 0..3 {
            let mut closed = Closed::new(Some(10), Share::new(index, 3));
            while closed.next(Nanos(5)).is_some() {
                sent += 1;
            }
            assert!(closed.is_spent());
        }
        assert_eq!(sent, 10);
        assert_eq!(Closed::new(None, Share::WHOLE).next(Nanos(7)), Some(Nanos(7)));
    }
}
