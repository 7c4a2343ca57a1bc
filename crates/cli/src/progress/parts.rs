//! Types that a run's state and its wording share.

use schema::finding::FindingCause;
use schema::plan::PhasePlan;

/// A cause that was found at a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) target: String,
    pub(super) cause: FindingCause,
}

/// What one trial is expected to take: warm-up of unknown length is taken near its shorter end.
pub(super) fn trial_ns(phases: &PhasePlan) -> u64 {
    let span_ns = phases.warmup_at_most_ns.saturating_sub(phases.warmup_at_least_ns);
    let samples_ns = phases.sample_ns.saturating_mul(u64::from(phases.samples));
    phases.warmup_at_least_ns.saturating_add(span_ns / 4).saturating_add(samples_ns)
}
