//! What the views of `prony load` and `prony run` share: a frame drawn in place, its rows and its sparklines.

mod inline;

pub(crate) use inline::Inline;

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Style, Stylize};
use ratatui_core::text::{Line, Span};
use ratatui_core::widgets::Widget;
use ratatui_widgets::sparkline::Sparkline;
use std::collections::VecDeque;

/// Columns of the names at the left.
pub(crate) const NAME: usize = 10;

/// A row with its name before it.
pub(crate) fn row(name: &str, mut spans: Vec<Span<'static>>) -> Line<'static> {
    spans.insert(0, Span::from(format!("{name:<NAME$} ")).dim());
    Line::from(spans)
}

/// The newest intervals to the right, with the highest value beside them.
pub(crate) fn sparkline(
    buffer: &mut Buffer,
    area: Rect,
    name: &str,
    values: &VecDeque<u64>,
    max: &str,
    color: Color,
) {
    let left = NAME as u16 + 1;
    let right = 14;
    buffer.set_stringn(area.x, area.y, name, NAME, Style::new().dim());
    let plot = Rect { x: area.x + left, width: area.width.saturating_sub(left + right), ..area };
    let shown = values.len().min(usize::from(plot.width));
    let newest: Vec<u64> = values.iter().skip(values.len() - shown).copied().collect();
    Sparkline::default().data(newest).style(Style::new().fg(color)).render(plot, buffer);
    if !max.is_empty() {
        buffer.set_stringn(
            plot.right() + 1,
            area.y,
            format!("≤ {max}"),
            usize::from(right) - 1,
            Style::new().dim(),
        );
    }
}

/// How a line that stays is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Not at all.
    Plain,
    /// As something to look at.
    Warn,
    /// As something that went wrong.
    Bad,
}

/// `text` with the codes of its colour around it.
pub(crate) fn painted(tone: Tone, text: &str) -> String {
    match tone {
        Tone::Plain => text.to_owned(),
        Tone::Warn => format!("\x1b[33m{text}\x1b[0m"),
        Tone::Bad => format!("\x1b[31m{text}\x1b[0m"),
    }
}
