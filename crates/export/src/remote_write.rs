//! The families as Prometheus' remote write 1.0 sends them: `WriteRequest` as protobuf, compressed as one block of Snappy.
//!
//! Field numbers are those of Prometheus' `prompb/remote.proto` and `types.proto`. Labels are in the order of their names,
//! as the specification demands. Classic buckets and native ones are two requests: a receiver that does not take native
//! histograms refuses a request as a whole.

use crate::buckets::{SCHEMA, Times};
use crate::family::{Family, Kind, Sample, Value};
use crate::native::{BucketSpan, ZERO_BELOW_S, spans};
use crate::text::bound_label;
use prost::Message;

/// Media type of a request.
pub const REMOTE_WRITE_TYPE: &str = "application/x-protobuf";
/// Compression of a request.
pub const REMOTE_WRITE_ENCODING: &str = "snappy";
/// `X-Prometheus-Remote-Write-Version`.
pub const REMOTE_WRITE_VERSION: &str = "0.1.0";

#[derive(Clone, PartialEq, Message)]
struct WriteRequest {
    #[prost(message, repeated, tag = "1")]
    timeseries: Vec<TimeSeries>,
    #[prost(message, repeated, tag = "3")]
    metadata: Vec<Metadata>,
}

#[derive(Clone, PartialEq, Message)]
struct TimeSeries {
    #[prost(message, repeated, tag = "1")]
    labels: Vec<Label>,
    #[prost(message, repeated, tag = "2")]
    samples: Vec<Point>,
    #[prost(message, repeated, tag = "4")]
    histograms: Vec<Histogram>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Message)]
struct Label {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    value: String,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Point {
    #[prost(double, tag = "1")]
    value: f64,
    /// Milliseconds since 1970.
    #[prost(int64, tag = "2")]
    timestamp: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Histogram {
    #[prost(uint64, tag = "1")]
    count_int: u64,
    #[prost(double, tag = "3")]
    sum: f64,
    #[prost(sint32, tag = "4")]
    schema: i32,
    #[prost(double, tag = "5")]
    zero_threshold: f64,
    #[prost(message, repeated, tag = "11")]
    positive_spans: Vec<BucketSpan>,
    #[prost(sint64, repeated, tag = "12")]
    positive_deltas: Vec<i64>,
    /// Milliseconds since 1970.
    #[prost(int64, tag = "15")]
    timestamp: i64,
}

#[derive(Clone, PartialEq, Eq, Message)]
struct Metadata {
    #[prost(enumeration = "MetricType", tag = "1")]
    kind: i32,
    #[prost(string, tag = "2")]
    metric_family_name: String,
    #[prost(string, tag = "4")]
    help: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, prost::Enumeration)]
#[repr(i32)]
enum MetricType {
    Unknown = 0,
    Counter = 1,
    Gauge = 2,
    Histogram = 3,
}

/// The body of a request with all families at one time, in milliseconds since 1970; histograms by their classic buckets.
#[must_use]
pub fn remote_write(families: &[Family], time_unix_ms: i64) -> Vec<u8> {
    let each = families.iter().flat_map(|family| family.samples.iter().map(move |sample| (family, sample)));
    let timeseries = each.flat_map(|(family, sample)| classic(family, sample, time_unix_ms)).collect();
    let metadata = families.iter().map(|family| Metadata {
        kind: match family.kind {
            Kind::Counter => MetricType::Counter,
            Kind::Gauge => MetricType::Gauge,
            Kind::Histogram => MetricType::Histogram,
        }
        .into(),
        metric_family_name: family.sample_name(),
        help: family.help.to_owned(),
    });
    packed(&WriteRequest { timeseries, metadata: metadata.collect() })
}

/// The body of a request with the histograms alone, by their native buckets; `None` where there are none.
#[must_use]
pub fn remote_write_native(families: &[Family], time_unix_ms: i64) -> Option<Vec<u8>> {
    let each = families.iter().flat_map(|family| family.samples.iter().map(move |sample| (family, sample)));
    let series = each.filter_map(|(family, sample)| {
        let Value::Times(times) = &sample.value else { return None };
        Some(TimeSeries {
            labels: labels(family.sample_name(), sample, None),
            samples: Vec::new(),
            histograms: vec![histogram(times, time_unix_ms)],
        })
    });
    let timeseries: Vec<TimeSeries> = series.collect();
    (!timeseries.is_empty()).then(|| packed(&WriteRequest { timeseries, metadata: Vec::new() }))
}

fn packed(request: &WriteRequest) -> Vec<u8> {
    let bytes = request.encode_to_vec();
    snap::raw::Encoder::new().compress_vec(&bytes).expect("2,000 series are far below 4 GiB")
}

fn classic(family: &Family, sample: &Sample, timestamp: i64) -> Vec<TimeSeries> {
    let name = family.sample_name();
    let series = |name: String, bound: Option<f64>, value: f64| TimeSeries {
        labels: labels(name, sample, bound),
        samples: vec![Point { value, timestamp }],
        histograms: Vec::new(),
    };
    match &sample.value {
        Value::Number(value) => vec![series(name, None, *value)],
        Value::Times(times) => {
            let bucket = |(bound, count)| series(format!("{name}_bucket"), Some(bound), count as f64);
            let buckets = times.cumulative().map(bucket);
            let count = series(format!("{name}_count"), None, times.count as f64);
            buckets.chain([count, series(format!("{name}_sum"), None, times.sum_s)]).collect()
        }
    }
}

/// With the name as a label, in order.
fn labels(name: String, sample: &Sample, bound: Option<f64>) -> Vec<Label> {
    let label = |name: &str, value: String| Label { name: name.to_owned(), value };
    // An empty value is the same as no label, and not allowed.
    let own = sample.labels.iter().filter(|(_, value)| !value.is_empty());
    let mut labels: Vec<Label> = own.map(|(name, value)| label(name, value.clone())).collect();
    labels.push(label("__name__", name));
    labels.extend(bound.map(|bound| label("le", bound_label(bound))));
    labels.sort();
    labels
}

fn histogram(times: &Times, timestamp: i64) -> Histogram {
    let (positive_spans, positive_deltas) = spans(times.native.iter().map(|(index, count)| (*index, *count)));
    Histogram {
        count_int: times.count,
        sum: times.sum_s,
        schema: SCHEMA,
        zero_threshold: ZERO_BELOW_S,
        positive_spans,
        positive_deltas,
        timestamp,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buckets::times;

    fn families() -> Vec<Family> {
        let mut histogram = Family::new("prony_response_seconds", Kind::Histogram, "Times");
        histogram.push_times(&[("run", "r"), ("cell", "")], times(&[2_000_000; 3]));
        let mut counter = Family::new("prony_read_bytes", Kind::Counter, "Bytes");
        counter.push(&[("run", "r"), ("phase", "sample")], 7.0);
        vec![histogram, counter]
    }

    fn read(body: &[u8]) -> WriteRequest {
        let bytes = snap::raw::Decoder::new().decompress_vec(body).unwrap();
        WriteRequest::decode(bytes.as_slice()).unwrap()
    }

    #[test]
    fn every_sample_is_a_series_whose_labels_are_in_order() {
        let request = read(&remote_write(&families(), 5));
        // 20 bounds, that without end, count, sum; the counter.
        assert_eq!(request.timeseries.len(), 24);
        for series in &request.timeseries {
            let names: Vec<&str> = series.labels.iter().map(|label| label.name.as_str()).collect();
            assert!(names.is_sorted() && names[0] == "__name__", "{names:?}");
            assert!(series.labels.iter().all(|label| !label.value.is_empty()), "{series:?}");
            assert!(series.samples.len() == 1 && series.samples[0].timestamp == 5);
        }
        let value = |name: &str, bound: &str| {
            let is = |series: &&TimeSeries, label: &str, value: &str| {
                value.is_empty() || series.labels.iter().any(|own| own.name == label && own.value == value)
            };
            let mut all = request.timeseries.iter();
            all.find(|series| is(series, "__name__", name) && is(series, "le", bound)).unwrap().samples[0]
                .value
        };
        assert_eq!(value("prony_read_bytes_total", ""), 7.0);
        assert_eq!(value("prony_response_seconds_bucket", "0.001"), 0.0);
        assert_eq!(value("prony_response_seconds_bucket", "+Inf"), 3.0);
        assert_eq!(value("prony_response_seconds_count", ""), 3.0);
        let names = request.metadata.iter().map(|family| (family.metric_family_name.as_str(), family.kind));
        assert_eq!(
            names.collect::<Vec<_>>(),
            [
                ("prony_response_seconds", MetricType::Histogram as i32),
                ("prony_read_bytes_total", MetricType::Counter as i32)
            ]
        );
    }

    #[test]
    fn native_buckets_are_a_request_of_their_own() {
        let request = read(&remote_write_native(&families(), 5).unwrap());
        let [series] = request.timeseries.as_slice() else { panic!("{request:?}") };
        assert_eq!(series.labels[0].value, "prony_response_seconds");
        let [histogram] = series.histograms.as_slice() else { panic!("{series:?}") };
        assert_eq!((histogram.count_int, histogram.schema, histogram.timestamp), (3, 8, 5));
        assert_eq!(histogram.positive_deltas, [3]);
        assert!(remote_write_native(&families()[1..], 5).is_none());
    }
}
