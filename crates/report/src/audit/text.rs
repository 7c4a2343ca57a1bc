//! What `prony audit` prints: how the table was read, row by row what is wrong with it, and what could not be checked.
//!
//! Invariant: names and figures come from a foreign file and are cleaned.

use crate::audit::words::{self, CLOSING};
use crate::terminal::layout::{Align, paragraph, table};
use crate::terminal::paint::{Tone, finish, paint};
use crate::{Style, clean, format};
use schema::audit::{
    AuditColumn, AuditFinding, AuditReport, AuditRow, AuditSeverity, AuditTable, Basis, Meaning,
};
use std::cmp::Reverse;

/// Findings of a table that are shown.
const FINDINGS_MAX: usize = 500;
/// Findings that are shown besides those that are impossible, unless all are.
const TELLING: usize = 5;
/// Longest header that is shown whole.
const HEADER_CHARS_MAX: usize = 32;

/// An audit as text of `style.width` columns: verdict, what is impossible and the most telling of the rest, or all of it
/// with how each table was read and what could not be checked.
#[must_use]
pub fn audit_text(report: &AuditReport, style: Style, is_whole: bool) -> String {
    let columns = style.columns();
    let (word, counts) = words::verdict(report);
    let title = format!("{}: {} {}", clean::line(&report.file), word.sign, word.text);
    let mut text = paragraph("", &paint(word.tone, &title), columns);
    text += &paragraph("  ", &counts, columns);
    text += &if is_whole { whole(report, columns) } else { short(report, columns) };
    text += &format!("\n{}", paragraph("", CLOSING, columns));
    finish(&text, style)
}

fn whole(report: &AuditReport, columns: usize) -> String {
    let mut text = String::new();
    for (index, table) in report.tables.iter().enumerate() {
        text += "\n";
        if report.tables.len() > 1 {
            text += &format!("{}\n\n", paint(Tone::Strong, &format!("Table {}", index + 1)));
        }
        text += &one_table(table, columns);
    }
    if !report.skipped.is_empty() {
        text += &format!("\n{}\n", paint(Tone::Strong, "Left out"));
    }
    for left in &report.skipped {
        let said = format!("line {}: {}", left.line, clean::line(&left.reason));
        text += &paragraph("  · ", &said, columns);
    }
    text
}

/// What is impossible, the most telling of the rest, and where everything else is.
fn short(report: &AuditReport, columns: usize) -> String {
    let mut found: Vec<(&AuditTable, &AuditFinding)> = report
        .tables
        .iter()
        .flat_map(|table| table.findings.iter().map(move |finding| (table, finding)))
        .filter(|(_, finding)| finding.severity > AuditSeverity::Note)
        .collect();
    found.sort_by_key(|(_, finding)| Reverse(finding.severity));
    let impossible = found.iter().filter(|(_, one)| one.severity == AuditSeverity::Impossible).count();
    found.truncate(impossible.min(FINDINGS_MAX) + TELLING);
    let mut text = String::new();
    let mut above = String::new();
    for (table, finding) in &found {
        let of = rows(table, &finding.rows);
        if of != above {
            text += &format!("\n{}", paragraph("  ", &paint(Tone::Strong, &of), columns));
        }
        above = of;
        text += &one_finding(finding, columns);
    }
    let all: usize = report.tables.iter().map(|table| table.findings.len()).sum();
    let more = match all - found.len() {
        0 => String::new(),
        left => format!("{} more; ", format::counted(left as u64, "finding")),
    };
    let left_out = match report.skipped.as_slice() {
        [] => String::new(),
        [one] => format!("one table was left out (line {}); ", one.line),
        many => {
            let lines: Vec<String> = many.iter().map(|left| left.line.to_string()).collect();
            format!("{} tables were left out (lines {}); ", many.len(), units::format::listed(&lines))
        }
    };
    let said = format!("{more}{left_out}how the tables were read and what was not checked: --all");
    text + &format!("\n{}", paragraph("  ", &said, columns))
}

fn one_table(table: &AuditTable, columns: usize) -> String {
    let mut sections = vec![reading(table, columns)];
    sections.extend(found(table, columns));
    sections.extend(silence(table, columns));
    sections.join("\n")
}

/// How the table was read, so that a wrong guess is seen.
fn reading(read: &AuditTable, columns: usize) -> String {
    let about = format!(
        "{} at line {}, {}",
        words::form(read.form),
        format::count(read.line),
        words::load(read.load)
    );
    let mut text = format!("{}\n", paint(Tone::Strong, "Read as")) + &paragraph("  ", &about, columns);
    let header = [("column", Align::Text), ("means", Align::Word), ("unit", Align::Word), ("", Align::Word)];
    let rows: Vec<Vec<String>> = read.columns.iter().map(column).collect();
    text += &table(&header, &rows, columns);
    for note in &read.notes {
        text += &paragraph("  · ", &clean::line(note), columns);
    }
    text + &paragraph("  ", "Read wrongly? Say it: --column 'HEADER=mean:ms', --given think=1s", columns)
}

fn column(column: &AuditColumn) -> Vec<String> {
    let sure = column.basis != Basis::Assumed;
    let basis = words::basis(column.basis);
    let basis = if sure { paint(Tone::Quiet, basis) } else { paint(Tone::Warn, basis) };
    vec![
        clean::cut(&clean::line(&column.header), HEADER_CHARS_MAX),
        meaning(column),
        clean::line(column.unit.as_deref().unwrap_or("")),
        if matches!(column.meaning, Meaning::Label) { String::new() } else { basis },
    ]
}

/// The kind as `--column` names it, without the header and the unit.
pub(crate) fn meaning(column: &AuditColumn) -> String {
    match column.meaning {
        Meaning::Ignored => "not used".to_owned(),
        _ => {
            let said = column.said.rsplit('=').next().unwrap_or_default();
            clean::line(said.split(':').next().unwrap_or_default())
        }
    }
}

fn found(table: &AuditTable, columns: usize) -> Option<String> {
    if table.findings.is_empty() {
        return None;
    }
    let (findings, left_out) = worst(table);
    let mut text = format!("{}\n", paint(Tone::Strong, "Row by row"));
    let mut shown: Option<&[u32]> = None;
    for finding in findings {
        if shown != Some(&finding.rows) {
            text += &paragraph("  ", &paint(Tone::Strong, &rows(table, &finding.rows)), columns);
            shown = Some(&finding.rows);
        }
        text += &one_finding(finding, columns);
    }
    Some(text + &left_out.map_or_else(String::new, |what| paragraph("  ", &what, columns)))
}

/// The findings that are shown, in the order of the rows: where there are very many, the worst; and what is left out.
pub(crate) fn worst(table: &AuditTable) -> (Vec<&AuditFinding>, Option<String>) {
    let mut order: Vec<usize> = (0..table.findings.len()).collect();
    order.sort_by_key(|at| Reverse(table.findings[*at].severity));
    order.truncate(FINDINGS_MAX);
    order.sort_unstable();
    let left_out = table.findings.len() - order.len();
    let what = format!("{} more are in --format json", format::counted(left_out as u64, "finding"));
    (order.into_iter().map(|at| &table.findings[at]).collect(), (left_out > 0).then_some(what))
}

/// Rows by number, line and name; more than three by their numbers only.
pub(crate) fn rows(table: &AuditTable, numbers: &[u32]) -> String {
    let of: Vec<&AuditRow> = table.rows.iter().filter(|row| numbers.contains(&row.number)).collect();
    if of.len() > 3 {
        let numbers: Vec<String> = of.iter().take(12).map(|row| row.number.to_string()).collect();
        let more = if of.len() > 12 { format!(" and {} more", of.len() - 12) } else { String::new() };
        return format!("rows {}{more}", numbers.join(", "));
    }
    let one = |row: &&AuditRow| {
        let name = clean::line(&row.name);
        let name = if name.is_empty() { name } else { format!(", {name}") };
        format!("row {} (line {}){name}", row.number, row.line)
    };
    of.iter().map(one).collect::<Vec<_>>().join("; ")
}

fn one_finding(finding: &AuditFinding, columns: usize) -> String {
    let word = words::severity(finding.severity);
    let head = format!("{}: {}", word.text, clean::line(&finding.what));
    let mut text = paragraph(&format!("    {} ", paint(word.tone, word.sign)), &head, columns);
    text += &paragraph("        ", &clean::line(&finding.bound), columns);
    text += &paragraph(
        "        law  ",
        &format!("{} [{}]", clean::line(&finding.law), clean::line(&finding.rule)),
        columns,
    );
    if !finding.numbers.is_empty() {
        text += &paragraph("        with ", &numbers(finding), columns);
    }
    text + &paragraph("        → ", &clean::line(&finding.remedy), columns)
}

/// The figures as they are printed in the table.
pub(crate) fn numbers(finding: &AuditFinding) -> String {
    let one = |number: &schema::audit::AuditNumber| {
        let row = number.row.map_or(String::new(), |row| format!(" (row {row})"));
        format!("{} = {}{row}", clean::line(&number.name), clean::line(&number.printed))
    };
    let shown: Vec<String> = finding.numbers.iter().take(12).map(one).collect();
    let more = if finding.numbers.len() > 12 { ", …" } else { "" };
    shown.join(", ") + more
}

fn silence(table: &AuditTable, columns: usize) -> Option<String> {
    if table.not_checked.is_empty() {
        return None;
    }
    let mut text =
        format!("{}  {}\n", paint(Tone::Strong, "Not checked"), paint(Tone::Quiet, "for want of columns"));
    for rule in &table.not_checked {
        text += &paragraph(
            "  ",
            &format!("{}: needs {}", clean::line(&rule.rule), clean::line(&rule.needs)),
            columns,
        );
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::markdown::audit_markdown;
    use schema::audit::{AuditCounts, AuditForm, AuditLoad, AuditNumber, AuditSkipped, NotChecked};

    fn sample() -> AuditReport {
        let column = |header: &str, said: &str, meaning, basis| AuditColumn {
            number: 1,
            header: header.into(),
            meaning,
            quantile: None,
            unit: Some("ms".into()),
            basis,
            said: said.into(),
        };
        let table = AuditTable {
            form: AuditForm::Csv,
            line: 1,
            load: AuditLoad::Closed,
            columns: vec![
                column("mean\u{1b}[31m", "mean=mean:ms", Meaning::Mean, Basis::Header),
                column("latency", "latency=p99:ms", Meaning::Quantile, Basis::Assumed),
            ],
            rows: vec![AuditRow {
                number: 1,
                line: 2,
                name: "a|b\u{1b}".into(),
                worst: Some(AuditSeverity::Impossible),
            }],
            findings: vec![AuditFinding {
                rule: "littles-law".into(),
                severity: AuditSeverity::Impossible,
                rows: vec![1],
                what: "more requests were in flight than there were connections".into(),
                law: "N = X·(R + Z)".into(),
                numbers: vec![AuditNumber {
                    name: "N".into(),
                    row: None,
                    printed: "100\u{1b}".into(),
                    low: 100.0,
                    high: 100.0,
                    unit: String::new(),
                }],
                bound: "X·R is at least 200, but N is 100".into(),
                remedy: "re-run with `prony load URL -c 100`".into(),
            }],
            not_checked: vec![NotChecked { rule: "cpu-law".into(), needs: "CPU".into() }],
            notes: vec!["a note".into()],
        };
        let counts = AuditCounts { rows: 1, impossible_rows: 1, impossible: 1, ..AuditCounts::default() };
        AuditReport { file: "t.csv".into(), tables: vec![table], counts, ..AuditReport::default() }
    }

    #[test]
    fn an_audit_says_how_it_read_what_it_found_and_what_it_could_not_check() {
        insta::assert_snapshot!(audit_text(&sample(), Style::PLAIN, true), @"
        t.csv: ✗ it cannot be as printed
          1 row, 1 of them with figures that cannot be: 1 impossible, 0 suspicious, 0
          notes

        Read as
          CSV at line 1, taken for a closed load: each connection waits for its answer
          column     means  unit
          mean�[31m  mean   ms    by header
          latency    p99    ms    assumed
          · a note
          Read wrongly? Say it: --column 'HEADER=mean:ms', --given think=1s

        Row by row
          row 1 (line 2), a|b�
            ✗ impossible: more requests were in flight than there were connections
                X·R is at least 200, but N is 100
                law  N = X·(R + Z) [littles-law]
                with N = 100�
                → re-run with `prony load URL -c 100`

        Not checked  for want of columns
          cpu-law: needs CPU

        What passes may still be wrong: these are laws that every measurement obeys, not
        a proof that this one was made well.
        ");
    }

    #[test]
    fn in_short_there_is_what_is_impossible_and_the_most_telling_rest() {
        let mut report = sample();
        let table = &mut report.tables[0];
        let open = AuditFinding { severity: AuditSeverity::Suspicious, ..table.findings[0].clone() };
        let note = AuditFinding { severity: AuditSeverity::Note, what: "a mere note".into(), ..open.clone() };
        table.findings = vec![note, table.findings[0].clone()];
        table.findings.extend(vec![open; TELLING + 2]);
        report.skipped = [3, 9].map(|line| AuditSkipped { line, reason: "prose".into() }).to_vec();
        let text = audit_text(&report, Style::PLAIN, false);
        assert_eq!(text.matches("✗ impossible").count(), 1, "{text}");
        assert_eq!(text.matches("! suspicious").count(), TELLING, "{text}");
        for said in ["3 findings more; 2 tables were left out", "(lines 3 and 9)", "--all"] {
            assert!(text.replace("\n  ", " ").contains(said), "no `{said}` in {text}");
        }
        for left in ["Read as", "Not checked", "a mere note"] {
            assert!(!text.contains(left), "{text}");
        }
        assert!(audit_text(&report, Style::PLAIN, true).contains("line 9: prose"));
    }

    #[test]
    fn of_very_many_findings_the_worst_are_shown() {
        let mut report = sample();
        let table = &mut report.tables[0];
        let note = AuditFinding {
            severity: AuditSeverity::Note,
            what: "a mere note".into(),
            ..table.findings[0].clone()
        };
        let bad = AuditFinding { what: "the last of all".into(), ..table.findings[0].clone() };
        table.findings = vec![note; FINDINGS_MAX + 1];
        table.findings.push(bad);
        for text in [audit_text(&report, Style::PLAIN, true), audit_markdown(&report)] {
            assert!(
                text.contains("the last of all") && text.contains("2 findings more are in --format json"),
                "{text}"
            );
        }
    }

    #[test]
    fn nothing_foreign_acts_in_any_format() {
        let text = audit_text(&sample(), Style::PLAIN, true);
        let markdown = audit_markdown(&sample());
        assert!(!text.contains('\u{1b}') && !markdown.contains('\u{1b}'), "{text}{markdown}");
        assert!(markdown.contains("a\\|b"), "{markdown}");
        assert!(audit_text(&sample(), Style { color: true, width: 100 }, true).contains("\u{1b}[31m✗"));
    }
}
