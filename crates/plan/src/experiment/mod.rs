//! From the experiment file to the plan: every default filled in, every mistake found before anything runs.

mod alarms;
#[cfg(test)]
mod calls_tests;
mod capacity;
mod claims;
mod counter;
mod counters;
mod design;
mod events;
mod grid;
mod knobs;
mod layers;
mod limits;
mod order;
mod profile;
mod short;
mod targets;
mod thresholds;
mod warmup;

pub use alarms::condition as alarm;
pub use capacity::{CONFIRMATIONS, KneeWishes, Levels, SearchWishes, TOLERANCE, UP_DOWN_BLOCKS, capacity};
pub use order::extend as add_blocks;
pub use profile::WINDOWS as PROFILE_WINDOWS;
pub use short::short;

use crate::context::Context;
use crate::load::settings::{self, Ground, LoadLevels, default_workers};
use crate::load::{http, trace};
use crate::wrong::Wrong;
use crate::{PlanError, defaults, hooks, scenario};
use launch::pin::{self, PinMode};
use schema::experiment::{ExperimentFile, Load, Phases};
use schema::limits::LimitsPlan;
use schema::plan::{
    CellPlan, ExperimentPlan, LoadPlan, PhasePlan, PinPlan, Replicas, ScenarioPlan, TargetPlan, TargetSource,
};
use schema::server_side::{Checks, ChecksPlan};
use schema::text::Problem;
use units::Nanos;

/// Most trials of one run.
const TRIALS_MAX: u64 = 100_000;
/// Longest run, 10 years: sums of nanoseconds then fit 64 bits wherever the plan goes.
const RUN_NS_MAX: u128 = 10 * 365 * 86_400 * 1_000_000_000;

/// Reads and resolves an experiment.
///
/// # Errors
/// Every mistake in the file, with its line; files it names that are missing or wrong.
pub fn experiment(file: &str, text: &str, context: &Context) -> Result<ExperimentPlan, PlanError> {
    let parsed = ExperimentFile::from_toml(file, text)?;
    resolve(&parsed, context).map_err(|wrong| match wrong {
        Wrong::Here(problem) => PlanError::File(problem.locate(file, text)),
        Wrong::Elsewhere(error) => error,
    })
}

fn resolve(file: &ExperimentFile, context: &Context) -> Result<ExperimentPlan, Wrong> {
    let design = &file.experiment;
    check_name(&design.name)?;
    let seed = design.seed.unwrap_or(defaults::SEED);
    let (positions, targets): (Vec<usize>, Vec<TargetPlan>) =
        targets::resolve(&file.target, context)?.into_iter().unzip();
    let scenarios = scenario::of_experiment(file.scenario.as_ref(), context)?;
    let services: Vec<String> = scenarios.iter().flat_map(|scenario| scenario.services.clone()).collect();
    let pin = context.pin.as_deref().or(design.pin.as_deref());
    let pin = pin_plan(pin, &context.usable_cpus, !services.is_empty())?;
    let limits = limits::resolve(file, &positions)?;
    let load = file.load.clone().unwrap_or_default();
    scenarios.iter().try_for_each(|scenario| trace::check(&load, scenario))?;
    let phases = phases(&file.phases, &targets)?;
    let ground = Ground {
        folder: &context.project,
        phases: &phases,
        seed,
        workers_default: default_workers(&pin, context.usable_cpus.len()),
        processes: None,
        origins: 1,
        growth: None,
    };
    let all = cells(&load, &targets, &limits, &scenarios, &ground)?;
    let grid = grid::Grid { uses: &file.target, positions: &positions, targets: &targets, cells: all };
    let (cells, chosen) = design::choose(&file.design, grid)?;
    let (positions, mut targets) = design::with_cells(targets, &positions, &scenarios, &cells)?;
    targets::hold(&mut targets, &cells);
    let blocks = positive("experiment.blocks", design.blocks.map_or(defaults::BLOCKS, |blocks| blocks.0))?;
    let events = events::resolve(&file.event, &targets, &cells, &phases)?;
    let margin = share("experiment.margin", design.margin, defaults::MARGIN, 0.0, 1.0)?;
    let checks = checks(&file.checks)?;
    let counters = counters::resolve(&file.counters)?;
    let hooks = (file.hooks.setup.as_deref(), file.hooks.teardown.as_deref());
    let hooks = hooks::resolve(hooks, file.hooks.timeout, "hooks")?;
    let claims = claims::resolve(&file.claim, &targets, &cells, margin)?;
    let thresholds = thresholds::resolve(&file.threshold, &targets)?;
    let alarms = alarms::resolve(&file.alarm, &targets)?;
    let mut plan = ExperimentPlan {
        name: design.name.clone(),
        short: false,
        keeps_phases: file.phases.shorten == Some(false),
        question: design.question.clone().unwrap_or_else(|| default_question(&targets)),
        design: chosen,
        order: Vec::new(),
        blocks: 0,
        replicas: replicas(design.replicas, &targets)?,
        seed,
        phases,
        margin,
        confidence: share("experiment.confidence", design.confidence, defaults::CONFIDENCE, 0.5, 0.9999)?,
        targets,
        scenarios,
        cells,
        events,
        capacity: None,
        checks,
        claims,
        thresholds,
        alarms,
        pin,
        soak: None,
        counters,
        profile: profile::resolve(file)?,
        hooks,
    };
    design::add_control(&file.design, &file.target, &positions, &mut plan)?;
    plan.design.stopping = design::stopping(&file.design, design.blocks, plan.cells.len(), TRIALS_MAX)?;
    design::check_decided(&file.design, &plan)?;
    check_trials(&plan, blocks)?;
    design::begin(&mut plan, blocks as u32);
    Ok(plan)
}

/// Refuses more trials, or more time, than anybody can wait for.
fn check_trials(plan: &ExperimentPlan, blocks: u64) -> Result<(), Problem> {
    let stopping = plan.design.stopping.as_ref();
    let most = stopping.map_or(blocks, |stopping| stopping.blocks_max.into());
    let cells = plan.cells.len() as u64;
    if most.saturating_mul(cells) > TRIALS_MAX {
        let cause = format!("{most} blocks of {cells} cells are more than {TRIALS_MAX} trials");
        return Err(Problem::at("experiment.blocks", cause, "use fewer blocks, or fewer levels"));
    }
    // A budget bounds all but the first blocks.
    let sure = match stopping {
        Some(stopping) if stopping.budget_ns.is_some() => stopping.blocks_pilot.into(),
        _ => most,
    };
    check_length(sure * cells, &plan.phases)
}

/// What a plan takes at most by its phases, in nanoseconds, without starts and stops.
#[must_use]
pub fn longest_ns(plan: &ExperimentPlan) -> f64 {
    let phases = &plan.phases;
    let measured_ns = phases.sample_ns.saturating_mul(phases.samples.into());
    let trial_ns = phases.warmup_at_most_ns.saturating_add(measured_ns).saturating_add(phases.drain_ns);
    plan.order.len() as f64 * trial_ns as f64
}

/// Cuts a plan to the blocks before its first look, as a run with a fixed number of blocks.
pub fn pilot(plan: &mut ExperimentPlan) {
    plan.design.stopping = None;
    design::begin(plan, design::BLOCKS_PILOT);
}

/// A build can be repeated only where there is one.
fn replicas(wanted: Option<Replicas>, targets: &[TargetPlan]) -> Result<Replicas, Problem> {
    let replicas = wanted.unwrap_or_default();
    let is_built = |target: &&TargetPlan| matches!(target.source, TargetSource::Manifest { .. });
    match targets.iter().find(|target| !is_built(target)).filter(|_| replicas == Replicas::Rebuild) {
        None => Ok(replicas),
        Some(other) => {
            let cause = format!("prony does not build {}, so it cannot rebuild it", other.name);
            let remedy = "write replicas = \"restart\", or name folders under targets/ only";
            Err(Problem::at("experiment.replicas", cause, remedy))
        }
    }
}

fn default_question(targets: &[TargetPlan]) -> String {
    let names: Vec<&str> = targets.iter().map(|target| target.name.as_str()).collect();
    match names.as_slice() {
        [one] => format!("How much does {one} take?"),
        many => format!("How do {} compare?", many.join(", ")),
    }
}

fn check_name(name: &str) -> Result<(), Problem> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !name.is_empty() && name.len() <= 80 && name.chars().all(is_plain) && !name.starts_with('.') {
        return Ok(());
    }
    let cause = "the name becomes part of a folder's name";
    Err(Problem::at("experiment.name", cause, "use letters, digits, `-`, `_` and `.`, at most 80 of them"))
}

/// The CPUs of generator, target and services.
fn pin_plan(pin: Option<&str>, usable: &[u32], has_services: bool) -> Result<PinPlan, Problem> {
    let wrong = |error: pin::PinError| {
        Problem::at(
            "experiment.pin",
            error.to_string(),
            "write \"auto\", \"off\", \"GENERATOR:TARGET\" such as \"0:1-3\", or \"GENERATOR:TARGET:SERVICES\"",
        )
    };
    let mode: PinMode = pin.unwrap_or("auto").parse().map_err(wrong)?;
    pin::plan(mode, usable, has_services).map_err(wrong)
}

/// All combinations of targets with the levels of their limits, scenarios, connections, rates and traces, in the order
/// written.
fn cells(
    load: &Load,
    targets: &[TargetPlan],
    limits: &[Vec<LimitsPlan>],
    scenarios: &[ScenarioPlan],
    ground: &Ground<'_>,
) -> Result<Vec<CellPlan>, Wrong> {
    let mut loads = Vec::with_capacity(scenarios.len());
    for scenario in scenarios {
        let load = http::of_calls(load, scenario)?;
        let levels = LoadLevels::of(&load, scenario, defaults::CONNECTIONS)?;
        loads.push((scenario, load, levels));
    }
    // Before they are made: short lists multiply to more than memory holds.
    let confined: usize = limits.iter().map(Vec::len).sum();
    let count = loads.iter().map(|(.., levels)| levels.count());
    let count = count.fold(0, usize::saturating_add).saturating_mul(confined);
    if count as u64 > TRIALS_MAX {
        let cause = format!("{count} combinations are more than {TRIALS_MAX} trials");
        return Err(Problem::at("load", cause, "use fewer levels, or fewer targets").into());
    }
    let confined = targets.iter().zip(limits).flat_map(|(target, levels)| {
        levels.iter().map(move |level| (target, level, limits::suffix(level, levels)))
    });
    let mut cells = Vec::with_capacity(count);
    for (target, limits, suffix) in confined {
        for (scenario, load, levels) in &loads {
            let named = if scenarios.len() > 1 { format!("{}, ", scenario.name) } else { String::new() };
            for level in levels.all() {
                let mut load = settings::plan(load, level, ground)?;
                if let TargetSource::Url { tls, .. } = &target.source {
                    load.tls.clone_from(tls);
                }
                http::agree(&mut load, None)?;
                let traced = trace::suffix(level.trace, &levels.traces);
                cells.push(CellPlan {
                    id: format!("c{}", cells.len() + 1),
                    label: format!("{}{suffix}, {named}{}{traced}", target.name, load_words(&load)),
                    target: target.name.clone(),
                    scenario: scenario.name.clone(),
                    load,
                    limits: limits.clone(),
                });
            }
        }
    }
    Ok(cells)
}

/// A load in words, as it stands in labels.
#[must_use]
pub fn load_words(load: &LoadPlan) -> String {
    let plural = if load.connections == 1 { "" } else { "s" };
    let plural = format!("{plural}{}", load.connection.stream_words());
    let shape = load.shape.as_ref().map_or(String::new(), |shape| format!(" {}", shape.kind));
    let think = load.think.map_or(String::new(), |think| format!(", think time {think}"));
    match load.rate_per_s {
        Some(rate) => format!("{rate}/s{shape} on {} connection{plural}", load.connections),
        None => format!("{} connection{plural}{think}", load.connections),
    }
}

fn phases(file: &Phases, targets: &[TargetPlan]) -> Result<PhasePlan, Problem> {
    let warmup = warmup::resolve(&file.warmup, targets)?;
    let sample = file.sample.unwrap_or(defaults::SAMPLE);
    if !(Nanos::from_millis(100)..=Nanos::from_secs(86_400)).contains(&sample) {
        return Err(Problem::at(
            "phases.sample",
            format!("a sample of {sample} is out of range"),
            "give from 100ms to 1d",
        ));
    }
    let samples = positive("phases.samples", file.samples.unwrap_or(defaults::SAMPLES).into())?;
    Ok(PhasePlan {
        warmup_at_least_ns: warmup.at_least.0,
        warmup_at_most_ns: warmup.at_most.0,
        warmup_also: warmup.also,
        sample_ns: sample.0,
        samples: samples as u32,
        drain_ns: defaults::DRAIN.0,
    })
}

/// How far target and client may differ (METHOD §9).
fn checks(file: &Checks) -> Result<ChecksPlan, Problem> {
    let usual = ChecksPlan::default();
    let counts = share("checks.counts", file.counts, usual.counts, 0.0, 1.0)?;
    match file.p95 {
        Some(Nanos(0)) => {
            let cause = "no two clocks agree to the nanosecond";
            Err(Problem::at("checks.p95", cause, "give a time such as \"8ms\""))
        }
        p95 => Ok(ChecksPlan { counts, p95_ns: p95.map_or(usual.p95_ns, |time| time.0) }),
    }
}

/// Refuses runs that nobody can wait for.
fn check_length(trials: u64, phases: &PhasePlan) -> Result<(), Problem> {
    let trial_ns = u128::from(phases.warmup_at_most_ns)
        + u128::from(phases.sample_ns) * u128::from(phases.samples)
        + u128::from(phases.drain_ns);
    if u128::from(trials) * trial_ns <= RUN_NS_MAX {
        return Ok(());
    }
    let cause = format!("{trials} trials of this length may take more than 10 years");
    Err(Problem::at("phases", cause, "use fewer or shorter samples, or a shorter warmup.at_most"))
}

fn positive(key: &str, value: u64) -> Result<u64, Problem> {
    if (1..=1_000_000).contains(&value) {
        return Ok(value);
    }
    Err(Problem::at(key, format!("{value} is out of range"), "give from 1 to 1000000"))
}

/// A share above one bound and up to another.
fn share(key: &str, given: Option<f64>, default: f64, above: f64, at_most: f64) -> Result<f64, Problem> {
    let value = given.unwrap_or(default);
    if value > above && value <= at_most {
        return Ok(value);
    }
    let remedy = format!("give a share above {above} and at most {at_most}");
    Err(Problem::at(key, format!("{value} is out of range"), remedy))
}
