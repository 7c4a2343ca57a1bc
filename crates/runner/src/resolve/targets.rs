//! `[[target]]`: exactly one source each, names unique.

use super::{Context, Wrong};
use crate::RunnerError;
use crate::net::HttpUrl;
use crate::processes::connections_per_process;
use crate::tls;
use schema::experiment::TargetUse;
use schema::plan::{CellPlan, TargetPlan, TargetSource};
use schema::text::Problem;
use testkit::reference::Law;
use units::Count;

pub(super) fn resolve(uses: &[TargetUse], context: &Context) -> Result<Vec<TargetPlan>, Wrong> {
    if uses.is_empty() {
        let remedy = "add for example\n  [[target]]\n  use = \"go/nethttp\"";
        return Err(Problem::at("target", "there is no target", remedy).into());
    }
    let mut targets: Vec<TargetPlan> = Vec::new();
    for (position, wanted) in uses.iter().enumerate() {
        let key = format!("target.{position}");
        refuse_idle_keys(wanted, &key)?;
        let (source, usual_name) = source(wanted, &key, context)?;
        let name = wanted.name.clone().unwrap_or(usual_name);
        if name.trim().is_empty() {
            return Err(Problem::at(&format!("{key}.name"), "the name is empty", "give it a name").into());
        }
        if targets.iter().any(|other| other.name == name) {
            let cause = format!("two targets are called `{name}`");
            return Err(Problem::at(&key, cause, "give one of them another name = \"…\"").into());
        }
        targets.push(TargetPlan { name, source, env: wanted.env.clone() });
    }
    Ok(targets)
}

/// Keys that the given source has no use for are mistakes, not decoration.
fn refuse_idle_keys(wanted: &TargetUse, key: &str) -> Result<(), Problem> {
    let is_started = wanted.manifest.is_some() || wanted.command.is_some();
    let idle = [
        (
            "ready",
            wanted.ready.is_some() && wanted.command.is_none(),
            "only a `command` is told here when it is ready",
        ),
        (
            "stop",
            wanted.stop.is_some() && wanted.command.is_none(),
            "only a `command` is told here how to stop",
        ),
        ("tls", wanted.tls.is_some() && wanted.url.is_none(), "only a `url` has TLS set up here"),
        (
            "env",
            !wanted.env.is_empty() && !is_started,
            "only `use` and `command` are started with an environment",
        ),
    ];
    match idle.into_iter().find(|(_, is_idle, _)| *is_idle) {
        Some((name, _, cause)) => Err(Problem::at(&format!("{key}.{name}"), cause, "remove it")),
        None => Ok(()),
    }
}

/// The one source that is given, and the name it goes by.
fn source(wanted: &TargetUse, key: &str, context: &Context) -> Result<(TargetSource, String), Wrong> {
    match (&wanted.manifest, &wanted.url, &wanted.command, &wanted.reference) {
        (Some(name), None, None, None) => {
            let (_, folder) = target::find(&context.project, name).map_err(RunnerError::from)?;
            let folder = folder.display().to_string();
            Ok((TargetSource::Manifest { name: name.clone(), folder }, name.clone()))
        }
        (None, Some(url), None, None) => {
            let parsed = HttpUrl::parse(url).map_err(|error| {
                Problem::at(&format!("{key}.url"), error.to_string(), "give http://host:port")
            })?;
            if parsed.path != "/" {
                let remedy = "give scheme, host and port only; the path belongs to the scenario's request";
                return Err(Problem::at(&format!("{key}.url"), "the URL has a path", remedy).into());
            }
            let tls = tls::of_url(wanted.tls.as_ref(), &parsed, &context.project).map_err(|error| {
                Problem::at(
                    &format!("{key}.tls"),
                    error.to_string(),
                    "see docs/schemas/experiment.schema.json",
                )
            })?;
            Ok((TargetSource::Url { url: url.clone(), tls }, parsed.authority()))
        }
        (None, None, Some(command), None) => {
            let Some(program) = command.first() else {
                return Err(
                    Problem::at(&format!("{key}.command"), "the command is empty", "name a program").into()
                );
            };
            let source = TargetSource::Command {
                command: command.clone(),
                ready: wanted.ready.clone().unwrap_or_default(),
                stop: wanted.stop.clone().unwrap_or_default(),
            };
            Ok((source, program.rsplit('/').next().unwrap_or(program).to_owned()))
        }
        (None, None, None, Some(law)) => {
            Law::try_from(law).map_err(|error| {
                Problem::at(&format!("{key}.reference"), error.to_string(), "see `prony reference --help`")
            })?;
            Ok((TargetSource::Reference { law: law.clone() }, "reference".to_owned()))
        }
        _ => {
            let remedy = "give exactly one of use, url, command, reference";
            Err(Problem::at(key, "a target needs one source", remedy).into())
        }
    }
}

/// Lets reference targets hold the most connections of any cell, where one process might not.
pub(super) fn hold(targets: &mut [TargetPlan], cells: &[CellPlan]) {
    let Some(most) = cells.iter().map(|cell| cell.load.connections_max.max(cell.load.connections)).max()
    else {
        return;
    };
    if most <= connections_per_process() / 2 {
        return;
    }
    for target in targets {
        if let TargetSource::Reference { law } = &mut target.source {
            law.connections_max.get_or_insert(Count(most.into()));
        }
    }
}
