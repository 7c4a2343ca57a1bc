//! A service whose programs are there: its names, the commands of its manifest, and what its data depends on.

use super::names::Names;
use super::place::Place;
use super::step::{self, Command};
use super::{ServiceError, catalog};
use crate::program;
use nix::unistd::User;
use schema::service::ServiceManifest;
use schema::target::Run;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A build may fetch and compile.
const BUILD_TIMEOUT: Duration = Duration::from_secs(600);
/// Making a data directory, or filling it.
const DATA_TIMEOUT: Duration = Duration::from_secs(300);

/// A service whose programs are there.
#[derive(Debug)]
pub(super) struct Workshop<'a> {
    pub(super) manifest: &'a ServiceManifest,
    pub(super) folder: &'a Path,
    pub(super) place: Place,
    pub(super) user: Option<User>,
    /// Program → first line of its version.
    pub(super) versions: BTreeMap<String, String>,
    path: String,
}

impl<'a> Workshop<'a> {
    pub(super) fn open(manifest: &'a ServiceManifest, folder: &'a Path) -> Result<Self, ServiceError> {
        let path = catalog::path(manifest);
        let versions = programs(manifest, folder, &path)?;
        let user = step::user(&manifest.name, manifest.user.as_deref())?;
        let place = Place::open(&manifest.name, folder)?;
        Ok(Self { manifest, folder, place, user, versions, path })
    }

    pub(super) fn names(&self, data: Option<&Path>) -> Names {
        let names = Names::default()
            .with("{build}", self.place.build.display().to_string())
            .with("{folder}", self.folder.display().to_string());
        data.map_or(names.clone(), |data| names.with("{data}", data.display().to_string()))
    }

    pub(super) fn command(
        &self,
        step: &'a str,
        command: Vec<String>,
        mut env: BTreeMap<String, String>,
        log: PathBuf,
    ) -> Command<'_> {
        env.entry("PATH".to_owned()).or_insert_with(|| self.path.clone());
        let timeout = if step == "build" { BUILD_TIMEOUT } else { DATA_TIMEOUT };
        Command { service: &self.manifest.name, step, command, env, folder: self.folder, log, timeout }
    }

    /// PATH with the manifest's own folders.
    pub(super) fn path(&self) -> String {
        self.path.clone()
    }

    pub(super) fn step(
        &self,
        key: &'a str,
        step: &Run,
        names: &Names,
        log: PathBuf,
        user: Option<&User>,
    ) -> Command<'_> {
        let command = step::as_user(user, names.fill_all(&step.command));
        self.command(key, command, names.fill_env(&step.env), log)
    }

    /// What the data depends on: the manifest, the seed, the programs, and whose files they are.
    pub(super) fn hash(&self) -> Result<String, ServiceError> {
        let mut digest = Sha256::new();
        let files = self.manifest.seed.iter().flat_map(|seed| &seed.files).map(String::as_str);
        for name in [super::manifest::FILE_NAME].into_iter().chain(files) {
            let file = self.folder.join(name);
            let bytes = fs::read(&file)
                .map_err(ServiceError::io(&self.manifest.name, format!("read {}", file.display())))?;
            digest.update((bytes.len() as u64).to_le_bytes());
            digest.update(bytes);
        }
        for (program, version) in &self.versions {
            digest.update(format!("{program}\0{version}\0"));
        }
        let owner = self.user.as_ref().map_or(rustix::process::geteuid().as_raw(), |user| user.uid.as_raw());
        digest.update(owner.to_le_bytes());
        let mut text = String::new();
        for byte in digest.finalize().iter().take(8) {
            let _ = write!(text, "{byte:02x}");
        }
        Ok(text)
    }
}

/// Versions of the programs, which must all be there.
fn programs(
    manifest: &ServiceManifest,
    folder: &Path,
    path: &str,
) -> Result<BTreeMap<String, String>, ServiceError> {
    let mut versions = BTreeMap::new();
    for need in catalog::needs(manifest) {
        if program::find(&need.program, None, Some(path)).is_none() {
            return Err(ServiceError::ProgramNotFound {
                service: manifest.name.clone(),
                program: need.program.clone(),
                remedy: need.install.clone(),
            });
        }
        let mut command = need.version.clone();
        if let Some(program) = command.first_mut()
            && let Some(found) = program::find(program, None, Some(path))
        {
            *program = found.display().to_string();
        }
        versions.extend(program::version(&command, folder).map(|version| (need.program.clone(), version)));
    }
    Ok(versions)
}
