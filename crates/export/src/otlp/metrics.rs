//! The families as OpenTelemetry's protocol sends them: one `ExportMetricsServiceRequest` as protobuf, for `POST
//! /v1/metrics` of a collector.
//!
//! Field numbers are those of `opentelemetry/proto/metrics/v1/metrics.proto` (1.x). A histogram is exponential of scale 8,
//! whose buckets are Prometheus' native ones of schema 8: bucket `i` there holds what is above 2^(i/256) s, here counted
//! from 0 where the other counts from 1. Counts are cumulative; when they began is not sent (0: unknown), because a
//! process that reads files may come later than the run.

use super::common::{KeyValue, Resource, Scope, attribute, resource, scope};
use crate::buckets::{SCHEMA, Times};
use crate::family::{Family, Kind, Sample, Value};
use crate::traced;
use prost::Message;

/// `AGGREGATION_TEMPORALITY_CUMULATIVE`.
const CUMULATIVE: i32 = 2;
/// Times below it would count as zero; METHOD's histograms begin there.
const ZERO_BELOW_S: f64 = 1e-9;

#[derive(Clone, PartialEq, Message)]
struct Request {
    #[prost(message, repeated, tag = "1")]
    resource_metrics: Vec<ResourceMetrics>,
}

#[derive(Clone, PartialEq, Message)]
struct ResourceMetrics {
    #[prost(message, optional, tag = "1")]
    resource: Option<Resource>,
    #[prost(message, repeated, tag = "2")]
    scope_metrics: Vec<ScopeMetrics>,
}

#[derive(Clone, PartialEq, Message)]
struct ScopeMetrics {
    #[prost(message, optional, tag = "1")]
    scope: Option<Scope>,
    #[prost(message, repeated, tag = "2")]
    metrics: Vec<Metric>,
}

#[derive(Clone, PartialEq, Message)]
struct Metric {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    description: String,
    #[prost(string, tag = "3")]
    unit: String,
    #[prost(message, optional, tag = "5")]
    gauge: Option<Gauge>,
    #[prost(message, optional, tag = "7")]
    sum: Option<Sum>,
    #[prost(message, optional, tag = "10")]
    exponential_histogram: Option<ExponentialHistogram>,
}

#[derive(Clone, PartialEq, Message)]
struct Gauge {
    #[prost(message, repeated, tag = "1")]
    data_points: Vec<NumberPoint>,
}

#[derive(Clone, PartialEq, Message)]
struct Sum {
    #[prost(message, repeated, tag = "1")]
    data_points: Vec<NumberPoint>,
    #[prost(int32, tag = "2")]
    aggregation_temporality: i32,
    #[prost(bool, tag = "3")]
    is_monotonic: bool,
}

#[derive(Clone, PartialEq, Message)]
struct NumberPoint {
    #[prost(fixed64, tag = "3")]
    time_unix_nano: u64,
    #[prost(double, optional, tag = "4")]
    as_double: Option<f64>,
    #[prost(message, repeated, tag = "7")]
    attributes: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, Message)]
struct ExponentialHistogram {
    #[prost(message, repeated, tag = "1")]
    data_points: Vec<HistogramPoint>,
    #[prost(int32, tag = "2")]
    aggregation_temporality: i32,
}

#[derive(Clone, PartialEq, Message)]
struct HistogramPoint {
    #[prost(message, repeated, tag = "1")]
    attributes: Vec<KeyValue>,
    #[prost(fixed64, tag = "3")]
    time_unix_nano: u64,
    #[prost(fixed64, tag = "4")]
    count: u64,
    #[prost(double, optional, tag = "5")]
    sum: Option<f64>,
    #[prost(sint32, tag = "6")]
    scale: i32,
    #[prost(message, optional, tag = "8")]
    positive: Option<Buckets>,
    #[prost(message, repeated, tag = "11")]
    exemplars: Vec<Exemplar>,
    #[prost(double, tag = "14")]
    zero_threshold: f64,
}

#[derive(Clone, PartialEq, Message)]
struct Exemplar {
    #[prost(fixed64, tag = "2")]
    time_unix_nano: u64,
    #[prost(double, optional, tag = "3")]
    as_double: Option<f64>,
    #[prost(bytes = "vec", tag = "4")]
    span_id: Vec<u8>,
    #[prost(bytes = "vec", tag = "5")]
    trace_id: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
struct Buckets {
    #[prost(sint32, tag = "1")]
    offset: i32,
    #[prost(uint64, repeated, tag = "2")]
    bucket_counts: Vec<u64>,
}

/// The body of a request with all families at one time, in nanoseconds since 1970.
#[must_use]
pub fn otlp(families: &[Family], time_unix_ns: u64) -> Vec<u8> {
    let metrics = families.iter().map(|family| metric(family, time_unix_ns)).collect();
    let of_scope = ScopeMetrics { scope: Some(scope()), metrics };
    let of_resource = ResourceMetrics { resource: Some(resource()), scope_metrics: vec![of_scope] };
    Request { resource_metrics: vec![of_resource] }.encode_to_vec()
}

fn metric(family: &Family, time_unix_nano: u64) -> Metric {
    let mut metric = Metric {
        name: family.name.to_owned(),
        description: family.help.to_owned(),
        unit: unit(family.name).to_owned(),
        ..Metric::default()
    };
    let numbers = || family.samples.iter().filter_map(|sample| number(sample, time_unix_nano)).collect();
    match family.kind {
        Kind::Gauge => metric.gauge = Some(Gauge { data_points: numbers() }),
        Kind::Counter => {
            let aggregation_temporality = CUMULATIVE;
            metric.sum = Some(Sum { data_points: numbers(), aggregation_temporality, is_monotonic: true });
        }
        Kind::Histogram => {
            let points = family.samples.iter().filter_map(|sample| histogram(sample, time_unix_nano));
            metric.exponential_histogram = Some(ExponentialHistogram {
                data_points: points.collect(),
                aggregation_temporality: CUMULATIVE,
            });
        }
    }
    metric
}

/// By the name, which Prometheus' rules end with it.
fn unit(name: &str) -> &'static str {
    match name {
        _ if name.ends_with("_seconds") => "s",
        _ if name.ends_with("_bytes") => "By",
        _ => "1",
    }
}

fn number(sample: &Sample, time_unix_nano: u64) -> Option<NumberPoint> {
    let Value::Number(value) = sample.value else { return None };
    Some(NumberPoint { time_unix_nano, as_double: Some(value), attributes: attributes(sample) })
}

fn histogram(sample: &Sample, time_unix_nano: u64) -> Option<HistogramPoint> {
    let Value::Times(times) = &sample.value else { return None };
    Some(HistogramPoint {
        attributes: attributes(sample),
        time_unix_nano,
        count: times.count,
        sum: Some(times.sum_s),
        scale: SCHEMA,
        positive: buckets(times),
        exemplars: times.exemplars.iter().filter_map(exemplar).collect(),
        zero_threshold: ZERO_BELOW_S,
    })
}

/// Every bucket from the first to the last that holds something; `None` where none does.
fn buckets(times: &Times) -> Option<Buckets> {
    let (first, _) = times.native.first_key_value()?;
    let (last, _) = times.native.last_key_value()?;
    let count = |index| times.native.get(&index).copied().unwrap_or_default();
    Some(Buckets { offset: first - 1, bucket_counts: (*first..=*last).map(count).collect() })
}

fn exemplar(of: &traced::Exemplar) -> Option<Exemplar> {
    Some(Exemplar {
        time_unix_nano: of.time_unix_ns,
        as_double: Some(of.value_s),
        span_id: u64::from_str_radix(&of.trace.span_id, 16).ok()?.to_be_bytes().to_vec(),
        trace_id: u128::from_str_radix(&of.trace.trace_id, 16).ok()?.to_be_bytes().to_vec(),
    })
}

fn attributes(sample: &Sample) -> Vec<KeyValue> {
    sample.labels.iter().map(|(name, value)| attribute(name, value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buckets::times;

    fn sent(family: Family) -> Metric {
        let request = Request::decode(otlp(&[family], 7).as_slice()).unwrap();
        let of_resource = request.resource_metrics[0].clone();
        assert_eq!(of_resource.resource.unwrap().attributes, [attribute("service.name", "prony")]);
        of_resource.scope_metrics[0].metrics[0].clone()
    }

    #[test]
    fn buckets_hold_the_times_that_their_bounds_say() {
        let mut family = Family::new("prony_response_seconds", Kind::Histogram, "Times");
        family.push_times(&[("run", "r")], times(&[250_000_000, 250_000_000, 1_000_000_000]));
        let metric = sent(family);
        assert_eq!((metric.name.as_str(), metric.unit.as_str()), ("prony_response_seconds", "s"));
        let histogram = metric.exponential_histogram.unwrap();
        assert_eq!(histogram.aggregation_temporality, CUMULATIVE);
        let point = &histogram.data_points[0];
        assert_eq!((point.count, point.scale, point.time_unix_nano), (3, 8, 7));
        let buckets = point.positive.clone().unwrap();
        assert_eq!(buckets.bucket_counts.iter().sum::<u64>(), 3);
        for (at, count) in buckets.bucket_counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let index = f64::from(buckets.offset + i32::try_from(at).unwrap());
            let (above, up_to) = ((index / 256.0).exp2(), ((index + 1.0) / 256.0).exp2());
            let time = if *count == 2 { 0.25 } else { 1.0 };
            // METHOD's histogram has the time to a thousandth.
            assert!(above <= time * 1.001 && time * 0.999 <= up_to, "{time} in {above} to {up_to}");
        }
    }

    #[test]
    fn counters_only_grow_and_gauges_need_not() {
        let mut counter = Family::new("prony_read_bytes", Kind::Counter, "Bytes");
        counter.push(&[("run", "r"), ("phase", "sample")], 9.0);
        let metric = sent(counter);
        let sum = metric.sum.unwrap();
        assert!(sum.is_monotonic && metric.unit == "By");
        assert_eq!(sum.data_points[0].as_double, Some(9.0));
        assert_eq!(sum.data_points[0].attributes[1], attribute("phase", "sample"));
        let mut gauge = Family::new("prony_run_in_progress", Kind::Gauge, "Whether");
        gauge.push(&[], 0.0);
        assert_eq!(sent(gauge).gauge.unwrap().data_points[0].as_double, Some(0.0), "0 is a value");
    }
}
