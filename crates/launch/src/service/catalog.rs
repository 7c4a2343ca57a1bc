//! All services under `services/`, and finding their programs, also in the folders that a manifest names.

use super::{ServiceError, manifest};
use crate::{NeedState, program};
use schema::service::ServiceManifest;
use schema::target::Need;
use schema::text::nearest;
use std::fs;
use std::path::{Path, PathBuf};

/// One folder with a manifest.
#[derive(Debug)]
pub struct ServiceEntry {
    /// Folder under `services/`.
    pub name: String,
    /// The folder.
    pub folder: PathBuf,
    /// The manifest, or what is wrong with it.
    pub manifest: Result<ServiceManifest, ServiceError>,
    /// One entry for each program that it needs, in the order of the manifest.
    pub needs: Vec<NeedState>,
}

/// Every folder under `root/services` that has a manifest, sorted by name; empty where there is no such folder.
#[must_use]
pub fn catalog(root: &Path) -> Vec<ServiceEntry> {
    let entry = |name: String| {
        let folder = root.join("services").join(&name);
        let manifest = manifest::load(&folder).map(|(manifest, _)| manifest);
        let needs = manifest.as_ref().map(need_states).unwrap_or_default();
        ServiceEntry { name, folder, manifest, needs }
    };
    names(root).into_iter().map(entry).collect()
}

/// The manifest and folder of the service called `name`.
///
/// # Errors
/// There is no such service (the nearest name is suggested), or its manifest breaks a rule.
pub fn find(root: &Path, name: &str) -> Result<(ServiceManifest, PathBuf), ServiceError> {
    let names = names(root);
    // Only names found in the folder are opened, so that `../x` cannot lead out of it.
    if names.iter().any(|known| known == name) {
        return manifest::load(&root.join("services").join(name));
    }
    let remedy = match nearest(name, names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`prony services` lists what there is".to_owned(),
    };
    Err(ServiceError::Unknown { name: name.to_owned(), root: root.to_owned(), remedy })
}

fn names(root: &Path) -> Vec<String> {
    let entries = fs::read_dir(root.join("services")).into_iter().flatten().flatten();
    let with_manifest = entries.filter(|entry| entry.path().join(manifest::FILE_NAME).is_file());
    let mut names: Vec<String> =
        with_manifest.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// Every program that building, preparing or running needs.
pub(super) fn needs(manifest: &ServiceManifest) -> impl Iterator<Item = &Need> {
    let steps = manifest.build.iter().chain(&manifest.prepare).chain([&manifest.run]);
    steps.flat_map(|step| &step.needs)
}

/// What the service needs, and whether it is there.
#[must_use]
pub fn need_states(manifest: &ServiceManifest) -> Vec<NeedState> {
    let path = path(manifest);
    needs(manifest)
        .map(|need| {
            let found = program::find(&need.program, None, Some(&path));
            NeedState {
                program: need.program.clone(),
                present: found.is_some(),
                found,
                install: need.install.clone(),
            }
        })
        .collect()
}

/// PATH with the manifest's own folders behind.
pub(super) fn path(manifest: &ServiceManifest) -> String {
    let own = manifest.search.iter().flat_map(|pattern| expand(pattern));
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let all = std::env::split_paths(&inherited).chain(own);
    // Only a folder with a colon in its name cannot be joined.
    std::env::join_paths(all).unwrap_or(inherited).to_string_lossy().into_owned()
}

/// The folders that a pattern stands for; `*` is any one part, higher numbers first.
fn expand(pattern: &str) -> Vec<PathBuf> {
    let Some((before, after)) = pattern.split_once("/*/") else { return vec![PathBuf::from(pattern)] };
    let mut parts: Vec<(u64, PathBuf)> = fs::read_dir(before)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| (entry.file_name().to_string_lossy().parse().unwrap_or(0), entry.path().join(after)))
        .collect();
    parts.sort_by(|a, b| b.cmp(a));
    parts.into_iter().map(|(_, folder)| folder).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_prefers_the_highest_version() {
        let folder = tempfile::tempdir().unwrap();
        for version in ["9", "15", "x"] {
            fs::create_dir_all(folder.path().join(version).join("bin")).unwrap();
        }
        let found = expand(&format!("{}/*/bin", folder.path().display()));
        let seen: Vec<_> = found.iter().map(|path| path.strip_prefix(folder.path()).unwrap()).collect();
        assert_eq!(seen, ["15/bin", "9/bin", "x/bin"].map(Path::new));
        assert_eq!(expand("/usr/sbin"), [PathBuf::from("/usr/sbin")]);
    }

    #[test]
    fn an_unknown_name_suggests_the_nearest() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let text = find(&root, "mariadd").unwrap_err().to_string();
        assert!(text.ends_with("remedy: did you mean `mariadb`?"), "{text}");
        let text = find(&root, "../targets").unwrap_err().to_string();
        assert!(text.contains("no service `../targets`"), "{text}");
    }
}
