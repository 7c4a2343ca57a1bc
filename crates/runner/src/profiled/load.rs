//! The load under which profiles are taken: the cell's own, until the last profile is there.

use crate::bring_up::{self, Prepared, Up};
use crate::environment::Environment;
use crate::server_counts::metrics_of;
use crate::{RunnerError, trial};
use engine::IntervalData;
use generate::measure::{Watch, measure};
use launch::RunningTarget;
use profile::{Endpoint, Refused, Request, Taken};
use schema::plan::{CellPlan, ExperimentPlan, PhasePlan, ScenarioPlan};
use schema::profile::ProfileKind;
use schema::said;
use schema::steady::WarmUpConditions;
use schema::trial::{IntervalLine, Phase};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use units::Nanos;

/// What a profiler may take besides its window, at most; the load goes on as long.
const BESIDE: Nanos = Nanos::from_secs(120);
/// Warm-up is at least this long, so that connections are open and the target has been busy.
const WARMUP_LEAST: Nanos = Nanos::SECOND;

/// What is loaded, and what is taken.
pub(super) struct Under<'a> {
    pub(super) plan: &'a ExperimentPlan,
    pub(super) cell: &'a CellPlan,
    pub(super) scenario: &'a ScenarioPlan,
    pub(super) prepared: &'a Prepared,
    pub(super) kinds: &'a [ProfileKind],
    pub(super) window_ns: u64,
}

/// What came of it.
pub(super) struct Profiled {
    pub(super) results: Vec<Result<Taken, Refused>>,
    pub(super) settings: BTreeMap<String, String>,
    pub(super) throughput_per_s: Option<f64>,
    pub(super) failed: u64,
}

/// Starts the target, loads it, takes the profiles and stops it.
pub(super) fn profiled(
    under: &Under,
    folder: &Path,
    environment: &Environment,
) -> Result<Profiled, RunnerError> {
    let scratch = tempfile::tempdir().map_err(RunnerError::io("make a folder in", &std::env::temp_dir()))?;
    let (prepared, settings) = prepared_for(under, scratch.path())?;
    let log = folder.join("target.log");
    let scenarios = std::slice::from_ref(under.scenario);
    let (plan, cell) = (under.plan, under.cell);
    let connection = &cell.load.connection;
    let up =
        bring_up::bring_up(&prepared, scenarios, &cell.limits, connection, &plan.pin, &log, environment)?;
    let mut job = trial::load_job(plan, cell, under.scenario, &up);
    job.phases = phases(under);
    let mut taker = Taker::new(under, &prepared, &up, scratch.path());
    let measured = measure(&job, None, &mut taker, &environment.stop);
    let results = taker.finish();
    let stopped = bring_up::stop(up);
    measured?;
    let results = match (results, stopped) {
        (results, Ok(())) => results,
        // What was taken of a target that ended badly says why it did.
        (results, Err(error)) if results.iter().any(Result::is_ok) => {
            note_end(&log, &error);
            results
        }
        (_, Err(error)) => return Err(error),
    };
    let throughput_per_s =
        (taker.watched_ns > 0).then(|| taker.answers as f64 * 1e9 / taker.watched_ns as f64);
    Ok(Profiled { results, settings, throughput_per_s, failed: taker.failed })
}

/// How a target ended that gave its profiles before goes where its own words are.
fn note_end(log: &Path, error: &RunnerError) {
    use std::io::Write as _;
    if let Ok(mut file) = std::fs::OpenOptions::new().append(true).open(log) {
        let _ = writeln!(file, "prony: {error}");
    }
}

/// The target with what its profilers need of its start; none of it was so in the trials.
fn prepared_for(under: &Under, scratch: &Path) -> Result<(Prepared, BTreeMap<String, String>), RunnerError> {
    let mut prepared = under.prepared.clone();
    let mut settings = BTreeMap::new();
    let wants = |of: fn(ProfileKind) -> bool| under.kinds.iter().any(|kind| of(*kind));
    let switches = [
        ("pprof", wants(ProfileKind::is_go)),
        ("excimer", wants(|kind| kind == ProfileKind::Php)),
        ("profile-rates", wants(|kind| matches!(kind, ProfileKind::Block | ProfileKind::Mutex))),
    ];
    for (name, _) in switches.into_iter().filter(|(name, wanted)| *wanted && has_knob(under.prepared, name)) {
        prepared.plan.knobs.insert(name.to_owned(), "true".to_owned());
        settings.insert(name.to_owned(), "true".to_owned());
    }
    if wants(|kind| kind == ProfileKind::Php) {
        let (name, value) = profile::php_ini(scratch).map_err(RunnerError::io("write in", scratch))?;
        settings.insert(name.clone(), value.clone());
        prepared.plan.env.insert(name, value);
    }
    Ok((prepared, settings))
}

fn has_knob(target: &Prepared, name: &str) -> bool {
    target.manifest.as_ref().is_some_and(|(manifest, _)| manifest.knob.iter().any(|knob| knob.name == name))
}

/// One warm-up of fixed length, one sample that lasts until all is taken.
fn phases(under: &Under) -> PhasePlan {
    let warmup_ns = under.plan.phases.warmup_at_least_ns.max(WARMUP_LEAST.0);
    let each_ns = under.window_ns.saturating_add(BESIDE.0);
    PhasePlan {
        warmup_at_least_ns: warmup_ns,
        warmup_at_most_ns: warmup_ns,
        warmup_also: WarmUpConditions::default(),
        sample_ns: each_ns.saturating_mul(under.kinds.len().max(1) as u64),
        samples: 1,
        drain_ns: under.plan.phases.drain_ns,
    }
}

/// Everything a taking thread needs, owned by it.
struct Order {
    kinds: Vec<ProfileKind>,
    window: Duration,
    pid: Option<u32>,
    at: Endpoint,
    go_pprof: Option<String>,
    php: Option<PathBuf>,
    scratch: PathBuf,
}

/// Takes the profiles on a thread of its own, from the end of warm-up on.
struct Taker {
    order: Option<Order>,
    stop: Arc<AtomicBool>,
    done: Arc<AtomicBool>,
    thread: Option<JoinHandle<Vec<Result<Taken, Refused>>>>,
    kinds: Vec<ProfileKind>,
    answers: u64,
    failed: u64,
    watched_ns: u64,
}

impl Taker {
    fn new(under: &Under, prepared: &Prepared, up: &Up, scratch: &Path) -> Self {
        let order = Order {
            kinds: under.kinds.to_vec(),
            window: Duration::from_nanos(under.window_ns),
            pid: up.running.as_ref().map(RunningTarget::pid),
            at: Endpoint { addr: up.addr, host: up.authority.clone(), tls: up.tls.clone() },
            go_pprof: metrics_of(prepared).go_pprof,
            php: under.kinds.contains(&ProfileKind::Php).then(|| scratch.to_owned()),
            scratch: scratch.to_owned(),
        };
        Self {
            order: Some(order),
            stop: Arc::default(),
            done: Arc::default(),
            thread: None,
            kinds: under.kinds.to_vec(),
            answers: 0,
            failed: 0,
            watched_ns: 0,
        }
    }

    /// Waits for the thread; what was never begun is refused.
    fn finish(&mut self) -> Vec<Result<Taken, Refused>> {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(Ok(results)) = self.thread.take().map(JoinHandle::join) {
            return results;
        }
        let never = |kind: &ProfileKind| Refused {
            kind: *kind,
            why: Box::new(said!("profile.load_ended", "the load ended before its warm-up did")),
            remedy: Box::new(said!("profile.look_at_target_log", "look at target.log beside the profiles")),
        };
        self.kinds.iter().map(|kind| Err(never(kind))).collect()
    }
}

impl Watch for Taker {
    type Error = RunnerError;

    fn samples_begin(&mut self) {
        let Some(order) = self.order.take() else { return };
        let (stop, done) = (Arc::clone(&self.stop), Arc::clone(&self.done));
        self.thread = Some(std::thread::spawn(move || {
            let results = profile::take(&Request {
                kinds: &order.kinds,
                window: order.window,
                pid: order.pid,
                at: order.at,
                go_pprof: order.go_pprof.as_deref(),
                php: order.php.as_deref(),
                scratch: order.scratch,
                stop: &stop,
            });
            done.store(true, Ordering::Relaxed);
            results
        }));
    }

    fn interval(&mut self, line: &IntervalLine, _: &IntervalData) -> Result<(), RunnerError> {
        if line.phase == Some(Phase::Sample) && !self.done.load(Ordering::Relaxed) {
            self.answers += line.completed;
            self.failed += line.failed.values().sum::<u64>();
            self.watched_ns += line.end_ns.saturating_sub(line.start_ns);
        }
        Ok(())
    }

    fn is_enough(&self) -> bool {
        self.done.load(Ordering::Relaxed)
    }
}
