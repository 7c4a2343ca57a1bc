//! Whether a trial's measured window was steady, and how its warm-up ended (METHOD §5): part of `trial.json` and
//! `analysis.json`.
//!
//! Times are nanoseconds from the trial's one monotonic origin.

use crate::said::Said;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the measured window of a trial moved (classes after Barrett et al., OOPSLA 2017).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SteadyClass {
    /// Nothing moved by more than is material.
    Flat,
    /// It got better while it was measured: the warm-up was too short.
    WarmUp,
    /// It got worse while it was measured.
    SlowDown,
    /// It moved to and fro, or what moved is neither better nor worse.
    Unsteady,
}

/// A series that is looked at, one value an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SteadySeries {
    /// Median response time.
    P50,
    /// 99th percentile of response time.
    P99,
    /// Right answers per second.
    Throughput,
    /// Share of requests that failed.
    Errors,
    /// The target's CPU time per right answer.
    CpuPerRequest,
    /// The target's resident memory.
    Memory,
}

/// Whether a trial's measured window was steady, with the evidence.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Steadiness {
    /// The class over all series; null where it is refused.
    pub class: Option<SteadyClass>,
    /// Why there is no class, and what would cure it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Said>,
    /// Whether it is refused because the plan itself changes the load or disturbs the target.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_plan: bool,
    /// Intervals in the window.
    pub intervals: u32,
    /// The series that could be looked at.
    pub series: Vec<SeriesSteadiness>,
}

/// How one series moved in the measured window.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SeriesSteadiness {
    /// Which series.
    pub series: SteadySeries,
    /// Its own class.
    pub class: SteadyClass,
    /// When its level changed, by a material step that noise does not explain.
    pub change_points_ns: Vec<u64>,
    /// Two-sided p of no trend (Mann–Kendall, the larger of with and without the Hamed–Rao correction, after Holm's
    /// correction over the series) over the window, or over what follows the last change point; null where that is too
    /// short or does not vary.
    pub trend_p: Option<f64>,
    /// From its first level to its last: ratio less 1; for errors the difference of the shares.
    pub change: f64,
    /// The smallest change that is material here, in the unit of `change`.
    pub material: f64,
    /// Of a flat series: the smallest steady drift over the window that would have been seen nine times in ten, in the
    /// unit of `change`. Absent where it moved or is too short, and in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift_seen: Option<f64>,
}

/// How a warm-up ended.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WarmUpEnd {
    /// What ended it.
    pub by: WarmUpEndedBy,
    /// Latest of the last change point by PELT and the MSER-5 truncation over the series, at the last look; null where
    /// nothing was looked at.
    pub settled_ns: Option<u64>,
    /// What was still awaited where the longest warm-up ran out, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting_for: Vec<Said>,
}

/// What ended a warm-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WarmUpEndedBy {
    /// Its length was fixed.
    Fixed,
    /// The target was steady.
    Steady,
    /// The longest warm-up ran out first.
    AtMost,
}

/// What a warm-up waits for besides the target being steady.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WarmUpConditions {
    /// At most one garbage collection in this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gc_at_most_every_ns: Option<u64>,
    /// The target's CPU time per second within this share of its median, over the last six seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_within: Option<f64>,
}

impl WarmUpConditions {
    /// Nothing besides.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The start of one trial of a cell as a line of small bars: what was cut off as warm-up, and what was kept.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WarmUpLine {
    /// The trial that is shown: the first valid one of the cell.
    pub trial: u32,
    /// Right answers per second in warm-up, from 0 (none) to 7 (the most of the trial); neighbours put together where
    /// there are many.
    pub cut: Vec<u8>,
    /// The same of the measured window.
    pub kept: Vec<u8>,
    /// Length of the warm-up.
    pub cut_ns: u64,
    /// What ended it; null in runs of before this was written.
    pub by: Option<WarmUpEndedBy>,
}
