//! Published results of load tests, read as people print them, and held against the laws that any measurement obeys.
//!
//! `read` finds tables in texts (CSV, TSV, Markdown and terminal tables, aligned columns, `name: value` lines, outputs of
//! load tools); `header` and `sheet` find out what the columns are, in English and Chinese, with their units; `rules` holds
//! every row against one law a file, with the rounding of the printed figures as intervals.
//! Invariants: `impossible` is said only where no value that is printed so obeys the law and nothing was guessed; every
//! guess is in the report; every finding has its law, its numbers, its bound and a remedy; text is bounded and no text
//! panics; no number of a report is NaN or infinite.
//! Absent on purpose: files (callers hand in texts), words and layout for people beyond the sentences of findings
//! (`report`), statistics over trials (a published table has none).

mod derived;
mod error;
mod figure;
mod header;
mod kind;
mod ladder;
mod number;
mod options;
mod read;
mod rules;
mod sheet;
mod unit;
mod words;

pub use error::AuditError;
pub use options::{ColumnChoice, Given, OptionError, Options};
pub use read::InputForm;

use error::Problem;
use schema::audit::{
    AuditColumn, AuditCounts, AuditFinding, AuditReport, AuditRow, AuditSeverity, AuditSkipped, AuditTable,
};
use sheet::{Column, Sheet};

/// Longest text that is read, in bytes.
pub const TEXT_BYTES_MAX: usize = read::TEXT_BYTES_MAX;

/// Reads the tables of `text`, the content of `file`, and judges them.
///
/// # Errors
/// Text without a table, with ragged rows, control characters or too much of anything; a table of which no column is
/// known; a choice of a column that is not there. All with line, where there is one, cause and remedy.
pub fn audit(file: &str, text: &str, options: &Options) -> Result<AuditReport, AuditError> {
    let judged = judged(text, options);
    header::forget();
    judged
        .map(|(tables, skipped)| AuditReport {
            schema: Default::default(),
            file: file.to_owned(),
            counts: counts(&tables),
            tables,
            skipped,
        })
        .map_err(|problem| problem.in_file(file))
}

/// What was judged, and what was left out. In an article nothing stops the rest, and it need not hold a table of results.
fn judged(text: &str, options: &Options) -> Result<(Vec<AuditTable>, Vec<AuditSkipped>), Problem> {
    let is_article = options.input == InputForm::Auto && read::is_article(text);
    // Lists of differences stand in the prose and the code of an article, not in its tables.
    let derived = if options.input == InputForm::Auto { derived::tables(text) } else { Vec::new() };
    let found = match read::read(text, options.input) {
        Err(problem) if (is_article && problem.line.is_none()) || !derived.is_empty() => {
            return Ok((derived, vec![AuditSkipped { line: 1, reason: problem.cause }]));
        }
        found => found?,
    };
    sheet::check_choices(&found.tables, options)?;
    let sheets: Vec<Sheet> =
        found.tables.iter().map(|table| Sheet::new(table, options)).collect::<Result<_, _>>()?;
    let (usable, other): (Vec<&Sheet>, Vec<&Sheet>) = sheets.iter().partition(|sheet| sheet.is_usable());
    if usable.is_empty() && !is_article && derived.is_empty() {
        return Err(nothing_known(&found.tables));
    }
    let mut skipped: Vec<AuditSkipped> = found
        .skipped
        .into_iter()
        .map(|left| AuditSkipped { line: left.line as u64, reason: left.reason })
        .collect();
    skipped.extend(other.into_iter().map(no_results));
    skipped.sort_by_key(|left| left.line);
    let mut tables: Vec<AuditTable> = usable.into_iter().map(table).collect();
    tables.extend(derived);
    tables.sort_by_key(|table| table.line);
    Ok((tables, skipped))
}

fn no_results(sheet: &Sheet) -> AuditSkipped {
    let names: Vec<String> =
        sheet.columns.iter().take(4).map(|column| error::quoted(&column.header)).collect();
    let reason = format!("no figures of a load test: {}", names.join(", "));
    AuditSkipped { line: sheet.line as u64, reason }
}

fn nothing_known(tables: &[read::Table]) -> Problem {
    let names = tables.iter().flat_map(|table| &table.columns).map(|column| error::quoted(&column.name));
    let names: Vec<String> = names.take(20).collect();
    Problem {
        line: tables.first().map(|table| table.line),
        cause: format!("none of its columns is known: {}", names.join(", ")),
        remedy: "say what they are, for example --column 'QPS=throughput:/s' --column '3=p99:ms'".to_owned(),
    }
}

fn table(sheet: &Sheet) -> AuditTable {
    let (findings, not_checked) = rules::all(sheet);
    AuditTable {
        form: sheet.form,
        line: sheet.line as u64,
        load: sheet.load,
        columns: sheet.columns.iter().map(column).collect(),
        rows: rows(sheet, &findings),
        findings,
        not_checked,
        notes: sheet.notes.clone(),
    }
}

fn column(column: &Column) -> AuditColumn {
    let unit = column.unit.clone().filter(|unit| !unit.is_empty());
    let meaning = match &unit {
        Some(unit) => format!("{}:{unit}", column.kind.name()),
        None => column.kind.name(),
    };
    AuditColumn {
        number: u32::try_from(column.number).unwrap_or(u32::MAX),
        header: column.header.clone(),
        meaning: column.kind.meaning(),
        quantile: column.kind.share(),
        unit,
        basis: column.basis,
        said: format!("{}={meaning}", column.header),
    }
}

fn rows(sheet: &Sheet, findings: &[AuditFinding]) -> Vec<AuditRow> {
    let mut rows: Vec<AuditRow> = sheet
        .rows
        .iter()
        .map(|row| AuditRow {
            number: row.number,
            line: row.line as u64,
            name: row.name.clone(),
            worst: None,
        })
        .collect();
    for finding in findings {
        for number in &finding.rows {
            // Rows are numbered from 1 in their order.
            if let Some(row) = rows.get_mut((*number as usize).saturating_sub(1)) {
                row.worst = row.worst.max(Some(finding.severity));
            }
        }
    }
    rows
}

fn counts(tables: &[AuditTable]) -> AuditCounts {
    let of = |severity| {
        tables.iter().flat_map(|table| &table.findings).filter(|finding| finding.severity == severity).count()
            as u64
    };
    let rows = || tables.iter().flat_map(|table| &table.rows);
    AuditCounts {
        rows: rows().count() as u64,
        impossible_rows: rows().filter(|row| row.worst == Some(AuditSeverity::Impossible)).count() as u64,
        impossible: of(AuditSeverity::Impossible),
        suspicious: of(AuditSeverity::Suspicious),
        note: of(AuditSeverity::Note),
    }
}
