//! Numbers of somebody's table, and what follows from them. What is endless is `∞`.

use super::{signed, thousands, trimmed};

/// At most `significant` digits behind leading zeros, all digits before the point, grouped.
#[must_use]
pub fn digits(value: f64, significant: i32) -> String {
    if !value.is_finite() {
        return if value < 0.0 { "−∞".to_owned() } else { "∞".to_owned() };
    }
    let magnitude = if value == 0.0 { 0 } else { value.abs().log10().floor() as i32 };
    let decimals = usize::try_from((significant - 1 - magnitude).clamp(0, 12)).unwrap_or(0);
    let text = format!("{value:.decimals$}");
    match trimmed(&text) {
        "-0" => "0".to_owned(),
        text => signed(thousands(text)),
    }
}

/// A number and its unit with a space between them, but for none and rates: `98 ms`, `1,237/s`.
#[must_use]
pub fn joined(number: &str, unit: &str) -> String {
    let gap = if unit.is_empty() || unit.starts_with('/') { "" } else { " " };
    format!("{number}{gap}{unit}")
}

/// The unit of a time in seconds, and how many seconds that unit has: nanoseconds to minutes, seconds below ten minutes.
#[must_use]
pub fn time_unit(s: f64) -> (f64, &'static str) {
    const TIMES: [(f64, f64, &str); 4] =
        [(1e-6, 1e-9, "ns"), (1e-3, 1e-6, "µs"), (1.0, 1e-3, "ms"), (600.0, 1.0, "s")];
    // Zero is a time like any other; it has no unit of its own.
    if s == 0.0 {
        return (1.0, "s");
    }
    let found = TIMES.iter().find(|(until, _, _)| s.abs() < *until);
    found.map_or((60.0, "min"), |(_, factor, unit)| (*factor, *unit))
}
