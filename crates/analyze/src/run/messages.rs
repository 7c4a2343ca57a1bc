//! The ledger of messages of a cell: the sums of its valid trials, and the times of its middle one.
//!
//! Invariants: `scheduled = completed + failed + censored`, as each trial's own ledger has it; a time is a value that a trial
//! had, never a mean of percentiles. Absent on purpose: comparisons, which claims make (`asked.rs`).

use super::data::RunData;
use crate::stats::order::lower_median;
use schema::analysis::CellMessages;
use schema::load::MessageSummary;
use schema::plan::CellPlan;

/// Over the valid trials of a cell; absent where no request of it is a stream.
pub(super) fn of_cell(data: &RunData<'_>, cell: &CellPlan) -> Option<CellMessages> {
    let loads = data.valid(&cell.id).filter_map(|trial| trial.file.load.as_ref());
    let found: Vec<(&MessageSummary, u64)> =
        loads.filter_map(|load| Some((load.messages.as_ref()?, load.window.duration_ns))).collect();
    if found.is_empty() {
        return None;
    }
    let sum = |read: fn(&MessageSummary) -> u64| {
        found.iter().fold(0, |sum: u64, (one, _)| sum.saturating_add(read(one)))
    };
    let middle = |read: fn(&MessageSummary) -> Option<u64>| {
        lower_median(found.iter().filter_map(|(one, _)| read(one)))
    };
    let seconds: f64 = found.iter().map(|(_, duration_ns)| *duration_ns as f64 / 1e9).sum();
    // From the rates, because what the drain completes is in the ledger and not in the window.
    let rate = |read: fn(&MessageSummary) -> f64| {
        let weighed = found.iter().map(|(one, duration_ns)| read(one) * (*duration_ns as f64 / 1e9));
        if seconds > 0.0 { weighed.sum::<f64>() / seconds } else { 0.0 }
    };
    Some(CellMessages {
        scheduled: sum(|one| one.scheduled),
        completed: sum(|one| one.completed),
        failed: sum(|one| one.failed),
        unanswered: sum(|one| one.unanswered),
        censored: sum(|one| one.censored),
        received: sum(|one| one.received),
        completed_per_s: rate(|one| one.completed_per_s),
        received_per_s: rate(|one| one.received_per_s),
        per_stream: per_stream(&found),
        response_p50_ns: middle(|one| one.response.p50),
        response_p99_ns: middle(|one| one.response.p99),
        first_message_p50_ns: middle(|one| one.first_message.p50),
        first_message_p99_ns: middle(|one| one.first_message.p99),
        gap_p99_ns: middle(|one| one.gap.p99),
    })
}

/// The mean over all streams of all trials.
fn per_stream(found: &[(&MessageSummary, u64)]) -> Option<f64> {
    let lengths = || found.iter().filter_map(|(one, _)| one.per_stream);
    let streams: f64 = lengths().map(|length| length.streams as f64).sum();
    let messages: f64 = lengths().map(|length| length.mean * length.streams as f64).sum();
    (streams > 0.0).then(|| messages / streams)
}
