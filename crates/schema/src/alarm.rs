//! `[[alarm]]`: conditions that are watched while a load runs, as a user writes them, as the plan has them, and what is
//! sent and kept when one begins to hold or holds no longer.
//!
//! A threshold judges a trial when it has ended; an alarm speaks while it runs, and may end it.

use crate::claim::ClaimComparison;
use crate::counter_metric::ClaimMetric;
use crate::metric::Unit;
use crate::version::AlarmVersion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[[alarm]]` of an experiment.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AlarmUse {
    /// Metric or counter, comparison, limit and, after `for`, how long it must hold: `"p99 > 200ms for 2m"`.
    pub when: String,
    /// In words, as it is to be sent. Default: the condition.
    pub text: Option<String>,
    /// Target that it is about. Default: all.
    pub of: Option<String>,
    /// Whether it ends the run, with exit code 3. Default false.
    #[serde(default)]
    pub abort: bool,
}

/// An alarm, resolved.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct AlarmPlan {
    /// In words.
    pub text: String,
    /// The condition as it was written.
    pub when: String,
    /// What is watched.
    pub metric: ClaimMetric,
    /// How a bad value is compared with the bound.
    pub comparison: ClaimComparison,
    /// In the unit of the metric.
    pub bound: f64,
    /// How long it must hold; 0: one bad value is enough.
    pub for_ns: u64,
    /// Target that it is about; all where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Whether it ends the run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub abort: bool,
}

/// A line of `alarms.ndjson`, and what a webhook gets: an alarm that began to hold, or holds no longer.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct AlarmLine {
    /// Format and version.
    pub schema: AlarmVersion,
    /// Name of the run folder; of `prony load` a name made of the time at which it began.
    pub run: String,
    /// Number of the trial; 1 for `prony load`.
    pub trial: u32,
    /// The label of its cell; `load` for `prony load`.
    pub cell: String,
    /// The alarm in words.
    pub alarm: String,
    /// Its condition.
    pub when: String,
    /// What happened.
    pub state: AlarmState,
    /// Wall clock at which it was noticed, RFC 3339 in UTC.
    pub at_wall: String,
    /// Wall clock from which on the condition held, RFC 3339 in UTC.
    pub since_wall: String,
    /// The value that decided, in `unit`; of an alarm that ended with its trial the latest bad one.
    pub value: f64,
    /// Unit of the value and the bound.
    pub unit: Unit,
    /// The limit.
    pub bound: f64,
    /// The value and the limit in words: `312 ms (> 200 ms)`.
    pub evidence: String,
    /// Whether it ends the run.
    pub abort: bool,
}

/// What happened to an alarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AlarmState {
    /// Its condition has held for as long as it must.
    Fires,
    /// Its condition holds no longer, or its trial has ended.
    Ends,
}
