//! What `prony serve` and its pages say to each other, and the small files that the lab keeps: `live.json` beside a
//! run in progress, and the labels of runs.
//!
//! Invariants: every number that a page shows stands in one of these types; text in them may be foreign and is shown
//! as text. Absent on purpose: how they travel (the crate `serve`), and the page of a whole run (`page`).

use crate::across::CompareFile;
use crate::agents::FleetSummary;
use crate::analysis::{BeliefLevel, Finding};
use crate::metric::{Metric, Unit};
use crate::page::{CounterKind, CounterUnit};
use crate::said::Said;
use crate::trial::{AgentInterval, Phase, RequestInterval, TrialOutcome};
use crate::version::{LabVersion, LabelsVersion, LiveVersion};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Most tags that a run may have.
pub const TAGS_MAX: usize = 20;
/// Longest tag in characters.
pub const TAG_LENGTH_MAX: usize = 40;
/// Longest note in characters.
pub const NOTE_LENGTH_MAX: usize = 4_000;

/// `live.json`: the process that writes this run folder. Only one whose start time and boot agree is that process.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct LiveFile {
    /// Format and version.
    pub schema: LiveVersion,
    /// The process.
    pub pid: u32,
    /// When it was started, in ticks since boot (field 22 of `/proc/PID/stat`).
    pub start_ticks: u64,
    /// Inode of the process namespace that its number is from.
    pub pid_namespace: u64,
    /// The boot that it belongs to, `/proc/sys/kernel/random/boot_id`; empty where the system does not tell.
    pub boot: String,
    /// Who began it: `lab:ID` where `prony serve` did; absent for a person at a terminal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launched_by: Option<String>,
}

/// What people said of runs: kept beside the index, so that the index may be thrown away.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LabelsFile {
    /// Format and version.
    pub schema: LabelsVersion,
    /// By the name of the run folder.
    pub runs: BTreeMap<String, Label>,
}

/// What a person said of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Label {
    /// Short words without commas, in order and each once.
    pub tags: Vec<String>,
    /// Free text.
    pub note: String,
}

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Its process is there.
    Running,
    /// All planned trials ended.
    Done,
    /// It ended before its last trial; `prony run --resume` finishes it.
    Interrupted,
    /// Its files cannot be read.
    Damaged,
}

impl RunState {
    /// The name used in files.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Done => "done",
            Self::Interrupted => "interrupted",
            Self::Damaged => "damaged",
        }
    }
}

/// `GET /api/runs`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct RunList {
    /// Format and version.
    pub schema: LabVersion,
    /// Newest first.
    pub runs: Vec<RunCard>,
    /// Runs that the search found, also beyond this page.
    pub total: u64,
    /// All tags, by name.
    pub tags: Vec<TagCount>,
    /// What the reader must know besides, such as a folder that is too large.
    pub notes: Vec<Said>,
}

/// A tag with how many runs have it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct TagCount {
    /// The tag.
    pub tag: String,
    /// Runs that have it.
    pub runs: u64,
}

/// One run of the library.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct RunCard {
    /// Name of the run folder.
    pub id: String,
    /// Name of the experiment; empty where the folder is damaged.
    pub name: String,
    /// The question as asked.
    pub question: String,
    /// The answer; absent where the run was not analysed yet.
    pub answer: Option<Said>,
    /// Whether the numbers may be believed; absent likewise.
    pub belief: Option<BeliefLevel>,
    /// When it was begun, RFC 3339 in UTC; empty where damaged.
    pub started_wall: String,
    /// Where it stands.
    pub state: RunState,
    /// What is damaged; absent otherwise.
    pub cause: Option<Said>,
    /// Trials that ended.
    pub trials_done: u32,
    /// Trials planned so far.
    pub trials_planned: u32,
    /// Names of the targets.
    pub targets: Vec<String>,
    /// Tags that people gave it.
    pub tags: Vec<String>,
    /// Note that people gave it.
    pub note: String,
}

/// Everything of a run's page besides the page file: `GET /api/runs/ID`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct RunDetail {
    /// Format and version.
    pub schema: LabVersion,
    /// The run.
    pub card: RunCard,
    /// Files that can be downloaded.
    pub files: Vec<FileEntry>,
}

/// A file that can be downloaded.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct FileEntry {
    /// Its name within the run folder.
    pub name: String,
    /// Its length.
    pub size_bytes: u64,
}

/// First event of a stream, `hello`: all that a viewer who comes later has missed.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct LiveHello {
    /// Format and version.
    pub schema: LabVersion,
    /// The run.
    pub card: RunCard,
    /// Cells of the plan, in its order.
    pub cells: Vec<LiveCell>,
    /// Planned trials, in their order.
    pub order: Vec<LivePlanned>,
    /// Trials that ended.
    pub trials: Vec<LiveTrial>,
    /// The last intervals of the present trial.
    pub intervals: Vec<LiveInterval>,
    /// Findings so far.
    pub findings: Vec<Finding>,
    /// The agents of a fleet, with what they did so far; absent where one machine makes the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<FleetSummary>,
    /// Where it stands.
    pub progress: Progress,
}

/// A cell in short.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct LiveCell {
    /// Cell identifier.
    pub cell: String,
    /// For people.
    pub label: String,
    /// Name of the target.
    pub target: String,
}

/// A planned trial.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct LivePlanned {
    /// Number of the trial.
    pub id: u32,
    /// Block, counted from 1.
    pub block: u32,
    /// Cell identifier.
    pub cell: String,
}

/// Event `progress`: where a run stands, about once a second.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Progress {
    /// Whether its process is there, and if not how it ended.
    pub state: RunState,
    /// Trials that ended.
    pub trials_done: u32,
    /// Trials planned so far.
    pub trials_planned: u32,
    /// Share of the whole that is done, 0 to 1.
    pub share: f64,
    /// Since the run was begun.
    pub elapsed_ns: Option<u64>,
    /// Until its end, from what trials took so far, or else from the phases; null where it cannot be estimated.
    pub left_ns: Option<u64>,
    /// The trial in progress; null between trials.
    pub trial: Option<TrialNow>,
    /// The last interval of that trial.
    pub interval: Option<LiveInterval>,
    /// What each agent of a fleet did in that interval; empty without a fleet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<AgentInterval>,
    /// Counters as they were last read.
    pub counters: Vec<LiveCounter>,
}

/// The trial in progress.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct TrialNow {
    /// Number of the trial.
    pub id: u32,
    /// Block, counted from 1.
    pub block: u32,
    /// Cell identifier.
    pub cell: String,
    /// Label of the cell.
    pub label: String,
    /// Phase of the last interval; null while the target is started.
    pub phase: Option<Phase>,
    /// Sample number from 1, within samples.
    pub sample: Option<u32>,
    /// Samples of a trial.
    pub samples: u32,
    /// Time under load.
    pub elapsed_ns: u64,
    /// Time under load that a trial is expected to take.
    pub expected_ns: u64,
}

/// Event `interval`: one interval of the trial in progress. Percentiles are those of the interval alone.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct LiveInterval {
    /// Number of the trial.
    pub trial: u32,
    /// End, from the trial's origin.
    pub t_ns: u64,
    /// Which phase.
    pub phase: Option<Phase>,
    /// Sample number from 1, within samples.
    pub sample: Option<u32>,
    /// Right answers per second.
    pub throughput_per_s: f64,
    /// Requests intended per second.
    pub scheduled_per_s: f64,
    /// Median response time; null without an answer.
    pub p50_ns: Option<u64>,
    /// 99th percentile of response time; likewise.
    pub p99_ns: Option<u64>,
    /// Failures in it.
    pub failed: u64,
    /// Intended but not written at its end.
    pub backlog: u64,
    /// Written but not done at its end.
    pub in_flight: u64,
    /// CPU time of the generator's workers over the interval's length.
    pub generator_cpus: f64,
    /// The same by request, in the scenario's order; empty for a scenario of one request, and for the windows of a soak.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_request: Vec<RequestInterval>,
}

/// A counter as it was last read.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct LiveCounter {
    /// Which source, for example `target.process`.
    pub source: String,
    /// Name of the counter.
    pub name: String,
    /// As it stands, or its increase per second.
    pub value: f64,
    /// Whether the value is a level or a rate.
    pub kind: CounterKind,
    /// Unit of the value itself (of a rate: of what grows), where its name tells.
    pub unit: Option<CounterUnit>,
    /// When it was read, from the trial's origin.
    pub t_ns: u64,
}

/// Event `trial`: a trial that ended.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct LiveTrial {
    /// Number of the trial.
    pub id: u32,
    /// Block, counted from 1.
    pub block: u32,
    /// Cell identifier.
    pub cell: String,
    /// Label of the cell.
    pub label: String,
    /// How it ended.
    pub outcome: TrialOutcome,
    /// Why it is void, or what failed.
    pub reasons: Vec<Said>,
    /// Right answers per second over its samples.
    pub throughput_per_s: Option<f64>,
    /// Median response time over its samples.
    pub p50_ns: Option<u64>,
    /// 99th percentile over its samples.
    pub p99_ns: Option<u64>,
    /// Failed requests.
    pub failed: u64,
}

/// Event `end`: the last of a stream.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct LiveEnd {
    /// The run as it is now.
    pub card: RunCard,
}

/// `PUT /api/runs/ID/label` takes a [`Label`] and answers with it as it is kept. `POST …/stop` and `…/start` answer so.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct Accepted {
    /// Format and version.
    pub schema: LabVersion,
    /// What was begun, in one sentence.
    pub text: Said,
    /// Identifier of the start, where one was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
}

/// Every error of the lab.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct LabError {
    /// What is wrong.
    pub cause: Said,
    /// What to do about it.
    pub remedy: Said,
}

/// `GET /api/compare`: every further run against the first.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct ComparePairs {
    /// Format and version.
    pub schema: LabVersion,
    /// The runs, the first being the one compared with.
    pub runs: Vec<RunCard>,
    /// One entry for each further run.
    pub pairs: Vec<ComparePair>,
}

/// One comparison of two runs, or why there is none.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct ComparePair {
    /// Name of the run folder that is compared with.
    pub a: String,
    /// Name of the run folder that is compared.
    pub b: String,
    /// The comparison; null where it was refused.
    pub compare: Option<CompareFile>,
    /// Why it was refused.
    pub refused: Option<Said>,
}

/// `GET /api/experiments`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct ExperimentList {
    /// Format and version.
    pub schema: LabVersion,
    /// Files of the lab's folder by name, then experiments that only have runs.
    pub experiments: Vec<ExperimentCard>,
    /// Why none can be started now; null where one can.
    pub busy: Option<Said>,
    /// What was started from here, newest first.
    pub starts: Vec<StartCard>,
    /// What the reader must know besides.
    pub notes: Vec<Said>,
}

/// One experiment.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct ExperimentCard {
    /// Its file within the lab's folder; null where there are only runs.
    pub file: Option<String>,
    /// Its name; empty where the file cannot be read.
    pub name: String,
    /// Its question.
    pub question: String,
    /// What is wrong with the file; null where it can be started.
    pub error: Option<Said>,
    /// Runs of that name.
    pub runs: u64,
    /// The newest of them.
    pub last_run: Option<String>,
}

/// An experiment that was started from the lab.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct StartCard {
    /// Identifier.
    pub id: String,
    /// Its file within the lab's folder.
    pub file: String,
    /// When it was started, RFC 3339 in UTC.
    pub started_wall: String,
    /// Its run folder; null until that is there.
    pub run: Option<String>,
    /// Whether its process is still there.
    pub is_running: bool,
    /// Its exit code, or 128 and the signal; null while it runs.
    pub exit_code: Option<i32>,
    /// The last lines that it printed.
    pub log_tail: Vec<String>,
}

/// A centre of one metric of one cell of one run, as its analysis has it: for small charts of the library.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct HistoryValue {
    /// Name of the run folder.
    pub run: String,
    /// When that was begun.
    pub started_wall: String,
    /// Label of the cell.
    pub cell: String,
    /// Which metric.
    pub metric: Metric,
    /// Unit of the value.
    pub unit: Unit,
    /// Centre over the valid trials.
    pub value: f64,
    /// Valid trials.
    pub trials: u32,
}

/// What the pages ask first: `GET /api/lab`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct LabInfo {
    /// Format and version.
    pub schema: LabVersion,
    /// Version of prony.
    pub prony: String,
    /// Folder of the runs.
    pub runs: String,
    /// Folder of the experiments; null where there is none.
    pub experiments: Option<String>,
    /// Whether a token is asked for.
    pub needs_token: bool,
}

/// `POST /api/login`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoginRequest {
    /// The token that `prony serve` printed, or that of its token file.
    pub token: String,
}
