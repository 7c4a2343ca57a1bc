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
        }
    }
}
