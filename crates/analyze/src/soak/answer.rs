//! The answer of a soak in one sentence, and what weakens it.

use super::segment::SegmentData;
use super::terms::WINDOWS_MIN;
use super::words::{span, subject};
use crate::words::{Listed, Noun, count, listed};
use schema::said;
use schema::said::{Joint, Said};
use schema::soak::{SoakClass, SoakReport, SoakTrend};

pub(super) fn answer(report: &SoakReport) -> Said {
    let class = match report.verdict {
        // What falls does not leak either; what is shown is steady.
        SoakClass::Falling => SoakClass::Steady,
        class => class,
    };
    let deciding: Vec<&SoakTrend> =
        report.trends.iter().filter(|t| t.counter.is_resource() && t.class == class).collect();
    let cell = &report.cell;
    let names = joined(deciding.iter().map(|t| t.counter.words()).collect());
    let evidence = Said::list(Joint::Semicolon, deciding.iter().map(|trend| of_counter(trend)));
    let over = said!(
        "soak.answer.over",
        "over {windows} of {window}",
        windows = count(report.windows as usize, Noun::Window),
        window = span(report.window_ns)
    );
    let horizon = span(report.horizon_ns);
    let text = match class {
        SoakClass::Leak => {
            said!("soak.answer.leaks", "{cell} leaks {names}: {evidence}", cell, names, evidence)
        }
        SoakClass::CannotTell if deciding.is_empty() => said!(
            "soak.answer.cannot_told_whether_leaks",
            "Whether {cell} leaks is unknown: nothing that it holds could be \
             read; let prony start the target on this machine",
            cell
        ),
        SoakClass::CannotTell => said!(
            "soak.answer.cannot_told_yet_whether",
            "No verdict yet on whether {cell} leaks {names}: {evidence}",
            cell,
            names,
            evidence
        ),
        SoakClass::Filling => said!(
            "soak.answer.does_not_leak",
            "{cell} does not leak {over}: {evidence}",
            cell,
            over,
            evidence
        ),
        SoakClass::Rising => said!(
            "soak.answer.may_leak_but_too",
            "{cell} may leak {names}, but too slowly for the horizon: {evidence}",
            cell,
            names,
            evidence
        ),
        SoakClass::Steady | SoakClass::Falling if deciding.is_empty() => said!(
            "soak.answer.does_not_leak_horizon",
            "{cell} does not leak {over}, horizon {horizon}",
            cell,
            over,
            horizon
        ),
        SoakClass::Steady | SoakClass::Falling => said!(
            "soak.answer.does_not_leak_steady",
            "{cell} does not leak {over}: {names} {plural} steady, horizon {horizon}",
            cell,
            over,
            names,
            plural = if deciding.len() == 1 { "is" } else { "are" },
            horizon
        ),
    };
    let is_told = |t: &&SoakTrend| {
        t.class == SoakClass::Rising && t.counter.is_resource() && report.verdict == SoakClass::Rising
    };
    let moves = |t: &&SoakTrend| matches!(t.class, SoakClass::Rising | SoakClass::Falling);
    let others = report.trends.iter().filter(|t| moves(t) && !is_told(t)).map(of_counter);
    let all = Said::list(Joint::Semicolon, std::iter::once(text).chain(others));
    said!("soak.answer.whole", "{all}.", all)
}

/// What one counter does: `memory rises by …`.
fn of_counter(trend: &SoakTrend) -> Said {
    said!("soak.answer.of_counter", "{counter} {does}", counter = subject(trend.counter), does = &trend.text)
}

/// `a`, `a and b`, `a, b and c`.
fn joined(names: Vec<Said>) -> Said {
    if names.is_empty() { said!("soak.answer.nothing", "nothing") } else { Said::list(Joint::And, names) }
}

/// What weakens the answer: restarts, segments that are too short, an end before the time, what could not be read.
pub(super) fn notes(segments: &[&SegmentData]) -> Vec<Said> {
    let mut notes = Vec::new();
    if segments.len() > 1 {
        notes.push(said!(
            "soak.answer.target_started_times_each",
            "the target was started {segments} times, and each start is judged by itself: a leak \
             that needs longer than one of them is not seen",
            segments = segments.len()
        ));
        let short = segments.iter().filter(|segment| segment.windows.len() < WINDOWS_MIN);
        let short: Vec<u32> = short.map(|segment| segment.file.trial).collect();
        if !short.is_empty() {
            notes.push(said!(
                "soak.answer.too_short_judged",
                "{segments} too short to be judged",
                segments = listed(Listed::Segment, &short)
            ));
        }
    }
    for segment in segments {
        if let Some(ended) = &segment.ended {
            notes.push(said!(
                "soak.answer.segment",
                "segment {trial}: {ended}",
                trial = segment.file.trial,
                ended
            ));
        }
        for missing in segment.file.missing.iter().filter(|missing| !missing.is_empty()) {
            let missing = Said::from(missing.as_str());
            if !notes.contains(&missing) {
                notes.push(missing);
            }
        }
    }
    notes
}
