//! The schedule of an open load as drawn before it is run: the output of `prony shape --format json`.

use crate::plan::LoadPlan;
use crate::version::ShapeVersion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The open loads of an experiment, or the one of the flags.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct ShapeReport {
    /// Format and version.
    pub schema: ShapeVersion,
    /// Each different load once.
    pub loads: Vec<ShapedLoad>,
}

/// One load.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct ShapedLoad {
    /// In words.
    pub label: String,
    /// The plan that is drawn.
    pub load: LoadPlan,
    /// Warm-up and measured window.
    pub duration_ns: u64,
    /// The integral of the intended rate.
    pub intended: f64,
    /// Arrivals of the seeded schedule.
    pub arrivals: u64,
    /// Highest intended rate of a column.
    pub peak_per_s: f64,
    /// Index of dispersion of counts about the intended ones at 100 ms; 1 for Poisson. Absent below two bins.
    pub dispersion_100ms: Option<f64>,
    /// At 1 s.
    pub dispersion_1s: Option<f64>,
    /// The first intended times.
    pub first_ns: Vec<u64>,
    /// Equal parts of the duration.
    pub columns: Vec<ShapeColumn>,
}

/// One part of the duration.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
pub struct ShapeColumn {
    /// Begin.
    pub start_ns: u64,
    /// End.
    pub end_ns: u64,
    /// Mean of the intended rate.
    pub intended_per_s: f64,
    /// Arrivals of the seeded schedule.
    pub arrivals: u64,
}

impl ShapeColumn {
    /// Arrivals per second.
    #[must_use]
    pub fn arrivals_per_s(&self) -> f64 {
        self.arrivals as f64 * 1e9 / self.end_ns.saturating_sub(self.start_ns).max(1) as f64
    }
}
