//! The ledger of messages on streams as people and files read it.

use super::rate::per_second;
use super::window::WindowFold;
use analyze::{MessageLateness, Of};
use engine::{IntervalData, LazyHistogram};
use schema::load::{LatencySummary, MessageSummary, MessageTime, StreamLength};
use schema::plan::EntryPlan;
use schema::trial::MessageInterval;

fn has_streams(requests: &[EntryPlan]) -> bool {
    requests.iter().filter_map(|request| request.grpc.as_ref()).any(|call| call.stream.is_some())
}

/// A quantile of a time; absent where no message has it.
fn at(data: &IntervalData, time: MessageTime, quantile: f64) -> Option<u64> {
    let times = &data.messages[time];
    (!times.is_empty()).then(|| times.value_at_quantile(quantile))
}

/// What became of messages; absent where no request of the scenario is a stream.
pub(super) fn summary(
    requests: &[EntryPlan],
    measured: &IntervalData,
    window: &WindowFold,
) -> Option<MessageSummary> {
    if !has_streams(requests) {
        return None;
    }
    let account = &measured.counts.messages.measured;
    let seen = &window.messages;
    let time = |time: MessageTime| -> LatencySummary {
        let beyond = match time {
            MessageTime::Response | MessageTime::Service if !measured.messages[time].is_empty() => {
                account.beyond()
            }
            _ => 0,
        };
        analyze::latency(&measured.messages[time], beyond, Of::Requests)
    };
    let duration_ns = window.window().duration_ns;
    Some(MessageSummary {
        scheduled: account.scheduled,
        completed: account.completed,
        failed: account.failed,
        unanswered: account.unanswered,
        censored: account.censored,
        queued: account.queued,
        received: seen.received,
        received_per_s: per_second(seen.received, duration_ns),
        unasked: seen.unasked,
        completed_per_s: per_second(seen.completed, duration_ns),
        per_stream: length(&measured.messages.per_stream),
        response: time(MessageTime::Response),
        service: time(MessageTime::Service),
        send_lag: time(MessageTime::SendLag),
        first_message: time(MessageTime::FirstMessage),
        gap: time(MessageTime::Gap),
        pacer_lag: time(MessageTime::PacerLag),
    })
}

/// What the gate of the generator's lateness needs of messages; absent where none has a time of its own to keep.
pub(super) fn lateness(measured: &IntervalData) -> Option<MessageLateness> {
    let at = |time, quantile| at(measured, time, quantile);
    Some(MessageLateness {
        pacer_lag_p99_ns: at(MessageTime::PacerLag, 0.99)?,
        service_p50_ns: at(MessageTime::Service, 0.5),
        response_p99_ns: at(MessageTime::Response, 0.99),
    })
}

/// Messages of one interval, of warm-up and of the samples.
pub(super) fn interval(requests: &[EntryPlan], data: &IntervalData) -> Option<MessageInterval> {
    let mut account = data.counts.messages.warm;
    account.add(&data.counts.messages.measured);
    let at = |time, quantile| at(data, time, quantile);
    has_streams(requests).then(|| MessageInterval {
        scheduled: account.scheduled,
        completed: account.completed,
        failed: account.failed,
        censored: account.censored,
        received: data.counts.messages.received,
        first_message_p50_ns: at(MessageTime::FirstMessage, 0.5),
        gap_p99_ns: at(MessageTime::Gap, 0.99),
    })
}

/// Of counts that a store of times holds.
fn length(counts: &LazyHistogram) -> Option<StreamLength> {
    (!counts.is_empty()).then(|| StreamLength {
        streams: counts.len(),
        mean: counts.mean(),
        min: counts.min(),
        p50: counts.value_at_quantile(0.5),
        max: counts.max(),
    })
}
