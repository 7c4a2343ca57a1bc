//! A family of metrics: one name, one meaning, one sample for each set of labels.

use crate::buckets::Times;

/// What the values of a family are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only grows.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Times by size.
    Histogram,
}

/// One name with all its samples.
#[derive(Clone, Debug)]
pub struct Family {
    /// Without the `_total` that the samples of a counter carry.
    pub name: &'static str,
    /// What it counts, for people.
    pub help: &'static str,
    /// What the values are.
    pub kind: Kind,
    /// One for each set of labels.
    pub samples: Vec<Sample>,
}

/// One value with its labels.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Name and value, each name once.
    pub labels: Vec<(&'static str, String)>,
    /// Of the family's kind.
    pub value: Value,
}

/// What a sample holds.
#[derive(Clone, Debug)]
pub enum Value {
    /// Of a counter or a gauge.
    Number(f64),
    /// Of a histogram.
    Times(Box<Times>),
}

impl Family {
    pub(crate) const fn new(name: &'static str, kind: Kind, help: &'static str) -> Self {
        Self { name, help, kind, samples: Vec::new() }
    }

    pub(crate) fn push(&mut self, labels: &[(&'static str, &str)], value: f64) {
        self.samples.push(Sample { labels: owned(labels), value: Value::Number(value) });
    }

    pub(crate) fn push_times(&mut self, labels: &[(&'static str, &str)], times: Times) {
        self.samples.push(Sample { labels: owned(labels), value: Value::Times(Box::new(times)) });
    }

    /// The name of its samples of one value.
    pub(crate) fn sample_name(&self) -> String {
        match self.kind {
            Kind::Counter => format!("{}_total", self.name),
            Kind::Gauge | Kind::Histogram => self.name.to_owned(),
        }
    }
}

fn owned(labels: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
    labels.iter().map(|(name, value)| (*name, (*value).to_owned())).collect()
}
