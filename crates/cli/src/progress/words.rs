//! A run's plan and its trials in single lines.

use super::parts::{Found, trial_ns};
use crate::view::Tone;
use report::format;
use schema::finding::{Finding, FindingSeverity};
use schema::plan::ExperimentPlan;
use schema::steady::SteadyClass;
use schema::trial::{TrialFile, TrialOutcome};

/// `plan: 2 cells × 5 blocks in random order, warm-up 2 s, 1 sample of 4 s; about 1 min of load`. None for a soak and a
/// search, which have none that is known beforehand.
pub(super) fn plan(plan: &ExperimentPlan) -> Option<String> {
    if plan.soak.is_some() || plan.search().is_some() {
        return None;
    }
    let phases = &plan.phases;
    let warmup = match phases.warmup_at_most_ns > phases.warmup_at_least_ns {
        true => format!(
            "{} to {}",
            format::setting(phases.warmup_at_least_ns),
            format::setting(phases.warmup_at_most_ns)
        ),
        false => format::setting(phases.warmup_at_least_ns),
    };
    let load_ns = trial_ns(phases).saturating_mul(plan.order.len() as u64);
    let until = plan.design.stopping.as_ref().map_or_else(String::new, |stopping| {
        format!(", then one by one up to {}", format::counted(u64::from(stopping.blocks_max), "block"))
    });
    Some(format!(
        "plan: {} × {}{until}, warm-up {warmup}, {} of {}; about {} of load",
        format::counted(plan.cells.len() as u64, "cell"),
        format::counted(u64::from(plan.blocks), "block"),
        format::counted(u64::from(phases.samples), "sample"),
        format::setting(phases.sample_ns),
        span(load_ns)
    ))
}

/// A long time as people say it: `45 s`, `3 min`, `2 h 5 min`.
pub(super) fn span(ns: u64) -> String {
    let seconds = ns.div_ceil(1_000_000_000);
    match (seconds / 3600, seconds % 3600 / 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) if minutes < 10 => format!("{minutes} min {seconds:02} s"),
        (0, minutes, seconds) => format!("{} min", minutes + u64::from(seconds >= 30)),
        (hours, minutes, _) => format!("{hours} h {minutes:02} min"),
    }
}

/// What came of a trial: throughput, times, outcome, and what is to be known of it.
pub(super) fn trial(file: &TrialFile) -> String {
    let outcome = match file.outcome {
        TrialOutcome::Valid => "valid",
        TrialOutcome::Void => "VOID",
        TrialOutcome::Failed => "FAILED",
    };
    let numbers = file.load.as_ref().map_or_else(String::new, |load| {
        let response = &load.latency_ns.response;
        let time = |name: &str, ns: Option<u64>| {
            ns.map_or_else(String::new, |ns| format!("{name} {}, ", format::nanos(ns)))
        };
        format!(
            "{}, {}{}",
            format::rate(load.throughput_per_s),
            time("p50", response.p50),
            time("p99", response.p99)
        )
    });
    let mut said: Vec<String> = file.reasons.iter().map(ToString::to_string).collect();
    said.extend(remarks(file));
    let said = if said.is_empty() { String::new() } else { format!(" - {}", said.join("; ")) };
    format!("{numbers}{outcome}{said}")
}

/// What does not void a trial and yet is to be known: requests that failed, a window that was not steady.
fn remarks(file: &TrialFile) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some(load) = file.load.as_ref().filter(|load| load.requests.failed > 0) {
        let worst = load.errors.iter().max_by_key(|(_, count)| **count);
        let class =
            worst.map_or_else(String::new, |(class, _)| format!(" ({})", class.key().replace('_', " ")));
        remarks.push(format!("{} failed{class}", format::counted(load.requests.failed, "request")));
    }
    let moved = match file.steadiness.as_ref().and_then(|found| found.class) {
        Some(SteadyClass::WarmUp) => Some("it was still warming up"),
        Some(SteadyClass::SlowDown) => Some("it became slower"),
        Some(SteadyClass::Unsteady) => Some("it was not steady"),
        Some(SteadyClass::Flat) | None => None,
    };
    remarks.extend(moved.map(str::to_owned));
    remarks
}

/// A cause that the trials so far show, with its numbers.
pub(super) fn found(finding: &Finding, at: &Found) -> (Tone, String) {
    let tone = if finding.severity == FindingSeverity::High { Tone::Warn } else { Tone::Plain };
    (tone, format!("found so far: {}, {}: {}", at.target, finding.cause.words(), finding.text))
}

/// A cause that was found once, and that more trials do not show.
pub(super) fn gone(at: &Found) -> String {
    format!("no longer found: {}, {}", at.target, at.cause.words())
}

/// The causes that are found now, in a row.
pub(super) fn causes(found: &[Found]) -> String {
    let cause = |at: &Found| format!("{} ({})", at.cause.words(), at.target);
    found.iter().map(cause).collect::<Vec<_>>().join(", ")
}

/// How it is coloured.
pub(super) const fn tone(outcome: TrialOutcome) -> Tone {
    match outcome {
        TrialOutcome::Valid => Tone::Plain,
        TrialOutcome::Void => Tone::Warn,
        TrialOutcome::Failed => Tone::Bad,
    }
}
