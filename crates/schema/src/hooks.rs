//! Programs that run before and after a load: as a user writes them and as the plan has them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Nanos;

/// `[hooks]` of an experiment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hooks {
    /// Command line (`sh -c`) that runs before each trial's load, once the target is up; `PRONY_URL` is its URL.
    pub setup: Option<String>,
    /// Command line that runs after each trial's load, before the target is stopped, however the load ended.
    pub teardown: Option<String>,
    /// Longest time of each. Default 60s.
    pub timeout: Option<Nanos>,
}

/// The programs in force.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct HooksPlan {
    /// Runs before each load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup: Option<String>,
    /// Runs after each load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub teardown: Option<String>,
    /// Longest time of each.
    pub timeout_ns: u64,
}

impl HooksPlan {
    /// Longest time of each where the user gives none: a minute.
    pub const TIMEOUT: Nanos = Nanos::from_secs(60);

    /// Whether no program is asked for.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.setup.is_none() && self.teardown.is_none()
    }
}

impl Default for HooksPlan {
    /// No programs.
    fn default() -> Self {
        Self { setup: None, teardown: None, timeout_ns: Self::TIMEOUT.0 }
    }
}
