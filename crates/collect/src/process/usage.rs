//! What a tree of processes uses, in sums.

use crate::reading::Reading;

/// What a tree of processes used since it was first read, and what it holds now.
///
/// The totals count from each process's start, so only the difference of two readings of one tree has a meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeUsage {
    /// CPU time of all processes, living and ended.
    pub cpu_ns: u64,
    /// CPU time in user mode, in ticks.
    pub user_ns: u64,
    /// CPU time in the kernel, in ticks.
    pub system_ns: u64,
    /// Time in which threads could run but waited for a core; absent where the kernel does not say.
    pub run_delay_ns: Option<u64>,
    /// Switches because a thread waited; absent where threads cannot be read.
    pub voluntary_switches: Option<u64>,
    /// Switches because the core was taken away; absent where threads cannot be read.
    pub involuntary_switches: Option<u64>,
    /// Page faults of all processes that needed no disk.
    pub minor_faults: u64,
    /// Page faults of all processes that waited for a disk.
    pub major_faults: u64,
    /// Resident memory now.
    pub rss_bytes: u64,
    /// Living threads.
    pub threads: u64,
    /// Living processes.
    pub processes: u64,
    /// Threads that wait for a disk at this moment; absent where threads cannot be read.
    pub disk_waits: Option<u64>,
    /// Open descriptors; absent where this user may not see them.
    pub fds: Option<u64>,
}

impl From<TreeUsage> for Reading {
    fn from(usage: TreeUsage) -> Self {
        let gauges = [
            ("rss_bytes", Some(usage.rss_bytes)),
            ("threads", Some(usage.threads)),
            ("processes", Some(usage.processes)),
            ("fds", usage.fds),
            ("disk_waits", usage.disk_waits),
        ];
        let counters = [
            ("cpu_ns", Some(usage.cpu_ns)),
            ("user_ns", Some(usage.user_ns)),
            ("system_ns", Some(usage.system_ns)),
            ("minor_faults", Some(usage.minor_faults)),
            ("major_faults", Some(usage.major_faults)),
            ("run_delay_ns", usage.run_delay_ns),
            ("voluntary_switches", usage.voluntary_switches),
            ("involuntary_switches", usage.involuntary_switches),
        ];
        Self {
            gauges: gauges.into_iter().filter_map(|(name, value)| Some((name, value? as f64))).collect(),
            counters: counters.into_iter().filter_map(|(name, value)| Some((name, value?))).collect(),
        }
    }
}
