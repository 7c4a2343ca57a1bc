//! The ledger of messages on streams as people and files read it.

use super::rate::per_second;
use super::window::WindowFold;
use analyze::Of;
use engine::{IntervalData, LazyHistogram};
use schema::load::{LatencySummary, MessageSummary, MessageTime, StreamLength};
use schema::plan::ScenarioPlan;

/// What became of messages; absent where no request of the scenario is a stream.
pub(super) fn summary(
    scenario: &ScenarioPlan,
    measured: &IntervalData,
    window: &WindowFold,
) -> Option<MessageSummary> {
    let calls = scenario.requests.iter().filter_map(|request| request.grpc.as_ref());
    calls.filter_map(|call| call.stream).next()?;
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
