//! The target manifest (`targets/<language>/<name>/target.toml`).

use crate::knob::Knob;
use crate::server_side::{CountAt, PrometheusAt};
use crate::settings::HttpVersion;
use crate::version::{TargetListVersion, TargetVersion};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use units::Nanos;

/// How a system under test is built, started, known to be ready, and stopped.
///
/// `{build}`, `{host}`, `{port}` and `{folder}` are replaced in commands and environment values.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TargetManifest {
    /// Format and version of this file.
    pub schema: TargetVersion,
    /// Equal to the folder under `targets/`, for example `go/gin`.
    pub name: String,
    /// One line for lists.
    pub description: String,
    /// The language it is written in.
    pub language: String,
    /// Routes that it has as the contract says: names of files under `targets/contract/`.
    #[serde(default)]
    pub provides: Vec<String>,
    /// A server without an application behind it, whose answers are files or configuration: of the contract it has only the
    /// routes that it provides.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub plain: bool,
    /// How to build it; absent where nothing is built.
    pub build: Option<Build>,
    /// How to start it.
    pub run: Run,
    /// When it counts as ready.
    #[serde(default)]
    pub ready: Ready,
    /// How to stop it.
    #[serde(default)]
    pub stop: Stop,
    /// How it takes in changes while it runs; absent where it cannot.
    pub reload: Option<Reload>,
    /// Counters it offers.
    #[serde(default)]
    pub metrics: Metrics,
    /// Settings that experiments can vary.
    #[serde(default)]
    pub knob: Vec<Knob>,
}

/// `[build]`
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Build {
    /// Program and arguments, run in the target's folder. It should do nothing when nothing changed.
    pub command: Vec<String>,
    /// Environment; the rest is inherited.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// What must be there.
    #[serde(default)]
    pub needs: Vec<Need>,
}

/// What the build or the run needs: exactly one of `program` and `check`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Need {
    /// Name looked up on PATH; empty where a check decides.
    #[serde(default)]
    pub program: String,
    /// For what is no program: a command that exits with 0 where it is there. Run in the target's folder.
    #[serde(default)]
    pub check: Vec<String>,
    /// What a check looks for, as people call it: `PHP extension swoole`. Where it is empty, the command stands for it.
    #[serde(default)]
    pub name: String,
    /// Command that prints its version; stored in the run.
    #[serde(default)]
    pub version: Vec<String>,
    /// What to do where it is missing.
    pub install: String,
}

impl Need {
    /// What it is called in lists: the program, the name, or the command of the check, on one line.
    #[must_use]
    pub fn label(&self) -> String {
        if !self.program.is_empty() {
            return self.program.clone();
        }
        if !self.name.is_empty() {
            return self.name.clone();
        }
        self.check.join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// `[run]`; of a service also `[build]` and `[prepare]`.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Program and arguments, run in the folder of the manifest; what is to serve stays in the foreground.
    pub command: Vec<String>,
    /// Environment; the rest is inherited.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// What must be there.
    #[serde(default)]
    pub needs: Vec<Need>,
}

/// `[ready]`
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ready {
    /// Path that answers with status 200 once ready. Default: an accepted TCP connection is enough.
    pub path: Option<String>,
    /// A server of gRPC: ready once `grpc.health.v1` says that it serves. Its contract is called, and has routes of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub grpc: bool,
    /// Version of HTTP by which it is asked before a load: its path here, and the routes that it provides. Default 1.1; for a
    /// server that takes no other, 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<HttpVersion>,
    /// Given up after this. Default 10s.
    pub timeout: Option<Nanos>,
}

/// `[stop]`
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stop {
    /// Signal asking it to end. Default TERM.
    pub signal: Option<StopSignal>,
    /// Killed after this. Default 5s.
    pub timeout: Option<Nanos>,
}

/// Signals that a manifest may name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub enum StopSignal {
    /// SIGTERM
    #[default]
    #[serde(rename = "TERM")]
    Term,
    /// SIGINT
    #[serde(rename = "INT")]
    Int,
    /// SIGQUIT
    #[serde(rename = "QUIT")]
    Quit,
    /// SIGKILL
    #[serde(rename = "KILL")]
    Kill,
}

/// `[reload]`: exactly one of `signal` and `command`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reload {
    /// Signal to its first process.
    pub signal: Option<ReloadSignal>,
    /// A command, run in the target's folder.
    #[serde(default)]
    pub command: Vec<String>,
    /// What it takes in.
    pub picks_up: PicksUp,
}

/// Signals that ask for a reload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub enum ReloadSignal {
    /// SIGHUP
    #[serde(rename = "HUP")]
    Hup,
    /// SIGUSR1
    #[serde(rename = "USR1")]
    Usr1,
    /// SIGUSR2
    #[serde(rename = "USR2")]
    Usr2,
    /// SIGWINCH
    #[serde(rename = "WINCH")]
    Winch,
}

/// What a reload takes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PicksUp {
    /// New code.
    Code,
    /// New configuration.
    Config,
    /// Nothing: its workers are only restarted.
    Nothing,
}

/// `[metrics]`
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Metrics {
    /// Path that gives Go's runtime/metrics as JSON.
    pub go_runtime: Option<String>,
    /// Path of package expvar, usually `/debug/vars`: the memory and collections of a Go program.
    pub go_expvar: Option<String>,
    /// Path that gives what `targets/node/common` reports on Node: event loop, collector, heap.
    pub node: Option<String>,
    /// Whether it is a JVM, whose performance data is read from its hsperfdata file.
    pub jvm: Option<bool>,
    /// Where Jolokia answers, for example `/jolokia` on port 8778: the memory, collections and threads of a JVM.
    pub jolokia: Option<ExporterAt>,
    /// Path that gives PHP-FPM's status as JSON, for example `/debug/fpm?json`.
    pub php_fpm: Option<String>,
    /// Path that gives `opcache_get_status(false)` as JSON.
    pub php_opcache: Option<String>,
    /// Path that gives what `targets/php/common` counts of collections and memory.
    pub php_runtime: Option<String>,
    /// Path that gives `Swoole\\Server::stats()` as JSON.
    pub swoole: Option<String>,
    /// Path of nginx's stub_status.
    pub nginx: Option<String>,
    /// Path of Go's net/http/pprof, for example `/debug/pprof`. Where it has a knob `pprof`, the profiles turn it on;
    /// `profile-rates` too where block or mutex profiles are wanted.
    pub go_pprof: Option<String>,
    /// Where it counts its requests, in JSON.
    pub requests: Option<CountAt>,
    /// Where it counts and times its requests, in Prometheus' text format.
    pub prometheus: Option<PrometheusAt>,
    /// Endpoints of standard libraries and exporters (client_golang, Micrometer, JMX exporter, prom-client, php-fpm and
    /// Redis exporters), whose usual names are known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exporters: Vec<ExporterAt>,
}

/// An endpoint whose names are the usual ones: in Prometheus' text format or OpenMetrics, or Jolokia.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExporterAt {
    /// Its path, for example `/metrics`.
    pub path: String,
    /// Port of the target's host, where it is another than that of the target.
    pub port: Option<u16>,
}

/// `prony targets --format json`: what experiments can use here.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct TargetList {
    /// Format and version.
    pub schema: TargetListVersion,
    /// One entry a folder with a manifest, sorted by name.
    pub targets: Vec<TargetListEntry>,
}

/// One target in a list.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct TargetListEntry {
    /// Folder under `targets/`, for `use`.
    pub name: String,
    /// The folder.
    pub folder: String,
    /// One line; absent where the manifest is wrong.
    pub description: Option<String>,
    /// The language it is written in.
    pub language: Option<String>,
    /// Routes of the contract that it has.
    pub provides: Vec<String>,
    /// What experiments can vary of it.
    #[serde(default)]
    pub knobs: Vec<Knob>,
    /// What is wrong with the manifest.
    pub error: Option<String>,
    /// What its build and its run need.
    pub needs: Vec<TargetListNeed>,
}

/// What a target needs.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct TargetListNeed {
    /// Name looked up on PATH, or the command that checks for it.
    pub program: String,
    /// Whether it is there.
    pub present: bool,
    /// Where a program was found; absent where it is missing, or no program.
    pub found: Option<String>,
    /// What to do where it is missing.
    pub install: String,
}
