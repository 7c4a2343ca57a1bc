//! The fixed-work canary on the generator's CPU, before and after the load of a trial (METHOD §9).
//!
//! Invariant: it runs on a thread of its own, so that nothing of prony is left confined to one CPU, and never while
//! load runs.

use schema::calibration::{Canary, FixedWork};
use std::time::Duration;

/// Time of one reading in a trial.
pub(crate) const BUDGET: Duration = Duration::from_millis(20);

/// Works for about `budget` on the first of `cpus`, or on any CPU where there are none. `None` where the CPU is refused.
pub(crate) fn reading(cpus: Option<&[u32]>, budget: Duration) -> Option<FixedWork> {
    let first = cpus.and_then(<[u32]>::first).copied();
    let work = move || {
        if let Some(cpu) = first {
            launch::pin::confine_this_thread(&[cpu]).ok()?;
        }
        Some(engine::fixed_work(budget))
    };
    std::thread::spawn(work).join().ok()?
}

/// Both readings and what lies between them.
pub(crate) fn canary(before: Option<FixedWork>, after: Option<FixedWork>) -> Option<Canary> {
    let (before, after) = (before?, after?);
    Some(Canary { before, after, drift: after.median_ns / before.median_ns.max(1.0) - 1.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drift_is_after_over_before() {
        let work = |median_ns| Some(FixedWork { median_ns, ..FixedWork::default() });
        let found = canary(work(100_000.0), work(110_000.0)).unwrap();
        assert!((found.drift - 0.1).abs() < 1e-12);
        assert!(canary(work(100_000.0), work(90_000.0)).unwrap().drift < -0.09);
        assert_eq!(canary(work(1.0), None), None);
        assert_eq!(canary(None, work(1.0)), None);
    }

    #[test]
    fn a_cpu_that_cannot_be_used_gives_no_reading() {
        assert_eq!(reading(Some(&[5000]), Duration::ZERO), None);
        assert!(reading(None, Duration::ZERO).is_some());
    }
}
