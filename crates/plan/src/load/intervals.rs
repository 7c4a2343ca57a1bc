//! The grid of intervals that phases lie on, as far as a plan needs it. The engine cuts a load by the same rule, which a
//! test in `generate` holds.

use schema::plan::PhasePlan;

/// Length of an interval: about one second, so that a sample is cut evenly.
pub(crate) fn interval_ns(sample_ns: u64) -> u64 {
    (sample_ns / sample_ns.div_ceil(1_000_000_000).max(1)).max(1)
}

/// The begin of the measured window after a warm-up of fixed length: warm-up consists of whole intervals.
pub(crate) fn window_begin_ns(phases: &PhasePlan) -> u64 {
    let interval_ns = interval_ns(phases.sample_ns);
    phases.warmup_at_least_ns.div_ceil(interval_ns).saturating_mul(interval_ns)
}
