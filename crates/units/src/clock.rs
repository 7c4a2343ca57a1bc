//! The monotonic clock behind a trait, so that pacing, phases and time-outs are tested without sleeping.
//!
//! Absent on purpose: wall-clock time; it is recorded once per trial by the runner.

use crate::Nanos;
use std::time::Instant;

/// A source of monotonic time: nanoseconds since an origin that the clock fixes when it is made.
pub trait Clock {
    /// The present moment. Never decreases between two calls on one clock.
    fn now(&self) -> Nanos;
}

/// The operating system's monotonic clock, counted from the moment the value was made.
///
/// Copies share the origin, so several workers can compare their stamps.
#[derive(Clone, Copy, Debug)]
pub struct MonotonicClock {
    origin: Instant,
}

impl MonotonicClock {
    /// A clock whose zero is now.
    #[must_use]
    pub fn starting_now() -> Self {
        Self { origin: Instant::now() }
    }

    /// The same clock with its zero moved `by` later. Before that moment it reads zero.
    #[must_use]
    pub fn with_origin_after(self, by: Nanos) -> Self {
        Self { origin: self.origin + by.to_duration() }
    }
}

impl Clock for MonotonicClock {
    #[inline]
    fn now(&self) -> Nanos {
        let since = self.origin.elapsed();
        Nanos(since.as_secs() * 1_000_000_000 + u64::from(since.subsec_nanos()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_share_the_origin_and_time_does_not_go_back() {
        let clock = MonotonicClock::starting_now();
        let copy = clock;
        let first = clock.now();
        let second = copy.now();
        assert!(second >= first);
    }

    #[test]
    fn a_later_origin_reads_less_and_never_below_zero() {
        let clock = MonotonicClock::starting_now();
        assert_eq!(clock.with_origin_after(Nanos::from_secs(1000)).now(), Nanos::ZERO);
        let shifted = clock.with_origin_after(Nanos(1));
        assert!(shifted.now() <= clock.now());
    }
}
