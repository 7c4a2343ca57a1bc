//! The answer of a soak in words: one row for each counter that was read.

use crate::words::{self, Word};
use crate::{clean, format};
use schema::soak::{SoakCounter, SoakReport, SoakTrend};

/// What the table shows.
pub(crate) const ABOUT: &str = "Of each window the lowest reading counts. A leak needs a rising trend (Mann–Kendall \
    with Hamed and Rao's correction, p < 0.01), a slope whose lower end reaches the limit within the horizon \
    (Theil–Sen), and a line that beats a curve that levels off (ΔBIC > 6). Trends never cross a restart of the target.";

/// The columns after name and class.
pub(crate) const HEADER: [&str; 5] = ["First", "Last", "An hour", "p", "Exhausted in"];

/// The answer of a soak.
pub(crate) struct SoakView {
    /// `480 of 480 windows of 1.00 min, horizon 80 h`.
    pub(crate) about: String,
    pub(crate) trends: Vec<TrendView>,
    pub(crate) notes: Vec<String>,
}

/// One counter.
pub(crate) struct TrendView {
    pub(crate) name: &'static str,
    pub(crate) class: Word,
    pub(crate) text: String,
    /// First, last, slope with interval, p, time to exhaustion with interval.
    pub(crate) values: [String; 5],
}

pub(crate) fn view(soak: &SoakReport) -> SoakView {
    SoakView {
        about: format!(
            "{} of {} windows of {}, horizon {}, {}",
            format::count(soak.windows.into()),
            format::count(soak.windows_planned.into()),
            format::setting(soak.window_ns),
            format::setting(soak.horizon_ns),
            format::counted(soak.segments.len() as u64, "segment")
        ),
        trends: soak.trends.iter().map(trend).collect(),
        notes: soak.notes.iter().map(|note| clean::line(note)).collect(),
    }
}

fn trend(trend: &SoakTrend) -> TrendView {
    let amount = |value: Option<f64>| value.map_or_else(none, |value| held(trend.counter, value));
    let slope = match (trend.slope_per_h, trend.slope_low_per_h, trend.slope_high_per_h) {
        (Some(slope), Some(low), Some(high)) => format!(
            "{} ({} … {})",
            held(trend.counter, slope),
            held(trend.counter, low),
            held(trend.counter, high)
        ),
        _ => none(),
    };
    let exhausted = trend.exhausted_in_ns.map_or_else(none, |ns| {
        let end = |ns: Option<u64>| ns.map_or_else(|| "never".to_owned(), format::nanos);
        format!(
            "{} ({} … {})",
            format::nanos(ns),
            end(trend.exhausted_in_low_ns),
            end(trend.exhausted_in_high_ns)
        )
    });
    TrendView {
        name: trend.counter.title(),
        class: words::soak(trend.class),
        text: clean::line(&trend.text),
        values: [
            amount(trend.first),
            amount(trend.last),
            slope,
            trend.p_value.map_or_else(none, format::p_value),
            exhausted,
        ],
    }
}

/// A value of a counter in its unit.
#[must_use]
pub fn held(counter: SoakCounter, value: f64) -> String {
    let text = match counter {
        SoakCounter::Memory | SoakCounter::Heap => format::bytes(value.abs()),
        SoakCounter::P50 | SoakCounter::P99 | SoakCounter::CpuPerRequest => format::duration(value.abs()),
        SoakCounter::FullGcs => format!("{}/h", format::plain(value.abs())),
        SoakCounter::Throughput => format::rate(value.abs()),
        _ => format::plain(value.abs()),
    };
    if value < 0.0 { format!("−{text}") } else { text }
}

fn none() -> String {
    format::NONE.to_owned()
}
