//! A service that runs on a copy of its data, and its end.
//!
//! Invariant: the data is removed only after the guard saw the last process of the service go.

use super::place::Copy;
use super::up::{Up, died, launch};
use super::workshop::Workshop;
use super::{Host, ServiceError};
use crate::confine::ServicePlace;
use schema::service::{ServiceManifest, ServiceMetrics};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

/// A service that is up.
#[derive(Debug)]
pub struct RunningService {
    manifest: ServiceManifest,
    folder: PathBuf,
    env: BTreeMap<String, String>,
    versions: BTreeMap<String, String>,
    /// Absent only after its stop.
    up: Option<Up>,
    /// After `up`, so that the processes are gone before their data is.
    copy: Copy,
}

/// Builds and prepares the service in `folder` where that is not done yet, and starts it on a copy of its data.
///
/// # Errors
/// A program or user is missing, a command of the manifest fails, a check gives something else than it should, or
/// the service does not get ready; each with the end of the log. No process of it is left then.
pub fn start(
    manifest: &ServiceManifest,
    folder: &Path,
    host: &Host<'_>,
) -> Result<RunningService, ServiceError> {
    let workshop = Workshop::open(manifest, folder)?;
    let copy = workshop.data(host)?;
    let up = launch(&workshop, &copy.data(), &copy.file("service.log"), host)?;
    Ok(RunningService {
        manifest: manifest.clone(),
        folder: folder.to_owned(),
        env: up.names.fill_env(&manifest.provides.env),
        versions: workshop.versions,
        up: Some(up),
        copy,
    })
}

impl RunningService {
    /// Its folder under `services/`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.manifest.name
    }

    /// How its counters are read, where they are.
    #[must_use]
    pub fn metrics(&self) -> Option<&ServiceMetrics> {
        self.manifest.metrics.as_ref()
    }

    /// The folder of its manifest.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where it listens; nothing once it is stopped.
    #[must_use]
    pub fn addr(&self) -> Option<SocketAddr> {
        self.up.as_ref().map(|up| up.running.addr())
    }

    /// What targets are given of it.
    #[must_use]
    pub fn env(&self) -> &BTreeMap<String, String> {
        &self.env
    }

    /// Program → first line of its version.
    #[must_use]
    pub fn versions(&self) -> &BTreeMap<String, String> {
        &self.versions
    }

    /// CPUs that its first process may use, in Linux list syntax, as the system tells; `None` where it does not.
    #[must_use]
    pub fn cpus(&self) -> Option<String> {
        let cpus = crate::pin::cpus_of(self.up.as_ref()?.running.pid())?;
        Some(crate::pin::list(&cpus))
    }

    /// Its first process; absent after its stop.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.up.as_ref().map(|up| up.running.pid())
    }

    /// Where targets with networks of their own reach it, where it has one, too.
    #[must_use]
    pub fn place(&self) -> Option<ServicePlace> {
        match self.addr()?.ip() {
            IpAddr::V4(address) if !address.is_loopback() => {
                let namespace = PathBuf::from(format!("/proc/{}/ns/net", self.pid()?));
                Some(ServicePlace { namespace, address })
            }
            _ => None,
        }
    }

    /// Its output so far; gone after the stop.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.copy.file("service.log")
    }

    /// How it ended, with the end of its log, where it has ended on its own.
    #[must_use]
    pub fn died(&self) -> Option<ServiceError> {
        self.up.as_ref().and_then(|up| died(self.name(), &up.running))
    }

    /// Runs its checks.
    ///
    /// # Errors
    /// A command fails, or its first line is not the expected one.
    pub fn check(&self, host: &Host<'_>) -> Result<(), ServiceError> {
        let workshop = Workshop::open(&self.manifest, &self.folder)?;
        match &self.up {
            Some(up) => workshop.check(up, &self.copy.file("check.log"), host),
            None => Ok(()),
        }
    }

    /// Ends it, verifies that nothing of it is left, and removes its data.
    ///
    /// # Errors
    /// It had ended on its own before, or processes or its port are left.
    pub fn stop(mut self) -> Result<(), ServiceError> {
        self.end()
    }

    fn end(&mut self) -> Result<(), ServiceError> {
        match self.up.take() {
            Some(up) => up.running.stop().map_err(ServiceError::process(&self.manifest.name)),
            None => Ok(()),
        }
    }
}

impl Drop for RunningService {
    /// Waits for the end, because the data must not be removed under a running service.
    fn drop(&mut self) {
        // Whoever wants to know how it ended calls `stop`.
        let _ = self.end();
    }
}
