//! Memory nodes (NUMA): which there are, and which belong to a set of CPUs.

use crate::pin;
use std::fs;
use std::path::{Path, PathBuf};

pub(super) fn system() -> PathBuf {
    PathBuf::from("/sys/devices/system/node")
}

/// Nodes with memory, ascending; empty where the kernel does not tell.
pub(super) fn online(folder: &Path) -> Vec<u32> {
    list(&folder.join("has_memory")).unwrap_or_default()
}

/// Nodes with memory that one of the CPUs belongs to; all where none does.
pub(super) fn of_cpus(folder: &Path, cpus: &[u32]) -> Vec<u32> {
    let all = online(folder);
    let has_one = |node: &u32| {
        let own = list(&folder.join(format!("node{node}/cpulist"))).unwrap_or_default();
        own.iter().any(|cpu| cpus.contains(cpu))
    };
    let near: Vec<u32> = all.iter().copied().filter(has_one).collect();
    if near.is_empty() { all } else { near }
}

fn list(file: &Path) -> Option<Vec<u32>> {
    pin::parse_list(fs::read_to_string(file).ok()?.trim()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_of_cpus() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| {
            let file = folder.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        put("has_memory", "0-1\n");
        put("node0/cpulist", "0-3\n");
        put("node1/cpulist", "4-7\n");
        assert_eq!(online(folder.path()), [0, 1]);
        assert_eq!(of_cpus(folder.path(), &[1, 2]), [0]);
        assert_eq!(of_cpus(folder.path(), &[3, 4]), [0, 1]);
        assert_eq!(of_cpus(folder.path(), &[9]), [0, 1]);
        assert_eq!(online(&folder.path().join("none")), [0_u32; 0]);
    }
}
