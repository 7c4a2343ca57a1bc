//! The whole audit of the host: what the kernel tells, the fixed-work canary on the CPUs, and what prony has tuned.
//!
//! Invariant: the canary runs on one CPU after the other, after the readings of load and steal, which it would spoil.

use crate::canary;
use crate::tune::Tuner;
use collect::Roots;
use schema::calibration::FixedWork;
use schema::doctor::DoctorReport;
use std::time::Duration;

/// More CPUs than this are sampled evenly.
const CPUS_MAX: usize = 16;
/// Time of the canary on one CPU.
const BUDGET: Duration = Duration::from_millis(30);

/// Looks at this host. Takes 0.3 s to 1.7 s.
#[must_use]
pub fn audit() -> DoctorReport {
    let mut report = collect::doctor(&Roots::default());
    report.facts.extend(collect::doctor::timing(&readings()));
    report.tuned = Tuner::here().map(|tuner| tuner.in_force()).unwrap_or_default();
    report
}

/// One reading a CPU; a CPU that refuses is left out.
fn readings() -> Vec<(u32, FixedWork)> {
    let cpus = launch::pin::usable_cpus().unwrap_or_default();
    let step = cpus.len().div_ceil(CPUS_MAX).max(1);
    let sampled = cpus.iter().step_by(step);
    sampled.filter_map(|cpu| Some((*cpu, canary::reading(Some(&[*cpu]), BUDGET)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_audit_has_the_canary_of_every_cpu_that_may_be_used() {
        let cpus = launch::pin::usable_cpus().unwrap().len();
        assert_eq!(readings().len(), cpus.div_ceil(cpus.div_ceil(CPUS_MAX)));
        let report = audit();
        for id in ["cpu.speed", "host.timing", "host.steal"] {
            let fact = report.facts.iter().find(|fact| fact.id == id).unwrap();
            assert!(fact.value.is_some(), "{fact:?}");
        }
    }
}
