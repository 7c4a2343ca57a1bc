//! The evidence of one counter in a sentence.

use super::judge::{Judged, Series, Slope, Why};
use super::{ALPHA, WINDOWS_MIN};
use crate::words::{bytes, count, duration, number};
use schema::soak::{SoakCounter, SoakLimit};

const HOUR_NS: f64 = 3.6e12;

/// A counter as the subject of a sentence, of which everything is said in the singular.
pub(super) fn subject(counter: SoakCounter) -> String {
    match counter {
        SoakCounter::Descriptors
        | SoakCounter::Threads
        | SoakCounter::Goroutines
        | SoakCounter::Connections => {
            format!("the number of {}", counter.words())
        }
        _ => counter.words().to_owned(),
    }
}

/// A value of a counter with its unit.
pub(super) fn amount(counter: SoakCounter, value: f64) -> String {
    let sign = if value < 0.0 { "-" } else { "" };
    let text = match counter {
        SoakCounter::Memory | SoakCounter::Heap => bytes(value.abs()),
        SoakCounter::P50 | SoakCounter::P99 => duration(value.abs()),
        SoakCounter::Throughput => format!("{} per second", number(value.abs())),
        _ => number(value.abs()),
    };
    format!("{sign}{text}")
}

/// Hours as people say them: `45 s`, `12 min`, `3.5 h`, `4.2 days`.
pub(super) fn hours(hours: f64) -> String {
    match hours {
        long if long >= 48.0 => format!("{} days", number(long / 24.0)),
        usual if usual >= 1.0 => format!("{} h", number(usual)),
        short if short >= 1.0 / 60.0 => format!("{} min", number(short * 60.0)),
        _ => format!("{} s", number(hours * 3600.0)),
    }
}

/// A length of time in nanoseconds.
pub(super) fn span(ns: u64) -> String {
    hours(ns as f64 / HOUR_NS)
}

pub(super) fn evidence(counter: SoakCounter, series: &Series, judged: &Judged, horizon_ns: u64) -> String {
    let mut text = claim(counter, series, judged, horizon_ns);
    if judged.after_steps > 0 {
        text += &format!(" (judged after the step at window {})", judged.after_steps + 1);
    }
    text
}

fn claim(counter: SoakCounter, series: &Series, judged: &Judged, horizon_ns: u64) -> String {
    let windows = count(judged.windows, "window");
    let (Some((first, last)), Some(slope)) = (judged.ends, judged.slope) else {
        return without_slope(counter, judged, &windows);
    };
    let rise = rise(counter, slope);
    let horizon = span(horizon_ns);
    let limit = limit_words(counter, series.limit.as_ref());
    match &judged.why {
        Why::Line | Why::ShapeOpen | Why::MayReach | Why::TooSlow => {
            let time = time_words(judged, series, slope);
            let end = match judged.why {
                Why::Line => format!("reaches {limit} in {time}"),
                Why::ShapeOpen => format!(
                    "would reach {limit} in {time}, but {} explains it about as well as a line: run longer",
                    harmless(judged)
                ),
                Why::MayReach => {
                    format!("reaches {limit} in {time}, which may or may not be within {horizon}: run longer")
                }
                _ => format!("reaches {limit} in {time}, after the horizon of {horizon}"),
            };
            format!("{rise} over {windows} and {end}")
        }
        Why::NoTrend if judged.class == schema::soak::SoakClass::Steady => {
            let seen = smallest(counter, judged);
            let (p, now) = (p_words(slope.p_value), amount(counter, last));
            // The noise has a long memory: it passes the trend test, and no line explains it better than a level.
            let none = if slope.p_value < ALPHA { "wanders without a line" } else { "no trend" };
            format!("{none} over {windows} ({p}), at {now} now{seen}")
        }
        Why::TooUncertain => format!(
            "no trend is shown over {windows} ({}), but at the upper end of its slope, {} an hour, it would reach \
             {limit} within {horizon}: run longer, or set a shorter horizon",
            p_words(slope.p_value),
            amount(counter, slope.high)
        ),
        Why::NoLimit => format!(
            "{rise} over {windows}, and no limit could be read to hold it against: give the target a limit in the \
             experiment file"
        ),
        Why::LevelsOff => levels_off(counter, judged, &limit, &windows),
        Why::Staircase => format!(
            "rose in {} from {} to {} over {windows} and is level since: more steps may come, so run longer",
            count(judged.shapes.as_ref().map_or(0, |shapes| shapes.step_at.len()), "step"),
            amount(counter, first),
            amount(counter, last)
        ),
        Why::Drift => format!(
            "{rise} over {windows}, from {} to {} ({})",
            amount(counter, first),
            amount(counter, last),
            p_words(slope.p_value)
        ),
        _ => without_slope(counter, judged, &windows),
    }
}

fn without_slope(counter: SoakCounter, judged: &Judged, windows: &str) -> String {
    match &judged.why {
        Why::Constant => {
            let value = judged.ends.map_or_else(String::new, |ends| amount(counter, ends.1));
            format!("{value} in all of {windows}{}", smallest(counter, judged))
        }
        Why::Refused(why) => format!("no trend can be given over {windows}: {why}"),
        _ => {
            format!("{WINDOWS_MIN} windows of one start are needed, there are {}: run longer", judged.windows)
        }
    }
}

/// What a steady counter can still hide.
fn smallest(counter: SoakCounter, judged: &Judged) -> String {
    judged.smallest_seen_per_h.map_or_else(String::new, |rise| {
        format!("; a leak of {} an hour would have been seen", amount(counter, rise))
    })
}

/// `rises by 12 MiB an hour (95 % interval 11 to 13 MiB, p < 0.001)`, without the interval's level, which is the plan's.
fn rise(counter: SoakCounter, slope: Slope) -> String {
    let verb = if slope.per_h < 0.0 { "falls" } else { "rises" };
    let (near, far) = if slope.per_h < 0.0 { (-slope.high, -slope.low) } else { (slope.low, slope.high) };
    format!(
        "{verb} by {} an hour (interval {} to {}, {})",
        amount(counter, slope.per_h.abs()),
        amount(counter, near),
        amount(counter, far),
        p_words(slope.p_value)
    )
}

fn p_words(p_value: f64) -> String {
    if p_value < 0.001 { "p < 0.001".to_owned() } else { format!("p = {p_value:.3}") }
}

fn limit_words(counter: SoakCounter, limit: Option<&SoakLimit>) -> String {
    limit.map_or("a limit".to_owned(), |limit| {
        format!("its limit of {} ({})", amount(counter, limit.value), limit.source)
    })
}

/// `3.2 h (3 h to 3.5 h)`; the later end is open where the slope may be 0.
fn time_words(judged: &Judged, series: &Series, slope: Slope) -> String {
    let at = |slope: f64| judged.hours_to(series.limit.as_ref(), slope);
    let end = |slope: f64| at(slope).map_or("never".to_owned(), hours);
    format!("{} ({} to {})", end(slope.per_h), end(slope.high), end(slope.low))
}

/// The harmless shape that fits best.
fn harmless(judged: &Judged) -> &'static str {
    let Some(shapes) = &judged.shapes else { return "something harmless" };
    let all = [
        (shapes.filling, "a curve that levels off below the limit"),
        (shapes.steps, "a step"),
        (shapes.wave, "a slow wave"),
    ];
    all.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).map_or("something harmless", |(_, name)| name)
}

fn levels_off(counter: SoakCounter, judged: &Judged, limit: &str, windows: &str) -> String {
    let Some(curve) = judged.shapes.as_ref().map(|shapes| shapes.curve) else { return windows.to_owned() };
    let below = if limit == "a limit" { String::new() } else { format!(", below {limit}") };
    format!(
        "fills up over {windows} from {} towards {}{below}: 63 % of what is left each {}",
        amount(counter, curve.start),
        amount(counter, curve.plateau()),
        hours(curve.time_constant)
    )
}
