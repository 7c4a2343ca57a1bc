//! Client against server: what the target counted of itself, held against what the client had (METHOD §9).
//!
//! Invariants: where either side has no number there is no gate; a request that failed on the way may have been counted
//! by the target or not, so it speaks for neither; what the borders of the samples leave open is allowed on top of the
//! limit, and where that is as large as the count itself, nothing is said.

use super::facts::TrialFacts;
use super::gate::{count_requests, gate};
use crate::words::{duration, grouped, percent};
use schema::load::{Gate, LoadReport};
use schema::said;

/// The count of the target lies between the whole answers and these with those that failed on the way.
pub(super) fn counts(_: &LoadReport, facts: &TrialFacts) -> Option<Gate> {
    let server = facts.server.as_ref()?;
    let (counted, client) = (server.requests?, server.client);
    if client.answers == 0 {
        return None;
    }
    let answered = client.answers as f64;
    let border = client.in_flight.saturating_add(client.before_reading).saturating_add(client.own);
    let allowance = border as f64 / answered;
    let limit = server.limits.counts + allowance;
    if allowance >= 1.0 {
        return None;
    }
    let most = client.answers.saturating_add(client.unanswered);
    let value = counted.abs_diff(counted.clamp(client.answers, most)) as f64 / answered;
    let ok = value <= limit;
    let (target, answers) = (count_requests(counted), grouped(client.answers));
    let (apart, allowed) = (percent(value), percent(limit));
    let found = if client.unanswered == 0 {
        said!(
            "gate.server_counts.ok",
            "the target counted {target}, the client had {answers} answers: {apart} apart, {allowed} allowed, the \
             borders of the samples included",
            target,
            answers,
            apart,
            allowed
        )
    } else {
        said!(
            "gate.server_counts.ok_unanswered",
            "the target counted {target}, the client had {answers} answers and {unanswered} without one: {apart} \
             apart, {allowed} allowed, the borders of the samples included",
            target,
            answers,
            unanswered = grouped(client.unanswered),
            apart,
            allowed
        )
    };
    let text = match (ok, counted > most) {
        (true, _) => found,
        (false, true) => said!(
            "gate.server_counts.more",
            "{found}: find who else asks the target, or what its counter counts besides (labels in `[metrics]`)",
            found
        ),
        (false, false) => said!(
            "gate.server_counts.fewer",
            "{found}: find what answers in the target's place (a cache, a proxy, another process that counts for \
             itself), or what its counter leaves out; else report this as a fault of prony",
            found
        ),
    };
    Some(gate("server_counts", ok, value, limit, text))
}

/// The client's 95th percentile of service time lies in the target's bucket, or near it.
pub(super) fn p95(report: &LoadReport, facts: &TrialFacts) -> Option<Gate> {
    let server = facts.server.as_ref()?;
    let (bucket, client_ns) = (server.p95?, report.latency_ns.service.p95?);
    let up_to_ns = bucket.up_to_ns.unwrap_or(u64::MAX);
    let (below, above) = (bucket.above_ns.saturating_sub(client_ns), client_ns.saturating_sub(up_to_ns));
    let apart_ns = below.max(above);
    let limit_ns = server.limits.p95_ns;
    let ok = apart_ns <= limit_ns;
    let above = duration(bucket.above_ns as f64);
    let its = match bucket.up_to_ns {
        Some(up_to_ns) => {
            said!("gate.server_p95.between", "{above} to {up_to}", above, up_to = duration(up_to_ns as f64))
        }
        None => said!("gate.server_p95.above", "more than {above}", above),
    };
    let found = said!(
        "gate.server_p95.ok",
        "95 % of the requests took the target {its} by its own clock, and {client} as the client saw it: {apart} \
         apart, {allowed} allowed",
        its,
        client = duration(client_ns as f64),
        apart = duration(apart_ns as f64),
        allowed = duration(limit_ns as f64)
    );
    let text = match (ok, below > 0) {
        (true, _) => found,
        (false, true) => said!(
            "gate.server_p95.below",
            "{found}: no request takes the target longer than its client; look at the unit and the labels of its \
             histogram in `[metrics]`, else report this as a fault of prony",
            found
        ),
        (false, false) => said!(
            "gate.server_p95.unseen",
            "{found}: time passes where the target's clock does not see it, in the network, in the queues of its \
             sockets or in the generator; use fewer connections or a lower rate, or allow more (`[checks]` p95)",
            found
        ),
    };
    Some(gate("server_p95", ok, apart_ns as f64, limit_ns as f64, text))
}
