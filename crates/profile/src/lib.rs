//! Profiles of a target under load: taken, read into folded stacks, tabled and drawn.
//!
//! Two parts. The pure one turns the bytes of a profiler into [`Folded`] stacks (`pprof`, `perf_script`, `jfr`,
//! `cpuprofile`, `text`, `bpf`), and those into a table ([`top()`]) and flame graphs ([`flame_graph`],
//! [`differential`]). The taking one ([`take()`]) asks the profilers.
//!
//! Invariants: everything from a target is hostile: sizes, depths and counts are bounded, names are cleaned of control
//! characters and of what has a meaning in folded stacks, and no input panics; what is cut is counted. A profiler that
//! is missing, forbidden or silent is refused with its remedy, never an error. Each child process is a group of its own
//! and is gone when its taker returns.
//! Absent on purpose: the load under which profiles are taken, the files they become (both the runner's), and any
//! judgement of what a profile shows.

mod bounded;
pub mod bpf;
pub mod cpuprofile;
mod flame;
pub mod folded;
pub mod jfr;
pub mod perf_script;
pub mod pprof;
mod take;
pub mod text;
mod top;
mod tree;

pub use flame::{differential, flame_graph};
pub use folded::{Cut, Folded};
pub use take::{Endpoint, Refused, Request, Taken, View, php_ini, take};
pub use top::{moved, table, top};
pub use tree::tree;

use schema::said::Said;

/// Most bytes of a profile that are read, after decompression where it is compressed.
pub const BYTES_MAX: usize = 64 << 20;

/// Why bytes are no profile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{cause}\n  remedy: {remedy}")]
pub struct ProfileError {
    /// What is wrong.
    pub cause: Box<Said>,
    /// What would cure it.
    pub remedy: Box<Said>,
}

impl ProfileError {
    fn new(cause: impl Into<Said>, remedy: impl Into<Said>) -> Self {
        Self { cause: Box::new(cause.into()), remedy: Box::new(remedy.into()) }
    }

    fn too_long(limit: usize) -> Self {
        Self::new(
            format!("the profile is longer than {limit} bytes"),
            "take it over a shorter time: --seconds",
        )
    }
}
