//! One load as Markdown for a pull request: the rate, the times, where requests ended, whether to believe it.
//!
//! Invariant: as in `report.md`, nothing from outside acts as Markdown or HTML.

use crate::clean::{markdown as prose, markdown_code as code};
use crate::format;
use crate::load::parts::parts;
use crate::load::words::{
    LoadBelief, believed, errors, facts, how, kinds, limits, quantile, short_fields, what,
};
use crate::run::markdown::table;
use crate::words::Footnotes;
use schema::analysis::BeliefLevel;
use schema::load::LoadReport;

/// The load as a short Markdown section without a heading.
#[must_use]
pub fn load_markdown(report: &LoadReport) -> String {
    let belief = believed(report);
    let verdict = verdict(&belief);
    let (doubt, trust) = match belief.level {
        BeliefLevel::No => (verdict, String::new()),
        BeliefLevel::Yes | BeliefLevel::WithReservations => (String::new(), verdict),
    };
    let sections = [
        doubt,
        opening(report),
        times(report),
        scenario_parts(report),
        rest(report),
        thresholds(report),
        trust,
    ];
    sections.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

fn opening(report: &LoadReport) -> String {
    format!(
        "**{}** right answers: {}\n\n{}.\n",
        format::rate(report.throughput_per_s),
        code(&what(report)),
        prose(&how(report))
    )
}

fn times(report: &LoadReport) -> String {
    let fields = short_fields();
    let mut header = vec!["Time"];
    header.extend(fields.iter().map(|(name, ..)| *name));
    let mut notes = Footnotes::default();
    let rows: Vec<Vec<String>> = kinds(report, true)
        .into_iter()
        .map(|(name, summary)| {
            let values =
                fields.iter().map(|field| quantile(&name, summary, *field, &mut notes)).collect::<Vec<_>>();
            std::iter::once(name).chain(values).collect()
        })
        .collect();
    let align = "l".to_owned() + &"r".repeat(fields.len());
    let notes: String = notes.numbered().map(|(sign, text)| format!("\n{sign} {}\n", prose(&text))).collect();
    table(&header, &align, rows.into_iter()) + &notes
}

fn scenario_parts(report: &LoadReport) -> String {
    let mut notes = Footnotes::default();
    let tables: Vec<String> = parts(report, &mut notes)
        .into_iter()
        .map(|part| {
            let header: Vec<&str> = part.columns.iter().map(|column| column.name).collect();
            let align: String =
                part.columns.iter().map(|column| if column.is_number { 'r' } else { 'l' }).collect();
            // All but numbers come from a user's file or from the target.
            let escaped = part.rows.into_iter().map(|row| {
                let cells = row.into_iter().zip(&part.columns);
                cells.map(|(cell, column)| if column.is_number { cell } else { code(&cell) }).collect()
            });
            format!("{}:\n\n{}", part.title, table(&header, &align, escaped))
        })
        .collect();
    let notes: String = notes.numbered().map(|(sign, text)| format!("\n{sign} {}\n", prose(&text))).collect();
    if tables.is_empty() { String::new() } else { tables.join("\n") + &notes }
}

fn rest(report: &LoadReport) -> String {
    let requests = &report.requests;
    let mut rows = vec![vec![
        "requests".to_owned(),
        format!(
            "{} scheduled = {} completed + {} failed + {} censored",
            format::count(requests.scheduled),
            format::count(requests.completed),
            format::count(requests.failed),
            format::count(requests.censored)
        ),
    ]];
    for (failure, examples) in errors(report) {
        let example = examples.first().map_or_else(String::new, |text| format!(": {}", code(text)));
        rows.push(vec!["failed".to_owned(), prose(&failure) + &example]);
    }
    rows.extend(facts(report).into_iter().map(|(name, value)| vec![name.to_owned(), prose(&value)]));
    table(&["", ""], "ll", rows.into_iter())
}

fn thresholds(report: &LoadReport) -> String {
    let limits = limits(report);
    if limits.is_empty() {
        return String::new();
    }
    let rows =
        limits.iter().map(|limit| vec![limit.word.both(), code(&limit.expression), prose(&limit.text)]);
    table(&["Threshold", "Fails when", "Found"], "lll", rows)
}

fn verdict(belief: &LoadBelief) -> String {
    let sign = crate::words::belief(belief.level).sign;
    if belief.notes.is_empty() {
        return format!("{sign} {}.\n", prose(&belief.summary));
    }
    let notes = belief.notes.iter().map(|(name, text)| format!("- **{}**: {}\n", prose(name), prose(text)));
    format!("{sign} **{}:**\n\n{}", prose(&belief.summary), notes.collect::<String>())
}
