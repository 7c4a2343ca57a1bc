//! Numbers beside pictures and in narrow columns of a terminal: ASCII, and short.

use super::{KIB, MIB, trimmed};
use crate::Nanos;

/// `12.5 s`, `250 ms`, `1.5 us`: the shortest form of four digits.
#[must_use]
pub fn time(at_ns: u64) -> String {
    let (value, unit) = match at_ns {
        0..1_000 => return Nanos(at_ns).to_string(),
        1_000..1_000_000 => (at_ns as f64 / 1e3, "us"),
        1_000_000..1_000_000_000 => (at_ns as f64 / 1e6, "ms"),
        _ => (at_ns as f64 / 1e9, "s"),
    };
    format!("{} {unit}", short(value))
}

/// `1.5k/s`: at most nine characters. The rate is finite and not negative.
#[must_use]
pub fn rate(per_s: f64) -> String {
    match per_s {
        _ if per_s >= 1e6 => format!("{}M/s", short(per_s / 1e6)),
        _ if per_s >= 1e4 => format!("{}k/s", short(per_s / 1e3)),
        _ => format!("{}/s", short(per_s)),
    }
}

/// A size in powers of 1024, at most MiB, with one decimal: `512 B`, `1.0 KiB`. It is finite and not negative.
#[must_use]
pub fn size(bytes: f64) -> String {
    match bytes {
        0.0..KIB => format!("{bytes:.0} B"),
        KIB..MIB => format!("{:.1} KiB", bytes / KIB),
        _ => format!("{:.1} MiB", bytes / MIB),
    }
}

fn short(value: f64) -> String {
    let digits = match value {
        _ if value >= 1000.0 => 0,
        _ if value >= 100.0 => 1,
        _ if value >= 10.0 => 2,
        _ => 3,
    };
    trimmed(&format!("{value:.digits$}")).to_owned()
}
