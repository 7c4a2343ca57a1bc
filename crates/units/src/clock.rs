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
}
