//! Paragraphs and tables of terminal text.
//!
//! Invariant: no line is wider than the columns given, except for a number or word that is wider by itself.

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, presets};
use textwrap::{Options, WordSeparator, WordSplitter};

/// How a column is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    /// Text, wrapped where room is short.
    Text,
    /// A short word that is never wrapped.
    Word,
    /// A number, to the right and never wrapped.
    Number,
}

/// Wraps `text` to `columns`; the first line begins with `first`, the others with as many spaces.
pub(crate) fn paragraph(first: &str, text: &str, columns: usize) -> String {
    let indent = " ".repeat(textwrap::core::display_width(first));
    // Only at spaces: names, paths and options stay whole.
    let options = Options::new(columns)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .initial_indent(first)
        .subsequent_indent(&indent);
    textwrap::fill(&bound(text), options).replace(NO_BREAK, " ") + "\n"
}

/// Each line of `text` in at most `columns` columns, broken between words; what goes on is indented.
#[must_use]
pub fn wrapped(text: &str, columns: usize) -> String {
    let options = Options::new(columns.max(20))
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .subsequent_indent("    ");
    let lines = text.lines().map(|line| textwrap::fill(&bound(line), &options).replace(NO_BREAK, " "));
    lines.collect::<Vec<_>>().join("\n")
}

/// Stands for a space that is not to be broken at; [`crate::clean`] leaves none in foreign text.
const NO_BREAK: char = '\u{a0}';

/// Binds numbers to their units.
fn bound(text: &str) -> String {
    const UNITS: [&str; 9] = ["%", "ns", "µs", "ms", "s", "min", "KiB", "MiB", "GiB"];
    let mut words = text.split(' ');
    let mut bound = words.next().unwrap_or_default().to_owned();
    for word in words {
        let unit = UNITS.contains(&word.trim_end_matches([',', ';', '.', ':', ')']));
        bound.push(if unit && bound.ends_with(|c: char| c.is_ascii_digit()) { NO_BREAK } else { ' ' });
        bound.push_str(word);
    }
    bound
}

/// A table without lines, indented by two spaces; the header is quiet.
pub(crate) fn table(header: &[(&str, Align)], rows: &[Vec<String>], columns: usize) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(u16::try_from(columns.saturating_sub(1)).unwrap_or(u16::MAX));
    if header.iter().any(|(name, _)| !name.is_empty()) {
        table.set_header(header.iter().map(|(name, _)| *name));
    }
    table.add_rows(rows);
    for (index, (_, align)) in header.iter().enumerate() {
        let Some(column) = table.column_mut(index) else { continue };
        column.set_padding((1, 1));
        if *align == Align::Number {
            column.set_cell_alignment(CellAlignment::Right);
        }
        if *align != Align::Text {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    table.lines().map(|line| format!(" {}\n", line.trim_end())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_with_their_units() {
        let text = paragraph("- ", "an interval (4.2 % to 5.2 %), at most 20 s of it", 16);
        assert_eq!(text, "- an interval\n  (4.2 % to\n  5.2 %), at\n  most 20 s of\n  it\n");
    }

    #[test]
    fn names_are_not_split() {
        assert_eq!(paragraph("", "use go/echo and --no-pin", 12), "use go/echo\nand --no-pin\n");
    }

    #[test]
    fn tables_wrap_text_but_not_numbers() {
        let rows = [vec!["a long name of a cell".to_owned(), "1,234/s".to_owned()]];
        let text = table(&[("", Align::Text), ("rate", Align::Number)], &rows, 24);
        assert_eq!(text, "                   rate\n  a long name   1,234/s\n  of a cell\n");
    }

    #[test]
    fn lines_break_between_words_and_go_on_indented() {
        let text = "1/10 trial 1: one, 1,000/s, p50 8.00 ms, valid\nnext";
        assert_eq!(wrapped(text, 40), "1/10 trial 1: one, 1,000/s, p50 8.00 ms,\n    valid\nnext");
        assert_eq!(wrapped("the p50 of it is 8.00 ms", 20), "the p50 of it is\n    8.00 ms");
        assert_eq!(wrapped("", 40), "");
    }
}
