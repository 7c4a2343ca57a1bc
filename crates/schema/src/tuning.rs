//! Settings of the host that prony changes: the journal that lets them be put back, and what is said of them.

use crate::said::Said;
use crate::version::TuningVersion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What one prony changed on the host. Written before the first change, removed after the last is put back.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TuningJournal {
    /// Format and version.
    pub schema: TuningVersion,
    /// The process that tuned: `prony-PID-START-NAMESPACE`.
    pub owner: String,
    /// The boot it happened in (`/proc/sys/kernel/random/boot_id`): a later boot has its own settings.
    pub boot: String,
    /// Inode of the network namespace whose `net.` settings were changed.
    pub network_namespace: u64,
    /// When, RFC 3339 in UTC.
    pub since_wall: String,
    /// How long the changes are to stay.
    pub until: TunedUntil,
    /// Whether all changes are made. An owner that died before is undone whatever `until` says.
    pub complete: bool,
    /// In the order in which they are made.
    pub changes: Vec<TunedSetting>,
}

/// How long changes are to stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TunedUntil {
    /// Until the process that made them ends.
    RunEnds,
    /// Until `prony doctor --restore`, or a reboot.
    Restored,
}

/// One setting with its value before and after.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TunedSetting {
    /// For example `net.core.somaxconn`, `cpu0.governor`.
    pub name: String,
    /// Before.
    pub old: String,
    /// Since.
    pub new: String,
}

/// A setting that was to be changed and was not.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct NotTuned {
    /// Its name.
    pub name: String,
    /// Its value, which stays.
    pub value: String,
    /// What it should have become.
    pub wanted: String,
    /// Why not.
    pub cause: Said,
}

/// What became of a setting that was to be put back.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct PutBack {
    /// Its name.
    pub name: String,
    /// Before prony changed it.
    pub old: String,
    /// What prony had set.
    pub new: String,
    /// What was found now; absent where it cannot be read.
    pub found: Option<String>,
    /// What was done.
    pub outcome: PutBackOutcome,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Said>,
}

/// What was done about a setting that was to be put back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PutBackOutcome {
    /// It has its old value again.
    Restored,
    /// It had its old value: prony died before it changed it, or somebody put it back.
    Untouched,
    /// Somebody else has changed it since; it was left alone.
    Foreign,
    /// The system refused; it is tried again next time.
    Failed,
}
