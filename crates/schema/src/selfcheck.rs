//! `prony selfcheck --format json`: how often prony's statistics are right on made-up runs whose truth is known, worked
//! out on the user's own host.

use crate::version::SelfcheckVersion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The table.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct SelfcheckFile {
    /// Format and version.
    pub schema: SelfcheckVersion,
    /// Version of prony.
    pub prony: String,
    /// Seed of everything that was drawn.
    pub seed: u64,
    /// How long it took, in seconds.
    pub took_s: f64,
    /// Whether every row passes.
    pub passes: bool,
    /// One row for each question.
    pub rows: Vec<SelfcheckRow>,
}

/// One question, asked of many made-up runs.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct SelfcheckRow {
    /// What is counted.
    pub proof: SelfcheckProof,
    /// Blocks of each run; values of a series for [`SelfcheckProof::SteadyFlagged`].
    pub size: u32,
    /// Made-up runs that were asked.
    pub runs: u64,
    /// In how many it was so.
    pub count: u64,
    /// `count` over `runs`, 0 to 1.
    pub share: f64,
    /// Smallest share that is right.
    pub least: f64,
    /// Largest share that is right.
    pub most: f64,
    /// How far chance takes the share of so many runs: three standard errors.
    pub chance: f64,
    /// Whether the share lies within `least` and `most`, as far as so many runs can tell.
    pub passes: bool,
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SelfcheckProof {
    /// Two equal targets: throughput is called faster or slower.
    FalseDifference,
    /// Two targets that differ by 10 %: the faster one is called so.
    DifferenceFound,
    /// The interval of the ratio of two targets holds the true one.
    RatioCovered,
    /// The interval of the mean of a queue (M/M/1 at 85 % load) holds the true one.
    MeanCovered,
    /// That of its median.
    P50Covered,
    /// That of its 99th percentile.
    P99Covered,
    /// A ladder that bends: a knee is claimed, within 25 % of where two asymptotes cross.
    KneeFound,
    /// A ladder that does not bend: a knee is claimed.
    FalseKnee,
    /// A window without a move, whose seconds are alike (autocorrelation 0.7): it is called anything but flat.
    SteadyFlagged,
}

impl SelfcheckProof {
    /// For people, in English.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::FalseDifference => "equal targets called different",
            Self::DifferenceFound => "a difference of 10 % found",
            Self::RatioCovered => "ratio within its interval",
            Self::MeanCovered => "mean of a queue at 85 % within its interval",
            Self::P50Covered => "p50 of a queue at 85 % within its interval",
            Self::P99Covered => "p99 of a queue at 85 % within its interval",
            Self::KneeFound => "knee of a ladder that bends found",
            Self::FalseKnee => "knee claimed where there is none",
            Self::SteadyFlagged => "steady window called unsteady",
        }
    }
}
