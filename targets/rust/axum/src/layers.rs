//! The layers of `/middleware/{k}`: the access log, the token, the trace.
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{FromRequestParts, Request};
use axum::http::Response;
use axum::http::request::Parts;
use axum::middleware::Next;
use common::contract::Subject;
use common::log::TARGET;
use tower_http::classify::{ServerErrorsAsFailures, SharedClassifier};
use tower_http::trace::{MakeSpan, OnResponse, TraceLayer};
use tracing::Span;

use crate::answer::Refusal;
use crate::services::App;
use crate::trace_context::{TRACEPARENT, answer};

/// Writes a line for each answer, and only then.
pub type Log = TraceLayer<SharedClassifier<ServerErrorsAsFailures>, Line, (), Line, (), (), ()>;

/// The log layer.
pub fn log() -> Log {
    TraceLayer::new_for_http()
        .make_span_with(Line)
        .on_response(Line)
        .on_request(())
        .on_body_chunk(())
        .on_eos(())
        .on_failure(())
}

/// What a line says: method and path from the span, status and duration from the answer.
#[derive(Clone, Copy)]
pub struct Line;

impl<B> MakeSpan<B> for Line {
    fn make_span(&mut self, request: &axum::http::Request<B>) -> Span {
        let (method, path) = (request.method(), request.uri().path());
        tracing::info_span!(target: TARGET, "request", %method, %path)
    }
}

impl<B> OnResponse<B> for Line {
    fn on_response(self, response: &Response<B>, latency: Duration, _: &Span) {
        tracing::info!(target: TARGET, status = response.status().as_u16(), duration = ?latency);
    }
}

/// The subject of a good bearer token; the handler or layer that asks for it has one.
pub struct Authorized(pub Subject);

impl FromRequestParts<Arc<App>> for Authorized {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Refusal> {
        Ok(Self(app.tokens.subject(&parts.headers)?))
    }
}

/// The trace layer.
pub async fn traced(request: Request, next: Next) -> axum::response::Response {
    let traceparent = answer(request.headers().get(TRACEPARENT));
    let mut response = next.run(request).await;
    response.headers_mut().insert(TRACEPARENT, traceparent);
    response
}
