//! What all counters of a soak are judged by.

use schema::soak::SoakPlan;

/// Fewest windows of one segment for a class.
pub const WINDOWS_MIN: usize = 30;
/// Two-sided p below which a trend is one (METHOD §8).
pub(super) const ALPHA: f64 = 0.01;

/// The terms of one judgement.
pub(super) struct Terms {
    pub(super) plan: SoakPlan,
    pub(super) alpha: f64,
    pub(super) confidence: f64,
}
