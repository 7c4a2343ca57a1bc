//! Several runs of one experiment: `prony compare --format json` and `prony history --format json`.

use crate::analysis::{Interval, Verdict};
use crate::environment::EnvironmentDiff;
use crate::metric::{Metric, Unit};
use crate::said::Said;
use crate::version::{CompareVersion, HistoryVersion};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Two runs, cell by cell. Ratios are b over a.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct CompareFile {
    /// Format and version.
    pub schema: CompareVersion,
    /// Name of the experiment.
    pub experiment: String,
    /// The first run, which the second is compared with.
    pub a: RunHead,
    /// The second run.
    pub b: RunHead,
    /// In what their hosts and programs differ.
    pub environment: EnvironmentDiff,
    /// Why no verdict is given although there are numbers; absent where verdicts are given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Said>,
    /// What else differs between the two besides what is compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Said>,
    /// Confidence level of intervals and verdicts: that of the second run.
    pub confidence: f64,
    /// Half-width of the equivalence margin as a ratio: that of the second run.
    pub margin: f64,
    /// One entry for each cell that both runs have, in the order of the second.
    pub cells: Vec<CellAcross>,
    /// Labels of the cells that only the first has.
    pub only_a: Vec<String>,
    /// Labels of the cells that only the second has.
    pub only_b: Vec<String>,
}

/// A run, in short.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct RunHead {
    /// Name of the run folder.
    pub id: String,
    /// When it was begun, RFC 3339 in UTC.
    pub started_wall: String,
    /// Valid trials.
    pub trials_valid: u32,
}

/// One cell in two runs.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct CellAcross {
    /// For people.
    pub label: String,
    /// One entry a metric.
    pub metrics: Vec<MetricAcross>,
}

/// One metric of one cell in two runs.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct MetricAcross {
    /// Which metric.
    pub metric: Metric,
    /// Unit of the centres.
    pub unit: Unit,
    /// Valid trials of the first run with a value.
    pub a_trials: u32,
    /// Valid trials of the second run with a value.
    pub b_trials: u32,
    /// Geometric mean in the first; null without values or with a 0.
    pub a: Option<f64>,
    /// Geometric mean in the second; likewise.
    pub b: Option<f64>,
    /// b over a.
    pub ratio: Option<f64>,
    /// Its interval by Welch's t on logarithms; null where refused.
    pub interval: Option<Interval>,
    /// Hodges–Lehmann estimate of the ratio (rank sum), as a check without the normal law.
    pub rank_ratio: Option<f64>,
    /// Its interval; both ends absent where the trials are too few for one.
    pub rank_interval: Option<Interval>,
    /// p of Welch's test of ratio = 1.
    pub p_value: Option<f64>,
    /// The same after Holm's correction over the metrics of this cell.
    pub p_holm: Option<f64>,
    /// The answer: `faster` where b is better than a.
    pub verdict: Verdict,
    /// Why there is no verdict, and what would cure it.
    pub refused: Option<Said>,
}

/// Runs of one experiment in the order of time.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct HistoryFile {
    /// Format and version.
    pub schema: HistoryVersion,
    /// Name of the experiment.
    pub experiment: String,
    /// Oldest first.
    pub runs: Vec<HistoryRun>,
    /// p up to which a change point stands.
    pub significance: f64,
    /// Permutations for each p.
    pub permutations: u32,
    /// Seed of the permutations.
    pub seed: u64,
    /// One entry for each cell and metric that any run has a value of.
    pub series: Vec<HistorySeries>,
    /// What the reader must know besides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Said>,
}

/// One run of a history.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct HistoryRun {
    /// Name of the run folder.
    pub id: String,
    /// When it was begun, RFC 3339 in UTC.
    pub started_wall: String,
    /// Valid trials.
    pub trials_valid: u32,
    /// What was another than in the run before: versions of programs, and facts of the host that move the numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<Said>,
}

/// One metric of one cell over the runs.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct HistorySeries {
    /// The cell, for people.
    pub cell: String,
    /// Which metric.
    pub metric: Metric,
    /// Unit of the values.
    pub unit: Unit,
    /// One entry for each run that has a value, oldest first.
    pub points: Vec<HistoryPoint>,
    /// Where the values change, oldest first.
    pub changes: Vec<HistoryChange>,
    /// The last runs left the level that they had since the last change, too lately for a change to be dated. Absent
    /// where they did not, and in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alarm: Option<HistoryAlarm>,
    /// Where the spread comes from: runs (days, hosts, builds), trials or samples. Absent where runs do not have alike many
    /// trials and samples, and in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub levels: Option<HistoryLevels>,
    /// Why changes were not looked for, and what would cure it.
    pub refused: Option<Said>,
}

/// Three levels of repetition (Kalibera & Jones, ISMM 2013): samples in trials in runs. Each is the standard deviation
/// that the level brings in by itself, over the mean; 0 where it differs less than what it holds would have it.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct HistoryLevels {
    /// Runs that are compared.
    pub runs: u32,
    /// Trials of each that are compared.
    pub trials: u32,
    /// Samples of each trial.
    pub samples: u32,
    /// Between runs.
    pub run_cv: f64,
    /// Between trials of one run.
    pub trial_cv: f64,
    /// Between samples of one trial.
    pub sample_cv: f64,
    /// Trials in a run that give the narrowest interval for the time spent, if a run costs as much besides as one trial
    /// does; null where runs do not differ.
    pub trials_best: Option<u32>,
    /// Samples in a trial, by what a trial costs besides; null where trials do not differ.
    pub samples_best: Option<u32>,
}

/// A signal of the CUSUM chart over the last runs of a series.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct HistoryAlarm {
    /// Run since which the sum has grown.
    pub since_run: String,
    /// Run in which it passed its limit.
    pub raised_run: String,
    /// Mean since then over the mean before, on the log scale; above 0.
    pub ratio: f64,
    /// Runs between two false signals on average, where nothing changes.
    pub average_run_length: u32,
    /// Whether that is the worse direction of the metric.
    pub is_worse: bool,
}

/// The value of a series in one run.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct HistoryPoint {
    /// Place of the run in `runs`, from 0.
    pub run: u32,
    /// Geometric mean of its valid trials; above 0.
    pub value: f64,
    /// Valid trials with a value.
    pub trials: u32,
}

/// A change of a series.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct HistoryChange {
    /// Name of the last run before it.
    pub after_run: String,
    /// Name of the first run with the new level.
    pub first_run: String,
    /// When that was begun.
    pub first_wall: String,
    /// Geometric mean from the change before to this one.
    pub before: f64,
    /// Geometric mean from here to the next change.
    pub after: f64,
    /// After over before.
    pub ratio: f64,
    /// p of the permutation test.
    pub p_value: f64,
    /// Whether it is for the worse.
    pub is_worse: bool,
}
