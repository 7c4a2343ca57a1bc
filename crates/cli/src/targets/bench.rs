//! `prony targets check` and `prony targets build`: one target after the other, with progress.
//!
//! Invariant: exit code 0 only where nothing failed and nothing that was named was skipped.

use super::place::Place;
use super::{backing, project, words};
use crate::args::{TargetsBuildArgs, TargetsCheckArgs, TextOrJson, WhichTargets};
use crate::progress::TargetProgress;
use crate::screen;
use anyhow::{Result, bail};
use launch::contract::route;
use runner::check::ServicesUp;
use schema::target_check::{CheckOutcome, TargetBuild, TargetBuilds, TargetCheck, TargetChecks};
use schema::text::nearest;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

pub(super) fn check(args: &TargetsCheckArgs) -> Result<u8> {
    let project = project();
    let names = chosen(&project, &args.which)?;
    check_route(&project, args.route.as_deref())?;
    let place = Place::new(project)?;
    let mut progress = TargetProgress::new(screen::is_live(), names.len());
    let backing = backing::bring_up(&place, &names, args.route.as_deref(), &mut progress)?;
    let bench = place.bench(&backing.up, args.route.as_deref(), args.timeout.to_duration());
    let mut checks = TargetChecks::default();
    for name in &names {
        progress.begins(name);
        let check = bench.check(name, &mut |what| progress.doing(what))?;
        if args.format == TextOrJson::Text {
            progress.above(&words::check(&check))?;
        }
        checks.targets.push(check);
    }
    progress.finish();
    print_json(args.format, &checks)?;
    let outcomes: Vec<CheckOutcome> = checks.targets.iter().map(outcome_of).collect();
    place.end(&outcomes, args.which.all)
}

pub(super) fn build(args: &TargetsBuildArgs) -> Result<u8> {
    let project = project();
    let names = chosen(&project, &args.which)?;
    let place = Place::new(project)?;
    let services = ServicesUp::default();
    let bench = place.bench(&services, None, Duration::ZERO);
    let mut builds = TargetBuilds::default();
    let mut progress = TargetProgress::new(screen::is_live(), names.len());
    for name in &names {
        progress.begins(name);
        let build: TargetBuild = bench.build(name, &mut |what| progress.doing(what))?;
        if args.format == TextOrJson::Text {
            progress.above(&words::build(&build))?;
        }
        builds.targets.push(build);
    }
    progress.finish();
    print_json(args.format, &builds)?;
    let outcomes: Vec<CheckOutcome> = builds.targets.iter().map(|build| build.outcome).collect();
    place.end(&outcomes, args.which.all)
}

/// A target whose only wanted route was skipped was not checked.
fn outcome_of(check: &TargetCheck) -> CheckOutcome {
    let skipped = |route: &schema::target_check::RouteCheck| route.outcome == CheckOutcome::Skipped;
    let nothing_asked = check.routes.iter().all(skipped);
    if check.outcome == CheckOutcome::Ok && nothing_asked { CheckOutcome::Skipped } else { check.outcome }
}

/// The targets that are meant; each name once.
fn chosen(project: &Path, which: &WhichTargets) -> Result<Vec<String>> {
    let known = launch::names(project);
    if which.all {
        return Ok(known);
    }
    let mut names: Vec<String> = Vec::new();
    for name in &which.names {
        if !known.contains(name) {
            // The error has the suggestion.
            launch::find(project, name).map_err(runner::RunnerError::from)?;
        }
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    Ok(names)
}

fn check_route(project: &Path, wanted: Option<&str>) -> Result<()> {
    let Some(wanted) = wanted else { return Ok(()) };
    let known = route::names(&route::folder(project));
    if known.contains(wanted) {
        return Ok(());
    }
    match nearest(wanted, known.iter().map(String::as_str)) {
        Some(near) => bail!("there is no route `{wanted}`; did you mean `{near}`?"),
        None => {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            bail!("there is no route `{wanted}`; the contract has {}", known.join(", "))
        }
    }
}

fn print_json(format: TextOrJson, value: &impl serde::Serialize) -> Result<()> {
    if format == TextOrJson::Json {
        write!(crate::output::stdout(), "{}", schema::json::pretty(value)?)?;
    }
    Ok(())
}
