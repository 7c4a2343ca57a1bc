//! A number of arrivals with its fraction, precise beyond what one double holds.

/// Arrivals: a whole number, and a fraction in [0, 1). Negative amounts exist only as differences.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Amount {
    whole: i64,
    fraction: f64,
}

impl Amount {
    pub(crate) const ZERO: Self = Self { whole: 0, fraction: 0.0 };

    /// `fraction` may be any number.
    #[inline]
    pub(crate) fn new(whole: u64, fraction: f64) -> Self {
        Self::normal(i64::try_from(whole).unwrap_or(i64::MAX), fraction)
    }

    pub(crate) fn from_f64(amount: f64) -> Self {
        Self::normal(0, amount)
    }

    #[inline]
    fn normal(whole: i64, fraction: f64) -> Self {
        let carried = fraction.floor();
        Self { whole: whole.saturating_add(carried as i64), fraction: fraction - carried }
    }

    #[inline]
    pub(crate) fn plus(self, other: Self) -> Self {
        Self::normal(self.whole.saturating_add(other.whole), self.fraction + other.fraction)
    }

    #[inline]
    pub(crate) fn minus(self, other: Self) -> Self {
        Self::normal(self.whole.saturating_sub(other.whole), self.fraction - other.fraction)
    }

    pub(crate) fn times(self, factor: u64) -> Self {
        let whole = i128::from(self.whole) * i128::from(factor);
        Self::normal(i64::try_from(whole).unwrap_or(i64::MAX), self.fraction * factor as f64)
    }

    #[inline]
    pub(crate) fn is_below(self, other: Self) -> bool {
        self.whole < other.whole || (self.whole == other.whole && self.fraction < other.fraction)
    }

    #[inline]
    pub(crate) fn as_f64(self) -> f64 {
        self.whole as f64 + self.fraction
    }

    /// So many times numerator/denominator, rounded down; `u64::MAX` where that is too large or the denominator 0.
    #[inline]
    pub(crate) fn periods(self, numerator: u128, denominator: u64) -> u64 {
        if denominator == 0 {
            return u64::MAX;
        }
        let divisor = u128::from(denominator);
        let whole = numerator.saturating_mul(self.whole.max(0) as u128);
        let rest = (whole % divisor) as f64 + self.fraction * numerator as f64;
        let time = (whole / divisor).saturating_add((rest / denominator as f64) as u128);
        u64::try_from(time).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_carry_and_borrow() {
        let (a, b) = (Amount::new(3, 0.75), Amount::new(1, 0.5));
        assert_eq!(a.plus(b), Amount::new(5, 0.25));
        assert_eq!(a.minus(b), Amount::new(2, 0.25));
        assert_eq!(b.minus(a).as_f64(), -2.25);
        assert_eq!(b.times(5), Amount::new(7, 0.5));
        assert!(b.is_below(a) && !a.is_below(a) && b.minus(a).is_below(Amount::ZERO));
    }

    #[test]
    fn periods_are_exact_where_doubles_are_not() {
        // 10^16 + 1 periods of 1 ns: a double cannot hold the number.
        assert_eq!(Amount::new(10_000_000_000_000_001, 0.0).periods(1, 1), 10_000_000_000_000_001);
        assert_eq!(Amount::new(2, 0.5).periods(10, 3), 8);
        assert_eq!(Amount::new(2, 0.5).periods(10, 0), u64::MAX);
    }
}
