//! Numbers as people read them, for the sentences that this crate writes. Tables are the report's.

use schema::analysis::Interval;
use schema::metric::{Metric, Unit};
use schema::steady::SteadySeries;

/// `30000` → `30,000`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Most further decimals that are given to tell the ends of an interval apart.
const MORE_MAX: usize = 3;

/// Three significant digits at least, whole numbers above 100, thousands grouped. What is not finite gets a word, so
/// that no sentence holds `NaN` or `inf`.
pub(crate) fn number(value: f64) -> String {
    number_with(value, 0)
}

/// As [`number`], with `more` further decimals, which are then kept where they are zeros.
fn number_with(value: f64, more: usize) -> String {
    if !value.is_finite() {
        return if value.is_nan() { "no number" } else { "unbounded" }.to_owned();
    }
    let size = value.abs();
    if size >= 1e15 {
        return format!("{value:.*e}", 2 + more);
    }
    let decimals = match size {
        s if s >= 99.95 => 0,
        s if s >= 9.995 => 1,
        s if s >= 0.9995 => 2,
        s if s >= 0.0005 => 4,
        _ => 6,
    };
    fraction(value, decimals, more)
}

/// A finite number below 1e15 with its thousands grouped. Zeros at the end go, unless `more` decimals were asked for.
fn fraction(value: f64, decimals: usize, more: usize) -> String {
    let text = format!("{:.*}", decimals + more, value.abs());
    let (whole, rest) = text.split_once('.').unwrap_or((&text, ""));
    let whole = grouped(whole.parse().unwrap_or_default());
    let text = if rest.is_empty() { whole } else { format!("{whole}.{rest}") };
    let text = if more == 0 { trimmed(text) } else { text };
    let is_zero = text.chars().all(|digit| !digit.is_ascii_digit() || digit == '0');
    if value < 0.0 && !is_zero { format!("-{text}") } else { text }
}

/// The ends of an interval; an absent one is unbounded.
pub(crate) fn ends(interval: Interval) -> (f64, f64) {
    (interval.low.unwrap_or(f64::NEG_INFINITY), interval.high.unwrap_or(f64::INFINITY))
}

/// An estimate with the ends of its interval, all with the same further decimals, as few as distinguish the ends; with
/// none where [`MORE_MAX`] do not. Without an estimate, `unknown`.
fn apart(estimate: Option<f64>, (low, high): (f64, f64), text: impl Fn(f64, usize) -> String) -> [String; 3] {
    let differ = |more: &usize| text(low, *more) != text(high, *more);
    let more = if low == high { 0 } else { (0..=MORE_MAX).find(differ).unwrap_or(0) };
    [estimate.map_or("unknown".to_owned(), |value| text(value, more)), text(low, more), text(high, more)]
}

/// Numbers as [`number`], an estimate with its ends: `800` from `799.6` to `800.4` is `800.0`, `799.6`, `800.4`.
pub(crate) fn numbers(estimate: Option<f64>, ends: (f64, f64)) -> [String; 3] {
    apart(estimate, ends, number_with)
}

/// A ratio: three decimals, four near 1, more where it is small.
pub(crate) fn ratio(value: f64) -> String {
    ratio_with(value, 0)
}

fn ratio_with(value: f64, more: usize) -> String {
    match value {
        near if (near - 1.0).abs() < 0.0095 => fraction(value, 4, more),
        usual if (0.01..100.0).contains(&usual) => fraction(value, 3, more),
        _ => number_with(value, more),
    }
}

/// Ratios as [`ratio`], an estimate with its ends: `1.1002` from `1.1001` to `1.1003`.
pub(crate) fn ratios(estimate: Option<f64>, ends: (f64, f64)) -> [String; 3] {
    apart(estimate, ends, ratio_with)
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

/// A share as a percentage with its sign, one decimal, two below 0.1 %.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if !percent.is_finite() {
        return number(percent);
    }
    let text = match percent.abs() {
        size if size >= 1e6 => number(percent),
        size if size > 0.0 && size < 0.095 => format!("{percent:.2}"),
        _ => trimmed(format!("{percent:.1}")),
    };
    format!("{text} %")
}

/// A share between two others, with as many decimals as half of what lies between those takes, at most three:
/// `4.1 %` from `2.9 %` to `5.3 %`, `9.98 %` from `9.93 %` to `10.02 %`.
pub(crate) fn percents(shares: [f64; 3]) -> [String; 3] {
    let [_, low, high] = shares;
    let half = (high - low) * 100.0 / 2.0;
    let decimals = (-half.log10()).ceil();
    if !(2.0..=1e3).contains(&decimals) {
        return shares.map(percent);
    }
    let decimals = decimals.min(3.0) as usize;
    let text = |share: f64| format!("{:.decimals$} %", share * 100.0);
    if text(low) == text(high) { shares.map(percent) } else { shares.map(text) }
}

/// `p 0.031`, below a thousandth `p < 0.001`.
pub(crate) fn p_value(p: f64) -> String {
    if p < 0.001 { "p < 0.001".to_owned() } else { format!("p {}", number(p)) }
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

/// Nanoseconds in the largest unit that leaves at least 1.
pub(crate) fn duration(ns: f64) -> String {
    duration_with(ns, 0)
}

fn duration_with(ns: f64, more: usize) -> String {
    match ns.abs() {
        size if size >= 1e9 => format!("{} s", number_with(ns / 1e9, more)),
        size if size >= 1e6 => format!("{} ms", number_with(ns / 1e6, more)),
        size if size >= 1e3 => format!("{} µs", number_with(ns / 1e3, more)),
        _ => format!("{} ns", number_with(ns, more)),
    }
}

pub(crate) fn bytes(bytes: f64) -> String {
    bytes_with(bytes, 0)
}

fn bytes_with(bytes: f64, more: usize) -> String {
    match bytes.abs() {
        size if size >= 1_073_741_824.0 => format!("{} GiB", number_with(bytes / 1_073_741_824.0, more)),
        size if size >= 1_048_576.0 => format!("{} MiB", number_with(bytes / 1_048_576.0, more)),
        size if size >= 1024.0 => format!("{} KiB", number_with(bytes / 1024.0, more)),
        _ => format!("{} B", number_with(bytes, more)),
    }
}

/// `1 block`, `2 blocks`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number as u64), if number == 1 { "" } else { "s" })
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

/// The metric inside a sentence.
pub(crate) fn metric(metric: Metric) -> &'static str {
    match metric {
        Metric::Throughput => "requests per second",
        Metric::Mean => "mean response time",
        Metric::P50 => "median response time",
        Metric::P90 => "p90 response time",
        Metric::P95 => "p95 response time",
        Metric::P99 => "p99 response time",
        Metric::P999 => "p99.9 response time",
        Metric::ErrorRate => "error rate",
        Metric::CpuPerRequest => "CPU time per request",
        Metric::Memory => "memory",
        Metric::AllocPerRequest => "memory allocated per request",
    }
}

/// A series of the steady-state check inside a sentence.
pub(crate) fn series_name(series: SteadySeries) -> &'static str {
    match series {
        SteadySeries::P50 => metric(Metric::P50),
        SteadySeries::P99 => metric(Metric::P99),
        SteadySeries::Throughput => metric(Metric::Throughput),
        SteadySeries::Errors => metric(Metric::ErrorRate),
        SteadySeries::CpuPerRequest => metric(Metric::CpuPerRequest),
        SteadySeries::Memory => metric(Metric::Memory),
    }
}

/// Without zeros, and a point, at the end of a decimal fraction.
fn trimmed(text: String) -> String {
    if !text.contains('.') {
        return text;
    }
    let short = text.trim_end_matches('0').trim_end_matches('.');
    if short == "-0" { "0".to_owned() } else { short.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_a_narrow_interval_are_told_apart() {
        let words = |low: f64, high: f64| {
            let [_, low, high] = numbers(None, (low, high));
            format!("{low} to {high}")
        };
        assert_eq!(words(799.0, 801.0), "799 to 801");
        assert_eq!(words(799.6, 800.4), "799.6 to 800.4");
        assert_eq!(words(799.98, 800.01), "799.98 to 800.01");
        assert_eq!(words(800.0, 800.0), "800 to 800");
        assert_eq!(words(800.000_01, 800.000_02), "800 to 800");
        assert_eq!(words(12_345.6, 12_346.1), "12,345.6 to 12,346.1");
        assert_eq!(ratios(Some(1.1), (1.0996, 1.1004)), ["1.1000", "1.0996", "1.1004"]);
        assert_eq!(ratios(Some(1.1), (1.09, 1.11)), ["1.1", "1.09", "1.11"]);
        assert_eq!(ratios(Some(1.1), (1.1, 1.1)), ["1.1", "1.1", "1.1"]);
        assert_eq!(ratios(Some(1.1), (0.0, f64::INFINITY)), ["1.1", "0", "unbounded"]);
        assert_eq!(values(Metric::P99, Some(2e6), (1.999e6, 2.001e6)), ["2.000 ms", "1.999 ms", "2.001 ms"]);
        assert_eq!(values(Metric::Memory, Some(2048.0), (1024.0, 4096.0)), ["2 KiB", "1 KiB", "4 KiB"]);
        let per_second = values(Metric::Throughput, Some(800.0), (799.6, 800.4));
        assert_eq!(values(Metric::ErrorRate, None, (0.01, 0.02)), ["unknown", "1 %", "2 %"]);
        let unbounded = ends(Interval { low: None, high: Some(2.0) });
        assert_eq!(ratios(None, unbounded), ["unknown", "unbounded", "2"]);
        assert_eq!(per_second, ["800.0 per second", "799.6 per second", "800.4 per second"]);
    }

    #[test]
    fn numbers_for_people() {
        let table = [
            (grouped(0), "0"),
            (grouped(999), "999"),
            (grouped(30_000), "30,000"),
            (grouped(u64::MAX), "18,446,744,073,709,551,615"),
            (number(12_345.6), "12,346"),
            (number(-1_234.0), "-1,234"),
            (number(99.96), "100"),
            (number(42.04), "42"),
            (number(3.146), "3.15"),
            (number(0.0), "0"),
            (number(1e300), "1.00e300"),
            (ratio(1.0414), "1.041"),
            (ratio(1.0), "1"),
            (ratio(0.99987), "0.9999"),
            (ratio(f64::INFINITY), "unbounded"),
            (number(f64::NAN), "no number"),
            (percent(f64::NAN), "no number"),
            (percent(0.0414), "4.1 %"),
            (percent(0.0004), "0.04 %"),
            (percent(0.95), "95 %"),
            (percent(-0.00001), "-0.00 %"),
            (duration(1_500_000.0), "1.5 ms"),
            (duration(2e3), "2 µs"),
            (bytes(3.0 * 1_048_576.0), "3 MiB"),
            (bytes(-2048.0), "-2 KiB"),
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

    #[test]
    fn the_ends_of_a_narrow_interval_differ() {
        assert_eq!(percents([0.041, 0.029, 0.053]), ["4.1 %", "2.9 %", "5.3 %"]);
        assert_eq!(percents([0.1, 0.0998, 0.1002]), ["10.00 %", "9.98 %", "10.02 %"]);
        assert_eq!(percents([0.0998, 0.0993, 0.1002]), ["9.98 %", "9.93 %", "10.02 %"]);
        assert_eq!(percents([0.103, 0.099, 0.105]), ["10.3 %", "9.9 %", "10.5 %"]);
        assert_eq!(percents([0.1, 0.09998, 0.10001]), ["10.000 %", "9.998 %", "10.001 %"]);
        assert_eq!(percents([0.1, 0.1, 0.100_000_1]), ["10 %", "10 %", "10 %"]);
        assert_eq!(percents([0.1, 0.1, 0.1]), ["10 %", "10 %", "10 %"]);
        assert_eq!(percents([0.1, f64::NAN, f64::INFINITY]), ["10 %", "no number", "unbounded"]);
    }
}
