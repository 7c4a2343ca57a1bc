//! `[load]` and its flags: one resolution for files and for the command line.
//!
//! Invariant: each setting is checked here, or in [`super::connection`], [`super::arrival`] and [`super::users`], and
//! nowhere else. A mistake carries the key of the file; the command line names the flag instead.

use super::arrival::{self, Wishes};
use super::connection::{Spoken, connection, spoken};
use super::processes::{Spread, SpreadError, Wanted, connections_per_process, spread};
use super::trace;
use super::users::{CONNECTIONS_MAX, Users, users};
use crate::defaults;
use crate::wrong::Wrong;
use schema::arrival::Arrivals;
use schema::experiment::{Load, LoadModel};
use schema::plan::{LoadPlan, PhasePlan, PinPlan, ScenarioPlan};
use schema::text::Problem;
use schema::trace_level::TraceLevel;
use schema::traced::TracePlan;
use std::path::Path;
use units::{Count, Nanos, PerSecond};

/// What a load is resolved against, beside its own settings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ground<'a> {
    /// Files of recorded times are relative to it.
    pub(crate) folder: &'a Path,
    pub(crate) phases: &'a PhasePlan,
    pub(crate) seed: u64,
    /// Generator threads where the user has no wish.
    pub(crate) workers_default: u32,
    /// Generator processes that the user wants.
    pub(crate) processes: Option<u32>,
    /// Servers to each of which the connections are opened.
    pub(crate) origins: u32,
    /// Up to how many connections an open load grows that names neither their number nor their maximum.
    pub(crate) growth: Option<Count>,
}

/// The levels that a load was given, checked.
#[derive(Clone, Debug)]
pub(crate) struct LoadLevels {
    pub(crate) connections: Vec<u32>,
    /// A closed load, and one that replays recorded times, has no rate.
    pub(crate) rates: Vec<Option<PerSecond>>,
    /// What connections speak.
    pub(crate) spoken: Vec<Spoken>,
    /// How many traces are sampled.
    pub(crate) traces: Vec<TraceLevel>,
    /// Users that share connections.
    pub(crate) users: Option<u32>,
}

/// One of each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level {
    pub(crate) connections: u32,
    pub(crate) rate: Option<PerSecond>,
    pub(crate) spoken: Spoken,
    pub(crate) trace: TraceLevel,
    pub(crate) users: Option<u32>,
}

impl LoadLevels {
    /// As a scenario understands the load's users; `default` is the number of connections where none is given.
    ///
    /// # Errors
    /// A number or share out of range, an empty list, a rate of a closed load, none of an open one, or users that cannot be.
    pub(crate) fn of(load: &Load, scenario: &ScenarioPlan, default: u64) -> Result<Self, Problem> {
        let users = users(load.users, load.model, load.connections.is_some(), scenario)?;
        let connections = match (users, &load.connections) {
            (Users::OwnConnections(count), _) => vec![Count(count)],
            (_, Some(given)) => given.levels(),
            (_, None) => vec![Count(default)],
        };
        Ok(Self {
            connections: in_range(connections)?,
            rates: rates(load)?,
            spoken: spoken(&load.connection)?,
            traces: trace::levels(load)?,
            users: users.sharing(),
        })
    }

    /// All combinations: every share of traces at the first rate, then at the next one, with what is spoken first at the
    /// first number of connections, then with what is spoken next, then at the next number.
    pub(crate) fn all(&self) -> impl Iterator<Item = Level> {
        let users = self.users;
        let spoken =
            self.connections.iter().flat_map(|&c| self.spoken.iter().map(move |&spoken| (c, spoken)));
        let rates = spoken.flat_map(|(connections, spoken)| {
            self.rates.iter().map(move |&rate| (connections, spoken, rate))
        });
        rates.flat_map(move |(connections, spoken, rate)| {
            self.traces.iter().map(move |&trace| Level { connections, rate, spoken, trace, users })
        })
    }

    /// How many combinations there are.
    pub(crate) fn count(&self) -> usize {
        let lists = [self.connections.len(), self.rates.len(), self.spoken.len(), self.traces.len()];
        lists.into_iter().fold(1, usize::saturating_mul)
    }
}

fn in_range(levels: Vec<Count>) -> Result<Vec<u32>, Problem> {
    const KEY: &str = "load.connections";
    if levels.is_empty() {
        return Err(Problem::at(KEY, "the list is empty", "give at least one number of connections"));
    }
    let check = |Count(level): Count| match level {
        1..=CONNECTIONS_MAX => Ok(level as u32),
        _ => {
            let cause = format!("{level} connections are out of range");
            Err(Problem::at(KEY, cause, format!("give from 1 to {CONNECTIONS_MAX}")))
        }
    };
    levels.into_iter().map(check).collect()
}

fn rates(load: &Load) -> Result<Vec<Option<PerSecond>>, Problem> {
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
            let outside = rates.iter().find(|rate| !(1e-6..=1e9).contains(&rate.0));
            let cause = match outside {
                Some(rate) => format!("a rate of {rate} is out of range"),
                None if rates.is_empty() => "the list is empty".to_owned(),
                None => return Ok(rates.into_iter().map(Some).collect()),
            };
            Err(Problem::at("load.rate", cause, "give rates from 0.000001 to 1000000000 per second"))
        }
    }
}

/// The plan of one level.
///
/// # Errors
/// A setting out of its range, or one that contradicts another.
pub(crate) fn plan(load: &Load, level: Level, ground: &Ground<'_>) -> Result<LoadPlan, Wrong> {
    let Level { connections, rate, spoken, trace, users } = level;
    let connections_max = growth(load, connections, ground.growth)?;
    let Spread { workers, processes } = shared(load, connections, connections_max, ground)?;
    let pacing = arrival::resolve(Wishes::of(load, rate), ground.phases, ground.folder)?;
    let connection = connection(&load.connection, load.model, spoken)?;
    if connection.pipeline > 1 && load.think.is_some() {
        let cause = "pipelining sends ahead of answers, think time waits after them";
        return Err(Problem::at("load.think", cause, "leave one of them out").into());
    }
    let total = load.total_timeout.map(|time| timeout("load.total_timeout", time)).transpose()?;
    Ok(pacing.into_plan(LoadPlan {
        model: load.model,
        connections,
        connections_max,
        users,
        workers,
        processes,
        connect_timeout_ns: timeout(
            "load.connect_timeout",
            load.connect_timeout.unwrap_or(defaults::CONNECT_TIMEOUT),
        )?,
        timeout_ns: timeout("load.timeout", load.timeout.unwrap_or(defaults::TIMEOUT))?,
        total_timeout_ns: total,
        deadline_ns: deadline(load)?,
        driver: load.driver.unwrap_or_default(),
        spin: load.spin.unwrap_or_default(),
        priority: load.priority.unwrap_or_default(),
        connection,
        trace: trace.share().map(|share| TracePlan { share, seed: ground.seed }),
        seed: ground.seed,
        ..LoadPlan::default()
    }))
}

/// Up to how many connections an open load may grow.
fn growth(load: &Load, connections: u32, free: Option<Count>) -> Result<u32, Problem> {
    const KEY: &str = "load.max_connections";
    let is_free = load.model == LoadModel::Open && load.connections.is_none();
    match load.max_connections.or(free.filter(|_| is_free)) {
        None => Ok(connections),
        Some(_) if load.model == LoadModel::Closed => Err(Problem::at(
            KEY,
            "a closed load has the connections it begins with",
            "remove it, or use an open load (a rate)",
        )),
        Some(Count(max)) if (u64::from(connections)..=CONNECTIONS_MAX).contains(&max) => Ok(max as u32),
        Some(Count(max)) => {
            let cause =
                format!("at most {max} connections do not fit the {connections} that are opened ahead");
            Err(Problem::at(KEY, cause, format!("give from {connections} to {CONNECTIONS_MAX}")))
        }
    }
}

/// Workers and processes. They are made for the connections that the user allows, not for room that nobody asked for.
fn shared(load: &Load, connections: u32, max: u32, ground: &Ground<'_>) -> Result<Spread, Problem> {
    let reserved = if load.max_connections.is_some() { max } else { connections };
    let wanted = Wanted {
        connections: reserved.saturating_mul(ground.origins),
        workers: load.workers,
        workers_default: ground.workers_default,
        processes: ground.processes,
    };
    spread(wanted, connections_per_process()).map_err(|error| {
        let key = match error {
            SpreadError::Processes { .. } => "processes",
            SpreadError::Workers { .. } | SpreadError::Descriptors { .. } => "load.workers",
        };
        let text = error.to_string();
        let (cause, remedy) = text.split_once("; ").unwrap_or((&text, "leave workers out"));
        Problem::at(key, cause, remedy)
    })
}

/// The deadline of an open load.
fn deadline(load: &Load) -> Result<Option<u64>, Problem> {
    const KEY: &str = "load.deadline";
    match load.deadline {
        Some(_) if load.model == LoadModel::Closed => Err(Problem::at(
            KEY,
            "a closed load is never late: it waits for answers",
            "remove it, or use an open load (a rate)",
        )),
        given => given.map(|time| timeout(KEY, time)).transpose(),
    }
}

fn timeout(key: &str, time: Nanos) -> Result<u64, Problem> {
    if time == Nanos::ZERO {
        let cause = "a time-out of zero would fail every request";
        return Err(Problem::at(key, cause, "give a time such as \"5s\""));
    }
    Ok(time.0)
}

/// One worker for each CPU of the generator's set; without a set, for a quarter of the CPUs.
#[must_use]
pub(crate) fn default_workers(pin: &PinPlan, usable: usize) -> u32 {
    let cpus = pin.generator.as_ref().map_or(usable / 4, Vec::len);
    u32::try_from(cpus.max(1)).unwrap_or(u32::MAX)
}
