//! What `prony why` prints: cell by cell the findings with their evidence, what was ruled out, what could not be read.
//!
//! Invariant: names and texts may come from targets and are cleaned.

use super::spans;
use crate::terminal::layout::{Align, paragraph, table};
use crate::terminal::paint::{Tone, finish, paint};
use crate::{Style, clean, format, words};
use schema::finding::{
    Association, CellWhy, Certainty, Change, Evidence, Finding, FindingSeverity, Intervention, Watched,
    WhyFile,
};
use schema::said::{Joint, Said};

/// The findings of a run as text of `style.width` columns; with `all` also what was ruled out and what could not be
/// read, cause by cause. `folder` is the run folder as the user named it.
#[must_use]
pub fn why_text(why: &WhyFile, folder: &str, all: bool, style: Style) -> String {
    let columns = style.columns();
    let cells: Vec<String> = why.cells.iter().map(|cell| one_cell(folder, cell, all, columns)).collect();
    let spans = why.spans.as_ref().map(|spans| spans::text(spans, columns));
    let parts: Vec<String> = cells.into_iter().chain(spans).collect();
    finish(&parts.join("\n"), style)
}

fn one_cell(folder: &str, cell: &CellWhy, all: bool, columns: usize) -> String {
    let label = clean::line(&cell.label);
    let trials = format::counted(u64::from(cell.trials), "trial");
    let void = if cell.void_only { ", all void" } else { "" };
    let title = format!("{} ({}, {trials}{void})", label, clean::line(&cell.cell));
    let mut text = paragraph("", &paint(Tone::Strong, &title), columns);
    text += &paragraph("  ", &clean::line(&cell.answer), columns);
    let (worth, low): (Vec<&Finding>, Vec<&Finding>) =
        cell.findings.iter().partition(|finding| finding.severity > FindingSeverity::Low);
    for (place, finding) in worth.iter().enumerate() {
        text += "\n";
        text += &one_finding(folder, place + 1, finding, columns);
    }
    if !low.is_empty() {
        text += &format!("\n  {}\n", paint(Tone::Strong, "Seen, but not shown to matter"));
        for finding in low {
            text += &paragraph("    · ", &clean::line(&finding.text), columns);
        }
    }
    text + &rest(cell, all, columns)
}

fn one_finding(folder: &str, number: usize, finding: &Finding, columns: usize) -> String {
    let word = words::finding_severity(finding.severity);
    let sure = match finding.certainty {
        Certainty::ConsistentWith => "consistent with",
        Certainty::Because => "because of",
    };
    let follows = finding.follows.map_or(String::new(), |by| format!("; follows from {}", by.words()));
    let head = format!("{number}. {} {sure} {}{follows}", paint(word.tone, word.text), finding.cause.words());
    let mut text = paragraph("  ", &head, columns);
    text += &paragraph("     ", &clean::line(&finding.text), columns);
    if !finding.evidence.is_empty() {
        let header = [("", Align::Text), ("", Align::Number), ("", Align::Word)];
        let rows: Vec<Vec<String>> = finding.evidence.iter().map(evidence).collect();
        text += &indented(&table(&header, &rows, columns.saturating_sub(4)), "    ");
    }
    if let Some(association) = &finding.association {
        text += &paragraph("     tied to what users see: ", &tied(association), columns);
    }
    if let Some(remedy) = &finding.remedy {
        text += &paragraph("     → ", &clean::line(remedy), columns);
    }
    if let (Some(tried), Certainty::ConsistentWith) = (&finding.intervention, finding.certainty) {
        text += &paragraph("     to know: ", &to_know(folder, finding, tried), columns);
    }
    text + &paragraph("     ", &paint(Tone::Quiet, &clean::line(&finding.source)), columns)
}

/// The experiment that would tell, with its command where prony can make it.
fn to_know(folder: &str, finding: &Finding, tried: &Intervention) -> String {
    let what = clean::line(&tried.text);
    if tried.change == Change::ByHand {
        return format!("{what}, and compare two runs (prony compare)");
    }
    let (folder, cell, cause) = (clean::line(folder), clean::line(&finding.cell), finding.cause.key());
    format!("{what}: prony intervene {folder} --cell {cell} --cause {cause}")
}

fn evidence(evidence: &Evidence) -> Vec<String> {
    let limit =
        evidence.limit.as_deref().map_or(String::new(), |limit| format!("limit {}", clean::line(limit)));
    vec![clean::line(&evidence.what), clean::line(&evidence.value), paint(Tone::Quiet, &limit)]
}

/// What ties a cause to what users see, in words.
pub(crate) fn tied(association: &Association) -> String {
    match association {
        Association::Accounts { share } => {
            format!("its time is {} of the response time", format::percent(*share))
        }
        Association::Bound { utilisation } => {
            format!("the resource is used up, {} of it", format::percent(*utilisation))
        }
        Association::Direct { share } => {
            format!("it stopped or failed the target itself, {}", format::percent(*share))
        }
        Association::Growth { p } => format!("it rises in every trial (p = {p:.2})"),
        Association::Time { counter, with, rho, q, .. } => {
            let with = match with {
                Watched::P99 => "p99",
                Watched::P50 => "the median",
                Watched::Failures => "failures",
            };
            format!(
                "{} moves with {with} second by second (rank correlation {rho:.2}, q = {q:.3})",
                clean::line(counter)
            )
        }
    }
}

fn rest(cell: &CellWhy, all: bool, columns: usize) -> String {
    let mut text = String::from("\n");
    if all {
        text += &format!("  {}\n", paint(Tone::Strong, "Ruled out"));
        for out in &cell.ruled_out {
            let line = format!("{}: {}", out.cause.words(), clean::line(&out.text));
            text += &paragraph("    ✓ ", &line, columns);
        }
        text += &format!("  {}\n", paint(Tone::Strong, "Could not be looked at"));
        for unread in &cell.unread {
            let line = format!("{}: {}", unread.cause.words(), clean::line(&unread.text));
            text += &paragraph("    ? ", &line, columns);
        }
        return text;
    }
    let names = |causes: Vec<Said>| match causes.is_empty() {
        true => "nothing".to_owned(),
        false => Said::list(Joint::Comma, causes).into(),
    };
    let out = names(cell.ruled_out.iter().map(|out| out.cause.words()).collect());
    let unread = names(cell.unread.iter().map(|unread| unread.cause.words()).collect());
    text += &paragraph("  ruled out: ", &out, columns);
    text + &paragraph("  could not be looked at: ", &unread, columns)
}

fn indented(text: &str, by: &str) -> String {
    text.lines().map(|line| format!("{by}{line}\n")).collect()
}
