//! Claims as a plan holds them: resolved to cells and bounds, by kind.
//!
//! Invariant: claims of files that know no kinds are read as what they were, claims about ratios.
//! Absent on purpose: how a claim is judged (the analyze crate), and how it is written (`experiment`).

use crate::counter_metric::ClaimMetric;
use crate::published::{PublishedPlan, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// A claim, resolved to cells and bounds.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct ClaimPlan {
    /// The statement in words.
    pub text: String,
    /// What is compared, or what bends; absent where nothing is leaked, which is about every resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<ClaimMetric>,
    /// Name by which a study points to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What was published, where it comes from somebody else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<PublishedPlan>,
    /// What is claimed of it.
    #[serde(flatten)]
    pub test: ClaimTest,
}

/// What is claimed of a metric; cells by identifier, numbers in the unit of the metric.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ClaimTest {
    /// The ratio of two cells.
    Ratio {
        /// Cell in the numerator.
        numerator: String,
        /// Cell in the denominator.
        denominator: String,
        /// How the ratio is compared with the bound.
        comparison: ClaimComparison,
        /// Positive.
        bound: f64,
    },
    /// The difference of two cells.
    Difference {
        /// Cell that is taken from.
        minuend: String,
        /// Cell that is taken away.
        subtrahend: String,
        /// How the difference is compared with the bound.
        comparison: ClaimComparison,
        /// May be negative.
        bound: f64,
    },
    /// The value of one cell.
    Threshold {
        /// The cell.
        cell: String,
        /// How its value is compared with the bound.
        comparison: ClaimComparison,
        /// Not negative.
        bound: f64,
    },
    /// Each cell is better than the next.
    Ordering {
        /// At least two, from best to worst.
        cells: Vec<String>,
    },
    /// Two cells differ by less than the margin.
    Equivalent {
        /// One cell.
        a: String,
        /// The other.
        b: String,
        /// How much difference does not matter.
        margin: ClaimMargin,
    },
    /// A cell is not worse than another by the margin or more.
    NoWorse {
        /// The cell.
        cell: String,
        /// What it is held against.
        than: String,
        /// How much worse does not matter.
        margin: ClaimMargin,
    },
    /// The knee of a target's ladder, which `prony knee` looks for.
    Knee {
        /// Name of the target.
        target: String,
        /// How the load at the knee is compared with the bound.
        comparison: ClaimComparison,
        /// Connections or requests per second, as the ladder.
        bound: f64,
    },
    /// A number lies between two bounds.
    Within {
        /// Which number.
        quantity: ClaimQuantity,
        /// The bounds; at least one.
        span: Span,
    },
    /// A target leaks nothing, as `prony soak` sees it.
    NoLeak {
        /// Name of the target.
        target: String,
    },
}

impl ClaimTest {
    /// Whether it is about the load at which something bends, which only a ladder shows.
    #[must_use]
    pub const fn is_about_knee(&self) -> bool {
        matches!(self, Self::Knee { .. } | Self::Within { quantity: ClaimQuantity::Knee { .. }, .. })
    }

    /// The name used in files.
    #[must_use]
    pub const fn key(&self) -> &'static str {
        match self {
            Self::Ratio { .. } => "ratio",
            Self::Difference { .. } => "difference",
            Self::Threshold { .. } => "threshold",
            Self::Ordering { .. } => "ordering",
            Self::Equivalent { .. } => "equivalent",
            Self::NoWorse { .. } => "no_worse",
            Self::Knee { .. } => "knee",
            Self::Within { .. } => "within",
            Self::NoLeak { .. } => "no_leak",
        }
    }

    /// The cells that it speaks of; none where it is about a target as a whole.
    #[must_use]
    pub fn cells(&self) -> Vec<&str> {
        match self {
            Self::Ratio { numerator: a, denominator: b, .. }
            | Self::Difference { minuend: a, subtrahend: b, .. }
            | Self::Equivalent { a, b, .. }
            | Self::NoWorse { cell: a, than: b, .. } => vec![a, b],
            Self::Threshold { cell, .. } => vec![cell],
            Self::Ordering { cells } => cells.iter().map(String::as_str).collect(),
            Self::Within { quantity, .. } => quantity.cells(),
            Self::Knee { .. } | Self::NoLeak { .. } => Vec::new(),
        }
    }
}

/// A number that lies between two bounds; cells by identifier.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "of", rename_all = "snake_case")]
pub enum ClaimQuantity {
    /// The ratio of two cells.
    Ratio {
        /// Cell in the numerator.
        numerator: String,
        /// Cell in the denominator.
        denominator: String,
    },
    /// The difference of two cells, in the unit of the metric.
    Difference {
        /// Cell that is taken from.
        minuend: String,
        /// Cell that is taken away.
        subtrahend: String,
    },
    /// The value of one cell, in the unit of the metric.
    Value {
        /// The cell.
        cell: String,
    },
    /// The load at the knee of a target's ladder.
    Knee {
        /// Name of the target.
        target: String,
    },
}

impl ClaimQuantity {
    /// The cells that it speaks of.
    #[must_use]
    pub fn cells(&self) -> Vec<&str> {
        match self {
            Self::Ratio { numerator: a, denominator: b } | Self::Difference { minuend: a, subtrahend: b } => {
                vec![a, b]
            }
            Self::Value { cell } => vec![cell],
            Self::Knee { .. } => Vec::new(),
        }
    }
}

/// How large a difference does not matter.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClaimMargin {
    /// As a ratio: 0.02 is from 1/1.02 to 1.02. Above 0, at most 1.
    Ratio(f64),
    /// As a difference in the unit of the metric. Above 0.
    Difference(f64),
}

/// Claims of any version: those of older files have no kind, and are about ratios.
pub(crate) fn of_any_version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ClaimPlan>, D::Error> {
    let stored = Vec::<serde_json::Map<String, serde_json::Value>>::deserialize(deserializer)?;
    let claim = |mut claim: serde_json::Map<String, serde_json::Value>| {
        claim.entry("kind").or_insert_with(|| "ratio".into());
        serde_json::from_value(claim.into()).map_err(serde::de::Error::custom)
    };
    stored.into_iter().map(claim).collect()
}

/// How a number is compared with its bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub enum ClaimComparison {
    /// `>=`
    #[serde(rename = ">=")]
    AtLeast,
    /// `>`
    #[serde(rename = ">")]
    MoreThan,
    /// `<=`
    #[serde(rename = "<=")]
    AtMost,
    /// `<`
    #[serde(rename = "<")]
    LessThan,
}

impl ClaimComparison {
    /// The sign used in files.
    #[must_use]
    pub const fn sign(self) -> &'static str {
        match self {
            Self::AtLeast => ">=",
            Self::MoreThan => ">",
            Self::AtMost => "<=",
            Self::LessThan => "<",
        }
    }

    /// Whether `value` keeps the bound.
    #[must_use]
    pub fn holds(self, value: f64, bound: f64) -> bool {
        match self {
            Self::AtLeast => value >= bound,
            Self::MoreThan => value > bound,
            Self::AtMost => value <= bound,
            Self::LessThan => value < bound,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_without_a_kind_are_about_ratios() {
        #[derive(Deserialize)]
        struct Stored {
            #[serde(deserialize_with = "of_any_version")]
            claims: Vec<ClaimPlan>,
        }
        let text = r#"{"claims": [{"text": "t", "metric": "p99", "numerator": "c1", "denominator": "c2",
            "comparison": "<=", "bound": 0.9}, {"text": "t", "metric": "p99", "kind": "ordering", "cells": ["c1", "c2"]}]}"#;
        let stored: Stored = serde_json::from_str(text).unwrap();
        assert_eq!((stored.claims[0].test.key(), stored.claims[1].test.key()), ("ratio", "ordering"));
        assert_eq!(stored.claims[1].test.cells(), ["c1", "c2"]);
        for claim in stored.claims {
            let text = serde_json::to_string(&[&claim]).unwrap();
            let back: Stored = serde_json::from_str(&format!("{{\"claims\": {text}}}")).unwrap();
            assert_eq!(back.claims, [claim]);
        }
    }
}
