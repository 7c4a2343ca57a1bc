//! What the whole host did beside a run: stolen time, and time of processes that are no part of the benchmark.

use collect::{Roots, host_stat};
use std::collections::BTreeMap;

/// The host's CPU times so far; absent where they cannot be read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HostTimes(Option<BTreeMap<&'static str, u64>>);

/// Shares of the CPU time of all CPUs between two readings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct HostShares {
    /// Given to others by the hypervisor.
    pub(crate) steal: Option<f64>,
    /// At work for others than the benchmark. Kernel work that belongs to no process, such as an interrupt, is in it.
    pub(crate) others: Option<f64>,
}

impl HostTimes {
    /// Reads `/proc/stat`.
    pub(crate) fn now() -> Self {
        Self(host_stat::read(&Roots::default()).ok().map(|reading| reading.counters))
    }

    /// Shares from `self` to `after`, of which the benchmark's own processes used `own_ns`.
    pub(crate) fn shares(&self, after: &Self, own_ns: u64) -> HostShares {
        let (Some(before), Some(after)) = (&self.0, &after.0) else { return HostShares::default() };
        // Waiting for a disk may count backwards; such a field is left out as idle.
        let delta = |field: &&str| after.get(field)?.checked_sub(*before.get(field)?);
        let sum = |fields: &[&str]| fields.iter().filter_map(delta).sum::<u64>() as f64;
        let all_ns = sum(&host_stat::CPU_FIELDS);
        if all_ns <= 0.0 {
            return HostShares::default();
        }
        let work_ns = sum(&["user_ns", "nice_ns", "system_ns", "irq_ns", "softirq_ns"]);
        let others = ((work_ns - own_ns as f64) / all_ns).max(0.0);
        HostShares { steal: delta(&"steal_ns").map(|ns| ns as f64 / all_ns), others: Some(others) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(fields: &[(&'static str, u64)]) -> HostTimes {
        HostTimes(Some(fields.iter().copied().collect()))
    }

    #[test]
    fn shares_are_of_the_growth() {
        let before = times(&[("user_ns", 100), ("system_ns", 50), ("idle_ns", 10), ("steal_ns", 5)]);
        let after = times(&[("user_ns", 160), ("system_ns", 70), ("idle_ns", 20), ("steal_ns", 15)]);
        let shares = before.shares(&after, 70);
        assert_eq!(shares, HostShares { steal: Some(0.1), others: Some(0.1) });
        // The benchmark's own time is exact, the host's in ticks: less than nothing is nothing.
        assert_eq!(before.shares(&after, 90).others, Some(0.0));
    }

    #[test]
    fn what_cannot_be_read_is_absent() {
        let some = times(&[("user_ns", 1)]);
        assert_eq!(some.shares(&HostTimes(None), 0), HostShares::default());
        assert_eq!(some.shares(&some, 0), HostShares::default());
    }
}
