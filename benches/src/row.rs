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
    /// Name of the case.
    pub(crate) case: String,
    /// Connections of the case.
    pub(crate) connections: u32,
    /// The command line, without the program.
    pub(crate) arguments: String,
    /// Time the peer was asked to load.
    pub(crate) asked_s: u64,
    /// Time from start to end of its process.
    pub(crate) wall_ms: u64,
    /// Answers that the peer counted.
    pub(crate) requests: Option<u64>,
    /// Answers that the server gave meanwhile.
    pub(crate) server_requests: Option<u64>,
    /// Answers per second as the peer counts them.
    pub(crate) requests_per_s: Option<f64>,
    /// CPU time of the peer's whole process in user mode.
    pub(crate) user_us: u64,
    /// CPU time of the peer's whole process in the kernel.
    pub(crate) system_us: u64,
    /// Both over the answers of the server, which counts alike for all peers.
    pub(crate) cpu_us_per_request: Option<f64>,
    /// Highest resident memory of the peer.
    pub(crate) peak_rss_bytes: Option<u64>,
    /// CPU time of the peer over the wall time; more than 1 with more than one CPU.
    pub(crate) generator_busy_share: f64,
    /// CPU time of the server over the wall time; absent where it does not sleep, to stamp arrivals.
    pub(crate) server_busy_share: Option<f64>,
    /// Requests a second as they arrived; this and the next three for constant rates only.
    pub(crate) arrivals_per_s: Option<f64>,
    /// Median of |gap between arrivals − 1/rate|.
    pub(crate) gap_error_p50_ns: Option<u64>,
    /// 99th percentile of the same.
    pub(crate) gap_error_p99_ns: Option<u64>,
    /// Median time from reading a request to writing its answer, as the server stamped them.
    pub(crate) residence_p50_ns: Option<u64>,
    /// Median time from sending to the answer, as the peer recorded it, where it is read.
    pub(crate) service_p50_ns: Option<u64>,
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
