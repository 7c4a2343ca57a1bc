//! The answer of a soak in one sentence, and what weakens it.

use super::words::{span, subject};
use super::{SegmentData, WINDOWS_MIN};
use crate::words::{count, listed};
use schema::soak::{SoakClass, SoakReport, SoakTrend};

pub(super) fn answer(report: &SoakReport) -> String {
    let of = |class: SoakClass| -> Vec<&SoakTrend> {
        report.trends.iter().filter(|t| t.counter.is_resource() && t.class == class).collect()
    };
    let names = |trends: &[&SoakTrend]| joined(&trends.iter().map(|t| t.counter.words()).collect::<Vec<_>>());
    let sentences = |trends: &[&SoakTrend]| {
        trends.iter().map(|t| format!("{} {}", subject(t.counter), t.text)).collect::<Vec<_>>().join("; ")
    };
    let cell = &report.cell;
    let over = format!("over {} of {}", count(report.windows as usize, "window"), span(report.window_ns));
    let mut text = match report.verdict {
        SoakClass::Leak => {
            let leaks = of(SoakClass::Leak);
            format!("{cell} leaks {}: {}", names(&leaks), sentences(&leaks))
        }
        SoakClass::CannotTell => {
            let open = of(SoakClass::CannotTell);
            if open.is_empty() {
                format!(
                    "It cannot be told whether {cell} leaks: nothing that it holds could be read; let prony start \
                     the target on this machine"
                )
            } else {
                format!("It cannot be told yet whether {cell} leaks {}: {}", names(&open), sentences(&open))
            }
        }
        SoakClass::Filling => {
            let filling = of(SoakClass::Filling);
            format!("{cell} does not leak {over}: {}", sentences(&filling))
        }
        SoakClass::Rising => {
            let rising = of(SoakClass::Rising);
            format!(
                "{cell} may leak {}, but too slowly for the horizon: {}",
                names(&rising),
                sentences(&rising)
            )
        }
        SoakClass::Steady | SoakClass::Falling => {
            let steady = of(SoakClass::Steady);
            let horizon = span(report.horizon_ns);
            if steady.is_empty() {
                format!("{cell} does not leak {over}, horizon {horizon}")
            } else {
                format!("{cell} does not leak {over}: {} steady, horizon {horizon}", are(&steady, &names))
            }
        }
    };
    let is_told = |t: &&SoakTrend| {
        t.class == SoakClass::Rising && t.counter.is_resource() && report.verdict == SoakClass::Rising
    };
    let moves = |t: &&SoakTrend| matches!(t.class, SoakClass::Rising | SoakClass::Falling);
    for trend in report.trends.iter().filter(|t| moves(t) && !is_told(t)) {
        text += &format!("; {} {}", subject(trend.counter), trend.text);
    }
    text + "."
}

fn are(steady: &[&SoakTrend], names: &impl Fn(&[&SoakTrend]) -> String) -> String {
    format!("{} {}", names(steady), if steady.len() == 1 { "is" } else { "are" })
}

/// `a`, `a and b`, `a, b and c`.
fn joined(names: &[&str]) -> String {
    match names {
        [] => "nothing".to_owned(),
        [only] => (*only).to_owned(),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    }
}

/// What weakens the answer: restarts, segments that are too short, an end before the time, what could not be read.
pub(super) fn notes(segments: &[&SegmentData]) -> Vec<String> {
    let mut notes = Vec::new();
    if segments.len() > 1 {
        notes.push(format!(
            "the target was started {} times, and each start is judged by itself: a leak that needs longer than one \
             of them is not seen",
            segments.len()
        ));
        let short = segments.iter().filter(|segment| segment.windows.len() < WINDOWS_MIN);
        let short: Vec<u32> = short.map(|segment| segment.file.trial).collect();
        if !short.is_empty() {
            notes.push(format!("{} too short to be judged", listed("segment", &short)));
        }
    }
    for segment in segments {
        if let Some(ended) = &segment.ended {
            notes.push(format!("segment {}: {ended}", segment.file.trial));
        }
        for missing in segment.file.missing.iter().filter(|missing| !missing.is_empty()) {
            if !notes.contains(missing) {
                notes.push(missing.clone());
            }
        }
    }
    notes
}
