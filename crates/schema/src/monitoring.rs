//! `prony verify-monitoring --format json`: whether a Prometheus gives back what it was shown.

use crate::version::MonitoringVersion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was found of one Prometheus.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct MonitoringFile {
    /// Format and version.
    pub schema: MonitoringVersion,
    /// The Prometheus, as `http://host:port`.
    pub server: String,
    /// Scrapes that were answered.
    pub answered: u64,
    /// Scrapes of which it has the values.
    pub stored: u64,
    /// Median time between two stored scrapes, in seconds; absent with fewer than two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_s: Option<f64>,
    /// The time that was to lie between them: as asked for, else as the server says; absent where neither is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted_interval_s: Option<f64>,
    /// 99th percentile of the time from a sample's time stamp to the moment at which the value was true, in seconds; the
    /// longest with fewer than 100 samples. Absent without samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_p99_s: Option<f64>,
    /// Rate of a counter that rises evenly, as the server computes it, over its truth, less one; absent where it gave none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_off: Option<f64>,
    /// p99 of a histogram whose times are known, as the server computes it from native buckets, over its truth, less one;
    /// absent where it keeps no native histograms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantile_off: Option<f64>,
    /// What is wrong with the chain; empty where nothing is.
    pub faults: Vec<MonitoringFault>,
}

/// One thing that is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct MonitoringFault {
    /// Which.
    pub kind: MonitoringFaultKind,
    /// What was found, in the unit of the kind.
    pub found: f64,
    /// The most, or the number, that is right.
    pub limit: f64,
}

/// What can be wrong with a chain of monitoring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MonitoringFaultKind {
    /// Scrapes that were answered, or due, and of which no value is stored: their number.
    LostScrapes,
    /// Values were true later than their time stamp says: seconds, 99th percentile.
    Delay,
    /// Values were true before their time stamp, which happens where the clocks of two hosts differ: seconds.
    Clocks,
    /// The counter fell, though it only rises: how often.
    Reset,
    /// The stored counter is another than was shown: the largest share by which it is off.
    Counter,
    /// Scrapes come at another interval than they should: seconds.
    Interval,
    /// The server's rate of the counter is off: a share.
    Rate,
    /// The server's quantile is off: a share.
    Quantile,
}
