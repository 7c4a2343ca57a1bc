//! What `prony load` prints at its end: one load on one screen, beginning with why its numbers must not be used, or
//! ending with why they can be.
//!
//! Invariants: a refused percentile is a dash with its reason below; a percentile among censored requests is `≥ x`.

use crate::load::parts::parts;
use crate::load::words::{
    FIELDS, Kind, LoadBelief, believed, errors, facts, how, kinds, limits, quantile, short_fields, what,
};
use crate::terminal::layout::{Align, paragraph, table};
use crate::terminal::paint::{Tone, finish, paint};
use crate::words::Footnotes;
use crate::{Style, format};
use schema::analysis::BeliefLevel;
use schema::load::{LatencySummary, LoadReport};

/// Kinds of time beside each other in the detailed table.
const KINDS_A_TABLE: usize = 5;

/// One load as text of `style.width` columns; `latency_detail` adds every kind of time, counts and more quantiles.
/// What forbids the use of the numbers stands before them.
#[must_use]
pub fn load_text(report: &LoadReport, style: Style, latency_detail: bool) -> String {
    let columns = style.columns();
    let latencies =
        if latency_detail { latency_columns(report, columns) } else { latency_rows(report, columns) };
    let belief = believed(report);
    let verdict = verdict(&belief, columns);
    let (doubt, trust) = match belief.level {
        BeliefLevel::No => (verdict, String::new()),
        BeliefLevel::Yes | BeliefLevel::WithReservations => (String::new(), verdict),
    };
    let sections = [
        doubt,
        plan(report, columns),
        rate(report, columns),
        latencies,
        scenario_parts(report, columns),
        all_facts(report, columns),
        thresholds(report, columns),
        trust,
    ];
    let sections: Vec<String> = sections.into_iter().filter(|text| !text.is_empty()).collect();
    finish(&sections.join("\n"), style)
}

fn plan(report: &LoadReport, columns: usize) -> String {
    paragraph("", &what(report), columns) + &paragraph("", &how(report), columns)
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
    let asked = report.plan.load.rate_per_s.map_or_else(String::new, |asked| match report.sessions {
        Some(_) => format!(" from {} sessions asked", format::rate(asked)),
        None => format!(" of {} asked", format::rate(asked)),
    });
    format!("  {per_second} right answers{asked}\n") + &paragraph("  ", &sum, columns)
}

/// One row for each kind of time, as wrk users know it.
fn latency_rows(report: &LoadReport, columns: usize) -> String {
    let shown = short_fields();
    let mut header = vec![("", Align::Word)];
    header.extend(shown.iter().map(|(name, ..)| (*name, Align::Number)));
    let mut notes = Footnotes::default();
    let rows: Vec<_> = kinds(report, false)
        .into_iter()
        .map(|(name, summary)| {
            let values =
                shown.iter().map(|field| quantile(&name, summary, *field, &mut notes)).collect::<Vec<_>>();
            std::iter::once(name).chain(values).collect()
        })
        .collect();
    table(&header, &rows, columns) + &footnotes(&notes, columns)
}

/// One column for each kind of time, with all that is known; as many tables as the kinds need.
fn latency_columns(report: &LoadReport, columns: usize) -> String {
    let mut notes = Footnotes::default();
    let kinds = kinds(report, true);
    let tables: Vec<String> =
        kinds.chunks(KINDS_A_TABLE).map(|kinds| latency_table(kinds, &mut notes, columns)).collect();
    tables.join("\n") + &footnotes(&notes, columns)
}

fn latency_table(kinds: &[Kind<'_>], notes: &mut Footnotes, columns: usize) -> String {
    let mut header = vec![("", Align::Word)];
    header.extend(kinds.iter().map(|(name, _)| (name.as_str(), Align::Number)));
    let counts = |name: &str, of: fn(&LatencySummary) -> u64| {
        std::iter::once(name.to_owned()).chain(kinds.iter().map(|(_, s)| format::count(of(s)))).collect()
    };
    let mut rows: Vec<Vec<String>> = vec![counts("count", |s| s.count), counts("censored", |s| s.censored)];
    for field in FIELDS {
        let values = kinds.iter().map(|(name, summary)| quantile(name, summary, field, notes));
        rows.push(std::iter::once(field.0.to_owned()).chain(values).collect());
    }
    table(&header, &rows, columns)
}

/// The tables of a scenario of several requests.
fn scenario_parts(report: &LoadReport, columns: usize) -> String {
    let mut notes = Footnotes::default();
    let tables: Vec<String> = parts(report, &mut notes)
        .iter()
        .map(|part| {
            let align = |is_number| if is_number { Align::Number } else { Align::Word };
            let header: Vec<_> =
                part.columns.iter().map(|column| (column.name, align(column.is_number))).collect();
            table(&header, &part.rows, columns)
        })
        .collect();
    if tables.is_empty() { String::new() } else { tables.join("\n") + &footnotes(&notes, columns) }
}

fn all_facts(report: &LoadReport, columns: usize) -> String {
    let failures = failures(report, columns);
    let facts = facts(report).into_iter();
    failures
        + &facts
            .map(|(name, value)| paragraph(&format!("  {name:<12} "), &value, columns))
            .collect::<String>()
}

fn failures(report: &LoadReport, columns: usize) -> String {
    let mut text = String::new();
    for (index, (failure, examples)) in errors(report).into_iter().enumerate() {
        let name = if index == 0 { paint(Tone::Bad, "failed") + "      " } else { " ".repeat(12) };
        text += &paragraph(&format!("  {name} "), &failure, columns);
        for example in examples {
            text += &paragraph("                 ", &example, columns);
        }
    }
    text
}

/// One line for each limit that the user set.
fn thresholds(report: &LoadReport, columns: usize) -> String {
    let line = |limit: crate::load::words::Limit| {
        let sign = paint(limit.word.tone, limit.word.sign);
        let answer = format!("{} {}: {}", limit.expression, limit.word.text, limit.text);
        paragraph(&format!("{sign} "), &answer, columns)
    };
    limits(report).into_iter().map(line).collect()
}

/// The verdict in one line, and below it what speaks against the numbers.
fn verdict(belief: &LoadBelief, columns: usize) -> String {
    let word = crate::words::belief(belief.level);
    let end = if belief.notes.is_empty() { '.' } else { ':' };
    let sign = paint(word.tone, word.sign);
    let mut text = paragraph(&format!("{sign} "), &format!("{}{end}", belief.summary), columns);
    for (name, note) in &belief.notes {
        text += &paragraph("  ", &format!("{}: {note}", paint(Tone::Strong, name)), columns);
    }
    text
}

fn footnotes(notes: &Footnotes, columns: usize) -> String {
    notes.numbered().map(|(sign, text)| paragraph(&format!("  {sign} "), &text, columns)).collect()
}
