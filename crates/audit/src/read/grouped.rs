//! Headers of two rows: groups above their columns (`Go` and `Node`, each above `RPS` and `p99`), or units below names.
//!
//! Invariant: afterwards every row is one measurement. So the groups of a row are put below each other, each with what
//! all of them share, and a column `group` says which is which; rows keep their lines.

use super::{Table, TextColumn, TextRow, is_known};
use crate::unit::Dimension;

const DIMENSIONS: [Dimension; 5] =
    [Dimension::Time, Dimension::Rate, Dimension::Share, Dimension::Count, Dimension::Cpu];

/// A table whose first row belongs to its header gets one header; all others are left as they are.
pub(super) fn joined(table: Table) -> Table {
    let is_known_form = table.columns.iter().any(|column| column.kind.is_some());
    if is_known_form || table.rows.len() < 2 {
        return table;
    }
    let below = &table.rows[0].cells;
    if are_units(below) {
        return with_units(table);
    }
    let above = table.columns.iter().filter(|column| is_known(&column.name)).count();
    let below = below.iter().filter(|cell| is_known(cell)).count();
    if below >= 2 && below > above { ungrouped(table) } else { table }
}

fn are_units(cells: &[String]) -> bool {
    let is_of = |cell: &str, dimension: &Dimension| dimension.factor(unit(cell)).is_some();
    let named: Vec<&str> = cells.iter().map(|cell| cell.trim()).filter(|cell| !cell.is_empty()).collect();
    let are_all = named.iter().all(|cell| {
        !cell.contains(|c: char| c.is_ascii_digit())
            && DIMENSIONS.iter().any(|dimension| is_of(cell, dimension))
    });
    // Any word may be what is counted, so counts alone are a row of words.
    let is_any_measured =
        named.iter().any(|cell| DIMENSIONS.iter().any(|of| *of != Dimension::Count && is_of(cell, of)));
    are_all && is_any_measured
}

/// A unit without the brackets around it.
fn unit(cell: &str) -> &str {
    cell.trim().trim_start_matches(['(', '[']).trim_end_matches([')', ']'])
}

fn with_units(mut table: Table) -> Table {
    let units = table.rows.remove(0);
    for (column, cell) in table.columns.iter_mut().zip(&units.cells) {
        if !cell.trim().is_empty() {
            column.name = format!("{} ({})", column.name, unit(cell));
        }
    }
    table
}

/// Where a column stands: above all groups, or in one of them.
enum Place {
    Shared,
    Group(usize),
}

fn ungrouped(mut table: Table) -> Table {
    let names = table.rows.remove(0).cells;
    let mut groups: Vec<String> = Vec::new();
    let mut current = None;
    let mut places = Vec::with_capacity(names.len());
    for (column, name) in table.columns.iter().zip(&names) {
        let above = column.name.trim();
        if name.trim().is_empty() {
            places.push(Place::Shared);
            continue;
        }
        if !above.is_empty() {
            let known = groups.iter().position(|group| group == above);
            current = Some(known.unwrap_or_else(|| {
                groups.push(above.to_owned());
                groups.len() - 1
            }));
        }
        places.push(current.map_or(Place::Shared, Place::Group));
    }
    let name = |at: usize| if names[at].trim().is_empty() { &table.columns[at].name } else { &names[at] };
    if groups.len() < 2 {
        let columns = (0..names.len()).map(|at| TextColumn::named(name(at).clone())).collect();
        return Table { columns, ..table };
    }
    let shared: Vec<usize> = (0..names.len()).filter(|at| matches!(places[*at], Place::Shared)).collect();
    let mut measured: Vec<&String> = Vec::new();
    for (at, place) in places.iter().enumerate() {
        if matches!(place, Place::Group(_)) && !measured.contains(&&names[at]) {
            measured.push(&names[at]);
        }
    }
    let of_group = |group: usize, wanted: &str| {
        (0..names.len())
            .find(|at| matches!(places[*at], Place::Group(own) if own == group) && names[*at] == wanted)
    };
    let mut rows = Vec::new();
    for (group, label) in groups.iter().enumerate() {
        let from: Vec<Option<usize>> = measured.iter().map(|wanted| of_group(group, wanted)).collect();
        for row in &table.rows {
            let shared = shared.iter().map(|at| row.cells[*at].clone());
            let own = from.iter().map(|at| at.map_or_else(String::new, |at| row.cells[at].clone()));
            let cells = std::iter::once(label.clone()).chain(shared).chain(own).collect();
            rows.push(TextRow { line: row.line, cells });
        }
    }
    let columns = std::iter::once("group".to_owned())
        .chain(shared.iter().map(|at| name(*at).clone()))
        .chain(measured.into_iter().cloned())
        .map(TextColumn::named)
        .collect();
    let note =
        format!("its header has two rows, so each of its {} groups of columns is rows here", groups.len());
    let notes = table.notes.iter().cloned().chain([note]).collect();
    Table { columns, rows, notes, ..table }
}
