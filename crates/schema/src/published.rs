//! What somebody published: where it stands, the number as printed, under which conditions, and how a measurement
//! answers it.
//!
//! Invariants: a number is in the unit of its metric, or a ratio without unit; an absent end of a range is unbounded.
//! Absent on purpose: how a measurement is judged (`analyze`), and whole articles (`ledger`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Count, PerSecond};

/// `source` of a claim: where it was published.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClaimSource {
    /// Which article, as its file under `studies/` is named.
    pub article: String,
    /// Section or table, in words.
    pub place: String,
}

/// `published` of a claim: a number, a range, or a bound.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a number such as 1.07, or text such as \"12.8k\", \"8ms to 12ms\" or \"> 40\""
)]
pub enum PublishedUse {
    /// A ratio.
    Number(f64),
    /// A ratio or a value with its unit, two of them with `to`, or one after a sign.
    Text(String),
}

/// `direction` of a published ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// The first target has more of the metric.
    More,
    /// It has less.
    Less,
    /// There is no difference.
    Same,
}

/// `conditions`: under which a number was published; what is not printed is absent.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Conditions {
    /// Connections, or users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<Count>,
    /// Requests per second that were offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<PerSecond>,
    /// Pause between an answer and the next request, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think: Option<String>,
    /// CPU quota of the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<f64>,
    /// Memory limit of the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
    /// CPUs of the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<u32>,
    /// The load tool with its arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Versions of what was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub versions: Option<String>,
    /// Length of one measurement, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<String>,
}

impl Conditions {
    /// What is printed here, and where nothing is, what `rest` has.
    #[must_use]
    pub fn over(&self, rest: &Self) -> Self {
        Self {
            connections: self.connections.or(rest.connections),
            rate: self.rate.or(rest.rate),
            think: self.think.clone().or_else(|| rest.think.clone()),
            cpus: self.cpus.or(rest.cpus),
            memory: self.memory.or(rest.memory),
            cores: self.cores.or(rest.cores),
            tool: self.tool.clone().or_else(|| rest.tool.clone()),
            versions: self.versions.clone().or_else(|| rest.versions.clone()),
            length: self.length.clone().or_else(|| rest.length.clone()),
        }
    }

    /// Whether nothing is printed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// From one end to another; an absent end is unbounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Span {
    /// Lower end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

/// What was published, as a plan holds it.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct PublishedPlan {
    /// Where.
    pub source: ClaimSource,
    /// The number as printed; absent where only a direction or an order was published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Span>,
    /// The published direction of a ratio.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// Under which conditions, as far as they are printed with the claim.
    #[serde(default, skip_serializing_if = "Conditions::is_empty")]
    pub conditions: Conditions,
}

/// How a measurement answers what was published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PublishedVerdict {
    /// The whole interval lies within the tolerance of the published number.
    Reproduced,
    /// Same direction, and more than published. Of a plain value: larger.
    Exceeded,
    /// Same direction, and less than published. Of a plain value: smaller.
    Weaker,
    /// Less than published, and perhaps no difference at all: the size is excluded, the direction is not shown.
    WeakerOrNone,
    /// No difference where one was published, the opposite one, or one where none was.
    Contradicted,
    /// The interval leaves several of these.
    Inconclusive,
    /// There are no valid trials to judge by.
    Void,
}

impl PublishedVerdict {
    /// Whether the published number is answered, in whichever way.
    #[must_use]
    pub const fn is_decided(self) -> bool {
        matches!(
            self,
            Self::Reproduced | Self::Exceeded | Self::Weaker | Self::WeakerOrNone | Self::Contradicted
        )
    }
}

/// What was published beside its answer.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct PublishedResult {
    /// The number as printed; absent where only a direction or an order was published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Span>,
    /// What counts as the published number: it with its tolerance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub band: Option<Span>,
    /// The answer.
    pub verdict: PublishedVerdict,
}
