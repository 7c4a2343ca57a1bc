//! The scale of rates and periods, and their bound.

/// Highest rate in total: one request per nanosecond tick would leave no time for anything else long before.
pub(crate) const RATE_MAX_PER_S: f64 = 1e9;
/// Rates are kept in millionths of a request per second, so that integer steps are exact.
pub(crate) const MICRO: f64 = 1e6;
/// Nanoseconds in a second times [`MICRO`]: the numerator of the period.
pub(crate) const PERIOD_NUMERATOR: u128 = 1_000_000_000_000_000;
