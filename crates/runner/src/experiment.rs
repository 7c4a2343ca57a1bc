//! A whole run: build, preflight, then the planned trials one by one into the run folder.

use crate::adaptive::Spent;
use crate::interim::Interim;
use crate::resolve::{self, Context};
use crate::services::Services;
use crate::trial::{self, Prepared, TrialOptions};
use crate::{RunnerError, adaptive, check, profiled, search, versions};
use analyze::Surroundings;
use record::live::Live;
use record::{RecordError, RunFolder};
use schema::calibration::CalibrationSummary;
use schema::doctor::DoctorReport;
use schema::environment::Weight;
use schema::finding::Finding;
use schema::plan::{CellPlan, ExperimentPlan, ScenarioPlan, TargetPlan, TargetSource, TrialPlan};
use schema::run::RunFile;
use schema::soak::{SoakReport, WindowLine};
use schema::trial::{IntervalLine, PhaseSpan, SampleSummary, TrialFile, TrialOutcome};
use schema::version::RunVersion;
use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use target::{RunningTarget, Scratch};
use units::Nanos;

/// What a run needs of the outside.
#[derive(Clone, Debug)]
pub struct Environment {
    /// prony's own binary, which becomes the guard of each target.
    pub launcher: PathBuf,
    /// Where run folders are made.
    pub runs: PathBuf,
    /// Public hosts that the user allowed to load.
    pub consent: Vec<String>,
    /// The command line, for the record.
    pub command: Vec<String>,
    /// What the instrument can do for the run's loads; absent where this host is not calibrated.
    pub calibration: Option<CalibrationSummary>,
    /// Set to end the run after as little as possible.
    pub stop: Arc<AtomicBool>,
}

/// What is told while a run goes on.
pub trait Observer {
    /// Something worth knowing that stops nothing.
    fn note(&mut self, text: &str);
    /// A target is being built or tried out before the first trial.
    fn preparing(&mut self, target: &str);
    /// The run folder is there and trials begin.
    fn started(&mut self, folder: &Path, run: &RunFile, left: usize);
    /// At a block border it was decided how the run goes on; `more` trials follow besides those told of so far, which
    /// may be fewer than none.
    fn decided(&mut self, text: &str, more: i64);
    /// A trial begins.
    fn trial_begins(&mut self, trial: &TrialPlan, cell: &CellPlan);
    /// An interval of the present trial has ended.
    fn interval(&mut self, line: &IntervalLine);
    /// A trial has ended.
    fn trial_ends(&mut self, file: &TrialFile);
    /// What the trials so far show, worst first: all of it, whether it was told before or not. Told between two trials.
    fn found(&mut self, findings: &[Finding]) {
        let _ = findings;
    }
    /// The target of the trial is up; its first process, where prony started it.
    ///
    /// # Errors
    /// What must not go on without what is done here.
    fn target_up(&mut self, pid: Option<u32>) -> Result<(), RunnerError> {
        let _ = pid;
        Ok(())
    }
    /// A sample of the present trial is whole.
    ///
    /// # Errors
    /// What must not go on without what is done here.
    fn sample(&mut self, span: &PhaseSpan, summary: &SampleSummary) -> Result<(), RunnerError> {
        let _ = (span, summary);
        Ok(())
    }
    /// A window of a soak is written; the trends as they were last looked at, which is rarely.
    fn window(&mut self, line: &WindowLine, so_far: Option<&SoakReport>) {
        let _ = (line, so_far);
    }
    /// Whether the present trial may end before its time.
    fn is_enough(&self) -> bool {
        false
    }
}

/// How a run ended.
#[derive(Debug)]
pub struct Outcome {
    /// Where everything is.
    pub folder: RunFolder,
    /// Trials with a `trial.json`.
    pub ended: usize,
    /// Of these, failed ones.
    pub failed: usize,
    /// Whether it was stopped before its last trial.
    pub interrupted: bool,
    /// Marks the folder as one that is being written, until this is dropped; absent where nothing was to be done.
    pub live: Option<Live>,
}

/// Runs a resolved experiment into a new run folder.
///
/// # Errors
/// A target that cannot be built, started or does not keep its contract, before any load; later only what makes the
/// folder unwritable. A trial that fails is recorded and the run goes on.
pub fn run(
    plan: ExperimentPlan,
    experiment_text: &str,
    context: &Context,
    environment: &Environment,
    observer: &mut dyn Observer,
) -> Result<Outcome, RunnerError> {
    // Before this process is confined: the audit is of the host, not of the generator's share.
    let audit = crate::audit();
    sweep(observer);
    confine(&plan, observer);
    for found in environment.calibration.iter().flat_map(|limit| &limit.shortfalls) {
        observer.note(&format!("{}\n  remedy: {}", found.text, found.remedy));
    }
    let workshop = prepare(&plan, context, environment, observer)?;
    let now = jiff::Timestamp::now();
    let id = format!("{}-{}", now.strftime("%Y-%m-%dT%H-%M-%SZ"), plan.name);
    let mut versions = versions::host();
    versions.extend(workshop.versions);
    let services = workshop.services;
    let folder = create_folder(environment, &id)?;
    let run = RunFile {
        schema: RunVersion::default(),
        id: folder.path().file_name().map_or(id, |name| name.to_string_lossy().into_owned()),
        started_wall: now.to_string(),
        command: environment.command.clone(),
        plan,
        experiment_text: experiment_text.to_owned(),
        environment: audit,
        versions,
        instrument: engine::measure_instrument(),
        calibration: environment.calibration.clone(),
        services: services.records(),
        weaknesses: workshop.weaknesses,
    };
    let live = Live::begin(folder.path());
    folder.write_json("run.json", &run)?;
    let outcome = trials(folder, run, &workshop.targets, environment, observer)?;
    profiled::after_trials(&outcome, &workshop.targets, environment, observer);
    end_services(&services, &outcome, observer);
    Ok(Outcome { live, ..outcome })
}

/// Runs the trials of a run that are missing, because it was cut off, or that failed.
///
/// # Errors
/// As [`run`], and when the folder cannot be read.
pub fn resume(
    path: &Path,
    usable_cpus: Vec<u32>,
    environment: &Environment,
    observer: &mut dyn Observer,
) -> Result<Outcome, RunnerError> {
    let folder = RunFolder::open(path)?;
    let run = folder.read_run()?;
    if run.plan.soak.is_some() {
        return Err(RunnerError::IsSoak(path.to_owned()));
    }
    let is_whole = run.plan.order.iter().all(|planned| !folder.trial(planned.id).is_missing());
    if is_whole && run.plan.search().is_none() && !adaptive::is_open(&run.plan) {
        return outcome(folder, &run, false);
    }
    resume_in(folder, &run, usable_cpus, environment, observer)
}

/// Builds and checks the targets of a stored run again and runs what is missing of it.
pub(crate) fn resume_in(
    folder: RunFolder,
    run: &RunFile,
    usable_cpus: Vec<u32>,
    environment: &Environment,
    observer: &mut dyn Observer,
) -> Result<Outcome, RunnerError> {
    sweep(observer);
    let audit = crate::audit();
    tell_other_host(run, &audit, observer);
    confine(&run.plan, observer);
    let context = Context { project: project_of(&run.plan), usable_cpus, pin: None };
    let workshop = prepare(&run.plan, &context, environment, observer)?;
    let mut now = versions::host();
    now.extend(workshop.versions);
    for (name, version) in now.iter().filter(|(name, version)| run.versions.get(*name) != Some(version)) {
        let before = run.versions.get(name).map_or("absent", String::as_str);
        observer.note(&format!(
            "{name} is now {version}, was {before} when the run began: trials before and after differ in it"
        ));
    }
    let live = Live::begin(folder.path());
    let outcome = trials(folder, run.clone(), &workshop.targets, environment, observer)?;
    profiled::after_trials(&outcome, &workshop.targets, environment, observer);
    end_services(&workshop.services, &outcome, observer);
    Ok(Outcome { live, ..outcome })
}

/// Names what has changed on the host, or which other host this is, so far as it moves the numbers.
fn tell_other_host(run: &RunFile, now: &DoctorReport, observer: &mut dyn Observer) {
    let then = Surroundings { name: &run.id, host: &run.environment, versions: &run.versions };
    let now = Surroundings { name: "now", host: now, versions: &run.versions };
    let differences = analyze::environment_diff(then, now).differences;
    for found in differences.iter().filter(|found| found.weight == Weight::Decisive) {
        let value = |value: &Option<String>| value.clone().unwrap_or_default();
        observer.note(&format!(
            "{} is now {}, was {} when the run began: trials before and after differ in it",
            found.title,
            value(&found.b),
            value(&found.a)
        ));
    }
}

fn end_services(services: &Services, outcome: &Outcome, observer: &mut dyn Observer) {
    services.stop(outcome.folder.path()).iter().for_each(|note| observer.note(note));
}

/// The project that a stored plan's targets live in.
#[must_use]
pub fn project_of(plan: &ExperimentPlan) -> PathBuf {
    let folder = plan.targets.iter().find_map(|target| match &target.source {
        TargetSource::Manifest { folder, .. } => Some(PathBuf::from(folder)),
        _ => None,
    });
    folder.map_or_else(|| PathBuf::from("."), |folder| resolve::project_above(&folder))
}

/// Removes what guards that were killed left on the host.
pub(crate) fn sweep(observer: &mut dyn Observer) {
    let swept = target::confine::sweep();
    for removed in &swept.removed {
        observer.note(&format!("removed {removed}: an earlier run was killed before it could"));
    }
    for left in &swept.left {
        observer.note(&format!("of an earlier run there is still left: {left}"));
    }
}

/// Keeps prony's own threads off the target's CPUs: the generator pays for its own bookkeeping.
pub(crate) fn confine(plan: &ExperimentPlan, observer: &mut dyn Observer) {
    if let Some(cpus) = &plan.pin.generator
        && let Err(error) = target::pin::confine_this_thread(cpus)
    {
        observer
            .note(&format!("prony could not be confined to its CPUs ({error}); it may disturb the target"));
    }
    if let Some(weakness) = &plan.pin.weakness {
        observer.note(weakness);
    }
}

/// Two runs of one experiment within a second get different folders.
fn create_folder(environment: &Environment, id: &str) -> Result<RunFolder, RunnerError> {
    let taken = |name: &str| environment.runs.join(name).exists();
    let name = (2..).map(|n| format!("{id}-{n}")).find(|name| !taken(name)).filter(|_| taken(id));
    Ok(RunFolder::create(&environment.runs, name.as_deref().unwrap_or(id))?)
}

/// Targets that were built and tried out, and the versions they report, by `target: what`.
pub(crate) struct Workshop {
    pub(crate) targets: BTreeMap<String, Prepared>,
    versions: BTreeMap<String, String>,
    pub(crate) services: Services,
    /// What is built, by its folder, with the versions that its build reported.
    built: BTreeMap<PathBuf, BTreeMap<String, String>>,
    /// Limits that could not be had.
    weaknesses: Vec<String>,
}

/// Builds every target and tries it out once, so that mistakes show before any time is spent on load.
pub(crate) fn prepare(
    plan: &ExperimentPlan,
    context: &Context,
    environment: &Environment,
    observer: &mut dyn Observer,
) -> Result<Workshop, RunnerError> {
    let services = Services::start(plan, context, environment, observer)?;
    let scratch = Scratch::make().map_err(RunnerError::io("make a folder in", &std::env::temp_dir()))?;
    let logs = scratch.path().to_owned();
    let mut workshop = Workshop {
        targets: BTreeMap::new(),
        versions: services.versions(),
        services: services.clone(),
        built: BTreeMap::new(),
        weaknesses: Vec::new(),
    };
    let mut prepare_all = || {
        for target in &plan.targets {
            if environment.stop.load(Ordering::Relaxed) {
                return Err(RunnerError::Interrupted);
            }
            observer.preparing(&target.name);
            let tried = workshop.try_out(target, plan, context, environment, &logs)?;
            workshop.weaken(tried.weaknesses, observer);
            let versions = tried.versions.into_iter();
            let named = versions.map(|(what, version)| (format!("{}: {what}", target.name), version));
            workshop.versions.extend(named);
            workshop.targets.insert(target.name.clone(), tried.prepared);
        }
        Ok(())
    };
    let outcome = prepare_all();
    if outcome.is_err() {
        // The error names the logs.
        scratch.keep();
    }
    outcome.map(|()| workshop)
}

impl Workshop {
    /// Notes what could not be had, each thing once.
    fn weaken(&mut self, found: Vec<String>, observer: &mut dyn Observer) {
        for weakness in found {
            if !self.weaknesses.contains(&weakness) {
                observer.note(&weakness);
                self.weaknesses.push(weakness);
            }
        }
    }

    /// Builds a target unless that was done, starts it once and asks it everything.
    fn try_out(
        &mut self,
        target: &TargetPlan,
        plan: &ExperimentPlan,
        context: &Context,
        environment: &Environment,
        logs: &Path,
    ) -> Result<TriedOut, RunnerError> {
        let (plan_of_target, services) = (target.clone(), self.services.clone());
        let mut prepared = Prepared { plan: plan_of_target, manifest: None, contract: Vec::new(), services };
        let mut versions = BTreeMap::new();
        if let TargetSource::Manifest { folder, .. } = &target.source {
            let (manifest, folder) = target::manifest::load(Path::new(folder))?;
            let out = target::knobs::build_folder(&folder, &manifest, &target.knobs);
            versions = match self.built.get(&out) {
                Some(versions) => versions.clone(),
                None => {
                    let log = logs.join("build.log");
                    let (launcher, stop) = (&environment.launcher, &environment.stop);
                    target::build_variant(&folder, &manifest, &target.knobs, &log, launcher, stop)?
                }
            };
            self.built.insert(out, versions.clone());
            prepared.contract = check::askable(&context.project, &manifest, &self.services.names())?;
            prepared.manifest = Some((manifest, folder));
        }
        // As in its first cell; the trials tell of the others.
        let first = plan.cells.iter().find(|cell| cell.target == target.name);
        let limits = first.map(|cell| cell.limits.clone()).unwrap_or_default();
        let follow = first.and_then(|cell| cell.load.connection.follow);
        let log = logs.join("target.log");
        let up = trial::bring_up(&prepared, &plan.scenarios, &limits, follow, &plan.pin, &log, environment)?;
        versions.extend(trial::reported_versions(&prepared, &up));
        let held = up.running.as_ref().and_then(RunningTarget::confinement).unwrap_or_default();
        if let Some(running) = up.running {
            running.stop()?;
        }
        Ok(TriedOut { prepared, versions, weaknesses: held.weaknesses })
    }
}

/// One target, built and tried out.
struct TriedOut {
    prepared: Prepared,
    versions: BTreeMap<String, String>,
    /// Limits that could not be had.
    weaknesses: Vec<String>,
}

/// Runs what is missing, and the blocks that are decided upon meanwhile.
fn trials(
    folder: RunFolder,
    mut run: RunFile,
    targets: &BTreeMap<String, Prepared>,
    environment: &Environment,
    observer: &mut dyn Observer,
) -> Result<Outcome, RunnerError> {
    if let Some(soak) = run.plan.soak {
        return crate::soak::segment(folder, &run, soak, targets, environment, observer);
    }
    if run.plan.search().is_some() {
        return search::trials(folder, &run, targets, environment, observer);
    }
    let missing = run.plan.order.iter().filter(|planned| folder.trial(planned.id).is_missing());
    let mut left: VecDeque<TrialPlan> = missing.cloned().collect();
    observer.started(folder.path(), &run, left.len());
    let earlier = folder.read_numbers(&run)?;
    let spent = Spent::begin(earlier.iter().map(|trial| &trial.file));
    let mut interim = Interim::default();
    loop {
        while let Some(planned) = left.pop_front() {
            if begins_block(&folder, &run.plan, &planned)
                && adaptive::is_over_budget(&mut run.plan, planned.block, spent.ns())
            {
                folder.write_json("run.json", &run)?;
                observer.decided(&adaptive::words(&run.plan).unwrap_or_default(), -1 - left.len() as i64);
                return outcome(folder, &run, false);
            }
            interim.look(&folder, observer);
            if environment.stop.load(Ordering::Relaxed)
                || run_one(&folder, &run, &planned, targets, environment, observer)?.is_none()
            {
                return outcome(folder, &run, true);
            }
        }
        if !adaptive::is_open(&run.plan) {
            return outcome(folder, &run, false);
        }
        let so_far = folder.read_numbers(&run)?;
        left.extend(adaptive::decide(&mut run.plan, &so_far, spent.ns()));
        folder.write_json("run.json", &run)?;
        observer.decided(&adaptive::words(&run.plan).unwrap_or_default(), left.len() as i64);
    }
}

/// Whether no trial of this block, or of a later one, has ended: not so where failed ones are run again.
fn begins_block(folder: &RunFolder, plan: &ExperimentPlan, planned: &TrialPlan) -> bool {
    let mut from_here = plan.order.iter().filter(|other| other.block >= planned.block);
    adaptive::is_open(plan) && !from_here.any(|other| folder.trial(other.id).has_ended())
}

/// Runs one planned trial; `None` when it was interrupted.
pub(crate) fn run_one(
    folder: &RunFolder,
    run: &RunFile,
    planned: &TrialPlan,
    targets: &BTreeMap<String, Prepared>,
    environment: &Environment,
    observer: &mut dyn Observer,
) -> Result<Option<TrialFile>, RunnerError> {
    let parts = parts(folder, run, planned, targets)?;
    observer.trial_begins(planned, parts.0);
    let trial = folder.trial(planned.id);
    let options =
        TrialOptions { tick: Nanos(run.plan.counters.tick_ns), floors: None, keeps_interrupted: false };
    let ended = trial::run(&run.plan, planned, parts, &trial, environment, observer, &options)?;
    if let Some(file) = &ended {
        observer.trial_ends(file);
    }
    Ok(ended)
}

/// What a trial of the order is made of.
pub(crate) fn parts<'a>(
    folder: &RunFolder,
    run: &'a RunFile,
    planned: &TrialPlan,
    targets: &'a BTreeMap<String, Prepared>,
) -> Result<(&'a CellPlan, &'a ScenarioPlan, &'a Prepared), RunnerError> {
    let cell = run.plan.cells.iter().find(|cell| cell.id == planned.cell);
    let prepared = cell.and_then(|cell| targets.get(&cell.target));
    let scenario = cell.and_then(|cell| run.plan.scenario_of(cell));
    match (cell, scenario, prepared) {
        (Some(cell), Some(scenario), Some(prepared)) => Ok((cell, scenario, prepared)),
        _ => Err(RunnerError::from(RecordError::Damaged {
            path: folder.path().join("run.json"),
            what: "prony.run/1",
            cause: format!("the order names cell {}, which the plan does not have whole", planned.cell),
        })),
    }
}

pub(crate) fn outcome(folder: RunFolder, run: &RunFile, interrupted: bool) -> Result<Outcome, RunnerError> {
    let trials = folder.read_trials(run)?;
    let failed = trials.iter().filter(|trial| trial.file.outcome == TrialOutcome::Failed).count();
    Ok(Outcome { folder, ended: trials.len(), failed, interrupted, live: None })
}
