//! `ledger --format json`: every published claim with its verdict, what was measured, and what differs.
//!
//! Invariants: a verdict about a measurement names its run; a row that cannot be tested names its reason.

use crate::counter_metric::ClaimMetric;
use crate::metric::Unit;
use crate::published::{PublishedVerdict, Span};
use crate::study::{ReasonCode, StudyThing, Words};
use crate::version::LedgerVersion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// All claims of all studies.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct LedgerFile {
    /// Format and version.
    pub schema: LedgerVersion,
    /// The articles, in the order of their names.
    pub articles: Vec<LedgerArticle>,
    /// How many claims have which verdict.
    pub counts: BTreeMap<LedgerVerdict, u32>,
    /// Claims that are decided: reproduced, another size, contradicted or impossible.
    pub decided: u32,
    /// Things that the articles use.
    #[serde(default)]
    pub things: u32,
    /// Those of them that prony does.
    #[serde(default)]
    pub real: u32,
    /// Folders of runs that could not be read, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// One article.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct LedgerArticle {
    /// Its name.
    pub article: String,
    /// What it is about.
    pub title: Words,
    /// Its claims by number.
    pub rows: Vec<LedgerRow>,
    /// What it uses, and what of prony does it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub things: Vec<StudyThing>,
}

/// How a published claim is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LedgerVerdict {
    /// Within the tolerance of the published number.
    Reproduced,
    /// Same direction, more than published.
    Exceeded,
    /// Same direction, less than published.
    Weaker,
    /// Less than published, and perhaps no difference at all.
    WeakerOrNone,
    /// No difference where one was published, or another direction.
    Contradicted,
    /// A law excludes the figures as printed.
    Impossible,
    /// The data do not decide.
    Inconclusive,
    /// There are too few valid trials.
    Void,
    /// No run has answered it yet.
    NotRun,
    /// It cannot be tested here.
    CannotTest,
}

impl LedgerVerdict {
    /// In the order in which they are counted.
    pub const ALL: [Self; 10] = [
        Self::Reproduced,
        Self::Exceeded,
        Self::Weaker,
        Self::WeakerOrNone,
        Self::Contradicted,
        Self::Impossible,
        Self::Inconclusive,
        Self::Void,
        Self::NotRun,
        Self::CannotTest,
    ];

    /// Whether the claim is answered.
    #[must_use]
    pub const fn is_decided(self) -> bool {
        matches!(
            self,
            Self::Reproduced
                | Self::Exceeded
                | Self::Weaker
                | Self::WeakerOrNone
                | Self::Contradicted
                | Self::Impossible
        )
    }
}

impl From<PublishedVerdict> for LedgerVerdict {
    fn from(verdict: PublishedVerdict) -> Self {
        match verdict {
            PublishedVerdict::Reproduced => Self::Reproduced,
            PublishedVerdict::Exceeded => Self::Exceeded,
            PublishedVerdict::Weaker => Self::Weaker,
            PublishedVerdict::WeakerOrNone => Self::WeakerOrNone,
            PublishedVerdict::Contradicted => Self::Contradicted,
            PublishedVerdict::Inconclusive => Self::Inconclusive,
            PublishedVerdict::Void => Self::Void,
        }
    }
}

/// One claim.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct LedgerRow {
    /// Number of the claim.
    pub number: u32,
    /// The claim.
    pub text: Words,
    /// Its numbers as printed.
    pub printed: String,
    /// Section or table.
    pub place: String,
    /// The answer.
    pub verdict: LedgerVerdict,
    /// Name of the experiment that tests it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment: Option<String>,
    /// The run folder that answers it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The run was shortened.
    #[serde(default)]
    pub short: bool,
    /// What was measured, one entry a claim of the experiment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measured: Vec<LedgerMeasure>,
    /// What the audit of the printed table found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit: Option<LedgerAudit>,
    /// Why it cannot be tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<ReasonCode>,
    /// The reason in words, or what a measurement here cannot show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<Words>,
    /// What differs from the published conditions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differs: Vec<LedgerDifference>,
}

/// What one claim of an experiment came to.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct LedgerMeasure {
    /// `id` of the claim.
    pub claim: String,
    /// What was measured; absent for loads at a knee.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<ClaimMetric>,
    /// Unit of the numbers; absent for ratios.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
    /// As printed; absent where only a direction or an order was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<Span>,
    /// The measured number; absent for orders and where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Its interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Span>,
    /// The answer.
    pub verdict: LedgerVerdict,
}

/// What the audit of a printed table found.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct LedgerAudit {
    /// Whether a law excludes the figures.
    pub impossible: bool,
    /// The rule.
    pub rule: String,
    /// The law that is applied, with its source.
    pub law: String,
    /// What the law allows and what is printed.
    pub bound: String,
}

/// What differs between the published conditions and those here.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct LedgerDifference {
    /// Which condition.
    pub what: Condition,
    /// As published.
    pub published: String,
    /// As measured; empty where the run does not say.
    pub here: String,
}

/// A condition of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// CPUs of the machine.
    Cores,
    /// Connections.
    Connections,
    /// Offered rate.
    Rate,
    /// CPU quota.
    Cpus,
    /// Memory limit.
    Memory,
    /// Versions.
    Versions,
}
