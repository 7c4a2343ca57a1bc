//! Columns aligned by spaces or tabs, as terminals print them.
//!
//! Two spaces or a tab part columns; a table whose columns stand one space apart is read where every row then has as
//! many words as the header. Where a row has fewer cells, they are put under the header that they stand below.

use super::{ROWS_MAX, TABLES_MAX, Table, TextColumn, TextRow, is_known, lines, ragged};
use crate::error::Problem;
use schema::audit::AuditForm;
use unicode_width::UnicodeWidthChar;

/// Columns that a tab leads to.
const TAB: usize = 8;

/// A piece of a line and the columns of the terminal that it takes.
#[derive(Clone, Debug)]
struct Piece {
    text: String,
    begin: usize,
    end: usize,
}

/// Whether a line names two known columns.
pub(super) fn looks_so(text: &str) -> bool {
    lines(text).any(|(_, line)| header(line).is_some())
}

/// Reads all tables: each begins with a line that names two known columns, and ends with an empty line.
pub(super) fn read(text: &str) -> Result<Vec<Table>, Problem> {
    let mut tables: Vec<Table> = Vec::new();
    let mut open: Option<(Table, Vec<Piece>)> = None;
    for (number, line) in lines(text) {
        if is_rule(line) {
            continue;
        }
        if line.trim().is_empty() {
            // A gap right below the header is no end.
            if open.as_ref().is_some_and(|(table, _)| !table.rows.is_empty()) {
                tables.extend(open.take().map(|(table, _)| table));
            }
            continue;
        }
        match &mut open {
            None => open = header(line).map(|pieces| (begun(number, &pieces), pieces)),
            Some((table, _)) if table.rows.len() > ROWS_MAX => {}
            Some((table, header)) => {
                table.rows.push(TextRow { line: number, cells: row(number, line, header)? });
            }
        }
        if tables.len() > TABLES_MAX {
            break;
        }
    }
    tables.extend(open.map(|(table, _)| table));
    if tables.iter().all(|table| table.rows.is_empty()) {
        return Err(Problem::new(
            "no line names two columns that are known and has a row below it",
            "give a header such as: connections  req/s  mean (ms)",
        ));
    }
    tables.retain(|table| !table.rows.is_empty());
    Ok(tables)
}

fn begun(line: usize, pieces: &[Piece]) -> Table {
    let columns = pieces.iter().map(|piece| TextColumn::named(&piece.text)).collect();
    Table { form: AuditForm::Aligned, line, columns, rows: Vec::new(), tool: None, notes: Vec::new() }
}

fn is_rule(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty()
        && line.chars().all(|c| "-=_+ ─━═".contains(c))
        && line.contains(['-', '=', '_', '─', '━', '═'])
        && !line.split_whitespace().all(|word| word == "-")
}

/// The pieces of a line that is a header.
fn header(line: &str) -> Option<Vec<Piece>> {
    // Prose has many words; a header is mostly names that are known.
    let is_header = |pieces: &Vec<Piece>| {
        let wanted = pieces.len().div_ceil(2).max(2);
        pieces.iter().filter(|piece| is_known(&piece.text)).take(wanted).count() == wanted
    };
    let wide = Some(split(line, 2)).filter(is_header);
    wide.or_else(|| Some(split(line, 1)).filter(is_header))
}

/// Cuts a line where at least `gap` spaces or a tab stand.
fn split(line: &str, gap: usize) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let (mut at, mut spaces) = (0, usize::MAX);
    for c in line.chars() {
        if c == '\t' {
            at = (at / TAB + 1) * TAB;
            spaces = usize::MAX;
            continue;
        }
        if c == ' ' || c == '\u{3000}' {
            spaces = spaces.saturating_add(c.width().unwrap_or(1));
            at += c.width().unwrap_or(1);
            continue;
        }
        let width = c.width().unwrap_or(0);
        match pieces.last_mut() {
            Some(piece) if spaces < gap => {
                if spaces > 0 {
                    piece.text.push(' ');
                }
                piece.text.push(c);
                piece.end = at + width;
            }
            _ => pieces.push(Piece { text: c.to_string(), begin: at, end: at + width }),
        }
        (at, spaces) = (at + width, 0);
    }
    pieces
}

fn row(number: usize, line: &str, header: &[Piece]) -> Result<Vec<String>, Problem> {
    let wanted = header.len();
    let wide = split(line, 2);
    if wide.len() == wanted {
        return Ok(wide.into_iter().map(|piece| piece.text).collect());
    }
    let narrow = split(line, 1);
    if narrow.len() == wanted {
        return Ok(narrow.into_iter().map(|piece| piece.text).collect());
    }
    if wide.len() < wanted
        && let Some(cells) = below(&wide, header)
    {
        return Ok(cells);
    }
    // A name of several words in the first column.
    if narrow.len() > wanted
        && let Some(cells) = with_long_name(&narrow, wanted)
    {
        return Ok(cells);
    }
    let remedy =
        "put at least two spaces or a tab between columns, `-` where nothing was measured, or give CSV";
    Err(ragged(number, wide.len(), wanted, remedy))
}

/// Each cell under the only header that it overlaps; nothing where that is not clear.
fn below(cells: &[Piece], header: &[Piece]) -> Option<Vec<String>> {
    let mut placed = vec![String::new(); header.len()];
    for cell in cells {
        let mut above =
            header.iter().enumerate().filter(|(_, name)| cell.begin < name.end && name.begin < cell.end);
        let (index, _) = above.next()?;
        if above.next().is_some() || !placed[index].is_empty() {
            return None;
        }
        placed[index].clone_from(&cell.text);
    }
    (cells.len() >= 2).then_some(placed)
}

fn with_long_name(words: &[Piece], wanted: usize) -> Option<Vec<String>> {
    let extra = words.len() - wanted;
    let (name, rest) = words.split_at(extra + 1);
    let is_text = name.iter().all(|word| !word.text.starts_with(|c: char| c.is_ascii_digit()));
    let is_figures =
        rest.iter().all(|word| word.text.starts_with(|c: char| c.is_ascii_digit() || "-<>~".contains(c)));
    let name: Vec<&str> = name.iter().map(|word| word.text.as_str()).collect();
    (is_text && is_figures)
        .then(|| std::iter::once(name.join(" ")).chain(rest.iter().map(|word| word.text.clone())).collect())
}
