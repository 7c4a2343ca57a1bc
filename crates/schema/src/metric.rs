//! The metrics a trial yields, with their units and which direction is better.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One number per trial; the unit of comparison.
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
}

impl Metric {
    /// All metrics in the order of a report.
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
        }
    }

    /// The unit of the stored value.
    #[must_use]
    pub const fn unit(self) -> Unit {
        match self {
            Self::Throughput => Unit::PerSecond,
            Self::ErrorRate => Unit::Share,
            Self::Memory | Self::AllocPerRequest => Unit::Bytes,
            _ => Unit::Nanoseconds,
        }
    }

    /// Whether a larger value is the better one.
    #[must_use]
    pub const fn higher_is_better(self) -> bool {
        matches!(self, Self::Throughput)
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
}
