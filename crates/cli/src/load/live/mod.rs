//! Progress of `prony load` on standard error: a view in place on a terminal, else one line a second, or nothing.
//!
//! Invariants: nothing goes to standard output; the terminal's mode is changed by `keys` alone, while the view is
//! shown; what cannot be written is given up in silence, because progress is never worth a result.

mod keys;
mod state;
mod view;

use crate::args::ResultArgs;
use crate::screen;
use crate::view::Inline;
use analyze::quantile_floor;
use engine::IntervalData;
use keys::{Key, Keys};
use plan::LoadJob;
use report::format;
use schema::load::ErrorClass;
use schema::trial::{IntervalLine, MessageInterval, Phase};
use state::State;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use units::{Clock, MonotonicClock, Nanos};

/// How often the view is drawn while no interval ends, so that its clock runs.
const REDRAW: Duration = Duration::from_millis(250);

/// Connections from which on it is said that they are being opened.
const OPENING_SHOWN: u64 = 2_000;

/// Progress in one of its forms.
pub(super) enum Progress {
    View(Box<View>),
    Lines,
    Quiet,
}

/// The view in place.
pub(super) struct View {
    state: State,
    screen: Inline,
    colors: bool,
    clock: Option<MonotonicClock>,
    drawn: Option<Instant>,
    keys: Option<Keys>,
    is_paused: bool,
}

impl Progress {
    pub(super) fn new(args: &ResultArgs, job: &LoadJob) -> Self {
        if args.quiet {
            return Self::Quiet;
        }
        if args.no_tui || !screen::is_live() {
            return Self::Lines;
        }
        Self::View(Box::new(View {
            state: State::new(job),
            screen: Inline::default(),
            colors: screen::colors_wanted(),
            clock: None,
            drawn: None,
            keys: None,
            is_paused: false,
        }))
    }

    /// Says that connections are about to be opened, where that takes long enough for people to wonder; a view shows
    /// how far it is instead.
    pub(super) fn begins(&self, job: &LoadJob) {
        if job.connections() >= OPENING_SHOWN && matches!(self, Self::Lines) {
            let count = format::count(job.connections());
            let _ = writeln!(std::io::stderr(), "opening {count} connections …");
        }
    }

    /// So many connections are open.
    pub(super) fn opening(&self, opened: u64) {
        if let Self::View(view) = self {
            let words = opening_words(opened, view.state.asked);
            let _ = write!(std::io::stderr(), "\r\x1b[2K{words}");
        }
    }

    pub(super) fn connected(&mut self, asked: u64, established: u64) {
        if let Self::View(view) = self {
            let _ = write!(std::io::stderr(), "\r\x1b[2K");
            view.state.connected(asked, established);
        }
    }

    pub(super) fn begun(&mut self, clock: MonotonicClock) {
        if let Self::View(view) = self {
            view.clock = Some(clock);
            view.keys = Keys::listen();
            view.state.has_keys = view.keys.is_some();
            view.draw();
        }
    }

    /// Draws the view where it is due and hears keys; one of them sets `stop`, as a signal does.
    pub(super) fn waiting(&mut self, stop: &AtomicBool) {
        let Self::View(view) = self else { return };
        match view.keys.as_ref().and_then(Keys::pressed) {
            Some(Key::End) => stop.store(true, Ordering::Relaxed),
            Some(Key::Pause) => view.pause(),
            None => {}
        }
        if stop.load(Ordering::Relaxed) {
            view.keys = None;
        }
        if view.drawn.is_none_or(|drawn| drawn.elapsed() >= REDRAW) {
            view.draw();
        }
    }

    pub(super) fn interval(&mut self, line: &IntervalLine, data: &IntervalData) {
        match self {
            Self::View(view) => {
                view.state.interval(line, data);
                view.draw();
            }
            Self::Lines => {
                let _ = writeln!(std::io::stderr(), "{}", line_words(line));
            }
            Self::Quiet => {}
        }
    }

    /// Takes the view away, so that the result stands in its place.
    pub(super) fn finish(&mut self) {
        if let Self::View(view) = self {
            view.keys = None;
            let _ = std::io::stderr().write_all(view.screen.clear().as_bytes());
        }
    }
}

impl View {
    /// Holds the display still, or lets it go on. The load runs on either way.
    fn pause(&mut self) {
        self.is_paused = false;
        self.state.is_paused = !self.state.is_paused;
        self.draw();
        self.is_paused = self.state.is_paused;
    }

    fn draw(&mut self) {
        if self.is_paused {
            return;
        }
        self.state.elapsed = self.clock.map_or(Nanos::ZERO, |clock| clock.now());
        let (width, height) = screen::size();
        let buffer = view::render(&self.state, width, height);
        let frame = self.screen.frame(&buffer, self.colors, width);
        let _ = std::io::stderr().write_all(frame.as_bytes());
        self.drawn = Some(Instant::now());
    }
}

/// How far the opening of connections is: `opening connections: 3,400 of 14,000`.
fn opening_words(opened: u64, asked: u64) -> String {
    format!("opening connections: {} of {}", format::count(opened), format::count(asked))
}

/// One interval as a line: end, rate, times, failures, what waits.
fn line_words(line: &IntervalLine) -> String {
    if line.phase == Some(Phase::Drain) {
        return drain_words(line);
    }
    let length_ns = line.end_ns.saturating_sub(line.start_ns).max(1);
    let rate = line.completed as f64 * 1e9 / length_ns as f64;
    let time = |ns: Option<u64>, quantile: f64| {
        let given = ns.filter(|_| line.completed >= quantile_floor(quantile));
        given.map_or_else(|| format::NONE.to_owned(), format::nanos)
    };
    let failed: u64 = line.failed.values().sum();
    let mut text = format!(
        "{:>7} {:>12}  p50 {:>8}  p99 {:>8}  {} failed",
        format::setting(line.end_ns / 1_000_000 * 1_000_000),
        format::rate(rate),
        time(line.p50_ns, 0.5),
        time(line.p99_ns, 0.99),
        format::count(failed),
    );
    let worst = line.failed.iter().max_by_key(|(_, n)| **n).map(|(class, _)| class);
    if let Some(class) = worst {
        text += &format!(" ({})", class_words(*class));
    }
    if line.backlog > 0 {
        text += &format!(", backlog {}", format::count(line.backlog));
    }
    if let Some(messages) = &line.messages {
        text += &format!(", messages {}", message_words(messages, length_ns));
    }
    match line.phase {
        Some(Phase::Warmup) => text + "  warm-up",
        _ => text,
    }
}

/// Messages of an interval: `480/s completed, 490/s received, gap p99 7.00 ms`.
fn message_words(messages: &MessageInterval, length_ns: u64) -> String {
    let rate = |count: u64| format::rate(count as f64 * 1e9 / length_ns.max(1) as f64);
    let gap = messages.gap_p99_ns.filter(|_| messages.received >= quantile_floor(0.99));
    let gap = gap.map_or_else(String::new, |ns| format!(", gap p99 {}", format::nanos(ns)));
    format!("{} completed, {} received{gap}", rate(messages.completed), rate(messages.received))
}

/// The drain has no load, so it has no rate and no times: what came in it, and how long it took.
fn drain_words(line: &IntervalLine) -> String {
    let failed: u64 = line.failed.values().sum();
    format!(
        "  drain {:>12}  {} answered, {} failed, {} left after the load",
        format::nanos(line.end_ns.saturating_sub(line.start_ns)),
        format::count(line.completed),
        format::count(failed),
        format::count(line.in_flight.saturating_add(line.backlog))
    )
}

fn class_words(class: ErrorClass) -> String {
    class.key().replace('_', " ")
}

#[cfg(test)]
mod tests;
