//! Where the time of slow requests went, by the target's spans: a part of what `prony why` prints, and of a run's report.
//!
//! Invariant: names of spans and services come from targets, and are one bounded, harmless line.

use crate::notable::name;
use crate::terminal::layout::{Align, paragraph, table};
use crate::terminal::paint::{Tone, paint};
use crate::{clean, format};
use schema::spans::{RequestSpans, SPANS_SHOWN, SpanTime, SpansFile};

/// Heads of the columns.
pub(crate) const HEADER: [&str; 5] = ["span", "service", "lasted", "itself", "share"];
/// Levels that are indented.
const DEPTH_SHOWN: u32 = 8;

/// One request and the spans of its trace.
pub(crate) struct SpansView {
    /// The request and what no span covers.
    pub(crate) head: String,
    pub(crate) rows: Vec<SpanRow>,
    /// How many spans are not listed; empty where all are.
    pub(crate) more: String,
}

/// One span.
pub(crate) struct SpanRow {
    /// Spaces that do not collapse, by depth.
    pub(crate) indent: String,
    pub(crate) name: String,
    /// Service, lasted, itself, share.
    pub(crate) values: [String; 4],
}

/// The spans of a request in words.
pub(crate) fn view(of: &RequestSpans) -> SpansView {
    let request = &of.request;
    let time = |ns: u64| format::duration(ns as f64);
    let ended = request.error.map_or_else(String::new, |class| format!(", {}", class.key()));
    let more = (of.spans.len().saturating_sub(SPANS_SHOWN) as u64).saturating_add(of.spans_left_out);
    SpansView {
        head: format!(
            "{} #{} of trial {}: {}{ended}, {} of it outside of all spans",
            name(&request.name),
            request.request,
            of.trial,
            time(request.response_ns),
            time(of.outside_ns),
        ),
        rows: of.spans.iter().take(SPANS_SHOWN).map(row).collect(),
        more: if more > 0 { format!("and {}", format::counted(more, "more span")) } else { String::new() },
    }
}

fn row(of: &SpanTime) -> SpanRow {
    SpanRow {
        indent: "\u{a0}\u{a0}".repeat(of.depth.min(DEPTH_SHOWN) as usize),
        name: name(&of.name),
        values: [
            clean::cut(&clean::line(&of.service), 24),
            format::duration(of.duration_ns as f64),
            format::duration(of.self_ns as f64),
            format::percent(of.self_share),
        ],
    }
}

/// The part as text of so many columns.
pub(super) fn text(of: &SpansFile, columns: usize) -> String {
    let title = "Where the time of slow requests went, by the target's spans";
    let mut text = paragraph("", &paint(Tone::Strong, title), columns);
    for request in &of.requests {
        text += &one(&view(request), columns);
    }
    if of.requests_missing > 0 {
        let missing = format::counted(of.requests_missing, "sampled request");
        text += &paragraph("  ", &format!("no span in the file: {missing} of those that stand out"), columns);
    }
    text
}

fn one(of: &SpansView, columns: usize) -> String {
    let aligned = [Align::Text, Align::Text, Align::Number, Align::Number, Align::Number];
    let header: Vec<_> = HEADER.into_iter().zip(aligned).collect();
    let row = |row: &SpanRow| {
        let name = format!("{}{}", row.indent.replace('\u{a0}', " "), row.name);
        [name].into_iter().chain(row.values.iter().cloned()).collect()
    };
    let rows: Vec<Vec<String>> = of.rows.iter().map(row).collect();
    let mut text = paragraph("  ", &of.head, columns);
    for line in table(&header, &rows, columns.saturating_sub(4)).lines() {
        text += &format!("    {line}\n");
    }
    if of.more.is_empty() { text } else { text + &paragraph("    ", &of.more, columns) }
}
