//! `live.json`: which process writes a run folder, so that others can tell a run in progress from one that was cut
//! off, and stop that process and no other.
//!
//! Invariants: the file is written whole and removed when the run's process is done with the folder, its report
//! included; one that a crash left behind is recognised, because number, start time, process namespace and boot must
//! all agree with a living process. Absent on purpose: locks; a run works where this file cannot be written.

use crate::files::{read_json, write_json};
use launch::confine::Owner;
use schema::lab::LiveFile;
use schema::version::LiveVersion;
use std::fs;
use std::path::{Path, PathBuf};

/// Name of the file within the run folder.
pub const FILE: &str = "live.json";
/// Variable that says who began the run.
pub const LAUNCHED_BY: &str = "PRONY_LAUNCHED_BY";
/// Longest value of it that is kept.
const LAUNCHED_BY_MAX: usize = 80;

/// Marks a run folder as one that this process writes, until it is dropped.
#[derive(Debug)]
pub struct Live {
    path: PathBuf,
}

impl Live {
    /// Marks a folder; `None` where the mark cannot be written, which costs the lab its live view and nothing else.
    #[must_use]
    pub fn begin(folder: &Path) -> Option<Self> {
        let owner = Owner::this_process().ok()?;
        let launched_by = std::env::var(LAUNCHED_BY).ok().filter(|by| by.len() <= LAUNCHED_BY_MAX);
        let file = LiveFile {
            schema: LiveVersion::default(),
            pid: owner.pid,
            start_ticks: owner.start_ticks,
            pid_namespace: owner.pid_namespace,
            boot: boot(Path::new("/proc")),
            launched_by,
        };
        let path = folder.join(FILE);
        write_json(&path, &file).ok()?;
        Some(Self { path })
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// The process that writes a run folder now; `None` where there is no such process, whatever a crash left behind.
#[must_use]
pub fn writer(folder: &Path) -> Option<LiveFile> {
    writer_in(folder, Path::new("/proc"))
}

fn writer_in(folder: &Path, proc: &Path) -> Option<LiveFile> {
    let file: LiveFile = read_json(&folder.join(FILE), "prony.live/1").ok()?;
    is_alive(&file, proc).then_some(file)
}

/// Whether the process of a mark is there.
#[must_use]
pub fn is_alive(file: &LiveFile, proc: &Path) -> bool {
    let owner = Owner { pid: file.pid, start_ticks: file.start_ticks, pid_namespace: file.pid_namespace };
    file.boot == boot(proc) && owner.is_alive(proc)
}

/// The present boot; empty where the system does not tell.
fn boot(proc: &Path) -> String {
    fs::read_to_string(proc.join("sys/kernel/random/boot_id")).unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_stands_while_its_process_does_and_goes_with_its_handle() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(writer(folder.path()), None);
        let live = Live::begin(folder.path()).expect("/proc is there");
        let found = writer(folder.path()).expect("this process is there");
        assert_eq!(found.pid, std::process::id());
        drop(live);
        assert!(!folder.path().join(FILE).exists() && writer(folder.path()).is_none());
    }

    #[test]
    fn what_a_crash_left_is_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let live = Live::begin(folder.path()).unwrap();
        let found = writer(folder.path()).unwrap();
        let earlier = LiveFile { start_ticks: found.start_ticks + 1, ..found.clone() };
        let other_boot = LiveFile { boot: "another".to_owned(), ..found.clone() };
        let elsewhere = LiveFile { pid_namespace: found.pid_namespace + 1, ..found.clone() };
        for stale in [earlier, other_boot, elsewhere] {
            write_json(&folder.path().join(FILE), &stale).unwrap();
            assert_eq!(writer(folder.path()), None, "{stale:?}");
        }
        fs::write(folder.path().join(FILE), "{").unwrap();
        assert_eq!(writer(folder.path()), None);
        drop(live);
    }
}
