//! Building a target: its programs must be there, its build command must succeed; both are recorded.
//!
//! The build runs under a guard like a target, so that neither a compiler nor its daemon outlives it.

use crate::guard::{Ending, Exit, Finish, Guard, Spec};
use crate::knobs::{self, Values};
use crate::{TargetError, need, program, template};
use schema::target::{Build, StopSignal, TargetManifest};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often a build looks whether it was called off.
const CANCEL_PAUSE: Duration = Duration::from_millis(100);
/// A build that is called off has this long to end itself.
const BUILD_ENDING: Ending = Ending { signal: StopSignal::Term, timeout_ms: 2000 };

/// [`build_variant`] with every knob at its default.
///
/// # Errors
/// As there.
pub fn build(
    folder: &Path,
    manifest: &TargetManifest,
    log: &Path,
    launcher: &Path,
    cancelled: &AtomicBool,
) -> Result<BTreeMap<String, String>, TargetError> {
    build_variant(folder, manifest, &knobs::defaults(manifest), log, launcher, cancelled)
}

/// Builds the target in `folder` with these knobs into its [`knobs::build_folder`]; without `[build]`, only what the
/// run needs is looked for.
///
/// The build's output goes to `log` (emptied first), `launcher` is prony's own binary, and setting `cancelled` ends
/// the build. Returns need → first line of its version, for those that have a version command and answer.
///
/// # Errors
/// Something that build or run need is missing (with the manifest's advice), or the command fails (with the last 30
/// lines of its output).
pub fn build_variant(
    folder: &Path,
    manifest: &TargetManifest,
    values: &Values,
    log: &Path,
    launcher: &Path,
    cancelled: &AtomicBool,
) -> Result<BTreeMap<String, String>, TargetError> {
    need::require(need::of(manifest), folder)?;
    let Some(plan) = &manifest.build else { return Ok(need::versions(need::of(manifest), folder)) };
    let out = knobs::build_folder(folder, manifest, values);
    fs::create_dir_all(&out).map_err(|error| TargetError::io(format!("create {}", out.display()), error))?;
    File::create(log).map_err(|error| TargetError::io(format!("write the log {}", log.display()), error))?;
    let spec = spec(plan, knobs::build_env(manifest, values), folder, &out, log);
    if program::find(&spec.command[0], Some(folder), None).is_none() {
        return Err(TargetError::ProgramNotFound {
            program: spec.command[0].clone(),
            remedy: format!("install it; list it under build.needs of {}", manifest.name),
        });
    }
    run(&manifest.name, launcher, &spec, cancelled)?;
    Ok(need::versions(need::of(manifest), folder))
}

/// Runs the command that builds a target without a manifest, in its folder.
///
/// `log`, `launcher` and `cancelled` are as for [`build_variant`].
///
/// # Errors
/// Its program is missing, or it fails (with the last 30 lines of its output).
pub fn build_command(
    name: &str,
    command: &[String],
    folder: &Path,
    log: &Path,
    launcher: &Path,
    cancelled: &AtomicBool,
) -> Result<(), TargetError> {
    let Some(program) = command.first() else { return Ok(()) };
    if program::find(program, Some(folder), None).is_none() {
        let remedy = "install it, or correct the target's build".to_owned();
        return Err(TargetError::ProgramNotFound { program: program.clone(), remedy });
    }
    File::create(log).map_err(|error| TargetError::io(format!("write the log {}", log.display()), error))?;
    run(name, launcher, &spec_of(command.to_vec(), folder, log), cancelled)
}

/// A command without variables of its own, run in a folder.
pub(crate) fn spec_of(command: Vec<String>, folder: &Path, log: &Path) -> Spec {
    let build = Build { command, env: BTreeMap::new(), needs: Vec::new() };
    spec(&build, BTreeMap::new(), folder, folder, log)
}

/// Removes what was built with these knobs, so that the next build begins from nothing. Other variants stay.
///
/// # Errors
/// Something cannot be removed.
pub fn remove_build(folder: &Path, manifest: &TargetManifest, values: &Values) -> Result<(), TargetError> {
    let out = knobs::build_folder(folder, manifest, values);
    let failed = |error| TargetError::io(format!("remove the old build {}", out.display()), error);
    let entries = match fs::read_dir(&out) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    for entry in entries {
        let entry = entry.map_err(failed)?;
        if knobs::is_variant(&entry.file_name().to_string_lossy()) {
            continue;
        }
        let is_folder = entry.file_type().map_err(failed)?.is_dir();
        let removed =
            if is_folder { fs::remove_dir_all(entry.path()) } else { fs::remove_file(entry.path()) };
        removed.map_err(failed)?;
    }
    Ok(())
}

fn spec(plan: &Build, knobs: BTreeMap<String, String>, folder: &Path, out: &Path, log: &Path) -> Spec {
    let (out, shown) = (out.display().to_string(), folder.display().to_string());
    let values = template::Values { build: Some(&out), folder: Some(&shown), ..template::Values::default() };
    let mut env = plan.env.clone();
    env.extend(knobs);
    Spec {
        command: plan.command.iter().map(|text| values.fill(text)).collect(),
        env: env.into_iter().map(|(name, value)| (name, values.fill(&value))).collect(),
        folder: Some(folder.to_owned()),
        cpus: None,
        confine: None,
        join: None,
        log: log.to_owned(),
        ending: BUILD_ENDING,
    }
}

/// Runs a build through the guard, so that no process of it is left.
pub(crate) fn run(
    name: &str,
    launcher: &Path,
    spec: &Spec,
    cancelled: &AtomicBool,
) -> Result<(), TargetError> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> TargetManifest {
        let text = "schema = \"prony.target/1\"\nname = \"x\"\ndescription = \"d\"\nlanguage = \"l\"\n[build]\n\
                    command = [\"make\", \"-C\", \"{build}\"]\nenv = { CACHE = \"{folder}/.cache\" }\n[run]\n\
                    command = [\"{build}/s\", \"{port}\"]\n[[knob]]\nname = \"tags\"\nabout = \"a\"\n\
                    type = \"text\"\nbuild_env = \"TAGS\"\n";
        schema::text::parse_toml("t", text).unwrap()
    }

    #[test]
    fn a_build_gets_its_folder_and_its_knobs() {
        let manifest = manifest();
        let values = Values::from([("tags".to_owned(), "fast".to_owned())]);
        let out = knobs::build_folder(Path::new("/t"), &manifest, &values);
        let build = manifest.build.as_ref().unwrap();
        let env = knobs::build_env(&manifest, &values);
        let spec = spec(build, env, Path::new("/t"), &out, Path::new("/l"));
        assert_eq!(spec.command, ["make", "-C", "/t/.build/tags=fast"]);
        let env: Vec<_> = spec.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(env, [("CACHE", "/t/.cache"), ("TAGS", "fast")]);
    }

    #[test]
    fn removing_a_build_leaves_the_other_variants() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = manifest();
        let variant = Values::from([("tags".to_owned(), "fast".to_owned())]);
        for path in [".build/server", ".build/deep/object", ".build/tags=fast/server"] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let is_there = |path: &str| folder.path().join(path).exists();
        remove_build(folder.path(), &manifest, &Values::new()).unwrap();
        assert!(!is_there(".build/server") && !is_there(".build/deep"));
        assert!(is_there(".build/tags=fast/server"));
        remove_build(folder.path(), &manifest, &variant).unwrap();
        assert!(!is_there(".build/tags=fast/server"));
        remove_build(Path::new("/nowhere"), &manifest, &variant).unwrap();
    }
}
