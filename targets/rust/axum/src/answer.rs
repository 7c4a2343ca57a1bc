//! Answers as axum makes them: `Json` with the envelope, and a refusal that every extractor and handler can
//! end with.
use axum::Json;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{FromRequestParts, Path, Query};
use axum::response::{IntoResponse, Response};
use common::contract::{Answer, Failure};

/// What a handler ends with.
pub type Told<T> = Result<Json<Answer<T>>, Refusal>;

/// Data in the envelope.
pub const fn ok<T>(data: T) -> Json<Answer<T>> {
    Json(Answer::ok(data))
}

/// An error of the contract as a response.
#[derive(Debug)]
pub struct Refusal(Failure);

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self(failure)
    }
}

impl From<PathRejection> for Refusal {
    fn from(rejection: PathRejection) -> Self {
        Self(Failure::new(rejection.status(), rejection.body_text()))
    }
}

impl From<QueryRejection> for Refusal {
    fn from(rejection: QueryRejection) -> Self {
        Self(Failure::new(rejection.status(), rejection.body_text()))
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.0.status(), Json(self.0.into_answer())).into_response()
    }
}

/// `Path` that refuses with the envelope.
#[derive(FromRequestParts)]
#[from_request(via(Path), rejection(Refusal))]
pub struct Parameter<T>(pub T);

/// `Query` that refuses with the envelope.
#[derive(FromRequestParts)]
#[from_request(via(Query), rejection(Refusal))]
pub struct Parameters<T>(pub T);
