//! Values of a published table in their dimension. How a number looks is `units::format::published`'s.

use crate::figure::Span;
use crate::unit::Dimension;
use units::format::published::{digits, joined, time_unit};

/// A value in its base unit.
pub(crate) fn value(dimension: Dimension, value: f64) -> String {
    let (factor, unit) = scale(dimension, value);
    joined(&digits(value / factor, 3), unit)
}

/// A range in its base unit, the unit once: `97.5 … 98.5 ms`.
pub(crate) fn span(dimension: Dimension, span: Span) -> String {
    let larger = if span.high.is_finite() { span.high } else { span.low };
    let (factor, unit) = scale(dimension, larger);
    let (low, high) = (digits(span.low / factor, 6), digits(span.high / factor, 6));
    if low == high { joined(&low, unit) } else { joined(&format!("{low} … {high}"), unit) }
}

pub(crate) fn seconds(s: f64) -> String {
    value(Dimension::Time, s)
}

pub(crate) fn rate(per_s: f64) -> String {
    value(Dimension::Rate, per_s)
}

pub(crate) fn percent(share: f64) -> String {
    value(Dimension::Share, share)
}

pub(crate) fn count(n: f64) -> String {
    value(Dimension::Count, n)
}

/// A factor: `2.1 times`.
pub(crate) fn times(factor: f64) -> String {
    format!("{} times", digits(factor, 3))
}

fn scale(dimension: Dimension, value: f64) -> (f64, &'static str) {
    match dimension {
        Dimension::Time => time_unit(value),
        Dimension::Rate => (1.0, "/s"),
        Dimension::Share | Dimension::Cpu => (0.01, "%"),
        Dimension::Count => (1.0, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_ranges() {
        assert_eq!(seconds(0.098), "98 ms");
        assert_eq!(seconds(0.0), "0 s");
        assert_eq!(seconds(1.5e-5), "15 µs");
        assert_eq!(seconds(900.0), "15 min");
        assert_eq!(rate(1237.4), "1,237/s");
        assert_eq!(percent(0.127), "12.7 %");
        assert_eq!(count(1_234_567.0), "1,234,567");
        assert_eq!(times(26.44), "26.4 times");
        assert_eq!(span(Dimension::Time, Span::new(0.0975, 0.0985)), "97.5 … 98.5 ms");
        assert_eq!(span(Dimension::Rate, Span::new(1236.5, 1237.5)), "1,236.5 … 1,237.5/s");
        assert_eq!(span(Dimension::Count, Span::exact(1000.0)), "1,000");
        assert_eq!(span(Dimension::Time, Span::new(2.0, f64::INFINITY)), "2 … ∞ s");
        assert_eq!(count(f64::NAN), "∞");
        assert_eq!(count(-0.0), "0");
    }
}
