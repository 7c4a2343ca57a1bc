//! What guards and pronies that were killed left behind: found by name, ended and removed.
//!
//! Invariants: only what carries the name of a dead guard of our own process namespace is touched; a process is killed
//! only inside such a group, where nothing but a target can be.

use super::cgroup::{Roots, remove_group};
use super::name::Owner;
use super::traffic;
use crate::scratch;
use rustix::process::{Pid, Signal, kill_process};
use schema::said;
use schema::said::Said;
use std::fs;
use std::path::{Path, PathBuf};

/// Controllers whose hierarchies are looked through; with v2 they are one.
const CONTROLLERS: [&str; 4] = ["cpu", "cpuacct", "cpuset", "memory"];

/// What a sweep found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Groups, tables and folders that were removed.
    pub removed: Vec<Said>,
    /// What could not be removed, each with the reason.
    pub left: Vec<Said>,
}

/// Removes control groups, with the processes in them, tables and temporary folders whose owner is dead. Costs a look
/// at a few folders where there is nothing to do.
#[must_use]
pub fn sweep() -> Swept {
    let mut swept = Swept::default();
    let roots = Roots::default();
    for folder in abandoned_groups(&roots) {
        end_processes(&folder);
        match remove_group(&folder) {
            Ok(()) => swept.removed.push(group(&folder)),
            Err(cause) => swept.left.push(cause.into()),
        }
    }
    for folder in scratch::abandoned(&std::env::temp_dir()) {
        match fs::remove_dir_all(&folder) {
            Ok(()) => swept.removed.push(temporary(&folder)),
            Err(error) => swept.left.push(said!(
                "sweep.left",
                "{what}: {cause}",
                what = temporary(&folder),
                cause = Said::from(error.to_string())
            )),
        }
    }
    // Asking for tables starts a program: only where the system has ever loaded nftables.
    if roots.proc.join("sys/net/netfilter").is_dir() {
        for table in traffic::tables() {
            if Owner::of_table(&table).is_some_and(|owner| owner.is_gone(&roots.proc)) {
                match traffic::remove_table(&table) {
                    Ok(()) => swept.removed.push(said!("sweep.table", "table {table} of nftables", table)),
                    Err(cause) => swept.left.push(cause.into()),
                }
            }
        }
    }
    swept
}

fn group(folder: &Path) -> Said {
    said!("sweep.group", "control group {folder}", folder = folder.display().to_string())
}

fn temporary(folder: &Path) -> Said {
    said!("sweep.folder", "temporary folder {folder}", folder = folder.display().to_string())
}

fn abandoned_groups(roots: &Roots) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = CONTROLLERS
        .iter()
        .flat_map(|controller| roots.lineage(controller))
        .flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten())
        .filter(|entry| {
            let name = entry.file_name();
            let owner = name.to_str().and_then(|name| name.parse::<Owner>().ok());
            owner.is_some_and(|owner| owner.is_gone(&roots.proc))
        })
        .filter_map(|entry| entry.path().canonicalize().ok())
        .collect();
    found.sort();
    found.dedup();
    found
}

/// Kills all processes of a group and of those below it.
fn end_processes(folder: &Path) {
    for below in fs::read_dir(folder).into_iter().flatten().flatten() {
        if below.file_type().is_ok_and(|kind| kind.is_dir()) {
            end_processes(&below.path());
        }
    }
    let members = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
    for pid in members.lines().filter_map(|line| line.trim().parse().ok()).filter_map(Pid::from_raw) {
        // It may be gone by now; that is what is wanted.
        let _ = kill_process(pid, Signal::KILL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_the_dead_are_found_and_others_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let me = Owner::this_process().unwrap();
        let dead = Owner { start_ticks: me.start_ticks + 1, ..me };
        let cpu = folder.path().join("cpu");
        for name in [me.to_string(), dead.to_string(), "user.slice".to_owned()] {
            fs::create_dir_all(cpu.join(name)).unwrap();
        }
        let roots = Roots { proc: PathBuf::from("/proc"), cgroup: folder.path().to_owned() };
        let expected = cpu.join(dead.to_string()).canonicalize().unwrap();
        assert_eq!(abandoned_groups(&roots), [expected]);
    }
}
