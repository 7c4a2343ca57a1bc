//! Messages on streams: the ledger of each cell, beside that of the streams that carry them, and their times.

use crate::{clean, format};
use schema::analysis::{AnalysisFile, CellMessages};
use schema::metric::Metric;

/// What the table shows.
pub(crate) const ABOUT: &str = "Sums over the valid trials: scheduled = completed + failed + censored, of messages as of streams. \
    Times are those of the trial in the middle; percentiles are never averaged.";

/// Heads of the columns: cell, and the values of a view.
pub(crate) const HEADER: [&str; 14] = [
    "Cell",
    "Scheduled",
    "Completed",
    "Failed",
    "Unanswered",
    "Censored",
    Metric::MessagesCompleted.title(),
    Metric::MessagesReceived.title(),
    Metric::StreamLength.title(),
    Metric::MessageP50.title(),
    Metric::MessageP99.title(),
    Metric::FirstMessageP50.title(),
    Metric::FirstMessageP99.title(),
    Metric::MessageGapP99.title(),
];

/// One cell.
pub(crate) struct MessagesView {
    pub(crate) cell: String,
    pub(crate) values: Vec<String>,
}

/// All cells with streams, in the order of the analysis.
pub(crate) fn views(analysis: &AnalysisFile) -> Vec<MessagesView> {
    let view = |label: &str, messages: &CellMessages| MessagesView {
        cell: clean::line(label),
        values: values(messages),
    };
    analysis.cells.iter().filter_map(|cell| Some(view(&cell.label, cell.messages.as_ref()?))).collect()
}

fn values(of: &CellMessages) -> Vec<String> {
    let ledger = [of.scheduled, of.completed, of.failed, of.unanswered, of.censored].map(format::count);
    let ns = |ns: Option<u64>| ns.map(|ns| ns as f64);
    let metrics = [
        (Metric::MessagesCompleted, Some(of.completed_per_s)),
        (Metric::MessagesReceived, Some(of.received_per_s)),
        (Metric::StreamLength, of.per_stream),
        (Metric::MessageP50, ns(of.response_p50_ns)),
        (Metric::MessageP99, ns(of.response_p99_ns)),
        (Metric::FirstMessageP50, ns(of.first_message_p50_ns)),
        (Metric::FirstMessageP99, ns(of.first_message_p99_ns)),
        (Metric::MessageGapP99, ns(of.gap_p99_ns)),
    ];
    let shown = metrics.into_iter().map(|(metric, value)| {
        value.map_or_else(|| format::NONE.to_owned(), |value| format::value(metric.unit(), value))
    });
    ledger.into_iter().chain(shown).collect()
}
