//! The services that the routes of a check need: those whose addresses the environment has, as `prony services up`
//! prints them, and of the others what can be started. What cannot is reported, and its routes are skipped.

use super::place::Place;
use crate::progress::TargetProgress;
use launch::service::{self, Host, RunningService};
use plan::load_contract;
use runner::check::ServicesUp;
use std::collections::BTreeSet;
use std::io::Write;

/// Services that are up for as long as this lives.
pub(super) struct Backing {
    pub(super) up: ServicesUp,
    /// Stopped when dropped.
    running: Vec<RunningService>,
}

/// Brings up what `targets` need for their routes, or for the one that is wanted.
pub(super) fn bring_up(
    place: &Place,
    targets: &[String],
    route: Option<&str>,
    progress: &mut TargetProgress,
) -> std::io::Result<Backing> {
    let host = Host { launcher: &place.launcher, cpus: None, isolated: false, cancelled: &place.stop };
    let mut backing = Backing { up: ServicesUp::default(), running: Vec::new() };
    for name in needed(place, targets, route) {
        // For a target that names a service which does not exist, its own check reports that.
        let Ok((manifest, folder)) = service::find(&place.project, &name) else { continue };
        let from_outside =
            manifest.provides.env.keys().map(|key| Some((key.clone(), std::env::var(key).ok()?)));
        if let Some(env) = from_outside.collect::<Option<Vec<_>>>().filter(|env| !env.is_empty()) {
            backing.up.env.extend(env);
            backing.up.names.insert(name);
            continue;
        }
        progress.begins(&name);
        progress.doing("starting the service");
        match service::start(&manifest, &folder, &host) {
            Ok(running) => {
                backing.up.env.extend(running.env().clone());
                backing.up.names.insert(name);
                backing.running.push(running);
            }
            Err(error) => progress.suspended(|| {
                writeln!(std::io::stderr(), "prony: {error}\n  routes that need {name} are skipped")
            })?,
        }
    }
    Ok(backing)
}

/// Services of the routes that the targets provide; mistakes in their files are left to their checks.
fn needed(place: &Place, targets: &[String], route: Option<&str>) -> BTreeSet<String> {
    let manifests = targets.iter().filter_map(|name| launch::find(&place.project, name).ok());
    let can_run = manifests
        .filter(|(manifest, folder)| launch::needs(manifest, folder).iter().all(|need| need.present));
    let provided: BTreeSet<String> = can_run.flat_map(|(manifest, _)| manifest.provides).collect();
    provided
        .iter()
        .filter(|name| route.is_none_or(|wanted| wanted == name.as_str()))
        .filter_map(|name| load_contract(&place.project, name).ok())
        .flat_map(|contract| contract.services)
        .collect()
}
