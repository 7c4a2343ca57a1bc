//! The agents of a fleet in files of results: what each is, how its clock stands, what it did.

use crate::analysis::Interval;
use crate::calibration::CalibrationSummary;
use crate::kernel_clock::KernelClock;
use crate::said::Said;
use crate::version::FleetListVersion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an agent says of itself and its host.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct AgentFacts {
    /// Version of prony.
    pub prony: String,
    /// Name of the host.
    pub host: String,
    /// Identifies one start of the kernel: two agents with the same one share a machine, and its clock.
    pub boot_id: String,
    /// Release of the kernel.
    pub kernel: String,
    /// Architecture, such as `x86_64`.
    pub arch: String,
    /// CPUs that the agent may use.
    pub cpus: u32,
    /// Memory of the host in bytes; absent where it cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// What the instrument can do there as `prony calibrate` found it; absent where it was not calibrated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<CalibrationSummary>,
    /// How its kernel keeps its clock; absent where that cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_clock: Option<KernelClock>,
}

/// An agent's clock against the controller's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct AgentClock {
    /// The agent's clock − the controller's, by the exchange with the shortest round trip.
    pub offset_ns: i64,
    /// Largest error of the offset: half that round trip.
    pub bound_ns: u64,
    /// Exchanges from which it was taken.
    pub exchanges: u32,
    /// Longest round trip among them.
    pub rtt_max_ns: u64,
    /// How far the clocks surely went apart during the load, at most; 0 where what was seen lies within the errors.
    pub apart_ns: u64,
}

/// What an agent does at the moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct AgentState {
    /// Whether it takes no more loads, and ends after the present one.
    pub is_ending: bool,
    /// The load that it makes; absent while it is idle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<AgentLoad>,
}

/// The load that an agent makes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct AgentLoad {
    /// Its URL and its controller, as the controller says.
    pub about: String,
    /// How long ago it was ordered.
    pub age_ns: u64,
}

/// `prony fleet list --format json`: the agents of a fleet, in its order.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct FleetListFile {
    /// Format and version.
    pub schema: FleetListVersion,
    /// One entry an agent.
    pub agents: Vec<ListedAgent>,
}

/// An agent of a fleet that was asked what it is and does.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct ListedAgent {
    /// Its name in the fleet.
    pub name: String,
    /// What it said of itself; absent where it could not be reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<AgentFacts>,
    /// Its clock; absent where it could not be reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<AgentClock>,
    /// What it does; absent where it could not be reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<AgentState>,
    /// Why it could not be reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// `run.json`: an agent as it was when the run began, or was resumed.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct AgentRecord {
    /// Its name in the fleet.
    pub name: String,
    /// What it said of itself.
    pub facts: AgentFacts,
    /// Its clock; each trial measures it again.
    pub clock: AgentClock,
    /// Its share of every load, 0 to 1; whole workers make it a little more or less.
    pub share: f64,
}

/// What the agents of one load did, in the order of their shares.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct FleetReport {
    /// One entry an agent.
    pub agents: Vec<AgentReport>,
    /// Largest over smallest median response time of the agents; absent where one has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50_spread: Option<f64>,
    /// The same of the 99th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_spread: Option<f64>,
}

/// One agent's part of a load. Counts and times are of the measured window.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct AgentReport {
    /// Its name in the fleet.
    pub name: String,
    /// What it said of itself.
    pub facts: AgentFacts,
    /// Its clock.
    pub clock: AgentClock,
    /// First of its workers, counted from 0 over the fleet.
    pub first_worker: u32,
    /// How many workers it had.
    pub workers: u32,
    /// Requests of its part that were intended in the window: completed + failed + censored.
    pub scheduled: u64,
    /// Answered rightly.
    pub completed: u64,
    /// Ended with an error.
    pub failed: u64,
    /// Unsent or in flight at the end.
    pub censored: u64,
    /// Open loads: requests that ended over those that its share of the load's is, 1 where it delivered its part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivered: Option<f64>,
    /// Median response time; absent without answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_p50_ns: Option<u64>,
    /// 99th percentile of response time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_p99_ns: Option<u64>,
    /// 99th percentile of how late the agent itself was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pacer_lag_p99_ns: Option<u64>,
    /// CPU time that its host's hypervisor gave to others during the load, 0 to 1; absent where it cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal_share: Option<f64>,
    /// Intervals that came, each once.
    pub parcels: u64,
    /// Parcels that came again and were not counted again.
    pub repeated: u64,
    /// How often its link was cut and made again.
    pub reconnects: u64,
}

/// What the agents of a run did, over all its trials that they ended.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct FleetSummary {
    /// Trials that these numbers are of.
    pub trials: u32,
    /// One entry an agent, in the order of their shares.
    pub agents: Vec<AgentSummary>,
    /// Largest over smallest median response time of the agents, in the trial where it was largest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50_spread: Option<f64>,
    /// The same of the 99th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_spread: Option<f64>,
    /// Whether the response times of any agent differ from the others'; absent with fewer than two agents, without trials,
    /// and in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compared: Option<AgentsCompared>,
}

/// The agents against each other: each sends its part of the same load, so none should see other times than the rest
/// (A/A). A difference is of the agent, its host or its way to the target, and voids nothing.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct AgentsCompared {
    /// Blocks of valid trials that have times of every agent.
    pub blocks: u32,
    /// Blocks that it takes to compare as many agents.
    pub blocks_needed: u32,
    /// Agents that differ, the furthest first, at most eight, each from those that were not named before; some agent is
    /// named falsely in at most 1 − confidence of all runs. Of two agents the slower one is named.
    pub differ: Vec<String>,
    /// All of that in one sentence.
    pub text: Said,
}

/// An agent's response time over that of the others (their geometric mean), by blocks. Agents that were named before it
/// are not among the others.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct AgentRatio {
    /// Above 1 where the agent saw longer times than the others.
    pub ratio: f64,
    /// Its interval (Student's, on logarithms): all intervals of the run's agents together have the run's confidence.
    /// Absent where all blocks have the same ratio.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// p of the permutation test, for all agents and both quantiles together; above 0.
    pub p: f64,
}

/// One agent over the trials of a run. A number is absent where no trial has it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct AgentSummary {
    /// Its name in the fleet.
    pub name: String,
    /// The name of its host.
    pub host: String,
    /// Its share of every load, 0 to 1, as the run began.
    pub share: f64,
    /// The agent's clock − the controller's, as the run began.
    pub offset_ns: i64,
    /// Largest bound of an offset: in no trial was its clock known worse.
    pub bound_ns: u64,
    /// The most by which its clock surely went from the controller's during a trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apart_ns: Option<u64>,
    /// Open loads: the least that it delivered of its share in a trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivered_least: Option<f64>,
    /// Open loads: the most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivered_most: Option<f64>,
    /// Largest 99th percentile of a trial of how late the agent itself was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pacer_lag_p99_ns: Option<u64>,
    /// Largest share of its host's CPU time in a trial that the hypervisor gave to others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal_share: Option<f64>,
    /// The median response time of its middle trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_p50_ns: Option<u64>,
    /// The 99th percentile of the trial in the middle by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_p99_ns: Option<u64>,
    /// Its median response time against that of the others; absent where agents are not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50_of_others: Option<AgentRatio>,
    /// The same of the 99th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_of_others: Option<AgentRatio>,
    /// How often its link was cut and made again, in all trials.
    pub reconnects: u64,
    /// The gates between agents, each held against this agent alone.
    pub gates: Vec<AgentGate>,
}

/// One gate and one agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct AgentGate {
    /// Name, for example `fleet_lag`.
    pub gate: String,
    /// Trials in which the agent was held against it.
    pub trials: u32,
    /// Trials in which it did not keep it.
    pub failed: u32,
}
