//! How late a generator may be itself (METHOD §1).

use super::facts::TrialFacts;

/// Pacer lag that is always allowed.
pub(crate) const PACER_LAG_NS: f64 = 100_000.0;
/// Pacer lag that is allowed as a share of service or response time.
const PACER_LAG_SHARE: f64 = 0.05;

/// Void is p99 pacer lag > max(100 µs, 5 % of p50 service time) *and* > 5 % of p99 response time, which is one limit: the
/// largest of the three. `None` where a time is unknown.
pub(super) fn limit_ns(facts: &TrialFacts) -> Option<f64> {
    let service = PACER_LAG_SHARE * facts.service_p50_ns? as f64;
    let response = PACER_LAG_SHARE * facts.response_p99_ns? as f64;
    Some(PACER_LAG_NS.max(service).max(response))
}
