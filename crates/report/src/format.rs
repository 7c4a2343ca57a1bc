//! Numbers of the schema's types as a report's tables show them. How a number looks is `units::format::table`'s.

use schema::analysis::Interval;
use schema::metric::Unit;
use units::format::table::{self, Shown};

pub use units::format::table::{
    NONE, axis, bytes, change, chosen_percent, duration, nanos, p_value, percent, plain, rate, ratio, setting,
};
pub use units::format::{counted, grouped as count, ranges};

/// A value in a metric's unit.
#[must_use]
pub fn value(unit: Unit, value: f64) -> String {
    if value.is_finite() { shown(unit, value, 0).join() } else { NONE.to_owned() }
}

/// An interval in a metric's unit, which is named once where both ends share it: `1.20 … 1.31 ms`.
#[must_use]
pub fn interval(unit: Unit, interval: &Interval) -> String {
    table::interval(interval.low, interval.high, |value, more| shown(unit, value, more))
}

/// How far an interval reaches from its centre, on the wider side: `±0.5 %`; empty where an end is missing.
#[must_use]
pub fn half_width(center: f64, interval: &Interval) -> String {
    let (Some(low), Some(high)) = (interval.low, interval.high) else { return String::new() };
    let share = (high / center - 1.0).max(1.0 - low / center);
    if share.is_finite() {
        format!("±{}", units::format::sentence::half_width(share))
    } else {
        String::new()
    }
}

/// An interval of a ratio as changes: `+3.2 … +5.0 %`.
#[must_use]
pub fn change_interval(interval: &Interval) -> String {
    changes(None, Some(interval))[1].clone()
}

/// A ratio and its interval in one form, as changes or as factors; a dash for what is missing.
#[must_use]
pub fn changes(ratio: Option<f64>, interval: Option<&Interval>) -> [String; 2] {
    let [one, ends] = table::changes(
        ratio,
        interval.and_then(|interval| interval.low),
        interval.and_then(|interval| interval.high),
    );
    [one, if interval.is_some() { ends } else { NONE.to_owned() }]
}

/// An interval of a ratio as it stands: `1.032 … 1.050`.
#[must_use]
pub fn ratio_interval(interval: &Interval) -> String {
    table::interval(interval.low, interval.high, table::shown_ratio)
}

/// A difference of two values of a metric with its sign: `+1.20 ms`, `−0.100 %`, `0 ns`.
#[must_use]
pub fn difference(unit: Unit, difference: f64) -> String {
    if !difference.is_finite() {
        return NONE.to_owned();
    }
    shown_difference(unit, difference, 0).join()
}

/// An interval of a difference: `+1.20 … +1.31 ms`.
#[must_use]
pub fn difference_interval(unit: Unit, interval: &Interval) -> String {
    table::interval(interval.low, interval.high, |value, more| shown_difference(unit, value, more))
}

fn shown(unit: Unit, value: f64, more: usize) -> Shown {
    match unit {
        Unit::PerSecond => table::shown_rate(value, more),
        Unit::Nanoseconds => table::shown_duration(value, more),
        Unit::Share => table::shown_percent(value, more),
        Unit::Bytes => table::shown_bytes(value, more),
        Unit::Count => Shown { unit: "", ..table::shown_rate(value, more) },
        Unit::BytesPerSecond => table::shown_bytes_per_s(value, more),
    }
}

fn shown_difference(unit: Unit, value: f64, more: usize) -> Shown {
    table::shown_difference(value, shown(unit, value, more))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_unit_has_its_own_form() {
        let of = |low, high| Interval { low, high };
        assert_eq!(interval(Unit::Share, &of(Some(0.123_41), Some(0.123_44))), "12.341 … 12.344 %");
        assert_eq!(interval(Unit::Bytes, &of(None, Some(2048.0))), "−∞ … 2.00 KiB");
        assert_eq!(difference(Unit::Share, -0.001), "−0.100 %");
        assert_eq!(difference(Unit::Share, 1e-9), "0 %");
        assert_eq!(difference(Unit::Nanoseconds, 0.0), "0 ns");
        for unit in [Unit::PerSecond, Unit::Nanoseconds, Unit::Share, Unit::Bytes] {
            assert_eq!((value(unit, f64::NAN), difference(unit, f64::NAN)), (NONE.into(), NONE.into()));
            assert_eq!(interval(unit, &of(Some(f64::NAN), None)), "unbounded");
        }
    }
}
