//! What `prony targets check` and `prony targets build` print for machines.

use crate::version::{TargetBuildsVersion, TargetChecksVersion};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `prony targets check --format json`.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct TargetChecks {
    /// Format and version.
    pub schema: TargetChecksVersion,
    /// In the order in which they were checked.
    pub targets: Vec<TargetCheck>,
}

/// How one target keeps the contract.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct TargetCheck {
    /// Folder under `targets/`.
    pub name: String,
    /// Failed where anything of it failed.
    pub outcome: CheckOutcome,
    /// Why it was skipped, or what failed besides its routes.
    pub reasons: Vec<String>,
    /// How long the build command took; absent where nothing was built.
    pub build_ns: Option<u64>,
    /// From the execution of its program to the first good answer; absent where it did not become ready.
    pub ready_ns: Option<u64>,
    /// In the order of the manifest, then those that are missing.
    pub routes: Vec<RouteCheck>,
}

/// How one route keeps the contract.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct RouteCheck {
    /// Name of the contract file.
    pub name: String,
    /// How it went.
    pub outcome: CheckOutcome,
    /// Requests of the contract file.
    pub requests: u64,
    /// Requests that were asked; fewer after one that got no answer.
    pub asked: u64,
    /// What differs, one text a request; or why the route was skipped.
    pub reasons: Vec<String>,
}

/// How a check or a build went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckOutcome {
    /// As the contract says.
    Ok,
    /// Not so.
    Failed,
    /// It cannot be done here.
    Skipped,
}

impl CheckOutcome {
    /// The name used in files and on screens.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

/// `prony targets build --format json`.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct TargetBuilds {
    /// Format and version.
    pub schema: TargetBuildsVersion,
    /// In the order in which they were built.
    pub targets: Vec<TargetBuild>,
}

/// How one target was built.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct TargetBuild {
    /// Folder under `targets/`.
    pub name: String,
    /// How it went.
    pub outcome: CheckOutcome,
    /// Why it was skipped, or what failed.
    pub reasons: Vec<String>,
    /// How long the build command took; absent where there is none.
    pub build_ns: Option<u64>,
    /// Whether the build command left everything as it was, because nothing had changed.
    pub fresh: bool,
}
