//! Types that a run's state and its wording share.

use schema::finding::FindingCause;
use schema::plan::PhasePlan;

/// A cause that was found at a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) target: String,
    pub(super) cause: FindingCause,
}

/// What one trial is expected to take, of a target that is warm from the start.
pub(super) fn trial_ns(phases: &PhasePlan) -> u64 {
    let samples_ns = phases.sample_ns.saturating_mul(u64::from(phases.samples));
    analyze::warmup_expected_ns(phases).saturating_add(samples_ns)
}
