//! What every request passes before anything else sees it, and what every answer says to browsers.

use crate::lab::Shared;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::time::Duration;

/// How long the answer to a wrong token waits, one after the other.
const WRONG_TOKEN_WAIT: Duration = Duration::from_millis(300);

/// Checks every request before anything else sees it.
pub(crate) async fn guard(State(lab): State<Shared>, request: Request, next: Next) -> Response {
    let answer = match lab.access.check(request.method(), request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => {
            if refusal.status == StatusCode::UNAUTHORIZED
                && request.headers().contains_key(header::AUTHORIZATION)
            {
                wrong_token(&lab).await;
            }
            refusal.into_response()
        }
    };
    with_headers(answer)
}

/// Guessing is slow, however many guess at once.
pub(crate) async fn wrong_token(lab: &Shared) {
    let _one_at_a_time = lab.guesses.lock().await;
    tokio::time::sleep(WRONG_TOKEN_WAIT).await;
}

/// What every answer says to browsers.
fn with_headers(mut answer: Response) -> Response {
    const HEADERS: [(&str, &str); 6] = [
        (
            "content-security-policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
             connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        ),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
    ];
    for (name, value) in HEADERS {
        answer.headers_mut().entry(HeaderName::from_static(name)).or_insert(HeaderValue::from_static(value));
    }
    answer
}
