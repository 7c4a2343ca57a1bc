//! What the name of a counter says: its unit, whether several values of it may be averaged, and whether it has a rate.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Unit of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CounterUnit {
    /// Bytes.
    Bytes,
    /// Nanoseconds.
    Ns,
    /// Microseconds.
    Us,
    /// Milliseconds.
    Ms,
    /// Seconds.
    S,
    /// A share from 0 to 1.
    Share,
    /// A share from 0 to 100.
    Percent,
    /// Bytes per second, already.
    BytesPerS,
}

/// How the names of counters say their unit, the longest ending first.
const UNITS: [(&str, Option<CounterUnit>); 10] = [
    ("bytes_per_s", Some(CounterUnit::BytesPerS)),
    ("per_s", None),
    ("percent", Some(CounterUnit::Percent)),
    ("seconds", Some(CounterUnit::S)),
    ("bytes", Some(CounterUnit::Bytes)),
    ("share", Some(CounterUnit::Share)),
    ("ns", Some(CounterUnit::Ns)),
    ("us", Some(CounterUnit::Us)),
    ("ms", Some(CounterUnit::Ms)),
    ("s", Some(CounterUnit::S)),
];

/// Counters of `go.runtime` that Go brings up to date at the end of a collection only. Their increases reach back to the
/// collection before, further than the time between two readings, so they have no rate; one over another has a value.
pub const GO_AT_CYCLE_END: [&str; 4] = ["gc_cpu_ns", "gc_assist_cpu_ns", "user_cpu_ns", "total_cpu_ns"];

/// The unit that a name ends in, before a percentile and Prometheus' `total`.
#[must_use]
pub fn counter_unit(name: &str) -> Option<CounterUnit> {
    let name = name.strip_suffix("_total").unwrap_or(name);
    let name = name.rsplit_once('_').filter(|(_, end)| is_quantile(end)).map_or(name, |(name, _)| name);
    let ends_in = |end: &str| name == end || name.strip_suffix(end).is_some_and(|rest| rest.ends_with('_'));
    UNITS.iter().find(|(end, _)| ends_in(end)).and_then(|(_, unit)| *unit)
}

/// Whether a part of the name, with or without its source, is a percentile: `wait_seconds_p95`, `a.b/rtt_p50_ns`.
#[must_use]
pub fn is_percentile(name: &str) -> bool {
    name.split(['_', '/']).any(is_quantile)
}

/// Whether a level is a percentile or a maximum, so that of several values the largest counts: percentiles are never
/// averaged (METHOD §0.3).
#[must_use]
pub fn is_extreme(name: &str) -> bool {
    name.split(['_', '/']).any(|part| part == "max" || is_quantile(part))
}

fn is_quantile(part: &str) -> bool {
    part.strip_prefix('p')
        .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_those_of_the_names() {
        for (name, expected) in [
            ("rtt_p50_ns", Some(CounterUnit::Ns)),
            ("recv_queue_bytes_p99", Some(CounterUnit::Bytes)),
            ("delivery_rate_p50_bytes_per_s", Some(CounterUnit::BytesPerS)),
            ("process_cpu_seconds_total", Some(CounterUnit::S)),
            ("busiest_percent", Some(CounterUnit::Percent)),
            ("bytes", Some(CounterUnit::Bytes)),
            ("requests_per_s", None),
            ("established", None),
            ("cwnd_p50", None),
            ("ListenDrops", None),
        ] {
            assert_eq!(counter_unit(name), expected, "{name}");
        }
    }

    #[test]
    fn percentiles_and_maxima_are_known_by_their_names() {
        for (name, percentile, extreme) in [
            ("wait_seconds_p95", true, true),
            ("rtt_p50_ns", true, true),
            ("gc_pause_max_ns", false, true),
            ("pool_max", false, true),
            ("go.pool/max", false, true),
            ("target.connections/p50_ns", true, true),
            ("p", false, false),
            ("pool_open", false, false),
            ("http_p", false, false),
            ("maximum", false, false),
        ] {
            assert_eq!((is_percentile(name), is_extreme(name)), (percentile, extreme), "{name}");
        }
    }
}
