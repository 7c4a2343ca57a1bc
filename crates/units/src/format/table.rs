//! Numbers in tables: measured values have three significant digits, counts all of theirs.
//!
//! Invariant: a number that is missing or not finite is shown as [`NONE`]. A [`Shown`] takes how many more digits than
//! usual it is to show, which `narrow` chooses for the ends of an interval.

use super::narrow::more_digits;
use super::{GIB, KIB, MIB, TIB, signed, thousands, trimmed};

/// Stands for a value that is missing.
pub const NONE: &str = "–";

/// A number and its unit, apart, so that an interval can name the unit once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The digits, with their sign.
    pub number: String,
    /// With the space before it; empty where there is none.
    pub unit: &'static str,
}

impl Shown {
    /// Both together.
    #[must_use]
    pub fn join(&self) -> String {
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
    format!("{}{unit}", trimmed(&number))
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
    format!("{} %", trimmed(&number))
}

/// A ratio as the change it means: 1.041 is `+4.1 %`, 0.5 is `−50.0 %`; from a factor of two on `×2.30`.
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

/// A number for an axis: `0`, `950`, `12k`, `1.5M`.
#[must_use]
pub fn axis(value: f64) -> String {
    const STEPS: [(f64, &str); 3] = [(1e9, "G"), (1e6, "M"), (1e3, "k")];
    let Some(value) = finite(value) else { return none() };
    let (factor, suffix) = STEPS.into_iter().find(|(factor, _)| value.abs() >= *factor).unwrap_or((1.0, ""));
    let number = format!("{:.2}", value / factor);
    signed(format!("{}{suffix}", trimmed(&number)))
}

/// The ends of an interval, whose unit is named once where both share it: `1.20 … 1.31 ms`. An absent end, or one that
/// is not finite, is unbounded. `show` gives a number with so many digits more than usual.
#[must_use]
pub fn interval(low: Option<f64>, high: Option<f64>, show: impl Fn(f64, usize) -> Shown) -> String {
    let (low, high) = match (low.and_then(finite), high.and_then(finite)) {
        (None, None) => return "unbounded".to_owned(),
        (None, Some(high)) => return format!("−∞ … {}", show(high, 0).join()),
        (Some(low), None) => return format!("{} … ∞", show(low, 0).join()),
        (Some(low), Some(high)) => (low, high),
    };
    let more = more_digits((low, high), |value, more| show(value, more).join());
    match (show(low, more), show(high, more)) {
        (low, high) if low == high => low.join(),
        (low, high) if low.unit == high.unit => format!("{} … {}", low.number, high.join()),
        (low, high) => format!("{} … {}", low.join(), high.join()),
    }
}

/// A ratio as it stands, with `more` digits than usual.
#[must_use]
pub fn shown_ratio(value: f64, more: usize) -> Shown {
    let number = match value.abs() >= 100.0 {
        true => significant(value, 3 + more),
        false => signed(format!("{value:.*}", 3 + more)),
    };
    Shown { number, unit: "" }
}

/// The same with the sign of a difference: `+1.20 ms`, `−0.100 %`, `0 ns`. `value` is the one that is shown.
#[must_use]
pub fn shown_difference(value: f64, shown: Shown) -> Shown {
    let Shown { number, unit } = shown;
    // What is below the resolution of the text has no sign worth showing, and `<` none at all.
    let number = match number.contains('<') {
        true => "0".to_owned(),
        false if value > 0.0 && number != "0" => format!("+{number}"),
        false => number,
    };
    Shown { number, unit }
}

/// A time in nanoseconds, with `more` digits than usual.
#[must_use]
pub fn shown_duration(ns: f64, more: usize) -> Shown {
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

/// Events per second, with `more` digits than usual.
#[must_use]
pub fn shown_rate(per_s: f64, more: usize) -> Shown {
    let number = match per_s.abs() >= 999.5 {
        true => thousands(&signed(format!("{per_s:.more$}"))),
        false => significant(per_s, 3 + more),
    };
    Shown { number, unit: "/s" }
}

/// A size in bytes, with `more` digits than usual.
#[must_use]
pub fn shown_bytes(bytes: f64, more: usize) -> Shown {
    const UNITS: [(f64, &str); 5] = [(1.0, " B"), (KIB, " KiB"), (MIB, " MiB"), (GIB, " GiB"), (TIB, " TiB")];
    let (factor, unit) =
        UNITS.into_iter().find(|(factor, _)| bytes.abs() < factor * 1023.5).unwrap_or(UNITS[4]);
    let number = if factor == 1.0 {
        thousands(&signed(format!("{bytes:.more$}")))
    } else {
        significant(bytes / factor, 3 + more)
    };
    Shown { number, unit }
}

/// Bytes per second, with `more` digits than usual.
#[must_use]
pub fn shown_bytes_per_s(bytes: f64, more: usize) -> Shown {
    let Shown { number, unit } = shown_bytes(bytes, more);
    let per_s =
        [(" B", " B/s"), (" KiB", " KiB/s"), (" MiB", " MiB/s"), (" GiB", " GiB/s"), (" TiB", " TiB/s")];
    let unit = per_s.into_iter().find(|(size, _)| *size == unit).map_or(unit, |(_, per_s)| per_s);
    Shown { number, unit }
}

/// A share from 0 to 1, with `more` digits than usual.
#[must_use]
pub fn shown_percent(share: f64, more: usize) -> Shown {
    let percent = share * 100.0;
    let number = match percent.abs() {
        0.0 => "0".to_owned(),
        small if small < 0.001 => "< 0.001".to_owned(),
        _ => significant(percent, 3 + more),
    };
    Shown { number, unit: " %" }
}

/// Ratios from here on are shown as factors.
const FACTOR: f64 = 2.0;

/// A ratio with the ends of its interval, all as changes or, where one of them is a factor of two or more, all as
/// factors: `+4.1 %` and `+3.2 … +5.0 %`, `×9.30` and `×8.10 … 13.3`.
#[must_use]
pub fn changes(ratio: Option<f64>, low: Option<f64>, high: Option<f64>) -> [String; 2] {
    let is_factor = [ratio, low, high].into_iter().flatten().filter_map(finite).any(|one| one >= FACTOR);
    let show = if is_factor { shown_factor } else { shown_change };
    let one = ratio.and_then(finite).map_or_else(none, |ratio| show(ratio, 0).join());
    let ends = interval(low, high, show);
    // The sign stands before the first end only, as the unit behind the last.
    [one, if is_factor { ends.replace("… ×", "… ") } else { ends }]
}

/// A ratio as a factor, with `more` digits than usual: `×12.3`.
#[must_use]
pub fn shown_factor(ratio: f64, more: usize) -> Shown {
    Shown { number: format!("×{}", significant(ratio, 3 + more)), unit: "" }
}

/// A ratio as the change it means, with `more` digits than usual.
#[must_use]
pub fn shown_change(ratio: f64, more: usize) -> Shown {
    if ratio >= FACTOR {
        return shown_factor(ratio, more);
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

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

fn none() -> String {
    NONE.to_owned()
}
