//! Reading `service.toml` and holding it to its rules; the error names file, line, cause and remedy.

use super::ServiceError;
use schema::service::{ServiceKind, ServiceManifest};
use schema::text::{FileError, Problem, parse_toml};
use std::path::{Path, PathBuf};

/// The manifest's name in its folder.
pub(super) const FILE_NAME: &str = "service.toml";

/// Reads the manifest in `folder`; the second value is that folder as an absolute path without symbolic links.
pub(super) fn load(folder: &Path) -> Result<(ServiceManifest, PathBuf), ServiceError> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let file = folder.join(FILE_NAME);
    let text =
        crate::manifest::read(&file).map_err(ServiceError::io(&name, format!("read {}", file.display())))?;
    let folder =
        folder.canonicalize().map_err(ServiceError::io(&name, format!("resolve {}", folder.display())))?;
    let manifest = parse(&file.display().to_string(), &text, &name).map_err(Box::new)?;
    Ok((manifest, folder))
}

fn parse(file: &str, text: &str, folder: &str) -> Result<ServiceManifest, FileError> {
    let manifest: ServiceManifest = parse_toml(file, text)?;
    match problem(&manifest, folder) {
        Some(problem) => Err(problem.locate(file, text)),
        None => Ok(manifest),
    }
}

fn problem(manifest: &ServiceManifest, folder: &str) -> Option<Problem> {
    if manifest.name != folder {
        return Some(Problem::at(
            "name",
            format!("`{}` is not the folder it stands in, {folder}", manifest.name.escape_debug()),
            "give name and folder the same text",
        ));
    }
    empty_command(manifest)
        .or_else(|| missing_port(manifest))
        .or_else(|| seed_outside(manifest))
        .or_else(|| metrics_problem(manifest))
}

fn metrics_problem(manifest: &ServiceManifest) -> Option<Problem> {
    let metrics = manifest.metrics.as_ref()?;
    if metrics.password_env.is_some() && metrics.password_file.is_some() {
        return Some(Problem::at(
            "metrics.password_file",
            "the password has two sources",
            "give password_env or password_file, not both",
        ));
    }
    let needs_user = metrics.kind != ServiceKind::Redis && metrics.user.is_none();
    needs_user.then(|| {
        Problem::at(
            "metrics.user",
            "no account is given",
            "name an account that may read the counters, for example user = \"root\"",
        )
    })
}

fn empty_command(manifest: &ServiceManifest) -> Option<Problem> {
    let step = |key: &'static str, step: &schema::target::Run| (key.to_owned(), step.command.clone());
    let mut commands = vec![step("run", &manifest.run)];
    commands.extend(manifest.build.iter().map(|build| step("build", build)));
    commands.extend(manifest.prepare.iter().map(|prepare| step("prepare", prepare)));
    commands.extend(manifest.seed.iter().map(|seed| ("seed".to_owned(), seed.command.clone())));
    commands.extend(manifest.ready.command.iter().map(|ready| ("ready".to_owned(), ready.clone())));
    let checks = manifest.check.iter().enumerate();
    commands.extend(checks.map(|(at, check)| (format!("check.{at}"), check.command.clone())));
    let (key, _) = commands.into_iter().find(|(_, command)| command.first().is_none_or(String::is_empty))?;
    Some(Problem::at(&format!("{key}.command"), "the command is empty", "give the program and its arguments"))
}

fn missing_port(manifest: &ServiceManifest) -> Option<Problem> {
    let run = &manifest.run;
    let has_port = run.command.iter().chain(run.env.values()).any(|text| text.contains("{port}"));
    (!has_port).then(|| {
        Problem::at(
            "run.command",
            "neither the command nor env has {port}",
            "prony chooses the port; put {port} into run.command or run.env",
        )
    })
}

fn seed_outside(manifest: &ServiceManifest) -> Option<Problem> {
    let outside = |file: &String| file.starts_with('/') || file.split('/').any(|part| part == "..");
    let file = manifest.seed.iter().flat_map(|seed| &seed.files).find(|file| outside(file))?;
    Some(Problem::at(
        "seed.files",
        format!("`{}` leads out of the folder", file.escape_debug()),
        "keep the seed beside service.toml",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "schema = \"prony.service/1\"\nname = \"x\"\ndescription = \"d\"\n[run]\n\
                        command = [\"s\", \"{port}\"]\n";

    fn check(text: &str, expected: &str) {
        let error = parse("service.toml", text, "x").expect_err(text).to_string();
        assert!(error.contains(expected) && error.contains("remedy"), "{error}");
    }

    #[test]
    fn faults_come_with_line_cause_and_remedy() {
        parse("service.toml", GOOD, "x").unwrap();
        check(&GOOD.replace("\"x\"", "\"y\""), "service.toml:2:1: `y` is not the folder");
        check(&GOOD.replace("{port}", "80"), "service.toml:5:1: neither the command nor env has {port}");
        check(&GOOD.replace("command", "comand"), "did you mean `command`?");
        check(&format!("{GOOD}[seed]\ncommand = []\n"), "service.toml:7:1: the command is empty");
        check(
            &format!("{GOOD}[seed]\ncommand = [\"c\"]\nfiles = [\"../x\"]\n"),
            "`../x` leads out of the folder",
        );
    }

    #[test]
    fn counters_need_an_account_and_one_source_of_its_password() {
        let metrics = |text: &str| format!("{GOOD}[metrics]\n{text}\n");
        parse("service.toml", &metrics("kind = \"redis\""), "x").unwrap();
        parse("service.toml", &metrics("kind = \"mariadb\"\nuser = \"u\"\npassword_env = \"P\""), "x")
            .unwrap();
        check(&metrics("kind = \"postgres\""), "no account is given");
        check(&metrics("kind = \"redis\"\npassword_env = \"P\"\npassword_file = \"f\""), "two sources");
        check(&metrics("kind = \"redis\"\npassword = \"secret\""), "unknown key `password`");
    }

    #[test]
    fn every_service_in_the_repository_loads() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let entries = super::super::catalog(&root);
        assert!(entries.len() >= 4);
        for entry in entries {
            if let Err(error) = entry.manifest {
                panic!("{}: {error}", entry.name);
            }
        }
    }
}
