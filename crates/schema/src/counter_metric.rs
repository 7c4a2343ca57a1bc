//! What a claim or a threshold is about: a metric by its name, or any counter that a run folder keeps.
//!
//! Invariant: the unit of a counter's value follows from its name and what it is taken per, so that a bound can be read
//! before anything was counted.
//! Absent on purpose: which counters there are. A target may count what it likes; the analysis names the nearest.

use crate::counter_name::{CounterUnit, counter_unit, is_extreme};
use crate::metric::{Metric, Unit};
use crate::said;
use crate::said::Said;
use schemars::JsonSchema;
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// A metric by its name, such as `"p99"`, or a counter, such as
/// `{ counter = "target.process/voluntary_switches", per = "request" }`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ClaimMetric {
    /// One of the metrics.
    Named(Metric),
    /// A counter.
    Counter(CounterMetric),
}

/// One number per trial, or per window of a soak, made of a counter.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CounterMetric {
    /// Source and name as the page lists them, for example `go.runtime/goroutines`.
    pub counter: String,
    /// What an increase is divided by: `second`, `request` (right answers), `total` (nothing), or another counter by
    /// source and name. Absent for a level, of which the mean is taken, or the largest value where its name says that it is
    /// a percentile or a maximum. A level may be divided by another level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per: Option<String>,
    /// Whether a larger value is the better one, for claims with `order` and `no_worse`. Default false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub higher_is_better: bool,
}

/// What a counter is taken per.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Per<'a> {
    /// The mean of a level.
    Mean,
    /// The largest value of a level that is a percentile or a maximum.
    Largest,
    /// An increase per second.
    Second,
    /// An increase per right answer.
    Request,
    /// The whole increase.
    Total,
    /// An increase over that of another counter, or a level over another level.
    Counter(&'a str),
}

impl CounterMetric {
    /// What it is taken per.
    #[must_use]
    pub fn per(&self) -> Per<'_> {
        match self.per.as_deref() {
            None if is_extreme(&self.counter) => Per::Largest,
            None => Per::Mean,
            Some("second") => Per::Second,
            Some("request") => Per::Request,
            Some("total") => Per::Total,
            Some(other) => Per::Counter(other),
        }
    }

    /// The counters that it is made of.
    #[must_use]
    pub fn counters(&self) -> Vec<&str> {
        match self.per() {
            Per::Counter(other) => vec![&self.counter, other],
            _ => vec![&self.counter],
        }
    }

    /// Unit of the value.
    #[must_use]
    pub fn unit(&self) -> Unit {
        self.scale().0
    }

    /// Unit of the value, and what a number of the counter is multiplied by to be in it.
    #[must_use]
    pub fn scale(&self) -> (Unit, f64) {
        let (unit, factor) = base(&self.counter);
        match (self.per(), unit) {
            (Per::Mean | Per::Largest | Per::Total | Per::Request, _) => (unit, factor),
            (Per::Second, Unit::Nanoseconds) => (Unit::Share, factor / 1e9),
            (Per::Second, Unit::Bytes) => (Unit::BytesPerSecond, factor),
            (Per::Second, _) => (Unit::PerSecond, factor),
            (Per::Counter(other), _) => {
                let (over, of) = base(other);
                match (unit, over) {
                    (Unit::Bytes, Unit::Nanoseconds) => (Unit::BytesPerSecond, factor / of * 1e9),
                    (Unit::Count, Unit::Nanoseconds) => (Unit::PerSecond, factor / of * 1e9),
                    (Unit::Nanoseconds | Unit::Bytes, Unit::Count) => (unit, factor / of),
                    _ => (Unit::Share, factor / of),
                }
            }
        }
    }

    /// At the head of a row, in any language: `go.runtime/fallbacks per go.runtime/guarded_calls`.
    #[must_use]
    pub fn title(&self) -> String {
        match &self.per {
            Some(per) => format!("{} per {per}", self.counter),
            None => self.counter.clone(),
        }
    }

    /// Inside a sentence.
    #[must_use]
    pub fn words(&self) -> Said {
        let counter = self.counter.as_str();
        match self.per() {
            Per::Mean => said!("measure.mean", "mean of {counter}", counter),
            Per::Largest => said!("measure.largest", "largest {counter}", counter),
            Per::Second => said!("measure.per_second", "{counter} per second", counter),
            Per::Request => said!("measure.per_request", "{counter} per request", counter),
            Per::Total => said!("measure.total", "total of {counter}", counter),
            Per::Counter(other) => said!("measure.per_counter", "{counter} per {other}", counter, other),
        }
    }
}

/// Unit of a counter by its name, and what its numbers are multiplied by to be in it.
fn base(key: &str) -> (Unit, f64) {
    let name = key.rsplit('/').next().unwrap_or(key);
    // The sum of a histogram of Prometheus is in the unit of its family.
    let name = name.strip_suffix("_sum").unwrap_or(name);
    match counter_unit(name) {
        Some(CounterUnit::Bytes) => (Unit::Bytes, 1.0),
        Some(CounterUnit::BytesPerS) => (Unit::BytesPerSecond, 1.0),
        Some(CounterUnit::Ns) => (Unit::Nanoseconds, 1.0),
        Some(CounterUnit::Us) => (Unit::Nanoseconds, 1e3),
        Some(CounterUnit::Ms) => (Unit::Nanoseconds, 1e6),
        Some(CounterUnit::S) => (Unit::Nanoseconds, 1e9),
        Some(CounterUnit::Share) => (Unit::Share, 1.0),
        Some(CounterUnit::Percent) => (Unit::Share, 0.01),
        None if name.ends_with("per_s") => (Unit::PerSecond, 1.0),
        None => (Unit::Count, 1.0),
    }
}

impl ClaimMetric {
    /// The name of a metric, or that of the counter.
    #[must_use]
    pub fn key(&self) -> &str {
        match self {
            Self::Named(metric) => metric.key(),
            Self::Counter(counter) => &counter.counter,
        }
    }

    /// The metric, where it is one.
    #[must_use]
    pub const fn named(&self) -> Option<Metric> {
        match self {
            Self::Named(metric) => Some(*metric),
            Self::Counter(_) => None,
        }
    }

    /// The counters that it is made of; none of a metric.
    #[must_use]
    pub fn counters(&self) -> Vec<&str> {
        match self {
            Self::Named(_) => Vec::new(),
            Self::Counter(counter) => counter.counters(),
        }
    }

    /// Unit of the value.
    #[must_use]
    pub fn unit(&self) -> Unit {
        match self {
            Self::Named(metric) => metric.unit(),
            Self::Counter(counter) => counter.unit(),
        }
    }

    /// At the head of a row.
    #[must_use]
    pub fn title(&self) -> String {
        match self {
            Self::Named(metric) => metric.title().to_owned(),
            Self::Counter(counter) => counter.title(),
        }
    }
}

impl From<Metric> for ClaimMetric {
    fn from(metric: Metric) -> Self {
        Self::Named(metric)
    }
}

/// By hand, because an untagged enum would not say which metrics there are, nor which key of the table is wrong.
impl<'de> Deserialize<'de> for ClaimMetric {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = ClaimMetric;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "the name of a metric, or a table such as { counter = \"go.runtime/goroutines\" }",
                )
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<ClaimMetric, E> {
                Metric::deserialize(StrDeserializer::new(text)).map(ClaimMetric::Named)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ClaimMetric, A::Error> {
                CounterMetric::deserialize(MapAccessDeserializer::new(map)).map(ClaimMetric::Counter)
            }
        }
        deserializer.deserialize_any(Either)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counter(counter: &str, per: Option<&str>) -> CounterMetric {
        CounterMetric { counter: counter.into(), per: per.map(str::to_owned), higher_is_better: false }
    }

    #[test]
    fn units_follow_from_names_and_what_they_are_taken_per() {
        for (name, per, wanted) in [
            ("go.runtime/goroutines", None, (Unit::Count, 1.0)),
            ("target.process/rss_bytes", None, (Unit::Bytes, 1.0)),
            ("target.process/busiest_thread_percent", None, (Unit::Share, 0.01)),
            ("app/wait_seconds", None, (Unit::Nanoseconds, 1e9)),
            ("go.runtime/gc_pause_ns", Some("second"), (Unit::Share, 1e-9)),
            ("host.net/sent_bytes", Some("second"), (Unit::BytesPerSecond, 1.0)),
            ("target.process/voluntary_switches", Some("second"), (Unit::PerSecond, 1.0)),
            ("target.process/voluntary_switches", Some("request"), (Unit::Count, 1.0)),
            ("target.process/cpu_ns", Some("request"), (Unit::Nanoseconds, 1.0)),
            ("go.runtime/fallbacks", Some("go.runtime/guarded_calls"), (Unit::Share, 1.0)),
            ("a/wait_ns", Some("a/calls"), (Unit::Nanoseconds, 1.0)),
            ("a/wait_ms", Some("a/busy_ns"), (Unit::Share, 1e6)),
            ("a/calls", Some("a/busy_ns"), (Unit::PerSecond, 1e9)),
            ("host/queries_per_s", None, (Unit::PerSecond, 1.0)),
            ("target.prometheus/wait_seconds_p95", None, (Unit::Nanoseconds, 1e9)),
            (
                "target.prometheus/wait_seconds_sum",
                Some("target.prometheus/wait_seconds_count"),
                (Unit::Nanoseconds, 1e9),
            ),
        ] {
            assert_eq!(counter(name, per).scale(), wanted, "{name} per {per:?}");
        }
    }

    #[test]
    fn of_percentiles_and_maxima_the_largest_is_taken() {
        for (name, per, wanted) in [
            ("go.runtime/goroutines", None, Per::Mean),
            ("go.runtime/pool_wait_p95_ns", None, Per::Largest),
            ("go.runtime/gc_pause_max_ns", None, Per::Largest),
            ("go.pool/pool_in_use", Some("go.pool/pool_max"), Per::Counter("go.pool/pool_max")),
        ] {
            assert_eq!(counter(name, per).per(), wanted, "{name}");
        }
    }

    #[test]
    fn a_name_and_a_table_are_read_and_mistakes_are_named() {
        let read = serde_json::from_str::<ClaimMetric>;
        assert_eq!(read("\"p99\"").unwrap(), ClaimMetric::Named(Metric::P99));
        let table = r#"{"counter":"a/b","per":"request"}"#;
        let found = read(table).unwrap();
        assert_eq!(found, ClaimMetric::Counter(counter("a/b", Some("request"))));
        assert_eq!(serde_json::to_string(&found).unwrap(), table);
        assert!(read("\"p98\"").unwrap_err().to_string().contains("p99"));
        assert!(read(r#"{"count":"a/b"}"#).unwrap_err().to_string().contains("counter"));
        assert!(read("5").unwrap_err().to_string().contains("the name of a metric, or a table"));
    }
}
