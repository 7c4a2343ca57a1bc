//! Events in words: one row for each cell and event.

use crate::{clean, format};
use schema::analysis::{AnalysisFile, CellSummary};
use schema::event::{Around, EventSummary};

/// What the table shows.
pub(crate) const ABOUT: &str = "Medians over the trials: the second before and the worst second after each event, \
    requests that failed because of it, how long probes beside the load found no answer, and when a whole second was \
    as good as before.";

/// Heads of the columns: name, cell, and the values of a view.
pub(crate) const HEADER: [&str; 9] = [
    "Event",
    "Cell",
    "Throughput before",
    "at worst",
    "p99 before",
    "at worst",
    "Requests lost",
    "No answer for",
    "Recovered after",
];

/// One event in one cell.
pub(crate) struct EventView {
    pub(crate) name: String,
    pub(crate) cell: String,
    /// Throughput before and at worst, p99 before and at worst, requests lost, time without answers, time to recover.
    pub(crate) values: [String; 7],
    /// Why it could not be carried out in some trials.
    pub(crate) errors: Vec<String>,
}

/// All events, in the order of the analysis.
pub(crate) fn views(analysis: &AnalysisFile) -> Vec<EventView> {
    analysis.events.iter().map(|event| view(event, &analysis.cells)).collect()
}

fn view(event: &EventSummary, cells: &[CellSummary]) -> EventView {
    let label = cells.iter().find(|cell| cell.cell == event.cell).map_or(&event.cell, |cell| &cell.label);
    let none = || format::NONE.to_owned();
    let seen = event.trials > 0;
    let rate = |around: Around| if seen { format::rate(around.throughput_per_s) } else { none() };
    let tail = |around: Around| around.p99_ns.filter(|_| seen).map_or_else(none, format::nanos);
    EventView {
        name: clean::line(&event.name),
        cell: clean::line(label),
        values: [
            rate(event.before),
            rate(event.worst),
            tail(event.before),
            tail(event.worst),
            if seen { lost(event) } else { none() },
            if event.unavailable_ns > 0.0 { format::duration(event.unavailable_ns) } else { none() },
            if seen { recovered(event) } else { none() },
        ],
        errors: event.errors.iter().map(|error| clean::line(error)).collect(),
    }
}

fn lost(event: &EventSummary) -> String {
    format!("{} (at most {})", format::count(event.lost.round() as u64), format::count(event.lost_max))
}

fn recovered(event: &EventSummary) -> String {
    let never = match event.not_recovered {
        0 => String::new(),
        count => format!("not in {count} of {}", event.trials),
    };
    match event.recovered_ns {
        None => never,
        Some(0.0) if never.is_empty() => "at once".to_owned(),
        Some(time) if never.is_empty() => format::duration(time),
        Some(time) => format!("{}, {never}", format::duration(time)),
    }
}
