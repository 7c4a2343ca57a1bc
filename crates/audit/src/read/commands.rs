//! The command of a load tool beside a table gives what the table leaves out: `wrk -t10 -c1000 -d30s` its connections,
//! `hey -c 500 -z 30s` likewise.
//!
//! Invariants: what is taken from a command is quoted with its line and marked as assumed, so that nothing is called
//! impossible by it; a table that states its connections, or a rate, is left as it is; the nearest command before a table
//! is taken, else the nearest after it, none beyond [`LINES_MAX`] lines or beyond another table.
//! Absent on purpose: outputs of tools, which have their settings in themselves (`tool`).

use super::{Table, TextColumn, lines};
use crate::error::shown;
use crate::header;
use crate::kind::Kind;
use regex::Regex;
use schema::audit::AuditForm;
use std::sync::LazyLock;

/// How far a command may stand from its table.
const LINES_MAX: usize = 40;

static COMMAND: LazyLock<Regex> = LazyLock::new(|| {
    // The first option must look like one, so that prose ("wrk -very much") is no command.
    Regex::new(
        r"(?:^|[\s`$;&(])(wrk2?|hey|oha|ab|bombardier|h2load)\s+(-(?:[A-Za-z]{1,2}(?:[\d=]\S*)?|-[a-z]\S*)(?:[\s`].*)?)$",
    )
    .expect("a pattern that is tried by tests")
});
static CONNECTIONS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:^|\s)(?:-c\s*=?\s*|--connections[= ]|--clients[= ])(\d{1,7})(?:\s|$|[`\\])")
        .expect("a pattern that is tried by tests")
});
static LENGTH: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:^|\s)(?:-d\s*=?\s*|--duration[= ]|-z\s*=?\s*)(\d{1,6}(?:ms|s|m|h)?)(?:\s|$|[`\\])")
        .expect("a pattern that is tried by tests")
});

/// A command of a load tool in a text.
struct Command {
    line: usize,
    text: String,
    connections: Option<String>,
    length: Option<String>,
}

/// Adds what commands tell to the tables that they stand beside.
pub(super) fn beside(text: &str, tables: &mut [Table]) {
    let commands: Vec<Command> = lines(text).filter_map(|(line, text)| command(line, text)).collect();
    let spans: Vec<(usize, usize)> = tables.iter().map(span).collect();
    for (at, table) in tables.iter_mut().enumerate() {
        let (begin, end) = spans[at];
        let after = spans.iter().map(|span| span.1).filter(|line| *line < begin).max().unwrap_or(0);
        let before = spans.iter().map(|span| span.0).filter(|line| *line > end).min().unwrap_or(usize::MAX);
        let above =
            commands.iter().rev().find(|c| c.line > after && c.line < begin && begin - c.line <= LINES_MAX);
        let below = commands.iter().find(|c| c.line > end && c.line < before && c.line - end <= LINES_MAX);
        if let Some(command) = above.or(below).filter(|_| may_lack(table)) {
            give(table, command);
        }
    }
}

fn span(table: &Table) -> (usize, usize) {
    (table.line, table.rows.iter().map(|row| row.line).max().unwrap_or(table.line))
}

fn command(line: usize, text: &str) -> Option<Command> {
    let found = COMMAND.captures(text)?;
    let options = &found[2];
    let one = |pattern: &Regex| Some(pattern.captures(options)?[1].to_owned());
    // hey's and wrk's lengths without a unit are seconds.
    let length =
        one(&LENGTH).map(|text| if text.ends_with(|c: char| c.is_ascii_digit()) { text + "s" } else { text });
    let command = Command {
        line,
        text: format!("{} {}", &found[1], options.trim_end_matches(['`', '\\', ' '])),
        connections: one(&CONNECTIONS),
        length,
    };
    (command.connections.is_some() || command.length.is_some()).then_some(command)
}

/// Whether it is a table of results that says nothing of how many connections or requests there were.
fn may_lack(table: &Table) -> bool {
    let kinds: Vec<Kind> = table
        .columns
        .iter()
        .filter_map(|column| column.kind.or_else(|| header::guess(&column.name).map(|guess| guess.kind)))
        .collect();
    let has = |kind| kinds.contains(&kind);
    let has_results = has(Kind::Throughput) || kinds.iter().any(|kind| kind.is_latency());
    let settings = [Kind::Connections, Kind::Offered, Kind::Threads, Kind::Time];
    table.form != AuditForm::ToolOutput && has_results && !settings.into_iter().any(has)
}

fn give(table: &mut Table, command: &Command) {
    let given = [(Kind::Connections, &command.connections), (Kind::Duration, &command.length)];
    for (kind, value) in given {
        let Some(value) = value else { continue };
        let name = format!("{} of the command", kind.name());
        table.columns.push(TextColumn { is_assumed: true, ..TextColumn::known(name, kind) });
        table.rows.iter_mut().for_each(|row| row.cells.push(value.clone()));
    }
    table.notes.push(format!(
        "taken from line {}: {}; --given connections=N says otherwise",
        command.line,
        shown(&command.text)
    ));
}

#[cfg(test)]
mod tests {
    use crate::kind::Kind;
    use crate::read::{InputForm, Table, read};

    fn tables(text: &str) -> Vec<Table> {
        read(text, InputForm::Auto).unwrap().tables
    }

    #[test]
    fn the_command_above_a_table_gives_its_connections() {
        let text = "We ran\n\n  wrk -t10 -c1000 -d30s http://localhost:8080/ping\n\n| name | QPS |\n|-|-|\n| gin | 5 |\n";
        let table = &tables(text)[0];
        let added: Vec<_> =
            table.columns[2..].iter().map(|column| (column.kind, column.is_assumed)).collect();
        assert_eq!(added, [(Some(Kind::Connections), true), (Some(Kind::Duration), true)]);
        assert_eq!(table.rows[0].cells, ["gin", "5", "1000", "30s"]);
        assert!(table.notes[0].contains("line 3: wrk -t10 -c1000"), "{:?}", table.notes);
    }

    #[test]
    fn a_table_with_settings_of_its_own_takes_none() {
        let text = "hey -c 500 -z 30s http://x/\n\n| c | QPS |\n|-|-|\n| 10 | 5 |\n";
        assert_eq!(tables(text)[0].columns.len(), 2);
    }

    #[test]
    fn each_table_has_the_command_of_its_own() {
        let table = |name: &str| format!("| name | p99 ms |\n|-|-|\n| {name} | 5 |\n");
        let text = format!(
            "$ ab -n 10 -c 4 http://x/\n\n{}\nthen\n\n{}\nby `hey -c 8 -n 5 u`\n",
            table("a"),
            table("b")
        );
        let found = tables(&text);
        assert_eq!(found[0].rows[0].cells, ["a", "5", "4"]);
        assert_eq!(found[1].rows[0].cells, ["b", "5", "8"], "the one above is beyond another table");
    }

    #[test]
    fn words_are_no_commands() {
        let text = "we like wrk -very much, and a crab -c 5 crabs\n\n| name | QPS |\n|-|-|\n| gin | 5 |\n";
        assert_eq!(tables(text)[0].columns.len(), 2);
    }
}
