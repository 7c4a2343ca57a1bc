//! How numbers are shown: the one home of number formatting.
//!
//! Invariants: no function prints `NaN` or `inf`; a number that is missing or not finite is shown as [`NONE`];
//! measured values have three significant digits, counts have all of theirs with thousands separators.
//! Absent on purpose: locales, and machine-readable numbers (CSV and JSON carry raw values).

use schema::analysis::Interval;
use schema::metric::Unit;

/// Stands for a value that is missing.
pub const NONE: &str = "–";

/// Ends of an interval that differ only beyond this many more digits than usual are one number.
const MORE_MAX: usize = 3;

/// A number and its unit, apart, so that an interval can name the unit once.
struct Shown {
    number: String,
    unit: &'static str,
}

impl Shown {
    fn join(&self) -> String {
        format!("{}{}", self.number, self.unit)
    }
}

/// A time in nanoseconds with three significant digits: `950 ns`, `1.23 ms`, `12.3 s`. Minutes from 2 min on.
#[must_use]
pub fn duration(ns: f64) -> String {
    finite(ns).map_or_else(none, |ns| shown_duration(ns, 0).join())
}

/// As [`duration`], for a raw count of nanoseconds.
#[must_use]
pub fn nanos(ns: u64) -> String {
    duration(ns as f64)
}

/// A chosen length of time without trailing zeros: `5 s`, `1.5 s`, `250 ms`.
#[must_use]
pub fn setting(ns: u64) -> String {
    let Shown { number, unit } = shown_duration(ns as f64, 0);
    let number = match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => &number,
    };
    format!("{number}{unit}")
}

/// Events per second: `48,213/s`, below a thousand with three significant digits.
#[must_use]
pub fn rate(per_s: f64) -> String {
    finite(per_s).map_or_else(none, |value| shown_rate(value, 0).join())
}

/// A size in powers of 1024 with three significant digits: `512 B`, `1.21 MiB`.
#[must_use]
pub fn bytes(bytes: f64) -> String {
    finite(bytes).map_or_else(none, |value| shown_bytes(value, 0).join())
}

/// A share from 0 to 1 as percent: `0 %`, `0.123 %`, `12.3 %`; what is above zero never shows as zero.
#[must_use]
pub fn percent(share: f64) -> String {
    finite(share).map_or_else(none, |value| shown_percent(value, 0).join())
}

/// A chosen share without trailing zeros: `2 %`, `0.5 %`.
#[must_use]
pub fn chosen_percent(share: f64) -> String {
    let Some(share) = finite(share) else { return none() };
    let number = format!("{:.4}", share * 100.0);
    format!("{} %", number.trim_end_matches('0').trim_end_matches('.'))
}

/// A ratio as the change it means: 1.041 is `+4.1 %`, 0.5 is `−50.0 %`; from a factor of ten on `×12.3`.
#[must_use]
pub fn change(ratio: f64) -> String {
    finite(ratio).map_or_else(none, |value| shown_change(value, 0).join())
}

/// A ratio as it stands: `1.041`.
#[must_use]
pub fn ratio(ratio: f64) -> String {
    finite(ratio).map_or_else(none, |value| shown_ratio(value, 0).join())
}

/// A p value: `0.031`, below a thousandth `< 0.001`.
#[must_use]
pub fn p_value(p: f64) -> String {
    match finite(p) {
        None => none(),
        Some(p) if p < 0.001 => "< 0.001".to_owned(),
        Some(p) => signed(format!("{p:.3}")),
    }
}

/// A count with thousands separators: `1,234,567`.
#[must_use]
pub fn count(n: u64) -> String {
    thousands(&n.to_string())
}

/// A count with its noun: `1 worker`, `64 connections`.
#[must_use]
pub fn counted(n: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(n), if n == 1 { "" } else { "s" })
}

/// A value in a metric's unit.
#[must_use]
pub fn value(unit: Unit, value: f64) -> String {
    finite(value).map_or_else(none, |value| shown(unit, value, 0).join())
}

/// A number without a unit: whole ones with all their digits, others with three significant ones.
#[must_use]
pub fn plain(number: f64) -> String {
    match finite(number) {
        None => none(),
        Some(whole) if whole.fract() == 0.0 && whole.abs() < 1e15 => {
            thousands(&signed(format!("{whole:.0}")))
        }
        Some(number) => significant(number, 3),
    }
}

/// An interval in a metric's unit, which is named once where both ends share it: `1.20 … 1.31 ms`.
#[must_use]
pub fn interval(unit: Unit, interval: &Interval) -> String {
    ends(interval, |value, more| shown(unit, value, more))
}

/// An interval of a ratio as changes: `+3.2 … +5.0 %`.
#[must_use]
pub fn change_interval(interval: &Interval) -> String {
    ends(interval, shown_change)
}

/// An interval of a ratio as it stands: `1.032 … 1.050`.
#[must_use]
pub fn ratio_interval(interval: &Interval) -> String {
    ends(interval, shown_ratio)
}

/// A difference of two values of a metric with its sign: `+1.20 ms`, `−0.100 %`, `0 ns`.
#[must_use]
pub fn difference(unit: Unit, difference: f64) -> String {
    finite(difference).map_or_else(none, |value| shown_difference(unit, value, 0).join())
}

/// An interval of a difference: `+1.20 … +1.31 ms`.
#[must_use]
pub fn difference_interval(unit: Unit, interval: &Interval) -> String {
    ends(interval, |value, more| shown_difference(unit, value, more))
}

/// A number for an axis: `0`, `950`, `12k`, `1.5M`.
#[must_use]
pub fn axis(value: f64) -> String {
    const STEPS: [(f64, &str); 3] = [(1e9, "G"), (1e6, "M"), (1e3, "k")];
    let Some(value) = finite(value) else { return none() };
    let (factor, suffix) = STEPS.into_iter().find(|(factor, _)| value.abs() >= *factor).unwrap_or((1.0, ""));
    let number = format!("{:.2}", value / factor);
    let number = number.trim_end_matches('0').trim_end_matches('.');
    signed(format!("{number}{suffix}"))
}

/// `show` gives a number with so many digits more than usual: as many as it takes to tell the ends apart.
fn ends(interval: &Interval, show: impl Fn(f64, usize) -> Shown) -> String {
    let (low, high) = match (interval.low.and_then(finite), interval.high.and_then(finite)) {
        (None, None) => return "unbounded".to_owned(),
        (None, Some(high)) => return format!("−∞ … {}", show(high, 0).join()),
        (Some(low), None) => return format!("{} … ∞", show(low, 0).join()),
        (Some(low), Some(high)) => (low, high),
    };
    let both = (0..=MORE_MAX).map(|more| (show(low, more), show(high, more)));
    match both.into_iter().find(|(low, high)| low.join() != high.join()) {
        None => show(low, 0).join(),
        Some((low, high)) if low.unit == high.unit => format!("{} … {}", low.number, high.join()),
        Some((low, high)) => format!("{} … {}", low.join(), high.join()),
    }
}

fn shown_ratio(value: f64, more: usize) -> Shown {
    let number = match value.abs() >= 100.0 {
        true => significant(value, 3 + more),
        false => signed(format!("{value:.*}", 3 + more)),
    };
    Shown { number, unit: "" }
}

/// Each of these takes how many more digits than usual it is to show.
fn shown(unit: Unit, value: f64, more: usize) -> Shown {
    match unit {
        Unit::PerSecond => shown_rate(value, more),
        Unit::Nanoseconds => shown_duration(value, more),
        Unit::Share => shown_percent(value, more),
        Unit::Bytes => shown_bytes(value, more),
    }
}

fn shown_difference(unit: Unit, value: f64, more: usize) -> Shown {
    // What is below the resolution of the text has no sign worth showing, and `<` none at all.
    let tiny = unit == Unit::Share && value != 0.0 && value.abs() < 1e-5;
    let Shown { number, unit } =
        if tiny { Shown { number: "0".to_owned(), unit: " %" } } else { shown(unit, value, more) };
    let number = if value > 0.0 && number != "0" { format!("+{number}") } else { number };
    Shown { number, unit }
}

fn shown_duration(ns: f64, more: usize) -> Shown {
    // Each unit is used until its three digits would round up to the next one.
    const UNITS: [(f64, f64, &str); 5] = [
        (1.0, 999.5, " ns"),
        (1e3, 999.5e3, " µs"),
        (1e6, 999.5e6, " ms"),
        (1e9, 119.5e9, " s"),
        (60e9, 119.5 * 60e9, " min"),
    ];
    let (factor, unit) = UNITS
        .into_iter()
        .find(|(_, until, _)| ns.abs() < *until)
        .map_or((3600e9, " h"), |(factor, _, unit)| (factor, unit));
    // Nanoseconds are whole: the clock has no finer step.
    let whole = factor == 1.0 && ns.fract() == 0.0;
    let number = if whole { signed(format!("{ns:.0}")) } else { significant(ns / factor, 3 + more) };
    Shown { number, unit }
}

fn shown_rate(per_s: f64, more: usize) -> Shown {
    let number = match per_s.abs() >= 999.5 {
        true => thousands(&signed(format!("{per_s:.more$}"))),
        false => significant(per_s, 3 + more),
    };
    Shown { number, unit: "/s" }
}

fn shown_bytes(bytes: f64, more: usize) -> Shown {
    const UNITS: [(f64, &str); 5] = [
        (1.0, " B"),
        (1024.0, " KiB"),
        (1_048_576.0, " MiB"),
        (1_073_741_824.0, " GiB"),
        (1_099_511_627_776.0, " TiB"),
    ];
    let (factor, unit) =
        UNITS.into_iter().find(|(factor, _)| bytes.abs() < factor * 1023.5).unwrap_or(UNITS[4]);
    let number = if factor == 1.0 {
        thousands(&signed(format!("{bytes:.more$}")))
    } else {
        significant(bytes / factor, 3 + more)
    };
    Shown { number, unit }
}

fn shown_percent(share: f64, more: usize) -> Shown {
    let percent = share * 100.0;
    let number = match percent.abs() {
        0.0 => "0".to_owned(),
        small if small < 0.001 => "< 0.001".to_owned(),
        _ => significant(percent, 3 + more),
    };
    Shown { number, unit: " %" }
}

fn shown_change(ratio: f64, more: usize) -> Shown {
    if ratio >= 10.0 {
        return Shown { number: format!("×{}", significant(ratio, 3 + more)), unit: "" };
    }
    let number = format!("{:+.*}", 1 + more, (ratio - 1.0) * 100.0);
    let is_zero = !number.contains(|c: char| ('1'..='9').contains(&c));
    let number = if is_zero { number[1..].to_owned() } else { signed(number) };
    Shown { number, unit: " %" }
}

/// `digits` significant digits, without an exponent; integers above that keep all their digits, grouped.
fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    // Rust's exponent form rounds first, so 9.996 counts as 10.0 and gets one decimal.
    let rounded = format!("{value:.*e}", digits - 1);
    let exponent: i32 = rounded.rsplit('e').next().and_then(|text| text.parse().ok()).unwrap_or(0);
    let decimals = usize::try_from(digits as i32 - 1 - exponent).unwrap_or(0);
    thousands(&signed(format!("{value:.decimals$}")))
}

/// A real minus sign, as wide as a digit.
fn signed(number: String) -> String {
    match number.strip_prefix('-') {
        Some(rest) => format!("−{rest}"),
        None => number,
    }
}

/// Groups the digits before the point in threes.
fn thousands(number: &str) -> String {
    let begin = number.find(|c: char| c.is_ascii_digit()).unwrap_or(0);
    let end = number.find('.').unwrap_or(number.len());
    let mut text = number[..begin].to_owned();
    for (index, digit) in number[begin..end].char_indices() {
        if index > 0 && (end - begin - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + &number[end..]
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

fn none() -> String {
    NONE.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(show: impl Fn(f64) -> String, table: &[(f64, &str)]) {
        for (input, expected) in table {
            assert_eq!(show(*input), *expected, "for {input}");
        }
    }

    const NOT_FINITE: [(f64, &str); 3] = [(f64::NAN, "–"), (f64::INFINITY, "–"), (f64::NEG_INFINITY, "–")];

    #[test]
    fn nothing_prints_nan() {
        for show in [duration, rate, bytes, percent, change, ratio, p_value, axis] {
            check(show, &NOT_FINITE);
        }
        for unit in [Unit::PerSecond, Unit::Nanoseconds, Unit::Share, Unit::Bytes] {
            check(|v| value(unit, v), &NOT_FINITE);
            assert_eq!(interval(unit, &Interval { low: Some(f64::NAN), high: None }), "unbounded");
        }
    }

    #[test]
    fn durations() {
        check(
            duration,
            &[
                (0.0, "0 ns"),
                (1.0, "1 ns"),
                (950.0, "950 ns"),
                (12.345, "12.3 ns"),
                (999.4, "999 ns"),
                (999.6, "1.00 µs"),
                (1_234.0, "1.23 µs"),
                (9_996.0, "10.0 µs"),
                (999_700.0, "1.00 ms"),
                (1_234_567.0, "1.23 ms"),
                (12_345_678.0, "12.3 ms"),
                (-1_500_000.0, "−1.50 ms"),
                (999_999_999.0, "1.00 s"),
                (65e9, "65.0 s"),
                (119.9e9, "2.00 min"),
                (7200e9, "2.00 h"),
                (1e18, "277,778 h"),
            ],
        );
        assert_eq!(setting(5_000_000_000), "5 s");
        assert_eq!(setting(1_500_000_000), "1.5 s");
        assert_eq!(setting(250_000_000), "250 ms");
        assert_eq!(setting(0), "0 ns");
        assert_eq!(setting(100_000_000_000), "100 s");
    }

    #[test]
    fn rates_sizes_shares() {
        check(
            rate,
            &[(0.0, "0/s"), (0.5, "0.500/s"), (999.4, "999/s"), (999.6, "1,000/s"), (48_213.4, "48,213/s")],
        );
        check(
            bytes,
            &[
                (0.0, "0 B"),
                (1023.0, "1,023 B"),
                (1024.0, "1.00 KiB"),
                (1_268_776.0, "1.21 MiB"),
                (1_048_570.0, "1.00 MiB"),
                (1e15, "909 TiB"),
                (2e15, "1,819 TiB"),
            ],
        );
        check(
            percent,
            &[
                (0.0, "0 %"),
                (1e-9, "< 0.001 %"),
                (0.00123, "0.123 %"),
                (0.05, "5.00 %"),
                (0.123_45, "12.3 %"),
                (1.0, "100 %"),
            ],
        );
    }

    #[test]
    fn the_ends_of_a_narrow_interval_have_the_digits_in_which_they_differ() {
        let of = |low: f64, high: f64| Interval { low: Some(low), high: Some(high) };
        let table = [
            (interval(Unit::PerSecond, &of(799.92, 800.31)), "799.9 … 800.3/s"),
            (interval(Unit::PerSecond, &of(48_100.12, 48_100.19)), "48,100.1 … 48,100.2/s"),
            (interval(Unit::Nanoseconds, &of(8_000_100.0, 8_001_300.0)), "8.000 … 8.001 ms"),
            (interval(Unit::Bytes, &of(1_048_576.0, 1_050_624.0)), "1.000 … 1.002 MiB"),
            (interval(Unit::Share, &of(0.123_41, 0.123_44)), "12.341 … 12.344 %"),
            (change_interval(&of(1.099_91, 1.100_08)), "+9.99 … +10.01 %"),
            (change_interval(&of(0.9998, 1.0001)), "−0.02 … +0.01 %"),
            (ratio_interval(&of(1.100_01, 1.100_08)), "1.1000 … 1.1001"),
            (difference_interval(Unit::Nanoseconds, &of(1.2e6, 1.2004e6)), "+1.2000 … +1.2004 ms"),
            // One number where the ends are the same, or as good as that.
            (interval(Unit::Nanoseconds, &of(8e6, 8e6)), "8.00 ms"),
            (change_interval(&of(1.1, 1.1 + 1e-9)), "+10.0 %"),
        ];
        for (got, wanted) in table {
            assert_eq!(got, wanted);
        }
    }

    #[test]
    fn ratios() {
        check(
            change,
            &[
                (1.041, "+4.1 %"),
                (1.0, "0.0 %"),
                (1.0004, "0.0 %"),
                (0.9997, "0.0 %"),
                (0.5, "−50.0 %"),
                (0.0, "−100.0 %"),
                (12.34, "×12.3"),
            ],
        );
        check(ratio, &[(1.0412, "1.041"), (0.5, "0.500"), (1234.0, "1,234")]);
        check(p_value, &[(0.0312, "0.031"), (1e-9, "< 0.001"), (1.0, "1.000")]);
        check(axis, &[(0.0, "0"), (-2.5, "−2.5"), (950.0, "950"), (12_000.0, "12k"), (1_500_000.0, "1.5M")]);
    }

    #[test]
    fn counts() {
        for (n, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(count(n), text);
        }
        assert_eq!(count(u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!(counted(1, "worker"), "1 worker");
        assert_eq!(counted(64, "connection"), "64 connections");
    }

    #[test]
    fn intervals_name_a_shared_unit_once() {
        let of = |low, high| Interval { low, high };
        assert_eq!(interval(Unit::Nanoseconds, &of(Some(1.2e6), Some(1.31e6))), "1.20 … 1.31 ms");
        assert_eq!(interval(Unit::Nanoseconds, &of(Some(9.8e5), Some(1.02e6))), "980 µs … 1.02 ms");
        assert_eq!(interval(Unit::PerSecond, &of(Some(48_100.0), Some(49_200.0))), "48,100 … 49,200/s");
        assert_eq!(interval(Unit::Bytes, &of(None, Some(2048.0))), "−∞ … 2.00 KiB");
        assert_eq!(change_interval(&of(Some(0.98), Some(1.05))), "−2.0 … +5.0 %");
        assert_eq!(change_interval(&of(Some(1.01), None)), "+1.0 % … ∞");
        assert_eq!(ratio_interval(&of(Some(0.98), Some(1.05))), "0.980 … 1.050");
        assert_eq!(ratio_interval(&of(None, None)), "unbounded");
    }
}
