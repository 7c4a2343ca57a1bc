//! `grpc-timeout`: at most eight digits and a unit.

/// Units, finest first, with their length in nanoseconds.
const UNITS: [(char, u64); 6] = [
    ('n', 1),
    ('u', 1_000),
    ('m', 1_000_000),
    ('S', 1_000_000_000),
    ('M', 60_000_000_000),
    ('H', 3_600_000_000_000),
];
/// The largest number.
const NUMBER_MAX: u64 = 99_999_999;

/// The value of `grpc-timeout` for a time in nanoseconds: in the finest unit that it fits, rounded up.
#[must_use]
pub fn timeout(ns: u64) -> String {
    let written = UNITS.iter().map(|(unit, length)| (ns.div_ceil(*length), unit));
    let fits = written.clone().find(|(number, _)| *number <= NUMBER_MAX);
    // 64 bits of nanoseconds are 585 years, which hours hold.
    let (number, unit) = fits.unwrap_or((NUMBER_MAX, &'H'));
    format!("{number}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_at_most_eight_digits() {
        for (ns, text) in [
            (0, "0n"),
            (99_999_999, "99999999n"),
            (100_000_000, "100000u"),
            (500_000_000, "500000u"),
            (100_000_000_001, "100001m"),
            (3_600_000_000_000, "3600000m"),
            (u64::MAX, "5124096H"),
        ] {
            assert_eq!(timeout(ns), text, "{ns}");
        }
    }
}
