//! Counts as rates.

/// Per second; zero where there was no time.
pub(super) fn per_second(count: u64, duration_ns: u64) -> f64 {
    if duration_ns == 0 { 0.0 } else { count as f64 * 1e9 / duration_ns as f64 }
}
