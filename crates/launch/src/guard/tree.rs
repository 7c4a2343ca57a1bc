//! The guard's descendants, read from `/proc`.
//!
//! A process that vanishes while it is read is simply not there. The exact proof that none is left is not this
//! list but `wait` failing with ECHILD: every orphan below a subreaper becomes its child.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Process identifiers of everything below `root`, in no useful order.
pub(super) fn descendants(proc: &Path, root: u32) -> Vec<u32> {
    let parents = parents(proc);
    let below = |pid: u32| {
        let mut at = pid;
        // A chain cannot be longer than the list; the bound also ends a loop that a torn read could show.
        for _ in 0..parents.len() {
            match parents.get(&at) {
                Some(&parent) if parent == root => return true,
                Some(&parent) => at = parent,
                None => return false,
            }
        }
        false
    };
    parents.keys().copied().filter(|pid| below(*pid)).collect()
}

/// Parent of every process.
fn parents(proc: &Path) -> BTreeMap<u32, u32> {
    let entries = fs::read_dir(proc).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
            let stat = fs::read(entry.path().join("stat")).ok()?;
            Some((pid, parent_of(&String::from_utf8_lossy(&stat))?))
        })
        .collect()
}

/// Field 4 of `/proc/PID/stat` (proc_pid_stat(5)), counted after the name, which may hold spaces and brackets.
fn parent_of(stat: &str) -> Option<u32> {
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descendants_are_followed_over_generations() {
        let proc = tempfile::tempdir().unwrap();
        for (pid, parent, name) in [
            (1, 0, "init"),
            (10, 1, "guard"),
            (11, 10, "a b) R 1"),
            (12, 11, "x"),
            (20, 1, "other"),
            (21, 20, "y"),
        ] {
            let folder = proc.path().join(pid.to_string());
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("stat"), format!("{pid} ({name}) S {parent} {pid} 1 0 -1")).unwrap();
        }
        fs::create_dir(proc.path().join("self")).unwrap();
        fs::create_dir(proc.path().join("30")).unwrap();
        assert_eq!(descendants(proc.path(), 10), [11, 12]);
        assert_eq!(descendants(proc.path(), 21), [0_u32; 0]);
    }
}
