//! Names of metrics and counters for people: the one home of both forms, that of a table and that inside a sentence.
//!
//! The names in files are serde's; `Metric::key` gives them.

use crate::metric::Metric;
use crate::said;
use crate::said::Said;
use crate::soak::SoakCounter;
use crate::steady::SteadySeries;

impl Metric {
    /// At the head of a column or a row.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Throughput => "Throughput",
            Self::Mean => "Mean",
            Self::P50 => "p50",
            Self::P90 => "p90",
            Self::P95 => "p95",
            Self::P99 => "p99",
            Self::P999 => "p99.9",
            Self::ErrorRate => "Errors",
            Self::CpuPerRequest => "CPU per request",
            Self::Memory => "Memory",
            Self::AllocPerRequest => "Allocated per request",
            Self::Cpu => "CPU",
            Self::Max => "Max",
            Self::GcCount => "GCs",
            Self::GcRate => "GCs per second",
            Self::GcPauseP99 => "GC pause p99",
            Self::GcPauseMax => "GC pause max",
            Self::GcPauseShare => "GC pause share",
            Self::MemorySlack => "Memory no object takes",
            Self::BytesPerRequest => "Bytes per request",
            Self::ConnectionReuse => "Reuse",
            Self::Reconnects => "Reconnects",
            Self::ConnectFailures => "Connect failures",
            Self::TimeWaitReuse => "TIME_WAIT reuse",
            Self::Retransmissions => "Retransmissions",
            Self::Rtt => "RTT",
            Self::Downtime => "Downtime",
            Self::RequestsLost => "Lost",
            Self::SentBytes => "Sent",
            Self::ReceivedBytes => "Received",
            Self::SentPerCpu => "Sent per CPU second",
            Self::ReceivedPerCpu => "Received per CPU second",
            Self::MessagesCompleted => "Messages completed",
            Self::MessagesReceived => "Messages received",
            Self::MessageP50 => "Message p50",
            Self::MessageP99 => "Message p99",
            Self::FirstMessageP50 => "First message p50",
            Self::FirstMessageP99 => "First message p99",
            Self::MessageGapP99 => "Message gap p99",
            Self::StreamLength => "Stream length",
        }
    }

    /// Inside a sentence.
    #[must_use]
    pub fn words(self) -> Said {
        match self {
            Self::Throughput => said!("metric.requests_per_second", "requests per second"),
            Self::Mean => said!("metric.mean_response_time", "mean response time"),
            Self::P50 => said!("metric.median_response_time", "median response time"),
            Self::P90 => said!("metric.p90_response_time", "p90 response time"),
            Self::P95 => said!("metric.p95_response_time", "p95 response time"),
            Self::P99 => said!("metric.p99_response_time", "p99 response time"),
            Self::P999 => said!("metric.p99_9_response_time", "p99.9 response time"),
            Self::ErrorRate => said!("metric.error_rate", "error rate"),
            Self::CpuPerRequest => said!("metric.cpu_time_per_request", "CPU time per request"),
            Self::Memory => said!("metric.memory", "memory"),
            Self::AllocPerRequest => {
                said!("metric.memory_allocated_per_request", "memory allocated per request")
            }
            Self::Cpu => said!("metric.cpu", "CPU utilisation"),
            Self::Max => said!("metric.max", "longest response time"),
            Self::GcCount => said!("metric.gc_count", "garbage collections"),
            Self::GcRate => said!("metric.gc_rate", "garbage collections per second"),
            Self::GcPauseP99 => said!("metric.gc_pause_p99", "p99 of garbage collection pauses"),
            Self::GcPauseMax => said!("metric.gc_pause_max", "longest garbage collection pause"),
            Self::GcPauseShare => {
                said!("metric.gc_pause_share", "share of time in garbage collection pauses")
            }
            Self::MemorySlack => {
                said!("metric.memory_slack", "share of the runtime's memory that no object takes")
            }
            Self::BytesPerRequest => said!("metric.bytes_per_request", "bytes per request"),
            Self::ConnectionReuse => said!("metric.connection_reuse", "connection reuse"),
            Self::Reconnects => said!("metric.reconnects", "reconnects per second"),
            Self::ConnectFailures => {
                said!("metric.connect_failures", "share of connection attempts that failed")
            }
            Self::TimeWaitReuse => {
                said!("metric.time_wait_reuse", "share of new connections that took a port in TIME_WAIT")
            }
            Self::Retransmissions => said!("metric.retransmissions", "share of segments sent again"),
            Self::Rtt => said!("metric.rtt", "round-trip time"),
            Self::Downtime => said!("metric.downtime", "time without answers"),
            Self::RequestsLost => said!("metric.requests_lost", "requests lost"),
            Self::SentBytes => said!("metric.sent_bytes", "bytes sent per second"),
            Self::ReceivedBytes => said!("metric.received_bytes", "bytes received per second"),
            Self::SentPerCpu => said!("metric.sent_per_cpu", "bytes sent per CPU second of the target"),
            Self::ReceivedPerCpu => {
                said!("metric.received_per_cpu", "bytes received per CPU second of the target")
            }
            Self::MessagesCompleted => said!("metric.messages_completed", "messages completed per second"),
            Self::MessagesReceived => said!("metric.messages_received", "messages received per second"),
            Self::MessageP50 => said!("metric.message_p50", "median response time of messages"),
            Self::MessageP99 => said!("metric.message_p99", "p99 response time of messages"),
            Self::FirstMessageP50 => said!("metric.first_message_p50", "median time to the first message"),
            Self::FirstMessageP99 => {
                said!("metric.first_message_p99", "p99 of the time to the first message")
            }
            Self::MessageGapP99 => said!("metric.message_gap_p99", "p99 of the gaps between messages"),
            Self::StreamLength => said!("metric.stream_length", "messages on each stream"),
        }
    }
}

impl SteadySeries {
    /// Inside a sentence: that of the metric it follows.
    #[must_use]
    pub fn words(self) -> Said {
        match self {
            Self::P50 => Metric::P50.words(),
            Self::P99 => Metric::P99.words(),
            Self::Throughput => Metric::Throughput.words(),
            Self::Errors => Metric::ErrorRate.words(),
            Self::CpuPerRequest => Metric::CpuPerRequest.words(),
            Self::Memory => Metric::Memory.words(),
        }
    }
}

impl SoakCounter {
    /// In a table or on a line of progress.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Descriptors => "descriptors",
            Self::Threads => "threads",
            Self::Goroutines => "goroutines",
            Self::Heap => "heap",
            Self::Connections => "connections",
            Self::Throughput => "throughput",
            Self::P50 => "p50",
            Self::P99 => "p99",
            Self::CpuPerRequest => "CPU per request",
            Self::FullGcs => "full GCs",
        }
    }

    /// Inside a sentence.
    #[must_use]
    pub fn words(self) -> Said {
        match self {
            Self::Memory => said!("counter.memory", "memory"),
            Self::Descriptors => said!("counter.descriptors", "descriptors"),
            Self::Threads => said!("counter.threads", "threads"),
            Self::Goroutines => said!("counter.goroutines", "goroutines"),
            Self::Heap => said!("counter.heap", "heap"),
            Self::Connections => said!("counter.connections", "connections"),
            Self::Throughput => said!("counter.throughput", "throughput"),
            Self::P50 => Metric::P50.words(),
            Self::P99 => Metric::P99.words(),
            Self::CpuPerRequest => Metric::CpuPerRequest.words(),
            Self::FullGcs => said!("counter.full_gcs", "the rate of full garbage collections"),
        }
    }
}
