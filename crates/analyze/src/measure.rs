//! What is compared: a metric, or one number per trial made of a counter.
//!
//! Comparisons and tables are of metrics alone; claims may be about either, and are judged by the same functions.

use schema::counter_metric::{ClaimMetric, CounterMetric};
use schema::metric::{Metric, Unit};
use schema::said::Said;

/// A metric, or a counter of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure<'a> {
    Metric(Metric),
    Counter(&'a CounterMetric),
}

impl Measure<'_> {
    pub(crate) fn unit(self) -> Unit {
        match self {
            Self::Metric(metric) => metric.unit(),
            Self::Counter(counter) => counter.unit(),
        }
    }

    /// Inside a sentence.
    pub(crate) fn words(self) -> Said {
        match self {
            Self::Metric(metric) => metric.words(),
            Self::Counter(counter) => counter.words(),
        }
    }

    pub(crate) const fn higher_is_better(self) -> bool {
        match self {
            Self::Metric(metric) => metric.higher_is_better(),
            Self::Counter(counter) => counter.higher_is_better,
        }
    }

    /// The metric, where it is one.
    pub(crate) const fn metric(self) -> Option<Metric> {
        match self {
            Self::Metric(metric) => Some(metric),
            Self::Counter(_) => None,
        }
    }

    /// As the plan has it.
    pub(crate) fn owned(self) -> ClaimMetric {
        match self {
            Self::Metric(metric) => ClaimMetric::Named(metric),
            Self::Counter(counter) => ClaimMetric::Counter(counter.clone()),
        }
    }
}

impl From<Metric> for Measure<'_> {
    fn from(metric: Metric) -> Self {
        Self::Metric(metric)
    }
}

impl<'a> From<&'a ClaimMetric> for Measure<'a> {
    fn from(metric: &'a ClaimMetric) -> Self {
        match metric {
            ClaimMetric::Named(metric) => Self::Metric(*metric),
            ClaimMetric::Counter(counter) => Self::Counter(counter),
        }
    }
}
