//! Protobuf exposition with native histograms: the messages of `io.prometheus.client`, each behind its length.
//!
//! Field numbers are those of Prometheus' `client_model/metrics.proto`. A histogram carries its classic buckets too, for
//! a server that does not take native ones.

use crate::buckets::{SCHEMA, Times};
use crate::family::{Family, Kind, Sample, Value};
use prost::Message;

/// Media type of [`protobuf`].
pub const PROTOBUF_TYPE: &str =
    "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited";

/// Times below it would count as zero; METHOD's histograms begin there.
pub(crate) const ZERO_BELOW_S: f64 = 1e-9;

#[derive(Clone, PartialEq, Message)]
struct MetricFamily {
    #[prost(string, optional, tag = "1")]
    name: Option<String>,
    #[prost(string, optional, tag = "2")]
    help: Option<String>,
    #[prost(enumeration = "MetricType", optional, tag = "3")]
    kind: Option<i32>,
    #[prost(message, repeated, tag = "4")]
    metric: Vec<Metric>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, prost::Enumeration)]
#[repr(i32)]
enum MetricType {
    Counter = 0,
    Gauge = 1,
    Histogram = 4,
}

#[derive(Clone, PartialEq, Message)]
struct Metric {
    #[prost(message, repeated, tag = "1")]
    label: Vec<LabelPair>,
    #[prost(message, optional, tag = "2")]
    gauge: Option<Number>,
    #[prost(message, optional, tag = "3")]
    counter: Option<Number>,
    #[prost(message, optional, tag = "7")]
    histogram: Option<Histogram>,
}

#[derive(Clone, PartialEq, Message)]
struct LabelPair {
    #[prost(string, optional, tag = "1")]
    name: Option<String>,
    #[prost(string, optional, tag = "2")]
    value: Option<String>,
}

/// `Gauge` and `Counter` alike.
#[derive(Clone, PartialEq, Message)]
struct Number {
    #[prost(double, optional, tag = "1")]
    value: Option<f64>,
}

#[derive(Clone, PartialEq, Message)]
struct Histogram {
    #[prost(uint64, optional, tag = "1")]
    sample_count: Option<u64>,
    #[prost(double, optional, tag = "2")]
    sample_sum: Option<f64>,
    #[prost(message, repeated, tag = "3")]
    bucket: Vec<Bucket>,
    #[prost(sint32, optional, tag = "5")]
    schema: Option<i32>,
    #[prost(double, optional, tag = "6")]
    zero_threshold: Option<f64>,
    #[prost(uint64, optional, tag = "7")]
    zero_count: Option<u64>,
    #[prost(message, repeated, tag = "12")]
    positive_span: Vec<BucketSpan>,
    #[prost(sint64, repeated, packed = "false", tag = "13")]
    positive_delta: Vec<i64>,
}

#[derive(Clone, PartialEq, Message)]
struct Bucket {
    #[prost(uint64, optional, tag = "1")]
    cumulative_count: Option<u64>,
    #[prost(double, optional, tag = "2")]
    upper_bound: Option<f64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub(crate) struct BucketSpan {
    #[prost(sint32, optional, tag = "1")]
    offset: Option<i32>,
    #[prost(uint32, optional, tag = "2")]
    length: Option<u32>,
}

/// All families, each behind its length as a varint.
#[must_use]
pub fn protobuf(families: &[Family]) -> Vec<u8> {
    families.iter().flat_map(|family| message(family).encode_length_delimited_to_vec()).collect()
}

fn message(family: &Family) -> MetricFamily {
    let kind = match family.kind {
        Kind::Counter => MetricType::Counter,
        Kind::Gauge => MetricType::Gauge,
        Kind::Histogram => MetricType::Histogram,
    };
    MetricFamily {
        name: Some(family.sample_name()),
        help: Some(family.help.to_owned()),
        kind: Some(kind.into()),
        metric: family.samples.iter().map(|sample| metric(family.kind, sample)).collect(),
    }
}

fn metric(kind: Kind, sample: &Sample) -> Metric {
    let pair = |(name, value): &(&str, String)| LabelPair {
        name: Some((*name).to_owned()),
        value: Some(value.clone()),
    };
    let mut metric = Metric { label: sample.labels.iter().map(pair).collect(), ..Metric::default() };
    match &sample.value {
        Value::Number(value) if kind == Kind::Counter => {
            metric.counter = Some(Number { value: Some(*value) });
        }
        Value::Number(value) => metric.gauge = Some(Number { value: Some(*value) }),
        Value::Times(times) => metric.histogram = Some(histogram(times)),
    }
    metric
}

fn histogram(times: &Times) -> Histogram {
    let (positive_span, positive_delta) = spans(times.native.iter().map(|(index, count)| (*index, *count)));
    let bucket = |(bound, count)| Bucket { cumulative_count: Some(count), upper_bound: Some(bound) };
    Histogram {
        sample_count: Some(times.count),
        sample_sum: Some(times.sum_s),
        bucket: times.cumulative().map(bucket).collect(),
        schema: Some(SCHEMA),
        zero_threshold: Some(ZERO_BELOW_S),
        zero_count: Some(0),
        positive_span,
        positive_delta,
    }
}

/// Runs of buckets without a gap, and each count as its difference from the one before.
pub(crate) fn spans(buckets: impl Iterator<Item = (i32, u64)>) -> (Vec<BucketSpan>, Vec<i64>) {
    let mut spans: Vec<BucketSpan> = Vec::new();
    let mut deltas = Vec::new();
    let mut next = 0;
    let mut before = 0;
    for (index, count) in buckets {
        match spans.last_mut() {
            Some(span) if index == next => span.length = span.length.map(|length| length + 1),
            // The offset of the first counts from bucket 0, that of the others from the end of the one before.
            _ => spans.push(BucketSpan { offset: Some(index - next), length: Some(1) }),
        }
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        deltas.push(count - before);
        (next, before) = (index + 1, count);
    }
    (spans, deltas)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buckets::times;

    #[test]
    fn runs_of_buckets_are_spans_and_counts_are_differences() {
        let (found, deltas) = spans([(-3, 5), (-2, 7), (4, 1), (5, 1)].into_iter());
        let span = |offset, length| BucketSpan { offset: Some(offset), length: Some(length) };
        assert_eq!(found, [span(-3, 2), span(5, 2)]);
        assert_eq!(deltas, [5, 2, -6, 0]);
    }

    #[test]
    fn what_is_written_is_read_back() {
        let mut family = Family::new("prony_response_seconds", Kind::Histogram, "Times");
        family.push_times(&[("run", "r")], times(&[1_000_000_000; 4]));
        let mut counter = Family::new("prony_read_bytes", Kind::Counter, "Bytes");
        counter.push(&[], 7.0);
        let bytes = protobuf(&[family, counter]);
        let mut rest = bytes.as_slice();
        let first = MetricFamily::decode_length_delimited(&mut rest).unwrap();
        let second = MetricFamily::decode_length_delimited(&mut rest).unwrap();
        assert!(rest.is_empty());
        let histogram = first.metric[0].histogram.clone().unwrap();
        assert_eq!((histogram.sample_count, histogram.schema), (Some(4), Some(8)));
        let [span] = histogram.positive_span.as_slice() else { panic!("{histogram:?}") };
        // One bucket beside that which ends at 1 s.
        assert!(span.length == Some(1) && span.offset.is_some_and(|at| at.abs() <= 1), "{span:?}");
        assert_eq!(second.name.as_deref(), Some("prony_read_bytes_total"));
        assert_eq!(second.metric[0].counter.as_ref().unwrap().value, Some(7.0));
    }
}
