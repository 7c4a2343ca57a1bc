//! Requests that stand out, with their names and traces.

use engine::{Notable, Notables};
use schema::plan::EntryPlan;
use schema::traced::{NotableRequest, NotableRequests, TraceIds, TracePlan};
use units::Tracing;

/// As files have them; `requests` are the scenario's.
pub(super) fn requests(of: &Notables, requests: &[EntryPlan], trace: Option<TracePlan>) -> NotableRequests {
    let tracing = trace.map(|trace| trace.tracing());
    let list = |of: &[Notable]| of.iter().map(|one| request(one, requests, tracing)).collect();
    NotableRequests {
        slowest: list(of.slowest()),
        failures: list(of.failures()),
        slowest_sampled: list(of.slowest_sampled()),
        failures_sampled: list(of.failures_sampled()),
    }
}

fn request(of: &Notable, requests: &[EntryPlan], tracing: Option<Tracing>) -> NotableRequest {
    NotableRequest {
        request: of.request,
        name: requests.get(usize::from(of.entry)).map_or_else(String::new, |entry| entry.name.clone()),
        intended_ns: of.intended_ns,
        wait_ns: of.written_ns.map(|written_ns| written_ns.saturating_sub(of.intended_ns)),
        response_ns: of.response_ns(),
        status: (of.status != 0).then_some(of.status),
        error: of.class,
        trace: tracing.map(|tracing| TraceIds::of(tracing, of.request)),
    }
}
