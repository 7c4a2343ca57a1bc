//! All targets under `targets/`: what each is, whether its manifest holds, and what it needs and lacks.

use crate::need::{self, NeedState};
use crate::{TargetError, manifest};
use schema::target::TargetManifest;
use schema::text::nearest;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders below `targets/` are looked into this deep; `<language>/<name>` needs two.
const DEPTH: usize = 4;

/// One folder with a manifest.
#[derive(Debug)]
pub struct CatalogEntry {
    /// Path under `targets/`, for example `go/gin`.
    pub name: String,
    /// The folder.
    pub folder: PathBuf,
    /// The manifest, or what is wrong with it.
    pub manifest: Result<TargetManifest, TargetError>,
    /// One entry for each thing that build and run need, in the order of the manifest.
    pub needs: Vec<NeedState>,
}

/// Every folder under `root/targets` that has a manifest, sorted by name; empty where there is no such folder.
#[must_use]
pub fn catalog(root: &Path) -> Vec<CatalogEntry> {
    names(root)
        .into_iter()
        .map(|name| {
            let folder = root.join("targets").join(&name);
            let manifest = manifest::load(&folder).map(|(manifest, _)| manifest);
            let needs = manifest.as_ref().map(|manifest| need::needs(manifest, &folder)).unwrap_or_default();
            CatalogEntry { name, folder, manifest, needs }
        })
        .collect()
}

/// The manifest and folder of the target called `name`.
///
/// # Errors
/// There is no such target (the nearest name is suggested), or its manifest breaks a rule.
pub fn find(root: &Path, name: &str) -> Result<(TargetManifest, PathBuf), TargetError> {
    let names = names(root);
    // Only names found by the walk are opened, so that `../..` cannot lead out of `targets/`.
    if names.iter().any(|known| known == name) {
        return manifest::load(&root.join("targets").join(name));
    }
    let suggestion = nearest(name, names.iter().map(String::as_str)).map(str::to_owned);
    Err(TargetError::Unknown { name: name.to_owned(), root: root.to_owned(), suggestion })
}

/// The names of all targets under `root/targets`, sorted.
#[must_use]
pub fn names(root: &Path) -> Vec<String> {
    let mut names = Vec::new();
    walk(&root.join("targets"), "", DEPTH, &mut names);
    names.sort();
    names
}

/// Symbolic links and dot folders are not followed: no loops, no build output.
fn walk(folder: &Path, name: &str, depth: usize, names: &mut Vec<String>) {
    if !name.is_empty() && folder.join(manifest::FILE_NAME).is_file() {
        names.push(name.to_owned());
        return;
    }
    if depth == 0 {
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let file_name = entry.file_name();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let Some(part) = file_name.to_str().filter(|part| is_folder && !part.starts_with('.')) else {
            continue;
        };
        let below = if name.is_empty() { part.to_owned() } else { format!("{name}/{part}") };
        walk(&entry.path(), &below, depth - 1, names);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root_with(targets: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in targets {
            let folder = root.path().join("targets").join(name);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("target.toml"), text).unwrap();
        }
        root
    }

    fn manifest(name: &str, program: &str) -> String {
        format!(
            "schema = \"prony.target/1\"\nname = \"{name}\"\ndescription = \"d\"\nlanguage = \"l\"\n[build]\n\
             command = [\"make\"]\n[[build.needs]]\nprogram = \"{program}\"\ninstall = \"get it\"\n[run]\n\
             command = [\"./s\", \"{{port}}\"]\n"
        )
    }

    #[test]
    fn the_catalog_shows_good_and_broken_targets_and_missing_programs() {
        let root = root_with(&[
            ("go/gin", &manifest("go/gin", "sh")),
            ("c/two", &manifest("c/two", "no-such-program")),
            ("c/bad", "name = 3"),
            (".hidden/x", &manifest(".hidden/x", "sh")),
        ]);
        let entries = catalog(root.path());
        let seen: Vec<_> = entries
            .iter()
            .map(|e| (e.name.as_str(), e.manifest.is_ok(), e.needs.first().map(|need| need.present)))
            .collect();
        assert_eq!(
            seen,
            [("c/bad", false, None), ("c/two", true, Some(false)), ("go/gin", true, Some(true))]
        );
        assert!(catalog(&root.path().join("none")).is_empty());
    }

    #[test]
    fn an_unknown_name_suggests_the_nearest() {
        let root =
            root_with(&[("go/gin", &manifest("go/gin", "sh")), ("go/echo", &manifest("go/echo", "sh"))]);
        let (found, folder) = find(root.path(), "go/gin").unwrap();
        assert!(found.name == "go/gin" && folder.is_absolute());
        let text = find(root.path(), "go/jin").unwrap_err().to_string();
        assert!(text.ends_with("remedy: did you mean `go/gin`?"), "{text}");
        let text = find(root.path(), "../../etc").unwrap_err().to_string();
        assert!(text.ends_with("remedy: `prony targets` lists what there is"), "{text}");
    }
}
