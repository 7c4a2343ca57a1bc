//! Values between bars: Markdown, psql, mysql, and tables that terminals draw with box characters.
//!
//! Markup inside cells (emphasis, code, links, `<br>`) is taken off. A text may hold several tables. A row that a
//! copied text has cut into lines is put together again where the pieces make exactly one row.

use super::{
    COLUMNS_MAX, Found, ROWS_MAX, Skipped, TABLES_MAX, Table, TextColumn, TextRow, is_telling, lines, ragged,
};
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

/// Reads all tables; at least one must have a row. A table with a ragged row is left out and told, unless it is all
/// there is.
pub(super) fn read(text: &str) -> Result<Found, Problem> {
    let mut reader = Reader::default();
    for (number, line) in lines(text) {
        if is_rule(line) {
            reader.rule(line);
        } else if !line.contains(BARS) || is_edge(line) {
            reader.close();
        } else {
            reader.row(number, cells(line))?;
        }
        if reader.tables.len() > TABLES_MAX {
            break;
        }
    }
    reader.close();
    match (reader.tables.is_empty(), reader.ragged.into_iter().next()) {
        (true, Some(problem)) => Err(problem),
        (true, None) => {
            Err(Problem::new("no table between bars has a row", "give a header and at least one row"))
        }
        (false, _) => Ok(Found { tables: reader.tables, skipped: reader.skipped }),
    }
}

/// The tables so far, and the one that is open.
#[derive(Default)]
struct Reader {
    tables: Vec<Table>,
    skipped: Vec<Skipped>,
    ragged: Vec<Problem>,
    open: Option<Table>,
    /// Whether a line was drawn below its header, as in Markdown.
    is_ruled: bool,
    /// The cells so far of a row that goes on in the next line, and where it began.
    part: Option<(usize, Vec<String>)>,
    /// The lines with bars up to the next without are of a table that was left out.
    is_left_out: bool,
}

impl Reader {
    fn rule(&mut self, line: &str) {
        self.is_ruled |= self.open.as_ref().is_some_and(|table| table.rows.is_empty());
        // The lower edge of a drawn table; another may begin right below.
        if line.contains(['└', '╰', '╚', '┗']) {
            self.close();
        }
    }

    fn row(&mut self, line: usize, cells: Vec<String>) -> Result<(), Problem> {
        if self.is_left_out {
            return Ok(());
        }
        let Some(table) = &mut self.open else {
            self.open = Some(begun(line, &cells)?);
            return Ok(());
        };
        if table.rows.len() > ROWS_MAX {
            return Ok(());
        }
        let wanted = table.columns.len();
        let (begin, cells) = match self.part.take() {
            Some((begin, mut part)) => {
                part.extend(cells);
                (begin, part)
            }
            None => (line, cells),
        };
        if self.is_ruled && cells.len() < wanted {
            self.part = Some((begin, cells));
            return Ok(());
        }
        match fitted(begin, cells, wanted) {
            Ok(cells) => {
                if begin < line {
                    table
                        .notes
                        .push(format!("the row at line {begin} is written over {} lines", line - begin + 1));
                }
                table.rows.push(TextRow { line: begin, cells });
            }
            Err(problem) => self.leave_out(problem),
        }
        Ok(())
    }

    /// Ends the table that is open; what is told of it where it is ragged.
    fn close(&mut self) {
        if let (Some((begin, cells)), Some(table)) = (self.part.take(), &self.open) {
            let remedy = "give each row one cell for each column, empty where nothing was measured";
            let problem = ragged(begin, cells.len(), table.columns.len(), remedy);
            self.leave_out(problem);
        }
        self.tables.extend(self.open.take().filter(|table| !table.rows.is_empty()));
        (self.is_ruled, self.is_left_out) = (false, false);
    }

    /// Figures of a ragged row may be shifted, and so may be those of the rows before it.
    fn leave_out(&mut self, problem: Problem) {
        let Some(table) = self.open.take() else { return };
        // Lines with bars that are no table, such as commands of a shell, are nobody's business.
        if is_telling(&table) {
            self.skipped.push(Skipped { line: table.line, reason: problem.in_words() });
            self.ragged.push(problem);
            self.is_left_out = true;
        }
        self.is_ruled = false;
    }
}

/// An edge of a drawn graph, such as Mermaid's `A -->|yes| B`.
fn is_edge(line: &str) -> bool {
    ["-->", "--->", "==>", "-.->", "---|", "--x", "--o"]
        .iter()
        .any(|arrow| line.find(arrow).is_some_and(|at| line[..at].chars().any(|c| c.is_alphanumeric())))
        && !line.trim_start().starts_with(BARS)
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
