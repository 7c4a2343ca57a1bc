//! Building a target: its programs must be there, its build command must succeed; both are recorded.
//!
//! The build runs under a guard like a target, so that neither a compiler nor its daemon outlives it.

use crate::guard::{Ending, Exit, Finish, Guard, Spec};
use crate::template::Values;
use crate::{TargetError, need, program};
use schema::target::{StopSignal, TargetManifest};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often a build looks whether it was called off.
const CANCEL_PAUSE: Duration = Duration::from_millis(100);
/// A build that is called off has this long to end itself.
const BUILD_ENDING: Ending = Ending { signal: StopSignal::Term, timeout_ms: 2000 };

/// Builds the target in `folder` into `folder/.build`; a manifest without `[build]` needs nothing.
///
/// The build's output goes to `log` (emptied first), `launcher` is prony's own binary, and setting `cancelled` ends
/// the build. Returns program → first line of its version, for the programs that have a version command and answer.
///
/// # Errors
/// A program is missing (with the manifest's advice), or the command fails (with the last 30 lines of its output).
pub fn build(
    folder: &Path,
    manifest: &TargetManifest,
    log: &Path,
    launcher: &Path,
    cancelled: &AtomicBool,
) -> Result<BTreeMap<String, String>, TargetError> {
    need::require(need::of(manifest), folder)?;
    let Some(plan) = &manifest.build else { return Ok(need::versions(need::of(manifest), folder)) };
    let out = folder_of(folder);
    fs::create_dir_all(&out).map_err(|error| TargetError::io(format!("create {out}"), error))?;
    File::create(log).map_err(|error| TargetError::io(format!("write the log {}", log.display()), error))?;
    let spec = spec(&plan.command, folder, &out, log);
    if program::find(&spec.command[0], Some(folder), None).is_none() {
        return Err(TargetError::ProgramNotFound {
            program: spec.command[0].clone(),
            remedy: format!("install it; list it under build.needs of {}", manifest.name),
        });
    }
    run(&manifest.name, launcher, &spec, cancelled)?;
    Ok(need::versions(need::of(manifest), folder))
}

/// `{build}`: absolute, because commands run in another folder than prony does.
pub(crate) fn folder_of(folder: &Path) -> String {
    std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()).join(".build").display().to_string()
}

fn spec(command: &[String], folder: &Path, out: &str, log: &Path) -> Spec {
    let values = Values { build: Some(out), ..Values::default() };
    Spec {
        command: command.iter().map(|text| values.fill(text)).collect(),
        env: BTreeMap::new(),
        folder: Some(folder.to_owned()),
        cpus: None,
        log: log.to_owned(),
        ending: BUILD_ENDING,
    }
}

fn run(name: &str, launcher: &Path, spec: &Spec, cancelled: &AtomicBool) -> Result<(), TargetError> {
    let mut guard = Guard::launch(launcher, spec)?;
    let mut called_off = false;
    while !called_off && !guard.wait_for_end(CANCEL_PAUSE) {
        called_off = cancelled.load(Ordering::Relaxed);
    }
    match guard.end() {
        Finish::Gone if called_off => Err(TargetError::Cancelled("the build")),
        Finish::Gone => match guard.exit() {
            Some(Exit::Code(0)) => Ok(()),
            Some(exit) => Err(TargetError::Build {
                name: name.to_owned(),
                command: guard.shown(),
                exit,
                tail: guard.tail(),
            }),
            None => Err(guard.lost("it did not say how the build ended".to_owned())),
        },
        Finish::Left(pids) => Err(TargetError::Survivors { pids }),
        Finish::Lost(cause) => Err(guard.lost(cause)),
    }
}
