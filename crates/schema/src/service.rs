//! The service manifest (`services/<name>/service.toml`): what targets need, and how it is made, started and checked.

use crate::target::{Run, Stop, TargetListNeed};
use crate::version::{ServiceListVersion, ServiceVersion};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use units::Nanos;

/// A service that targets need, such as a database.
///
/// `{host}`, `{port}`, `{data}`, `{build}` and `{folder}` are replaced in commands and environment values.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServiceManifest {
    /// Format and version of this file.
    pub schema: ServiceVersion,
    /// Equal to the folder under `services/`.
    pub name: String,
    /// One line for lists.
    pub description: String,
    /// Folders searched for programs after those of PATH; a part may be `*`, the highest version then comes first.
    #[serde(default)]
    pub search: Vec<String>,
    /// Where prony is root, `prepare` and `run` happen as this user; else as prony's own.
    pub user: Option<String>,
    /// How to build it; absent where nothing is built.
    pub build: Option<Run>,
    /// Makes the data directory `{data}`, which is there and empty.
    pub prepare: Option<Run>,
    /// How to start it.
    pub run: Run,
    /// When it counts as ready.
    #[serde(default)]
    pub ready: ServiceReady,
    /// Fills the data directory through the service's own client, once.
    pub seed: Option<Seed>,
    /// Commands whose first line of output is known.
    #[serde(default)]
    pub check: Vec<ServiceCheck>,
    /// What targets are given.
    #[serde(default)]
    pub provides: Provides,
    /// How its counters are read during the load; absent where they are not.
    pub metrics: Option<ServiceMetrics>,
    /// How to stop it.
    #[serde(default)]
    pub stop: Stop,
}

/// `[ready]`
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServiceReady {
    /// Exits with 0 once ready, tried again until then. Default: an accepted TCP connection is enough.
    pub command: Option<Vec<String>>,
    /// Given up after this. Default 30s.
    pub timeout: Option<Nanos>,
}

/// `[seed]`
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Seed {
    /// Program and arguments.
    pub command: Vec<String>,
    /// Files in the folder that it reads; the data is made again when one changes.
    #[serde(default)]
    pub files: Vec<String>,
}

/// One of `[[check]]`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServiceCheck {
    /// For messages.
    pub name: String,
    /// Program and arguments.
    pub command: Vec<String>,
    /// First line of its output.
    pub expect: String,
}

/// `[provides]`
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Provides {
    /// Environment of every target.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
}

/// `[metrics]`: an account for reading counters, on one lasting connection to `{host}:{port}`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServiceMetrics {
    /// What it is.
    pub kind: ServiceKind,
    /// Account; for Redis of its access list, absent for the default one.
    pub user: Option<String>,
    /// Database of a PostgreSQL account. Default: `postgres`.
    pub database: Option<String>,
    /// Variable with the password: of `provides.env`, else of prony's own environment. Never the password itself.
    pub password_env: Option<String>,
    /// File with the password, its line end left out; relative to the folder of the manifest.
    pub password_file: Option<String>,
}

/// Services whose counters can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServiceKind {
    /// MariaDB or MySQL.
    Mariadb,
    /// PostgreSQL.
    Postgres,
    /// Redis or what speaks its protocol.
    Redis,
}

/// `prony services --format json`: what targets can be given here.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct ServiceList {
    /// Format and version.
    pub schema: ServiceListVersion,
    /// One entry a folder with a manifest, sorted by name.
    pub services: Vec<ServiceListEntry>,
}

/// One service in a list.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct ServiceListEntry {
    /// Folder under `services/`.
    pub name: String,
    /// The folder.
    pub folder: String,
    /// One line; absent where the manifest is wrong.
    pub description: Option<String>,
    /// What is wrong with the manifest.
    pub error: Option<String>,
    /// Programs that it needs.
    pub needs: Vec<TargetListNeed>,
}
