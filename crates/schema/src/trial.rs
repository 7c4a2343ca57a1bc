//! The files of one trial: `trial.json`, the lines of `intervals.ndjson` and of `counters.ndjson`.
//!
//! Times are nanoseconds from the trial's one monotonic origin unless a name says `wall`.

use crate::calibration::{Canary, ClockCheck};
use crate::event::EventRecord;
use crate::limits::{Confinement, GroupUsage, RelayUsage};
use crate::load::{ErrorClass, LoadReport};
pub use crate::messages::MessageInterval;
use crate::said::Said;
use crate::server_side::ServerSide;
use crate::steady::{Steadiness, WarmUpEnd};
use crate::traced::NotableRequests;
use crate::version::TrialVersion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `trial.json`: written last and atomically, so a folder without it is a trial that did not end.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct TrialFile {
    /// Format and version.
    pub schema: TrialVersion,
    /// Equal to the folder's number.
    pub id: u32,
    /// Cell identifier.
    pub cell: String,
    /// Block, counted from 1.
    pub block: u32,
    /// How it ended.
    pub outcome: TrialOutcome,
    /// Why it is void, or what failed; empty for a valid trial.
    pub reasons: Vec<Said>,
    /// Wall clock of the monotonic origin, RFC 3339 in UTC.
    pub origin_wall: String,
    /// Phases in order.
    pub phases: Vec<PhaseSpan>,
    /// Whether warm-up ended because the target was steady; false where its length was fixed or the longest ran out.
    pub level: bool,
    /// How warm-up ended; absent where the load never ran, and in trials of before this was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warmup: Option<WarmUpEnd>,
    /// Whether the measured window was steady; absent as above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steadiness: Option<Steadiness>,
    /// The measured window: all samples together. Absent where the load never ran.
    pub load: Option<LoadReport>,
    /// One entry a sample.
    pub samples: Vec<SampleSummary>,
    /// What the target used within the samples, where it can be read.
    pub target: TargetUsage,
    /// What came of the events of the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<EventRecord>,
    /// From starting the process to the first good answer.
    pub ready_ns: Option<u64>,
    /// Ticks at which a source of counters could not be read, by source; its lines are absent then.
    pub counter_gaps: BTreeMap<String, u64>,
    /// Why the latest of these gaps was one, by source.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counter_errors: BTreeMap<String, Said>,
    /// A fixed amount of work on the generator's CPU before and after the load; absent where it could not be done.
    #[serde(default)]
    pub canary: Option<Canary>,
    /// The host's clocks against each other over the load; absent where it never ran, and in trials of before this was
    /// written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clocks: Option<ClockCheck>,
}

/// How a trial ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrialOutcome {
    /// Its numbers may be used.
    Valid,
    /// It ran, but a gate failed; kept, shown, not used.
    Void,
    /// The target did not build, start, pass its contract or survive.
    Failed,
}

/// One phase with its time.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct PhaseSpan {
    /// Which phase.
    pub phase: Phase,
    /// Sample number from 1, for samples.
    pub sample: Option<u32>,
    /// Begin.
    pub start_ns: u64,
    /// End.
    pub end_ns: u64,
}

/// The phases under load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Load is on, nothing is counted.
    Warmup,
    /// Measured.
    Sample,
    /// No new requests; those in flight may finish.
    Drain,
}

/// One sample in numbers; quantiles are null where the sample is too small for them.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct SampleSummary {
    /// From 1.
    pub sample: u32,
    /// Right answers per second.
    pub throughput_per_s: f64,
    /// Right answers.
    pub answers: u64,
    /// Failed requests.
    pub failed: u64,
    /// Mean response time.
    pub mean_ns: Option<f64>,
    /// Median response time.
    pub p50_ns: Option<u64>,
    /// 99th percentile of response time.
    pub p99_ns: Option<u64>,
}

/// What the target used within the samples; absent where it cannot be read.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct TargetUsage {
    /// CPU time of the whole process tree.
    pub cpu_s: Option<f64>,
    /// CPU time per right answer.
    pub cpu_per_request_ns: Option<f64>,
    /// Highest resident memory of the process tree at a tick.
    pub rss_peak_bytes: Option<u64>,
    /// Bytes that its runtime allocated per right answer; absent where the runtime does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alloc_per_request_bytes: Option<f64>,
    /// What it was confined to, as read back; absent where nothing was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confinement: Option<Confinement>,
    /// What its control groups counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupUsage>,
    /// What the relay on the way to it did in the samples, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relay: Option<RelayUsage>,
    /// What it counted of itself, where it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerSide>,
}

/// A line of `intervals.ndjson`. Requests are counted in the interval of their outcome.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct IntervalLine {
    /// Begin.
    pub start_ns: u64,
    /// End.
    pub end_ns: u64,
    /// Which phase it belongs to.
    pub phase: Option<Phase>,
    /// Sample number from 1, for samples.
    pub sample: Option<u32>,
    /// Requests whose intended time lies in the interval.
    pub scheduled: u64,
    /// Right answers that arrived in it.
    pub completed: u64,
    /// Failures in it by class.
    pub failed: BTreeMap<ErrorClass, u64>,
    /// Answers by status code.
    pub status: BTreeMap<u16, u64>,
    /// Redirects followed, by status code.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub redirects: BTreeMap<u16, u64>,
    /// Bytes received.
    pub read_bytes: u64,
    /// Bytes sent.
    pub written_bytes: u64,
    /// Connections opened in it.
    pub connects: u64,
    /// Intended but not written at its end.
    pub backlog: u64,
    /// Written but not done at its end.
    pub in_flight: u64,
    /// CPU time of the workers.
    pub generator_cpu_ns: u64,
    /// Median response time of the answers that arrived in it.
    pub p50_ns: Option<u64>,
    /// 99th percentile of the same, for charts only: below 368 answers it has no upper bound (METHOD §4).
    pub p99_ns: Option<u64>,
    /// When at least four requests were in flight and none ended, for 10 ms or more; the eight longest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stalls: Vec<StallSpan>,
    /// The slowest requests of those whose times are in it, and its first failures.
    #[serde(default, skip_serializing_if = "NotableRequests::is_empty")]
    pub notable: NotableRequests,
    /// The trial's origin on the wall clock, in nanoseconds since 1970-01-01 UTC; only where requests have traces, whose
    /// spans go by the wall clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin_unix_ns: Option<u64>,
    /// Messages on streams; absent where no request of the scenario is a stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<MessageInterval>,
    /// The same by request, in the scenario's order; empty for a scenario of one request. Of more than
    /// [`IntervalLine::REQUESTS_MAX`] the last line holds all that have none of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_request: Vec<RequestInterval>,
    /// The same by agent, in the order of their shares; empty without a fleet. Of more than
    /// [`IntervalLine::AGENTS_MAX`] the last line has no name and sums the counts of all that have none of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<AgentInterval>,
}

impl IntervalLine {
    /// Most lines by request within an interval, so that a trial's file stays small: about 1.5 KiB an interval.
    pub const REQUESTS_MAX: usize = 16;
    /// Most lines by agent within an interval: about 8 KiB an interval.
    pub const AGENTS_MAX: usize = 64;
}

/// One agent within an interval. `scheduled`, `completed` and `failed` add up to those of the interval over its agents.
/// Times are those of the answers that arrived in it, as in the interval's own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct AgentInterval {
    /// Its name in the fleet; absent for all agents that have no line of their own, together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Requests of its part whose intended time lies in the interval.
    pub scheduled: u64,
    /// Right answers that arrived in it.
    pub completed: u64,
    /// Failures in it, of all classes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failed: u64,
    /// Median response time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50_ns: Option<u64>,
    /// 99th percentile of response time, for charts only, as that of the interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_ns: Option<u64>,
    /// 99th percentile of how late the agent itself was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pacer_lag_p99_ns: Option<u64>,
}

/// One request of the scenario within an interval. `completed` and `failed` add up to those of the interval. Times are
/// those of the answers that arrived in it; within the samples without the answers to requests of the warm-up, as in
/// the interval's own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct RequestInterval {
    /// Its name; absent for all requests that have no line of their own, together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Right answers that arrived in the interval.
    pub completed: u64,
    /// Failures in it, of all classes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failed: u64,
    /// Median response time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50_ns: Option<u64>,
    /// 99th percentile of response time, for charts only, as that of the interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_ns: Option<u64>,
    /// Longest response time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_ns: Option<u64>,
}

/// For counts that are written only where there is something to count.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
pub(crate) const fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A time in which requests were in flight and none ended. One that goes on over the end of an interval is written in
/// two parts that touch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct StallSpan {
    /// Begin.
    pub start_ns: u64,
    /// End.
    pub end_ns: u64,
    /// Requests in flight at its end.
    pub in_flight: u64,
}

/// A line of `counters.ndjson`: one source at one tick. What cannot be read is absent, never zero.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct CounterLine {
    /// When it was read.
    pub t_ns: u64,
    /// Which source, for example `target.process` or `host.stat`.
    pub source: String,
    /// Values as they stand.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub gauges: BTreeMap<String, f64>,
    /// Increases since the source's previous line.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub deltas: BTreeMap<String, f64>,
    /// Pauses of the collector since the source's previous line, by length, where the runtime keeps a histogram of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pauses: Vec<PauseCount>,
}

/// Pauses of about the same length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PauseCount {
    /// At least this long.
    pub from_ns: u64,
    /// Shorter than this; as `from_ns` where the runtime sets no bound.
    pub to_ns: u64,
    /// How many, above 0.
    pub count: u64,
}
