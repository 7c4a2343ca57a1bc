//! `layers` of an analysis: what each level of an ordered factor adds to the level before it.

use crate::analysis::Interval;
use crate::metric::Metric;
use crate::said::Said;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The layers of one factor at one combination of everything else.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct LayerCosts {
    /// `target`, `scenario`, or the name of a knob.
    pub factor: String,
    /// Everything else in words, for example `go/gin, 64 connections`.
    pub at: String,
    /// CPU time per request, mean and median response time, each with its layers.
    pub metrics: Vec<LayerMetric>,
}

/// The layers in one metric.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct LayerMetric {
    /// A time; its unit is that of every number below, nanoseconds.
    pub metric: Metric,
    /// Name of the level without a layer: the first one.
    pub base: String,
    /// Its cell.
    pub base_cell: String,
    /// Mean of its valid trials; null without one that has a value.
    pub base_ns: Option<f64>,
    /// Why there is none, and what would cure it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_refused: Option<Said>,
    /// One entry a layer, in the order of the experiment file.
    pub layers: Vec<LayerCost>,
    /// All layers together, the last level against the first; absent where there is one layer only. It is no member
    /// of the family of tests, so its `p_holm` is its `p_value`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<LayerCost>,
}

/// What one layer costs.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct LayerCost {
    /// The level that has the layer.
    pub level: String,
    /// Its cell.
    pub cell: String,
    /// The level before it.
    pub against: String,
    /// Blocks in which both have a value.
    pub blocks: u32,
    /// Mean over these blocks of the level less the level before; below 0 where the layer saves time. Null without
    /// such blocks.
    pub cost_ns: Option<f64>,
    /// Its interval by paired t over blocks; null where refused.
    pub interval: Option<Interval>,
    /// p of no cost.
    pub p_value: Option<f64>,
    /// The same after Holm's correction over all layers of the run in all metrics.
    pub p_holm: Option<f64>,
    /// The answer.
    pub verdict: LayerVerdict,
    /// Why there is no interval, and what would cure it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Said>,
    /// Where it stands in a waterfall; absent without a cost or a base.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<LayerPlace>,
}

/// Where a layer stands in a waterfall: running sums of the base and the costs. Where trials are missing the sums differ
/// a little from the means of the cells, which then come from other blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct LayerPlace {
    /// The sum before this layer.
    pub from_ns: f64,
    /// The sum with it.
    pub to_ns: f64,
    /// The sum with the lower end of its interval; null where there is none.
    pub to_low_ns: Option<f64>,
    /// The sum with the upper end, as above.
    pub to_high_ns: Option<f64>,
}

/// Whether a layer costs anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LayerVerdict {
    /// The level takes longer than the one before.
    Costs,
    /// The level takes less time than the one before.
    Saves,
    /// No cost is shown: the data hold 0, before or after the correction.
    NotShown,
    /// No answer is given; `refused` says why.
    #[default]
    Refused,
}
