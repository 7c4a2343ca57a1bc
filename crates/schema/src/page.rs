//! `prony.page/3`: everything that the report's page and the lab show of one run, in one document.
//!
//! Invariants: `run` and `analysis` are the run folder's own files; what is beside them is read from that folder too,
//! bounded, and made by the runner, so that a page does no arithmetic beyond formatting and mapping to coordinates;
//! what is left out or could not be read stands there in a sentence. Texts are as they were found: whoever shows them
//! shows them as text.
//! Absent on purpose: anything that is in `analysis` already, such as phases, curves and values by trial.

use crate::analysis::AnalysisFile;
pub use crate::counter_name::CounterUnit;
use crate::environment::EnvironmentDiff;
use crate::profile::{ProfileKind, ProfileUnit, RefusedProfile, TopFunction};
use crate::run::RunFile;
use crate::said::Said;
use crate::version::PageVersion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `prony report RUN --format page`, also the data within `report.html`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct PageFile {
    /// Format and version.
    pub schema: PageVersion,
    /// Version of the prony that made the page.
    pub prony: String,
    /// In which language it opens.
    pub lang: PageLanguage,
    /// `run.json`.
    pub run: RunFile,
    /// `analysis.json`.
    pub analysis: AnalysisFile,
    /// What is shown of single trials beyond the analysis, in trial order; not of all of them where there are many.
    pub details: Vec<TrialDetail>,
    /// Which trials have no details here, and where their numbers are: one sentence; absent where all have them.
    pub details_left_out: Option<Said>,
    /// Profiles that were taken after the trials, under a load of their own.
    pub profiles: Vec<PageProfile>,
    /// What these profiles are, and are not; absent without profiles.
    pub profiles_note: Option<Said>,
    /// What was asked for and could not be taken.
    pub profiles_refused: Vec<PageRefusal>,
    /// In what the environment differs from that of another run; absent unless asked for.
    pub environment_difference: Option<EnvironmentDiff>,
}

/// The languages that a page has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PageLanguage {
    /// English.
    #[default]
    En,
    /// Chinese, in simplified characters.
    Zh,
}

/// One trial, to the second.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct TrialDetail {
    /// Number of the trial.
    pub id: u32,
    /// Its cell.
    pub cell: String,
    /// Ends of all intervals, warm-up and drain too, from the trial's origin. Those of a long trial are joined to
    /// longer ones.
    pub t_ns: Vec<u64>,
    /// Counters beside the load, by source and name.
    pub counters: Vec<CounterCurve>,
    /// Response times by request of the scenario, in its order; empty for a scenario of one, and in trials of before
    /// they were kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_request: Vec<RequestCurve>,
    /// What happened on purpose.
    pub events: Vec<EventMark>,
    /// Response times over time; absent where no histograms were written, or could not be read.
    pub heat: Option<Heat>,
    /// Pauses of the collector over time, by length; absent where the runtime counts none, or had none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pauses: Option<Heat>,
    /// The last lines of the target's output, at most 40.
    pub log_tail: Vec<String>,
    /// What of this trial is missing here, and why: one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Said>,
}

/// One request of the scenario over one trial: a value for each of `t_ns`, null where nothing was answered. Of intervals
/// that are joined the highest value stays: percentiles are never averaged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct RequestCurve {
    /// Its name; null for all requests that have no curve of their own, together.
    pub name: Option<String>,
    /// Right answers.
    pub completed: Vec<u64>,
    /// Median response time.
    pub p50_ns: Vec<Option<u64>>,
    /// 99th percentile of response time.
    pub p99_ns: Vec<Option<u64>>,
}

/// One counter over one trial.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct CounterCurve {
    /// Who counts, for example `target.process` or `host.stat`.
    pub source: String,
    /// What.
    pub name: String,
    /// Whether the values are levels or rates.
    pub kind: CounterKind,
    /// Unit of the value itself (of a rate: of what grows), where its name tells.
    pub unit: Option<CounterUnit>,
    /// One value for each interval of the trial, to six digits; null where it was not read.
    pub values: Vec<Option<f64>>,
}

/// What the values of a counter are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CounterKind {
    /// The mean of what was read within the interval.
    Gauge,
    /// Its increase within the interval, per second.
    Delta,
}

/// An event at its time.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct EventMark {
    /// When it began, from the trial's origin.
    pub t_ns: u64,
    /// When the action itself was over.
    pub ended_ns: u64,
    /// Name in the plan.
    pub name: String,
}

/// How many answers took how long, over time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct Heat {
    /// Begin of the first row, from the trial's origin.
    pub start_ns: u64,
    /// End of each row; rows of a long trial are several intervals joined.
    pub t_ns: Vec<u64>,
    /// Limits of the columns, growing by a constant factor; one more than there are columns. The first column holds
    /// all that is shorter too, the last all that is longer.
    pub edges_ns: Vec<u64>,
    /// Answers by response time, or pauses by length, one row a time span.
    pub rows: Vec<Vec<u64>>,
    /// Largest count of all rows.
    pub count_max: u64,
}

/// One profile of one cell.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct PageProfile {
    /// Cell that was loaded.
    pub cell: String,
    /// For people.
    pub label: String,
    /// Kind.
    pub kind: ProfileKind,
    /// Name of its files without ending: that of the kind, with a suffix for a second view.
    pub name: String,
    /// Where it was read from: a file of the run folder.
    pub origin: String,
    /// What the values count.
    pub unit: ProfileUnit,
    /// Sum of all values.
    pub total: u64,
    /// The stacks as a tree; its root is `all`.
    pub frames: FlameNode,
    /// The functions with the largest own value.
    pub top: Vec<TopFunction>,
    /// What was cut, and what else must be known to read it.
    pub notes: Vec<Said>,
}

/// A function within its callers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct FlameNode {
    /// Its name, cleaned of control characters.
    pub name: String,
    /// Value of all stacks through it.
    pub value: u64,
    /// What it called, largest first. What is too narrow to be seen is left out, and counts as its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<FlameNode>,
}

/// A profile that could not be taken.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct PageRefusal {
    /// Cell that was loaded.
    pub cell: String,
    /// For people.
    pub label: String,
    /// What was asked for, why it could not be had, and what would cure it.
    pub refused: RefusedProfile,
}
