//! Server-sent events as bytes.
//!
//! Invariant: a frame is made once for all viewers; its data is one line of JSON, so nothing foreign can end it.

use axum::body::Bytes;

/// One event as it is sent.
pub(crate) type Frame = Bytes;

/// One event with a JSON value.
pub(crate) fn frame(name: &str, value: &impl serde::Serialize) -> Frame {
    // Types of `schema` always serialise; JSON has no line breaks of its own.
    let data = schema::json::line(value).unwrap_or_else(|_| "null".to_owned());
    Bytes::from(format!("event: {name}\ndata: {data}\n\n"))
}
