//! The verdicts of a run as one family: how many there are, and how the chance of a false one is shared among them.

use crate::said::Said;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The part of the family that a comparison belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FamilyPart {
    /// A claim of the experiment is about it.
    Claimed,
    /// The headline metric of its pair.
    Headline,
    /// Everything else.
    #[default]
    Other,
    /// The hidden control against what it repeats: a family of its own.
    Control,
}

/// All verdicts of a run together. Some verdict is false in at most 1 − confidence of all runs.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Family {
    /// What the claims are about.
    pub claimed: Share,
    /// The headline metric of each pair, where no claim is about it.
    pub headline: Share,
    /// All other metrics of all pairs.
    pub other: Share,
    /// All of that in one sentence.
    pub text: Said,
}

/// One part of a family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Share {
    /// Quantities that are judged.
    pub count: u32,
    /// Its part of the chance of a false verdict, 0 to 1; the parts add up to 1.
    pub share: f64,
    /// Confidence level of each of its intervals alone; absent where it is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<f64>,
}
