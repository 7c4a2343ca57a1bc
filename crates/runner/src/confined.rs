//! What a confined target was held to in one trial, and what the kernel counted for it within the samples.
//!
//! Invariant: what was not asked for, or cannot be read, is absent.
//! Absent on purpose: making and removing groups (crate launch) and each tick's counters (crate collect).

use crate::bring_up::Up;
use collect::cgroup::{self, Groups};
use collect::reading::Reading;
use launch::RunningTarget;
use schema::limits::{Confinement, GroupUsage};
use std::path::PathBuf;

/// The groups of a running target.
pub(crate) struct Watched {
    groups: Groups,
    at_begin: Option<Reading>,
    usage: Option<GroupUsage>,
}

impl Watched {
    pub(crate) fn new(up: &Up) -> Self {
        Self { groups: groups(up.running.as_ref()), at_begin: None, usage: None }
    }

    pub(crate) fn groups(&self) -> Groups {
        self.groups.clone()
    }

    /// The samples begin.
    pub(crate) fn begin(&mut self) {
        self.at_begin = self.read();
    }

    /// The samples are over; may be called after each of several.
    pub(crate) fn end(&mut self) {
        if let (Some(begin), Some(end)) = (&self.at_begin, self.read()) {
            self.usage = Some(between(begin, &end));
        }
    }

    pub(crate) fn usage(&self) -> Option<GroupUsage> {
        self.usage
    }

    fn read(&self) -> Option<Reading> {
        if self.groups.is_empty() { None } else { cgroup::read(&self.groups).ok() }
    }
}

/// Folders of the target's groups by controller; none where it has none.
fn groups(running: Option<&RunningTarget>) -> Groups {
    let held: Option<Confinement> = running.and_then(RunningTarget::confinement);
    let folders = held.into_iter().flat_map(|held| held.groups);
    folders.map(|(controller, folder)| (controller, PathBuf::from(folder))).collect()
}

fn between(begin: &Reading, end: &Reading) -> GroupUsage {
    let rise = |name: &str| end.counter(name)?.checked_sub(begin.counter(name)?);
    let (periods, throttled) = (rise("periods"), rise("throttled_periods"));
    let share = |(periods, throttled): (u64, u64)| (periods > 0).then(|| throttled as f64 / periods as f64);
    GroupUsage {
        periods,
        throttled_periods: throttled,
        throttled_share: periods.zip(throttled).and_then(share),
        throttled_ns: rise("throttled_ns"),
        memory_peak_bytes: end.gauge("memory_peak_bytes").map(|bytes| bytes as u64),
        oom_kills: rise("oom_kills"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(periods: u64, throttled: u64, ns: u64) -> Reading {
        let counters = [("periods", periods), ("throttled_periods", throttled), ("throttled_ns", ns)];
        Reading { counters: counters.into(), ..Reading::default() }
    }

    #[test]
    fn counts_are_those_between_two_readings() {
        let usage = between(&reading(10, 2, 5), &reading(50, 22, 1_000_005));
        assert_eq!((usage.periods, usage.throttled_periods), (Some(40), Some(20)));
        assert_eq!((usage.throttled_share, usage.throttled_ns), (Some(0.5), Some(1_000_000)));
        assert_eq!((usage.memory_peak_bytes, usage.oom_kills), (None, None));
        let idle = between(&reading(10, 2, 5), &reading(10, 2, 5));
        assert_eq!((idle.periods, idle.throttled_share), (Some(0), None), "no period, no share");
        assert_eq!(between(&Reading::default(), &reading(1, 1, 1)), GroupUsage::default());
    }
}
