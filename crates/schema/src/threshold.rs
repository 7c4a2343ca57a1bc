//! `[[threshold]]`: limits of health, as a user writes them, as the plan has them, and how a run kept them.
//!
//! A claim is answered once, from how trials differ; a threshold is held against every trial, and in a soak against every
//! window, and one that crosses it is enough.

use crate::claim::ClaimComparison;
use crate::counter_metric::ClaimMetric;
use crate::metric::Unit;
use crate::said::Said;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[[threshold]]` of an experiment.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThresholdUse {
    /// In words, as it is to stand in the report. Default: metric and bound.
    pub text: Option<String>,
    /// What is limited: a metric, or a counter as a table.
    pub metric: ClaimMetric,
    /// Target that it is about. Default: all.
    pub of: Option<String>,
    /// Bound that a healthy target keeps, with its unit, for example `"<= 50ms"`.
    pub is: String,
}

/// A threshold, resolved.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct ThresholdPlan {
    /// In words.
    pub text: String,
    /// What is limited.
    pub metric: ClaimMetric,
    /// Target that it is about; all where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// How a healthy value is compared with the bound.
    pub comparison: ClaimComparison,
    /// In the unit of the metric.
    pub bound: f64,
}

/// How a run kept a threshold.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct ThresholdAnswer {
    /// In words, as in the plan.
    pub text: String,
    /// What is limited.
    pub metric: ClaimMetric,
    /// Unit of the numbers.
    pub unit: Unit,
    /// How a healthy value is compared with the bound.
    pub comparison: ClaimComparison,
    /// The bound.
    pub bound: f64,
    /// The answer.
    pub verdict: ThresholdVerdict,
    /// Valid trials that had a value; in a soak windows.
    pub checked: u32,
    /// Those of them that crossed it.
    pub crossed: u32,
    /// The value furthest from health; null without one.
    pub worst: Option<f64>,
    /// The numbers it rests on, in words.
    pub evidence: Said,
}

/// Whether a threshold was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThresholdVerdict {
    /// By every trial or window that had a value, at least one in each cell.
    Kept,
    /// One at least crossed it.
    Crossed,
    /// None had a value, of all or of one cell. It counts as crossed, because a limit that nobody watched keeps nothing
    /// healthy.
    Unknown,
}
