//! One load by several processes, because the system limits the descriptors of one.
//!
//! ```text
//! prony ──orders (stdin)──▶ prony generator   workers 0..a
//!       ◀──reports (stdout)─
//!       ──orders──────────▶ prony generator   workers a..b   …
//! ```
//!
//! Invariants: every process makes a contiguous part of the load's workers, so the schedule and the budget are split
//! as exactly as over threads; all share one origin on the machine's monotonic clock; their intervals are merged as
//! those of workers are and go the same way from there. A generator process ends when its orders end, which prony's
//! death causes however it dies, and sits in a process group of its own, so Ctrl-C reaches prony alone and the
//! results are collected. When one dies, the load ends with an error and the others are ended.
//! Absent on purpose: other machines (`agents`, which drive these processes), and a second way to a result.

mod child;
mod error;
mod fleet;
mod protocol;

pub(crate) use self::fleet::{Fleet, split};
pub use error::ProcessError;

use std::ffi::OsString;
use std::process::ExitCode;

/// First argument of a generator process.
pub const GENERATOR: &str = "generator";

/// Serves the hidden subcommand; `None` where the arguments (program name first) ask for something else.
pub fn dispatch(args: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let asked = args.into_iter().nth(1)?;
    (asked == GENERATOR).then(child::run)
}

/// Highest resident memory of this process so far in bytes, from `/proc/self/status`.
pub(crate) fn peak_rss_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib * 1024)
}
