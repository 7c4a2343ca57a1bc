//! One trial: a fresh target, its contract, load with counters beside it, and an end that leaves nothing.

mod options;
mod ticker;
mod watch;

use crate::bring_up::{Prepared, Up, bring_up, stop};
use crate::environment::Environment;
use crate::events::{Events, Manifest, Stage};
use crate::hooks::Hooks;
use crate::observer::Observer;
use crate::server_counts::metrics_of;
use crate::{RunnerError, canary};
use analyze::ServerFacts;
use generate::GenerateError;
use generate::measure::{Measured, measure};
use launch::contract::Verified;
use launch::{RunningTarget, TargetError};
pub(crate) use options::TrialOptions;
use plan::LoadJob;
use record::TrialFolder;
use schema::plan::{BodyExpectation, CellPlan, EntryPlan, ExperimentPlan, Replicas, ScenarioPlan, TrialPlan};
use schema::said;
use schema::said::Said;
use schema::steady::WarmUpEndedBy;
use schema::trial::{TargetUsage, TrialFile, TrialOutcome};
use schema::version::TrialVersion;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;
pub(crate) use watch::Steal;
use watch::{Seen, TrialWatch};

/// Runs one trial to its end and writes its folder. `None` when it was interrupted; its folder is then gone, unless it
/// is to be kept.
pub(crate) fn run(
    plan: &ExperimentPlan,
    trial: &TrialPlan,
    (cell, scenario, target): (&CellPlan, &ScenarioPlan, &Prepared),
    folder: &TrialFolder,
    environment: &Environment,
    observer: &mut dyn Observer,
    options: &TrialOptions,
) -> Result<Option<TrialFile>, RunnerError> {
    folder.begin()?;
    let blank = blank(trial);
    if plan.replicas == Replicas::Rebuild
        && let Err(error) = rebuild(target, &folder.path.join("build.log"), environment)
    {
        if matches!(error, TargetError::Cancelled(_)) {
            folder.discard()?;
            return Ok(None);
        }
        return failed(blank, &error.into(), folder);
    }
    let log = folder.path.join("target.log");
    let scenarios = std::slice::from_ref(scenario);
    let up = match bring_up(
        target,
        scenarios,
        &cell.limits,
        &cell.load.connection,
        &plan.pin,
        &log,
        environment,
    ) {
        Ok(up) => up,
        Err(error) => return failed(blank, &error, folder),
    };
    observer.target_up(up.running.as_ref().map(RunningTarget::pid))?;
    let hooks = Hooks::new(&plan.hooks, &up.origin, &folder.path, &environment.launcher);
    if let Err(error) = hooks.set_up(&environment.stop) {
        return not_set_up(blank, error, &hooks, up, folder);
    }
    let mut job = load_job(plan, cell, scenario, &up);
    job.load.trace = job.load.trace.map(|trace| trace.of_trial(trial.id));
    let metrics = metrics_of(target);
    let over = AtomicBool::new(false);
    let manifest = for_events(target);
    let (running, cpus) = (up.running.as_ref(), plan.pin.target.as_deref());
    let stage = Stage { running, addr: up.addr, cpus, manifest: manifest.as_ref() };
    let scoped = std::thread::scope(|scope| {
        let events = Events::prepare(scope, &plan.events, stage, &over);
        let mut watch =
            TrialWatch::new(&up, &metrics, (&target.services, &plan.pin), folder, observer, events, options)?;
        let before = canary::reading(job.cpus.as_deref(), canary::BUDGET);
        let measured = measure(&job, None, &mut watch, &environment.stop);
        Ok::<_, RunnerError>((measured, watch.finish(&job.load), before))
    });
    let after = canary::reading(job.cpus.as_deref(), canary::BUDGET);
    let cleaned = hooks.tear_down();
    let (measured, mut seen, before) = scoped?;
    seen.canary = canary::canary(before, after);
    let measured = match measured {
        Ok(measured)
            if measured.interrupted && !options.keeps_interrupted && environment.aborted.get().is_none() =>
        {
            stop(up)?;
            folder.discard()?;
            return cleaned.map(|()| None);
        }
        Ok(mut measured) => {
            measured.facts.server = seen.server.as_ref().map(|seen| ServerFacts::new(seen, plan.checks));
            measured
        }
        Err(
            error @ RunnerError::Generate(
                GenerateError::Engine(_)
                | GenerateError::Processes(_)
                | GenerateError::Agents(_)
                | GenerateError::Request(_),
            ),
        ) => {
            // How the target ended explains why it could not be loaded.
            let mut blank = blank;
            blank.reasons.extend(stop(up).err().map(|ended| ended.to_string().into()));
            return failed(blank, &error, folder);
        }
        Err(error) => return Err(error),
    };
    let is_cut = measured.interrupted;
    let died = target.services.died();
    let ready_ns = up.running.as_ref().map(RunningTarget::ready_ns);
    let mut file = TrialFile { ready_ns, ..ended(blank, measured, seen, up.running.as_ref()) };
    if let Some(alarm) = environment.aborted.get().filter(|_| is_cut && !options.keeps_interrupted) {
        void_by_alarm(&mut file, alarm);
    }
    if !died.is_empty() {
        file.outcome = TrialOutcome::Failed;
        file.reasons.splice(0..0, died.into_iter().map(Said::from));
    }
    if let Err(error) = stop(up) {
        file.outcome = TrialOutcome::Failed;
        // How it ended explains all other reasons, and a short report has room for one.
        file.reasons.insert(0, error.to_string().into());
    }
    folder.end(&file)?;
    // The trial stands. The next one would meet what was not cleaned up.
    cleaned.map(|()| Some(file))
}

/// A trial that an alarm cut short is kept, because it shows why, and not used, because it is shorter than the others.
fn void_by_alarm(file: &mut TrialFile, alarm: &str) {
    if file.outcome == TrialOutcome::Valid {
        file.outcome = TrialOutcome::Void;
    }
    file.reasons.insert(0, said!("trial.alarm", "an alarm ended the run: {alarm}", alarm));
}

/// The end of a trial whose target could not be made ready by the user's program: the run ends with it.
fn not_set_up(
    blank: TrialFile,
    error: RunnerError,
    hooks: &Hooks,
    up: Up,
    folder: &TrialFolder,
) -> Result<Option<TrialFile>, RunnerError> {
    // It may have done half of its work.
    let cleaned = hooks.tear_down();
    let stopped = stop(up);
    if matches!(error, RunnerError::Interrupted) {
        folder.discard()?;
        return cleaned.and(stopped).map(|()| None);
    }
    failed(blank, &error, folder)?;
    Err(error)
}

/// Builds a target from nothing, as it was built before the first trial.
fn rebuild(target: &Prepared, log: &Path, environment: &Environment) -> Result<(), TargetError> {
    let Some((manifest, folder)) = &target.manifest else { return Ok(()) };
    let knobs = &target.plan.knobs;
    launch::remove_build(folder, manifest, knobs)?;
    launch::build_variant(folder, manifest, knobs, log, &environment.launcher, &environment.stop)?;
    Ok(())
}

/// What events need of the target's manifest.
fn for_events(target: &Prepared) -> Option<Manifest> {
    let (manifest, folder) = target.manifest.clone()?;
    let build = launch::knobs::build_folder(&folder, &manifest, &target.plan.knobs);
    Some(Manifest { manifest, folder, build })
}

pub(crate) fn load_job(plan: &ExperimentPlan, cell: &CellPlan, scenario: &ScenarioPlan, up: &Up) -> LoadJob {
    // The meaning of JSON was checked a moment ago; under load the very same bytes must come again.
    let must_come_again = |(entry, seen): (&EntryPlan, &Option<Verified>)| match entry.expect.body {
        BodyExpectation::Json(_) => seen.as_ref().map(|seen| seen.body.clone()),
        _ => None,
    };
    let job = LoadJob {
        url: up.origin.clone(),
        authority: up.authority.clone(),
        to: up.addr,
        further: Vec::new(),
        proxy: None,
        login: None,
        bodies: scenario.requests.iter().zip(&up.verified).map(must_come_again).collect(),
        scenario: scenario.clone(),
        load: cell.load.clone(),
        phases: plan.phases.clone(),
        name: up.name.clone().filter(|_| cell.load.connection.resolve_each),
        requests_max: None,
        arrivals_max: None,
        cpus: plan.pin.generator.clone(),
        // A worker that spins on the target's CPU would slow the very thing it measures.
        spin: plan.pin.generator.is_some(),
        network: up.generator_network(),
        each: None,
    };
    // Where it goes is known only now that the target is up.
    job.settled()
}

fn blank(trial: &TrialPlan) -> TrialFile {
    TrialFile {
        schema: TrialVersion::default(),
        id: trial.id,
        cell: trial.cell.clone(),
        block: trial.block,
        outcome: TrialOutcome::Failed,
        reasons: Vec::new(),
        origin_wall: jiff::Timestamp::now().to_string(),
        phases: Vec::new(),
        level: false,
        warmup: None,
        steadiness: None,
        load: None,
        samples: Vec::new(),
        target: TargetUsage::default(),
        events: Vec::new(),
        ready_ns: None,
        counter_gaps: BTreeMap::new(),
        counter_errors: BTreeMap::new(),
        canary: None,
        clocks: None,
    }
}

fn failed(
    mut file: TrialFile,
    error: &RunnerError,
    folder: &TrialFolder,
) -> Result<Option<TrialFile>, RunnerError> {
    file.reasons.push(error.to_string().into());
    folder.end(&file)?;
    Ok(Some(file))
}

/// The trial's file for a load that ran to its end.
fn ended(blank: TrialFile, mut measured: Measured, seen: Seen, running: Option<&RunningTarget>) -> TrialFile {
    measured.facts.target_alive = running.map(RunningTarget::is_alive);
    measured.facts.disturbed = !seen.events.is_empty();
    measured.facts.host_steal_share = seen.steal_share;
    measured.facts.competing_share = seen.competing_share;
    measured.facts.canary_drift = seen.canary.map(|canary| canary.drift);
    let mut load = measured.report;
    let missing = seen.server.iter().flat_map(|server| &server.missing);
    load.notes.extend(missing.map(|reason| {
        said!(
            "note.server_counts",
            "not all that the target counts was held against the client: {reason}",
            reason
        )
    }));
    load.validity = analyze::validity(&load, &measured.facts);
    let outcome = if load.validity.ok { TrialOutcome::Valid } else { TrialOutcome::Void };
    let mut reasons: Vec<Said> = load.validity.reasons.iter().map(|gate| gate.text.clone()).collect();
    // An end at the memory limit is reported when it is stopped.
    let ended = running.filter(|running| !running.is_alive() && running.out_of_memory().is_none());
    if let Some(running) = ended {
        let log = running.log_tail().to_string();
        let text =
            said!("trial.target_ended", "the target ended during the trial; the end of its log:{log}", log);
        reasons.insert(0, text);
    }
    let usage = TargetUsage {
        cpu_s: seen.cpu_ns.map(|cpu_ns| cpu_ns as f64 / 1e9),
        cpu_per_request_ns: seen
            .cpu_ns
            .filter(|_| load.window.answers > 0)
            .map(|cpu_ns| cpu_ns as f64 / load.window.answers as f64),
        rss_peak_bytes: seen.rss_peak_bytes,
        alloc_per_request_bytes: seen.allocations.per_request(&measured.phases, &load.window),
        confinement: running.and_then(RunningTarget::confinement),
        group: seen.group,
        relay: seen.relay,
        server: seen.server,
    };
    TrialFile {
        outcome,
        reasons,
        origin_wall: seen.origin_wall.unwrap_or(blank.origin_wall),
        phases: measured.phases,
        level: measured.warmup.by == WarmUpEndedBy::Steady,
        warmup: Some(measured.warmup),
        steadiness: seen.steadiness,
        load: Some(load),
        samples: measured.samples,
        target: usage,
        counter_gaps: seen.counter_gaps,
        counter_errors: seen.counter_errors,
        canary: seen.canary,
        clocks: measured.facts.clocks,
        events: seen.events,
        ..blank
    }
}
