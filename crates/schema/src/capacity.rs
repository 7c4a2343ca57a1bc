//! Capacity (METHOD §6): the ladder or the search that a plan asks for, and what the analysis says of it.
//!
//! The plan's part makes a run a *knee run*: an ordinary run whose cells are the rungs of a ladder, or whose trials are
//! chosen one after the other by a search. The analysis' part is computed from the trials alone, so `prony report`
//! makes it again.

use crate::analysis::Interval;
use crate::metric::Metric;
use crate::said::Said;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What makes a run a knee run.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct CapacityPlan {
    /// What the rungs differ in.
    pub axis: LoadAxis,
    /// In which order they are visited.
    pub order: LadderOrder,
    /// The search under an objective; absent for a ladder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchPlan>,
    /// What was left out or changed of what was asked for, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Said>,
}

/// What the levels of load are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LoadAxis {
    /// Concurrency: connections of a closed load, or the users that share them.
    Connections,
    /// Offered requests per second.
    Rate,
}

/// The order in which a ladder is visited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LadderOrder {
    /// Every block in an order of its own.
    #[default]
    Random,
    /// Odd blocks rise, even blocks fall: what depends on where one comes from shows.
    UpDown,
}

/// A search for the highest rate that meets an objective.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct SearchPlan {
    /// Conditions that must all hold, as written, for example `p99 < 50ms`.
    pub objective: Vec<String>,
    /// First rate.
    pub start_per_s: f64,
    /// Lowest rate whose trial is long enough for the objective's percentiles.
    pub lowest_per_s: f64,
    /// Highest rate to be tried.
    pub highest_per_s: f64,
    /// Wanted width of the answer as a ratio less 1.
    pub tolerance: f64,
    /// Passes that make a rate verified.
    pub confirmations: u32,
    /// Most trials.
    pub trials_max: u32,
    /// No trial begins later than this after the first; unlimited where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_ns: Option<u64>,
}

/// One ladder, or one search: a target under one scenario and with one set of limits.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Capacity {
    /// Name of the target.
    pub target: String,
    /// Scenario, limits and connections in words, where the run has several ladders of one target; else empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub level: String,
    /// What the levels are.
    pub axis: LoadAxis,
    /// The answer in one sentence, with its certainty or the reason why there is none.
    pub answer: Said,
    /// The three-dimensional baseline: one row a level of load, rising.
    pub rows: Vec<CapacityRow>,
    /// The highest throughput that the target gave, where the ladder reached it.
    pub highest: Option<HighestThroughput>,
    /// Why there is none, and what would cure it.
    pub highest_refused: Option<Said>,
    /// Where throughput and p95 bend.
    pub knees: Vec<Knee>,
    /// Laws of throughput over the levels, compared; absent without a spread between trials, in searches, and in older
    /// files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scaling: Option<Scaling>,
    /// The Universal Scalability Law over the levels.
    pub usl: Option<UslFit>,
    /// Why there is none, and what would cure it.
    pub usl_refused: Option<Said>,
    /// Up against down, by level; empty where the order was random.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hysteresis: Vec<Hysteresis>,
    /// The search under an objective; absent for a ladder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchResult>,
}

/// One level of load.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct CapacityRow {
    /// Cell identifier.
    pub cell: String,
    /// Connections (or users), or requests per second offered.
    pub load: f64,
    /// Valid trials.
    pub trials_valid: u32,
    /// Right answers per second.
    pub throughput_per_s: Estimate,
    /// 95th percentile of response time.
    pub p95_ns: Estimate,
    /// Failed over completed and failed.
    pub error_rate: Estimate,
    /// Divided second difference of ln throughput over ln load; absent at both ends.
    pub second_difference: Option<f64>,
    /// The operational laws at this level.
    pub laws: Laws,
}

/// A value over trials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Estimate {
    /// Geometric mean (arithmetic where a value is 0); null without values.
    pub value: Option<f64>,
    /// Its interval; null where refused.
    pub interval: Option<Interval>,
}

/// The operational laws (Denning & Buzen, 1978) at one level; what cannot be known is null.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Laws {
    /// X·(R + Z): the concurrency that throughput and response time imply.
    pub concurrency: Option<f64>,
    /// That over the concurrency asked for; ladders of connections only.
    pub concurrency_ratio: Option<f64>,
    /// Whether the ratio is 1 within 2 %; null where requests failed, whose times are not known.
    pub holds: Option<bool>,
    /// U = X·D: CPUs that the target kept busy.
    pub cpus_busy: Option<f64>,
    /// min(1/D_max, N/(Z + D)): what the CPUs, and users that never wait, allow. D is the mean response time of the
    /// lowest level.
    pub bound_per_s: Option<f64>,
    /// Throughput over that bound.
    pub bound_share: Option<f64>,
}

/// The highest throughput.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct HighestThroughput {
    /// Requests per second: the highest throughput at the levels of the ladder, by the law that fits; without one the
    /// geometric mean over the levels that do not differ from the highest.
    pub per_s: f64,
    /// Its interval; null with fewer than five blocks.
    pub interval: Option<Interval>,
    /// Lowest of the levels that do not differ from the highest.
    pub from_load: f64,
    /// Highest of these levels.
    pub to_load: f64,
    /// Why there is no interval.
    pub refused: Option<Said>,
}

/// Where a curve bends, or why no such place is claimed.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Knee {
    /// Throughput or p95.
    pub metric: Metric,
    /// Where the asymptotes of the fitted law cross, or the break of the segmented regression where there is no law (p95);
    /// null where none is claimed.
    pub at: Option<f64>,
    /// Its interval: over all laws that are not distinguished, or by profile likelihood; an absent end lies at or beyond the
    /// end of the ladder.
    pub interval: Option<Interval>,
    /// The law whose asymptotes cross there; absent where it is the break of the segmented regression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub law: Option<ScalingLawName>,
    /// Slope of ln value over ln load below the break, claimed or not.
    pub slope_before: Option<f64>,
    /// The same above it.
    pub slope_after: Option<f64>,
    /// BIC of the best line without a break less that of the broken one; 10 and more are needed.
    pub delta_bic: Option<f64>,
    /// What Kneedle finds (S = 1, logarithms); a description, not a claim.
    pub kneedle: Option<f64>,
    /// The level of the strongest bend by second differences of the logarithms; a description, not a claim.
    pub sharpest: Option<f64>,
    /// Why no knee is claimed, and what would cure it.
    pub refused: Option<Said>,
}

/// Laws of throughput over load on one ladder (ADR 0020).
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Scaling {
    /// The best law that fits; null where none does.
    pub best: Option<ScalingLawName>,
    /// All that were tried, the best first, those that do not fit last.
    pub laws: Vec<ScalingLaw>,
    /// Throughput beyond the ladder: the value of the best law, the interval over all that are not distinguished from it.
    pub predictions: Vec<UslPoint>,
    /// Why there are no predictions, and what would cure it.
    pub refused: Option<Said>,
    /// What came of it in one sentence.
    pub text: Said,
}

/// One law on one ladder.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct ScalingLaw {
    /// Which.
    pub law: ScalingLawName,
    /// Whether its lack of fit is no larger than trials differ.
    pub fits: bool,
    /// Whether it fits and the trials do not tell it apart from the best.
    pub is_alike: bool,
    /// p of its lack of fit against the spread between trials.
    pub p_fit: f64,
    /// AICc above the first law's; null where there are too few trials for it.
    pub delta_aicc: Option<f64>,
    /// Largest deviation of a level from the law, as a share.
    pub misfit: f64,
    /// Servers of the queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub servers: Option<f64>,
}

/// A law of throughput X over load N.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ScalingLawName {
    /// C.
    Flat,
    /// γN.
    Proportional,
    /// min(γN, C): the asymptotic bounds.
    Bounds,
    /// γN / (1 + (γN/C)^k)^(1/k).
    SoftBounds,
    /// M/M/c//N: users with think time and c servers, exactly.
    Queue,
    /// Users with think time and two single servers, exactly.
    TwoStations,
    /// γN / (1 + α(N − 1) + βN(N − 1)).
    Usl,
    /// min(γN, C(γN/C)^−δ).
    Shedding,
    /// γN (1 + (γN/C)^k)^(−(1 + δ)/k).
    SoftShedding,
}

/// The Universal Scalability Law X(N) = γN/(1 + α(N − 1) + βN(N − 1)), fitted.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct UslFit {
    /// Contention, 0 to 1.
    pub alpha: Estimate,
    /// Coherence, 0 to 1.
    pub beta: Estimate,
    /// Throughput of one.
    pub gamma: Estimate,
    /// N* = √((1 − α)/β), where throughput is highest; a null value is infinite, because β is 0.
    pub peak: Estimate,
    /// X(N*); a null value grows without end.
    pub peak_per_s: Estimate,
    /// Whether N* lies beyond the highest level, so that it is a prediction: in older files only.
    pub peak_is_beyond: bool,
    /// Whether trials show that throughput falls beyond N*; without that no peak is given. True in older files.
    #[serde(default = "shown")]
    pub peak_is_shown: bool,
    /// Largest deviation of a level from the law, as a share.
    pub misfit: f64,
    /// What the law says beyond the ladder: in older files only, now under `scaling`.
    #[serde(default)]
    pub predictions: Vec<UslPoint>,
}

const fn shown() -> bool {
    true
}

/// One prediction.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct UslPoint {
    /// Concurrency.
    pub n: f64,
    /// Throughput.
    pub per_s: Estimate,
    /// Whether it lies beyond the highest level measured.
    pub is_beyond: bool,
}

/// One level on the way up against the same on the way down.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Hysteresis {
    /// The level.
    pub load: f64,
    /// Throughput or p95.
    pub metric: Metric,
    /// Pairs of passes that have both.
    pub pairs: u32,
    /// Up over down; null without pairs.
    pub ratio: Option<f64>,
    /// Its interval by paired t; null where refused.
    pub interval: Option<Interval>,
    /// Whether it differs from 1 beyond the margin, also after Holm's correction over all levels.
    pub is_shown: bool,
    /// Why there is no interval.
    pub refused: Option<Said>,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct SearchResult {
    /// The conditions, as written.
    pub objective: Vec<String>,
    /// The highest rate that passed every confirmation; null where none did.
    pub verified_per_s: Option<f64>,
    /// Where the limit lies, at the run's confidence: the rate at which passing turns into failing. An absent end was
    /// not reached.
    pub limit: Option<Interval>,
    /// Passes that make a rate verified.
    pub confirmations: u32,
    /// Of the verified rate's confirmations, those that came right after a rate that failed: it passes when reached
    /// from above, too.
    pub after_failure: u32,
    /// How it ended.
    pub end: SearchEnd,
    /// Why there is no answer, or what limits it, and what would cure it.
    pub refused: Option<Said>,
    /// Every trial in order.
    pub steps: Vec<SearchStep>,
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SearchEnd {
    /// A rate is verified.
    Verified,
    /// The highest rate that was allowed is verified; the limit lies above it.
    AtHighest,
    /// Even the lowest rate that can be judged fails.
    NothingPasses,
    /// Trials or budget were used up, or the user interrupted.
    CutOff,
}

/// One trial of a search.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct SearchStep {
    /// Number of the trial.
    pub trial: u32,
    /// Offered rate.
    pub rate_per_s: f64,
    /// What it was for.
    pub purpose: SearchPurpose,
    /// Whether the objective was met; null where the trial could not be judged.
    pub passed: Option<bool>,
    /// The numbers it was judged by, in words.
    pub reasons: Vec<Said>,
}

/// What a trial of a search is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SearchPurpose {
    /// Finding a rate that passes and one that fails.
    Bracket,
    /// Narrowing.
    Bisect,
    /// Verifying.
    Confirm,
}
