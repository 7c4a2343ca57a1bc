//! libFuzzer dictionaries (`fuzz/dictionaries/*.dict`), so that the short run knows the same words as the long one.
//!
//! Format: a line is empty, a comment after `#`, or `name="text"` with the name left out at will; in the text `\\`,
//! `\"` and `\xHH` stand for a byte.

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
    let quoted = &line[line.find('"')?..];
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
    (!word.is_empty()).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_comments_and_escapes() {
        let text = "# words\n\nname=\"a\\x0d\\x0Ab\"\n\"\\\"q\\\\\"\n";
        assert_eq!(parse(text), Ok(vec![b"a\r\nb".to_vec(), b"\"q\\".to_vec()]));
        for wrong in ["word", "\"\"", "\"\\y\"", "\"\\x0\"", "\"open"] {
            assert_eq!(parse(wrong), Err(wrong.to_owned()));
        }
    }
}
