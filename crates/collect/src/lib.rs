//! Counters that are read beside the load, and the host facts behind `prony doctor`.
//!
//! Invariants: a source is a thin read, a pure parse and a pure delta; the roots of `/proc` and `/sys` are injected;
//! what cannot be read is absent, never zero; a counter that went backwards gives no delta; a source that fails costs
//! a gap, never the run; input (kernel files, answers of targets) is bounded and never causes a panic.
//! Absent on purpose: threads but one for each service's connection, and time stamps (the runner hands `now` in and
//! decides when to tick), the meaning of a
//! counter (the analyze crate's work), and any change to the host.

mod anchor;
mod backoff;
pub mod cgroup;
mod collector;
pub mod doctor;
mod error;
pub mod exposition;
pub mod go_runtime;
pub mod holdings;
pub mod host_clock;
pub mod host_cpus;
pub mod host_disk;
pub mod host_interrupts;
pub mod host_load;
pub mod host_memory;
pub mod host_net;
pub mod host_pressure;
pub mod host_stat;
pub mod limits;
pub mod listener;
pub mod local_ports;
pub mod process;
pub mod reading;
pub mod runtimes;
pub mod server_side;
pub mod services;
pub mod sock_diag;
mod source;
pub mod target_connections;
pub mod target_listen;
mod target_network;
pub mod target_outgoing;
pub mod tcp_netstat;
mod tcp_pairs;
pub mod tcp_snmp;
pub mod tcp_sockstat;
pub mod tcp_states;
mod text;

pub use collector::{Collector, NAME as COLLECTOR, Subjects};
pub use doctor::doctor;
pub use error::{CollectError, ParseError};
pub use process::{ProcessTree, TreeUsage};
pub use source::{Comparable, Source};

use std::path::PathBuf;

/// Where the kernel's files are; other places are given in tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roots {
    /// The proc file system.
    pub proc: PathBuf,
    /// The sys file system.
    pub sys: PathBuf,
}

impl Default for Roots {
    /// `/proc` and `/sys`.
    fn default() -> Self {
        Self { proc: PathBuf::from("/proc"), sys: PathBuf::from("/sys") }
    }
}
