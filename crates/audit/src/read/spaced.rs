//! Tables whose bars were lost when an article was copied: a header and rows with one space between the cells.
//!
//! A row ends in figures; what stands before them is its label, which may hold spaces. The header is then cut into as
//! many columns as the row has cells, so that most of its pieces are known columns (`P99 latency (ms)` is one piece).
//! Invariants: only in articles, and only where two columns are known and two rows follow; the first line that does not
//! fit ends the table, and never the text.

use super::{COLUMNS_MAX, ROWS_MAX, TABLES_MAX, Table, TextColumn, TextRow, is_known, lines};
use schema::audit::AuditForm;

/// Longest header in words.
const WORDS_MAX: usize = 16;
/// Fewest rows: one line of figures is prose.
const ROWS_MIN: usize = 2;

/// All such tables of a text; none where there is none.
pub(super) fn read(text: &str) -> Vec<Table> {
    let all: Vec<(usize, &str)> = lines(text).collect();
    let mut tables = Vec::new();
    let mut at = 0;
    while at + ROWS_MIN < all.len() && tables.len() < TABLES_MAX {
        match table(&all[at..]) {
            Some(table) => {
                at += table.rows.len() + 1;
                tables.push(table);
            }
            None => at += 1,
        }
    }
    tables
}

fn table(lines: &[(usize, &str)]) -> Option<Table> {
    let (number, head) = lines[0];
    // What holds bars or commas between cells is read as such.
    if head.contains(['|', '\t']) || cells(head).is_some() {
        return None;
    }
    let first = cells(lines[1].1)?;
    let columns = header(head, first.len())?;
    let rows: Vec<TextRow> = lines[1..]
        .iter()
        .take(ROWS_MAX)
        .map_while(|(line, text)| {
            let cells = cells(text).filter(|cells| cells.len() == columns.len())?;
            Some(TextRow { line: *line, cells })
        })
        .collect();
    (rows.len() >= ROWS_MIN).then(|| Table {
        form: AuditForm::Aligned,
        line: number,
        columns: columns.into_iter().map(TextColumn::named).collect(),
        rows,
        notes: vec![
            "its cells stand one space apart: the figures at the end of a row were taken for its cells"
                .to_owned(),
        ],
        tool: None,
    })
}

/// A label and the figures that end the row; `None` without two figures, or with nothing before them.
fn cells(line: &str) -> Option<Vec<String>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let figures = words.iter().rev().take_while(|word| is_figure(word)).count();
    // A label that is a figure itself, such as a number of connections.
    let figures = if figures == words.len() { figures.saturating_sub(1) } else { figures };
    if !(2..COLUMNS_MAX).contains(&figures) {
        return None;
    }
    let (label, figures) = words.split_at(words.len() - figures);
    let label = std::iter::once(label.join(" "));
    Some(label.chain(figures.iter().map(|figure| (*figure).to_owned())).collect())
}

/// `9.8ms`, `98,432`, `63%`, `+10.7%`, `~40`.
fn is_figure(word: &str) -> bool {
    word.trim_start_matches(['+', '-', '~', '≈', '<', '>', '±']).starts_with(|c: char| c.is_ascii_digit())
}

/// The header cut into so many pieces that most of them are known; at least two.
fn header(line: &str, count: usize) -> Option<Vec<String>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    if !(count..=WORDS_MAX).contains(&words.len()) {
        return None;
    }
    let cuts = Cuts::of(&words, count - 1);
    // The first piece is the label's and counts for nothing; of equals the shortest is taken.
    let labels = (1..words.len()).filter(|length| !is_unit(words[*length]));
    let known = labels.filter_map(|length| Some((cuts.known(length)?, length)));
    let (known, label) = known.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
    (known >= 2).then(|| std::iter::once(words[..label].join(" ")).chain(cuts.pieces(label)).collect())
}

/// A unit in brackets belongs to the word before it.
fn is_unit(word: &str) -> bool {
    word.starts_with(['(', '（'])
}

/// The best cuts of every end of a header: from each word on, into each number of pieces, the one with most known pieces,
/// of equals the one with the shortest first piece. A table, so that the work grows with the square of the words.
struct Cuts<'w> {
    words: &'w [&'w str],
    /// By pieces and first word: how many are known, and the words of the first piece.
    best: Vec<Vec<Option<(usize, usize)>>>,
}

impl<'w> Cuts<'w> {
    fn of(words: &'w [&'w str], pieces: usize) -> Self {
        let n = words.len();
        let known: Vec<Vec<bool>> = (0..n)
            .map(|from| (from + 1..=n).map(|to| is_known(&words[from..to].join(" "))).collect())
            .collect();
        let mut best = vec![vec![None; n + 1]];
        best[0][n] = Some((0, 0));
        for count in 1..=pieces {
            let from = |start: usize| {
                let mut found: Option<(usize, usize)> = None;
                for length in 1..=n - start {
                    let splits_unit = words.get(start + length).is_some_and(|next| is_unit(next));
                    let Some((rest, _)) = best[count - 1][start + length].filter(|_| !splits_unit) else {
                        continue;
                    };
                    let all = rest + usize::from(known[start][length - 1]);
                    if found.is_none_or(|(most, _)| all > most) {
                        found = Some((all, length));
                    }
                }
                found
            };
            let row = (0..=n).map(|start| if start < n { from(start) } else { None }).collect();
            best.push(row);
        }
        Self { words, best }
    }

    /// Known pieces of the best cut from a word on.
    fn known(&self, start: usize) -> Option<usize> {
        Some(self.best.last()?[start]?.0)
    }

    fn pieces(&self, start: usize) -> Vec<String> {
        let mut start = start;
        let mut pieces = Vec::new();
        for row in self.best.iter().skip(1).rev() {
            let Some((_, length)) = row[start] else { break };
            pieces.push(self.words[start..start + length].join(" "));
            start += length;
        }
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_one(text: &str) -> (Vec<String>, Vec<Vec<String>>) {
        let mut tables = read(text);
        assert_eq!(tables.len(), 1, "{text}");
        let table = tables.remove(0);
        let names = table.columns.into_iter().map(|column| column.name).collect();
        (names, table.rows.into_iter().map(|row| row.cells).collect())
    }

    #[test]
    fn cells_one_space_apart_are_read_with_labels_and_headers_that_hold_spaces() {
        let (names, rows) = read_one(
            "Results\n框架 平均QPS P99延迟(ms) 内存常驻(MB)\nnet/http 12,400 28.6 14.2\nGin 28,900 16.3 21.7\n\nThe end",
        );
        assert_eq!(names, ["框架", "平均QPS", "P99延迟(ms)", "内存常驻(MB)"]);
        assert_eq!(rows[1], ["Gin", "28,900", "16.3", "21.7"]);
        let (names, rows) =
            read_one("框架 吞吐量 (req/s) P99 延迟 (ms)\nNetty 98,500 12.3\nSpring WebFlux 87,200 26.7\n");
        assert_eq!(names, ["框架", "吞吐量 (req/s)", "P99 延迟 (ms)"]);
        assert_eq!(rows[1], ["Spring WebFlux", "87,200", "26.7"]);
    }

    #[test]
    fn prose_with_figures_is_no_table() {
        for text in [
            "throughput and p99 were measured\nwe saw 5 6\nand then nothing\n",
            "QPS p99\n1 2 3 4 5\nnothing\n",
            "QPS p99 mean\nGin 5 6\n",
            "one two three\na 1 2\nb 3 4\n",
            "| QPS | p99 |\n| 1 | 2 |\n| 3 | 4 |\n",
        ] {
            assert!(read(text).is_empty(), "{text}");
        }
    }
}
