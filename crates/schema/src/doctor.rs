//! The host as `prony doctor` finds it; the same object is stored in every `run.json`.

use crate::version::DoctorVersion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// All facts that were looked at.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct DoctorReport {
    /// Format and version.
    pub schema: DoctorVersion,
    /// One entry a fact, in the order of a report.
    pub facts: Vec<Fact>,
}

/// One fact about the host, why it matters and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct Fact {
    /// Stable identifier, for example `cpu.governor`.
    pub id: String,
    /// For people.
    pub title: String,
    /// What was found; absent where it cannot be read.
    pub value: Option<String>,
    /// How much it matters here.
    pub severity: Severity,
    /// What it does to a measurement.
    pub effect: String,
    /// What to do; absent where nothing needs doing.
    pub remedy: Option<String>,
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
