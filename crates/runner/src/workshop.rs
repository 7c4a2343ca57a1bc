//! Preparation before the first trial: clean up after killed runs, confine prony, build and try out every target.

use crate::RunnerError;
use crate::bring_up::{Prepared, bring_up, reported_versions};
use crate::check;
use crate::environment::Environment;
use crate::observer::Observer;
use crate::services::{self, Services};
use launch::{Image, RunningTarget, Scratch};
use plan::Context;
use schema::plan::{ExperimentPlan, TargetPlan, TargetSource};
use schema::said::Said;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// The project that a stored plan's targets live in.
#[must_use]
pub fn project_of(plan: &ExperimentPlan) -> PathBuf {
    let folder = plan.targets.iter().find_map(|target| match &target.source {
        TargetSource::Manifest { folder, .. } => Some(PathBuf::from(folder)),
        _ => None,
    });
    folder.map_or_else(|| PathBuf::from("."), |folder| plan::project_above(&folder))
}

/// Removes what guards that were killed left on the host.
pub(crate) fn sweep(observer: &mut dyn Observer) {
    let swept = launch::confine::sweep();
    for removed in &swept.removed {
        observer.note(&format!("removed {removed}: an earlier run was killed before it could"));
    }
    for left in &swept.left {
        observer.note(&format!("of an earlier run there is still left: {left}"));
    }
}

/// Keeps prony's own threads off the target's CPUs: the generator pays for its own bookkeeping.
pub(crate) fn confine(plan: &ExperimentPlan, observer: &mut dyn Observer) {
    if let Some(cpus) = &plan.pin.generator
        && let Err(error) = launch::pin::confine_this_thread(cpus)
    {
        observer
            .note(&format!("prony could not be confined to its CPUs ({error}); it may disturb the target"));
    }
    if let Some(weakness) = &plan.pin.weakness {
        observer.note(weakness);
    }
}

/// Targets that were built and tried out, and the versions they report, by `target: what`.
pub(crate) struct Workshop {
    pub(crate) targets: BTreeMap<String, Prepared>,
    pub(crate) versions: BTreeMap<String, String>,
    pub(crate) services: Services,
    /// What is built, by its folder, with the versions that its build reported.
    built: BTreeMap<PathBuf, BTreeMap<String, String>>,
    /// What commands have built, by their folder.
    built_by_command: BTreeSet<(PathBuf, Vec<String>)>,
    /// Images that are laid out, by their number in the folder.
    images: Vec<(String, Image)>,
    /// Limits that could not be had.
    pub(crate) weaknesses: Vec<Said>,
    /// Has logs while targets are tried out, then the files of images; they go when the run ends.
    _scratch: Option<Scratch>,
}

/// Builds every target and tries it out once, so that mistakes show before any time is spent on load.
pub(crate) fn prepare(
    plan: &ExperimentPlan,
    context: &Context,
    environment: &Environment,
    observer: &mut dyn Observer,
) -> Result<Workshop, RunnerError> {
    require_all(plan, context)?;
    let services = Services::start(plan, context, environment, observer)?;
    let scratch = Scratch::make().map_err(RunnerError::io("make a folder in", &std::env::temp_dir()))?;
    let mut workshop = Workshop {
        targets: BTreeMap::new(),
        versions: services.versions(),
        services: services.clone(),
        built: BTreeMap::new(),
        built_by_command: BTreeSet::new(),
        images: Vec::new(),
        weaknesses: Vec::new(),
        _scratch: None,
    };
    let mut prepare_all = || {
        for target in &plan.targets {
            if environment.stop.load(Ordering::Relaxed) {
                return Err(RunnerError::Interrupted);
            }
            observer.preparing(&target.name);
            let tried = workshop.try_out(target, plan, context, environment, scratch.path())?;
            workshop.weaken(tried.weaknesses, observer);
            let versions = tried.versions.into_iter();
            let named = versions.map(|(what, version)| (format!("{}: {what}", target.name), version));
            workshop.versions.extend(named);
            workshop.targets.insert(target.name.clone(), tried.prepared);
        }
        Ok(())
    };
    match prepare_all() {
        Ok(()) => {
            workshop._scratch = Some(scratch).filter(|_| !workshop.images.is_empty());
            Ok(workshop)
        }
        Err(error) => {
            // The error names the logs.
            scratch.keep();
            Err(error)
        }
    }
}

/// Everything that targets and services need and that is missing is named at once, before any of them is started.
fn require_all(plan: &ExperimentPlan, context: &Context) -> Result<(), RunnerError> {
    let mut wanted = Vec::new();
    for target in &plan.targets {
        if let TargetSource::Manifest { folder, .. } = &target.source {
            let (manifest, folder) = launch::manifest::load(Path::new(folder))?;
            wanted.push((target.name.clone(), launch::needs(&manifest, &folder)));
        }
        if let TargetSource::Image { .. } = &target.source {
            wanted.push((target.name.clone(), launch::image_needs()));
        }
    }
    for name in services::needed(plan) {
        let (manifest, _) = launch::service::find(&context.project, name)?;
        wanted.push((name.to_owned(), launch::service::need_states(&manifest)));
    }
    Ok(launch::require_all(&wanted)?)
}

impl Workshop {
    /// Notes what could not be had, each thing once.
    fn weaken(&mut self, found: Vec<Said>, observer: &mut dyn Observer) {
        for weakness in found {
            if !self.weaknesses.contains(&weakness) {
                observer.note(&weakness);
                self.weaknesses.push(weakness);
            }
        }
    }

    /// The files of an image, laid out unless that was done.
    fn laid_out(
        &mut self,
        image: &str,
        target: &str,
        environment: &Environment,
        scratch: &Path,
    ) -> Result<Image, RunnerError> {
        if let Some((_, found)) = self.images.iter().find(|(known, _)| known == image) {
            return Ok(found.clone());
        }
        let folder = scratch.join(format!("image-{}", self.images.len() + 1));
        std::fs::create_dir_all(&folder).map_err(RunnerError::io("make the folder", &folder))?;
        let log = scratch.join("build.log");
        let (launcher, stop) = (&environment.launcher, &environment.stop);
        let found = launch::unpack(image, &folder, target, &log, launcher, stop)?;
        self.images.push((image.to_owned(), found.clone()));
        Ok(found)
    }

    /// Builds a target unless that was done, starts it once and asks it everything.
    fn try_out(
        &mut self,
        target: &TargetPlan,
        plan: &ExperimentPlan,
        context: &Context,
        environment: &Environment,
        scratch: &Path,
    ) -> Result<TriedOut, RunnerError> {
        let (plan_of_target, services) = (target.clone(), self.services.clone());
        let mut prepared =
            Prepared { plan: plan_of_target, manifest: None, image: None, contract: Vec::new(), services };
        let mut versions = BTreeMap::new();
        if let TargetSource::Manifest { folder, .. } = &target.source {
            let (manifest, folder) = launch::manifest::load(Path::new(folder))?;
            let out = launch::knobs::build_folder(&folder, &manifest, &target.knobs);
            versions = match self.built.get(&out) {
                Some(versions) => versions.clone(),
                None => {
                    let log = scratch.join("build.log");
                    let (launcher, stop) = (&environment.launcher, &environment.stop);
                    launch::build_variant(&folder, &manifest, &target.knobs, &log, launcher, stop)?
                }
            };
            self.built.insert(out, versions.clone());
            prepared.contract = check::askable(&context.project, &manifest, &self.services.names())?;
            prepared.manifest = Some((manifest, folder));
        }
        if let TargetSource::Command { folder: Some(folder), build, .. } = &target.source {
            let (folder, log) = (Path::new(folder), scratch.join("build.log"));
            if self.built_by_command.insert((folder.to_owned(), build.clone())) {
                let (launcher, stop) = (&environment.launcher, &environment.stop);
                launch::build_command(&target.name, build, folder, &log, launcher, stop)?;
            }
        }
        if let TargetSource::Image { image, .. } = &target.source {
            let found = self.laid_out(image, &target.name, environment, scratch)?;
            versions = found.versions();
            prepared.image = Some(found);
        }
        // Limits of the target's first cell; the trials report those of the others.
        let first = plan.cells.iter().find(|cell| cell.target == target.name);
        let limits = first.map(|cell| cell.limits.clone()).unwrap_or_default();
        let connection = first.map(|cell| cell.load.connection.clone()).unwrap_or_default();
        let scenarios = plan.scenarios_of(&target.name);
        let log = scratch.join("target.log");
        let up = bring_up(&prepared, &scenarios, &limits, &connection, &plan.pin, &log, environment)?;
        versions.extend(reported_versions(&prepared, &up));
        let held = up.running.as_ref().and_then(RunningTarget::confinement).unwrap_or_default();
        if let Some(running) = up.running {
            running.stop()?;
        }
        Ok(TriedOut { prepared, versions, weaknesses: held.weaknesses })
    }
}

/// One target, built and tried out.
struct TriedOut {
    prepared: Prepared,
    versions: BTreeMap<String, String>,
    /// Limits that could not be had.
    weaknesses: Vec<Said>,
}
