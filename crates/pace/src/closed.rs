//! The closed loop: a connection's next request is intended the moment the connection became free, plus its think
//! time (METHOD §1).

use crate::{Share, Think};
use units::Nanos;

/// The closed loop of one worker, with its part of the request budget.
#[derive(Clone, Debug)]
pub struct Closed {
    left: u64,
    think: Option<Think>,
}

impl Closed {
    /// A loop that ends after this worker's share of `requests_max`, or never by count.
    #[must_use]
    pub fn new(requests_max: Option<u64>, share: Share) -> Self {
        Self { left: requests_max.map_or(u64::MAX, |total| share.of(total)), think: None }
    }

    /// The same with a pause before each request, the first of a connection included.
    #[must_use]
    pub fn with_think(self, think: Option<Think>) -> Self {
        Self { think, ..self }
    }

    /// The intended time of the next request on a connection free since `free_at`: with think time it lies ahead.
    /// `None` when the budget is spent.
    #[inline]
    pub fn next(&mut self, free_at: Nanos) -> Option<Nanos> {
        self.left = self.left.checked_sub(1)?;
        match &mut self.think {
            None => Some(free_at),
            Some(think) => Some(Nanos(free_at.0.saturating_add(think.next().0))),
        }
    }

    /// Whether requests wait for a think time.
    #[must_use]
    pub const fn thinks(&self) -> bool {
        self.think.is_some()
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
    use schema::arrival::ThinkPlan;
    use units::Seed;

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

    #[test]
    fn the_intended_time_is_the_free_time_plus_the_think_time() {
        let plan = ThinkPlan::Lognormal { mean_ns: 1_000_000, cv: 0.5 };
        let think = || Think::new(&plan, Seed(3), Share::WHOLE).unwrap();
        let mut closed = Closed::new(Some(3), Share::WHOLE).with_think(Some(think()));
        let mut alone = think();
        for free_at in [Nanos(0), Nanos(10), Nanos::SECOND] {
            assert_eq!(closed.next(free_at), Some(free_at + alone.next()));
        }
        assert_eq!(closed.next(Nanos::SECOND), None);
    }
}
