//! The host as `prony doctor` finds it; the same object is stored in every `run.json`.

use crate::said::Said;
use crate::tuning::{NotTuned, PutBack, TunedSetting};
use crate::version::DoctorVersion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// All facts that were looked at, and what was done to the host.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct DoctorReport {
    /// Format and version.
    pub schema: DoctorVersion,
    /// One entry a fact, in the order of a report.
    pub facts: Vec<Fact>,
    /// Settings that prony has changed and has yet to put back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tuned: Vec<TunedSetting>,
    /// Settings that `--tune --dry-run` would change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub would_tune: Vec<TunedSetting>,
    /// Settings that `--tune` would have changed and could not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_tuned: Vec<NotTuned>,
    /// What became of settings that were to be put back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub put_back: Vec<PutBack>,
    /// What dead runs had left and was removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<Said>,
    /// What dead runs had left and could not be removed, with the cause.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<Said>,
}

/// One fact about the host, why it matters and what to do about it.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Fact {
    /// Stable identifier, for example `cpu.governor`.
    pub id: String,
    /// For people.
    pub title: Said,
    /// What was found; absent where it cannot be read.
    pub value: Option<Said>,
    /// How much it matters here.
    pub severity: Severity,
    /// What it does to a measurement.
    pub effect: Said,
    /// What to do; absent where nothing needs doing.
    pub remedy: Option<Said>,
    /// Which measured numbers depend on it.
    #[serde(default)]
    pub bearing: Bearing,
    /// What distinguishes two hosts, where the text of the value differs from look to look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<Amount>,
}

/// How much a fact matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// As it should be.
    Ok,
    /// Worth knowing.
    Note,
    /// Weakens results.
    Warning,
    /// Spoils results or prevents a run.
    Problem,
}

/// Which measured numbers depend on a fact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Bearing {
    /// A state at the time of the look, not a property of the host: only its severity is compared.
    Moment,
    /// Those of some loads: many or short connections, large answers, much memory.
    #[default]
    SomeLoads,
    /// All of them.
    Numbers,
}

/// A number that distinguishes two hosts.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Amount {
    /// In the unit of the fact's value.
    pub value: f64,
    /// Share of the larger of two values below which they count as the same.
    pub tolerance: f64,
}
