//! `target.process` and `generator.process`: what a process and all its descendants use, from `/proc/PID` (proc(5)).
//!
//! | key | kind | from | meaning |
//! |---|---|---|---|
//! | `cpu_ns` | delta | `task/*/schedstat`, `stat` | CPU time, exact to the nanosecond while threads live, else to one tick |
//! | `user_ns`, `system_ns` | delta | `stat` utime, stime | the same split in two, in ticks of 10 ms |
//! | `run_delay_ns` | delta | `task/*/schedstat` | time that threads could run but waited for a core (METHOD §9, CPU queueing) |
//! | `voluntary_switches` | delta | `task/*/status` | switches because a thread waited |
//! | `involuntary_switches` | delta | `task/*/status` | switches because the core was taken away |
//! | `rss_bytes` | gauge | `task/*/status` VmRSS, else `stat` | resident memory; pages shared by processes count once for each |
//! | `threads`, `processes` | gauge | `stat` | living ones |
//! | `fds` | gauge | `fd/` | open descriptors |
//!
//! `/proc/PID/schedstat` and `/proc/PID/status` tell of the first thread only, hence the walk over `task/`.
//!
//! Invariants: totals never go backwards; a process or thread that ends keeps its last values in the total; a process
//! that cannot be seen any more is skipped; the start time tells a reused number from the old process.
//! Known loss: run delay and switches of a thread between its last reading and its end. CPU time is not lost: the
//! kernel keeps it in `stat` for threads and in the parent's cutime and cstime for children that were waited for.

mod account;
pub mod followed;
pub mod parse;
mod tree;

pub use tree::ProcessTree;

use crate::reading::Reading;
use crate::source::{Differencing, Source};

/// Name of the source for the system under test.
pub const TARGET: &str = "target.process";
/// Name of the source for prony's own load generator.
pub const GENERATOR: &str = "generator.process";

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
    /// Resident memory now.
    pub rss_bytes: u64,
    /// Living threads.
    pub threads: u64,
    /// Living processes.
    pub processes: u64,
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
        ];
        let counters = [
            ("cpu_ns", Some(usage.cpu_ns)),
            ("user_ns", Some(usage.user_ns)),
            ("system_ns", Some(usage.system_ns)),
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

pub(crate) fn source(name: &'static str, mut tree: ProcessTree) -> Box<dyn Source> {
    Box::new(Differencing::new(name, move || tree.read().map(Reading::from)))
}
