//! Values of metrics as the sentences of this crate show them. How a number looks is `units::format::sentence`'s.

use schema::analysis::Interval;
use schema::metric::{Metric, Unit};
use units::format::counted;
use units::format::narrow::apart;
use units::format::sentence::{bytes_with, duration_with, number_with};

pub(crate) use units::format::grouped;
pub(crate) use units::format::sentence::{
    bytes, duration, number, numbers, p_value, percent, percents, ratio, ratios,
};

/// The ends of an interval; an absent one is unbounded.
pub(crate) fn ends(interval: Interval) -> (f64, f64) {
    (interval.low.unwrap_or(f64::NEG_INFINITY), interval.high.unwrap_or(f64::INFINITY))
}

/// The values of a metric as [`value`], an estimate with its ends.
pub(crate) fn values(metric: Metric, estimate: Option<f64>, ends: (f64, f64)) -> [String; 3] {
    match metric.unit() {
        Unit::PerSecond => {
            apart(estimate, ends, |value, more| format!("{} per second", number_with(value, more)))
        }
        Unit::Nanoseconds => apart(estimate, ends, duration_with),
        Unit::Share => {
            let [shown, low, high] = percents([estimate.unwrap_or_default(), ends.0, ends.1]);
            [if estimate.is_some() { shown } else { "unknown".to_owned() }, low, high]
        }
        Unit::Bytes => apart(estimate, ends, bytes_with),
    }
}

/// The value of a metric with its unit.
pub(crate) fn value(metric: Metric, value: f64) -> String {
    match metric.unit() {
        Unit::PerSecond => format!("{} per second", number(value)),
        Unit::Nanoseconds => duration(value),
        Unit::Share => percent(value),
        Unit::Bytes => bytes(value),
    }
}

/// `1 block`, `2 blocks`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    counted(number as u64, noun)
}

/// `trial 3`, `trials 3, 7 and 9`, `trials 1, 2, 3, 4, 5 and 7 more`.
pub(crate) fn listed(noun: &str, ids: &[u32]) -> String {
    const SHOWN: usize = 5;
    let text: Vec<String> = ids.iter().take(SHOWN).map(u32::to_string).collect();
    match (text.as_slice(), ids.len()) {
        ([only], 1) => format!("{noun} {only}"),
        (shown, all) if all > SHOWN => format!("{noun}s {} and {} more", shown.join(", "), all - SHOWN),
        ([before @ .., last], _) => format!("{noun}s {} and {last}", before.join(", ")),
        ([], _) => format!("no {noun}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_metrics_have_the_digits_that_tell_the_ends_apart() {
        assert_eq!(values(Metric::P99, Some(2e6), (1.999e6, 2.001e6)), ["2.000 ms", "1.999 ms", "2.001 ms"]);
        assert_eq!(values(Metric::Memory, Some(2048.0), (1024.0, 4096.0)), ["2 KiB", "1 KiB", "4 KiB"]);
        let per_second = values(Metric::Throughput, Some(800.0), (799.6, 800.4));
        assert_eq!(per_second, ["800.0 per second", "799.6 per second", "800.4 per second"]);
        assert_eq!(values(Metric::ErrorRate, None, (0.01, 0.02)), ["unknown", "1 %", "2 %"]);
        let unbounded = ends(Interval { low: None, high: Some(2.0) });
        assert_eq!(ratios(None, unbounded), ["unknown", "unbounded", "2"]);
    }

    #[test]
    fn what_is_counted_and_listed() {
        let table = [
            (count(1, "block"), "1 block"),
            (count(5, "block"), "5 blocks"),
            (listed("trial", &[]), "no trial"),
            (listed("trial", &[3]), "trial 3"),
            (listed("trial", &[3, 7, 9]), "trials 3, 7 and 9"),
            (listed("trial", &[1, 2, 3, 4, 5, 6, 7]), "trials 1, 2, 3, 4, 5 and 2 more"),
        ];
        for (got, wanted) in table {
            assert_eq!(got, wanted);
        }
    }
}
