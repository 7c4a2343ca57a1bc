//! Tables in texts: how they are written is found from the text, and every row keeps its line.
//!
//! Invariants: text, rows, columns and tables are bounded; a ragged row is told with its line and its table left out, never
//! shifted figures; control characters are refused, but for the colours of terminals, which are taken out.
//! Absent on purpose: what columns mean, but for tool outputs, whose lines are known.

mod aligned;
mod bars;
mod commands;
mod grouped;
mod pairs;
mod separated;
mod side_by_side;
mod spaced;
mod tool;

use crate::error::Problem;
use crate::header;
use crate::kind::Kind;
use regex::Regex;
use schema::audit::AuditForm;
use std::sync::LazyLock;

/// Longest text that is read.
pub(crate) const TEXT_BYTES_MAX: usize = 16 << 20;
const ROWS_MAX: usize = 10_000;
const COLUMNS_MAX: usize = 200;
const TABLES_MAX: usize = 50;
/// Longest line that is taken for a line of a table.
const LINE_BYTES_MAX: usize = 64 << 10;

/// A table as it is written.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) form: AuditForm,
    /// Line of its header, from 1.
    pub(crate) line: usize,
    pub(crate) columns: Vec<TextColumn>,
    pub(crate) rows: Vec<TextRow>,
    /// What the tool that printed it is known to do.
    pub(crate) tool: Option<Tool>,
    pub(crate) notes: Vec<String>,
}

/// What a text holds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    pub(crate) tables: Vec<Table>,
    pub(crate) skipped: Vec<Skipped>,
}

/// A table that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Skipped {
    /// Line of its header.
    pub(crate) line: usize,
    pub(crate) reason: String,
}

/// A column by its header.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TextColumn {
    pub(crate) name: String,
    /// Its kind, where the reader knows it.
    pub(crate) kind: Option<Kind>,
    /// Whether it was taken from the text around the table.
    pub(crate) is_assumed: bool,
}

impl TextColumn {
    pub(crate) fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), kind: None, is_assumed: false }
    }

    pub(crate) fn known(name: impl Into<String>, kind: Kind) -> Self {
        Self { name: name.into(), kind: Some(kind), is_assumed: false }
    }
}

/// A row; it has as many cells as the table has columns.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TextRow {
    pub(crate) line: usize,
    pub(crate) cells: Vec<String>,
}

/// What is known of the tool that printed a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    /// Requests come at a rate instead of waiting for answers.
    pub(crate) is_open: bool,
    /// Connections do not pause between requests.
    pub(crate) has_no_think: bool,
    /// Its latencies are more than those of its requests.
    pub(crate) adds_latencies: bool,
}

/// How a text is to be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InputForm {
    /// Found from the text.
    #[default]
    Auto,
    /// Values between commas or semicolons.
    Csv,
    /// Values between tabs.
    Tsv,
    /// Values between bars, as in Markdown.
    Markdown,
    /// Values in columns aligned by spaces.
    Aligned,
    /// A name and a value a line.
    Pairs,
    /// The output of a load tool.
    Tool,
}

/// Reads all tables of a text.
pub(crate) fn read(text: &str, form: InputForm) -> Result<Found, Problem> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(Problem::new(
            format!("the text is longer than {} MiB", TEXT_BYTES_MAX >> 20),
            "keep the table and leave the rest out",
        ));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = ESCAPES.replace_all(text, "");
    refuse_binary(&text)?;
    if text.trim().is_empty() {
        return Err(Problem::new(
            "there is nothing in it",
            "give a table with a header and at least one row",
        ));
    }
    let found = match form {
        InputForm::Auto => detect(&text)?,
        InputForm::Csv => one(separated::read(&text, separated::comma_or_semicolon(&text))?),
        InputForm::Tsv => one(separated::read(&text, b'\t')?),
        InputForm::Markdown => bars::read(&text)?,
        InputForm::Aligned => all(aligned::read(&text)?),
        InputForm::Pairs => all(pairs::read(&text)?),
        InputForm::Tool => all(tool::read(&text)?),
    };
    let tables = found.tables.into_iter().map(grouped::joined).map(turned).map(side_by_side::apart);
    let mut tables: Vec<Table> = tables.collect();
    bounded(&tables)?;
    commands::beside(&text, &mut tables);
    Ok(Found { tables, ..found })
}

fn one(table: Table) -> Found {
    all(vec![table])
}

fn all(tables: Vec<Table>) -> Found {
    Found { tables, skipped: Vec::new() }
}

/// Lines that say something outside of tables, from which on a text is an article with tables in it.
const PROSE_LINES_MIN: usize = 10;
/// Words of a line with commas from which on it is a sentence.
const WORDS_MIN: usize = 7;

/// Whether a text is an article rather than a table alone.
pub(crate) fn is_article(text: &str) -> bool {
    // A line with commas may be a row of values, which has figures or few words.
    let is_sentence = |line: &str| {
        line.split_whitespace().count() >= WORDS_MIN && !line.contains(|c: char| c.is_ascii_digit())
    };
    let says = |line: &str| {
        !line.contains(['|', '│', '\t'])
            && (!line.contains(',') || is_sentence(line))
            && line.chars().filter(|c| c.is_alphabetic()).count() >= 6
    };
    lines(text).filter(|(_, line)| says(line)).count() >= PROSE_LINES_MIN
}

/// Select Graphic Rendition and cursor movements (ECMA-48): what terminals leave in pasted text.
static ESCAPES: LazyLock<Regex> =
    LazyLock::new(|| Regex::new("\u{1b}\\[[0-9;?]*[A-Za-z]").expect("a pattern that is tried by tests"));

fn refuse_binary(text: &str) -> Result<(), Problem> {
    let is_foreign = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\u{b}' | '\u{c}');
    let Some(at) = text.find(is_foreign) else { return Ok(()) };
    let line = text[..at].bytes().filter(|byte| *byte == b'\n').count() + 1;
    let code = text[at..].chars().next().map_or(0, u32::from);
    Err(Problem::at(
        line,
        format!("there is a control character (U+{code:04X}) in it, so this is no text"),
        "give the table as text: CSV, TSV, Markdown, or as a terminal shows it",
    ))
}

/// The forms from the most to the least telling.
fn detect(text: &str) -> Result<Found, Problem> {
    if bars::looks_so(text)
        && let Ok(found) = bars::read(text)
        && found.tables.iter().any(is_telling)
    {
        return Ok(found);
    }
    if tool::looks_so(text) {
        return tool::read(text).map(all);
    }
    if is_article(text) {
        let spaced = spaced::read(text);
        if !spaced.is_empty() {
            return Ok(all(spaced));
        }
    }
    if let Some(delimiter) = separated::delimiter(text) {
        return separated::read(text, delimiter).map(one);
    }
    if bars::looks_so(text) {
        return bars::read(text);
    }
    if aligned::looks_so(text) {
        return aligned::read(text).map(all);
    }
    if pairs::looks_so(text) {
        return pairs::read(text).map(all);
    }
    Err(Problem::new(
        "no table is found in it: no line names two columns that are known, such as connections and p99",
        "give CSV, TSV, a Markdown table or aligned columns with a header; --input-format says which",
    ))
}

/// Whether at least two columns, or two rows of a table on its side, are known by their names.
fn is_telling(table: &Table) -> bool {
    let columns = table.columns.iter().filter(|column| is_known(&column.name)).count();
    columns >= 2 || known_first_cells(table) >= 2
}

/// Whether a header is known, and is not just a label.
pub(crate) fn is_known(header: &str) -> bool {
    header::guess(header).is_some_and(|guess| guess.kind != Kind::Ignored)
}

fn known_first_cells(table: &Table) -> usize {
    table.rows.iter().filter(|row| row.cells.first().is_some_and(|cell| is_known(cell))).count()
}

/// A table on its side, metrics as rows and what was measured as columns, is turned.
fn turned(table: Table) -> Table {
    let by_column = table.columns.iter().filter(|column| is_known(&column.name)).count();
    let by_row = known_first_cells(&table);
    let is_known_form = table.columns.iter().any(|column| column.kind.is_some());
    if is_known_form || by_row < 2 || by_row <= by_column || table.columns.len() < 2 {
        return table;
    }
    let first = TextColumn::named(table.columns[0].name.clone());
    let names = table.rows.iter().map(|row| TextColumn::named(row.cells[0].clone()));
    let columns: Vec<_> = std::iter::once(first).chain(names).collect();
    let row = |at: usize| {
        let cells = table.rows.iter().map(|row| row.cells[at].clone());
        let name = table.columns[at].name.clone();
        TextRow { line: table.line, cells: std::iter::once(name).chain(cells).collect() }
    };
    let rows = (1..table.columns.len()).map(row).collect();
    let note = "metrics stand in its rows, so it was turned: each of its columns is a row here".to_owned();
    let notes = table.notes.iter().cloned().chain([note]).collect();
    Table { columns, rows, notes, ..table }
}

fn bounded(tables: &[Table]) -> Result<(), Problem> {
    let rows: usize = tables.iter().map(|table| table.rows.len()).sum();
    let columns = tables.iter().map(|table| table.columns.len()).max().unwrap_or(0);
    let line = tables.first().map_or(1, |table| table.line);
    let remedy = "audit a part of it";
    if tables.len() > TABLES_MAX {
        return Err(Problem::at(line, format!("there are more than {TABLES_MAX} tables in it"), remedy));
    }
    if rows > ROWS_MAX {
        return Err(Problem::at(line, format!("there are more than {ROWS_MAX} rows in it"), remedy));
    }
    if columns > COLUMNS_MAX {
        let cause = format!("a table has more than {COLUMNS_MAX} columns");
        return Err(Problem::at(line, cause, "keep the columns that were measured"));
    }
    if rows == 0 {
        let cause = "there is a header and no row below it";
        return Err(Problem::at(line, cause, "give at least one row of figures"));
    }
    Ok(())
}

/// The lines of a text with their numbers, without those that are too long to be of a table.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let numbered = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    numbered.filter(|(_, line)| line.len() <= LINE_BYTES_MAX)
}

/// The error for a row whose cells do not fit the header.
fn ragged(line: usize, had: usize, wanted: usize, remedy: &str) -> Problem {
    Problem::at(line, format!("this row has {had} cells, but its header has {wanted}"), remedy)
}

#[cfg(test)]
mod tests;
