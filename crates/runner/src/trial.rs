//! One trial: a fresh target, its contract, load with counters beside it, and an end that leaves nothing.

mod ticker;
mod watch;

use crate::events::{Events, Manifest, Stage};
use crate::hooks::Hooks;
use crate::server_counts::metrics_of;
use crate::services::Services;
use crate::soak::Floors;
use crate::{Environment, Observer, RunnerError, canary};
use analyze::ServerFacts;
use collect::server_side::Endpoint;
use generate::GenerateError;
use generate::job::{LoadJob, NameLookup};
use generate::measure::{Measured, measure};
use generate::net::HttpUrl;
use generate::tls;
use record::TrialFolder;
use schema::experiment::Reference;
use schema::limits::LimitsPlan;
use schema::plan::{
    BodyExpectation, CellPlan, EntryPlan, ExperimentPlan, PinPlan, Replicas, ScenarioPlan, TargetPlan,
    TargetSource, TrialPlan,
};
use schema::steady::WarmUpEndedBy;
use schema::target::{Ready, TargetManifest};
use schema::trial::{TargetUsage, TrialFile, TrialOutcome};
use schema::version::TrialVersion;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use target::contract::{self, Follow, Verified};
use target::{RunningTarget, StartPlan, TargetError};
use units::Nanos;
pub(crate) use watch::Steal;
use watch::{Seen, TrialWatch};

/// Time for one exchange of the contract check.
const CONTRACT_TIMEOUT: Duration = Duration::from_secs(10);

/// A target with everything that does not change from trial to trial.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    pub(crate) plan: TargetPlan,
    /// Where it comes with a manifest.
    pub(crate) manifest: Option<(TargetManifest, PathBuf)>,
    /// What it must answer before every trial, besides the experiment's own scenario.
    pub(crate) contract: Vec<ScenarioPlan>,
    /// What is up for it.
    pub(crate) services: Services,
}

/// A target that is up and keeps its contract.
pub(crate) struct Up {
    /// Absent for a server that prony did not start.
    pub(crate) running: Option<RunningTarget>,
    pub(crate) addr: SocketAddr,
    pub(crate) authority: String,
    /// Scheme, host and port.
    pub(crate) origin: String,
    /// What each request of the scenarios was answered, in order; nothing for those that differ from time to time.
    pub(crate) verified: Vec<Option<Verified>>,
    /// How its address is looked up again, where a name was given.
    pub(crate) name: Option<NameLookup>,
    /// Where it speaks TLS.
    pub(crate) tls: Option<probe::Tls>,
}

impl Up {
    /// Where it is asked what it counts.
    fn endpoint(&self) -> Endpoint {
        Endpoint { addr: self.addr, host: self.authority.clone(), tls: self.tls.clone() }
    }
}

/// Starts a target and checks its contract.
pub(crate) fn bring_up(
    target: &Prepared,
    scenarios: &[ScenarioPlan],
    limits: &LimitsPlan,
    follow: Option<u32>,
    pin: &PinPlan,
    log: &Path,
    environment: &Environment,
) -> Result<Up, RunnerError> {
    target.services.revive()?;
    let mut over_tls = None;
    let (running, addr, authority, origin, name) = match start_plan(target, limits, pin, log, environment)? {
        Some(plan) => {
            let running = target::start(plan)?;
            let addr = running.addr();
            (Some(running), addr, addr.to_string(), format!("http://{addr}"), None)
        }
        None => {
            let TargetSource::Url { url, tls } = &target.plan.source else {
                unreachable!("only a URL is not started")
            };
            let url = HttpUrl::parse(url)?;
            let addr = url.resolve(&environment.consent)?;
            target::reachable(addr, CONTRACT_TIMEOUT)?;
            let name = NameLookup { url: url.clone(), consent: environment.consent.clone() };
            over_tls = tls.as_ref().map(tls::load).transpose()?.as_ref().map(tls::for_probe);
            (None, addr, url.authority(), url.origin(), Some(name))
        }
    };
    let wrong = |source| RunnerError::Contract { target: target.plan.name.clone(), source: Box::new(source) };
    let within = HttpUrl::parse(&origin)?.to_origin();
    let follow = follow.map(|hops_max| Follow { origin: &within, hops_max });
    let check = |entry: &EntryPlan, follow: Option<Follow<'_>>| {
        contract::check_following(addr, over_tls.as_ref(), &authority, entry, follow, CONTRACT_TIMEOUT)
            .map_err(wrong)
    };
    let agreed = target.contract.iter().filter(|agreed| target.services.has_all(&agreed.services));
    for entry in agreed.flat_map(|agreed| &agreed.requests).filter(|entry| is_fixed(entry)) {
        check(entry, None)?;
    }
    // The steps of a session follow from each other: the load itself judges them.
    let verified = scenarios
        .iter()
        .flat_map(|scenario| scenario.requests.iter().map(|entry| (scenario.session.is_none(), entry)))
        .map(|(asks, entry)| (asks && is_fixed(entry)).then(|| check(entry, follow)).transpose())
        .collect::<Result<_, _>>()?;
    Ok(Up { running, addr, authority, origin, verified, name, tls: over_tls })
}

/// Whether a request is the same every time, so that one answer stands for all.
fn is_fixed(entry: &EntryPlan) -> bool {
    !entry.is_template
}

/// Versions that a target itself reports through its runtime's endpoint.
pub(crate) fn reported_versions(target: &Prepared, up: &Up) -> BTreeMap<String, String> {
    let path = target.manifest.as_ref().and_then(|(manifest, _)| manifest.metrics.go_runtime.as_deref());
    // An endpoint that does not answer costs the versions, not the run; the counters show the gap.
    let Some(reading) = path.and_then(|path| collect::go_runtime::read(up.addr, path).ok()) else {
        return BTreeMap::new();
    };
    let mut versions: BTreeMap<String, String> = reading.dependencies.into_iter().collect();
    versions.extend(reading.go_version.map(|version| ("go runtime".to_owned(), version)));
    versions
}

/// How a target is started; `None` for a server that already runs.
fn start_plan(
    target: &Prepared,
    limits: &LimitsPlan,
    pin: &PinPlan,
    log: &Path,
    environment: &Environment,
) -> Result<Option<StartPlan>, RunnerError> {
    let launcher = environment.launcher.as_path();
    let mut plan = match (&target.plan.source, &target.manifest) {
        (TargetSource::Url { .. }, _) => return Ok(None),
        (TargetSource::Manifest { .. }, Some((manifest, folder))) => {
            StartPlan::from_manifest(manifest, folder, &target.plan.env, log, launcher).with_knobs(
                manifest,
                folder,
                &target.plan.knobs,
            )
        }
        (TargetSource::Manifest { folder, .. }, None) => {
            let (manifest, folder) = target::manifest::load(Path::new(folder))?;
            StartPlan::from_manifest(&manifest, &folder, &target.plan.env, log, launcher).with_knobs(
                &manifest,
                &folder,
                &target.plan.knobs,
            )
        }
        (TargetSource::Command { command, ready, stop }, _) => {
            let mut plan = StartPlan::from_command(command, log, launcher);
            plan.env.clone_from(&target.plan.env);
            plan.ready = ready.clone();
            plan.stop = stop.clone();
            plan
        }
        (TargetSource::Reference { law }, _) => {
            let mut plan = reference_start(law, log, launcher);
            // Of its own network only this host can reach the address.
            plan.command.extend(limits.is_isolated().then(|| "--public".to_owned()));
            plan
        }
    };
    // The target's own settings win.
    for (name, value) in target.services.env() {
        plan.env.entry(name).or_insert(value);
    }
    plan.cpus.clone_from(&pin.target);
    plan.limits.clone_from(limits);
    Ok(Some(plan))
}

/// How the reference target is started; CPUs are left to the caller.
pub(crate) fn reference_start(law: &Reference, log: &Path, launcher: &Path) -> StartPlan {
    let mut plan = StartPlan::from_command(&reference_command(law, launcher), log, launcher);
    plan.ready = Ready { path: Some("/health".to_owned()), timeout: None };
    plan
}

/// The command line of `prony reference` for a law.
fn reference_command(law: &Reference, launcher: &Path) -> Vec<String> {
    let mut command =
        vec![launcher.display().to_string(), "reference".into(), "--listen".into(), "{host}:{port}".into()];
    let mut option = |name: &str, value: Option<String>| {
        command.extend(value.map(|value| format!("--{name}={value}")));
    };
    let key = |law: &schema::experiment::ServiceLaw| {
        serde_json::to_value(law).ok().and_then(|value| value.as_str().map(str::to_owned))
    };
    option("law", law.law.as_ref().and_then(key));
    option("mean", law.mean.map(|mean| mean.to_string()));
    option("burn", law.burn.map(|burn| burn.to_string()));
    option("servers", law.servers.map(|servers| servers.to_string()));
    option("seed", law.seed.map(|seed| seed.to_string()));
    option("error-rate", law.error_rate.map(|rate| rate.to_string()));
    option("reset-rate", law.reset_rate.map(|rate| rate.to_string()));
    option("freeze", law.freeze.clone());
    option("leak-memory", law.leak_memory.map(|bytes| bytes.to_string()));
    option("leak-descriptors", law.leak_descriptors.map(|every| every.0.to_string()));
    option("cache", law.cache.map(|bytes| bytes.to_string()));
    option("max-connections", law.connections_max.map(|most| most.0.to_string()));
    command
}

/// How a trial is watched, and what happens where it is interrupted.
#[derive(Clone, Debug)]
pub(crate) struct TrialOptions {
    /// Between two readings of the counters.
    pub(crate) tick: Nanos,
    /// Where readings of the target go besides `counters.ndjson`.
    pub(crate) floors: Option<Floors>,
    /// Whether a trial that is interrupted under load is ended and kept.
    pub(crate) keeps_interrupted: bool,
}

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
        cell.load.connection.follow,
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
    let job = load_job(plan, cell, scenario, &up);
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
        let measured = measure(&job, &mut watch, &environment.stop);
        Ok::<_, RunnerError>((measured, watch.finish(&job.load), before))
    });
    let after = canary::reading(job.cpus.as_deref(), canary::BUDGET);
    let cleaned = hooks.tear_down();
    let (measured, mut seen, before) = scoped?;
    seen.canary = canary::canary(before, after);
    let measured = match measured {
        Ok(measured) if measured.interrupted && !options.keeps_interrupted => {
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
                GenerateError::Engine(_) | GenerateError::Processes(_) | GenerateError::Request(_),
            ),
        ) => {
            // How the target ended explains why it could not be loaded.
            let mut blank = blank;
            blank.reasons.extend(stop(up).err().map(|ended| ended.to_string()));
            return failed(blank, &error, folder);
        }
        Err(error) => return Err(error),
    };
    let died = target.services.died();
    let ready_ns = up.running.as_ref().map(RunningTarget::ready_ns);
    let mut file = TrialFile { ready_ns, ..ended(blank, measured, seen, up.running.as_ref()) };
    if !died.is_empty() {
        file.outcome = TrialOutcome::Failed;
        file.reasons.extend(died);
    }
    if let Err(error) = stop(up) {
        file.outcome = TrialOutcome::Failed;
        file.reasons.push(error.to_string());
    }
    folder.end(&file)?;
    // The trial stands. The next one would meet what was not cleaned up.
    cleaned.map(|()| Some(file))
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
    target::remove_build(folder, manifest, knobs)?;
    target::build_variant(folder, manifest, knobs, log, &environment.launcher, &environment.stop)?;
    Ok(())
}

/// What events need of the target's manifest.
fn for_events(target: &Prepared) -> Option<Manifest> {
    let (manifest, folder) = target.manifest.clone()?;
    let build = target::knobs::build_folder(&folder, &manifest, &target.plan.knobs);
    Some(Manifest { manifest, folder, build })
}

pub(crate) fn stop(up: Up) -> Result<(), RunnerError> {
    up.running.map_or(Ok(()), |running| running.stop().map_err(RunnerError::from))
}

pub(crate) fn load_job(plan: &ExperimentPlan, cell: &CellPlan, scenario: &ScenarioPlan, up: &Up) -> LoadJob {
    // The meaning of JSON was checked a moment ago; under load the very same bytes must come again.
    let must_come_again = |(entry, seen): (&EntryPlan, &Option<Verified>)| match entry.expect.body {
        BodyExpectation::Json(_) => seen.as_ref().map(|seen| seen.body.clone()),
        _ => None,
    };
    LoadJob {
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
        scripts: None,
        each: None,
    }
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
        canary: None,
    }
}

fn failed(
    mut file: TrialFile,
    error: &RunnerError,
    folder: &TrialFolder,
) -> Result<Option<TrialFile>, RunnerError> {
    file.reasons.push(error.to_string());
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
    load.notes.extend(
        missing.map(|reason| format!("not all that the target counts was held against the client: {reason}")),
    );
    load.validity = analyze::validity(&load, &measured.facts);
    let outcome = if load.validity.ok { TrialOutcome::Valid } else { TrialOutcome::Void };
    let mut reasons: Vec<String> = load.validity.reasons.iter().map(|gate| gate.text.clone()).collect();
    // An end at the memory limit is told when it is stopped.
    let ended = running.filter(|running| !running.is_alive() && running.out_of_memory().is_none());
    if let Some(running) = ended {
        reasons.push(format!("the target ended during the trial; the end of its log:{}", running.log_tail()));
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
        canary: seen.canary,
        events: seen.events,
        ..blank
    }
}
