//! The metrics a trial yields, with their units and which direction is better.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One number per trial; the unit of comparison. Those of `ASKED` are computed for claims that name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Right answers per second inside the samples.
    Throughput,
    /// Mean response time of right answers.
    Mean,
    /// Median response time.
    P50,
    /// 90th percentile of response time.
    P90,
    /// 95th percentile of response time.
    P95,
    /// 99th percentile of response time.
    P99,
    /// 99.9th percentile of response time.
    P999,
    /// Failed over completed and failed, 0 to 1.
    ErrorRate,
    /// CPU time of the target per right answer.
    CpuPerRequest,
    /// Highest resident memory of the target within the samples.
    Memory,
    /// Bytes that the target's runtime allocated per right answer, where the runtime tells.
    AllocPerRequest,
    /// CPU time of the target over what it may use, its quota or its CPUs: 0 to 1.
    Cpu,
    /// Longest response time.
    Max,
    /// Garbage collections within the samples, where the runtime counts them.
    GcCount,
    /// Garbage collections per second of the samples.
    GcRate,
    /// Upper bound of the 99th percentile of the collector's pauses: the largest one of an interval.
    GcPauseP99,
    /// Longest pause of the collector, at most a quarter too long.
    GcPauseMax,
    /// Share of the samples in which the collector stopped the target.
    GcPauseShare,
    /// Share of the memory that the runtime holds and no object takes, where it holds most: 0 to 1.
    MemorySlack,
    /// Bytes received per answer, heads included.
    BytesPerRequest,
    /// Share of the requests that took a connection which was open already, 0 to 1.
    ConnectionReuse,
    /// Connections opened within the samples, per second.
    Reconnects,
    /// Attempts to connect that failed, over all attempts within the window, 0 to 1.
    ConnectFailures,
    /// Connections that took over a local port in TIME_WAIT, over the connections opened, 0 to 1, where the generator has
    /// a network of its own.
    TimeWaitReuse,
    /// Segments sent again over segments sent, 0 to 1, in the namespace of the target.
    Retransmissions,
    /// Round-trip time of connections to the target as its kernel smooths it: the median of the intervals' medians.
    Rtt,
    /// Time without an answer after the events of the trial, added up.
    Downtime,
    /// Requests lost by the events of the trial, added up.
    RequestsLost,
    /// Bytes of requests that were sent per second: with a body, how fast a target reads it.
    SentBytes,
    /// Bytes of answers that were received per second.
    ReceivedBytes,
    /// Bytes of requests that were sent per second of the target's CPU time: with a body, how fast one CPU decodes it.
    SentPerCpu,
    /// Bytes of answers that were received per second of the target's CPU time: how fast one CPU encodes them.
    ReceivedPerCpu,
    /// Messages of streams that were completed, per second: answered, or sent on a stream that was completed.
    MessagesCompleted,
    /// Messages that came on streams, per second.
    MessagesReceived,
    /// Median response time of messages, where both sides stream.
    MessageP50,
    /// 99th percentile of response time of messages, where both sides stream.
    MessageP99,
    /// Median time to a stream's first message, from the stream's intended time.
    FirstMessageP50,
    /// 99th percentile of the time to a stream's first message.
    FirstMessageP99,
    /// 99th percentile of the time between two messages of a stream.
    MessageGapP99,
    /// Messages on each completed stream, on average.
    StreamLength,
}

impl Metric {
    /// Metrics that are computed for claims only, so that neither tables nor corrections for many tests grow.
    pub const ASKED: [Self; 29] = [
        Self::Cpu,
        Self::Max,
        Self::GcCount,
        Self::GcRate,
        Self::GcPauseP99,
        Self::GcPauseMax,
        Self::GcPauseShare,
        Self::MemorySlack,
        Self::BytesPerRequest,
        Self::ConnectionReuse,
        Self::Reconnects,
        Self::ConnectFailures,
        Self::TimeWaitReuse,
        Self::Retransmissions,
        Self::Rtt,
        Self::Downtime,
        Self::RequestsLost,
        Self::SentBytes,
        Self::ReceivedBytes,
        Self::SentPerCpu,
        Self::ReceivedPerCpu,
        Self::MessagesCompleted,
        Self::MessagesReceived,
        Self::MessageP50,
        Self::MessageP99,
        Self::FirstMessageP50,
        Self::FirstMessageP99,
        Self::MessageGapP99,
        Self::StreamLength,
    ];

    /// All metrics of a report, in its order.
    pub const ALL: [Self; 11] = [
        Self::Throughput,
        Self::Mean,
        Self::P50,
        Self::P90,
        Self::P95,
        Self::P99,
        Self::P999,
        Self::ErrorRate,
        Self::CpuPerRequest,
        Self::Memory,
        Self::AllocPerRequest,
    ];

    /// The name used in files.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Throughput => "throughput",
            Self::Mean => "mean",
            Self::P50 => "p50",
            Self::P90 => "p90",
            Self::P95 => "p95",
            Self::P99 => "p99",
            Self::P999 => "p999",
            Self::ErrorRate => "error_rate",
            Self::CpuPerRequest => "cpu_per_request",
            Self::Memory => "memory",
            Self::AllocPerRequest => "alloc_per_request",
            Self::Cpu => "cpu",
            Self::Max => "max",
            Self::GcCount => "gc_count",
            Self::GcRate => "gc_rate",
            Self::GcPauseP99 => "gc_pause_p99",
            Self::GcPauseMax => "gc_pause_max",
            Self::GcPauseShare => "gc_pause_share",
            Self::MemorySlack => "memory_slack",
            Self::BytesPerRequest => "bytes_per_request",
            Self::ConnectionReuse => "connection_reuse",
            Self::Reconnects => "reconnects",
            Self::ConnectFailures => "connect_failures",
            Self::TimeWaitReuse => "time_wait_reuse",
            Self::Retransmissions => "retransmissions",
            Self::Rtt => "rtt",
            Self::Downtime => "downtime",
            Self::RequestsLost => "requests_lost",
            Self::SentBytes => "sent_bytes",
            Self::ReceivedBytes => "received_bytes",
            Self::SentPerCpu => "sent_per_cpu",
            Self::ReceivedPerCpu => "received_per_cpu",
            Self::MessagesCompleted => "messages_completed",
            Self::MessagesReceived => "messages_received",
            Self::MessageP50 => "message_p50",
            Self::MessageP99 => "message_p99",
            Self::FirstMessageP50 => "first_message_p50",
            Self::FirstMessageP99 => "first_message_p99",
            Self::MessageGapP99 => "message_gap_p99",
            Self::StreamLength => "stream_length",
        }
    }

    /// The unit of the stored value.
    #[must_use]
    pub const fn unit(self) -> Unit {
        match self {
            Self::Throughput
            | Self::GcRate
            | Self::Reconnects
            | Self::MessagesCompleted
            | Self::MessagesReceived => Unit::PerSecond,
            Self::ErrorRate
            | Self::Cpu
            | Self::GcPauseShare
            | Self::MemorySlack
            | Self::ConnectionReuse
            | Self::ConnectFailures
            | Self::TimeWaitReuse
            | Self::Retransmissions => Unit::Share,
            Self::Memory | Self::AllocPerRequest | Self::BytesPerRequest => Unit::Bytes,
            Self::GcCount | Self::RequestsLost | Self::StreamLength => Unit::Count,
            Self::SentBytes | Self::ReceivedBytes | Self::SentPerCpu | Self::ReceivedPerCpu => {
                Unit::BytesPerSecond
            }
            _ => Unit::Nanoseconds,
        }
    }

    /// Whether a larger value is the better one.
    #[must_use]
    pub const fn higher_is_better(self) -> bool {
        matches!(
            self,
            Self::Throughput
                | Self::ConnectionReuse
                | Self::TimeWaitReuse
                | Self::SentBytes
                | Self::ReceivedBytes
                | Self::SentPerCpu
                | Self::ReceivedPerCpu
                | Self::MessagesCompleted
                | Self::MessagesReceived
                | Self::StreamLength
        )
    }

    /// The quantile a percentile metric stands for.
    #[must_use]
    pub const fn quantile(self) -> Option<f64> {
        match self {
            Self::P50 => Some(0.5),
            Self::P90 => Some(0.9),
            Self::P95 => Some(0.95),
            Self::P99 => Some(0.99),
            Self::P999 => Some(0.999),
            _ => None,
        }
    }
}

/// Unit of a metric's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Events per second.
    PerSecond,
    /// Nanoseconds.
    Nanoseconds,
    /// A share from 0 to 1.
    Share,
    /// Bytes.
    Bytes,
    /// A number of events.
    Count,
    /// Bytes per second.
    BytesPerSecond,
}
