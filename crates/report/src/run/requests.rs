//! The slowest requests and the first failures of each cell, and where the time of some went by the target's spans.
//!
//! Invariant: all text is one bounded, harmless line, not yet escaped for its format.

use super::spans::{self, SpansView};
use crate::{clean, notable};
use schema::analysis::{AnalysisFile, CellSummary};
use schema::traced::{CellNotable, TrialRequest};

/// What the tables show.
pub(crate) const ABOUT: &str = "Of all valid trials of a cell: the eight slowest requests, by response time, and the first eight failures. With traces, sampled \
    requests have lists of their own.";

/// What stands above the spans.
pub(crate) const SPANS_ABOUT: &str = "Where their time went, by the target's spans. \
    \"Itself\" lies in none of the spans within; shares are of the response time.";

/// Heads of the columns; the last two only with traces.
const HEADER: [&str; 9] =
    ["", "Trial", "Request", "Number", "Response", "Waited", "Ended", "Sampled", "Trace id"];

/// One cell.
pub(crate) struct RequestsView {
    pub(crate) cell: String,
    pub(crate) header: Vec<&'static str>,
    /// A value for each column; names of requests are the third.
    pub(crate) rows: Vec<Vec<String>>,
    pub(crate) spans: Vec<SpansView>,
}

/// Where names of requests are.
pub(crate) const NAME_AT: usize = 2;

/// All cells that list requests, in the order of the analysis.
pub(crate) fn views(analysis: &AnalysisFile) -> Vec<RequestsView> {
    analysis.cells.iter().filter(|cell| !cell.notable.is_empty()).map(view).collect()
}

fn view(cell: &CellSummary) -> RequestsView {
    let has_traces = cell.notable.all().any(|one| one.request.trace.is_some());
    let columns = if has_traces { HEADER.len() } else { HEADER.len() - 2 };
    RequestsView {
        cell: clean::line(&cell.label),
        header: HEADER[..columns].to_vec(),
        rows: rows(&cell.notable, columns),
        spans: cell.spans.iter().map(spans::view).collect(),
    }
}

fn rows(of: &CellNotable, columns: usize) -> Vec<Vec<String>> {
    let lists = [
        ("slowest", &of.slowest),
        ("slowest sampled", &of.slowest_sampled),
        ("first failures", &of.failures),
        ("first sampled failures", &of.failures_sampled),
    ];
    let row = |list: &str, one: &TrialRequest| {
        let own = [list.to_owned(), one.trial.to_string()];
        own.into_iter().chain(notable::values(&one.request)).take(columns).collect()
    };
    lists.into_iter().flat_map(|(list, all)| all.iter().map(move |one| row(list, one))).collect()
}
