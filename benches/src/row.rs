//! One run of one peer, as it is kept in `raw.csv`: one line each, in the order they were made.

use serde::{Deserialize, Serialize};

/// A run that was measured. What could not be read is empty, never zero.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Row {
    /// Number of the repeat, from 0.
    pub(crate) repeat: u32,
    /// Number of the run in the whole benchmark, from 0.
    pub(crate) position: u32,
    /// Name of the peer.
    pub(crate) peer: String,
    /// Connections of the case.
    pub(crate) connections: u32,
    /// Time the peer was asked to load.
    pub(crate) asked_s: u64,
    /// Time from start to end of its process.
    pub(crate) wall_ms: u64,
    /// Answers that the peer counted.
    pub(crate) requests: Option<u64>,
    /// Answers per second as the peer counts them.
    pub(crate) requests_per_s: Option<f64>,
    /// CPU time of the peer's whole process in user mode.
    pub(crate) user_us: u64,
    /// CPU time of the peer's whole process in the kernel.
    pub(crate) system_us: u64,
    /// Both over the answers.
    pub(crate) cpu_us_per_request: Option<f64>,
    /// Highest resident memory of the peer.
    pub(crate) peak_rss_bytes: Option<u64>,
    /// CPU time of the peer over the wall time; more than 1 with more than one CPU.
    pub(crate) generator_busy_share: f64,
    /// CPU time of the server over the wall time.
    pub(crate) server_busy_share: Option<f64>,
    /// CPU time of everybody else over that of all CPUs of the host.
    pub(crate) others_busy_share: Option<f64>,
    /// CPU time that the hypervisor gave to others over that of all CPUs of the host.
    pub(crate) steal_share: Option<f64>,
    /// Why the run counts for nothing; empty for a good one.
    pub(crate) void: String,
}

impl Row {
    /// Whether the run counts.
    pub(crate) fn is_valid(&self) -> bool {
        self.void.is_empty()
    }
}
