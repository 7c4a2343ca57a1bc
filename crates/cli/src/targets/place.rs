//! Where targets are tried: the project, prony itself, and a folder for logs.

use crate::{exit, interrupt};
use anyhow::{Context as _, Result};
use runner::check::{Bench, ServicesUp};
use schema::target_check::CheckOutcome;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// What a command works with.
pub(super) struct Place {
    pub(super) project: PathBuf,
    pub(super) launcher: PathBuf,
    logs: PathBuf,
    pub(super) stop: Arc<AtomicBool>,
}

impl Place {
    /// Makes the folder for logs: look at the arguments first, because it stays where something goes wrong.
    pub(super) fn new(project: PathBuf) -> Result<Self> {
        let logs = tempfile::Builder::new().prefix("prony-targets-").tempdir()?.keep();
        Ok(Self {
            project,
            launcher: std::env::current_exe().context("cannot find prony's own binary")?,
            logs,
            stop: interrupt::stop_flag()?,
        })
    }

    pub(super) fn bench<'a>(
        &'a self,
        services: &'a ServicesUp,
        route: Option<&'a str>,
        timeout: Duration,
    ) -> Bench<'a> {
        Bench {
            project: &self.project,
            launcher: &self.launcher,
            logs: &self.logs,
            services,
            route,
            timeout,
            stop: &self.stop,
        }
    }

    /// The exit code. Logs stay where something failed, because the messages name them.
    pub(super) fn end(&self, outcomes: &[CheckOutcome], all: bool) -> Result<u8> {
        let failed = outcomes.contains(&CheckOutcome::Failed);
        if !failed {
            std::fs::remove_dir_all(&self.logs)
                .with_context(|| format!("cannot remove {}", self.logs.display()))?;
        }
        let skipped = !all && outcomes.contains(&CheckOutcome::Skipped);
        Ok(if failed || skipped { exit::FAILED } else { exit::DONE })
    }
}
