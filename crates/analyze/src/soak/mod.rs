//! A soak: from the windows of its segments to a class for each counter and one answer (METHOD §8).
//!
//! Invariants: a trend never crosses the border of a segment, because the target was restarted there; a class
//! rests on one segment of at least [`WINDOWS_MIN`] windows; no number is NaN or infinite; the order in which
//! segments are handed over does not matter.
//! Memory is that of the windows alone: [`schema::soak::SoakPlan`] bounds their number, whatever the length of the
//! soak or the number of requests. Absent on purpose: IO, and how windows come about (crate runner).

mod answer;
mod judge;
mod segment;
mod terms;
mod words;

use crate::thresholds;
use judge::{Judged, Series};
use schema::analysis::{AnalysisFile, ClaimVerdict};
use schema::plan::ClaimTest;
use schema::run::RunFile;
use schema::said::Said;
use schema::soak::{SoakClass, SoakCounter, SoakPoint, SoakReport, SoakSegment, SoakTrend};
use schema::version::SoakVersion;
pub use segment::SegmentData;
pub use terms::WINDOWS_MIN;
use terms::{ALPHA, Terms};

/// Between two looks at a soak that goes on, the windows grow by this factor.
const LOOK_GROWTH: f64 = 1.2;
/// Most points of a counter that are kept for a chart.
const POINTS_MAX: usize = 400;
const CONFIDENCE: f64 = 0.95;

/// The answer of a soak at its end; `None` for a run that is no soak.
#[must_use]
pub fn soak(run: &RunFile, segments: &[SegmentData]) -> Option<SoakReport> {
    report(run, segments, ALPHA)
}

/// The answer so far of a soak that goes on: [`soak`] with a p that allows for looking several times.
///
/// Its leak is certain: over all looks at a steady target the chance of one by the test alone stays below that of one
/// look at the end (Bonferroni over [`looks`]).
#[must_use]
pub fn soak_so_far(run: &RunFile, segments: &[SegmentData]) -> Option<SoakReport> {
    let windows = run.plan.soak?.windows as usize;
    report(run, segments, ALPHA / looks(windows).len().max(1) as f64)
}

/// The analysis of a soak's run: its answer is the soak's, and so are those of its claims, which are all that nothing
/// leaks.
#[must_use]
pub fn with_soak(mut analysis: AnalysisFile, soak: Option<SoakReport>) -> AnalysisFile {
    let Some(soak) = soak else { return analysis };
    analysis.answer.clone_from(&soak.answer);
    let no_leak = ClaimTest::NoLeak { target: String::new() }.key();
    for claim in analysis.claims.iter_mut().filter(|claim| claim.kind == no_leak) {
        claim.verdict = claim_verdict(soak.verdict);
        claim.evidence.clone_from(&soak.answer);
    }
    analysis.thresholds.clone_from(&soak.thresholds);
    analysis.soak = Some(soak);
    analysis
}

const fn claim_verdict(class: SoakClass) -> ClaimVerdict {
    match class {
        SoakClass::Leak => ClaimVerdict::DoesNotHold,
        // What rises may leak more slowly than the horizon sees.
        SoakClass::CannotTell | SoakClass::Rising => ClaimVerdict::Inconclusive,
        SoakClass::Filling | SoakClass::Steady | SoakClass::Falling => ClaimVerdict::Holds,
    }
}

/// After how many windows of a segment a soak that goes on is looked at: 30, and from there on a fifth more each time,
/// up to `windows`.
#[must_use]
pub fn looks(windows: usize) -> Vec<usize> {
    let mut looks = Vec::new();
    let mut next = WINDOWS_MIN;
    while next <= windows {
        looks.push(next);
        next = (next as f64 * LOOK_GROWTH).ceil() as usize;
    }
    looks
}

fn report(run: &RunFile, segments: &[SegmentData], alpha: f64) -> Option<SoakReport> {
    let plan = run.plan.soak?;
    let confidence = Some(run.plan.confidence).filter(|level| *level > 0.5 && *level < 1.0);
    let terms = Terms { plan, alpha, confidence: confidence.unwrap_or(CONFIDENCE) };
    let mut segments: Vec<&SegmentData> = segments.iter().collect();
    segments.sort_by_key(|segment| segment.file.trial);
    let trends: Vec<SoakTrend> =
        SoakCounter::ALL.into_iter().filter_map(|counter| trend(&terms, &segments, counter)).collect();
    let verdict = verdict(&trends);
    let windows: usize = segments.iter().map(|segment| segment.windows.len()).sum();
    let mut report = SoakReport {
        schema: SoakVersion::default(),
        run: run.id.clone(),
        cell: run.plan.cells.first().map(|cell| cell.label.clone()).unwrap_or_default(),
        verdict,
        answer: Said::default(),
        window_ns: plan.window_ns,
        windows_planned: plan.windows,
        windows: u32::try_from(windows).unwrap_or(u32::MAX),
        horizon_ns: plan.horizon_ns,
        segments: segments.iter().map(|segment| summary(segment)).collect(),
        trends,
        thresholds: thresholds::of_soak(&run.plan.thresholds, &segments),
        notes: answer::notes(&segments),
    };
    report.answer = answer::answer(&report);
    Some(report)
}

fn summary(segment: &SegmentData) -> SoakSegment {
    SoakSegment {
        trial: segment.file.trial,
        started_wall: segment.file.started_wall.clone(),
        windows: u32::try_from(segment.windows.len()).unwrap_or(u32::MAX),
        is_judged: segment.windows.len() >= WINDOWS_MIN,
    }
}

/// The gravest class of a resource; without one that was read there is no answer.
fn verdict(trends: &[SoakTrend]) -> SoakClass {
    let classes = trends.iter().filter(|trend| trend.counter.is_resource()).map(|trend| trend.class);
    let weight = |class: &SoakClass| match class {
        SoakClass::Leak => 4,
        SoakClass::CannotTell => 3,
        SoakClass::Rising => 2,
        SoakClass::Filling => 1,
        SoakClass::Steady | SoakClass::Falling => 0,
    };
    classes.max_by_key(weight).unwrap_or(SoakClass::CannotTell)
}

/// One counter over all segments: the segment that leaks, else the longest, and of equals the latest.
fn trend(terms: &Terms, segments: &[&SegmentData], counter: SoakCounter) -> Option<SoakTrend> {
    let all: Vec<Series> = segments.iter().map(|segment| Series::of(segment, counter)).collect();
    let longest = all.iter().max_by_key(|series| series.values.len())?;
    if longest.values.is_empty() {
        return None;
    }
    let enough: Vec<&Series> = all.iter().filter(|series| series.values.len() >= WINDOWS_MIN).collect();
    let alpha = terms.alpha / enough.len().max(1) as f64;
    let judged: Vec<(&Series, Judged)> =
        enough.into_iter().map(|series| (series, judge::judge(series, terms, alpha))).collect();
    let leak = judged.iter().position(|(_, judged)| judged.class == SoakClass::Leak);
    let of_longest = judged.iter().position(|(series, _)| series.trial == longest.trial);
    let (series, judged) = match leak.or(of_longest) {
        Some(index) => (judged[index].0, judged[index].1.clone()),
        None => (longest, Judged::too_short(longest)),
    };
    let text = words::evidence(counter, series, &judged, terms.plan.horizon_ns);
    let text = if counter == SoakCounter::FullGcs { words::with_causes(text, segments) } else { text };
    Some(judged.into_trend(counter, series, text, points(&all)))
}

/// The values of all segments for a chart, thinned to medians of neighbours where there are many.
fn points(all: &[Series]) -> Vec<SoakPoint> {
    let values: usize = all.iter().map(|series| series.values.len()).sum();
    let block = values.div_ceil(POINTS_MAX).max(1);
    all.iter()
        .flat_map(|series| {
            series.values.chunks(block).zip(series.ends_ns.chunks(block)).filter_map(|(values, ends_ns)| {
                let (value, t_ns) = (crate::stats::order::median(values)?, *ends_ns.last()?);
                Some(SoakPoint { trial: series.trial, t_ns, value })
            })
        })
        .collect()
}
