//! From samples to one count and one histogram: sums over the series that have the labels asked for.

use super::{Exposition, Sample};
use crate::error::ParseError;
use schema::server_side::{BucketUnit, QuantileBucket};
use std::collections::BTreeMap;

/// Integers beyond this have no exact form in the format's floating-point numbers.
const COUNT_MAX: f64 = 9_007_199_254_740_992.0;

/// A histogram of the format: `counts[k]` values are at most `bounds[k]`; the last bound is infinite.
#[derive(Clone, Debug, PartialEq)]
pub struct Buckets {
    bounds: Vec<f64>,
    counts: Vec<u64>,
    unit: BucketUnit,
}

impl Exposition {
    /// The sum of the counter `name` over all series with these labels.
    ///
    /// # Errors
    /// There is none, it is declared to be no counter, or a value is no count.
    pub fn total(&self, name: &str, labels: &BTreeMap<String, String>) -> Result<u64, ParseError> {
        self.check_kind(name, &["counter", "unknown", "untyped"])?;
        let mut sum = None;
        for sample in self.with(name, labels) {
            let count = count(name, sample.value)?;
            sum = Some(sum.unwrap_or(0_u64).saturating_add(count));
        }
        sum.ok_or_else(|| absent(name, labels))
    }

    /// The histogram `name` over all series with these labels.
    ///
    /// # Errors
    /// There is none, it is declared to be none, or its series differ in their bounds or have none that is infinite.
    pub fn buckets(
        &self,
        name: &str,
        labels: &BTreeMap<String, String>,
        unit: BucketUnit,
    ) -> Result<Buckets, ParseError> {
        self.check_kind(name, &["histogram", "unknown", "untyped"])?;
        let buckets = format!("{name}_bucket");
        // By the bits of the bound, which order positive numbers as the numbers themselves: sum, and how many series.
        let mut by_bound: BTreeMap<u64, (f64, u64, usize)> = BTreeMap::new();
        for sample in self.with(&buckets, labels) {
            let bound = sample.labels.get("le").and_then(|le| le.parse::<f64>().ok()).filter(|le| *le >= 0.0);
            let bound = bound.ok_or_else(|| ParseError::Series {
                name: buckets.clone(),
                cause: "a bucket has no label `le` with a number from 0 on",
            })?;
            // +0 for −0.
            let bound = bound + 0.0;
            let (_, sum, series) = by_bound.entry(bound.to_bits()).or_insert((bound, 0, 0));
            *sum = sum.saturating_add(count(&buckets, sample.value)?);
            *series += 1;
        }
        let Some((last, _, series)) = by_bound.values().next_back().copied() else {
            return Err(absent(&buckets, labels));
        };
        if last.is_finite() || by_bound.values().any(|(_, _, others)| *others != series) {
            let cause = "its series differ in their bounds, or lack the bucket `+Inf`";
            return Err(ParseError::Series { name: buckets, cause });
        }
        let (bounds, counts) = by_bound.values().map(|(bound, sum, _)| (*bound, *sum)).unzip();
        Ok(Buckets { bounds, counts, unit })
    }

    /// The finite values of the sample `name`, of the series with this label where one is given.
    pub fn values<'a>(
        &'a self,
        name: &'a str,
        label: Option<(&'a str, &'a str)>,
    ) -> impl Iterator<Item = f64> + 'a {
        let has = move |sample: &&Sample| {
            let is_it = |(key, value): (&str, &str)| sample.labels.get(key).is_some_and(|its| its == value);
            label.is_none_or(is_it)
        };
        let named = self.samples.iter().filter(move |sample| sample.name == name);
        named.filter(has).map(|sample| sample.value).filter(|value| value.is_finite())
    }

    fn with<'a>(
        &'a self,
        name: &'a str,
        labels: &'a BTreeMap<String, String>,
    ) -> impl Iterator<Item = &'a Sample> {
        let has =
            move |sample: &&Sample| labels.iter().all(|(key, value)| sample.labels.get(key) == Some(value));
        self.samples.iter().filter(move |sample| sample.name == name).filter(has)
    }

    fn check_kind(&self, name: &str, allowed: &[&str]) -> Result<(), ParseError> {
        match self.kind_of(name) {
            Some(kind) if !allowed.contains(&kind) => Err(ParseError::Series {
                name: name.to_owned(),
                cause: "its # TYPE is another than the one it is asked for as",
            }),
            _ => Ok(()),
        }
    }
}

fn absent(name: &str, labels: &BTreeMap<String, String>) -> ParseError {
    let cause = if labels.is_empty() {
        "there is no such sample; check the name, and that the target has served a request"
    } else {
        "there is no such sample with the labels asked for"
    };
    ParseError::Series { name: name.to_owned(), cause }
}

fn count(name: &str, value: f64) -> Result<u64, ParseError> {
    if (0.0..=COUNT_MAX).contains(&value) && value.fract() == 0.0 {
        return Ok(value as u64);
    }
    Err(ParseError::Series { name: name.to_owned(), cause: "a value is no whole number from 0 to 2^53" })
}

impl Buckets {
    /// All values.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.last().copied().unwrap_or_default()
    }

    /// What came in since `previous`; nothing where the bounds changed or a count went backwards (another process).
    #[must_use]
    pub fn since(&self, previous: &Self) -> Option<Self> {
        if self.bounds != previous.bounds || self.unit != previous.unit {
            return None;
        }
        let counts = self.counts.iter().zip(&previous.counts).map(|(now, before)| now.checked_sub(*before));
        Some(Self { counts: counts.collect::<Option<_>>()?, bounds: self.bounds.clone(), unit: self.unit })
    }

    /// The bucket that holds the value of rank ⌈q·n⌉; nothing where there are no values.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<QuantileBucket> {
        let rank = ((self.count() as f64 * q).ceil() as u64).max(1);
        let place = self.counts.iter().position(|count| *count >= rank)?;
        let above = place.checked_sub(1).map_or(0.0, |below| self.bounds[below]);
        let up_to = Some(self.bounds[place]).filter(|bound| bound.is_finite());
        Some(QuantileBucket { above_ns: self.ns(above), up_to_ns: up_to.map(|bound| self.ns(bound)) })
    }

    /// A bound in nanoseconds; what is beyond 64 bits is the largest that they hold.
    fn ns(&self, bound: f64) -> u64 {
        let factor = match self.unit {
            BucketUnit::Seconds => 1e9,
            BucketUnit::Milliseconds => 1e6,
            BucketUnit::Microseconds => 1e3,
            BucketUnit::Nanoseconds => 1.0,
        };
        (bound * factor).round() as u64
    }
}
