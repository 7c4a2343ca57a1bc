//! libFuzzer dictionaries (`fuzz/dictionaries/*.dict`), so that the short run knows the same words as the long one.
//!
//! Format: a line is empty, a comment after `#`, or `name="text"` with the name left out at will; in the text `\\`,
//! `\"` and `\xHH` stand for a byte, and every other character is printable ASCII or a blank. One line that breaks it
//! makes libFuzzer refuse the whole file and end (`ParseDictionaryFile` in FuzzerUtil.cpp), and it drops longer words
//! than [`WORD_BYTES_MAX`] without a word.

/// Longest word that libFuzzer takes (`Word` in FuzzerDictionary.h).
pub const WORD_BYTES_MAX: usize = 64;

/// The words of a dictionary.
///
/// # Errors
/// The first line that is no entry.
pub fn parse(text: &str) -> Result<Vec<Vec<u8>>, String> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| word(line).ok_or_else(|| line.to_owned()))
        .collect()
}

fn word(line: &str) -> Option<Vec<u8>> {
    let is_text = |byte: u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace() || byte == b'\x0b';
    let quoted = &line[line.find('"')?..];
    if !quoted.bytes().all(is_text) {
        return None;
    }
    let mut rest = quoted.strip_prefix('"')?.strip_suffix('"')?.as_bytes();
    let mut word = Vec::new();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match (first, after) {
            (b'\\', [b'x', high, low, after @ ..]) => {
                let digit = |byte: &u8| (*byte as char).to_digit(16);
                word.push((digit(high)? * 16 + digit(low)?) as u8);
                rest = after;
            }
            (b'\\', [escaped @ (b'\\' | b'"'), after @ ..]) => {
                word.push(*escaped);
                rest = after;
            }
            (b'\\', _) => return None,
            (byte, _) => word.push(*byte),
        }
    }
    (1..=WORD_BYTES_MAX).contains(&word.len()).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_comments_and_escapes() {
        let text = "# words\n\nname=\"a\\x0d\\x0Ab\"\n\"\\\"q\\\\\"\n";
        assert_eq!(parse(text), Ok(vec![b"a\r\nb".to_vec(), b"\"q\\".to_vec()]));
        let long = format!("\"{}\"", "x".repeat(WORD_BYTES_MAX + 1));
        for wrong in ["word", "\"\"", "\"\\y\"", "\"\\x0\"", "\"open", "\"平均\"", "\"\u{7f}\"", &long] {
            assert_eq!(parse(wrong), Err(wrong.to_owned()));
        }
    }
}
