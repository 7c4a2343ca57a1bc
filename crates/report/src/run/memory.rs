//! What a target's memory and garbage collection do, in one line a cell.

use crate::{clean, format};
use schema::analysis::{AnalysisFile, CellSummary};
use schema::memory_view::{MemoryKind, MemoryView};

/// What the section shows.
pub(crate) const ABOUT: &str = "The valid trial with the middle throughput of each cell. Panels over each other share \
    one time axis, so that a rise of p99 can be held against collections and growth; what the target does not tell has \
    no panel.";

/// One cell.
pub(crate) struct MemoryLine {
    pub(crate) cell: String,
    pub(crate) text: String,
}

/// The cells that have more to tell than their resident memory, in the order of the analysis.
pub(crate) fn lines(analysis: &AnalysisFile) -> Vec<MemoryLine> {
    analysis.cells.iter().filter_map(line).collect()
}

fn line(cell: &CellSummary) -> Option<MemoryLine> {
    let text = text(cell.memory_view.as_ref()?)?;
    Some(MemoryLine { cell: clean::line(&cell.label), text })
}

/// `allocates 1.20 KiB in 9 objects for each request; 31 collections per second, pauses take 0.4 % of the time`; `None`
/// where the runtime tells nothing of it.
pub(crate) fn text(view: &MemoryView) -> Option<String> {
    let objects = view.alloc_per_request_objects.map(|n| format!("{} objects", format::plain(n)));
    let allocates = match (view.alloc_per_request_bytes.map(format::bytes), objects) {
        (Some(bytes), Some(objects)) => Some(format!("allocates {bytes} in {objects} for each request")),
        (Some(what), None) | (None, Some(what)) => Some(format!("allocates {what} for each request")),
        (None, None) => None,
    };
    let collections =
        view.collections_per_s.map(|rate| format!("{} collections per second", format::plain(rate)));
    let pauses = view.pause_share.map(|share| format!("pauses take {} of the time", format::percent(share)));
    let cpu =
        view.gc_cpu_share.map(|share| format!("{} of its CPU time is collection", format::percent(share)));
    let collects: Vec<String> = [collections, pauses, cpu].into_iter().flatten().collect();
    let collects = (!collects.is_empty()).then(|| collects.join(", "));
    let parts: Vec<String> = [allocates, collects].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// The name of a panel.
pub(crate) const fn kind(kind: MemoryKind) -> &'static str {
    match kind {
        MemoryKind::Resident => "resident memory",
        MemoryKind::Heap => "heap in use",
        MemoryKind::AllocRate => "allocated per second",
        MemoryKind::Collections => "collections per second",
        MemoryKind::Pauses => "time in pauses, per second",
        MemoryKind::P99 => "p99 response time",
    }
}

/// A value of a panel with its unit.
pub(crate) fn value(kind: MemoryKind, value: f64) -> String {
    match kind {
        MemoryKind::Resident | MemoryKind::Heap | MemoryKind::AllocRate => format::bytes(value),
        MemoryKind::Collections => format::axis(value),
        MemoryKind::Pauses | MemoryKind::P99 => format::duration(value),
    }
}
