//! The view of a run as a buffer of cells, from 40 to 100 columns; on a low terminal the least important rows are left
//! out.

use super::state::State;
use super::words::{self, span};
use crate::view::{NAME, row, sparkline};
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Stylize};
use ratatui_core::text::{Line, Span};
use report::format;
use schema::trial::Phase;

/// Narrowest and widest view in columns.
const WIDTHS: (u16, u16) = (40, 100);
/// Rows of the sparklines.
const SPARKS: u16 = 2;

/// The view for a terminal of `width` × `height` cells. The last column and the last row stay free.
pub(super) fn render(state: &State, now_ns: u64, width: u16, height: u16) -> Buffer {
    let width = width.clamp(WIDTHS.0, WIDTHS.1) - 1;
    let mut rows = rows(state, now_ns, usize::from(width));
    let sparks = if state.rates.is_empty() { 0 } else { SPARKS };
    let room = usize::from(height.saturating_sub(1 + sparks)).max(2);
    while rows.len() > room {
        let least = (0..rows.len()).max_by_key(|index| rows[*index].0).unwrap_or(0);
        rows.remove(least);
    }
    let text_height = rows.len() as u16;
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, text_height + sparks));
    for (y, (_, line)) in (0..).zip(rows) {
        buffer.set_line(0, y, &line, width);
    }
    if sparks > 0 {
        let max = |values: &std::collections::VecDeque<u64>| values.iter().max().copied().unwrap_or(0);
        let area = |index: u16| Rect::new(0, text_height + index, width, 1);
        let (rate, p99) = (format::rate(max(&state.rates) as f64), format::nanos(max(&state.p99s)));
        sparkline(&mut buffer, area(0), "answers/s", &state.rates, &rate, Color::Cyan);
        sparkline(&mut buffer, area(1), "p99", &state.p99s, &p99, Color::Yellow);
    }
    buffer
}

/// Rows with their rank: the highest goes first where room is short.
fn rows(state: &State, now_ns: u64, width: usize) -> Vec<(u8, Line<'static>)> {
    if state.trials == 0 {
        return vec![(0, Line::from(Span::from(fitted(&state.doing, width)).dim()))];
    }
    let mut rows = vec![
        (4, Line::from(Span::from(fitted(&state.question, width)).bold())),
        (2, bar(state.share(now_ns), width)),
        (0, counts(state, now_ns, width)),
    ];
    if state.is_running() {
        rows.push((1, trial(state, width)));
        rows.push((3, row("now", numbers(state))));
    } else {
        rows.push((1, Line::from(Span::from(fitted(&state.doing, width)).dim())));
    }
    if !state.found.is_empty() {
        let causes = fitted(&words::causes(&state.found), width.saturating_sub(NAME + 1));
        rows.push((5, row("found", vec![Span::from(causes).yellow()])));
    }
    rows
}

fn bar(share: f64, width: usize) -> Line<'static> {
    let done = ((share * width as f64) as usize).min(width);
    Line::from(vec![Span::from("━".repeat(done)).green(), Span::from("─".repeat(width - done)).dim()])
}

/// How many trials are over and how they ended to the left, the time left to the right.
fn counts(state: &State, now_ns: u64, width: usize) -> Line<'static> {
    let mut spans = vec![Span::from(format!("{} of {} trials", state.done, state.trials))];
    let wide = width >= 60;
    for (count, word) in [(state.valid, "valid"), (state.void, "void"), (state.failed, "failed")] {
        let span = Span::from(format!(", {count} {word}"));
        match word {
            _ if count == 0 => {}
            "valid" if !wide => {}
            "void" => spans.push(span.yellow()),
            "failed" => spans.push(span.red()),
            _ => spans.push(span),
        }
    }
    let about = if wide { "about " } else { "" };
    let left = state.left_ns(now_ns).map_or_else(String::new, |left| format!("{about}{} left", span(left)));
    split(spans, Span::from(left), width)
}

/// The present trial to the left, its phase to the right.
fn trial(state: &State, width: usize) -> Line<'static> {
    let phase = match (state.phase, state.sample) {
        (Some(Phase::Warmup), _) => "warm-up".to_owned(),
        (Some(Phase::Drain), _) => "drain".to_owned(),
        (Some(Phase::Sample), Some(sample)) => format!("sample {sample}"),
        (Some(Phase::Sample), None) => "sample".to_owned(),
        (None, _) => "starting".to_owned(),
    };
    let room = width.saturating_sub(phase.chars().count() + 2);
    split(vec![Span::from(fitted(&state.label, room))], Span::from(phase).dim(), width)
}

fn numbers(state: &State) -> Vec<Span<'static>> {
    if state.phase.is_none() {
        return vec![Span::from(format::NONE)];
    }
    let time = |ns: Option<u64>| ns.map_or_else(|| format::NONE.to_owned(), format::nanos);
    let mut spans = vec![
        Span::from(format!("{:>11}", format::rate(state.rate_now))).bold(),
        Span::from(format!("   p50 {:>8}   p99 {:>8}", time(state.p50_ns), time(state.p99_ns))),
    ];
    if state.errors > 0 {
        spans.push(Span::from(format!("   {} failed", format::count(state.errors))).red());
    }
    spans
}

/// One part to the left, the other to the right.
fn split(mut left: Vec<Span<'static>>, right: Span<'static>, width: usize) -> Line<'static> {
    let used: usize = left.iter().map(Span::width).sum::<usize>() + right.width();
    left.push(Span::from(" ".repeat(width.saturating_sub(used).max(1))));
    left.push(right);
    Line::from(left)
}

/// At most so many columns, the last one `…` where text was cut off.
fn fitted(text: &str, columns: usize) -> String {
    if Span::from(text).width() <= columns {
        return text.to_owned();
    }
    let mut kept = String::new();
    for c in text.chars() {
        kept.push(c);
        if Span::from(kept.as_str()).width() >= columns {
            kept.pop();
            break;
        }
    }
    kept + "…"
}
