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
    stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// <https://no-color.org>: any value but the empty one switches colours off.
fn colors_wanted() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
