//! A whole run: build, preflight, then the planned trials one by one into the run folder.

use crate::adaptive::Spent;
use crate::bring_up::Prepared;
use crate::environment::{Environment, Outcome, outcome};
use crate::interim::Interim;
use crate::observer::Observer;
use crate::planned_trial::run_one;
use crate::services::Services;
use crate::workshop::{confine, prepare, project_of, sweep};
use crate::{RunnerError, adaptive, profiled, rerun, search, versions};
use analyze::Surroundings;
use generate::GenerateError;
use plan::{Context, add_blocks};
use record::RunFolder;
use record::live::Live;
use schema::agents::AgentRecord;
use schema::doctor::DoctorReport;
use schema::environment::Weight;
use schema::plan::{ExperimentPlan, TrialPlan};
use schema::run::RunFile;
use schema::said::Said;
use schema::version::RunVersion;
use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::atomic::Ordering;

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
    let agents = agents_of(&plan, observer)?;
    let workshop = prepare(&plan, context, environment, observer)?;
    let now = jiff::Timestamp::now();
    let id = record::run_name(now, &plan.name);
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
        agents,
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

/// Runs the trials of a run that are missing, because it was cut off, or that failed or are void, and `more_blocks`
/// blocks that it was not planned with.
///
/// # Errors
/// As [`run`], when the folder cannot be read, and where more blocks are asked of a run that decides by itself.
pub fn resume(
    path: &Path,
    usable_cpus: Vec<u32>,
    more_blocks: u32,
    environment: &Environment,
    observer: &mut dyn Observer,
) -> Result<Outcome, RunnerError> {
    let folder = RunFolder::open(path)?;
    let mut run = folder.read_run()?;
    if run.plan.soak.is_some() {
        return Err(RunnerError::IsSoak(path.to_owned()));
    }
    if more_blocks > 0 {
        if run.plan.design.stopping.is_some() || run.plan.capacity.is_some() {
            return Err(RunnerError::BlocksAreDecided(path.to_owned()));
        }
        add_blocks(&mut run.plan, more_blocks);
        folder.write_json("run.json", &run)?;
    }
    let is_whole = run.plan.order.iter().all(|planned| !folder.trial(planned.id).is_missing());
    if is_whole && run.plan.search().is_none() && !adaptive::is_open(&run.plan) {
        let is_void_left = !rerun::plan(&mut run.plan.clone(), &folder.read_numbers(&run)?).is_empty();
        if !is_void_left {
            return outcome(folder, &run, false);
        }
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
    agents_of(&run.plan, observer)?;
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

/// The agents of a run, reached before anything is built, so that a mistake in the fleet shows at once.
fn agents_of(plan: &ExperimentPlan, observer: &mut dyn Observer) -> Result<Vec<AgentRecord>, RunnerError> {
    let Some(fleet) = plan.cells.iter().find_map(|cell| cell.load.fleet.as_ref()) else {
        return Ok(Vec::new());
    };
    let agents = generate::agents::inspect(fleet).map_err(GenerateError::from)?;
    for agent in &agents {
        observer.note(&format!(
            "agent {} on {}: its clock is known within {} µs",
            agent.name,
            agent.facts.host,
            agent.clock.bound_ns.div_ceil(1000)
        ));
        if let Some(note) = agent.facts.kernel_clock.and_then(|clock| clock.note()) {
            observer.note(&format!("agent {}: {note}", agent.name));
        }
    }
    Ok(agents)
}

/// Names what has changed on the host, or which other host this is, so far as it moves the numbers.
fn tell_other_host(run: &RunFile, now: &DoctorReport, observer: &mut dyn Observer) {
    let then = Surroundings { name: &run.id, host: &run.environment, versions: &run.versions };
    let now = Surroundings { name: "now", host: now, versions: &run.versions };
    let differences = analyze::environment_diff(then, now).differences;
    for found in differences.iter().filter(|found| found.weight == Weight::Decisive) {
        let value = |value: &Option<Said>| value.clone().unwrap_or_default();
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

/// Two runs of one experiment within a second get different folders.
fn create_folder(environment: &Environment, id: &str) -> Result<RunFolder, RunnerError> {
    let taken = |name: &str| environment.runs.join(name).exists();
    let name = (2..).map(|n| format!("{id}-{n}")).find(|name| !taken(name)).filter(|_| taken(id));
    Ok(RunFolder::create(&environment.runs, name.as_deref().unwrap_or(id))?)
}

/// Runs what is missing, what is void again, and the blocks that are decided upon meanwhile.
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
        let so_far = folder.read_numbers(&run)?;
        let again = rerun::plan(&mut run.plan, &so_far);
        if !again.is_empty() {
            folder.write_json("run.json", &run)?;
            observer.decided(&rerun::words(&again), again.len() as i64);
            left.extend(again);
            continue;
        }
        if !adaptive::is_open(&run.plan) {
            return outcome(folder, &run, false);
        }
        left.extend(adaptive::decide(&mut run.plan, run.calibration.as_ref(), &so_far, spent.ns()));
        folder.write_json("run.json", &run)?;
        observer.decided(&adaptive::words(&run.plan).unwrap_or_default(), left.len() as i64);
    }
}

/// Whether no trial of this block, or of a later one, has ended: not so where failed ones are run again.
fn begins_block(folder: &RunFolder, plan: &ExperimentPlan, planned: &TrialPlan) -> bool {
    let mut from_here = plan.order.iter().filter(|other| other.block >= planned.block);
    adaptive::is_open(plan) && !from_here.any(|other| folder.trial(other.id).has_ended())
}
