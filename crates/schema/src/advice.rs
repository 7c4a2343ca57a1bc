//! `prony plan --format json`: how many blocks an experiment needs, estimated from its earlier runs.

use crate::counter_metric::ClaimMetric;
use crate::family::Family;
use crate::metric::Metric;
use crate::said::Said;
use crate::version::AdviceVersion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an experiment needs, and what its own number of blocks can show.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct AdviceFile {
    /// Format and version.
    pub schema: AdviceVersion,
    /// Name of the experiment.
    pub experiment: String,
    /// The runs that the spreads come from, oldest first.
    pub runs: Vec<String>,
    /// What was asked for.
    pub wanted: WantedAdvice,
    /// Cells of the experiment.
    pub cells: u32,
    /// What the file itself asks for; the most, where it decides while it runs.
    pub own: BlocksAdvice,
    /// What the wanted precision needs; absent where it cannot be estimated or no number of blocks would do.
    pub for_precision: Option<BlocksAdvice>,
    /// What finding the wanted difference needs; likewise.
    pub for_difference: Option<BlocksAdvice>,
    /// The same for a single comparison, as if the experiment asked nothing else: what the family costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_difference_alone: Option<BlocksAdvice>,
    /// What showing equal targets to be equivalent needs, with the wanted chance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_equivalence: Option<BlocksAdvice>,
    /// The verdicts of a run as one family; absent where nothing is judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<Family>,
    /// Time of one trial with its start and stop.
    pub trial_ns: u64,
    /// Whether that was measured in the runs; else it follows from the phases.
    pub trial_is_measured: bool,
    /// One entry for each ratio, or value, that a run of the experiment is judged by.
    pub rows: Vec<AdviceRow>,
    /// Samples in a trial that give the narrowest interval for the time spent; absent where trials do not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<SamplesAdvice>,
    /// Three levels of repetition, over runs; absent with fewer than two runs, of two trials, of two samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub levels: Option<LevelsAdvice>,
    /// What speaks against these numbers, with the remedy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Said>,
}

/// What was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct WantedAdvice {
    /// Half-width of the interval, as a share.
    pub precision: f64,
    /// Difference to be found, as a share.
    pub difference: f64,
    /// Chance to find it.
    pub power: f64,
    /// Confidence level of intervals and verdicts, all together.
    pub confidence: f64,
    /// Half-width of the equivalence margin, as a share; absent in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub margin: Option<f64>,
}

/// A number of blocks, and what it costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct BlocksAdvice {
    /// Blocks.
    pub blocks: u32,
    /// Trials: blocks × cells.
    pub trials: u64,
    /// Expected time.
    pub time_ns: u64,
}

/// One ratio or value.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct AdviceRow {
    /// For people.
    pub what: Said,
    /// Which metric or counter.
    pub metric: ClaimMetric,
    /// Blocks seen, over all runs.
    pub blocks_seen: u32,
    /// Standard deviation of its logarithm between the blocks of a run; 0.02 is about 2 %.
    pub sd: Option<f64>,
    /// Upper limit of that with 80 % assurance; the numbers of blocks rest on it.
    pub sd_upper: Option<f64>,
    /// Half-width of the interval to expect at the file's own number of blocks, as a share.
    pub half_width: Option<f64>,
    /// Smallest difference found with the wanted power at the file's own number of blocks, as a share.
    pub smallest_difference: Option<f64>,
    /// Confidence level of its interval alone: its part of the family.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<f64>,
    /// Smallest difference that it would find alone, as if the experiment asked nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smallest_difference_alone: Option<f64>,
    /// Blocks that it would need alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks_for_difference_alone: Option<u32>,
    /// Chance that equal targets are shown to be equivalent, at the file's own number of blocks; ratios only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equivalence_power: Option<f64>,
    /// Blocks for that with the wanted chance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks_for_equivalence: Option<u32>,
    /// Blocks for the wanted precision.
    pub blocks_for_precision: Option<u32>,
    /// Blocks for the wanted difference.
    pub blocks_for_difference: Option<u32>,
    /// Why there is nothing, and what would cure it.
    pub refused: Option<Said>,
}

/// How often a trial is best sampled (METHOD §3, Kalibera and Jones).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct SamplesAdvice {
    /// Samples of the file.
    pub own: u32,
    /// Best number in the cell that needs most.
    pub best: u32,
    /// That cell, for people.
    pub of: String,
}

/// Samples in trials in runs: what each level brings in, what it costs, and the counts that give the narrowest interval
/// for the time spent (METHOD §3, Kalibera and Jones). Of the cell whose runs differ most.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct LevelsAdvice {
    /// That cell, for people.
    pub of: String,
    /// Throughput of a closed load, mean response time of an open one.
    pub metric: Metric,
    /// Runs that tell.
    pub runs_seen: u32,
    /// Trials of each that are compared.
    pub trials_seen: u32,
    /// Samples of each trial.
    pub samples_seen: u32,
    /// Standard deviation that runs bring in by themselves, over the mean; 0 where they differ less than their trials
    /// would have them.
    pub run_cv: f64,
    /// The same of the trials of a run.
    pub trial_cv: f64,
    /// The same of the samples of a trial.
    pub sample_cv: f64,
    /// What a run costs besides its trials, shared by all cells.
    pub run_ns: f64,
    /// Whether that was measured; else it is taken for as much as `trial_ns`.
    pub run_is_measured: bool,
    /// What a trial costs besides its samples.
    pub trial_ns: f64,
    /// What a sample costs.
    pub sample_ns: f64,
    /// Best number of samples in a trial; null where trials do not differ.
    pub samples_best: Option<u32>,
    /// Best number of trials in a run; null where runs do not differ.
    pub trials_best: Option<u32>,
    /// Runs of these counts for the wanted precision, five at least; null where no number up to 1,000 is enough.
    pub runs_for_precision: Option<u32>,
    /// Time of all of them, all cells.
    pub time_ns: Option<u64>,
    /// How to run them, by the keys of the experiment file.
    pub how: Said,
}
