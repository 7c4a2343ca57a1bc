//! `analysis.json`: everything that a report shows, already computed; the report does no arithmetic.

use crate::agents::FleetSummary;
pub use crate::belief::BeliefLevel;
use crate::capacity::Capacity;
use crate::counter_metric::ClaimMetric;
pub use crate::estimate::Interval;
use crate::event::EventSummary;
pub use crate::family::{Family, FamilyPart};
use crate::finding::CellWhy;
pub use crate::finding::{Finding, FindingCause, FindingLevel};
use crate::layers::LayerCosts;
use crate::memory_view::MemoryView;
pub use crate::messages::CellMessages;
use crate::metric::{Metric, Unit};
use crate::published::PublishedResult;
use crate::said::Said;
use crate::soak::SoakReport;
use crate::spans::RequestSpans;
use crate::steady::{Steadiness, WarmUpLine};
use crate::threshold::ThresholdAnswer;
use crate::traced::CellNotable;
use crate::trial::{Phase, TrialOutcome};
use crate::version::AnalysisVersion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The answers of one run.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct AnalysisFile {
    /// Format and version.
    pub schema: AnalysisVersion,
    /// Name of the run folder.
    pub run: String,
    /// The question as asked.
    pub question: String,
    /// The answer in one sentence, with its certainty.
    pub answer: Said,
    /// Whether the numbers may be believed.
    pub belief: Belief,
    /// How many trials were planned.
    pub trials_planned: u32,
    /// One entry a trial that was run, in order.
    pub trials: Vec<TrialRow>,
    /// Valid trials far from the others of their cell, by number. They count in every number all the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outliers: Vec<OutlyingTrial>,
    /// One entry a cell, in plan order.
    pub cells: Vec<CellSummary>,
    /// Pairs of targets at the same load, for each metric.
    pub comparisons: Vec<Comparison>,
    /// The verdicts of claims and comparisons as one family; absent where there is none, and in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<Family>,
    /// What the events did, by cell and event in plan order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<EventSummary>,
    /// Ladders and searches of a knee run, in plan order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capacity: Vec<Capacity>,
    /// What matters of `why`, each cause once a target, worst first; and what the hidden control says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// What held each cell back, in plan order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub why: Vec<CellWhy>,
    /// What each factor does, where the plan crosses several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effects: Option<Effects>,
    /// The ratio of response times at every quantile, one entry for each pair of targets at the same load whose trials
    /// have histograms in five blocks and more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shifts: Vec<Shift>,
    /// What became of the instrument's own error in the intervals of times; absent in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instrument: Option<Said>,
    /// What each layer costs, where the design names an ordered factor.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<LayerCosts>,
    /// The claims of the experiment, answered.
    pub claims: Vec<ClaimResult>,
    /// Its thresholds, held against every trial, and in a soak against every window; in plan order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thresholds: Vec<ThresholdAnswer>,
    /// What each agent of a fleet did; absent where one machine made the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<FleetSummary>,
    /// Confidence level of all intervals.
    pub confidence: f64,
    /// Half-width of the equivalence margin as a ratio.
    pub margin: f64,
    /// The answer of a soak; absent for other runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soak: Option<SoakReport>,
}

/// Whether the numbers may be believed, with what speaks for and against.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Belief {
    /// The worst of the notes.
    pub level: BeliefLevel,
    /// One sentence.
    pub summary: Said,
    /// What was looked at, worst first.
    pub notes: Vec<BeliefNote>,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct BeliefNote {
    /// What it does to the belief.
    pub level: BeliefLevel,
    /// What was found, with its number.
    pub text: Said,
    /// What would cure it.
    pub remedy: Option<Said>,
}

/// One trial in a table.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct TrialRow {
    /// Number of the trial.
    pub id: u32,
    /// Block.
    pub block: u32,
    /// Cell identifier.
    pub cell: String,
    /// How it ended.
    pub outcome: TrialOutcome,
    /// Why it is void, or what failed.
    pub reasons: Vec<Said>,
    /// Value of each metric; null where it is refused or cannot be read.
    pub values: Vec<MetricValue>,
    /// Scheduled requests.
    pub scheduled: u64,
    /// Completed requests.
    pub completed: u64,
    /// Failed requests.
    pub failed: u64,
    /// Censored requests.
    pub censored: u64,
    /// Whether its measured window was steady; absent where the load never ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steadiness: Option<Steadiness>,
    /// Points over the trial for a chart, one an interval.
    pub series: Vec<SeriesPoint>,
}

/// A valid trial whose throughput, median or p99 response time lies far from those of the other trials of its cell.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct OutlyingTrial {
    /// Number of the trial.
    pub trial: u32,
    /// Its cell.
    pub cell: String,
    /// The metrics in which it is far, the least likely by chance first; never empty.
    pub metrics: Vec<OutlyingMetric>,
    /// What it is, and what differed on the host at that time, in a sentence without its end.
    pub text: Said,
}

/// One metric of a trial far from the others.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct OutlyingMetric {
    /// Which metric.
    pub metric: Metric,
    /// Its value over the median of the cell's trials that are not far.
    pub ratio: f64,
    /// How likely a value as far or farther is in some trial of some cell of a run whose trials differ by chance alone,
    /// by Bonferroni, from 0 to 1.
    pub p_value: f64,
}

/// The value of one metric in one trial.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct MetricValue {
    /// Which metric.
    pub metric: Metric,
    /// In the metric's unit.
    pub value: Option<f64>,
}

/// One interval of one trial, for charts.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct SeriesPoint {
    /// End of the interval from the trial's origin.
    pub t_ns: u64,
    /// Which phase.
    pub phase: Option<Phase>,
    /// Right answers per second.
    pub throughput_per_s: f64,
    /// Median response time.
    pub p50_ns: Option<u64>,
    /// 99th percentile of response time.
    pub p99_ns: Option<u64>,
    /// Failures.
    pub failed: u64,
}

/// One cell over its valid trials.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct CellSummary {
    /// Cell identifier.
    pub cell: String,
    /// For people.
    pub label: String,
    /// Name of the target.
    pub target: String,
    /// The load in words, for example `128 connections`.
    pub load: String,
    /// Valid trials.
    pub trials_valid: u32,
    /// Void trials.
    pub trials_void: u32,
    /// Failed trials.
    pub trials_failed: u32,
    /// One entry a metric.
    pub metrics: Vec<MetricSummary>,
    /// From the execution of the target's program to its first good answer: the median over the trials that have it;
    /// absent for a server that prony did not start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cold_start_ns: Option<u64>,
    /// The start of one of its trials, with what was cut off as warm-up; absent without a valid trial that has
    /// intervals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<WarmUpLine>,
    /// Where the spread comes from; absent with fewer than two trials of at least two samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub levels: Option<Levels>,
    /// Memory, garbage collection and p99 of its middle trial over time; absent where none of it was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_view: Option<MemoryView>,
    /// What the target was confined to, in words; empty where nothing was asked for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub limits: String,
    /// What its CPU quota did; absent without one, or where no valid trial tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttling: Option<ThrottlingSummary>,
    /// The longest response and the use of the CPUs, which are shown and never compared.
    #[serde(default, skip_serializing_if = "Extremes::is_empty")]
    pub extremes: Extremes,
    /// Messages on streams; absent where none streams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<CellMessages>,
    /// The slowest requests and the first failures of its valid trials; absent in files of older versions.
    #[serde(default, skip_serializing_if = "CellNotable::is_empty")]
    pub notable: CellNotable,
    /// Where the time of some of them went, by the target's spans: those of `spans.json`, of each the first twelve spans;
    /// empty until `prony why` was given spans.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spans: Vec<RequestSpans>,
    /// Response-time quantiles of the merged histograms of the valid trials, for the percentile chart.
    pub curve: Vec<CurvePoint>,
    /// The same histograms in bins of equal width on a logarithmic axis; empty without a request, and in older files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub histogram: Vec<Bin>,
    /// What its mean response time is made of, in the order in which a request goes through it; parts that take no time
    /// are absent, and all are in files of older versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<TimePart>,
}

/// A part of the mean response time.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct TimePart {
    /// Which.
    pub part: ResponsePart,
    /// Mean over the answered requests of all valid trials, in nanoseconds. A request without this part counts as 0, so
    /// that the means of all parts add up to that of the response time.
    pub mean_ns: f64,
    /// The sum of the parts before it.
    pub from_ns: f64,
    /// The same with its own; the mean response time where it is the last.
    pub to_ns: f64,
}

/// Where the time of a response goes, from its intended moment on (METHOD §1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResponsePart {
    /// The generator's own lateness.
    PacerLag,
    /// Waiting for a connection.
    WaitConnection,
    /// Waiting for a stream: as many were open as the server or the plan allows.
    WaitStream,
    /// Waiting for the server's window.
    WaitWindow,
    /// Handing the request to the system.
    Write,
    /// From the request to the first byte of its answer.
    FirstByte,
    /// From the first byte to the last.
    Transfer,
}

/// What load tools print of a cell beside rate and quantiles, over its valid trials; absent where no trial has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Extremes {
    /// Longest response time of all trials, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_ns: Option<u64>,
    /// CPU time of the target over what it may use, its quota or its CPUs: 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<f64>,
    /// The same in the interval of any trial in which it was highest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_peak: Option<f64>,
}

impl Extremes {
    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The spread of one cell by level: samples within trials, and trials (METHOD §3, Kalibera and Jones, ISMM 2013).
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Levels {
    /// Throughput of a closed load, mean response time of an open one.
    pub metric: Metric,
    /// Valid trials.
    pub trials: u32,
    /// Samples in each.
    pub samples: u32,
    /// T₁ over the mean: standard deviation between the samples of one trial.
    pub sample_cv: f64,
    /// T₂ over the mean: standard deviation between trials, without what their samples bring in; 0 where clipped.
    pub trial_cv: f64,
    /// Whether T₂² came out below 0, because trials differ less than their samples would have them, and was set to 0.
    pub clipped: bool,
    /// T₂² / (T₁² + T₂²): near 1, restarting changes the answer; null where nothing varies.
    pub trial_share: Option<f64>,
    /// Samples in a trial that give the narrowest interval for the time spent; null where trials do not differ.
    pub samples_best: Option<u32>,
}

/// What a CPU quota did within the samples of a cell's valid trials.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct ThrottlingSummary {
    /// Valid trials that tell.
    pub trials: u32,
    /// Periods in which the target was stopped, of those in which it wanted to run, over all trials; 0 to 1.
    pub share: f64,
    /// Time for which it was stopped, added up over its CPUs: the mean of a trial.
    pub throttled_ns: f64,
    /// Whether the experiment varies the quota, so that being stopped is no surprise.
    pub is_asked: bool,
}

/// One bin of a histogram of response times.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Bin {
    /// Nanoseconds; what took as long is in it.
    pub from_ns: f64,
    /// Nanoseconds; what took as long is in the next.
    pub to_ns: f64,
    /// Share of all requests, those that were never answered too; from 0 to 1.
    pub share: f64,
}

/// One point of a percentile curve.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct CurvePoint {
    /// From 0 to 1.
    pub quantile: f64,
    /// Response time.
    pub ns: u64,
}

/// One metric of one cell over its valid trials.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct MetricSummary {
    /// Which metric.
    pub metric: Metric,
    /// Unit of the values.
    pub unit: Unit,
    /// Value of each valid trial that has one, in trial order.
    pub values: Vec<f64>,
    /// Of a time the value of all requests of all trials together, from merged histograms; of anything else, and in runs
    /// without histograms, the geometric mean of the values (arithmetic where a value is 0). Null without values.
    pub center: Option<f64>,
    /// Interval of the centre over trials; null where refused.
    pub interval: Option<Interval>,
    /// The interval with what a drift may add that was too small to be seen in the windows of the trials: each end half
    /// of the smallest drift seen further out. It is one of the steady value, where `interval` is one of the windows as
    /// they were. Absent where a trial was not steady or states no such drift, and in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with_drift: Option<Interval>,
    /// What the instrument's own error may add at the ends of the interval, as far as a calibration bounds it; absent
    /// without one, for what is no time, and in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instrument: Option<InstrumentPart>,
    /// Of a percentile: how many independent requests would leave it as uncertain as it is, over all trials. Far fewer
    /// than there were where one pause slows down many. Absent where it is not known, and in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_requests: Option<f64>,
    /// Why there is no interval or no value, and what would cure it.
    pub refused: Option<Said>,
}

/// What the instrument's own error may add to an interval of times: a bound, not a deviation.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct InstrumentPart {
    /// So far below the lower end of the recorded values the true one may lie.
    pub low_ns: f64,
    /// So far above the upper end.
    pub high_ns: f64,
    /// Whether `interval` contains both: so where one of them is above a twentieth of half its width. Else they are
    /// negligible and left out.
    pub added: bool,
}

/// The shift function of two targets at one load: the ratio of their response times at every quantile.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Shift {
    /// Cell in the numerator.
    pub a: String,
    /// Cell in the denominator.
    pub b: String,
    /// Blocks with a valid trial of both.
    pub blocks: u32,
    /// By quantile, rising.
    pub points: Vec<ShiftPoint>,
}

/// One quantile of a shift function.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct ShiftPoint {
    /// 0 to 1.
    pub quantile: f64,
    /// Response time of `a` over that of `b`, geometric mean over blocks.
    pub ratio: f64,
    /// The band at this quantile: with the confidence of the run it holds the true ratio at *all* quantiles at once.
    pub band: Interval,
}

/// Two targets at one load in one metric.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Comparison {
    /// Cell in the numerator.
    pub a: String,
    /// Cell in the denominator.
    pub b: String,
    /// Name of the target in the numerator; with its level where the two differ in that.
    pub a_target: String,
    /// Name of the target in the denominator, as above.
    pub b_target: String,
    /// The load of both in words; empty where they differ in it.
    pub load: String,
    /// Which metric.
    pub metric: Metric,
    /// Blocks in which both have a value.
    pub blocks: u32,
    /// What the answer rests on.
    #[serde(default)]
    pub basis: Basis,
    /// Ratio a/b: exp of the mean log ratio over blocks; null where a value is 0.
    pub ratio: Option<f64>,
    /// Its interval by paired t, jointly with all of the family; null where refused, or where the answer rests on
    /// differences.
    pub interval: Option<Interval>,
    /// Hodges–Lehmann estimate (signed-rank) of the ratio, or of the difference where the answer rests on that, as a
    /// check without the normal law.
    pub hodges_lehmann: Option<f64>,
    /// Its interval.
    pub hodges_lehmann_interval: Option<Interval>,
    /// Mean of a − b over blocks, in the unit of the metric.
    #[serde(default)]
    pub difference: Option<f64>,
    /// Its interval by paired t, jointly with all of the family where the answer rests on it; null where refused.
    #[serde(default)]
    pub difference_interval: Option<Interval>,
    /// Ratio of the arithmetic means, with Fieller's interval; null where it cannot be had.
    #[serde(default)]
    pub ratio_of_means: Option<RatioOfMeans>,
    /// The ratio by hierarchical bootstrap; null where it cannot be had.
    #[serde(default)]
    pub bootstrap: Option<BootstrapSummary>,
    /// p of the paired t test of no difference, of this comparison alone.
    pub p_value: Option<f64>,
    /// The same for the whole family of the run's verdicts: p over this comparison's share of the family, at most 1. In
    /// older files after Holm's correction over the metrics of the pair.
    #[serde(default, alias = "p_holm")]
    pub p_family: Option<f64>,
    /// The part of the family that it belongs to.
    #[serde(default)]
    pub part: FamilyPart,
    /// Confidence level of its paired t interval alone, with which all intervals of the family together hold the
    /// truth at the run's confidence; absent where refused, and in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<f64>,
    /// The same interval at the run's confidence, as if nothing else were asked; absent where refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alone: Option<Interval>,
    /// The answer.
    pub verdict: Verdict,
    /// Why there is no interval, and what would cure it.
    pub refused: Option<Said>,
}

/// What a comparison rests on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Log ratios of the blocks.
    #[default]
    Ratio,
    /// Differences of the blocks: shares, and values of which one is 0.
    Difference,
}

/// A ratio of arithmetic means (METHOD §3; Fieller, J. R. Stat. Soc. B 16, 1954).
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct RatioOfMeans {
    /// Mean of a over mean of b.
    pub ratio: f64,
    /// Its interval; unbounded on both sides where the interval of the denominator holds 0.
    pub interval: Interval,
    /// Where it is unbounded: ratios between these are excluded all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excluded: Option<Interval>,
}

/// An interval by hierarchical bootstrap (METHOD §4).
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct BootstrapSummary {
    /// Interval of the ratio.
    pub interval: Interval,
    /// How often was drawn.
    pub samples: u32,
    /// Whether blocks of seconds were drawn within the drawn trials; else trials only.
    pub seconds: bool,
}

/// Main effects of the factors and their two-way interactions, on the log values of the blocks that have every cell.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Effects {
    /// The factors with their levels in plan order; the first level is what the others are held against.
    pub factors: Vec<Factor>,
    /// One entry a metric, contrast: main effects first.
    pub effects: Vec<Effect>,
    /// Metrics that have none, by their keys: why, and what would cure it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics_refused: BTreeMap<String, Said>,
    /// Why there are none at all, and what would cure it.
    pub refused: Option<Said>,
}

/// A thing varied on purpose.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct Factor {
    /// `target`, `scenario`, `connections`, `rate`, `cpus`, or the name of a knob.
    pub name: String,
    /// Its levels in words.
    pub levels: Vec<String>,
}

/// A level held against the first one of its factor, over all levels of the other factors; or how much this effect
/// depends on the level of another factor.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Effect {
    /// Which metric.
    pub metric: Metric,
    /// One entry for a main effect, two for an interaction.
    pub of: Vec<EffectLevel>,
    /// Blocks in which every cell has a value.
    pub blocks: u32,
    /// Ratio of the levels; for an interaction the ratio of two such ratios.
    pub ratio: Option<f64>,
    /// Its interval by t over blocks.
    pub interval: Option<Interval>,
    /// p of ratio = 1.
    pub p_value: Option<f64>,
    /// The same after Holm's correction over all effects on all metrics.
    pub p_holm: Option<f64>,
    /// Whether it is shown at the level of the run after that correction.
    pub shown: bool,
    /// Why there is no interval, and what would cure it.
    pub refused: Option<Said>,
}

/// A level against the first one of its factor.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct EffectLevel {
    /// Name of the factor.
    pub factor: String,
    /// The level.
    pub level: String,
    /// The first level.
    pub against: String,
}

/// The answer to "is a better than b in this metric?".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// a is better, for times and sizes: lower; for throughput: higher.
    Faster,
    /// a is worse.
    Slower,
    /// The whole interval lies within the margin.
    Equivalent,
    /// The data do not decide.
    Inconclusive,
    /// No answer is given; `refused` says why.
    Refused,
}

/// A claim and its answer.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct ClaimResult {
    /// The statement in words.
    pub text: String,
    /// The answer.
    pub verdict: ClaimVerdict,
    /// The numbers it rests on, in words.
    pub evidence: Said,
    /// The kind of the claim, as in the plan.
    #[serde(default)]
    pub kind: String,
    /// The metric or the counter that it is about.
    #[serde(default)]
    pub metric: Option<ClaimMetric>,
    /// Unit of `value`; absent where there is none, and in older files, where that of the metric holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
    /// The ratio that was compared; null for claims about differences and values.
    pub ratio: Option<f64>,
    /// The difference or the value that was compared, in the unit of the metric.
    #[serde(default)]
    pub value: Option<f64>,
    /// The interval that decided, of whichever of the two there is.
    pub interval: Option<Interval>,
    /// Name by which a study points to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What was published and how the measurement answers it, where the claim comes from somebody else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<PublishedResult>,
}

/// The answer to a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClaimVerdict {
    /// The whole interval agrees.
    Holds,
    /// The whole interval contradicts.
    DoesNotHold,
    /// The interval holds both.
    Inconclusive,
    /// There are no valid trials to judge by.
    Void,
}
