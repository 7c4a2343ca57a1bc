//! Values between commas, semicolons or tabs (RFC 4180, with lines that begin with `#` left out).

use super::{COLUMNS_MAX, LINE_BYTES_MAX, ROWS_MAX, Table, TextColumn, TextRow, is_known, lines, ragged};
use crate::error::{Problem, quoted};
use crate::number::{Cell, read as number};
use schema::audit::AuditForm;

/// Share of lines that must hold the delimiter.
const LINES_SHARE_MIN: f64 = 0.8;

/// The delimiter, where the text is written so.
pub(super) fn delimiter(text: &str) -> Option<u8> {
    let lines: Vec<&str> = content(text).map(|(_, line)| line).take(1000).collect();
    let first = lines.first()?;
    [b'\t', b';', b','].into_iter().find(|delimiter| {
        let mark = char::from(*delimiter);
        let with = lines.iter().filter(|line| line.contains(mark)).count();
        let names = first.split(mark).filter(|name| is_known(name)).count();
        // Two known names, or none where one is known in no form: an unknown header is reported as such later.
        first.contains(mark)
            && with as f64 >= LINES_SHARE_MIN * lines.len() as f64
            && (names >= 1 || (lines.len() >= 2 && has_one_width(&lines, mark)))
    })
}

fn has_one_width(lines: &[&str], mark: char) -> bool {
    let width = |line: &str| line.matches(mark).count();
    lines.iter().all(|line| width(line) == width(lines[0]))
}

/// Semicolons where the first line has more of them.
pub(super) fn comma_or_semicolon(text: &str) -> u8 {
    let first = content(text).next().map_or("", |(_, line)| line);
    if first.matches(';').count() > first.matches(',').count() { b';' } else { b',' }
}

fn content(text: &str) -> impl Iterator<Item = (usize, &str)> {
    lines(text).filter(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
}

/// Reads the text as one table.
pub(super) fn read(text: &str, delimiter: u8) -> Result<Table, Problem> {
    if let Some(long) = text.lines().position(|line| line.len() > LINE_BYTES_MAX) {
        let cause = format!("this line is longer than {} KiB", LINE_BYTES_MAX >> 10);
        return Err(Problem::at(long + 1, cause, "is this a table? keep the lines of the table"));
    }
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let mut columns: Option<(usize, Vec<TextColumn>)> = None;
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| {
            Problem::new(format!("it is no CSV: {error}"), "close every quote, or say --input-format")
        })?;
        let line = line_of(text, &record);
        let cells: Vec<String> = record.iter().map(str::to_owned).collect();
        let is_comment = cells.first().is_some_and(|cell| cell.starts_with('#')) && columns.is_none();
        if cells.iter().all(String::is_empty) || (is_comment && cells.len() == 1) {
            continue;
        }
        match &columns {
            None => {
                let (names, is_row) = header(line, &cells)?;
                columns = Some((line, names));
                if is_row {
                    rows.push(TextRow { line, cells });
                }
            }
            Some((_, names)) => rows.push(TextRow { line, cells: fitted(line, cells, names.len())? }),
        }
        if rows.len() > ROWS_MAX {
            break;
        }
    }
    let (line, columns) =
        columns.ok_or_else(|| Problem::new("there is no row in it", "give a header and at least one row"))?;
    let form = if delimiter == b'\t' { AuditForm::Tsv } else { AuditForm::Csv };
    Ok(Table { form, line, columns, rows, tool: None, notes: Vec::new() })
}

/// The line of a record: the reader's position is before the empty lines above it.
fn line_of(text: &str, record: &csv::StringRecord) -> usize {
    let Some(position) = record.position() else { return 1 };
    let begin = usize::try_from(position.byte()).unwrap_or(usize::MAX);
    let rest = text.as_bytes().get(begin..).unwrap_or_default();
    let empty =
        rest.iter().take_while(|byte| matches!(byte, b'\n' | b'\r')).filter(|byte| **byte == b'\n').count();
    usize::try_from(position.line()).unwrap_or(usize::MAX).saturating_add(empty)
}

/// The names of the columns; a first row of figures is no header, and its columns are called by their numbers.
fn header(line: usize, cells: &[String]) -> Result<(Vec<TextColumn>, bool), Problem> {
    if cells.len() > COLUMNS_MAX {
        let cause = format!("the table has more than {COLUMNS_MAX} columns");
        return Err(Problem::at(line, cause, "keep the columns that were measured"));
    }
    if let [single] = cells {
        return Err(Problem::at(
            line,
            format!("there is only one column, {}", quoted(single)),
            "figures are judged against each other: give at least two columns, such as connections, throughput, mean",
        ));
    }
    let is_row = cells.iter().any(|cell| matches!(number(cell, false), Cell::Number(_)) && !is_known(cell))
        && !cells.iter().any(|cell| is_known(cell));
    let name = |(index, cell): (usize, &String)| {
        TextColumn::named(if is_row { (index + 1).to_string() } else { cell.clone() })
    };
    Ok((cells.iter().enumerate().map(name).collect(), is_row))
}

/// Empty cells at the end may be missing or too many.
fn fitted(line: usize, mut cells: Vec<String>, wanted: usize) -> Result<Vec<String>, Problem> {
    let had = cells.len();
    while cells.len() > wanted && cells.last().is_some_and(String::is_empty) {
        cells.pop();
    }
    if cells.len() != wanted {
        let remedy = "give each row one cell for each column, empty where nothing was measured; put quotes around \
                      cells that hold the separator, as in \"12,345\"";
        return Err(ragged(line, had, wanted, remedy));
    }
    Ok(cells)
}
