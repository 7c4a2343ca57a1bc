//! Draws a frame over the last one, without the alternate screen and without asking the terminal anything.
//!
//! A frame is written whole, from the first row of the last frame on, so that what a user typed meanwhile is drawn
//! over. Where the window has become narrower the terminal has wrapped the last frame's rows; it is taken into account.
//! Control sequences are those of ECMA-48; the synchronised update (`?2026`) is ignored where it is unknown.

use ratatui_core::buffer::Buffer;
use ratatui_core::style::{Color, Modifier};
use std::fmt::Write as _;

/// What of the last frame is on the screen.
#[derive(Debug, Default)]
pub(crate) struct Inline {
    /// Columns used by each row of the last frame.
    rows: Vec<u16>,
}

impl Inline {
    /// The bytes that replace the last frame by `buffer` on a terminal of `width` columns.
    pub(crate) fn frame(&mut self, buffer: &Buffer, colors: bool, width: u16) -> String {
        let mut text = String::from("\x1b[?2026h");
        text += &self.back(width);
        self.rows.clear();
        for y in 0..buffer.area.height {
            let (row, used) = row(buffer, y, colors);
            text += &row;
            text += "\n";
            self.rows.push(used);
        }
        text + "\x1b[?2026l"
    }

    /// The bytes that take the last frame away. The cursor is then where the frame began.
    pub(crate) fn clear(&mut self) -> String {
        let width = crate::screen::size().0;
        let text = self.back(width);
        self.rows.clear();
        text
    }

    /// To the first row of the last frame, and everything below erased.
    fn back(&self, width: u16) -> String {
        let width = width.max(1);
        let physical: u32 = self.rows.iter().map(|used| u32::from((*used).max(1).div_ceil(width))).sum();
        match physical {
            0 => String::new(),
            up => format!("\r\x1b[{up}A\x1b[J"),
        }
    }
}

/// One row as text, and the columns it takes; trailing blanks are left out.
fn row(buffer: &Buffer, y: u16, colors: bool) -> (String, u16) {
    let area = buffer.area;
    let used = (0..area.width).rev().find(|x| buffer[(*x, y)].symbol() != " ").map_or(0, |x| x + 1);
    let mut text = String::new();
    let mut painted = (Color::Reset, Modifier::empty());
    for x in 0..used {
        let cell = &buffer[(x, y)];
        let paint = (cell.fg, cell.modifier);
        if colors && paint != painted {
            text += &sgr(paint);
            painted = paint;
        }
        text += cell.symbol();
    }
    if painted != (Color::Reset, Modifier::empty()) {
        text += "\x1b[0m";
    }
    (text, used)
}

/// Select Graphic Rendition for the few styles that the view uses; themes set the basic colours.
fn sgr((color, modifier): (Color, Modifier)) -> String {
    let mut codes = String::from("0");
    for (bit, code) in [(Modifier::BOLD, 1), (Modifier::DIM, 2)] {
        if modifier.contains(bit) {
            let _ = write!(codes, ";{code}");
        }
    }
    let color = match color {
        Color::Red => Some(31),
        Color::Green => Some(32),
        Color::Yellow => Some(33),
        Color::Blue => Some(34),
        Color::Cyan => Some(36),
        _ => None,
    };
    if let Some(color) = color {
        let _ = write!(codes, ";{color}");
    }
    format!("\x1b[{codes}m")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui_core::style::Style;

    #[test]
    fn a_frame_replaces_the_last_one_also_after_the_window_shrank() {
        let mut screen = Inline::default();
        let mut buffer = Buffer::with_lines(["abcdefgh", "ij", ""]);
        buffer.set_style(ratatui_core::layout::Rect::new(0, 1, 2, 1), Style::new().red().bold());
        assert_eq!(screen.frame(&buffer, false, 80), "\x1b[?2026habcdefgh\nij\n\n\x1b[?2026l");
        // Eight columns on a terminal of five are two rows.
        let next = screen.frame(&buffer, true, 5);
        assert!(next.starts_with("\x1b[?2026h\r\x1b[4A\x1b[Jabcdefgh\n"), "{next:?}");
        assert!(next.contains("\n\x1b[0;1;31mij\x1b[0m\n"), "{next:?}");
        let end = screen.clear();
        assert!(end.starts_with("\r\x1b[") && end.ends_with("A\x1b[J"), "{end:?}");
        assert_eq!(screen.clear(), "", "nothing is left to clear");
    }
}
