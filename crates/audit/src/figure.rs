//! A figure in its base unit with the values that it may stand for, and the arithmetic of such ranges.
//!
//! Invariant: ranges are ordered, and every operation contains what it would give for any value of its operands.

use crate::error::shown;
use crate::number::{Bound, Number};
use schema::audit::AuditSeverity;

/// Most that trailing zeros are taken for rounding, as a share of the value: two digits are printed at least.
const ZEROS_SHARE_MAX: f64 = 0.05;

/// A range of values; an end may be infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Span {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Span {
    pub(crate) const fn new(low: f64, high: f64) -> Self {
        Self { low, high }
    }

    pub(crate) const fn exact(value: f64) -> Self {
        Self { low: value, high: value }
    }

    /// The product of two ranges of values that are not negative.
    pub(crate) fn times(self, other: Self) -> Self {
        Self { low: product(self.low, other.low), high: product(self.high, other.high) }
    }

    /// The quotient of two ranges of values that are not negative; endless where the divisor may be 0.
    pub(crate) fn over(self, other: Self) -> Self {
        let low = if other.high.is_infinite() { 0.0 } else { self.low / other.high.max(f64::MIN_POSITIVE) };
        let high = if other.low > 0.0 { self.high / other.low } else { f64::INFINITY };
        Self { low, high }
    }

    /// The difference, with what would be negative as 0.
    pub(crate) fn minus(self, other: Self) -> Self {
        let high = if other.low.is_infinite() { 0.0 } else { self.high - other.low };
        let low = if other.high.is_infinite() { 0.0 } else { self.low - other.high };
        Self { low: low.max(0.0), high: high.max(0.0) }
    }

    /// The range with its ends moved outwards by a share of themselves.
    pub(crate) fn widened(self, share: f64) -> Self {
        Self { low: self.low * (1.0 - share), high: self.high * (1.0 + share) }
    }

    /// Whether the ranges have a value in common.
    pub(crate) fn meets(self, other: Self) -> bool {
        self.low <= other.high && other.low <= self.high
    }

    pub(crate) fn middle(self) -> f64 {
        if self.high.is_infinite() { self.low } else { self.low + (self.high - self.low) / 2.0 }
    }
}

/// Zero times infinity is nothing here: a rate of 0 has nobody in flight.
fn product(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}

/// How a printed figure is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Half a step of the last digit to both sides.
    Rounded,
    /// As widely as figures are printed: cut off instead of rounded, and zeros at the end that stand for digits.
    Loose,
}

/// A figure of a table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Figure {
    pub(crate) value: f64,
    rounded: Span,
    loose: Span,
    printed: Span,
    /// Digits that carry something.
    pub(crate) digits: u32,
    /// As it is printed.
    pub(crate) text: String,
}

impl Figure {
    /// `number` times `factor`; a setting is what it says, a measurement has been rounded.
    pub(crate) fn new(number: &Number, factor: f64, is_setting: bool, text: &str) -> Self {
        let value = number.value * factor;
        let half = number.step * factor / 2.0;
        let zeros = (number.coarse_step * factor / 2.0).min(value.abs() * ZEROS_SHARE_MAX).max(half);
        let rounded = Span::new(value - half, value + half);
        let loose = Span::new(value - zeros, value + zeros.max(2.0 * half));
        let exact = Span::exact(value);
        let printed = Span::new((value - half).max(value.min(0.0)), value + half);
        let (rounded, loose) = if is_setting { (exact, exact) } else { (rounded, loose) };
        let (rounded, loose) = match number.bound {
            Bound::Equal => (rounded, loose),
            Bound::AtMost => (Span::new(0.0, rounded.high), Span::new(0.0, loose.high)),
            Bound::AtLeast => (Span::new(rounded.low, f64::INFINITY), Span::new(loose.low, f64::INFINITY)),
        };
        // What is printed as 0 was not less.
        let floor = |span: Span| if value >= 0.0 { Span::new(span.low.max(0.0), span.high) } else { span };
        Self {
            value,
            rounded: floor(rounded),
            loose: floor(loose),
            printed,
            digits: number.digits,
            text: shown(text),
        }
    }

    pub(crate) fn span(&self, reading: Reading) -> Span {
        match reading {
            Reading::Rounded => self.rounded,
            Reading::Loose => self.loose,
        }
    }

    /// Half a step of the last digit to both sides.
    pub(crate) fn rounded(&self) -> Span {
        self.rounded
    }

    /// Half a step of the last digit to both sides, of a setting too; zeros at the end are taken for digits.
    pub(crate) fn printed(&self) -> Span {
        self.printed
    }

    /// The same with every value mapped by a rising function.
    pub(crate) fn map(&self, f: impl Fn(f64) -> f64) -> Self {
        let span = |span: Span| Span::new(f(span.low), f(span.high));
        Self {
            value: f(self.value),
            rounded: span(self.rounded),
            loose: span(self.loose),
            printed: span(self.printed),
            ..self.clone()
        }
    }
}

/// Impossible if broken however the figures are read, suspicious if only as rounded.
pub(crate) fn judge(is_broken: impl Fn(Reading) -> bool) -> Option<AuditSeverity> {
    if is_broken(Reading::Loose) {
        Some(AuditSeverity::Impossible)
    } else {
        is_broken(Reading::Rounded).then_some(AuditSeverity::Suspicious)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::{Cell, read};

    fn figure(text: &str, is_setting: bool) -> Figure {
        let Cell::Number(number) = read(text, false) else { panic!("{text}") };
        Figure::new(&number, 1.0, is_setting, text)
    }

    #[test]
    fn a_figure_is_a_range_by_its_last_digit() {
        assert_eq!(figure("98", false).rounded(), Span::new(97.5, 98.5));
        assert_eq!(figure("98", false).span(Reading::Loose), Span::new(97.5, 99.0));
        assert_eq!(figure("12000", false).span(Reading::Loose), Span::new(11_500.0, 12_500.0));
        assert_eq!(figure("10000", false).span(Reading::Loose), Span::new(9_500.0, 10_500.0));
        assert_eq!(figure("1000", true).span(Reading::Loose), Span::exact(1000.0));
        assert_eq!(figure("<5", false).rounded(), Span::new(0.0, 5.5));
        assert_eq!(figure(">5", false).rounded(), Span::new(4.5, f64::INFINITY));
        assert_eq!(figure("0", false).rounded(), Span::new(0.0, 0.5));
    }

    #[test]
    fn ranges_contain_what_their_values_give() {
        let (a, b) = (Span::new(1.0, 2.0), Span::new(4.0, 5.0));
        assert_eq!(a.times(b), Span::new(4.0, 10.0));
        assert_eq!(b.over(a), Span::new(2.0, 5.0));
        assert_eq!(b.over(Span::new(0.0, 1.0)).high, f64::INFINITY);
        assert_eq!(b.minus(a), Span::new(2.0, 4.0));
        assert_eq!(a.minus(b), Span::exact(0.0));
        assert_eq!(Span::new(0.0, 1.0).times(Span::new(1.0, f64::INFINITY)).low, 0.0);
        assert!(a.meets(Span::exact(2.0)) && !a.meets(b));
    }

    #[test]
    fn what_only_rounding_forbids_is_suspicious() {
        assert_eq!(judge(|_| true), Some(AuditSeverity::Impossible));
        assert_eq!(judge(|reading| reading == Reading::Rounded), Some(AuditSeverity::Suspicious));
        assert_eq!(judge(|_| false), None);
    }
}
