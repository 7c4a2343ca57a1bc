//! `prony services`: what targets can be given, whether it works here, and having it by hand.

use crate::args::{ServicesArgs, ServicesCommand, TextOrJson};
use crate::{exit, interrupt};
use anyhow::{Context as _, Result};
use launch::NeedState;
use launch::service::{self, Host, RunningService, ServiceEntry, ServiceError};
use schema::service::{ServiceList, ServiceListEntry};
use schema::target::TargetListNeed;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often `up` looks for Ctrl-C and for services that ended.
const PAUSE: Duration = Duration::from_millis(100);

pub(crate) fn services(args: &ServicesArgs) -> Result<u8> {
    let project = plan::project_above(Path::new("here"));
    match &args.command {
        None => list(&project, args.format),
        Some(ServicesCommand::Check { names }) => Bench::new(project)?.check(names),
        Some(ServicesCommand::Up { names }) => Bench::new(project)?.up(names),
    }
}

fn list(project: &Path, format: TextOrJson) -> Result<u8> {
    let catalog = service::catalog(project);
    let mut out = crate::output::stdout();
    if format == TextOrJson::Json {
        let list = ServiceList { services: catalog.iter().map(listed).collect(), ..ServiceList::default() };
        write!(out, "{}", schema::json::pretty(&list)?)?;
        return Ok(exit::DONE);
    }
    for entry in &catalog {
        write!(out, "{}", lines(entry))?;
    }
    if catalog.is_empty() {
        writeln!(out, "there are no services under {}", project.join("services").display())?;
    }
    Ok(exit::DONE)
}

fn lines(entry: &ServiceEntry) -> String {
    match &entry.manifest {
        Err(error) => format!("{:<18} its manifest is wrong: {error}\n", entry.name),
        Ok(manifest) => {
            let mut text = format!("{:<18} {}\n", entry.name, manifest.description);
            for need in entry.needs.iter().filter(|need| need.found.is_none()) {
                text += &format!("{:<18} missing: {} - {}\n", "", need.program, need.install);
            }
            text
        }
    }
}

fn listed(entry: &ServiceEntry) -> ServiceListEntry {
    let need = |need: &NeedState| TargetListNeed {
        program: need.program.clone(),
        present: need.present,
        found: need.found.as_ref().map(|path| path.display().to_string()),
        install: need.install.clone(),
    };
    ServiceListEntry {
        name: entry.name.clone(),
        folder: entry.folder.display().to_string(),
        description: entry.manifest.as_ref().ok().map(|manifest| manifest.description.clone()),
        error: entry.manifest.as_ref().err().map(ToString::to_string),
        needs: entry.needs.iter().map(need).collect(),
    }
}

/// What starting services by hand needs.
struct Bench {
    project: PathBuf,
    launcher: PathBuf,
    stop: Arc<AtomicBool>,
}

impl Bench {
    fn new(project: PathBuf) -> Result<Self> {
        let launcher = std::env::current_exe().context("cannot find prony's own binary")?;
        Ok(Self { project, launcher, stop: interrupt::stop_flag()? })
    }

    fn host(&self) -> Host<'_> {
        Host { launcher: &self.launcher, cpus: None, isolated: false, cancelled: &self.stop }
    }

    fn start(&self, name: &str) -> Result<RunningService, ServiceError> {
        let (manifest, folder) = service::find(&self.project, name)?;
        service::start(&manifest, &folder, &self.host())
    }

    /// One line for each service; the reasons of those that fail go to standard error.
    fn check(&self, names: &[String]) -> Result<u8> {
        let all = || service::catalog(&self.project).into_iter().map(|entry| entry.name).collect();
        let names: Vec<String> = if names.is_empty() { all() } else { names.to_vec() };
        let mut code = exit::DONE;
        for name in &names {
            match self.check_one(name) {
                Ok(versions) => writeln!(crate::output::stdout(), "{name:<18} ok  {versions}")?,
                Err(ServiceError::Cancelled(_)) => return Ok(exit::INTERRUPTED),
                Err(error) => {
                    writeln!(crate::output::stdout(), "{name:<18} FAILED")?;
                    crate::output::say!("prony: {error}");
                    code = exit::FAILED;
                }
            }
        }
        Ok(code)
    }

    fn check_one(&self, name: &str) -> Result<String, ServiceError> {
        let running = self.start(name)?;
        running.check(&self.host())?;
        let versions = running.versions().values().cloned().collect::<Vec<_>>().join(", ");
        running.stop()?;
        Ok(versions)
    }

    fn up(&self, names: &[String]) -> Result<u8> {
        let mut running = Vec::new();
        for name in names {
            match self.start(name) {
                Ok(service) => running.push(service),
                Err(ServiceError::Cancelled(_)) => return Ok(exit::INTERRUPTED),
                Err(error) => return failed(&error),
            }
        }
        let env: BTreeMap<&String, &String> = running.iter().flat_map(RunningService::env).collect();
        let mut out = crate::output::stdout();
        for (name, value) in env {
            writeln!(out, "export {name}={}", quoted(value))?;
        }
        out.flush()?;
        crate::output::say!("up: {}; Ctrl-C ends them", names.join(", "));
        while !self.stop.load(Ordering::Relaxed) {
            if let Some(error) = running.iter().find_map(RunningService::died) {
                return failed(&error);
            }
            std::thread::sleep(PAUSE);
        }
        for service in running {
            if let Err(error) = service.stop() {
                return failed(&error);
            }
        }
        Ok(exit::DONE)
    }
}

fn failed(error: &ServiceError) -> Result<u8> {
    crate::output::say!("prony: {error}");
    Ok(if exit::is_service_mistake(error) { exit::USAGE } else { exit::FAILED })
}

/// As a word of a POSIX shell.
fn quoted(value: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-:@%+".contains(c);
    if !value.is_empty() && value.chars().all(is_plain) {
        return value.to_owned();
    }
    format!("'{}'", value.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn values_are_words_of_a_shell() {
        for (value, word) in
            [("127.0.0.1", "127.0.0.1"), ("", "''"), ("a b", "'a b'"), ("it's", "'it'\\''s'")]
        {
            assert_eq!(quoted(value), word);
        }
    }
}
