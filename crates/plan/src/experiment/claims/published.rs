//! `published`, `tolerance`, `direction` and two-sided bounds: from what is printed to the band that counts as it.
//!
//! Invariants: a tolerance is chosen in the file, before the run; a printed bound (`> 40`) has none. The band of a ratio
//! or a value p at a tolerance t is p/(1+t) to p·(1+t), as far on either side on a logarithmic scale.

use super::bound::{amount, load, number, ratio, sign};
use crate::defaults;
use schema::counter_metric::ClaimMetric;
use schema::experiment::MarginUse;
use schema::plan::ClaimComparison;
use schema::published::{Direction, PublishedUse, Span};
use schema::text::Problem;

/// In which unit a number is written.
#[derive(Clone, Copy)]
pub(super) enum Scale<'a> {
    /// None: a ratio.
    Ratio,
    /// That of the metric.
    Of(&'a ClaimMetric),
    /// That of the metric, as a difference of two targets.
    Between(&'a ClaimMetric),
}

/// Whether a number is written with a unit, as `850us`: beside two targets that makes it a difference, no ratio.
pub(super) fn has_unit(given: &PublishedUse) -> bool {
    let PublishedUse::Text(text) = given else { return false };
    text.trim().ends_with(|last: char| last.is_alphabetic() || last == '%')
}

/// The two ends of `1.2 to 1.5`; `None` where the text is a plain bound.
pub(super) fn two_sided(
    text: &str,
    key: &str,
    one: impl Fn(&str) -> Result<(ClaimComparison, f64), Problem>,
) -> Result<Option<Span>, Problem> {
    let Some((low, high)) = text.split_once(" to ") else { return Ok(None) };
    let ((_, low), (_, high)) = (one(&format!(">= {}", low.trim()))?, one(&format!("<= {}", high.trim()))?);
    if low > high {
        let cause = format!("`{text}` ends before it begins");
        return Err(Problem::at(key, cause, "write the smaller number first"));
    }
    Ok(Some(Span { low: Some(low), high: Some(high) }))
}

/// Both forms of a bound: `>= 1.0` and `1.2 to 1.5`.
pub(super) fn ratio_span(text: &str, key: &str) -> Result<Option<Span>, Problem> {
    two_sided(text, key, |text| ratio(text, key))
}

pub(super) fn load_span(text: &str, key: &str) -> Result<Option<Span>, Problem> {
    two_sided(text, key, |text| load(text, key))
}

pub(super) fn number_span(
    text: &str,
    metric: &ClaimMetric,
    signed: bool,
    key: &str,
) -> Result<Option<Span>, Problem> {
    two_sided(text, key, |text| number(text, metric, signed, key))
}

/// The number as printed: one, a range, or a bound.
pub(super) fn value(given: &PublishedUse, scale: Scale<'_>, key: &str) -> Result<Span, Problem> {
    let text = match given {
        PublishedUse::Number(number) => number.to_string(),
        PublishedUse::Text(text) => text.trim().to_owned(),
    };
    let one = |text: &str| match scale {
        Scale::Ratio => ratio(text, key),
        Scale::Of(metric) | Scale::Between(metric) => number(text, metric, false, key),
    };
    if let Some(span) = two_sided(&text, key, one)? {
        return Ok(span);
    }
    if sign(&text).is_some() {
        let (comparison, bound) = one(&text)?;
        return Ok(match comparison {
            ClaimComparison::AtLeast | ClaimComparison::MoreThan => Span { low: Some(bound), high: None },
            ClaimComparison::AtMost | ClaimComparison::LessThan => Span { low: None, high: Some(bound) },
        });
    }
    let (_, number) = one(&format!(">= {text}"))?;
    Ok(Span { low: Some(number), high: Some(number) })
}

/// What counts as the published number.
pub(super) fn band(
    value: Span,
    tolerance: Option<&MarginUse>,
    scale: Scale<'_>,
    key: &str,
) -> Result<Span, Problem> {
    let (Some(low), Some(high)) = (value.low, value.high) else { return Ok(value) };
    match (tolerance, scale) {
        (Some(MarginUse::Text(text)), Scale::Of(metric) | Scale::Between(metric)) => {
            let remedy = "write a share such as 0.1, or a difference in the unit of the metric";
            let by = amount(text.trim(), metric).map_err(|cause| Problem::at(key, cause, remedy))?;
            Ok(Span { low: Some((low - by).max(0.0)), high: Some(high + by) })
        }
        (Some(MarginUse::Text(_)), Scale::Ratio) => {
            Err(Problem::at(key, "a ratio has no unit", "write a share such as 0.1"))
        }
        (Some(MarginUse::Share(share)), _) if !(*share > 0.0 && *share <= 1.0) => Err(Problem::at(
            key,
            format!("a tolerance of {share} is out of range"),
            "give a share above 0 and at most 1",
        )),
        _ if low == 0.0 => Err(Problem::at(
            key,
            "a share of a published 0 is 0",
            "write the tolerance as a difference, such as tolerance = \"0.1%\"",
        )),
        (share, _) => {
            let share = match share {
                Some(MarginUse::Share(share)) => *share,
                _ => defaults::TOLERANCE_PUBLISHED,
            };
            Ok(Span { low: Some(low / (1.0 + share)), high: Some(high * (1.0 + share)) })
        }
    }
}

/// The direction as said, else that of the printed ratio or difference.
pub(super) fn direction(value: Span, scale: Scale<'_>, said: Option<Direction>) -> Direction {
    let none = if matches!(scale, Scale::Ratio) { 1.0 } else { 0.0 };
    said.unwrap_or(match (value.low, value.high) {
        (Some(low), _) if low > none => Direction::More,
        (_, Some(high)) if high < none => Direction::Less,
        _ => Direction::Same,
    })
}
