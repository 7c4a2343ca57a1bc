//! A name and a value a line, as summaries are pasted: `QPS: 1234`. A name that comes again begins a new row.

use super::{ROWS_MAX, Table, TextColumn, TextRow, is_known, lines};
use crate::error::Problem;
use schema::audit::AuditForm;

/// Whether two lines name something that is known and have a value.
pub(super) fn looks_so(text: &str) -> bool {
    lines(text).filter_map(|(_, line)| pair(line)).filter(|(name, _)| is_known(name)).count() >= 2
}

/// Reads the pairs as one table.
pub(super) fn read(text: &str) -> Result<Vec<Table>, Problem> {
    let mut columns: Vec<TextColumn> = Vec::new();
    let mut rows: Vec<(usize, Vec<Option<String>>)> = Vec::new();
    let mut begin = None;
    for (number, line) in lines(text) {
        let Some((name, value)) = pair(line) else { continue };
        begin.get_or_insert(number);
        let at = columns.iter().position(|column| column.name == name).unwrap_or_else(|| {
            columns.push(TextColumn::named(name));
            columns.len() - 1
        });
        let is_new = rows.last().is_none_or(|(_, cells)| cells.get(at).is_some_and(Option::is_some));
        if is_new {
            rows.push((number, Vec::new()));
        }
        if let Some((_, cells)) = rows.last_mut() {
            cells.resize(cells.len().max(at + 1), None);
            cells[at] = Some(value.to_owned());
        }
        if rows.len() > ROWS_MAX || columns.len() > super::COLUMNS_MAX {
            break;
        }
    }
    let Some(line) = begin else {
        return Err(Problem::new("no line is a name and a value, such as `QPS: 1234`", "say --input-format"));
    };
    let rows = rows
        .into_iter()
        .map(|(line, mut cells)| {
            cells.resize(columns.len(), None);
            TextRow { line, cells: cells.into_iter().map(Option::unwrap_or_default).collect() }
        })
        .collect();
    Ok(vec![Table { form: AuditForm::Pairs, line, columns, rows, tool: None, notes: Vec::new() }])
}

/// A line of a name, a colon or `=` or dots, and a value.
fn pair(line: &str) -> Option<(&str, &str)> {
    let line = line.trim().trim_start_matches(['-', '*', '•', '·']).trim_start();
    let at = line.find([':', '：', '='])?;
    let mark = line[at..].chars().next()?.len_utf8();
    let (name, value) = (line[..at].trim().trim_end_matches('.').trim_end(), line[at + mark..].trim());
    let is_name = !name.is_empty() && name.chars().count() <= 60;
    let is_value = !value.is_empty() && value.chars().count() <= 200;
    (is_name && is_value).then_some((name, value))
}
