//! `[[target]]`: exactly one source each, names unique, one target for each combination of its knobs.

use super::knobs::{self, Setting};
use crate::context::Context;
use crate::error::PlanError;
use crate::load::processes::connections_per_process;
use crate::place::net::HttpUrl;
use crate::place::tls;
use crate::wrong::Wrong;
use schema::experiment::TargetUse;
use schema::plan::{CellPlan, TargetPlan, TargetSource, Variant};
use schema::target::Metrics;
use schema::text::Problem;
use std::path::{Path, PathBuf};
use testkit::reference::Law;
use units::Count;

/// The targets, each with the position of the `[[target]]` that it comes from.
pub(super) fn resolve(uses: &[TargetUse], context: &Context) -> Result<Vec<(usize, TargetPlan)>, Wrong> {
    if uses.is_empty() {
        let remedy = "add for example\n  [[target]]\n  use = \"go/nethttp\"";
        return Err(Problem::at("target", "there is no target", remedy).into());
    }
    let mut targets: Vec<(usize, TargetPlan)> = Vec::new();
    for (position, wanted) in uses.iter().enumerate() {
        let key = format!("target.{position}");
        refuse_idle_keys(wanted, &key)?;
        if let Some(problem) = launch::manifest::metrics_problem(&format!("{key}.metrics"), &wanted.metrics) {
            return Err(problem.into());
        }
        let ready = wanted.ready.as_ref();
        if let Some(problem) =
            ready.and_then(|ready| launch::manifest::ready_problem(&format!("{key}.ready"), ready))
        {
            return Err(problem.into());
        }
        let (source, usual_name) = source(wanted, &key, context)?;
        let base = wanted.name.clone().unwrap_or(usual_name);
        if base.trim().is_empty() {
            return Err(Problem::at(&format!("{key}.name"), "the name is empty", "give it a name").into());
        }
        for Setting { suffix, values, listed } in settings(&source, wanted, &key)? {
            let name = format!("{base}{suffix}");
            if targets.iter().any(|(_, other)| other.name == name) {
                let cause = format!("two targets are called `{name}`");
                return Err(Problem::at(&key, cause, "give one of them another name = \"…\"").into());
            }
            let (source, env, metrics) = (source.clone(), wanted.env.clone(), wanted.metrics.clone());
            let variant = (!listed.is_empty()).then(|| Variant { of: base.clone(), knobs: listed });
            targets.push((position, TargetPlan { name, source, env, knobs: values, variant, metrics }));
        }
    }
    Ok(targets)
}

/// The combinations of its knobs; only a manifest declares any.
fn settings(source: &TargetSource, wanted: &TargetUse, key: &str) -> Result<Vec<Setting>, Wrong> {
    let TargetSource::Manifest { folder, .. } = source else {
        return Ok(vec![Setting::default()]);
    };
    let (manifest, _) = launch::manifest::load(Path::new(folder)).map_err(PlanError::from)?;
    Ok(knobs::settings(wanted, &manifest, key)?)
}

/// Keys that the given source has no use for are mistakes, not decoration.
fn refuse_idle_keys(wanted: &TargetUse, key: &str) -> Result<(), Problem> {
    let is_own = wanted.command.is_some() || wanted.image.is_some();
    let is_started = wanted.manifest.is_some() || is_own;
    let idle = [
        (
            "ready",
            wanted.ready.is_some() && !is_own,
            "only a `command` or an `image` says here when it is ready",
        ),
        (
            "stop",
            wanted.stop.is_some() && !is_own,
            "only a `command` or an `image` says here how it is stopped",
        ),
        ("tls", wanted.tls.is_some() && wanted.url.is_none(), "only a `url` has TLS set up here"),
        (
            "env",
            !wanted.env.is_empty() && !is_started,
            "only `use`, `image` and `command` are started with an environment",
        ),
        (
            "metrics",
            wanted.metrics != Metrics::default() && wanted.reference.is_some(),
            "what the reference target counts is known",
        ),
        ("knobs", !wanted.knobs.is_empty() && wanted.manifest.is_none(), "only a manifest has knobs"),
        (
            "project",
            wanted.project.is_some() && wanted.manifest.is_none(),
            "only `use` is looked for in a project",
        ),
        (
            "folder",
            wanted.folder.is_some() && (wanted.command.is_none() || wanted.image.is_some()),
            "only a `command` says here where it is run",
        ),
        (
            "build",
            !wanted.build.is_empty() && (wanted.command.is_none() || wanted.image.is_some()),
            "only a `command` says here how it is built",
        ),
    ];
    match idle.into_iter().find(|(_, is_idle, _)| *is_idle) {
        Some((name, _, cause)) => Err(Problem::at(&format!("{key}.{name}"), cause, "remove it")),
        None => Ok(()),
    }
}

/// The one source that is given, and the name it goes by.
fn source(wanted: &TargetUse, key: &str, context: &Context) -> Result<(TargetSource, String), Wrong> {
    if let Some(image) = &wanted.image {
        return of_image(image, wanted, key, context);
    }
    match (&wanted.manifest, &wanted.url, &wanted.command, &wanted.reference) {
        (Some(name), None, None, None) => {
            let elsewhere = folder_of(wanted.project.as_deref(), &format!("{key}.project"), context)?;
            let project = elsewhere.as_deref().unwrap_or(&context.project);
            let (_, folder) = launch::find(project, name).map_err(PlanError::from)?;
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
            let folder = folder_of(wanted.folder.as_deref(), &format!("{key}.folder"), context)?;
            if folder.is_none() && !wanted.build.is_empty() {
                let remedy = "name it, for example folder = \".\"";
                return Err(Problem::at(&format!("{key}.build"), "a build needs a folder", remedy).into());
            }
            let source = TargetSource::Command {
                command: command.clone(),
                folder: folder.map(|folder| folder.display().to_string()),
                build: wanted.build.clone(),
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
            let remedy = "give exactly one of use, url, image, command, reference";
            Err(Problem::at(key, "a target needs one source", remedy).into())
        }
    }
}

/// A target from an image, which may have a command of its own; paths of archives and layouts are absolute then.
fn of_image(
    image: &str,
    wanted: &TargetUse,
    key: &str,
    context: &Context,
) -> Result<(TargetSource, String), Wrong> {
    if wanted.manifest.is_some() || wanted.url.is_some() || wanted.reference.is_some() {
        let remedy = "leave `image`, with `command` for arguments of its own, or remove it";
        return Err(Problem::at(key, "a target needs one source", remedy).into());
    }
    if image.is_empty()
        || image.starts_with('-')
        || image.chars().any(|c| c.is_whitespace() || c.is_control())
    {
        let remedy = "name it as podman or docker list it, or as oci:FOLDER:TAG";
        return Err(Problem::at(&format!("{key}.image"), "this is no image", remedy).into());
    }
    let last = image.rsplit('/').next().unwrap_or(image);
    let name = last.split([':', '@']).find(|part| !part.is_empty()).unwrap_or(last);
    let source = TargetSource::Image {
        image: with_its_path(image, context),
        command: wanted.command.clone().unwrap_or_default(),
        ready: wanted.ready.clone().unwrap_or_default(),
        stop: wanted.stop.clone().unwrap_or_default(),
    };
    Ok((source, name.to_owned()))
}

/// Paths of layouts and archives are from the project on; skopeo is started elsewhere.
fn with_its_path(image: &str, context: &Context) -> String {
    match image.split_once(':') {
        Some((transport @ ("oci" | "oci-archive" | "docker-archive" | "dir"), path)) => {
            let whole = context.project.join(path);
            format!("{transport}:{}", std::path::absolute(&whole).unwrap_or(whole).display())
        }
        _ => image.to_owned(),
    }
}

/// A folder that the file names, from the project on, as an absolute path.
fn folder_of(named: Option<&str>, key: &str, context: &Context) -> Result<Option<PathBuf>, Problem> {
    let Some(named) = named else { return Ok(None) };
    let folder = context.project.join(named);
    match folder.canonicalize() {
        Ok(found) if found.is_dir() => Ok(Some(found)),
        _ => {
            let cause = format!("there is no folder {}", folder.display());
            Err(Problem::at(key, cause, "name one that is there, from the project on"))
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

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::manifest::GO_GIN;

    /// What is added to a manifest that has none.
    const KNOBS: &str = r#"[[knob]]
name = "gogc"
about = "a"
type = "integer"
default = "100"
at_least = 1
env = "GOGC"
[[knob]]
name = "json"
about = "a"
type = "choice"
choices = ["std", "sonic"]
default = "std"
build_env = "JSON"
[[knob]]
name = "memory"
about = "a"
type = "size"
env = "GOMEMLIMIT"
"#;

    fn resolved(target: &str) -> Result<Vec<TargetPlan>, String> {
        let project = tempfile::tempdir().unwrap();
        for folder in ["targets/go/gin", "other/targets/go/gin"].map(|name| project.path().join(name)) {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("target.toml"), format!("{GO_GIN}{KNOBS}")).unwrap();
        }
        let context = Context { project: PathBuf::from(project.path()), usable_cpus: vec![0], pin: None };
        let text = format!("[experiment]\nname = \"x\"\n{target}");
        let file: schema::experiment::ExperimentFile =
            schema::text::parse_toml("x.toml", &text).map_err(|error| error.to_string())?;
        let resolved = resolve(&file.target, &context);
        resolved.map(|targets| targets.into_iter().map(|(_, target)| target).collect()).map_err(|wrong| {
            match wrong {
                Wrong::Here(problem) => problem.locate("x.toml", &text).to_string(),
                Wrong::Elsewhere(error) => error.to_string(),
            }
        })
    }

    #[test]
    fn lists_of_knobs_make_a_target_for_each_combination() {
        let names = |rest: &str| -> Vec<String> {
            let target = format!("[[target]]\nuse = \"go/gin\"\n{rest}");
            resolved(&target).unwrap().into_iter().map(|target| target.name).collect()
        };
        assert_eq!(names(""), ["go/gin"]);
        assert_eq!(names("knobs = { gogc = 50 }"), ["go/gin"]);
        assert_eq!(
            names("knobs = { json = [\"std\", \"sonic\"], gogc = [50, 100] }"),
            [
                "go/gin gogc=50 json=std",
                "go/gin gogc=50 json=sonic",
                "go/gin gogc=100 json=std",
                "go/gin gogc=100 json=sonic"
            ]
        );
        assert_eq!(
            names("name = \"mine\"\nknobs = { memory = \"64MiB\", gogc = [50, 100] }"),
            ["mine gogc=50", "mine gogc=100"]
        );
    }

    #[test]
    fn the_plan_has_every_value_in_force() {
        let targets = resolved("[[target]]\nuse = \"go/gin\"\nknobs = { gogc = 50 }").unwrap();
        let values: Vec<_> = targets[0].knobs.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(values, ["gogc=50", "json=std"], "memory has no default and is not set");
    }

    #[test]
    fn a_command_may_have_a_folder_and_a_build_and_a_target_another_project() {
        let targets = resolved(
            "[[target]]\ncommand = [\"./s\", \"{port}\"]\nfolder = \"targets/go\"\nbuild = [\"make\"]",
        );
        let targets = targets.unwrap();
        let TargetSource::Command { folder, build, .. } = &targets[0].source else { panic!("a command") };
        assert!(folder.as_ref().unwrap().ends_with("/targets/go"), "{folder:?}");
        assert_eq!(build, &["make"]);
        let two = "[[target]]\nuse = \"go/gin\"\n[[target]]\nuse = \"go/gin\"\nproject = \"other\"\nname = \"other\"";
        let folders: Vec<bool> = resolved(two)
            .unwrap()
            .iter()
            .map(|target| match &target.source {
                TargetSource::Manifest { folder, .. } => folder.ends_with("/other/targets/go/gin"),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(folders, [false, true]);
        let targets = resolved("[[target]]\nimage = \"oci:built/shop:1.2\"\ncommand = [\"serve\"]").unwrap();
        let TargetSource::Image { image, command, .. } = &targets[0].source else { panic!("an image") };
        assert!(image.starts_with("oci:/") && image.ends_with("/built/shop:1.2"), "{image}");
        assert_eq!((targets[0].name.as_str(), command.as_slice()), ("shop", &["serve".to_owned()][..]));
        for (target, expected) in [
            ("image = \"shop\"\nurl = \"http://127.0.0.1:1\"", "a target needs one source (key `target.0`)"),
            ("image = \"--root=/\"", "this is no image (key `target.0.image`)"),
            ("image = \"shop\"\nfolder = \".\"", "is run (key `target.0.folder`)"),
            ("use = \"go/gin\"\nproject = \"nowhere\"", "nowhere (key `target.0.project`)"),
            ("command = [\"s\"]\nfolder = \"nowhere\"", "nowhere (key `target.0.folder`)"),
            ("command = [\"s\"]\nbuild = [\"make\"]", "a build needs a folder (key `target.0.build`)"),
            ("reference = {}\nfolder = \".\"", "only a `command` says here where it is run"),
            ("use = \"go/gin\"\nbuild = [\"make\"]", "only a `command` says here how it is built"),
            ("command = [\"s\"]\nproject = \".\"", "only `use` is looked for in a project"),
        ] {
            let text = resolved(&format!("[[target]]\n{target}")).unwrap_err();
            assert!(text.contains(expected) && text.contains("remedy"), "{expected}:\n{text}");
        }
    }

    #[test]
    fn wrong_knobs_are_told_with_line_key_cause_and_remedy() {
        let many: Vec<String> = (1..=1001).map(|value| value.to_string()).collect();
        for (knobs, expected) in [
            (
                "gocg = 50".to_owned(),
                "go/gin has no knob `gocg` (key `target.0.knobs.gocg`)\n  remedy: did you mean `gogc`? There are: gogc, json, memory",
            ),
            (
                "gogc = 0".to_owned(),
                "`0` is no value of the knob `gogc` (key `target.0.knobs.gogc`)\n  remedy: write a whole number from 1",
            ),
            ("gogc = \"50\"".to_owned(), "remedy: write a whole number from 1"),
            ("gogc = []".to_owned(), "the list is empty"),
            ("gogc = [50, 50]".to_owned(), "the list has `50` twice"),
            ("json = [\"std\", \"easy\"]".to_owned(), "remedy: write one of: std, sonic"),
            (format!("gogc = [{}]", many.join(", ")), "more than 1000 combinations"),
        ] {
            let text = resolved(&format!("[[target]]\nuse = \"go/gin\"\nknobs = {{ {knobs} }}")).unwrap_err();
            assert!(text.starts_with("x.toml:5:") && text.contains(expected), "{expected}:\n{text}");
        }
        let text = resolved("[[target]]\nuse = \"go/gin\"\nenv = { GOGC = \"1\" }").unwrap_err();
        assert!(
            text.contains("GOGC belongs to the knob `gogc`") && text.contains("write knobs = { gogc = … }")
        );
        let text = resolved("[[target]]\nreference = {}\nknobs = { gogc = 1 }").unwrap_err();
        assert!(text.contains("only a manifest has knobs"), "{text}");
        let twice = "[[target]]\nuse = \"go/gin\"\n[[target]]\nuse = \"go/gin\"\nknobs = { gogc = 50 }";
        assert!(resolved(twice).unwrap_err().contains("two targets are called `go/gin`"));
    }
}
