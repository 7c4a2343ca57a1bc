//! Values between bars: Markdown, psql, mysql, and tables that terminals draw with box characters.
//!
//! Markup inside cells (emphasis, code, links, `<br>`) is taken off. A text may hold several tables.

use super::{COLUMNS_MAX, ROWS_MAX, TABLES_MAX, Table, TextColumn, TextRow, is_telling, lines, ragged};
use crate::error::Problem;
use regex::Regex;
use schema::audit::AuditForm;
use std::sync::LazyLock;

const BARS: [char; 5] = ['|', '│', '┃', '║', '┆'];

/// Whether at least two lines in a row have bars.
pub(super) fn looks_so(text: &str) -> bool {
    let with: Vec<usize> =
        lines(text).filter(|(_, line)| line.contains(BARS)).map(|(number, _)| number).collect();
    with.windows(2).any(|pair| pair[1] - pair[0] <= 2)
}

/// Reads all tables; at least one must have a row.
pub(super) fn read(text: &str) -> Result<Vec<Table>, Problem> {
    let mut tables: Vec<Table> = Vec::new();
    let mut open: Option<Table> = None;
    let close = |open: &mut Option<Table>, tables: &mut Vec<Table>| {
        tables.extend(open.take().filter(|table| !table.rows.is_empty()));
    };
    for (number, line) in lines(text) {
        if is_rule(line) {
            // The lower edge of a drawn table; another may begin right below.
            if line.contains(['└', '╰', '╚', '┗']) {
                close(&mut open, &mut tables);
            }
            continue;
        }
        if !line.contains(BARS) {
            close(&mut open, &mut tables);
            continue;
        }
        let cells = cells(line);
        match &mut open {
            None => open = Some(begun(number, &cells)?),
            Some(table) if table.rows.len() > ROWS_MAX => {}
            Some(table) => match fitted(number, cells, table.columns.len()) {
                Ok(cells) => table.rows.push(TextRow { line: number, cells }),
                Err(problem) if is_telling(table) => return Err(problem),
                // Lines with bars that are no table, such as commands of a shell.
                Err(_) => open = None,
            },
        }
        if tables.len() > TABLES_MAX {
            break;
        }
    }
    close(&mut open, &mut tables);
    if tables.is_empty() {
        return Err(Problem::new("no table between bars has a row", "give a header and at least one row"));
    }
    Ok(tables)
}

fn begun(line: usize, cells: &[String]) -> Result<Table, Problem> {
    if cells.len() > COLUMNS_MAX {
        let cause = format!("the table has more than {COLUMNS_MAX} columns");
        return Err(Problem::at(line, cause, "keep the columns that were measured"));
    }
    let columns = cells.iter().map(TextColumn::named).collect();
    Ok(Table { form: AuditForm::Bars, line, columns, rows: Vec::new(), tool: None, notes: Vec::new() })
}

/// A line that only draws: `|---|--:|`, `+----+`, `├──┼──┤`.
fn is_rule(line: &str) -> bool {
    let line = line.trim();
    let draws = |c: char| "|-+:=_ ".contains(c) || ('\u{2500}'..='\u{257f}').contains(&c);
    line.chars().filter(|c| *c != '|' && !BARS.contains(c)).any(|c| "-=_".contains(c) || ('\u{2500}'..='\u{257f}').contains(&c))
        && line.chars().all(draws)
        // A row of dashes alone between bars is one of missing figures only where each stands with spaces.
        && !(line.contains(" - ") && line.split(BARS).all(|cell| matches!(cell.trim(), "" | "-")))
}

/// The cells of a line; bars at its ends enclose, `\|` is a bar in a cell.
fn cells(line: &str) -> Vec<String> {
    const ESCAPED: &str = "\u{e000}";
    let line = line.trim().replace("\\|", ESCAPED);
    let inner = line.strip_prefix(BARS).unwrap_or(&line);
    let inner = inner.strip_suffix(BARS).unwrap_or(inner);
    inner.split(BARS).map(|cell| plain(&cell.replace(ESCAPED, "|"))).collect()
}

static LINK: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"!?\[([^\]]*)\]\([^)]*\)").expect("a pattern that is tried by tests"));
static TAG: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"</?[a-zA-Z][^<>]*>").expect("a pattern that is tried by tests"));

/// A cell without Markdown and HTML.
fn plain(cell: &str) -> String {
    let cell = LINK.replace_all(cell, "$1");
    let cell = TAG.replace_all(&cell, " ");
    cell.replace("**", "").replace("__", "").replace('`', "").trim().trim_matches('*').trim().to_owned()
}

/// A row that lacks cells at its end, as Markdown allows, has empty ones there.
fn fitted(line: usize, mut cells: Vec<String>, wanted: usize) -> Result<Vec<String>, Problem> {
    let had = cells.len();
    while cells.len() > wanted && cells.last().is_some_and(String::is_empty) {
        cells.pop();
    }
    if cells.len() > wanted || (cells.len() < wanted && cells.len() < 2) {
        let remedy = "give each row one cell for each column; write a bar inside a cell as \\|";
        return Err(ragged(line, had, wanted, remedy));
    }
    if cells.len() < wanted {
        return Err(ragged(
            line,
            had,
            wanted,
            "give each row one cell for each column, empty where nothing was measured",
        ));
    }
    Ok(cells)
}
