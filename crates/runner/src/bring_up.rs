//! Starts a fresh target and checks its contract.

use crate::environment::Environment;
use crate::services::Services;
use crate::{RunnerError, reference};
use collect::server_side::Endpoint;
use generate::tls;
use launch::contract::{self, Follow, Peer, Verified};
use launch::{Image, RunningTarget, StartPlan};
use plan::NameLookup;
use plan::net::HttpUrl;
use schema::limits::LimitsPlan;
use schema::plan::{
    ConnectionPlan, EntryPlan, HttpVersion, PinPlan, ScenarioPlan, TargetPlan, TargetSource, TlsPlan,
};
use schema::target::TargetManifest;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Time for one exchange of the contract check.
const CONTRACT_TIMEOUT: Duration = Duration::from_secs(10);

/// A target with everything that does not change from trial to trial.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    pub(crate) plan: TargetPlan,
    /// Where it comes with a manifest.
    pub(crate) manifest: Option<(TargetManifest, PathBuf)>,
    /// Where it comes from one.
    pub(crate) image: Option<Image>,
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
    /// The network that its load comes from, where that is not the host's.
    pub(crate) fn generator_network(&self) -> Option<PathBuf> {
        Some(self.running.as_ref()?.confinement()?.generator?.namespace)
    }

    /// Where it is asked what it counts.
    pub(crate) fn endpoint(&self) -> Endpoint {
        Endpoint { addr: self.addr, host: self.authority.clone(), tls: self.tls.clone() }
    }
}

/// Starts a target and checks its contract.
pub(crate) fn bring_up(
    target: &Prepared,
    scenarios: &[ScenarioPlan],
    limits: &LimitsPlan,
    connection: &ConnectionPlan,
    pin: &PinPlan,
    log: &Path,
    environment: &Environment,
) -> Result<Up, RunnerError> {
    target.services.revive()?;
    let mut over_tls = OverTls::default();
    let (running, addr, authority, origin, name) = match start_plan(target, limits, pin, log, environment)? {
        Some(plan) => {
            let running = launch::start(plan)?;
            let addr = running.addr();
            (Some(running), addr, addr.to_string(), format!("http://{addr}"), None)
        }
        None => {
            let TargetSource::Url { url, tls } = &target.plan.source else {
                unreachable!("only a URL is not started")
            };
            let url = HttpUrl::parse(url)?;
            let addr = url.resolve(&environment.consent)?;
            launch::reachable(addr, CONTRACT_TIMEOUT)?;
            let name = NameLookup { url: url.clone(), consent: environment.consent.clone() };
            over_tls = tls.as_ref().map_or(Ok(OverTls::default()), OverTls::new)?;
            (None, addr, url.authority(), url.origin(), Some(name))
        }
    };
    let wrong = |source| RunnerError::Contract { target: target.plan.name.clone(), source: Box::new(source) };
    let within = HttpUrl::parse(&origin)?.to_origin();
    let follow = connection.follow.map(|hops_max| Follow { origin: &within, hops_max });
    let check = |entry: &EntryPlan, follow: Option<Follow<'_>>| {
        // As the load speaks: a target may know nothing else.
        let http = entry.http(connection.http);
        let (host, tls) = (&*authority, over_tls.of(http));
        contract::check(Peer { addr, host, tls, http, timeout: CONTRACT_TIMEOUT }, entry, follow)
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
    Ok(Up { running, addr, authority, origin, verified, name, tls: over_tls.http1 })
}

/// TLS to a server that already runs, for each version of HTTP.
#[derive(Default)]
struct OverTls {
    http1: Option<probe::Tls>,
    http2: Option<probe::Tls>,
}

impl OverTls {
    fn new(plan: &TlsPlan) -> Result<Self, RunnerError> {
        let http2 = plan::tls::for_http2(plan);
        let ready = |plan: &TlsPlan| tls::load(plan).map(|tls| Some(tls::for_probe(&tls)));
        Ok(Self { http1: ready(plan)?, http2: ready(&http2)? })
    }

    const fn of(&self, http: HttpVersion) -> Option<&probe::Tls> {
        match http {
            HttpVersion::V1_1 => self.http1.as_ref(),
            HttpVersion::V2 => self.http2.as_ref(),
        }
    }
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
            let (manifest, folder) = launch::manifest::load(Path::new(folder))?;
            StartPlan::from_manifest(&manifest, &folder, &target.plan.env, log, launcher).with_knobs(
                &manifest,
                &folder,
                &target.plan.knobs,
            )
        }
        (TargetSource::Command { command, folder, ready, stop, .. }, _) => {
            let mut plan = StartPlan::from_command(command, log, launcher);
            plan.folder = folder.as_ref().map(PathBuf::from);
            plan.env.clone_from(&target.plan.env);
            plan.ready = ready.clone();
            plan.stop = stop.clone();
            plan
        }
        (TargetSource::Image { command, ready, stop, .. }, _) => {
            let mut plan = StartPlan::from_command(command, log, launcher);
            plan.env.clone_from(&target.plan.env);
            plan.ready = ready.clone();
            plan.stop = stop.clone();
            plan
        }
        (TargetSource::Reference { law }, _) => {
            // Of its own network only this host can reach the address.
            reference::start_plan(law, limits.is_isolated(), log, launcher)
        }
    };
    // The target's own settings win.
    for (name, value) in target.services.env() {
        plan.env.entry(name).or_insert(value);
    }
    if let Some(image) = &target.image {
        plan = image.start_plan(plan)?;
    }
    plan.cpus.clone_from(&pin.target);
    plan.limits.clone_from(limits);
    plan.services = target.services.places();
    Ok(Some(plan))
}

pub(crate) fn stop(up: Up) -> Result<(), RunnerError> {
    up.running.map_or(Ok(()), |running| running.stop().map_err(RunnerError::from))
}
