//! What the user's screen can show.

use rustix::termios::tcgetwinsize;
use std::io::{IsTerminal, stderr, stdout};

/// Colours and width for text on standard output.
pub(crate) fn style() -> report::Style {
    let width = tcgetwinsize(stdout()).map_or(report::Style::PLAIN.width, |size| size.ws_col);
    report::Style { color: stdout().is_terminal() && colors_wanted(), width }
}

/// Whether progress may be drawn in place on standard error.
pub(crate) fn is_live() -> bool {
    stderr().is_terminal() && !is_dumb()
}

/// Whether the terminal obeys no escape sequence.
fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Columns and rows of the terminal that progress is drawn on; 80 × 24 where it does not say.
pub(crate) fn size() -> (u16, u16) {
    let size = tcgetwinsize(stderr()).ok().filter(|size| size.ws_col > 0 && size.ws_row > 0);
    size.map_or((80, 24), |size| (size.ws_col, size.ws_row))
}

/// <https://no-color.org>: any value but the empty one switches colours off. A dumb terminal has none.
pub(crate) fn colors_wanted() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) && !is_dumb()
}
