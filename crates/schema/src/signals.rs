//! `trials/0001/signals.json`: the counters of one trial laid on the intervals of its samples, made from
//! `counters.ndjson` when the trial ends. It can be deleted; then it is made again.

use crate::version::SignalsVersion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The counters of one trial, one value for each interval of its samples.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Signals {
    /// Format and version.
    pub schema: SignalsVersion,
    /// Ends of the intervals from the trial's origin.
    pub ends_ns: Vec<u64>,
    /// Mean of each gauge within an interval, by `source/key`, of a percentile or maximum the largest; null where it was not
    /// read.
    pub gauges: BTreeMap<String, Vec<Option<f64>>>,
    /// Increase of each counter within an interval, by `source/key`, as above.
    pub deltas: BTreeMap<String, Vec<Option<f64>>>,
}
