//! `prony targets check` and `build`: one target is built, started, asked everything it provides, and stopped.
//!
//! Invariants: the target is started as a trial starts it, and gone when this returns; every wait is bounded: after a
//! request without an answer its route is given up, after the target's end all are.
//! Absent on purpose: load, and the starting of services; the caller says which are up.

use crate::RunnerError;
use collect::server_side::{self, Endpoint};
use launch::contract::{self, ContractFault, Peer, route};
use launch::{NeedState, RunningTarget, StartPlan};
use plan::load_contract;
use schema::plan::ScenarioPlan;
use schema::target::{Metrics, TargetManifest};
use schema::target_check::{CheckOutcome, RouteCheck, TargetBuild, TargetCheck};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use units::Nanos;

/// Requests that a target is to count in a check.
const COUNTED: u64 = 20;
/// The route that is asked for them, which every target has.
const COUNTED_ROUTE: &str = "ping";

/// Services that are up, and how targets reach them.
#[derive(Clone, Debug, Default)]
pub struct ServicesUp {
    /// Their names.
    pub names: BTreeSet<String>,
    /// Environment that tells targets their addresses; the target's own wins.
    pub env: BTreeMap<String, String>,
}

/// What checks and builds have in common.
#[derive(Clone, Debug)]
pub struct Bench<'a> {
    /// The folder that holds `targets/`.
    pub project: &'a Path,
    /// prony's own binary, which becomes the guard.
    pub launcher: &'a Path,
    /// An existing folder for logs.
    pub logs: &'a Path,
    /// What targets can reach.
    pub services: &'a ServicesUp,
    /// Only this route, where given.
    pub route: Option<&'a str>,
    /// For one exchange.
    pub timeout: Duration,
    /// Set to end the work.
    pub stop: &'a AtomicBool,
}

/// The routes of the contract that a target provides and whose services are up.
///
/// # Errors
/// A contract file is missing or wrong.
pub fn askable(
    project: &Path,
    manifest: &TargetManifest,
    up: &BTreeSet<String>,
) -> Result<Vec<ScenarioPlan>, RunnerError> {
    let all: Vec<ScenarioPlan> =
        manifest.provides.iter().map(|name| load_contract(project, name)).collect::<Result<_, _>>()?;
    Ok(all.into_iter().filter(|route| route::missing_services(route, up).is_empty()).collect())
}

impl Bench<'_> {
    /// Checks one target; `tell` hears what is being done.
    ///
    /// # Errors
    /// Only [`RunnerError::Interrupted`]; everything else is the target's, and part of the answer.
    pub fn check(&self, name: &str, tell: &mut dyn FnMut(&str)) -> Result<TargetCheck, RunnerError> {
        self.go_on()?;
        let mut check = TargetCheck {
            name: name.to_owned(),
            outcome: CheckOutcome::Ok,
            reasons: Vec::new(),
            build_ns: None,
            ready_ns: None,
            routes: Vec::new(),
        };
        let (manifest, folder) = match self.open(name) {
            Ok(Opened::Ready(manifest, folder)) => (*manifest, folder),
            Ok(Opened::Lacking(missing)) => {
                check.outcome = CheckOutcome::Skipped;
                check.reasons = missing;
                return Ok(check);
            }
            Err(error) => {
                check.reasons.push(error.to_string());
                return Ok(judged(check));
            }
        };
        if let Err(error) = self.check_opened(&manifest, &folder, &mut check, tell) {
            self.go_on()?;
            check.reasons.push(error.to_string());
        }
        check.routes.extend(self.missing_routes(&manifest));
        Ok(judged(check))
    }

    /// Builds one target; `tell` hears what is being done.
    ///
    /// # Errors
    /// As [`Bench::check`].
    pub fn build(&self, name: &str, tell: &mut dyn FnMut(&str)) -> Result<TargetBuild, RunnerError> {
        self.go_on()?;
        let outcome = CheckOutcome::Ok;
        let mut build =
            TargetBuild { name: name.to_owned(), outcome, reasons: Vec::new(), build_ns: None, fresh: false };
        let built = match self.open(name) {
            Ok(Opened::Ready(manifest, folder)) => {
                tell("building");
                let before = launch::build_state(&folder);
                let built = self.built(&manifest, &folder);
                build.fresh = before.is_some() && before == launch::build_state(&folder);
                built
            }
            Ok(Opened::Lacking(missing)) => {
                build.outcome = CheckOutcome::Skipped;
                build.reasons = missing;
                return Ok(build);
            }
            Err(error) => Err(error),
        };
        match built {
            Ok(build_ns) => build.build_ns = build_ns,
            Err(error) => {
                self.go_on()?;
                build.outcome = CheckOutcome::Failed;
                build.reasons.push(error.to_string());
            }
        }
        Ok(build)
    }

    fn go_on(&self) -> Result<(), RunnerError> {
        if self.stop.load(Ordering::Relaxed) { Err(RunnerError::Interrupted) } else { Ok(()) }
    }

    fn open(&self, name: &str) -> Result<Opened, RunnerError> {
        let (manifest, folder) = launch::find(self.project, name)?;
        let needs = launch::needs(&manifest, &folder);
        let missing: Vec<String> = needs.iter().filter(|need| !need.present).map(lack).collect();
        if missing.is_empty() {
            Ok(Opened::Ready(Box::new(manifest), folder))
        } else {
            Ok(Opened::Lacking(missing))
        }
    }

    /// How long the build took; none where nothing is built.
    fn built(&self, manifest: &TargetManifest, folder: &Path) -> Result<Option<u64>, RunnerError> {
        let begin = Instant::now();
        let log = self.log(&manifest.name, "build");
        launch::build(folder, manifest, &log, self.launcher, self.stop)?;
        Ok(manifest.build.is_some().then(|| Nanos::from(begin.elapsed()).0))
    }

    fn log(&self, name: &str, what: &str) -> PathBuf {
        self.logs.join(format!("{}-{what}.log", name.replace('/', "-")))
    }

    fn check_opened(
        &self,
        manifest: &TargetManifest,
        folder: &Path,
        check: &mut TargetCheck,
        tell: &mut dyn FnMut(&str),
    ) -> Result<(), RunnerError> {
        let wanted = |name: &&String| self.route.is_none_or(|route| *name == route);
        let routes: Vec<ScenarioPlan> = manifest
            .provides
            .iter()
            .filter(wanted)
            .map(|name| load_contract(self.project, name))
            .collect::<Result<_, _>>()?;
        tell("building");
        check.build_ns = self.built(manifest, folder)?;
        tell("starting");
        let running = launch::start(self.start_plan(manifest, folder))?;
        check.ready_ns = Some(running.ready_ns());
        for route in &routes {
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            tell(&format!("asking {}", route.name));
            check.routes.push(self.ask(route, manifest, &running));
        }
        if self.route.is_none() && !self.stop.load(Ordering::Relaxed) {
            check.routes.extend(self.counts(manifest, &running)?);
        }
        tell("stopping");
        running.stop()?;
        self.go_on()
    }

    fn start_plan(&self, manifest: &TargetManifest, folder: &Path) -> StartPlan {
        let is_free = |(name, _): &(&String, &String)| !manifest.run.env.contains_key(*name);
        let env = self.services.env.iter().filter(is_free);
        let env = env.map(|(name, value)| (name.clone(), value.clone())).collect();
        StartPlan::from_manifest(manifest, folder, &env, &self.log(&manifest.name, "run"), self.launcher)
    }

    fn peer<'a>(&self, manifest: &TargetManifest, running: &RunningTarget, host: &'a str) -> Peer<'a> {
        let (addr, timeout, http) = (running.addr(), self.timeout, manifest.ready.http.unwrap_or_default());
        Peer { addr, host, tls: None, http, timeout }
    }

    fn ask(&self, route: &ScenarioPlan, manifest: &TargetManifest, running: &RunningTarget) -> RouteCheck {
        let requests = route.requests.len() as u64;
        let name = route.name.clone();
        let mut check =
            RouteCheck { name, outcome: CheckOutcome::Skipped, requests, asked: 0, reasons: Vec::new() };
        let missing = route::missing_services(route, &self.services.names);
        if !missing.is_empty() {
            let verb = if missing.len() == 1 { "is" } else { "are" };
            check.reasons.push(format!("needs {}, which {verb} not started", missing.join(" and ")));
            return check;
        }
        check.outcome = CheckOutcome::Ok;
        let host = running.addr().to_string();
        let peer = self.peer(manifest, running, &host);
        for entry in &route.requests {
            if !running.is_alive() {
                check.reasons.push("not asked: the target had ended".to_owned());
                break;
            }
            check.asked += 1;
            if let Err(error) = contract::check(peer, entry, None) {
                let is_silent = matches!(error.fault, ContractFault::Exchange(_));
                check.reasons.push(error.to_string());
                if is_silent {
                    break;
                }
            }
        }
        if !check.reasons.is_empty() {
            check.outcome = CheckOutcome::Failed;
        }
        check
    }

    /// Whether a target that counts its requests counts those of a known number; `None` where it counts none.
    fn counts(
        &self,
        manifest: &TargetManifest,
        running: &RunningTarget,
    ) -> Result<Option<RouteCheck>, RunnerError> {
        let Some(count) = &manifest.metrics.requests else { return Ok(None) };
        let asked = load_contract(self.project, COUNTED_ROUTE)?;
        let mut check = RouteCheck {
            name: format!("count at {}", count.path),
            outcome: CheckOutcome::Ok,
            requests: COUNTED,
            asked: 0,
            reasons: Vec::new(),
        };
        let host = running.addr().to_string();
        let at = Endpoint { addr: running.addr(), host: host.clone(), tls: None };
        let only = Metrics { requests: Some(count.clone()), ..Metrics::default() };
        let (before, mut errors) = server_side::read(&at, &only);
        let peer = self.peer(manifest, running, &host);
        for (entry, _) in asked.requests.iter().cycle().zip(0..COUNTED) {
            check.asked += 1;
            if let Err(error) = contract::check(peer, entry, None) {
                check.reasons.push(error.to_string());
                break;
            }
        }
        let (after, more) = server_side::read(&at, &only);
        errors.extend(more);
        check.reasons.extend(errors.iter().map(ToString::to_string));
        check.reasons.extend(miscounted(server_side::between(&before, &after).requests, check.asked));
        if !check.reasons.is_empty() {
            check.outcome = CheckOutcome::Failed;
        }
        Ok(Some(check))
    }

    /// Routes that every target has and this one does not.
    fn missing_routes(&self, manifest: &TargetManifest) -> impl Iterator<Item = RouteCheck> {
        let is_missing = |name: &&str| {
            self.route.is_none_or(|route| route == *name) && !manifest.provides.iter().any(|own| own == name)
        };
        route::required(&manifest.ready, manifest.plain).iter().copied().filter(is_missing).map(|name| {
            RouteCheck {
                name: name.to_owned(),
                outcome: CheckOutcome::Failed,
                requests: 0,
                asked: 0,
                reasons: vec!["every target has it; answer it and add it to `provides`".to_owned()],
            }
        })
    }
}

/// A target that was found.
enum Opened {
    /// Its manifest and folder.
    Ready(Box<TargetManifest>, PathBuf),
    /// What it lacks here.
    Lacking(Vec<String>),
}

/// What is wrong with a count of `asked` requests; the target may count the two readings too.
fn miscounted(counted: Option<u64>, asked: u64) -> Option<String> {
    let counted = counted?;
    let is_right = (asked..=asked + 2).contains(&counted);
    (!is_right).then(|| {
        format!("it counted {counted} of {asked} requests; count each once, before its route is found")
    })
}

/// The outcome that follows from the parts.
fn judged(mut check: TargetCheck) -> TargetCheck {
    let route_failed = check.routes.iter().any(|route| route.outcome == CheckOutcome::Failed);
    if route_failed || !check.reasons.is_empty() {
        check.outcome = CheckOutcome::Failed;
    }
    check
}

fn lack(need: &NeedState) -> String {
    format!("missing: {} - {}", need.program, need.install)
}

#[cfg(test)]
mod tests {
    use super::miscounted;

    #[test]
    fn a_count_may_have_both_readings_but_no_request_less_or_more() {
        for right in [20, 21, 22] {
            assert_eq!(miscounted(Some(right), 20), None);
        }
        for wrong in [0, 19, 23, 40] {
            assert!(miscounted(Some(wrong), 20).is_some_and(|text| text.contains(&wrong.to_string())));
        }
        assert_eq!(miscounted(None, 20), None, "why there is none is said by the reading");
    }
}
