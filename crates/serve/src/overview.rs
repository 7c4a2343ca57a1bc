//! What the page asks first, and the login with the token.

use crate::error::{ApiError, json};
use crate::guard::wrong_token;
use crate::lab::Shared;
use crate::runs::body;
use crate::token;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use schema::lab::{LabInfo, LoginRequest};
use schema::said;
use schema::version::LabVersion;

pub(crate) async fn info(State(lab): State<Shared>) -> Response {
    json(&LabInfo {
        schema: LabVersion::default(),
        prony: env!("CARGO_PKG_VERSION").to_owned(),
        runs: lab.runs.display().to_string(),
        experiments: lab.experiments.as_ref().map(|folder| folder.display().to_string()),
        needs_token: lab.access.token.is_some(),
    })
}

/// Keeps the token in a cookie that no script can read and no other site can send.
pub(crate) async fn login(
    State(lab): State<Shared>,
    headers: HeaderMap,
    request: Body,
) -> Result<Response, ApiError> {
    let Some(wanted) = lab.access.token.as_deref() else {
        return Ok(StatusCode::NO_CONTENT.into_response());
    };
    let given: LoginRequest = body(request).await?;
    if !token::is_same(&given.token, wanted) && !lab.access.has_token(&headers) {
        wrong_token(&lab).await;
        return Err(ApiError::new(
            StatusCode::UNAUTHORIZED,
            said!("lab.wrong_token", "this is not the token of this lab"),
            said!("lab.copy_token", "copy it from where prony serve printed it, or from its token file"),
        ));
    }
    // Characters of a token are checked when it is read, and hexadecimal digits when it is made.
    let name = lab.access.cookie();
    let cookie = HeaderValue::from_str(&format!("{name}={wanted}; HttpOnly; SameSite=Strict; Path=/"));
    let cookie = cookie.unwrap_or(HeaderValue::from_static(""));
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response())
}
