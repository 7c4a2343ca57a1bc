//! How the messages of a method that streams follow each other, resolved and held against what the method is.

use prost_reflect::MethodDescriptor;
use schema::grpc::{Grpc, StreamPlan, Streaming};
use schema::text::Problem;
use units::Nanos;

/// Most messages that may wait for their answers on a stream: each takes memory.
const IN_FLIGHT_MAX: u32 = 65_536;
/// The fastest rate of messages on one stream.
const RATE_MAX_PER_S: f64 = 1e7;

/// The plan of a stream; none where the method has one message each way.
///
/// # Errors
/// A setting that the method or the others leave no room for.
pub(super) fn plan(grpc: &Grpc, method: &MethodDescriptor, at: &str) -> Result<Option<StreamPlan>, Problem> {
    let streaming = match (method.is_client_streaming(), method.is_server_streaming()) {
        (false, false) => None,
        (false, true) => Some(Streaming::Server),
        (true, false) => Some(Streaming::Client),
        (true, true) => Some(Streaming::Both),
    };
    refuse_unused(grpc, streaming, at)?;
    let Some(streaming) = streaming else { return Ok(None) };
    check_ranges(grpc, at)?;
    Ok(Some(StreamPlan {
        streaming,
        messages: grpc.messages,
        rate_per_s: grpc.message_rate.map(|rate| rate.0),
        in_flight: grpc.in_flight,
        lasts_ns: grpc.stream_for.map(|time| time.0),
    }))
}

/// Settings of messages where the client sends one only.
fn refuse_unused(grpc: &Grpc, streaming: Option<Streaming>, at: &str) -> Result<(), Problem> {
    let sends_many = matches!(streaming, Some(Streaming::Client | Streaming::Both));
    let given = [
        ("messages", grpc.messages.is_some() && !sends_many),
        ("message_rate", grpc.message_rate.is_some() && !sends_many),
        ("stream_for", grpc.stream_for.is_some() && !sends_many),
        ("in_flight", grpc.in_flight.is_some() && streaming != Some(Streaming::Both)),
    ];
    let Some((key, _)) = given.into_iter().find(|(_, is_unused)| *is_unused) else { return Ok(()) };
    let why = match streaming {
        Some(Streaming::Client) => "answers with one message, for which none can wait",
        _ => "takes one message",
    };
    let cause = format!("`{}` {why}", grpc.method);
    Err(Problem::at(&format!("{at}.{key}"), cause, format!("leave {key} out")))
}

fn check_ranges(grpc: &Grpc, at: &str) -> Result<(), Problem> {
    let wrong =
        |key: &str, cause: &str, remedy: String| Err(Problem::at(&format!("{at}.{key}"), cause, remedy));
    if grpc.messages == Some(0) {
        return wrong("messages", "a stream without messages", "send at least 1".to_owned());
    }
    if grpc.in_flight.is_some_and(|limit| !(1..=IN_FLIGHT_MAX).contains(&limit)) {
        let remedy = format!("let 1 to {IN_FLIGHT_MAX} messages wait for their answers");
        return wrong("in_flight", "so many messages cannot be in flight", remedy);
    }
    if grpc.message_rate.is_some_and(|rate| !(rate.0 > 0.0 && rate.0 <= RATE_MAX_PER_S)) {
        let remedy = format!("send up to {RATE_MAX_PER_S} messages a second on each stream");
        return wrong("message_rate", "not a rate of messages", remedy);
    }
    if grpc.stream_for == Some(Nanos::ZERO) {
        let remedy = "give a time such as 10s".to_owned();
        return wrong("stream_for", "a stream of no length", remedy);
    }
    Ok(())
}
