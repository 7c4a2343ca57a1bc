//! Wide tables, in which two or more systems stand side by side: `Swoole QPS | Gin QPS`. Each row is read once for each
//! system, so that every figure is held against its laws.
//!
//! Columns belong together where they are of one kind and their headers differ in one piece, the name of the system; all
//! such kinds must name the same systems. A piece that names a statistic (`max QPS | mean QPS`) is no system.
//! Absent on purpose: columns of figures derived from others, such as a gain, which stay as they are.

use super::{Table, TextColumn, TextRow};
use crate::header;
use crate::kind::Kind;
use std::collections::BTreeMap;

/// Most systems of one table.
const SYSTEMS_MAX: usize = 12;
/// Words that tell statistics and conditions apart, not systems.
const NO_SYSTEMS: &[&str] = &[
    "avg",
    "average",
    "mean",
    "max",
    "min",
    "peak",
    "total",
    "median",
    "std",
    "stdev",
    "raw",
    "successful",
    "failed",
    "sum",
    "best",
    "worst",
    "first",
    "last",
    "平均",
    "最大",
    "最小",
    "峰值",
    "总",
    "均值",
    "最高",
    "最低",
    "成功",
    "失败",
    "中位",
    "实际",
    "目标",
    "理论",
];

/// Columns of one kind by system.
struct Group {
    kind: Kind,
    /// The header without the system.
    name: String,
    /// System and place of its column, in the order of the table.
    members: Vec<(String, usize)>,
}

/// The table with a row for each system; itself where it is not wide.
pub(super) fn apart(table: Table) -> Table {
    let groups = groups(&table);
    let Some(first) = groups.first() else { return table };
    let systems: Vec<String> = first.members.iter().map(|(system, _)| system.clone()).collect();
    let names_them = |group: &Group| {
        group.members.len() == systems.len()
            && group.members.iter().all(|(system, _)| systems.contains(system))
    };
    if systems.len() > SYSTEMS_MAX || !groups.iter().all(names_them) {
        return table;
    }
    let is_grouped =
        |at: usize| groups.iter().any(|group| group.members.iter().any(|(_, place)| *place == at));
    let shared: Vec<usize> = (0..table.columns.len()).filter(|at| !is_grouped(*at)).collect();
    let columns = [TextColumn::known("system", Kind::Label)]
        .into_iter()
        .chain(shared.iter().map(|at| table.columns[*at].clone()))
        .chain(groups.iter().map(|group| TextColumn::named(group.name.clone())))
        .collect();
    let row = |row: &TextRow, system: &String| {
        let own = groups.iter().map(|group| {
            let place = group.members.iter().find(|(name, _)| name == system).map(|(_, place)| *place);
            place.and_then(|place| row.cells.get(place)).cloned().unwrap_or_default()
        });
        let shared = shared.iter().map(|at| row.cells[*at].clone());
        TextRow { line: row.line, cells: [system.clone()].into_iter().chain(shared).chain(own).collect() }
    };
    let rows = table.rows.iter().flat_map(|of| systems.iter().map(move |system| row(of, system))).collect();
    let note = format!(
        "{} stand side by side in it, so each of its rows is read once for each of them",
        units::format::listed(&systems)
    );
    let notes = table.notes.iter().cloned().chain([note]).collect();
    Table { columns, rows, notes, ..table }
}

/// Columns that tell the same of several systems.
fn groups(table: &Table) -> Vec<Group> {
    let mut by_kind: BTreeMap<Kind, Vec<usize>> = BTreeMap::new();
    for (at, column) in table.columns.iter().enumerate() {
        let kind = column.kind.or_else(|| header::guess(&column.name).map(|guess| guess.kind));
        if let Some(kind) = kind.filter(|kind| kind.dimension().is_some() && !kind.is_setting()) {
            by_kind.entry(kind).or_default().push(at);
        }
    }
    by_kind
        .into_iter()
        .filter(|(_, places)| places.len() > 1)
        .filter_map(|(kind, places)| group(table, kind, &places))
        .collect()
}

fn group(table: &Table, kind: Kind, places: &[usize]) -> Option<Group> {
    let headers: Vec<Vec<char>> = places.iter().map(|at| table.columns[*at].name.chars().collect()).collect();
    let shortest = headers.iter().map(Vec::len).min()?;
    let same = |at: &dyn Fn(&[char]) -> char| headers.iter().all(|header| at(header) == at(&headers[0]));
    let head = (0..shortest).take_while(|at| same(&|header: &[char]| header[*at])).count();
    let tail =
        (1..=shortest - head).take_while(|back| same(&|header: &[char]| header[header.len() - back])).count();
    // Half a word that two systems have in common is a part of their names.
    let head = boundary(&headers[0], head);
    let piece = |header: &Vec<char>| -> String {
        let text: String = header[head..header.len() - tail].iter().collect();
        text.trim_matches(|c: char| !c.is_alphanumeric() && !"+#.".contains(c)).to_owned()
    };
    let systems: Vec<String> = headers.iter().map(piece).collect();
    let is_system = |name: &String| {
        let lower = name.to_lowercase();
        name.chars().any(char::is_alphabetic)
            && header::guess(name).is_none()
            && !NO_SYSTEMS
                .iter()
                .any(|word| if word.is_ascii() { lower == *word } else { lower.contains(word) })
    };
    let mut distinct = systems.clone();
    distinct.sort();
    distinct.dedup();
    if distinct.len() < systems.len() || !systems.iter().all(is_system) {
        return None;
    }
    let rest: String = headers[0][..head].iter().chain(&headers[0][headers[0].len() - tail..]).collect();
    let members = systems.into_iter().zip(places.iter().copied()).collect();
    Some(Group { kind, name: rest, members })
        .filter(|group| header::guess(&group.name).is_some_and(|guess| guess.kind == group.kind))
}

/// The last place up to `head` that is not within an ASCII word.
fn boundary(header: &[char], head: usize) -> usize {
    let is_word = |at: usize| header.get(at).is_some_and(char::is_ascii_alphanumeric);
    (0..=head).rev().find(|at| *at == 0 || !(is_word(at - 1) && is_word(*at))).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use crate::read::{InputForm, Table, read};

    fn one(text: &str) -> Table {
        read(text, InputForm::Auto).unwrap().tables.remove(0)
    }

    fn names(table: &Table) -> Vec<&str> {
        table.columns.iter().map(|column| column.name.as_str()).collect()
    }

    #[test]
    fn each_system_has_a_row() {
        let table = one(
            "| 规模 | 并发 | Swoole平均QPS | Gin平均QPS | Gin提升 |\n|-|-|-|-|-|\n| 1k | 400 | 12,840 | 14,210 | +10.7% |\n",
        );
        assert_eq!(names(&table), ["system", "规模", "并发", "Gin提升", "平均QPS"]);
        assert_eq!(table.rows[0].cells, ["Swoole", "1k", "400", "+10.7%", "12,840"]);
        assert_eq!(table.rows[1].cells, ["Gin", "1k", "400", "+10.7%", "14,210"]);
        assert!(table.notes[0].contains("Swoole and Gin stand side by side"), "{:?}", table.notes);
    }

    #[test]
    fn several_figures_of_each_go_together() {
        let table = one("c,QPS (go),QPS (php),p99 ms (go),p99 ms (php)\n100,10,20,3,4\n");
        assert_eq!(table.rows.len(), 2);
        assert_eq!(table.rows[1].cells, ["php", "100", "20", "4"]);
    }

    #[test]
    fn statistics_are_no_systems() {
        for text in [
            "c,max qps,mean qps\n1,2,3\n",
            "c,平均QPS,峰值QPS\n1,2,3\n",
            "c,go qps,php qps,go p99,java p99\n1,2,3,4,5\n",
            "c,qps,qps\n1,2,3\n",
        ] {
            assert_eq!(one(text).rows.len(), 1, "{text}");
        }
    }
}
