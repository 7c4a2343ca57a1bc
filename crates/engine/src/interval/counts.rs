//! The plain counters of an interval.

use super::account::Account;
use super::messages::MessageCounts;
use super::streams::StreamCounts;
use crate::redirects::Redirects;
use serde::{Deserialize, Serialize};

/// The plain counters of an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Counts {
    /// Number on the trial's grid; the last one holds the drain.
    pub index: u64,
    /// Begin, from the trial's origin.
    pub start_ns: u64,
    /// End, from the trial's origin.
    pub end_ns: u64,
    /// Requests intended before the samples.
    pub warm: Account,
    /// Requests intended within the samples.
    pub measured: Account,
    /// Right answers that arrived in this interval, of either account.
    pub answers: u64,
    /// Redirects followed, of the interval's own account.
    #[serde(default)]
    pub redirects: Redirects,
    /// Streams and their connections (HTTP/2), whichever account their requests have.
    #[serde(default)]
    pub streams: StreamCounts,
    /// Messages on streams.
    #[serde(default)]
    pub messages: MessageCounts,
    /// Bytes received.
    pub read_bytes: u64,
    /// Bytes sent.
    pub written_bytes: u64,
    /// Connections opened.
    pub connects: u64,
    /// TLS handshakes done in full.
    pub tls_full: u64,
    /// TLS handshakes that resumed an earlier session.
    pub tls_resumed: u64,
    /// Intended but not written at the end.
    pub backlog: u64,
    /// Written but not done at the end.
    pub in_flight: u64,
    /// Integral over the interval of the requests waiting or in flight, in request-nanoseconds.
    pub in_system_ns: u64,
    /// Time since their intended one of the requests that left in the interval, up to the end of load: summed from their
    /// own stamps, so that it can be held against the integral (METHOD §9).
    pub residence_ns: u64,
    /// CPU time of the workers.
    pub cpu_ns: u64,
    /// Time in which workers could have run and others had their CPU.
    pub put_off_ns: u64,
    /// Priority of the workers, from -20 to 19; the least favoured one's.
    pub nice: i32,
    /// The highest worker's share of the interval that was work, not waiting or spinning; 0 to 1.
    pub busy_share: f64,
    /// Rows of requests that were handed over, where somebody wants them.
    pub rows: u64,
    /// Those for which there was no room.
    pub rows_dropped: u64,
}

impl Counts {
    pub(super) fn merge(&mut self, other: &Self) {
        // A sum without a part has no priority of its own yet.
        self.nice = if self.end_ns == 0 { other.nice } else { self.nice.max(other.nice) };
        self.end_ns = self.end_ns.max(other.end_ns);
        self.warm.add(&other.warm);
        self.measured.add(&other.measured);
        self.answers += other.answers;
        self.redirects.add(&other.redirects);
        self.streams.add(&other.streams);
        self.messages.add(&other.messages);
        self.read_bytes += other.read_bytes;
        self.written_bytes += other.written_bytes;
        self.connects += other.connects;
        self.tls_full += other.tls_full;
        self.tls_resumed += other.tls_resumed;
        self.backlog += other.backlog;
        self.in_flight += other.in_flight;
        self.in_system_ns += other.in_system_ns;
        self.residence_ns += other.residence_ns;
        self.cpu_ns += other.cpu_ns;
        self.put_off_ns += other.put_off_ns;
        self.busy_share = self.busy_share.max(other.busy_share);
        self.rows += other.rows;
        self.rows_dropped += other.rows_dropped;
    }
}
