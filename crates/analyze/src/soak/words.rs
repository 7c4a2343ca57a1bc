//! The evidence of one counter in a sentence.

use super::judge::{Judged, Series, Slope, Why};
use super::segment::SegmentData;
use super::terms::{ALPHA, WINDOWS_MIN};
use crate::words::{Noun, bytes, count, duration, number};
use schema::said;
use schema::said::{Joint, Said};
use schema::soak::{FULL_GC_CAUSE, SoakCounter, SoakLimit};
use std::collections::BTreeMap;

const HOUR_NS: f64 = 3.6e12;

/// A counter as the subject of a sentence, of which everything is said in the singular.
pub(super) fn subject(counter: SoakCounter) -> Said {
    match counter {
        SoakCounter::Descriptors
        | SoakCounter::Threads
        | SoakCounter::Goroutines
        | SoakCounter::Connections => {
            said!("soak.words.number", "the number of {what}", what = counter.words())
        }
        _ => counter.words(),
    }
}

/// A value of a counter with its unit.
pub(super) fn amount(counter: SoakCounter, value: f64) -> String {
    let sign = if value < 0.0 { "-" } else { "" };
    let text = match counter {
        SoakCounter::Memory | SoakCounter::Heap => bytes(value.abs()),
        SoakCounter::P50 | SoakCounter::P99 | SoakCounter::CpuPerRequest => duration(value.abs()),
        SoakCounter::Throughput => format!("{} per second", number(value.abs())),
        SoakCounter::FullGcs => format!("{} per hour", number(value.abs())),
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

pub(super) fn evidence(counter: SoakCounter, series: &Series, judged: &Judged, horizon_ns: u64) -> Said {
    let text = claim(counter, series, judged, horizon_ns);
    if judged.after_steps == 0 {
        return text;
    }
    let step = judged.after_steps + 1;
    said!(
        "soak.words.judged_after_step_window",
        "{text} (judged after the step at window {step})",
        text,
        step
    )
}

/// With how many full collections each cause had, where the JVM reports it: `…; by cause: system gc 12, ergonomics 3`.
pub(super) fn with_causes(text: Said, segments: &[&SegmentData]) -> Said {
    let mut causes: BTreeMap<&str, f64> = BTreeMap::new();
    for (key, counter) in segments.iter().flat_map(|segment| &segment.windows).flat_map(|line| &line.counters)
    {
        if let Some(cause) = key.strip_prefix(FULL_GC_CAUSE) {
            *causes.entry(cause).or_default() += counter.value;
        }
    }
    let mut causes: Vec<(&str, f64)> = causes.into_iter().filter(|(_, count)| *count > 0.0).collect();
    if causes.is_empty() {
        return text;
    }
    causes.sort_by(|a, b| b.1.total_cmp(&a.1));
    let one = |(of, count): (&str, f64)| {
        said!("soak.words.of_cause", "{cause} {count}", cause = cause(of), count = number(count))
    };
    let causes = Said::list(Joint::Comma, causes.into_iter().map(one));
    said!("soak.words.with_causes", "{text}; by cause: {causes}", text, causes)
}

/// A cause as the counters of the JVM name it (`collect::runtimes::jvm`).
fn cause(name: &str) -> Said {
    match name {
        "system_gc" => said!("soak.cause.system_gc", "System.gc()"),
        "ergonomics" => said!("soak.cause.ergonomics", "resizing of the heap"),
        "compaction" => said!("soak.cause.compaction", "compaction"),
        "allocation" => said!("soak.cause.allocation", "a failed allocation"),
        "metadata" => said!("soak.cause.metadata", "metadata"),
        "diagnostic" => said!("soak.cause.diagnostic", "a diagnostic command"),
        "heap_dump" => said!("soak.cause.heap_dump", "a heap dump"),
        "unknown" => said!("soak.cause.unknown", "an unknown cause"),
        _ => said!("soak.cause.other", "another cause"),
    }
}

fn claim(counter: SoakCounter, series: &Series, judged: &Judged, horizon_ns: u64) -> Said {
    let windows = count(judged.windows, Noun::Window);
    let (Some((first, last)), Some(slope)) = (judged.ends, judged.slope) else {
        return without_slope(counter, judged, windows);
    };
    let rise = rise(counter, slope);
    let horizon = span(horizon_ns);
    let limit = limit_words(counter, series.limit.as_ref());
    match &judged.why {
        Why::Line | Why::ShapeOpen | Why::MayReach | Why::TooSlow => {
            let time = time_words(judged, series, slope);
            let end = match judged.why {
                Why::Line => said!("soak.words.reaches", "reaches {limit} in {time}", limit, time),
                Why::ShapeOpen => said!(
                    "soak.words.would_reach_but_explains",
                    "would reach {limit} in {time}, but {shape} explains it about as well as a \
                     line: run longer",
                    limit,
                    time,
                    shape = harmless(judged)
                ),
                Why::MayReach => {
                    said!(
                        "soak.words.reaches_which_may_may",
                        "reaches {limit} in {time}, which may or may not be within {horizon}: \
                         run longer",
                        limit,
                        time,
                        horizon
                    )
                }
                _ => said!(
                    "soak.words.reaches_after_horizon",
                    "reaches {limit} in {time}, after the horizon of {horizon}",
                    limit,
                    time,
                    horizon
                ),
            };
            said!("soak.words.over", "{rise} over {windows} and {end}", rise, windows, end)
        }
        Why::NoTrend if judged.class == schema::soak::SoakClass::Steady => {
            let seen = smallest(counter, judged);
            let (p, now) = (p_words(slope.p_value), amount(counter, last));
            // The noise has a long memory: it passes the trend test, and no line explains it better than a level.
            let none = if slope.p_value < ALPHA {
                said!("soak.words.wanders_without_line", "wanders without a line")
            } else {
                said!("soak.words.no_trend", "no trend")
            };
            said!(
                "soak.words.over_now",
                "{none} over {windows} ({p}), at {now} now{seen}",
                none,
                windows,
                p,
                now,
                seen
            )
        }
        Why::TooUncertain => said!(
            "soak.words.no_trend_shown_over",
            "no trend is shown over {windows} ({p}), but at the upper end of its slope, {high} \
             an hour, it would reach {limit} within {horizon}: run longer, or set a shorter \
             horizon",
            windows,
            p = p_words(slope.p_value),
            high = amount(counter, slope.high),
            limit,
            horizon
        ),
        Why::NoLimit => said!(
            "soak.words.over_no_limit_could",
            "{rise} over {windows}, and no limit could be read to hold it against: give the \
             target a limit in the experiment file",
            rise,
            windows
        ),
        Why::LevelsOff => levels_off(counter, judged, limit, windows),
        Why::Staircase => said!(
            "soak.words.rose_from_over_level",
            "rose in {steps} from {first} to {last} over {windows} and is level since: more \
             steps may come, so run longer",
            steps = count(judged.shapes.as_ref().map_or(0, |shapes| shapes.step_at.len()), Noun::Step),
            first = amount(counter, first),
            last = amount(counter, last),
            windows
        ),
        Why::Drift => said!(
            "soak.words.over_from",
            "{rise} over {windows}, from {first} to {last} ({p})",
            rise,
            windows,
            first = amount(counter, first),
            last = amount(counter, last),
            p = p_words(slope.p_value)
        ),
        _ => without_slope(counter, judged, windows),
    }
}

fn without_slope(counter: SoakCounter, judged: &Judged, windows: Said) -> Said {
    match &judged.why {
        Why::Constant => {
            let value = judged.ends.map_or_else(String::new, |ends| amount(counter, ends.1));
            said!(
                "soak.words.constant",
                "{value} in all of {windows}{seen}",
                value,
                windows,
                seen = smallest(counter, judged)
            )
        }
        Why::Refused(why) => said!(
            "soak.words.no_trend_can_given",
            "no trend can be given over {windows}: {why}",
            windows,
            why
        ),
        _ => {
            said!(
                "soak.words.windows_one_start_needed",
                "{least} windows of one start are needed, there are {windows}: run longer",
                least = WINDOWS_MIN,
                windows = judged.windows
            )
        }
    }
}

/// What a steady counter can still hide.
fn smallest(counter: SoakCounter, judged: &Judged) -> Said {
    judged.smallest_seen_per_h.map_or_else(Said::default, |rise| {
        said!(
            "soak.words.leak_hour_would_have",
            "; a leak of {rise} an hour would have been seen",
            rise = amount(counter, rise)
        )
    })
}

/// `rises by 12 MiB an hour (95 % interval 11 to 13 MiB, p < 0.001)`, without the interval's level, which is the plan's.
fn rise(counter: SoakCounter, slope: Slope) -> Said {
    let verb = if slope.per_h < 0.0 {
        said!("soak.words.falls", "falls")
    } else {
        said!("soak.words.rises", "rises")
    };
    let (near, far) = if slope.per_h < 0.0 { (-slope.high, -slope.low) } else { (slope.low, slope.high) };
    said!(
        "soak.words.hour_interval",
        "{verb} by {per_h} an hour (interval {near} to {far}, {p})",
        verb,
        per_h = amount(counter, slope.per_h.abs()),
        near = amount(counter, near),
        far = amount(counter, far),
        p = p_words(slope.p_value)
    )
}

fn p_words(p_value: f64) -> String {
    if p_value < 0.001 { "p < 0.001".to_owned() } else { format!("p = {p_value:.3}") }
}

fn limit_words(counter: SoakCounter, limit: Option<&SoakLimit>) -> Said {
    limit.map_or_else(
        || said!("soak.words.limit", "a limit"),
        |limit| {
            said!(
                "soak.words.its_limit",
                "its limit of {limit} ({source})",
                limit = amount(counter, limit.value),
                source = &limit.source
            )
        },
    )
}

/// `3.2 h (3 h to 3.5 h)`; the later end is open where the slope may be 0.
fn time_words(judged: &Judged, series: &Series, slope: Slope) -> Said {
    let at = |slope: f64| judged.hours_to(series.limit.as_ref(), slope);
    let end = |slope: f64| at(slope).map_or("never".to_owned(), hours);
    said!(
        "soak.words.time",
        "{per_h} ({high} to {low})",
        per_h = end(slope.per_h),
        high = end(slope.high),
        low = end(slope.low)
    )
}

/// The harmless shape that fits best.
fn harmless(judged: &Judged) -> Said {
    let Some(shapes) = &judged.shapes else {
        return said!("soak.words.something_harmless", "something harmless");
    };
    let all = [
        (
            shapes.filling,
            said!("soak.words.curve_levels_off_below", "a curve that levels off below the limit"),
        ),
        (shapes.steps, said!("soak.words.step", "a step")),
        (shapes.wave, said!("soak.words.slow_wave", "a slow wave")),
    ];
    all.into_iter()
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map_or_else(|| said!("soak.words.something_harmless", "something harmless"), |(_, name)| name)
}

fn levels_off(counter: SoakCounter, judged: &Judged, limit: Said, windows: Said) -> Said {
    let Some(curve) = judged.shapes.as_ref().map(|shapes| shapes.curve) else { return windows };
    let below = if limit == "a limit" {
        Said::default()
    } else {
        said!("soak.words.below", ", below {limit}", limit)
    };
    said!(
        "soak.words.fills_up_over_from",
        "fills up over {windows} from {start} towards {plateau}{below}: 63 % of what is left \
         each {time_constant}",
        windows,
        start = amount(counter, curve.start),
        plateau = amount(counter, curve.plateau()),
        below,
        time_constant = hours(curve.time_constant)
    )
}
