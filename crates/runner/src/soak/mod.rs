//! `prony soak`: one cell under load for hours, in an ordinary run folder (METHOD §8).
//!
//! Each start of the target is a segment: one trial, whose samples are the windows. An interrupt ends the segment and
//! keeps it; a resumption begins the next one. `run.json` gets one line of the order for each.
//! Invariants: a window reaches the disk as soon as it is whole; what is kept in memory is one line a window, one
//! histogram and the readings of the window in progress, so it grows with neither requests nor time
//! ([`segments::WINDOWS_MAX`] bounds the windows). Absent on purpose: statistics (crate analyze).

mod floors;
mod watch;
pub mod windows;

pub(crate) use floors::Floors;

use crate::bring_up::Prepared;
use crate::environment::{Environment, Outcome, outcome};
use crate::observer::Observer;
use crate::planned_trial::parts;
use crate::trial::{self, TrialOptions};
use crate::{RunnerError, experiment};
use analyze::SegmentData;
use record::{RunFolder, segments};
use schema::plan::{ClaimTest, ExperimentPlan, TrialPlan};
use schema::run::RunFile;
use schema::soak::{SoakClass, SoakPlan, StopWhen};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::Ordering;
use units::Nanos;
use watch::SoakWatch;

/// The plan of a soak: one cell of an experiment, by its identifier, label or target; the first where none is named.
///
/// # Errors
/// A cell that is not there.
pub fn plan(
    experiment: ExperimentPlan,
    cell: Option<&str>,
    soak: SoakPlan,
) -> Result<ExperimentPlan, RunnerError> {
    let matches = |name: &str| {
        experiment.cells.iter().find(|cell| cell.id == name || cell.label == name || cell.target == name)
    };
    let found = cell.map_or_else(|| experiment.cells.first(), matches).cloned();
    let Some(found) = found else {
        let all: Vec<String> =
            experiment.cells.iter().map(|cell| format!("{} ({})", cell.id, cell.label)).collect();
        return Err(RunnerError::Soak {
            cause: format!("there is no cell {}", cell.unwrap_or_default()),
            remedy: format!("name one of {}", all.join(", ")),
        });
    };
    let mut plan = experiment;
    plan.question = format!("Does {} leak?", found.label);
    plan.targets.retain(|target| target.name == found.target);
    plan.scenarios.retain(|scenario| found.scenario.is_empty() || scenario.name == found.scenario);
    plan.order = vec![TrialPlan { id: 1, block: 1, cell: found.id.clone() }];
    let is_answered =
        |test: &ClaimTest| matches!(test, ClaimTest::NoLeak { target } if *target == found.target);
    plan.alarms.retain(|one| one.target.as_ref().is_none_or(|target| *target == found.target));
    plan.thresholds.retain(|one| one.target.as_ref().is_none_or(|target| *target == found.target));
    if let Some(wrong) = plan.thresholds.iter().find(|one| !analyze::is_kept_in_windows(&one.metric)) {
        return Err(RunnerError::Soak {
            cause: format!(
                "a soak does not keep {} of each window, so the threshold \"{}\" cannot be held",
                wrong.metric.key(),
                wrong.text
            ),
            remedy: "limit throughput, p50, p99, error_rate, cpu_per_request, or a counter such as \
                     { counter = \"target.process/rss_bytes\" }"
                .to_owned(),
        });
    }
    plan.claims.retain(|claim| is_answered(&claim.test));
    plan.cells = vec![found];
    plan.blocks = 1;
    plan.events.clear();
    plan.phases.sample_ns = soak.window_ns;
    plan.phases.samples = soak.windows;
    plan.soak = Some(soak);
    Ok(plan)
}

/// Goes on with a soak that was interrupted: a new segment for the windows that are missing. Where none is, nothing is
/// run.
///
/// # Errors
/// As [`crate::run`], and when the folder is no soak or cannot be read.
pub fn resume(
    path: &Path,
    usable_cpus: Vec<u32>,
    environment: &Environment,
    observer: &mut dyn Observer,
) -> Result<Outcome, RunnerError> {
    let folder = RunFolder::open(path)?;
    let mut run = folder.read_run()?;
    let Some(soak) = run.plan.soak else { return Err(RunnerError::NoSoak(path.to_owned())) };
    let segments = segments::read(&folder, &run)?;
    if left(soak, &segments) == 0 || is_decided(&run, &segments) {
        observer.note("this soak has ended; its report is made again");
        return outcome(folder, &run, false);
    }
    let last = run.plan.order.last().map_or(0, |planned| planned.id);
    // A segment that never came to its target is begun again under its number.
    if last == 0 || folder.trial(last).path.join(segments::SEGMENT).is_file() {
        let cell = run.plan.cells.first().map(|cell| cell.id.clone()).unwrap_or_default();
        run.plan.order.push(TrialPlan { id: last + 1, block: last + 1, cell });
        folder.write_json("run.json", &run)?;
    }
    experiment::resume_in(folder, &run, usable_cpus, environment, observer)
}

/// Windows of the next segment: those that are missing, but enough to judge it by.
fn left(soak: SoakPlan, segments: &[SegmentData]) -> u32 {
    let done: usize = segments.iter().map(|segment| segment.windows.len()).sum();
    match (soak.windows as usize).saturating_sub(done) {
        0 => 0,
        left => u32::try_from(left.max(analyze::WINDOWS_MIN)).unwrap_or(u32::MAX),
    }
}

/// Whether a leak is certain and that was to be the end.
fn is_decided(run: &RunFile, segments: &[SegmentData]) -> bool {
    let stops = run.plan.soak.is_some_and(|soak| soak.stop_when == StopWhen::Leak);
    stops && analyze::soak_so_far(run, segments).is_some_and(|report| report.verdict == SoakClass::Leak)
}

/// Runs the last segment of the order.
pub(crate) fn segment(
    folder: RunFolder,
    run: &RunFile,
    soak: SoakPlan,
    targets: &BTreeMap<String, Prepared>,
    environment: &Environment,
    observer: &mut dyn Observer,
) -> Result<Outcome, RunnerError> {
    let planned =
        run.plan.order.last().cloned().unwrap_or(TrialPlan { id: 1, block: 1, cell: String::new() });
    let (cell, scenario, prepared) = parts(&folder, run, &planned, targets)?;
    let mut earlier = segments::read(&folder, run)?;
    earlier.retain(|segment| segment.file.trial != planned.id);
    let mut plan = run.plan.clone();
    plan.phases.samples = left(soak, &earlier);
    observer.started(folder.path(), run, 1);
    if !earlier.is_empty() {
        let windows = plan.phases.samples;
        observer.note(&format!(
            "the target is restarted, so this is segment {} and is judged by itself, over {windows} windows",
            planned.id
        ));
    }
    observer.trial_begins(&planned, cell);
    let counters = run.plan.thresholds.iter().flat_map(|threshold| threshold.metric.counters());
    let floors = Floors::wanting(counters);
    let options = TrialOptions {
        tick: Nanos(soak.tick_ns.max(1)),
        floors: Some(floors.clone()),
        keeps_interrupted: true,
    };
    let at = folder.trial(planned.id);
    let mut watch = SoakWatch::new(run, soak, earlier, planned.id, at.clone(), floors, observer);
    let file =
        trial::run(&plan, &planned, (cell, scenario, prepared), &at, environment, &mut watch, &options)?;
    if let Some(file) = &file {
        observer.trial_ends(file);
    }
    let interrupted = environment.stop.load(Ordering::Relaxed);
    outcome(folder, run, interrupted)
}
