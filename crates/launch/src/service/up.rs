//! A service's program, started on data and waited for.

use super::names::Names;
use super::workshop::Workshop;
use super::{Host, ServiceError, step};
use crate::{RunningTarget, StartPlan};
use schema::limits::NetworkMode;
use schema::target::Ready;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use units::Nanos;

/// Default of `ready.timeout`.
const READY_TIMEOUT: Nanos = Nanos::from_secs(30);
/// Between two questions whether it is ready.
const READY_PAUSE: Duration = Duration::from_millis(50);

/// A started service whose processes answer.
#[derive(Debug)]
pub(super) struct Up {
    pub(super) running: RunningTarget,
    /// All names filled, host and port included.
    pub(super) names: Names,
}

/// Starts the program on `data` and waits until it is ready.
pub(super) fn launch(
    workshop: &Workshop<'_>,
    data: &Path,
    log: &Path,
    host: &Host<'_>,
) -> Result<Up, ServiceError> {
    let manifest = workshop.manifest;
    let names = workshop.names(Some(data));
    let command = step::as_user(workshop.user.as_ref(), names.fill_all(&manifest.run.command));
    let timeout = manifest.ready.timeout.unwrap_or(READY_TIMEOUT);
    let mut plan = StartPlan::from_command(&command, log, host.launcher);
    plan.env = names.fill_env(&manifest.run.env);
    plan.env.entry("PATH".to_owned()).or_insert_with(|| workshop.path());
    plan.folder = Some(workshop.folder.to_owned());
    plan.ready = Ready { path: None, timeout: Some(timeout), ..Ready::default() };
    plan.stop = manifest.stop.clone();
    plan.cpus = host.cpus.map(<[u32]>::to_vec);
    if host.isolated {
        plan.limits.network = NetworkMode::Isolated;
    }
    let running = crate::start(plan).map_err(ServiceError::process(&manifest.name))?;
    let addr = running.addr();
    let names = names.with("{host}", addr.ip().to_string()).with("{port}", addr.port().to_string());
    let up = Up { running, names };
    match await_ready(workshop, &up, log, timeout, host) {
        Ok(()) => Ok(up),
        Err(error) => {
            // It must be gone before its data is; the error that matters is the first one.
            let _ = up.running.stop();
            Err(error)
        }
    }
}

fn await_ready(
    workshop: &Workshop<'_>,
    up: &Up,
    log: &Path,
    timeout: Nanos,
    host: &Host<'_>,
) -> Result<(), ServiceError> {
    let Some(ready) = &workshop.manifest.ready.command else { return Ok(()) };
    let filled = up.names.fill_all(ready);
    let shown = filled.join(" ");
    let mut question = workshop.command("ready", filled, BTreeMap::new(), log.with_extension("ready.log"));
    let deadline = Instant::now() + timeout.to_duration();
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        question.timeout = left.max(READY_PAUSE);
        let answer = question.end(host)?;
        if let Some(error) = died(&workshop.manifest.name, &up.running) {
            return Err(error);
        }
        if answer == Some(crate::Exit::Code(0)) {
            return Ok(());
        }
        if host.cancelled.load(Ordering::Relaxed) {
            return Err(ServiceError::Cancelled(workshop.manifest.name.clone()));
        }
        if Instant::now() >= deadline {
            let (service, tail) = (workshop.manifest.name.clone(), up.running.log_tail());
            return Err(ServiceError::NotReady { service, command: shown, timeout, tail });
        }
        std::thread::sleep(READY_PAUSE);
    }
}

pub(super) fn died(service: &str, running: &RunningTarget) -> Option<ServiceError> {
    let exit = running.exit()?;
    Some(ServiceError::Died { service: service.to_owned(), exit, tail: running.log_tail() })
}
