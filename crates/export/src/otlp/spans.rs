//! Requests that stand out as spans: one `ExportTraceServiceRequest` as protobuf, for `POST /v1/traces` of a collector.
//!
//! Field numbers are those of `opentelemetry/proto/trace/v1/trace.proto` (1.x). A span lasts from the intended moment to the
//! last byte, so that its length is the response time (METHOD); an event says when the request was written. It is the parent
//! that the target saw in `traceparent`.

use super::common::{KeyValue, Resource, Scope, attribute, count, resource, scope};
use crate::traced::TracedRequest;
use prost::Message;

/// `SPAN_KIND_CLIENT`.
const CLIENT: i32 = 3;
/// `STATUS_CODE_ERROR`.
const ERROR: i32 = 2;
/// The flag `sampled` of W3C Trace Context.
const SAMPLED: u32 = 1;

#[derive(Clone, PartialEq, Message)]
struct Request {
    #[prost(message, repeated, tag = "1")]
    resource_spans: Vec<ResourceSpans>,
}

#[derive(Clone, PartialEq, Message)]
struct ResourceSpans {
    #[prost(message, optional, tag = "1")]
    resource: Option<Resource>,
    #[prost(message, repeated, tag = "2")]
    scope_spans: Vec<ScopeSpans>,
}

#[derive(Clone, PartialEq, Message)]
struct ScopeSpans {
    #[prost(message, optional, tag = "1")]
    scope: Option<Scope>,
    #[prost(message, repeated, tag = "2")]
    spans: Vec<Span>,
}

#[derive(Clone, PartialEq, Message)]
struct Span {
    #[prost(bytes = "vec", tag = "1")]
    trace_id: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    span_id: Vec<u8>,
    #[prost(string, tag = "5")]
    name: String,
    #[prost(int32, tag = "6")]
    kind: i32,
    #[prost(fixed64, tag = "7")]
    start_time_unix_nano: u64,
    #[prost(fixed64, tag = "8")]
    end_time_unix_nano: u64,
    #[prost(message, repeated, tag = "9")]
    attributes: Vec<KeyValue>,
    #[prost(message, repeated, tag = "11")]
    events: Vec<Event>,
    #[prost(message, optional, tag = "15")]
    status: Option<Status>,
    #[prost(fixed32, tag = "16")]
    flags: u32,
}

#[derive(Clone, PartialEq, Message)]
struct Event {
    #[prost(fixed64, tag = "1")]
    time_unix_nano: u64,
    #[prost(string, tag = "2")]
    name: String,
}

#[derive(Clone, PartialEq, Message)]
struct Status {
    #[prost(string, tag = "2")]
    message: String,
    #[prost(int32, tag = "3")]
    code: i32,
}

/// The body of a request with these spans. A request whose ids are none is left out.
#[must_use]
pub fn otlp_spans(requests: &[TracedRequest]) -> Vec<u8> {
    let of_scope = ScopeSpans { scope: Some(scope()), spans: requests.iter().filter_map(span).collect() };
    let of_resource = ResourceSpans { resource: Some(resource()), scope_spans: vec![of_scope] };
    Request { resource_spans: vec![of_resource] }.encode_to_vec()
}

fn span(of: &TracedRequest) -> Option<Span> {
    let request = &of.request;
    let trace = request.trace.as_ref()?;
    let start = of.origin_unix_ns.saturating_add(request.intended_ns);
    let mut attributes = vec![
        attribute("prony.run", &of.run),
        count("prony.trial", of.trial.into()),
        attribute("prony.cell", &of.cell),
        count("prony.request", request.request),
    ];
    attributes.extend(request.status.map(|status| count("http.response.status_code", status.into())));
    attributes.extend(request.error.map(|class| attribute("error.type", class.key())));
    let written =
        |wait_ns| Event { time_unix_nano: start.saturating_add(wait_ns), name: "written".to_owned() };
    Some(Span {
        trace_id: u128::from_str_radix(&trace.trace_id, 16).ok()?.to_be_bytes().to_vec(),
        span_id: u64::from_str_radix(&trace.span_id, 16).ok()?.to_be_bytes().to_vec(),
        name: request.name.clone(),
        kind: CLIENT,
        start_time_unix_nano: start,
        end_time_unix_nano: start.saturating_add(request.response_ns),
        attributes,
        events: request.wait_ns.map(written).into_iter().collect(),
        status: request.error.map(|class| Status { message: class.key().to_owned(), code: ERROR }),
        flags: if trace.sampled { SAMPLED } else { 0 },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traced::tests::request;
    use schema::load::ErrorClass;
    use units::Tracing;

    #[test]
    fn a_span_lasts_as_long_as_the_response_and_has_the_ids_of_the_header() {
        let mut failed = request(4, 500);
        (failed.error, failed.status, failed.wait_ns) = (Some(ErrorClass::Timeout), None, None);
        let of = |request| TracedRequest {
            run: "r".into(),
            trial: 2,
            cell: "c".into(),
            origin_unix_ns: 1_000_000,
            request,
        };
        let mut broken = request(5, 1);
        broken.trace.as_mut().unwrap().trace_id = "none".into();
        let body = otlp_spans(&[of(request(3, 700)), of(failed), of(broken)]);
        let sent = Request::decode(body.as_slice()).unwrap();
        let spans = &sent.resource_spans[0].scope_spans[0].spans;
        assert_eq!(spans.len(), 2);
        let context = Tracing::new(1, 1.0).context(3);
        assert_eq!(spans[0].trace_id, context.trace_id.to_be_bytes());
        assert_eq!(spans[0].span_id, context.span_id.to_be_bytes());
        assert_eq!((spans[0].start_time_unix_nano, spans[0].end_time_unix_nano), (1_001_000, 1_001_700));
        assert_eq!(
            (spans[0].events[0].time_unix_nano, spans[0].flags, spans[0].kind),
            (1_001_010, 1, CLIENT)
        );
        assert!(spans[0].attributes.contains(&count("http.response.status_code", 200)));
        assert!(spans[0].status.is_none() && spans[1].events.is_empty());
        assert_eq!(spans[1].status.as_ref().map(|status| status.code), Some(ERROR));
        assert!(spans[1].attributes.contains(&attribute("error.type", "timeout")));
    }
}
