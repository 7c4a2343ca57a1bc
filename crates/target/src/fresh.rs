//! Whether a build changed anything: what its folder holds before and after.
//!
//! Invariant: bounded: a folder with too many files has no state, and its build then never counts as fresh.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Files that are looked at.
const FILES_MAX: usize = 100_000;

/// Path, length and time of change of every file of a build, sorted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildState(Vec<(PathBuf, u64, Option<SystemTime>)>);

/// What the target in `folder` has been built into; nothing where it has not been built, or holds too many files.
#[must_use]
pub fn build_state(folder: &Path) -> Option<BuildState> {
    let mut files = Vec::new();
    let mut folders = vec![folder.join(".build")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            // Of the entry itself: a symbolic link is not followed.
            let Ok(facts) = entry.metadata() else { continue };
            if facts.is_dir() {
                folders.push(entry.path());
            } else {
                files.push((entry.path(), facts.len(), facts.modified().ok()));
            }
            if files.len() > FILES_MAX {
                return None;
            }
        }
    }
    files.sort();
    (!files.is_empty()).then_some(BuildState(files))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_is_noticed_and_an_unchanged_folder_is_the_same() {
        let target = tempfile::tempdir().unwrap();
        assert_eq!(build_state(target.path()), None);
        let folder = target.path().join(".build/below");
        fs::create_dir_all(&folder).unwrap();
        assert_eq!(build_state(target.path()), None, "nothing is built yet");
        fs::write(folder.join("server"), "one").unwrap();
        let before = build_state(target.path());
        assert!(before.is_some());
        assert_eq!(before, build_state(target.path()));
        fs::write(folder.join("server"), "three").unwrap();
        assert_ne!(before, build_state(target.path()));
    }
}
