//! What the controller and the workers share: the trial's timeline and the wish to stop.
//!
//! Read by workers once an interval and every 100 ms, so its atomics are no part of the hot path.

use super::sync::{AtomicBool, AtomicU64, Ordering};
use units::Nanos;

/// The fixed grid of a trial, in nanoseconds from its origin. Phase borders lie on interval borders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeline {
    /// Length of an interval.
    pub interval_ns: u64,
    /// Measured intervals; `u64::MAX` where a request budget ends the load.
    pub measured_intervals: u64,
    /// After the end, requests in flight get this long.
    pub drain_ns: u64,
}

impl Timeline {
    /// The grid for samples of `sample_ns`: intervals of about one second that divide a sample evenly.
    #[must_use]
    pub fn for_samples(sample_ns: u64, samples: u32, drain_ns: u64) -> Self {
        let per_sample = Self::intervals_in(sample_ns);
        Self {
            interval_ns: (sample_ns / per_sample).max(1),
            measured_intervals: per_sample * u64::from(samples),
            drain_ns,
        }
    }

    /// The first interval border that every worker can still learn of in time at `now` on the trial's clock.
    #[must_use]
    pub fn next_border(&self, now: Nanos) -> u64 {
        // Late in an interval a worker might already be on its way past the next border.
        let is_early = now.0 % self.interval_ns < self.interval_ns / 2;
        now.0 / self.interval_ns + if is_early { 1 } else { 2 }
    }

    /// How many intervals a sample of this length is cut into.
    #[must_use]
    pub fn intervals_in(sample_ns: u64) -> u64 {
        sample_ns.div_ceil(1_000_000_000).max(1)
    }
}

/// Not yet decided.
const UNDECIDED: u64 = u64::MAX;

/// Shared between one generator and its workers.
#[derive(Debug)]
pub(crate) struct Control {
    /// Nanoseconds on the generator's clock at which the trial's time is zero.
    origin_ns: AtomicU64,
    /// First measured interval.
    measure_from: AtomicU64,
    stop: AtomicBool,
    /// Connections that are open, while they are being opened.
    opened: AtomicU64,
}

impl Control {
    pub(crate) fn new() -> Self {
        Self {
            origin_ns: AtomicU64::new(UNDECIDED),
            measure_from: AtomicU64::new(UNDECIDED),
            stop: AtomicBool::new(false),
            opened: AtomicU64::new(0),
        }
    }

    pub(crate) fn start_at(&self, origin_ns: u64) {
        self.origin_ns.store(origin_ns, Ordering::Release);
    }

    pub(crate) fn origin_ns(&self) -> Option<u64> {
        decided(self.origin_ns.load(Ordering::Acquire))
    }

    pub(crate) fn measure_from(&self, interval: u64) {
        self.measure_from.store(interval, Ordering::Release);
    }

    pub(crate) fn measured_from(&self) -> Option<u64> {
        decided(self.measure_from.load(Ordering::Acquire))
    }

    /// Where the samples begin, as a worker learns it that begins `interval`.
    pub(crate) fn samples_seen_from(&self, interval: u64) -> Option<SamplesStart> {
        self.measured_from().map(|from| SamplesStart { from, is_missed: from < interval })
    }

    /// A worker has opened so many more connections.
    pub(crate) fn opened(&self, more: u64) {
        self.opened.fetch_add(more, Ordering::Relaxed);
    }

    pub(crate) fn opened_so_far(&self) -> u64 {
        self.opened.load(Ordering::Relaxed)
    }

    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Release);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }
}

/// The begin of the samples, as one worker learned it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SamplesStart {
    /// First measured interval.
    pub(crate) from: u64,
    /// The worker was past that border already, so its accounts mix warm-up and samples.
    pub(crate) is_missed: bool,
}

const fn decided(value: u64) -> Option<u64> {
    if value == UNDECIDED { None } else { Some(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_border_is_announced_half_an_interval_ahead() {
        let timeline = Timeline { interval_ns: 100, measured_intervals: 1, drain_ns: 0 };
        assert_eq!([0, 49, 50, 99, 100].map(|now| timeline.next_border(Nanos(now))), [1, 1, 2, 2, 2]);
    }

    #[test]
    fn intervals_divide_samples_evenly() {
        for (sample_ms, samples, interval_ns, intervals) in [
            (5000, 3, 1_000_000_000, 15),
            (2500, 1, 833_333_333, 3),
            (300, 2, 300_000_000, 2),
            (1000, 1, 1_000_000_000, 1),
        ] {
            let timeline = Timeline::for_samples(sample_ms * 1_000_000, samples, 0);
            assert_eq!(
                (timeline.interval_ns, timeline.measured_intervals),
                (interval_ns, intervals),
                "{sample_ms} ms"
            );
        }
    }
}
