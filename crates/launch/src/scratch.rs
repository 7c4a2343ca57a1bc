//! A temporary folder of this process: removed when it is dropped, by a guard that outlives a killed prony, or by the
//! next sweep.
//!
//! Invariant: its name tells its owner ([`Owner`]), and only a folder of a dead owner is ever removed by others.

use crate::confine::Owner;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A killed process closes its pipes a moment before it counts as dead: how long that moment may be.
pub(crate) const DEATH_TIMEOUT: Duration = Duration::from_millis(500);
const DEATH_PAUSE: Duration = Duration::from_millis(5);

/// A temporary folder for logs that nobody needs after success.
#[derive(Debug)]
pub struct Scratch {
    folder: PathBuf,
    is_kept: bool,
}

impl Scratch {
    /// Makes the folder of this process; there is one.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn make() -> io::Result<Self> {
        let owner = Owner::this_process().map_err(io::Error::other)?;
        let folder = std::env::temp_dir().join(owner.to_string());
        fs::create_dir(&folder).or_else(|error| match error.kind() {
            // Of an earlier run in this process.
            io::ErrorKind::AlreadyExists if is_ours(&folder) => Ok(()),
            _ => Err(error),
        })?;
        Ok(Self { folder, is_kept: false })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Leaves it for people to look into, until the next sweep.
    pub fn keep(mut self) {
        self.is_kept = true;
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.is_kept {
            // What resists is tried again by the next sweep.
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

/// Called by a guard that hears no more of its prony: removes the folder that `log` lies in, where it is a scratch folder
/// whose owner is dead, or dies within `patience`.
pub(crate) fn remove_with_its_owner(log: &Path, patience: Duration) {
    let Some(folder) = log.parent() else { return };
    let Some(owner) = owner_of(folder) else { return };
    let deadline = Instant::now() + patience;
    while !owner.is_gone(Path::new("/proc")) {
        if Instant::now() >= deadline {
            // It lives and only let go of this target.
            return;
        }
        std::thread::sleep(DEATH_PAUSE);
    }
    if is_ours(folder) {
        let _ = fs::remove_dir_all(folder);
    }
}

/// Scratch folders in `parent` whose owner is dead.
pub(crate) fn abandoned(parent: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_abandoned = |folder: &PathBuf| {
        owner_of(folder).is_some_and(|owner| owner.is_gone(Path::new("/proc"))) && is_ours(folder)
    };
    entries.filter(is_abandoned).collect()
}

fn owner_of(folder: &Path) -> Option<Owner> {
    folder.file_name()?.to_str()?.parse().ok()
}

/// Whether it is a folder, not a link to one, and belongs to this user: others may make names in a shared place.
fn is_ours(folder: &Path) -> bool {
    let facts = fs::symlink_metadata(folder);
    facts.is_ok_and(|facts| facts.is_dir() && facts.uid() == rustix::process::geteuid().as_raw())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_of_the_dead_are_removed() {
        let parent = tempfile::tempdir().unwrap();
        let me = Owner::this_process().unwrap();
        let dead = Owner { start_ticks: me.start_ticks + 1, ..me };
        let folder = |name: String| {
            let folder = parent.path().join(name);
            fs::create_dir(&folder).unwrap();
            folder
        };
        let (mine, gone, other) = (folder(me.to_string()), folder(dead.to_string()), folder("other".into()));
        let linked = Owner { start_ticks: me.start_ticks + 2, ..me };
        std::os::unix::fs::symlink(&other, parent.path().join(linked.to_string())).unwrap();
        assert_eq!(abandoned(parent.path()), std::slice::from_ref(&gone));
        for folder in [&mine, &gone, &other] {
            remove_with_its_owner(&folder.join("a.log"), Duration::ZERO);
        }
        assert!(mine.exists() && other.exists() && !gone.exists());
    }

    #[test]
    fn it_goes_when_it_is_dropped_and_stays_when_it_is_kept() {
        let scratch = Scratch::make().unwrap();
        let folder = scratch.path().to_owned();
        fs::write(folder.join("build.log"), "x").unwrap();
        scratch.keep();
        assert!(folder.join("build.log").exists());
        drop(Scratch::make().unwrap());
        assert!(!folder.exists());
    }
}
