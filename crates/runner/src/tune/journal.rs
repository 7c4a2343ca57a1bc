//! Journals: which process changed what, kept in the user's state folder until it is put back.
//!
//! Invariants: a journal is on disk, folder included, before the first change that it names; a file is written whole
//! or not at all; its content is not trusted (crate settings decides which names there are).

use super::error::TuneError;
use crate::RunnerError;
use collect::Roots;
use launch::confine::Owner;
use record::{read_json, write_json};
use schema::tuning::{TunedUntil, TuningJournal};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// More journals than this are not looked at.
const JOURNALS_MAX: usize = 256;
const LOCK: &str = "lock";

/// A journal and where it is.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) path: PathBuf,
    pub(super) journal: TuningJournal,
}

/// What is to be done with a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Its process is alive, and puts it back itself.
    Alive,
    /// To stay until it is put back by hand.
    Held,
    /// Its process died before it could put it back.
    Abandoned,
    /// Of an earlier boot: the settings went with it.
    Outlived,
    /// Of another container or network, which cannot be judged from here.
    Elsewhere,
}

/// Held while settings are changed, so that two pronies do not take each other's values for the host's.
pub(super) struct Lock(#[allow(dead_code, reason = "the lock lasts as long as the file is open")] File);

impl Lock {
    pub(super) fn take(folder: &Path) -> Result<Self, TuneError> {
        let path = folder.join(LOCK);
        let lock = || {
            fs::create_dir_all(folder)?;
            let file = File::options().create(true).append(true).open(&path)?;
            rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive)?;
            Ok(file)
        };
        lock().map(Self).map_err(|source| TuneError::Folder { path: folder.to_owned(), source })
    }
}

impl Kept {
    /// Writes the journal, its place included.
    pub(super) fn write(&self) -> Result<(), RunnerError> {
        write_json(&self.path, &self.journal)?;
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(RunnerError::io("flush", folder))
    }

    pub(super) fn remove(&self) -> Result<(), RunnerError> {
        fs::remove_file(&self.path).map_err(RunnerError::io("remove", &self.path))
    }

    pub(super) fn owner(&self) -> Option<Owner> {
        self.journal.owner.parse().ok()
    }

    pub(super) fn standing(&self, roots: &Roots) -> Standing {
        let Some(owner) = self.owner() else { return Standing::Elsewhere };
        if self.journal.boot != boot(roots) {
            return Standing::Outlived;
        }
        let here = Owner::this_process().ok().map(|me| me.pid_namespace);
        let is_elsewhere = self.journal.network_namespace != network_namespace(roots);
        if is_elsewhere || here != Some(owner.pid_namespace) {
            return Standing::Elsewhere;
        }
        let is_gone = owner.is_gone(Path::new("/proc"));
        match self.journal.until {
            TunedUntil::Restored if self.journal.complete => Standing::Held,
            _ if is_gone => Standing::Abandoned,
            _ => Standing::Alive,
        }
    }
}

/// All journals in order of their names, and what is wrong with those that cannot be read.
pub(super) fn all(folder: &Path) -> (Vec<Kept>, Vec<String>) {
    let entries = fs::read_dir(folder).into_iter().flatten().take(JOURNALS_MAX).flatten();
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .collect();
    paths.sort();
    let mut problems = Vec::new();
    let kept = paths.into_iter().filter_map(|path| match read_json(&path, "prony.tuning/1") {
        Ok(journal) => Some(Kept { path, journal }),
        Err(error) => {
            problems.push(format!(
                "{error}\n  remedy: it names settings that prony changed; look into it, put them back by hand, then remove it"
            ));
            None
        }
    });
    (kept.collect(), problems)
}

/// The present boot, empty where the kernel does not say.
pub(super) fn boot(roots: &Roots) -> String {
    let text = fs::read_to_string(roots.proc.join("sys/kernel/random/boot_id")).unwrap_or_default();
    text.trim().to_owned()
}

/// The number in the link `net:[4026531840]`, 0 where there is none.
pub(super) fn network_namespace(roots: &Roots) -> u64 {
    let number = || {
        let link = fs::read_link(roots.proc.join("self/ns/net")).ok()?;
        link.to_str()?.strip_prefix("net:[")?.strip_suffix(']')?.parse().ok()
    };
    number().unwrap_or(0)
}
