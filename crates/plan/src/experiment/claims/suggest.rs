//! Remedies for what a claim names wrongly.

use schema::counter_metric::ClaimMetric;
use schema::metric::Unit;
use schema::text::nearest;

/// `did you mean …?`, or all that there are.
pub(in crate::experiment) fn suggestion<'a>(
    wrong: &str,
    names: impl Iterator<Item = &'a str> + Clone,
) -> String {
    match nearest(wrong, names.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("name one of: {}", names.collect::<Vec<_>>().join(", ")),
    }
}

/// How a metric is written, for messages.
pub(super) fn example(metric: &ClaimMetric) -> &'static str {
    match metric.unit() {
        Unit::PerSecond => "10k",
        Unit::Nanoseconds => "50ms",
        Unit::Share => "0.1%",
        Unit::Bytes => "64MiB",
        Unit::Count => "100",
        Unit::BytesPerSecond => "64MiB/s",
    }
}
