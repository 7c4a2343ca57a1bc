//! Where the time of slow requests went, by the target's spans: a part of what `prony why` prints.
//!
//! Invariant: names of spans and services come from targets and are cleaned.

use crate::terminal::layout::{Align, paragraph, table};
use crate::terminal::paint::{Tone, paint};
use crate::{clean, format};
use schema::spans::{RequestSpans, SpanTime, SpansFile};

/// Spans shown of a request; JSON has all.
const SPANS_SHOWN: usize = 12;

/// The part as text of so many columns.
pub(super) fn text(of: &SpansFile, columns: usize) -> String {
    let title = "Where the time of slow requests went, by the target's spans";
    let mut text = paragraph("", &paint(Tone::Strong, title), columns);
    for request in &of.requests {
        text += &one(request, columns);
    }
    if of.requests_missing > 0 {
        let missing = format::counted(of.requests_missing, "sampled request");
        text += &paragraph("  ", &format!("no span in the file: {missing} of those that stand out"), columns);
    }
    text
}

fn one(of: &RequestSpans, columns: usize) -> String {
    let request = &of.request;
    let time = |ns: u64| format::duration(ns as f64);
    let ended = request.error.map_or_else(String::new, |class| format!(", {}", class.key()));
    let head = format!(
        "{} #{} of trial {}: {}{ended}, {} of it outside of all spans",
        clean::cut(&clean::line(&request.name), 40),
        request.request,
        of.trial,
        time(request.response_ns),
        time(of.outside_ns),
    );
    let header = [
        ("span", Align::Text),
        ("service", Align::Text),
        ("lasted", Align::Number),
        ("itself", Align::Number),
        ("share", Align::Number),
    ];
    let rows: Vec<Vec<String>> = of.spans.iter().take(SPANS_SHOWN).map(row).collect();
    let mut text = paragraph("  ", &head, columns);
    for line in table(&header, &rows, columns.saturating_sub(4)).lines() {
        text += &format!("    {line}\n");
    }
    let more = of.spans.len().saturating_sub(SPANS_SHOWN);
    if more > 0 {
        text += &paragraph("    ", &format!("and {}", format::counted(more as u64, "more span")), columns);
    }
    text
}

fn row(of: &SpanTime) -> Vec<String> {
    let within = "  ".repeat(of.depth.min(8) as usize);
    vec![
        format!("{within}{}", clean::cut(&clean::line(&of.name), 40)),
        clean::cut(&clean::line(&of.service), 24),
        format::duration(of.duration_ns as f64),
        format::duration(of.self_ns as f64),
        format::percent(of.self_share),
    ]
}
