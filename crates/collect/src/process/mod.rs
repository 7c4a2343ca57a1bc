//! `target.process`, `generator.process` and `service.<name>.process`: what a process and all its descendants use, from
//! `/proc/PID` (proc(5)); `target.threads`: the target's busiest threads.
//!
//! | key | kind | from | meaning |
//! |---|---|---|---|
//! | `cpu_ns` | delta | `task/*/schedstat`, `stat` | CPU time, exact to the nanosecond while threads live, else to one
//! tick |
//! | `user_ns`, `system_ns` | delta | `stat` utime, stime | the same split in two, in ticks of 10 ms |
//! | `run_delay_ns` | delta | `task/*/schedstat` | time that threads could run but waited for a core (METHOD §9, CPU
//! queueing) |
//! | `voluntary_switches` | delta | `task/*/status` | switches because a thread waited |
//! | `involuntary_switches` | delta | `task/*/status` | switches because the core was taken away |
//! | `rss_bytes` | gauge | `task/*/status` VmRSS, else `stat` | resident memory; pages shared by processes count once
//! for each |
//! | `threads`, `processes` | gauge | `stat` | living ones |
//! | `fds` | gauge | `fd/` | open descriptors |
//! | `fd_limit` | gauge | `limits` | the smallest soft limit of descriptors of one process; read at every 10th tick |
//! | `pss_bytes` | gauge | `smaps_rollup` | resident memory with shared pages divided by their users; of trees of two
//! processes or more, up to 4 GiB resident, at every 10th tick only |
//! | `disk_waits` | gauge | `task/*/status` State | threads in uninterruptible sleep (`D`) at this moment: nearly always for
//! a disk |
//! | `minor_faults`, `major_faults` | delta | `stat` minflt, majflt | page faults; those that waited for a disk |
//! | `busiest_thread_percent` | gauge | `task/*/schedstat` | share of one core that the busiest thread had in the tick
//! |
//! | `processes_busy_cv` | gauge | as `cpu_ns` | coefficient of variation of CPU time in the tick over processes with
//! one parent and one name (workers), two or more |
//! | `top1_percent` … `top5_percent` | gauge | `task/*/schedstat` | of `target.threads`: shares of one core of the
//! busiest threads, falling |
//!
//! `/proc/PID/schedstat` and `/proc/PID/status` cover the first thread only, hence the walk over `task/`.
//!
//! Invariants: totals never go backwards; a process or thread that ends keeps its last values in the total; a process
//! that cannot be seen any more is skipped; the start time tells a reused number from the old process.
//! Known loss: page faults of processes between their last reading and their end; run delay and switches of a thread
//! between its last reading and its end. CPU time is not lost: the kernel keeps it in `stat` for threads and in the
//! parent's cutime and cstime for children that were waited for.

mod account;
mod detail;
pub mod followed;
pub mod parse;
mod tree;
mod usage;

pub use tree::ProcessTree;
pub use usage::TreeUsage;

use crate::Roots;
use crate::error::CollectError;
use crate::reading::Values;
use crate::source::{Differencing, Source};
use detail::Details;
use schema::trial::CounterLine;
use units::Nanos;

/// Name of the source for the system under test.
pub const TARGET: &str = "target.process";
/// Name of the source for prony's own load generator.
pub const GENERATOR: &str = "generator.process";
/// Name of the source for the threads of the system under test.
pub const THREADS: &str = "target.threads";

/// A source of this name for the tree under process `root`; for a service, `service.<name>.process`.
#[must_use]
pub fn source(roots: &Roots, name: String, root: u32) -> Box<dyn Source> {
    let mut details = Details::new(&roots.proc, ProcessTree::new(roots, root));
    Box::new(WithoutThreads(Box::new(Differencing::new(name, move || details.read()))))
}

/// Takes the shares of single threads out of the lines, which only `target.threads` publishes.
struct WithoutThreads(Box<dyn Source>);

impl Source for WithoutThreads {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn tick(&mut self, now: Nanos) -> Result<CounterLine, CollectError> {
        let mut line = self.0.tick(now)?;
        take_threads(&mut line);
        Ok(line)
    }
}

/// Moves the shares of single threads out of a line.
fn take_threads(line: &mut CounterLine) -> Values {
    let names = detail::TOP_NAMES.iter();
    names.filter_map(|name| line.gauges.remove_entry(*name)).collect()
}
