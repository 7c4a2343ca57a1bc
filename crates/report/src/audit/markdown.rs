//! An audit in GitHub's dialect, for a comment on somebody's results.
//!
//! Invariant: as [`mod@crate::run::markdown`], nothing of the foreign file acts as Markdown or HTML.

use crate::audit::text::{meaning, numbers, rows, worst};
use crate::audit::words::{self, CLOSING};
use crate::clean::{markdown as prose, markdown_code as code};
use crate::run::markdown::table;
use schema::audit::{AuditColumn, AuditFinding, AuditReport, AuditTable};

/// An audit as Markdown.
#[must_use]
pub fn audit_markdown(report: &AuditReport) -> String {
    let (word, counts) = words::verdict(report);
    let mut text = format!("# Audit of {}\n\n**{}.** {}\n", code(&report.file), word.both(), prose(&counts));
    for (index, table) in report.tables.iter().enumerate() {
        if report.tables.len() > 1 {
            text += &format!("\n## Table {}\n", index + 1);
        }
        text += &one_table(table);
    }
    for (index, left) in report.skipped.iter().enumerate() {
        let gap = if index == 0 { "\n## Left out\n\n" } else { "" };
        text += &format!("{gap}- line {}: {}\n", left.line, prose(&left.reason));
    }
    text + &format!("\n{CLOSING}\n")
}

fn one_table(read: &AuditTable) -> String {
    let about = format!("{} at line {}, {}.", words::form(read.form), read.line, words::load(read.load));
    let header = ["Column", "Means", "Unit", "Basis"];
    let mut text =
        format!("\n### Read as\n\n{about}\n\n{}", table(&header, "llll", read.columns.iter().map(column)));
    for (index, note) in read.notes.iter().enumerate() {
        let gap = if index == 0 { "\n" } else { "" };
        text += &format!("{gap}- {}\n", prose(note));
    }
    if !read.findings.is_empty() {
        let header = ["Rows", "Finding", "Bound", "Law and numbers", "Remedy"];
        let (findings, left_out) = worst(read);
        let rows = findings.into_iter().map(|found| finding(read, found));
        text += &format!("\n### Findings\n\n{}", table(&header, "lllll", rows));
        text += &left_out.map_or_else(String::new, |what| format!("\n{what}\n"));
    }
    for (index, rule) in read.not_checked.iter().enumerate() {
        let gap = if index == 0 { "\n### Not checked\n\n" } else { "" };
        text += &format!("{gap}- {}: needs {}\n", code(&rule.rule), prose(&rule.needs));
    }
    text
}

fn column(column: &AuditColumn) -> Vec<String> {
    let unit = column.unit.as_deref().map_or_else(String::new, prose);
    vec![code(&column.header), prose(&meaning(column)), unit, words::basis(column.basis).to_owned()]
}

fn finding(table: &AuditTable, finding: &AuditFinding) -> Vec<String> {
    let word = words::severity(finding.severity);
    vec![
        prose(&rows(table, &finding.rows)),
        format!("{}: {}", word.both(), prose(&finding.what)),
        prose(&finding.bound),
        format!("{} ({}); {}", prose(&finding.law), code(&finding.rule), prose(&numbers(finding))),
        prose(&finding.remedy),
    ]
}
