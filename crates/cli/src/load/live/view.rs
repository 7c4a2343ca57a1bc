//! The view as a buffer of cells, from 40 to 200 columns; on a low terminal the least important rows are left out.

use super::class_words;
use super::state::State;
use crate::view::{NAME, row, sparkline};
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Style, Stylize};
use ratatui_core::text::{Line, Span};
use ratatui_core::widgets::Widget;
use ratatui_widgets::sparkline::Sparkline;
use report::format;
use schema::load::LatencySummary;
use schema::trial::Phase;
use units::Nanos;

/// Rows of the bars that show how times are spread.
const BARS_HEIGHT: u16 = 4;
/// Narrowest and widest view in columns.
const WIDTHS: (u16, u16) = (40, 200);

/// The view for a terminal of `width` × `height` cells. The last column and the last row stay free.
pub(super) fn render(state: &State, width: u16, height: u16) -> Buffer {
    let width = width.clamp(WIDTHS.0, WIDTHS.1) - 1;
    let tall = height >= 20;
    let spark_height = if tall { 2 } else { 1 };
    // Bars and the line below them, which says where they begin and end.
    let bars_height = if tall { BARS_HEIGHT + 1 } else { 0 };
    let mut rows = rows(state, usize::from(width));
    // Sparklines, the clock, rates and times matter most.
    let room = usize::from(height.saturating_sub(1 + 2 * spark_height + bars_height)).max(3);
    while rows.len() > room {
        let least = (0..rows.len()).max_by_key(|index| rows[*index].0).unwrap_or(0);
        rows.remove(least);
    }
    let text_height = rows.len() as u16;
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, text_height + 2 * spark_height + bars_height));
    for (y, (_, line)) in (0..).zip(rows) {
        buffer.set_line(0, y, &line, width);
    }
    let rate_max = state.rates.iter().max().map_or_else(String::new, |max| format::rate(*max as f64));
    let p99_max = state.p99s.iter().max().map_or_else(String::new, |max| format::nanos(*max));
    let area = |index: u16| Rect::new(0, text_height + index * spark_height, width, spark_height);
    sparkline(&mut buffer, area(0), "answers/s", &state.rates, &rate_max, Color::Cyan);
    sparkline(&mut buffer, area(1), "p99", &state.p99s, &p99_max, Color::Yellow);
    if tall {
        histogram(&mut buffer, Rect::new(0, text_height + 2 * spark_height, width, bars_height), state);
    }
    buffer
}

/// How response times so far are spread: bars over bins that are equally wide on a log scale, from the fastest to the
/// slowest.
fn histogram(buffer: &mut Buffer, area: Rect, state: &State) {
    let left = NAME as u16 + 1;
    let columns = area.width.saturating_sub(left);
    let style = Style::new().dim();
    buffer.set_stringn(area.x, area.y, "spread", NAME, style);
    let Some((low, high)) = state.range() else { return };
    let bars = Rect { x: area.x + left, width: columns, height: BARS_HEIGHT, ..area };
    let bins = state.bins(usize::from(columns));
    Sparkline::default().data(bins).style(Style::new().fg(Color::Cyan)).render(bars, buffer);
    let (low, high) = (format::nanos(low), format::nanos(high));
    let y = area.y + BARS_HEIGHT;
    buffer.set_stringn(area.x + left, y, &low, usize::from(columns), style);
    let width = high.chars().count() as u16;
    if low.chars().count() as u16 + 1 + width <= columns {
        buffer.set_stringn(area.x + area.width - width, y, &high, usize::from(width), style);
    }
}

/// Rows with their rank: the highest goes first where room is short.
fn rows(state: &State, width: usize) -> Vec<(u8, Line<'static>)> {
    let wide = width >= 60;
    let mut rows = vec![
        (0, title(state, width)),
        (4, bar(state, width)),
        (1, row("rate", rates(state, wide))),
        (2, row("requests", requests(state, wide))),
    ];
    rows.extend(state.messages.iter().map(|words| (2, row("messages", vec![Span::from(words.clone())]))));
    rows.extend(times(state, width).into_iter().zip([3, 1, 1]).map(|(line, rank)| (rank, line)));
    rows.push((6, row("status", status(state))));
    rows.push((3, row("failed", errors(state))));
    rows.push((7, row("instrument", instrument(state, wide))));
    if state.has_keys {
        rows.push((5, row("keys", keys(state))));
    }
    rows
}

/// What is loaded to the left, the time to the right.
fn title(state: &State, width: usize) -> Line<'static> {
    let seconds =
        |time: Nanos| format::setting(time.0 / 1_000_000_000 * 1_000_000_000).replace("0 ns", "0 s");
    let elapsed = seconds(state.elapsed);
    let time = match (state.length, state.requests_max) {
        (Some(length), _) => {
            let whole = Nanos(state.elapsed.0 / 1_000_000_000 * 1_000_000_000);
            format!("{elapsed} of {}, {} left", seconds(length), seconds(length.since(whole)))
        }
        (None, Some(requests)) => {
            format!(
                "{elapsed}, {} of {}",
                format::count(state.answers() + state.failed),
                format::count(requests)
            )
        }
        (None, None) => elapsed,
    };
    let phase = match state.phase {
        Some(Phase::Warmup) => "warm-up  ",
        Some(Phase::Drain) => "drain  ",
        _ => "",
    };
    let right = format!("{phase}{time}");
    let room = width.saturating_sub(right.chars().count() + 2);
    let mut what: String = state.what.chars().filter(|c| !c.is_control()).take(room).collect();
    if state.what.chars().count() > room {
        what.pop();
        what.push('…');
    }
    let gap = " ".repeat(width.saturating_sub(what.chars().count() + right.chars().count()));
    Line::from(vec![Span::from(what).bold(), Span::from(gap), Span::from(right)])
}

/// How much of the load is over.
fn bar(state: &State, width: usize) -> Line<'static> {
    let share = match (state.length, state.requests_max) {
        (Some(length), _) => state.elapsed.0 as f64 / length.0.max(1) as f64,
        (None, Some(requests)) => (state.answers() + state.failed) as f64 / requests.max(1) as f64,
        (None, None) => 0.0,
    };
    let done = ((share.clamp(0.0, 1.0) * width as f64) as usize).min(width);
    Line::from(vec![Span::from("━".repeat(done)).green(), Span::from("─".repeat(width - done)).dim()])
}

fn rates(state: &State, wide: bool) -> Vec<Span<'static>> {
    let mut spans = vec![Span::from(format::rate(state.rate_now)).bold(), Span::from(" now")];
    if let Some(asked) = state.rate_asked {
        spans.push(Span::from(format!(", {} asked", format::rate(asked))));
    }
    if wide || state.rate_asked.is_none() {
        spans.push(Span::from(format!(", {} so far", format::rate(state.rate_so_far()))));
    }
    spans
}

fn requests(state: &State, wide: bool) -> Vec<Span<'static>> {
    let backlog = Span::from(format!("{} waiting", format::count(state.backlog)));
    let backlog = if state.backlog > state.asked { backlog.yellow() } else { backlog };
    let mut spans = vec![Span::from(format!("{} right, ", format::count(state.answers())))];
    spans.push(Span::from(format!("{} in flight, ", format::count(state.in_flight))));
    spans.push(backlog);
    if wide {
        let open =
            format!(", {} of {} connections", format::count(state.established), format::count(state.asked));
        let open = Span::from(open);
        spans.push(if state.established < state.asked { open.yellow() } else { open });
    }
    spans
}

/// A header and two rows of response times; p90 is left out where the columns would touch.
fn times(state: &State, width: usize) -> [Line<'static>; 3] {
    let (now, far) = (&state.now, state.so_far());
    let shown = |ns: Option<u64>| ns.map_or_else(|| format::NONE.to_owned(), format::nanos);
    let all = [
        ("p50", shown(now.p50), bounded(&far, "p50", far.p50)),
        ("p90", shown(now.p90), bounded(&far, "p90", far.p90)),
        ("p99", shown(now.p99), bounded(&far, "p99", far.p99)),
        ("max", shown(now.max), bounded(&far, "max", far.max)),
    ];
    let kept: Vec<_> = all.into_iter().filter(|(name, ..)| width >= 50 || *name != "p90").collect();
    let column = ((width - NAME - 1) / kept.len()).clamp(8, 12);
    let cells = |of: fn(&(&str, String, String)) -> String| -> String {
        kept.iter().map(|value| format!("{:>column$}", of(value))).collect()
    };
    [
        row("response", vec![Span::from(cells(|(name, ..)| (*name).to_owned())).dim()]),
        row("  now", vec![Span::from(cells(|(_, now, _)| now.clone()))]),
        row("  so far", vec![Span::from(cells(|(.., far)| far.clone())).bold()]),
    ]
}

/// `≥ x` for what lies among requests that never ended, a dash for what has too few requests yet.
fn bounded(summary: &LatencySummary, key: &str, value: Option<u64>) -> String {
    match (summary.at_least.get(key), value) {
        (Some(bound), _) => format!("≥{}", format::nanos(*bound)),
        (None, Some(value)) => format::nanos(value),
        (None, None) => format::NONE.to_owned(),
    }
}

fn status(state: &State) -> Vec<Span<'static>> {
    if state.status.is_empty() {
        return vec![Span::from(format::NONE)];
    }
    let mut spans = Vec::new();
    for (code, n) in &state.status {
        let gap = if spans.is_empty() { "" } else { ", " };
        let span = Span::from(format!("{gap}{code} × {}", format::count(*n)));
        spans.push(if *code >= 400 { span.red() } else { span });
    }
    spans
}

fn errors(state: &State) -> Vec<Span<'static>> {
    if state.failed == 0 {
        return vec![Span::from("0")];
    }
    let mut spans = vec![Span::from(format::count(state.failed)).red().bold()];
    let mut classes: Vec<_> = state.errors.iter().collect();
    classes.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
    for (index, (class, n)) in classes.into_iter().enumerate() {
        let gap = if index == 0 { ": " } else { ", " };
        spans.push(Span::from(format!("{gap}{} × {}", class_words(*class), format::count(*n))).red());
    }
    spans
}

fn keys(state: &State) -> Vec<Span<'static>> {
    match state.is_paused {
        true => vec![Span::from("paused: p goes on").yellow(), Span::from(", q ends and reports").dim()],
        false => vec![Span::from("q ends and reports, p pauses the display").dim()],
    }
}

fn instrument(state: &State, wide: bool) -> Vec<Span<'static>> {
    let lag = state.pacer_lag_p99.map_or_else(|| format::NONE.to_owned(), format::nanos);
    let mut text = format!("pacer lag p99 {lag}");
    if wide {
        let again = state.connects.saturating_sub(state.established);
        text += &format!(", {}", format::counted(again, "reconnect"));
    }
    vec![Span::from(text).dim()]
}
