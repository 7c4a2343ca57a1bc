//! Bounds and margins of claims: signs, numbers, and the units of metrics.

use super::suggest::example;
use schema::counter_metric::ClaimMetric;
use schema::experiment::MarginUse;
use schema::metric::Unit;
use schema::plan::{ClaimComparison, ClaimMargin};
use schema::text::Problem;
use units::{Bytes, Count, Nanos, PerSecond};

/// Longer signs first, so that `>=` is not read as `>`.
const SIGNS: [ClaimComparison; 4] =
    [ClaimComparison::AtLeast, ClaimComparison::AtMost, ClaimComparison::MoreThan, ClaimComparison::LessThan];

pub(super) fn sign(text: &str) -> Option<(ClaimComparison, &str)> {
    let text = text.trim();
    SIGNS.into_iter().find_map(|found| Some((found, text.strip_prefix(found.sign())?.trim())))
}

/// `>= 1.05`
pub(super) fn ratio(text: &str, key: &str) -> Result<(ClaimComparison, f64), Problem> {
    let bound = |(comparison, rest): (ClaimComparison, &str)| {
        let bound: f64 = rest.parse().ok()?;
        (bound.is_finite() && bound > 0.0).then_some((comparison, bound))
    };
    sign(text).and_then(bound).ok_or_else(|| {
        let remedy = "write >=, >, <= or < and a positive number, for example \">= 1.0\"";
        Problem::at(key, format!("`{text}` is no comparison"), remedy)
    })
}

/// `> 400`: connections, or requests per second.
pub(super) fn load(text: &str, key: &str) -> Result<(ClaimComparison, f64), Problem> {
    let bound = |(comparison, rest): (ClaimComparison, &str)| {
        let PerSecond(load) = rest.parse().ok()?;
        (load > 0.0).then_some((comparison, load))
    };
    sign(text).and_then(bound).ok_or_else(|| {
        let remedy = "write >=, >, <= or < and connections or requests per second, for example \"> 400\"";
        Problem::at(key, format!("`{text}` is no bound of a load"), remedy)
    })
}

/// `< 50ms`, in the unit of the metric; `signed` allows `>= -5ms`.
pub(in crate::experiment) fn number(
    text: &str,
    metric: &ClaimMetric,
    signed: bool,
    key: &str,
) -> Result<(ClaimComparison, f64), Problem> {
    let remedy =
        || format!("write >=, >, <= or < and a number with its unit, for example \"<= {}\"", example(metric));
    let Some((comparison, rest)) = sign(text) else {
        return Err(Problem::at(key, format!("`{text}` is no comparison"), remedy()));
    };
    let (is_negative, size) = match rest.strip_prefix('-') {
        Some(size) if signed => (true, size.trim()),
        _ => (false, rest),
    };
    let size = amount(size, metric).map_err(|cause| Problem::at(key, cause, remedy()))?;
    Ok((comparison, if is_negative { -size } else { size }))
}

/// A share of the metric, or a difference in its unit; `usual` where nothing is written.
pub(super) fn margin(
    given: Option<&MarginUse>,
    usual: f64,
    metric: &ClaimMetric,
    key: &str,
) -> Result<ClaimMargin, Problem> {
    match given {
        None => Ok(ClaimMargin::Ratio(usual)),
        Some(MarginUse::Share(share)) if *share > 0.0 && *share <= 1.0 => Ok(ClaimMargin::Ratio(*share)),
        Some(MarginUse::Share(share)) => Err(Problem::at(
            key,
            format!("a margin of {share} is out of range"),
            "give a share above 0 and at most 1",
        )),
        Some(MarginUse::Text(text)) => {
            let remedy = || {
                format!(
                    "write a share of the metric such as 0.05, or a difference such as \"{}\"",
                    example(metric)
                )
            };
            match amount(text.trim(), metric) {
                Ok(size) if size > 0.0 => Ok(ClaimMargin::Difference(size)),
                Ok(_) => Err(Problem::at(key, "a margin of 0 can never be shown", remedy())),
                Err(cause) => Err(Problem::at(key, cause, remedy())),
            }
        }
    }
}

/// A number in the unit of the metric: nanoseconds, bytes, per second, or a share from 0 to 1.
pub(super) fn amount(text: &str, metric: &ClaimMetric) -> Result<f64, String> {
    let as_text =
        |error: units::ParseQuantityError| format!("{} is {}: {error}", metric.key(), of(metric.unit()));
    match metric.unit() {
        Unit::Nanoseconds => text.parse::<Nanos>().map(|time| time.0 as f64).map_err(as_text),
        Unit::Bytes => text.parse::<Bytes>().map(|size| size.0 as f64).map_err(as_text),
        Unit::PerSecond => text.parse::<PerSecond>().map(|rate| rate.0).map_err(as_text),
        Unit::Count if metric.named().is_none() => {
            plain(text).map_or_else(|| text.parse::<Count>().map(|count| count.0 as f64).map_err(as_text), Ok)
        }
        Unit::Count => text.parse::<Count>().map(|count| count.0 as f64).map_err(as_text),
        Unit::BytesPerSecond => {
            text.trim_end_matches("/s").parse::<Bytes>().map(|size| size.0 as f64).map_err(as_text)
        }
        // A counter over another may be more than all of it.
        Unit::Share if metric.named().is_none() => share(text).ok_or_else(|| {
            let of = of(Unit::Share);
            format!("{} is {of}: `{text}` is neither a percentage nor a number from 0 on", metric.key())
        }),
        Unit::Share => share(text).filter(|share| *share <= 1.0).ok_or_else(|| {
            format!(
                "{} is {}: `{text}` is neither a percentage nor a number from 0 to 1",
                metric.key(),
                of(Unit::Share)
            )
        }),
    }
}

fn of(unit: Unit) -> &'static str {
    match unit {
        Unit::Nanoseconds => "a time",
        Unit::Bytes => "a size",
        Unit::Count => "a number",
        Unit::BytesPerSecond => "a size per second",
        Unit::PerSecond => "a rate",
        Unit::Share => "a share",
    }
}

/// A mean or a rate of a counter may have a fraction.
fn plain(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0)
}

/// `0.1%` or `0.001`.
fn share(text: &str) -> Option<f64> {
    match text.strip_suffix('%') {
        Some(percent) => plain(percent).map(|percent| percent / 100.0),
        None => plain(text),
    }
}
