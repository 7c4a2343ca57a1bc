//! JSON text that is safe to show: what a terminal or an editor obeys instead of showing is written as its escape.
//!
//! Invariant: reading the text gives the same value, so nothing of a foreign text is lost. Outside of strings JSON is
//! ASCII without control characters other than blanks, so every character that is found belongs to a string.

use serde::Serialize;
use std::fmt::Write as _;

/// Whether a terminal or an editor obeys `c`, or shows nothing for it: control characters (also C1: U+0080 to U+009F),
/// direction marks, embeddings, overrides and isolates, and characters without a width.
///
/// Blanks and line ends are control characters, too; who lays out text looks for them first.
#[must_use]
pub fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// `value` as JSON on one line.
///
/// # Errors
/// Those of serde: a map with keys that are no texts.
pub fn line(value: &(impl Serialize + ?Sized)) -> serde_json::Result<String> {
    serde_json::to_string(value).map(escape)
}

/// `value` as JSON for people, with a line end behind it.
///
/// # Errors
/// As [`line()`].
pub fn pretty(value: &(impl Serialize + ?Sized)) -> serde_json::Result<String> {
    serde_json::to_string_pretty(value).map(|text| escape(text) + "\n")
}

/// Escapes what must not be shown as it is, in a text that is JSON.
#[must_use]
pub fn escape(json: String) -> String {
    let is_kept = |c: char| matches!(c, '\n' | '\r' | '\t') || !is_unseen(c);
    // Nearly all texts need nothing.
    if json.is_ascii() && !json.contains('\u{7f}') || json.chars().all(is_kept) {
        return json;
    }
    let mut escaped = String::with_capacity(json.len() + 64);
    for c in json.chars() {
        if is_kept(c) {
            escaped.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(escaped, "\\u{unit:04x}");
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_escaped_and_nothing_is_lost() {
        let text = "a\u{1b}[1m\u{9b}31m\u{7f}\u{85}\u{202e}x\u{2066}\u{200b}\u{feff}\u{e0041}\u{2028}é 大 🙂\n\t\"\\";
        for json in [line(&text).unwrap(), pretty(&text).unwrap()] {
            assert!(json.trim_end().chars().all(|c| !is_unseen(c)), "{json:?}");
            assert!(
                json.contains("\\u009b31m") && json.contains("\\u202ex") && json.contains("大 🙂"),
                "{json}"
            );
            assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }
        assert_eq!(pretty(&["x"]).unwrap(), "[\n  \"x\"\n]\n");
    }
}
