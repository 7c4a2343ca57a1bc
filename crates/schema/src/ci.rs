//! `ci.json`, and `prony ci --format json`: whether one commit of a service is worse than another.

use crate::analysis::{Basis, BeliefLevel, ClaimResult, Interval, Verdict};
use crate::metric::{Metric, Unit};
use crate::said::Said;
use crate::version::CiVersion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Two commits of one service, run in turns on one host.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct CiFile {
    /// Format and version.
    pub schema: CiVersion,
    /// Name of the run folder.
    pub run: String,
    /// Name of the experiment.
    pub experiment: String,
    /// The answer.
    pub verdict: CiVerdict,
    /// What is held against.
    pub base: CiCommit,
    /// What is judged.
    pub head: CiCommit,
    /// The claims that decide, answered.
    pub claims: Vec<ClaimResult>,
    /// Each load and metric, whether it decides or not.
    pub changes: Vec<CiChange>,
    /// Whether the numbers may be believed.
    pub belief: BeliefLevel,
    /// What speaks against them, worst first.
    pub reservations: Vec<Said>,
    /// Valid trials of both.
    pub trials_valid: u32,
    /// Confidence level of all intervals together.
    pub confidence: f64,
}

/// Whether head is worse than base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CiVerdict {
    /// A claim does not hold, or head is shown to fail more often.
    Worse,
    /// Every claim holds.
    NoWorse,
    /// Nothing is shown to be worse, and not every claim is decided.
    Inconclusive,
    /// The numbers must not be used, or there are none.
    Void,
}

/// A commit as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct CiCommit {
    /// The reference, as it was written.
    pub reference: String,
    /// Its commit, in full.
    pub commit: String,
    /// First line of the commit's message.
    pub subject: String,
}

/// One metric at one load.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct CiChange {
    /// The load, in words.
    pub load: String,
    /// Which metric.
    pub metric: Metric,
    /// Unit of the two values.
    pub unit: Unit,
    /// Of base; null where it has none.
    pub base: Option<f64>,
    /// Of head; null where it has none.
    pub head: Option<f64>,
    /// What the change is: a ratio, or a difference in the unit.
    pub basis: Basis,
    /// Head over base, or head minus base; null where it cannot be had.
    pub change: Option<f64>,
    /// Its interval; null where refused.
    pub interval: Option<Interval>,
    /// Whether head is better or worse.
    pub verdict: Verdict,
}
