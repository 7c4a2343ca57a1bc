//! From the experiment file to the plan: every default filled in, every mistake found before anything runs.

mod capacity;
mod claims;
mod counters;
mod design;
mod events;
mod grid;
mod knobs;
mod layers;
mod limits;
mod order;
mod profile;
mod targets;
mod warmup;

pub use capacity::{CONFIRMATIONS, KneeWishes, Levels, SearchWishes, TOLERANCE, UP_DOWN_BLOCKS, capacity};
pub use order::extend as add_blocks;
pub use profile::WINDOWS as PROFILE_WINDOWS;

use crate::context::Context;
use crate::load::arrival::{self, Wishes};
use crate::load::connection::connection;
use crate::load::processes::{Spread, Wanted, connections_per_process, spread};
use crate::wrong::Wrong;
use crate::{PlanError, defaults, hooks, scenario};
use launch::pin::{self, PinMode};
use schema::arrival::Arrivals;
use schema::experiment::{ExperimentFile, Load, LoadModel, OneOrMany, Phases};
use schema::limits::LimitsPlan;
use schema::plan::{
    CellPlan, ExperimentPlan, LoadPlan, PhasePlan, PinPlan, Replicas, ScenarioPlan, TargetPlan, TargetSource,
};
use schema::scenario::UserConnection;
use schema::server_side::{Checks, ChecksPlan};
use schema::text::{Problem, parse_toml};
use units::{Count, Nanos, PerSecond};

/// Most trials of one run.
const TRIALS_MAX: u64 = 100_000;
/// Longest run, 10 years: sums of nanoseconds then fit 64 bits wherever the plan goes.
const RUN_NS_MAX: u128 = 10 * 365 * 86_400 * 1_000_000_000;
/// Most connections of one load, over all its processes; the memory of one machine ends not far beyond.
pub const CONNECTIONS_MAX: u64 = 200_000;

/// Reads and resolves an experiment.
///
/// # Errors
/// Every mistake in the file, with its line; files it names that are missing or wrong.
pub fn experiment(file: &str, text: &str, context: &Context) -> Result<ExperimentPlan, PlanError> {
    let parsed: ExperimentFile = parse_toml(file, text)?;
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
    let limits = limits::resolve(file, &positions, &services)?;
    let load = file.load.clone().unwrap_or_default();
    let phases = phases(&file.phases, &targets)?;
    let all = cells(&load, &targets, &limits, &scenarios, |load, connections, rate| {
        load_plan(load, connections, rate, &pin, context, seed, &phases)
    })?;
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
    let mut plan = ExperimentPlan {
        name: design.name.clone(),
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
        pin,
        soak: None,
        counters,
        profile: profile::resolve(file)?,
        hooks,
    };
    design::add_control(&file.design, &file.target, &positions, &mut plan)?;
    plan.design.stopping = design::stopping(&file.design, design.blocks, plan.cells.len(), TRIALS_MAX)?;
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
            let cause = format!("prony does not build {}, so it cannot build it anew", other.name);
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

/// The virtual users of a closed load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Users {
    /// Not spoken of: as many as connections.
    Unsaid,
    /// Each has a connection of its own, so this is the number of connections.
    OwnConnections(u64),
    /// They share the connections, whose number is given besides.
    Sharing(u32),
}

impl Users {
    /// The number in the plan, where it is not that of the connections.
    #[must_use]
    pub const fn sharing(self) -> Option<u32> {
        match self {
            Self::Sharing(count) => Some(count),
            Self::Unsaid | Self::OwnConnections(_) => None,
        }
    }
}

/// What a number of users means for a scenario; `key` is where it was given, `has_connections` whether their number was.
///
/// # Errors
/// Users of an open load, or of a scenario in which each has a connection, with another number of connections.
pub fn users(
    key: &str,
    wanted: Option<units::Users>,
    model: LoadModel,
    has_connections: bool,
    scenario: &ScenarioPlan,
) -> Result<Users, Problem> {
    let Some(units::Users(count)) = wanted else { return Ok(Users::Unsaid) };
    if model == LoadModel::Open {
        let cause = "an open load has no fixed number of users: its rate decides";
        return Err(Problem::at(key, cause, "remove the users, or the rate"));
    }
    let shares = scenario.session.as_ref().is_some_and(|session| session.connection == UserConnection::Pool);
    match (shares, has_connections) {
        (true, _) if count > CONNECTIONS_MAX => {
            let cause = format!("{count} users are out of range");
            Err(Problem::at(key, cause, format!("give at most {CONNECTIONS_MAX}")))
        }
        (true, _) => Ok(Users::Sharing(count as u32)),
        (false, true) => {
            let cause = "each user has a connection of its own, and both numbers are given";
            let remedy =
                "give one of users and connections, or a scenario whose session has connection = \"pool\"";
            Err(Problem::at(key, cause, remedy))
        }
        (false, false) => Ok(Users::OwnConnections(count)),
    }
}

/// All combinations of targets with the levels of their limits, scenarios, connections and rates, in the order
/// written.
fn cells(
    load: &Load,
    targets: &[TargetPlan],
    limits: &[Vec<LimitsPlan>],
    scenarios: &[ScenarioPlan],
    load_plan: impl Fn(&Load, u32, Option<PerSecond>) -> Result<LoadPlan, Wrong>,
) -> Result<Vec<CellPlan>, Wrong> {
    let mut loads = Vec::with_capacity(scenarios.len());
    for scenario in scenarios {
        let (load, users) = load_of(load, scenario)?;
        let (connections, rates) = (connection_levels(&load)?, rate_levels(&load)?);
        loads.push((scenario, load, users, connections, rates));
    }
    // Before they are made: short lists multiply to more than memory holds.
    let confined: usize = limits.iter().map(Vec::len).sum();
    let count = loads.iter().map(|(.., connections, rates)| connections.len().saturating_mul(rates.len()));
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
        for (scenario, load, users, connections, rates) in &loads {
            let named = if scenarios.len() > 1 { format!("{}, ", scenario.name) } else { String::new() };
            for connections in connections {
                for rate in rates {
                    let mut load = load_plan(load, *connections, *rate)?;
                    load.users = *users;
                    if let TargetSource::Url { tls, .. } = &target.source {
                        load.tls.clone_from(tls);
                    }
                    cells.push(CellPlan {
                        id: format!("c{}", cells.len() + 1),
                        label: format!("{}{suffix}, {named}{}", target.name, load_words(&load)),
                        target: target.name.clone(),
                        scenario: scenario.name.clone(),
                        load,
                        limits: limits.clone(),
                    });
                }
            }
        }
    }
    Ok(cells)
}

/// The load as a scenario understands its users, and how many of them share connections.
fn load_of(load: &Load, scenario: &ScenarioPlan) -> Result<(Load, Option<u32>), Problem> {
    let mut load = load.clone();
    let users = users("load", load.users, load.model, load.connections.is_some(), scenario)?;
    if let Users::OwnConnections(count) = users {
        load.connections = Some(OneOrMany::One(Count(count)));
    }
    Ok((load, users.sharing()))
}

/// A load in words, as it stands in labels.
#[must_use]
pub fn load_words(load: &LoadPlan) -> String {
    let plural = if load.connections == 1 { "" } else { "s" };
    let shape = load.shape.as_ref().map_or(String::new(), |shape| format!(" {}", shape.kind));
    let think = load.think.map_or(String::new(), |think| format!(", think time {think}"));
    match load.rate_per_s {
        Some(rate) => format!("{rate}/s{shape} on {} connection{plural}", load.connections),
        None => format!("{} connection{plural}{think}", load.connections),
    }
}

fn connection_levels(load: &Load) -> Result<Vec<u32>, Problem> {
    let levels =
        load.connections.as_ref().map_or_else(|| vec![Count(defaults::CONNECTIONS)], |all| all.levels());
    if levels.is_empty() {
        return Err(Problem::at(
            "load.connections",
            "the list is empty",
            "give at least one number of connections",
        ));
    }
    levels.into_iter().map(|level| check_connections(level.0)).collect()
}

fn check_connections(connections: u64) -> Result<u32, Problem> {
    if (1..=CONNECTIONS_MAX).contains(&connections) {
        return Ok(connections as u32);
    }
    let cause = format!("{connections} connections are out of range");
    Err(Problem::at("load.connections", cause, format!("give from 1 to {CONNECTIONS_MAX}")))
}

fn rate_levels(load: &Load) -> Result<Vec<Option<PerSecond>>, Problem> {
    match (load.model, &load.rate) {
        (LoadModel::Closed, None) => Ok(vec![None]),
        (LoadModel::Open, None) if matches!(load.arrivals, Some(Arrivals::Recorded { .. })) => Ok(vec![None]),
        (LoadModel::Closed, Some(_)) => {
            Err(Problem::at("load.rate", "a closed load has no rate", "remove it, or use model = \"open\""))
        }
        (LoadModel::Open, None) => {
            Err(Problem::at("load", "an open load needs a rate", "add rate = 1000, or a list of rates"))
        }
        (LoadModel::Open, Some(rates)) => {
            let rates = rates.levels();
            if rates.is_empty() || rates.iter().any(|rate| !(1e-6..=1e9).contains(&rate.0)) {
                let cause = "a rate is out of range, or the list is empty";
                return Err(Problem::at(
                    "load.rate",
                    cause,
                    "give rates from 0.000001 to 1000000000 per second",
                ));
            }
            Ok(rates.into_iter().map(Some).collect())
        }
    }
}

fn load_plan(
    load: &Load,
    connections: u32,
    rate: Option<PerSecond>,
    pin: &PinPlan,
    context: &Context,
    seed: u64,
    phases: &PhasePlan,
) -> Result<LoadPlan, Wrong> {
    let connections_max = growth("load.max_connections", load.model, connections, load.max_connections)?;
    let wanted = Wanted {
        connections: connections_max,
        workers: load.workers,
        workers_default: default_workers(pin, context.usable_cpus.len()),
        processes: None,
    };
    let Spread { workers, processes } = spread(wanted, connections_per_process())
        .map_err(|error| Problem::at("load.workers", error.to_string(), "leave workers out, or give more"))?;
    let wishes = Wishes {
        model: load.model,
        rate,
        arrivals: load.arrivals.as_ref(),
        shape: load.shape.as_ref(),
        think: load.think.as_ref(),
    };
    let pacing = arrival::resolve(wishes, phases, &context.project)?;
    let connection = connection(&load.connection, load.model)?;
    if connection.pipeline > 1 && load.think.is_some() {
        let cause = "pipelining sends ahead of answers, think time waits after them";
        return Err(Problem::at("load.think", cause, "leave one of them out").into());
    }
    Ok(pacing.into_plan(LoadPlan {
        model: load.model,
        connections,
        connections_max,
        workers,
        processes,
        connect_timeout_ns: timeout("load.connect_timeout", load.connect_timeout, defaults::CONNECT_TIMEOUT)?,
        timeout_ns: timeout("load.timeout", load.timeout, defaults::TIMEOUT)?,
        total_timeout_ns: load
            .total_timeout
            .map(|time| timeout("load.total_timeout", Some(time), time))
            .transpose()?,
        deadline_ns: deadline("load.deadline", load.model, load.deadline)?,
        driver: load.driver.unwrap_or_default(),
        spin: load.spin.unwrap_or_default(),
        priority: load.priority.unwrap_or_default(),
        connection,
        seed,
        ..LoadPlan::default()
    }))
}

/// Up to how many connections an open load may grow; `key` is where the number was given.
///
/// # Errors
/// A closed load, fewer than are opened ahead, or more than a load may have.
pub fn growth(key: &str, model: LoadModel, connections: u32, given: Option<Count>) -> Result<u32, Problem> {
    match given {
        None => Ok(connections),
        Some(_) if model == LoadModel::Closed => Err(Problem::at(
            key,
            "a closed load has the connections it begins with",
            "remove it, or use an open load (a rate)",
        )),
        Some(Count(max)) if (u64::from(connections)..=CONNECTIONS_MAX).contains(&max) => Ok(max as u32),
        Some(Count(max)) => {
            let cause =
                format!("at most {max} connections do not fit the {connections} that are opened ahead");
            Err(Problem::at(key, cause, format!("give from {connections} to {CONNECTIONS_MAX}")))
        }
    }
}

/// The deadline of an open load; `key` is where it was given.
///
/// # Errors
/// A closed load, which waits for every answer, or a deadline of zero.
pub fn deadline(key: &str, model: LoadModel, given: Option<Nanos>) -> Result<Option<u64>, Problem> {
    match given {
        Some(_) if model == LoadModel::Closed => Err(Problem::at(
            key,
            "a closed load is never late: it waits for answers",
            "remove it, or use an open load (a rate)",
        )),
        Some(time) => timeout(key, Some(time), time).map(Some),
        None => Ok(None),
    }
}

/// One worker for each CPU of the generator's set; without a set, for a quarter of the CPUs.
#[must_use]
pub fn default_workers(pin: &PinPlan, usable: usize) -> u32 {
    let cpus = pin.generator.as_ref().map_or(usable / 4, Vec::len);
    u32::try_from(cpus.max(1)).unwrap_or(u32::MAX)
}

fn timeout(key: &str, given: Option<Nanos>, default: Nanos) -> Result<u64, Problem> {
    match given.unwrap_or(default) {
        Nanos(0) => {
            Err(Problem::at(key, "a time-out of zero would fail every request", "give a time such as \"5s\""))
        }
        time => Ok(time.0),
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
