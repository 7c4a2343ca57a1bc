//! `interventions/<cell>-<cause>.json` of a run folder, and the output of `prony intervene --format json`: what a run
//! that changed the suspect of a finding has shown.

use crate::finding::{FindingCause, Intervention};
use crate::said::Said;
use crate::version::InterventionVersion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One answer.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct InterventionFile {
    /// Format and version.
    pub schema: InterventionVersion,
    /// The run whose finding was tried.
    pub of: String,
    /// The run that tried it.
    pub run: String,
    /// Cell of the finding.
    pub cell: String,
    /// Its cause.
    pub cause: FindingCause,
    /// What was changed and what was predicted.
    pub intervention: Intervention,
    /// The prediction in words, written before the run.
    pub prediction: Said,
    /// Changed over unchanged; null where there is none.
    pub ratio: Option<f64>,
    /// Lower end of its interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// The answer.
    pub verdict: InterventionVerdict,
    /// Why there is no interval, and what would cure it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Said>,
}

/// Whether the numbers moved as predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InterventionVerdict {
    /// The whole interval lies beyond the predicted ratio: because.
    Holds,
    /// The whole interval lies on the other side: it is not this, or not this much.
    DoesNotHold,
    /// The interval holds the predicted ratio, or there is none.
    Inconclusive,
}
