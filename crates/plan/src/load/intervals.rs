//! The grid of intervals that phases lie on, as far as a plan needs it. The engine cuts a load by the same rule, which a
//! test in `generate` holds.

use crate::defaults;
use schema::plan::PhasePlan;
use units::Nanos;

/// Length of an interval: about one second, so that a sample is cut evenly.
#[must_use]
pub fn interval_ns(sample_ns: u64) -> u64 {
    (sample_ns / sample_ns.div_ceil(1_000_000_000).max(1)).max(1)
}

/// The begin of the measured window after a warm-up of fixed length: warm-up consists of whole intervals.
#[must_use]
pub fn window_begin_ns(warmup_ns: u64, sample_ns: u64) -> u64 {
    let interval_ns = interval_ns(sample_ns);
    warmup_ns.div_ceil(interval_ns).saturating_mul(interval_ns)
}

/// Phases of a load that is measured once, after a warm-up of fixed length.
#[must_use]
pub fn once(warmup: Nanos, sample: Nanos) -> PhasePlan {
    PhasePlan {
        warmup_at_least_ns: warmup.0,
        warmup_at_most_ns: warmup.0,
        warmup_also: Default::default(),
        sample_ns: sample.0,
        samples: 1,
        drain_ns: defaults::DRAIN.0,
    }
}
