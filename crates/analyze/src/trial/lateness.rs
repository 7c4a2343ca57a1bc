//! How late a generator may be itself (METHOD §1).

use super::facts::TrialFacts;

/// Pacer lag that is always allowed.
pub(crate) const PACER_LAG_NS: f64 = 100_000.0;
/// Pacer lag that is allowed as a share of service or response time.
const PACER_LAG_SHARE: f64 = 0.05;

/// Void is p99 pacer lag > max(100 µs, 5 % of p50 service time) *and* > 5 % of p99 response time, which is one limit: the
/// largest of the three.
fn limit_of(service_p50_ns: u64, response_p99_ns: u64) -> f64 {
    let (service, response) =
        (PACER_LAG_SHARE * service_p50_ns as f64, PACER_LAG_SHARE * response_p99_ns as f64);
    PACER_LAG_NS.max(service).max(response)
}

/// The limit for requests; `None` where a time is unknown.
pub(super) fn limit_ns(facts: &TrialFacts) -> Option<f64> {
    Some(limit_of(facts.service_p50_ns?, facts.response_p99_ns?))
}

/// Pacer lag with its limit, of requests or of messages on streams: that which is worse. `None` where a time is unknown.
pub(super) fn worst_ns(facts: &TrialFacts) -> Option<(f64, f64)> {
    let requests = facts.pacer_lag_p99_ns.map(|lag| lag as f64).zip(limit_ns(facts));
    let messages = facts.messages.and_then(|messages| {
        let service = messages.service_p50_ns.or(facts.service_p50_ns)?;
        let response = messages.response_p99_ns.or(facts.response_p99_ns)?;
        Some((messages.pacer_lag_p99_ns as f64, limit_of(service, response)))
    });
    [requests, messages].into_iter().flatten().max_by(|a, b| (a.0 / a.1).total_cmp(&(b.0 / b.1)))
}
