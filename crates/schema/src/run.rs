//! `run.json`: what was planned, in which order, on which machine, with which versions.

use crate::agents::AgentRecord;
use crate::calibration::CalibrationSummary;
use crate::doctor::DoctorReport;
use crate::plan::ExperimentPlan;
use crate::said::Said;
use crate::version::RunVersion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One execution of an experiment.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct RunFile {
    /// Format and version.
    pub schema: RunVersion,
    /// Name of the run folder.
    pub id: String,
    /// When it was begun, RFC 3339 in UTC.
    pub started_wall: String,
    /// The command line that began it.
    pub command: Vec<String>,
    /// Everything that was decided before the first trial.
    pub plan: ExperimentPlan,
    /// The experiment file as it was read, for `--resume` and for people.
    pub experiment_text: String,
    /// The host as it was found.
    pub environment: DoctorReport,
    /// Versions of prony, the kernel and the tools that built the targets.
    pub versions: BTreeMap<String, String>,
    /// Services that were up during the trials.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<ServiceRecord>,
    /// Limits that were asked for and could not be had when the targets were tried out, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weaknesses: Vec<Said>,
    /// What the instrument showed of itself before the first trial.
    pub instrument: Instrument,
    /// What the instrument can do on this host as `prony calibrate` found it; absent where it was not calibrated.
    #[serde(default)]
    pub calibration: Option<CalibrationSummary>,
    /// The agents that make the load, as the run found them when it began; empty without a fleet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<AgentRecord>,
}

/// A service of a run; nothing in it differs from start to start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct ServiceRecord {
    /// Folder under `services/`.
    pub name: String,
    /// Program → first line of its version.
    pub versions: BTreeMap<String, String>,
    /// CPUs that its first process may use, as the system tells; absent where it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<String>,
    /// Names of the variables that targets were given.
    pub env: Vec<String>,
}

/// What the instrument shows of itself on this host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Instrument {
    /// Smallest step seen between two readings of the clock.
    pub clock_step_ns: u64,
    /// Time that one reading of the clock takes.
    pub clock_read_ns: f64,
    /// How late a timed wait of 100 µs wakes, median.
    pub wake_late_p50_ns: u64,
    /// How late a timed wait of 100 µs wakes, 99th percentile.
    pub wake_late_p99_ns: u64,
}
