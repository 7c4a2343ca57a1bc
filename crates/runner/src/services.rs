//! The services of a run: started once, made known to every target, looked after between trials, ended with the run.
//!
//! Invariant: a service that ended on its own fails the trial that it ended in, and is up again for the next one.
//! Absent on purpose: how a service is made and started (crate launch), and knobs of services.

use crate::RunnerError;
use crate::environment::Environment;
use crate::observer::Observer;
use collect::services::ServiceAt;
use launch::confine::ServicePlace;
use launch::service::{self, Host, RunningService};
use plan::Context;
use schema::plan::ExperimentPlan;
use schema::run::ServiceRecord;
use schema::service::ServiceManifest;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A handle on the services of a run; the last one dropped ends them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Services(Arc<Mutex<Fleet>>);

#[derive(Debug, Default)]
struct Fleet {
    entries: Vec<Entry>,
    launcher: PathBuf,
    cpus: Option<Vec<u32>>,
    /// Whether any target has a network of its own, from which those on loopback are out of reach.
    isolated: bool,
    cancelled: Arc<AtomicBool>,
}

#[derive(Debug)]
struct Entry {
    manifest: ServiceManifest,
    folder: PathBuf,
    /// Absent while it cannot be started again.
    running: Option<RunningService>,
}

impl Services {
    /// Starts what the plan's scenarios need, on CPUs of its own, or else those of the targets: the generator's must
    /// stay free of it.
    pub(crate) fn start(
        plan: &ExperimentPlan,
        context: &Context,
        environment: &Environment,
        observer: &mut dyn Observer,
    ) -> Result<Self, RunnerError> {
        let mut fleet = Fleet {
            entries: Vec::new(),
            launcher: environment.launcher.clone(),
            cpus: plan.pin.of_services().cloned(),
            isolated: plan.cells.iter().any(|cell| cell.limits.is_isolated()),
            cancelled: environment.stop.clone(),
        };
        for name in needed(plan) {
            observer.preparing(&format!("service {name}"));
            let (manifest, folder) = service::find(&context.project, name)?;
            let running = Some(fleet.launch(&manifest, &folder)?);
            fleet.entries.push(Entry { manifest, folder, running });
        }
        Ok(Self(Arc::new(Mutex::new(fleet))))
    }

    /// Which there are.
    pub(crate) fn names(&self) -> BTreeSet<String> {
        self.lock().entries.iter().map(|entry| entry.manifest.name.clone()).collect()
    }

    /// Starts again what has ended.
    pub(crate) fn revive(&self) -> Result<(), RunnerError> {
        let mut fleet = self.lock();
        for at in 0..fleet.entries.len() {
            let entry = &mut fleet.entries[at];
            if entry.running.as_ref().is_some_and(|running| running.died().is_none()) {
                continue;
            }
            // Its processes and data go before their successors come.
            drop(entry.running.take());
            let (manifest, folder) = (entry.manifest.clone(), entry.folder.clone());
            let running = fleet.launch(&manifest, &folder)?;
            fleet.entries[at].running = Some(running);
        }
        Ok(())
    }

    /// What targets are given, with the addresses of now.
    pub(crate) fn env(&self) -> BTreeMap<String, String> {
        let fleet = self.lock();
        let env = fleet.running().flat_map(RunningService::env);
        env.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// The first processes of those that are up, by name.
    pub(crate) fn pids(&self) -> Vec<(String, u32)> {
        let fleet = self.lock();
        fleet.running().filter_map(|running| Some((running.name().to_owned(), running.pid()?))).collect()
    }

    /// Where those that are up and have networks of their own are joined to a target's.
    pub(crate) fn places(&self) -> Vec<ServicePlace> {
        self.lock().running().filter_map(RunningService::place).collect()
    }

    /// Whether all of these are up.
    pub(crate) fn has_all(&self, names: &[String]) -> bool {
        let fleet = self.lock();
        names.iter().all(|name| fleet.running().any(|running| running.name() == name))
    }

    /// Why services are not up that should be, with the ends of their logs.
    pub(crate) fn died(&self) -> Vec<String> {
        self.lock().running().filter_map(RunningService::died).map(|error| error.to_string()).collect()
    }

    /// What is read of those that are up and say how, beside the load.
    pub(crate) fn metrics(&self) -> Vec<ServiceAt> {
        self.lock().running().filter_map(metrics_of).collect()
    }

    /// For `run.json`: nothing that differs from start to start.
    pub(crate) fn records(&self) -> Vec<ServiceRecord> {
        let fleet = self.lock();
        let record = |running: &RunningService| ServiceRecord {
            name: running.name().to_owned(),
            versions: running.versions().clone(),
            cpus: running.cpus(),
            env: running.env().keys().cloned().collect(),
        };
        fleet.running().map(record).collect()
    }

    /// Versions by `service: program`.
    pub(crate) fn versions(&self) -> BTreeMap<String, String> {
        let named = |record: ServiceRecord| {
            let name = record.name;
            record.versions.into_iter().map(move |(what, version)| (format!("{name}: {what}"), version))
        };
        self.records().into_iter().flat_map(named).collect()
    }

    /// Ends all and keeps their logs as `services/NAME.log` in the run folder; says what did not go well.
    pub(crate) fn stop(&self, folder: &Path) -> Vec<String> {
        let logs = folder.join("services");
        let mut notes = Vec::new();
        let mut fleet = self.lock();
        for running in fleet.entries.iter_mut().filter_map(|entry| entry.running.take()) {
            let kept = logs.join(format!("{}.log", running.name()));
            let keep = std::fs::create_dir_all(&logs).and_then(|()| std::fs::copy(running.log(), &kept));
            notes.extend(keep.err().map(|error| format!("{} was not kept: {error}", kept.display())));
            notes.extend(running.stop().err().map(|error| error.to_string()));
        }
        notes
    }

    /// Every change is one assignment, so a poisoned state is still a true one.
    fn lock(&self) -> MutexGuard<'_, Fleet> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Fleet {
    fn launch(&self, manifest: &ServiceManifest, folder: &Path) -> Result<RunningService, RunnerError> {
        let host = Host {
            launcher: &self.launcher,
            cpus: self.cpus.as_deref(),
            isolated: self.isolated,
            cancelled: &self.cancelled,
        };
        Ok(service::start(manifest, folder, &host)?)
    }

    fn running(&self) -> impl Iterator<Item = &RunningService> {
        self.entries.iter().filter_map(|entry| entry.running.as_ref())
    }
}

fn metrics_of(running: &RunningService) -> Option<ServiceAt> {
    let metrics = running.metrics()?;
    let own = |name: &str| std::env::var(name).ok();
    Some(ServiceAt {
        name: running.name().to_owned(),
        kind: metrics.kind,
        addr: running.addr()?,
        user: metrics.user.clone(),
        database: metrics.database.clone(),
        password: collect::services::password(metrics, running.env(), own, running.folder()),
    })
}

/// Every service that the plan names, once, in the order of its names.
pub(crate) fn needed(plan: &ExperimentPlan) -> BTreeSet<&str> {
    plan.scenarios.iter().flat_map(|scenario| &scenario.services).map(String::as_str).collect()
}
