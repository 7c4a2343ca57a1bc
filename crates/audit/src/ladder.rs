//! Rows that measure the same thing under different load.

use crate::kind::Kind;
use crate::sheet::{Row, Sheet};
use std::collections::BTreeMap;

/// The rows by what was measured, in the order of the table.
///
/// Labels tell what was measured. Where every row has labels of its own, such as `test 1`, `test 2`, and the load
/// differs from row to row, they name the rows and not things: all rows are then one group.
pub(crate) fn groups(sheet: &Sheet) -> Vec<Vec<&Row>> {
    let by_label = by(sheet, |row| row.labels.clone());
    let are_names = by_label.len() == sheet.rows.len() && sheet.rows.len() >= 3 && has_distinct_loads(sheet);
    if are_names { by(sheet, |_| Vec::new()) } else { by_label }
}

fn by(sheet: &Sheet, key: impl Fn(&Row) -> Vec<String>) -> Vec<Vec<&Row>> {
    const FACTORS: [Kind; 3] = [Kind::Cores, Kind::Pipeline, Kind::Think];
    let mut order: Vec<Vec<&Row>> = Vec::new();
    let mut places: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    for row in &sheet.rows {
        let mut key = key(row);
        key.extend(
            FACTORS.iter().map(|kind| row.get(*kind).map_or(String::new(), |figure| figure.text.clone())),
        );
        let place = *places.entry(key).or_insert_with(|| {
            order.push(Vec::new());
            order.len() - 1
        });
        order[place].push(row);
    }
    order
}

fn has_distinct_loads(sheet: &Sheet) -> bool {
    let mut loads: Vec<f64> = sheet.rows.iter().filter_map(Row::in_flight).collect();
    let had = loads.len();
    loads.sort_by(f64::total_cmp);
    loads.dedup();
    loads.len() == sheet.rows.len() && had == loads.len()
}

/// The levels of a group: one row for each number of connections, by rising number.
///
/// Of rows at one level the one with the median throughput stands for it; nothing is averaged.
pub(crate) fn levels<'a>(group: &[&'a Row]) -> Vec<Level<'a>> {
    let mut rows: Vec<Level<'a>> = group
        .iter()
        .filter_map(|row| {
            let connections = row.in_flight().filter(|n| *n > 0.0)?;
            let throughput = row.get(Kind::Throughput)?.value;
            (throughput > 0.0).then_some(Level { row, connections, throughput })
        })
        .collect();
    rows.sort_by(|a, b| a.connections.total_cmp(&b.connections).then(a.throughput.total_cmp(&b.throughput)));
    rows.chunk_by(|a, b| a.connections == b.connections).map(|same| same[(same.len() - 1) / 2]).collect()
}

/// A level of a ladder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level<'a> {
    pub(crate) row: &'a Row,
    /// Requests in flight at most.
    pub(crate) connections: f64,
    /// Answers a second.
    pub(crate) throughput: f64,
}
