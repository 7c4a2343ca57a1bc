//! The user's programs before and after a load: never within the measured time, bounded, their output kept.
//!
//! Once the first has begun, the second runs whatever happens in between, an interrupt included.

use crate::RunnerError;
use launch::{Errand, TargetError};
use schema::hooks::HooksPlan;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The programs of one load.
#[derive(Clone, Debug)]
pub struct Hooks {
    plan: HooksPlan,
    env: BTreeMap<String, String>,
    folder: PathBuf,
    launcher: PathBuf,
}

impl Hooks {
    /// For a load of `url`. Outputs go to `setup.log` and `teardown.log` in `folder`; `launcher` is prony's own binary.
    #[must_use]
    pub fn new(plan: &HooksPlan, url: &str, folder: &Path, launcher: &Path) -> Self {
        let env = BTreeMap::from([("PRONY_URL".to_owned(), url.to_owned())]);
        Self { plan: plan.clone(), env, folder: folder.to_owned(), launcher: launcher.to_owned() }
    }

    /// Runs the program before the load; setting `cancelled` ends it.
    ///
    /// # Errors
    /// It failed, was too slow, or was called off ([`RunnerError::Interrupted`]).
    pub fn set_up(&self, cancelled: &AtomicBool) -> Result<(), RunnerError> {
        self.run("setup", self.plan.setup.as_deref(), cancelled)
    }

    /// Runs the program after the load, even after an interrupt.
    ///
    /// # Errors
    /// It failed or was too slow.
    pub fn tear_down(&self) -> Result<(), RunnerError> {
        self.run("teardown", self.plan.teardown.as_deref(), &AtomicBool::new(false))
    }

    fn run(&self, name: &str, command: Option<&str>, cancelled: &AtomicBool) -> Result<(), RunnerError> {
        let Some(command) = command else { return Ok(()) };
        let errand = Errand {
            name,
            command,
            env: &self.env,
            timeout: Duration::from_nanos(self.plan.timeout_ns),
            log: &self.folder.join(format!("{name}.log")),
            launcher: &self.launcher,
            cancelled,
        };
        errand.run().map_err(|error| match error {
            TargetError::Cancelled(_) => RunnerError::Interrupted,
            error => error.into(),
        })
    }
}
