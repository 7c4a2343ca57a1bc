//! What `prony load` prints at its end: one load on one screen, ending with whether the numbers can be believed.
//!
//! Invariants: a refused percentile is a dash with its reason below; a percentile among censored requests is `≥ x`.

use crate::instrument::instrument_line;
use crate::layout::{Align, paragraph, table};
use crate::paint::{Tone, finish, paint};
use crate::words::Footnotes;
use crate::{Style, clean, format, settings};
use schema::load::{LatencySummary, LoadReport, Validity};

/// A kind of time: its name on the screen and its summary.
type Kind<'a> = (&'static str, &'a LatencySummary);
/// A column or row of the latency table: heading, key in `refused` and `at_least`, and the value.
type Field = (&'static str, &'static str, fn(&LatencySummary) -> Option<f64>);

const FIELDS: [Field; 8] = [
    ("mean", "mean", |s| s.mean),
    ("min", "min", |s| s.min.map(|ns| ns as f64)),
    ("p50", "p50", |s| s.p50.map(|ns| ns as f64)),
    ("p90", "p90", |s| s.p90.map(|ns| ns as f64)),
    ("p95", "p95", |s| s.p95.map(|ns| ns as f64)),
    ("p99", "p99", |s| s.p99.map(|ns| ns as f64)),
    ("p99.9", "p999", |s| s.p999.map(|ns| ns as f64)),
    ("max", "max", |s| s.max.map(|ns| ns as f64)),
];

/// One load as text of `style.width` columns; `latency_detail` adds pacer lag, connect time, counts and more
/// quantiles.
#[must_use]
pub fn load_text(report: &LoadReport, style: Style, latency_detail: bool) -> String {
    let columns = style.columns();
    let latencies =
        if latency_detail { latency_columns(report, columns) } else { latency_rows(report, columns) };
    let sections = [plan(report, columns), rate(report, columns), latencies, facts(report, columns)];
    finish(&(sections.join("\n") + "\n" + &validity(&report.validity, columns)), style)
}

fn plan(report: &LoadReport, columns: usize) -> String {
    let plan = &report.plan;
    let what = clean::line(&format!(
        "{} {}{}",
        plan.request.method,
        plan.url.trim_end_matches('/'),
        plan.request.path
    ));
    let mut how = settings::load(&plan.load);
    how += &format!(", {} measured", format::setting(report.window.duration_ns));
    if plan.phases.warmup_at_most_ns > 0 {
        how += &format!(" after at most {} of warm-up", format::setting(plan.phases.warmup_at_most_ns));
    }
    how += &format!(", {}", clean::line(&plan.driver));
    paragraph("", &what, columns) + &paragraph("", &how, columns)
}

fn rate(report: &LoadReport, columns: usize) -> String {
    let requests = &report.requests;
    let per_second = paint(Tone::Strong, &format::rate(report.throughput_per_s));
    let count = |name: &str, n: u64, tone: Tone| {
        let text = format!("{} {name}", format::count(n));
        if n > 0 { paint(tone, &text) } else { text }
    };
    let sum = format!(
        "{} scheduled = {} completed + {} + {}",
        format::count(requests.scheduled),
        format::count(requests.completed),
        count("failed", requests.failed, Tone::Bad),
        count("censored", requests.censored, Tone::Warn),
    );
    format!("  {per_second} right answers\n") + &paragraph("  ", &sum, columns)
}

/// One row for each kind of time, as wrk users know it.
fn latency_rows(report: &LoadReport, columns: usize) -> String {
    let latency = &report.latency_ns;
    let kinds: [Kind<'_>; 3] =
        [("response", &latency.response), ("service", &latency.service), ("send lag", &latency.send_lag)];
    let shown = [0, 2, 3, 5, 6, 7].map(|index: usize| FIELDS[index]);
    let mut header = vec![("", Align::Word)];
    header.extend(shown.iter().map(|(name, ..)| (*name, Align::Number)));
    let mut notes = Footnotes::default();
    let rows: Vec<_> = kinds
        .iter()
        .map(|kind| {
            let values = shown.iter().map(|field| quantile(*kind, *field, &mut notes));
            std::iter::once(kind.0.to_owned()).chain(values).collect()
        })
        .collect();
    table(&header, &rows, columns) + &footnotes(&notes, columns)
}

/// One column for each kind of time, with all that is known.
fn latency_columns(report: &LoadReport, columns: usize) -> String {
    let latency = &report.latency_ns;
    let mut kinds: Vec<Kind<'_>> = vec![
        ("response", &latency.response),
        ("service", &latency.service),
        ("send lag", &latency.send_lag),
        ("pacer lag", &latency.pacer_lag),
        ("connect", &latency.connect),
    ];
    kinds.push(("tls", &latency.tls));
    let mut header = vec![("", Align::Word)];
    header.extend(kinds.iter().map(|(name, _)| (*name, Align::Number)));
    let counts = |name: &str, of: fn(&LatencySummary) -> u64| {
        std::iter::once(name.to_owned()).chain(kinds.iter().map(|(_, s)| format::count(of(s)))).collect()
    };
    let mut rows: Vec<Vec<String>> = vec![counts("count", |s| s.count), counts("censored", |s| s.censored)];
    let mut notes = Footnotes::default();
    for field in FIELDS {
        let values = kinds.iter().map(|kind| quantile(*kind, field, &mut notes));
        rows.push(std::iter::once(field.0.to_owned()).chain(values).collect());
    }
    table(&header, &rows, columns) + &footnotes(&notes, columns)
}

fn quantile((_, summary): Kind<'_>, (heading, key, read): Field, notes: &mut Footnotes) -> String {
    if let Some(bound) = summary.at_least.get(key) {
        return format!("≥ {}", format::nanos(*bound));
    }
    match (read(summary), summary.refused.get(key)) {
        (Some(value), _) => format::duration(value),
        (None, Some(reason)) => {
            let text = format!("{heading}: {}", clean::line(reason));
            format!("{}{}", format::NONE, notes.sign(&text))
        }
        (None, None) => format::NONE.to_owned(),
    }
}

fn facts(report: &LoadReport, columns: usize) -> String {
    let connections = &report.connections;
    let generator = &report.generator;
    let mut text = String::new();
    let mut fact = |name: &str, value: String| text += &paragraph(&format!("  {name:<12} "), &value, columns);
    let status: Vec<_> =
        report.status.iter().map(|(code, n)| format!("{code} × {}", format::count(*n))).collect();
    fact("status", if status.is_empty() { "no answer".to_owned() } else { status.join(", ") });
    fact(
        "bytes",
        format!(
            "{} read, {} written",
            format::bytes(report.bytes.read as f64),
            format::bytes(report.bytes.written as f64)
        ),
    );
    fact(
        "connections",
        format!(
            "{} asked for, {} established, {}",
            format::count(connections.asked),
            format::count(connections.established),
            format::counted(connections.reconnects, "reconnect"),
        ),
    );
    if let Some(shakes) = connections.handshakes {
        let (full, resumed) = (format::count(shakes.full), format::count(shakes.resumed));
        fact("handshakes", format!("{full} full, {resumed} resumed"));
    }
    fact(
        "generator",
        format!(
            "{} CPU, busiest worker {} busy, {} memory",
            format::duration(generator.cpu_s * 1e9),
            format::percent(generator.busy_share),
            format::bytes(generator.peak_rss_bytes as f64),
        ),
    );
    fact("instrument", instrument_line(report.instrument_limit.as_ref()));
    text + &errors(report, columns)
}

fn errors(report: &LoadReport, columns: usize) -> String {
    let mut text = String::new();
    for (index, (class, n)) in report.errors.iter().enumerate() {
        let name = if index == 0 { paint(Tone::Bad, "failed") + "      " } else { " ".repeat(12) };
        let what = format!("{} × {}", format::count(*n), class.key().replace('_', " "));
        text += &paragraph(&format!("  {name} "), &what, columns);
        for example in report.error_examples.get(class).into_iter().flatten() {
            text += &paragraph("                 ", &clean::cut(&clean::line(example), 200), columns);
        }
    }
    text
}

fn validity(validity: &Validity, columns: usize) -> String {
    if validity.ok {
        let passed = format::counted(validity.gates.len() as u64, "check");
        return paragraph(
            &format!("{} ", paint(Tone::Good, "✓")),
            &format!("These numbers can be believed: {passed} passed."),
            columns,
        );
    }
    let mut text = format!("{} These numbers must not be used:\n", paint(Tone::Bad, "✗"));
    for gate in &validity.reasons {
        let name = paint(Tone::Strong, &clean::line(&gate.gate).replace('_', " "));
        text += &paragraph("  ", &format!("{name}: {}", clean::line(&gate.text)), columns);
    }
    text
}

fn footnotes(notes: &Footnotes, columns: usize) -> String {
    notes.numbered().map(|(sign, text)| paragraph(&format!("  {sign} "), text, columns)).collect()
}
