//! What metrics and spans have in common: who sends, attributes, and what a collector answers.

use prost::Message;

/// Media type of what is sent.
pub const OTLP_TYPE: &str = "application/x-protobuf";

#[derive(Clone, PartialEq, Message)]
pub(super) struct Resource {
    #[prost(message, repeated, tag = "1")]
    pub(super) attributes: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Scope {
    #[prost(string, tag = "1")]
    name: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct KeyValue {
    #[prost(string, tag = "1")]
    key: String,
    #[prost(message, optional, tag = "2")]
    value: Option<AnyValue>,
}

/// A text or a whole number; no other kind is sent.
#[derive(Clone, PartialEq, Message)]
struct AnyValue {
    #[prost(string, optional, tag = "1")]
    string_value: Option<String>,
    #[prost(int64, optional, tag = "3")]
    int_value: Option<i64>,
}

#[derive(Clone, PartialEq, Message)]
struct Response {
    #[prost(message, optional, tag = "1")]
    partial_success: Option<PartialSuccess>,
}

/// Of values or of spans.
#[derive(Clone, PartialEq, Message)]
struct PartialSuccess {
    #[prost(int64, tag = "1")]
    rejected: i64,
    #[prost(string, tag = "2")]
    error_message: String,
}

pub(super) fn resource() -> Resource {
    Resource { attributes: vec![attribute("service.name", "prony")] }
}

pub(super) fn scope() -> Scope {
    Scope { name: "prony".to_owned() }
}

pub(super) fn attribute(key: &str, value: &str) -> KeyValue {
    let value = AnyValue { string_value: Some(value.to_owned()), int_value: None };
    KeyValue { key: key.to_owned(), value: Some(value) }
}

pub(super) fn count(key: &str, value: u64) -> KeyValue {
    let value = AnyValue { string_value: None, int_value: Some(i64::try_from(value).unwrap_or(i64::MAX)) };
    KeyValue { key: key.to_owned(), value: Some(value) }
}

/// How many values or spans a collector that answered with success refused all the same, and why; `None` where it took all.
#[must_use]
pub fn otlp_refused(body: &[u8]) -> Option<(u64, String)> {
    let refused = Response::decode(body).ok()?.partial_success?;
    let count = u64::try_from(refused.rejected).unwrap_or_default();
    (count > 0).then_some((count, refused.error_message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partial_success_says_what_was_refused() {
        let answer = |rejected| {
            let partial_success = Some(PartialSuccess { rejected, error_message: "full".into() });
            Response { partial_success }.encode_to_vec()
        };
        assert_eq!(otlp_refused(&answer(3)), Some((3, "full".into())));
        assert_eq!((otlp_refused(&answer(0)), otlp_refused(b""), otlp_refused(b"\xff")), (None, None, None));
    }
}
