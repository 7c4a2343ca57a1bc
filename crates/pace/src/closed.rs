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
    /// `None` when the budget is spent. A request counts towards it when it is intended at `counts_from` or later, where
    /// the samples begin: warm-up spends nothing.
    #[inline]
    pub fn next(&mut self, free_at: Nanos, counts_from: Nanos) -> Option<Nanos> {
        if self.left == 0 {
            return None;
        }
        let pause = self.think.as_mut().map_or(Nanos::ZERO, Think::next);
        let intended = Nanos(free_at.0.saturating_add(pause.0));
        self.left -= u64::from(intended >= counts_from);
        Some(intended)
    }

    /// Requests that go with the one just taken, as those of one script's text do: they count as it did. The last text
    /// may hold more of them than were left.
    pub fn spend(&mut self, more: u64, intended: Nanos, counts_from: Nanos) {
        if intended >= counts_from {
            self.left = self.left.saturating_sub(more);
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
            while closed.next(Nanos(5), Nanos::ZERO).is_some() {
                sent += 1;
            }
            assert!(closed.is_spent());
        }
        assert_eq!(sent, 10);
        assert_eq!(Closed::new(None, Share::WHOLE).next(Nanos(7), Nanos::ZERO), Some(Nanos(7)));
    }

    #[test]
    fn warm_up_spends_nothing() {
        let mut closed = Closed::new(Some(2), Share::WHOLE);
        let samples = Nanos(100);
        for free_at in [0, 50, 99] {
            assert_eq!(closed.next(Nanos(free_at), samples), Some(Nanos(free_at)));
        }
        closed.spend(5, Nanos(99), samples);
        assert!(closed.next(Nanos(100), samples).is_some() && !closed.is_spent());
        closed.spend(5, Nanos(100), samples);
        assert!(closed.is_spent() && closed.next(Nanos(101), samples).is_none());
    }

    #[test]
    fn the_intended_time_is_the_free_time_plus_the_think_time() {
        let plan = ThinkPlan::Lognormal { mean_ns: 1_000_000, cv: 0.5 };
        let think = || Think::new(&plan, Seed(3), Share::WHOLE).unwrap();
        let mut closed = Closed::new(Some(3), Share::WHOLE).with_think(Some(think()));
        let mut alone = think();
        for free_at in [Nanos(0), Nanos(10), Nanos::SECOND] {
            assert_eq!(closed.next(free_at, Nanos::ZERO), Some(free_at + alone.next()));
        }
        assert_eq!(closed.next(Nanos::SECOND, Nanos::ZERO), None);
    }
}
