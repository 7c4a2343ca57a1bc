//! What a target counts of itself: where it says so, what was read of it in a trial, and how far it may differ from
//! what the client counted (METHOD §9).

use crate::said::Said;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use units::Nanos;

/// A count in a JSON answer of the target.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CountAt {
    /// Path that gives the JSON.
    pub path: String,
    /// Where in it the number of requests served since the start stands, as a JSON pointer such as `/requests`.
    pub pointer: String,
}

/// Series in Prometheus' text format or OpenMetrics; at least one of `counter`, `histogram` and `patterns`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrometheusAt {
    /// Path that gives the text, for example `/metrics`.
    pub path: String,
    /// Port of the target's host, where it is another than that of the target.
    pub port: Option<u16>,
    /// Name of the sample that counts requests, for example `http_requests_total`.
    pub counter: Option<String>,
    /// Name of the histogram of the time that requests take, without `_bucket`.
    pub histogram: Option<String>,
    /// Only series with these labels; the others are left out of the sums.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Unit of the histogram's bounds. Default seconds.
    pub unit: Option<BucketUnit>,
    /// Families that are read at each tick into `counters.ndjson`; `*` stands for any text, as in `http_*`.
    #[serde(default)]
    pub patterns: Vec<String>,
}

/// Unit of the bounds of a histogram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BucketUnit {
    /// What Prometheus recommends.
    #[default]
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
    /// Nanoseconds.
    Nanoseconds,
}

impl PrometheusAt {
    /// Whether it says where requests are counted or timed, which is asked at the borders of the samples.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.counter.is_some() || self.histogram.is_some()
    }
}

/// `[checks]` of an experiment: how far target and client may differ.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Checks {
    /// Share by which the target's count of requests may differ from the client's. Default 0.005.
    pub counts: Option<f64>,
    /// Time by which the target's 95th percentile may differ from the client's. Default 8ms.
    pub p95: Option<Nanos>,
}

/// The limits in force.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct ChecksPlan {
    /// Share of the client's count.
    pub counts: f64,
    /// Distance between the 95th percentiles.
    pub p95_ns: u64,
}

impl Default for ChecksPlan {
    /// METHOD §9.
    fn default() -> Self {
        Self { counts: 0.005, p95_ns: 8_000_000 }
    }
}

/// What the target counted between its two readings, and what the client had meanwhile.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct ServerSide {
    /// Requests that the target counted; absent where that is unknown.
    pub requests: Option<u64>,
    /// The bucket in which its 95th percentile lies; absent where that is unknown.
    pub p95: Option<QuantileBucket>,
    /// The client's own numbers.
    pub client: ClientSide,
    /// What should have been read and could not be, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Said>,
}

/// A quantile as a histogram with few buckets tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct QuantileBucket {
    /// It is above this.
    pub above_ns: u64,
    /// It is at most this; absent for the last, unbounded bucket.
    pub up_to_ns: Option<u64>,
}

/// The client's side of the comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct ClientSide {
    /// Whole answers that arrived within the samples, wrong ones included.
    pub answers: u64,
    /// Requests that failed there without a whole answer: the target may have counted them or not.
    pub unanswered: u64,
    /// In flight where the samples begin, and where they end.
    pub in_flight: u64,
    /// Answered from where the samples begin until the first reading was over, at the mean rate.
    pub before_reading: u64,
    /// Requests of prony itself besides the load.
    pub own: u64,
}
