//! Numbers inside sentences: as short as they can be said, without zeros at the end.
//!
//! Invariant: what is not finite gets a word, so that no sentence holds `NaN` or `inf`.

use super::narrow::apart;
use super::{GIB, KIB, MIB, thousands, trimmed};

/// Three significant digits at least, whole numbers above 100, thousands grouped: `3.15`, `42`, `12,346`.
#[must_use]
pub fn number(value: f64) -> String {
    number_with(value, 0)
}

/// As [`number`], with `more` further decimals, which are then kept where they are zeros.
#[must_use]
pub fn number_with(value: f64, more: usize) -> String {
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
    let text = thousands(&format!("{:.*}", decimals + more, value.abs()));
    let text = if more == 0 { trimmed(&text) } else { &text };
    let is_zero = text.chars().all(|digit| !digit.is_ascii_digit() || digit == '0');
    if value < 0.0 && !is_zero { format!("-{text}") } else { text.to_owned() }
}

/// Numbers as [`number`], an estimate with its ends: `800` from `799.6` to `800.4` is `800.0`, `799.6`, `800.4`.
#[must_use]
pub fn numbers(estimate: Option<f64>, ends: (f64, f64)) -> [String; 3] {
    apart(estimate, ends, number_with)
}

/// A ratio: three decimals, four near 1, more where it is small.
#[must_use]
pub fn ratio(value: f64) -> String {
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
#[must_use]
pub fn ratios(estimate: Option<f64>, ends: (f64, f64)) -> [String; 3] {
    apart(estimate, ends, ratio_with)
}

/// A share as a percentage with its sign, one decimal, two below 0.1 %.
#[must_use]
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if !percent.is_finite() {
        return number(percent);
    }
    let text = match percent.abs() {
        size if size >= 1e6 => number(percent),
        size if size > 0.0 && size < 0.095 => format!("{percent:.2}"),
        _ => one_decimal(percent),
    };
    format!("{text} %")
}

fn one_decimal(value: f64) -> String {
    match trimmed(&format!("{value:.1}")) {
        "-0" => "0".to_owned(),
        text => text.to_owned(),
    }
}

/// A share between two others, with as many decimals as half of what lies between those takes, at most three:
/// `4.1 %` from `2.9 %` to `5.3 %`, `9.98 %` from `9.93 %` to `10.02 %`.
#[must_use]
pub fn percents(shares: [f64; 3]) -> [String; 3] {
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

/// The half-width of an interval as a percentage: whole from 10 % on, two decimals below 0.95 %: `12 %`, `3.4 %`.
#[must_use]
pub fn half_width(share: f64) -> String {
    let percent = share * 100.0;
    let decimals = usize::from(percent < 10.0) + usize::from(percent < 0.95);
    if percent.is_finite() { format!("{percent:.decimals$} %") } else { number(percent) }
}

/// `p 0.031`, below a thousandth `p < 0.001`.
#[must_use]
pub fn p_value(p: f64) -> String {
    if p < 0.001 { "p < 0.001".to_owned() } else { format!("p {}", number(p)) }
}

/// Nanoseconds in the largest unit up to seconds that leaves at least 1: `1.5 ms`.
#[must_use]
pub fn duration(ns: f64) -> String {
    duration_with(ns, 0)
}

/// As [`duration`], with `more` further decimals.
#[must_use]
pub fn duration_with(ns: f64, more: usize) -> String {
    match ns.abs() {
        size if size >= 1e9 => format!("{} s", number_with(ns / 1e9, more)),
        size if size >= 1e6 => format!("{} ms", number_with(ns / 1e6, more)),
        size if size >= 1e3 => format!("{} µs", number_with(ns / 1e3, more)),
        _ => format!("{} ns", number_with(ns, more)),
    }
}

/// A size in powers of 1024, at most GiB: `3 MiB`.
#[must_use]
pub fn bytes(bytes: f64) -> String {
    bytes_with(bytes, 0)
}

/// As [`bytes`], with `more` further decimals.
#[must_use]
pub fn bytes_with(bytes: f64, more: usize) -> String {
    match bytes.abs() {
        size if size >= GIB => format!("{} GiB", number_with(bytes / GIB, more)),
        size if size >= MIB => format!("{} MiB", number_with(bytes / MIB, more)),
        size if size >= KIB => format!("{} KiB", number_with(bytes / KIB, more)),
        _ => format!("{} B", number_with(bytes, more)),
    }
}

/// Whole seconds as days, hours, minutes and seconds; the two largest that are not 0: `2 h 5 min`.
#[must_use]
pub fn long(seconds: u64) -> String {
    let parts = [
        (seconds / 86_400, "d"),
        (seconds / 3600 % 24, "h"),
        (seconds / 60 % 60, "min"),
        (seconds % 60, "s"),
    ];
    let words: Vec<String> = parts
        .iter()
        .skip_while(|(count, _)| *count == 0)
        .take(2)
        .filter(|(count, _)| *count > 0)
        .map(|(count, unit)| format!("{count} {unit}"))
        .collect();
    if words.is_empty() { "0 s".to_owned() } else { words.join(" ") }
}
