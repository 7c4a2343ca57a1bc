//! The unit of a counter, which its name tells.

use crate::page::CounterUnit;

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

/// The unit that a name ends in, before a percentile and Prometheus' `total`.
#[must_use]
pub fn counter_unit(name: &str) -> Option<CounterUnit> {
    let name = name.strip_suffix("_total").unwrap_or(name);
    let is_percentile = |end: &str| {
        end.len() > 1 && end.starts_with('p') && end[1..].bytes().all(|byte| byte.is_ascii_digit())
    };
    let name = name.rsplit_once('_').filter(|(_, end)| is_percentile(end)).map_or(name, |(name, _)| name);
    let ends_in = |end: &str| name == end || name.strip_suffix(end).is_some_and(|rest| rest.ends_with('_'));
    UNITS.iter().find(|(end, _)| ends_in(end)).and_then(|(_, unit)| *unit)
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
}
