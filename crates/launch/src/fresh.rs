//! Whether a build changed anything: what its folder holds before and after.
//!
//! Invariant: bounded: a folder with too much in it has no state, and its build then never counts as fresh.
//! Times of files do not count: `go build` renews that of a program that it leaves as it is.

use sha2::{Digest as _, Sha256};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// Files that are looked at.
const FILES_MAX: usize = 100_000;
/// Bytes that are read.
const BYTES_MAX: u64 = 512 << 20;
/// Bytes read at a time.
const READ_BYTES: usize = 64 << 10;

/// Path and SHA-256 of every file of a build, sorted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildState(Vec<(PathBuf, [u8; 32])>);

/// What the target in `folder` has been built into; nothing where it has not been built, holds too much, or cannot
/// be read.
#[must_use]
pub fn build_state(folder: &Path) -> Option<BuildState> {
    let mut files = Vec::new();
    let mut left = BYTES_MAX;
    let mut folders = vec![folder.join(".build")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            // Of the entry itself: a symbolic link is not followed.
            let facts = entry.metadata().ok()?;
            if facts.is_dir() {
                folders.push(entry.path());
            } else if facts.is_file() {
                left = left.checked_sub(facts.len()).filter(|_| files.len() < FILES_MAX)?;
                files.push((entry.path(), sum(&entry.path()).ok()?));
            }
        }
    }
    files.sort();
    (!files.is_empty()).then_some(BuildState(files))
}

fn sum(path: &Path) -> io::Result<[u8; 32]> {
    let mut file = File::open(path)?.take(BYTES_MAX);
    let mut digest = Sha256::new();
    let mut buffer = vec![0; READ_BYTES];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(digest.finalize().into()),
            count => digest.update(&buffer[..count]),
        }
    }
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
        fs::write(folder.join("server"), "one").unwrap();
        assert_eq!(before, build_state(target.path()), "written again, the same");
        fs::write(folder.join("server"), "two").unwrap();
        assert_ne!(before, build_state(target.path()));
    }
}
