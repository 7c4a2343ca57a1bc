//! In what two environments differ: `prony doctor --diff`, and the head of every comparison across runs.

use crate::doctor::{Bearing, Severity};
use crate::said::Said;
use crate::version::EnvironmentDiffVersion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Two environments, compared fact by fact.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct EnvironmentDiff {
    /// Format and version.
    pub schema: EnvironmentDiffVersion,
    /// What the first is: the name of a run.
    pub a: Said,
    /// What the second is: the name of a run, or `this host now`.
    pub b: Said,
    /// What differs, what matters most first.
    pub differences: Vec<Difference>,
    /// Versions that differ, of programs that took part in both, by name.
    pub versions: Vec<VersionDifference>,
    /// Facts that are the same.
    pub same: u32,
}

/// One fact that differs.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct Difference {
    /// The fact's identifier, for example `cpu.governor`.
    pub id: String,
    /// For people.
    pub title: Said,
    /// In the first; absent where it could not be read or was not looked at.
    pub a: Option<Said>,
    /// In the second; likewise.
    pub b: Option<Said>,
    /// The worse of the two.
    pub severity: Severity,
    /// Which measured numbers depend on it.
    pub bearing: Bearing,
    /// What it does to a comparison of the two.
    pub weight: Weight,
    /// What the fact does to a measurement.
    pub effect: Said,
}

/// What a difference does to a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// It is not known on one side.
    Unknown,
    /// It can move the numbers of some loads.
    Possible,
    /// It moves the numbers: a comparison measures it too.
    Decisive,
}

/// A program of which the two had different versions.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct VersionDifference {
    /// For example `prony`, `go/gin: go`.
    pub name: String,
    /// In the first.
    pub a: String,
    /// In the second.
    pub b: String,
}
