//! Building a target: its programs must be there, its build command must succeed; both are recorded.
//!
//! The build runs under a guard like a target, so that neither a compiler nor its daemon outlives it.

use crate::guard::{Ending, Exit, Finish, Guard, Spec};
use crate::template::Values;
use crate::{TargetError, program};
use schema::target::{Need, StopSignal, TargetManifest};
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
    let Some(plan) = &manifest.build else { return Ok(BTreeMap::new()) };
    require(&plan.needs)?;
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
    Ok(versions(&plan.needs, folder))
}

/// `{build}`: absolute, because commands run in another folder than prony does.
pub(crate) fn folder_of(folder: &Path) -> String {
    std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()).join(".build").display().to_string()
}

fn require(needs: &[Need]) -> Result<(), TargetError> {
    match needs.iter().find(|need| program::find(&need.program, None, None).is_none()) {
        Some(need) => {
            Err(TargetError::ProgramNotFound { program: need.program.clone(), remedy: need.install.clone() })
        }
        None => Ok(()),
    }
}

fn spec(command: &[String], folder: &Path, out: &str, log: &Path) -> Spec {
    let values = Values { build: Some(out), ..Values::default() };
    Spec {
        command: command.iter().map(|text| values.fill(text)).collect(),
        env: BTreeMap::new(),
        folder: Some(folder.to_owned()),
        cpus: None,
        confine: None,
        join: None,
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

fn versions(needs: &[Need], folder: &Path) -> BTreeMap<String, String> {
    let version = |need: &Need| Some((need.program.clone(), program::version(&need.version, folder)?));
    needs.iter().filter_map(version).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_comes_with_the_advice_of_the_manifest() {
        let need = |program: &str| Need {
            program: program.to_owned(),
            version: vec!["sh".into(), "-c".into(), "echo 1.0".into()],
            install: format!("apt-get install {program}"),
        };
        let error = require(&[need("sh"), need("no-such-program")]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`no-such-program` is not found or cannot be executed\n  remedy: apt-get install no-such-program"
        );
        assert!(folder_of(Path::new("targets/x")).starts_with('/'));
        assert_eq!(versions(&[need("sh")], Path::new("/")), BTreeMap::from([("sh".into(), "1.0".into())]));
    }
}
