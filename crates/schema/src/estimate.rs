//! An interval about an estimate.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A confidence interval; an absent end is unbounded.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Interval {
    /// Lower end.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
}
