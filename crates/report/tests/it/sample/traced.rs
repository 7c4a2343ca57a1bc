//! Slow and failed requests of a cell whose requests have traces, and spans of the slowest.

use schema::analysis::CellSummary;
use schema::load::ErrorClass;
use schema::spans::{RequestSpans, SpanTime};
use schema::traced::{CellNotable, NotableRequest, TraceIds, TrialRequest};

/// Lists a request of each kind; the slowest has spans, each within the one before. Names are those that are given.
pub(crate) fn plant(cell: &mut CellSummary, name: &str, service: &str) {
    let one = |number: u64, status, error, sampled| TrialRequest {
        trial: 3,
        request: NotableRequest {
            request: number,
            name: name.to_owned(),
            intended_ns: 5_000_000,
            wait_ns: Some(40_000),
            response_ns: 12_000_000,
            status,
            error,
            trace: Some(TraceIds {
                trace_id: format!("{number:032x}"),
                span_id: format!("{number:016x}"),
                sampled,
            }),
        },
    };
    cell.notable = CellNotable {
        slowest: vec![one(17, Some(200), None, true)],
        slowest_sampled: vec![one(18, Some(200), None, true)],
        failures: vec![one(19, Some(500), Some(ErrorClass::UnexpectedStatus), false)],
        failures_sampled: Vec::new(),
    };
    let span = |depth| SpanTime {
        name: name.to_owned(),
        service: service.to_owned(),
        depth,
        duration_ns: 8_000_000,
        self_ns: 3_000_000,
        self_share: 0.25,
    };
    cell.spans = vec![RequestSpans {
        trial: 3,
        cell: cell.cell.clone(),
        request: cell.notable.slowest[0].request.clone(),
        outside_ns: 4_000_000,
        spans: (0..12).map(span).collect(),
        spans_left_out: 5,
    }];
}
