//! Colour for terminals: text is marked while it is laid out and coloured when it is finished.
//!
//! Invariants: the marks are invisible characters of width zero, so that wrapping and table layout count columns
//! rightly; [`crate::clean`] removes them from all foreign text, so only this crate can set them; without colour
//! nothing of them remains; every line ends without colour.

use crate::Style;

/// What a piece of text means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Headings and the number that matters most.
    Strong,
    /// As it should be.
    Good,
    /// Weakens a result.
    Warn,
    /// Spoils a result.
    Bad,
    /// Beside the point.
    Quiet,
}

const END: char = '\u{2064}';

impl Tone {
    const ALL: [Self; 5] = [Self::Strong, Self::Good, Self::Warn, Self::Bad, Self::Quiet];

    const fn mark(self) -> char {
        match self {
            Self::Strong => '\u{206b}',
            Self::Good => '\u{2061}',
            Self::Warn => '\u{2062}',
            Self::Bad => '\u{2063}',
            Self::Quiet => '\u{206a}',
        }
    }

    /// Select Graphic Rendition (ECMA-48 §8.3.117): attributes and the eight basic colours, which every theme sets.
    const fn escape(self) -> &'static str {
        match self {
            Self::Strong => "\x1b[1m",
            Self::Good => "\x1b[32m",
            Self::Warn => "\x1b[33m",
            Self::Bad => "\x1b[31m",
            Self::Quiet => "\x1b[2m",
        }
    }
}

/// Marks `text`; it should be short enough not to be wrapped.
pub(crate) fn paint(tone: Tone, text: &str) -> String {
    format!("{}{text}{END}", tone.mark())
}

/// Replaces the marks by colours, or by nothing, and removes trailing spaces.
pub(crate) fn finish(text: &str, style: Style) -> String {
    let mut finished = String::with_capacity(text.len());
    for line in text.lines() {
        let mut open = false;
        for c in line.trim_end().chars() {
            match Tone::ALL.into_iter().find(|tone| tone.mark() == c) {
                Some(tone) if style.color => {
                    finished.push_str(tone.escape());
                    open = true;
                }
                Some(_) => {}
                None if c == END => {
                    if open {
                        finished.push_str("\x1b[0m");
                    }
                    open = false;
                }
                None => finished.push(c),
            }
        }
        finished.push_str(if open { "\x1b[0m\n" } else { "\n" });
    }
    finished
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_become_colours_or_vanish() {
        let text = format!("{} and plain  \n{}", paint(Tone::Good, "yes"), Tone::Bad.mark());
        assert_eq!(finish(&text, Style::PLAIN), "yes and plain\n\n");
        let coloured = finish(&text, Style { color: true, width: 80 });
        assert_eq!(coloured, "\x1b[32myes\x1b[0m and plain\n\x1b[31m\x1b[0m\n");
    }

    #[test]
    fn marks_take_no_columns() {
        for tone in Tone::ALL {
            assert_eq!(textwrap::core::display_width(&paint(tone, "word")), 4, "{tone:?}");
            assert_ne!(crate::clean::line(&tone.mark().to_string()), tone.mark().to_string());
        }
    }
}
