//! Makes text from outside harmless, one function for each place it may stand in.
//!
//! Invariants: every function first removes control, bidirectional and invisible characters, so no escape sequence
//! reaches a terminal, no character that XML forbids reaches an SVG, and [`crate::terminal::paint`] can use invisible
//! characters as its own marks. HTML escaping is askama's and the SVG library's work and is not repeated here.

use crate::format::NONE;
use schema::json::is_unseen;

/// Shown in place of a character that must not pass.
const REPLACEMENT: char = '\u{fffd}';

/// One line of text for a screen: white space becomes a space, other control and invisible characters become `�`.
#[must_use]
pub fn clean_line(text: &str) -> String {
    line(text)
}

/// Several lines of text for a screen: as [`clean_line`], but line ends stay and tabs become four spaces.
#[must_use]
pub fn clean_lines(text: &str) -> String {
    lines(text)
}

/// One line of text: white space becomes a space, other control and invisible characters become `�`.
pub(crate) fn line(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_whitespace() { ' ' } else { visible(c) })
        .collect::<String>()
        .trim()
        .to_owned()
}

/// Several lines: as [`line()`], but line ends stay and tabs become four spaces.
pub(crate) fn lines(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for c in text.replace("\r\n", "\n").chars() {
        match c {
            '\n' => clean.push('\n'),
            '\t' => clean.push_str("    "),
            ' ' => clean.push(' '),
            c => clean.push(visible(c)),
        }
    }
    clean.trim_end().to_owned()
}

/// Text that keeps its lines and tabs, for where layout is another's: each character that must not pass is replaced.
pub(crate) fn text(text: String) -> String {
    let keeps = |c: char| matches!(c, '\n' | '\t') || visible(c) == c;
    // Nearly all texts need nothing.
    if text.chars().all(keeps) {
        return text;
    }
    text.replace("\r\n", "\n").chars().map(|c| if keeps(c) { c } else { REPLACEMENT }).collect()
}

/// Markdown prose in which nothing of `text` acts: no emphasis, link, image, HTML, table cell or bare URL.
pub(crate) fn markdown(text: &str) -> String {
    let text = line(text);
    let mut escaped = String::with_capacity(text.len() + 8);
    for (index, c) in text.char_indices() {
        let special = match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '~' | '&' | '@' | '$' => true,
            // Bare URLs become links in GitHub's dialect.
            ':' => text[index..].starts_with("://"),
            '.' => text[..index].to_ascii_lowercase().ends_with("www"),
            '!' => text[index + 1..].starts_with('['),
            // A list, heading or rule, where the text begins a line.
            '#' | '+' | '-' | '=' => index == 0,
            _ => false,
        } || begins_list(&text, index, c);
        if special {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// Whether `c` at `index` ends the number of an ordered list: `1. ` or `1) `.
fn begins_list(text: &str, index: usize, c: char) -> bool {
    let numbered = index > 0 && text[..index].bytes().all(|b| b.is_ascii_digit());
    let ends = text[index + c.len_utf8()..].chars().next().is_none_or(|next| next == ' ');
    matches!(c, '.' | ')') && numbered && ends
}

/// A Markdown code span for a name, also inside a table cell; a missing name is a dash.
pub(crate) fn markdown_code(text: &str) -> String {
    let text = line(text).replace('`', "'").replace('|', "\\|");
    if text.is_empty() || text == NONE { NONE.to_owned() } else { format!("`{text}`") }
}

/// A Markdown code block whose fence is longer than any run of backticks within.
pub(crate) fn markdown_block(text: &str) -> String {
    let text = lines(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    format!("{fence}\n{text}\n{fence}\n")
}

/// A CSV field that no spreadsheet takes for a formula: text that begins like one gets a leading apostrophe.
///
/// Source: OWASP, "CSV Injection".
pub(crate) fn csv_field(text: &str) -> String {
    let text = line(text);
    let formula = text.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
    if formula && text.parse::<f64>().is_err() { format!("'{text}") } else { text }
}

/// At most `max` characters, the last one `…` where text was cut off.
pub(crate) fn cut(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    text.chars().take(max.saturating_sub(1)).chain(['…']).collect()
}

fn visible(c: char) -> char {
    if is_unseen(c) { REPLACEMENT } else { c }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(clean: fn(&str) -> String, table: &[(&str, &str)]) {
        for (input, expected) in table {
            assert_eq!(clean(input), *expected, "for {input:?}");
        }
    }

    #[test]
    fn control_and_invisible_characters_do_not_pass() {
        check(
            line,
            &[
                ("a\x1b[31mred\x1b[0m", "a�[31mred�[0m"),
                ("one\r\ntwo\tthree\u{2028}four", "one  two three four"),
                ("\u{9b}31m \u{7f} \0", "�31m � �"),
                ("\u{202e}txt.exe\u{2066}\u{200b}\u{feff}\u{2061}", "�txt.exe����"),
                ("Größe 大小 🙂", "Größe 大小 🙂"),
            ],
        );
        check(lines, &[("a\r\n\tb\x1bc\n\n", "a\n    b�c")]);
    }

    #[test]
    fn markdown_text_is_inert() {
        check(
            markdown,
            &[
                ("<script>alert(1)</script>", "\\<script\\>alert(1)\\</script\\>"),
                ("[x](javascript:y) ![i](z)", "\\[x\\](javascript:y) \\!\\[i\\](z)"),
                ("a|b `c` *d* _e_", "a\\|b \\`c\\` \\*d\\* \\_e\\_"),
                (
                    "see https://evil.example and www.evil.example",
                    "see https\\://evil.example and www\\.evil.example",
                ),
                ("# head", "\\# head"),
                ("1. list", "1\\. list"),
                ("1) list", "1\\) list"),
                ("line\n# head", "line # head"),
                ("4.1 % faster (95 %)", "4.1 % faster (95 %)"),
                ("by 4.1 %", "by 4.1 %"),
            ],
        );
        check(markdown_code, &[("a`b|c\nd", "`a'b\\|c d`"), ("", "–")]);
        check(markdown_block, &[("x ```` y", "`````\nx ```` y\n`````\n"), ("x", "```\nx\n```\n")]);
    }

    #[test]
    fn formulas_become_text() {
        check(
            csv_field,
            &[
                ("=1+1", "'=1+1"),
                ("@SUM(A1)", "'@SUM(A1)"),
                ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
                ("-2+3", "'-2+3"),
                (" \t=1", "'=1"),
                ("-2.5", "-2.5"),
                ("plain = text", "plain = text"),
            ],
        );
    }

    #[test]
    fn cutting_counts_characters() {
        assert_eq!(cut("größer", 6), "größer");
        assert_eq!(cut("größer", 4), "grö…");
    }
}
