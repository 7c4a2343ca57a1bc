//! What ends the growth of a process tree: the tightest limits of its memory, descriptors and threads.
//!
//! | limit | from | what is left of it |
//! |---|---|---|
//! | memory | `memory.max`, `memory.limit_in_bytes` of its group and each group above | limit − (usage − `inactive_file`) |
//! | memory | `/proc/meminfo` MemAvailable | that |
//! | descriptors | `/proc/PID/limits` Max open files, soft | of the process that has most |
//! | threads | `pids.max` of its group and each group above | limit − `pids.current` |
//! | threads | `/proc/sys/kernel/threads-max` | limit − threads of the host (`/proc/loadavg`) |
//! | threads | `/proc/PID/limits` Max processes, soft; not of root, whom it does not bind | limit |
//!
//! A limit is given as the value of the counter at which nothing is left, all else staying as it is. Cached file pages
//! count as free: the kernel drops them first. What cannot be read is absent.
//! Absent on purpose: limits of address space (RLIMIT_AS, RLIMIT_DATA), which bound another counter.

use crate::doctor::cgroup::{self, OwnGroups, V1_UNLIMITED_BYTES};
use crate::process::TreeUsage;
use crate::{Roots, text};
use schema::said;
use schema::said::Said;
use std::path::Path;

/// The value of a counter at which a process tree can go no further, and who says so.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// In the unit of the counter.
    pub value: f64,
    /// For example `RLIMIT_NOFILE`.
    pub source: Said,
}

/// The tightest limits of a process tree; absent where none can be read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    /// Of resident memory, in bytes.
    pub memory: Option<Limit>,
    /// Of descriptors of one process.
    pub descriptors: Option<Limit>,
    /// Of threads.
    pub threads: Option<Limit>,
}

/// Reads the limits of the tree under `pid`, which uses `now`.
#[must_use]
pub fn read(roots: &Roots, pid: u32, now: &TreeUsage) -> Limits {
    let folder = roots.proc.join(pid.to_string());
    let own = read_text(&folder.join("limits")).unwrap_or_default();
    let groups = cgroup::own_groups(&read_text(&folder.join("cgroup")).unwrap_or_default());
    let nofile = soft(&own, "Max open files");
    Limits {
        memory: tightest(memory_left(roots, &groups), now.rss_bytes),
        descriptors: nofile.map(|most| Limit { value: most as f64, source: named("RLIMIT_NOFILE") }),
        threads: tightest(threads_left(roots, &groups, &folder, &own, now.threads), now.threads),
    }
}

/// What the system calls a limit is no sentence.
fn named(name: &str) -> Said {
    said!("limit.named", "{name}", name)
}

fn of_group(file: &str, folder: &Path) -> Said {
    said!("limit.of_group", "{file} of {folder}", file, folder = folder.display().to_string())
}

/// What is left of each limit, and its name.
type Left = Vec<(u64, Said)>;

fn tightest(left: Left, now: u64) -> Option<Limit> {
    let (left, source) = left.into_iter().min_by_key(|(left, _)| *left)?;
    Some(Limit { value: now.saturating_add(left) as f64, source })
}

fn memory_left(roots: &Roots, groups: &OwnGroups) -> Left {
    let v2 = cgroup::unified_lineage(roots, groups)
        .into_iter()
        .filter_map(|folder| group_left(&folder, ["memory.max", "memory.current"], "inactive_file"));
    let v1 = cgroup::legacy_lineage(roots, groups, "memory").into_iter().filter_map(|folder| {
        group_left(&folder, ["memory.limit_in_bytes", "memory.usage_in_bytes"], "total_inactive_file")
    });
    let available = read_text(&roots.proc.join("meminfo")).and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
    });
    let host = available.map(|bytes| (bytes, said!("limit.host_memory", "memory available on the host")));
    v2.chain(v1).chain(host).collect()
}

/// What is left in one group; nothing where it has no limit.
fn group_left(folder: &Path, [limit, usage]: [&str; 2], reclaimable: &str) -> Option<(u64, Said)> {
    let most = number(&folder.join(limit)).filter(|bytes| *bytes < V1_UNLIMITED_BYTES)?;
    let used = number(&folder.join(usage))?;
    let stat = read_text(&folder.join("memory.stat")).unwrap_or_default();
    let dropped = stat.lines().filter_map(|line| line.split_once(' ')).find(|(key, _)| *key == reclaimable);
    let dropped = dropped.and_then(|(_, value)| value.trim().parse::<u64>().ok()).unwrap_or(0);
    let left = most.saturating_sub(used.saturating_sub(dropped));
    Some((left, of_group(limit, folder)))
}

fn threads_left(roots: &Roots, groups: &OwnGroups, folder: &Path, own: &str, now: u64) -> Left {
    let v2 = cgroup::unified_lineage(roots, groups);
    let v1 = cgroup::legacy_lineage(roots, groups, "pids");
    let mut left: Left = v2
        .into_iter()
        .chain(v1)
        .filter_map(|group| {
            let most = number(&group.join("pids.max"))?;
            let used = number(&group.join("pids.current"))?;
            Some((most.saturating_sub(used), of_group("pids.max", &group)))
        })
        .collect();
    let all = read_text(&roots.proc.join("loadavg"))
        .and_then(|text| text.split_ascii_whitespace().nth(3)?.split_once('/')?.1.parse::<u64>().ok());
    if let (Some(most), Some(all)) = (number(&roots.proc.join("sys/kernel/threads-max")), all) {
        left.push((most.saturating_sub(all), named("kernel.threads-max")));
    }
    let status = read_text(&folder.join("status")).unwrap_or_default();
    let uid = status.lines().find_map(|line| line.strip_prefix("Uid:")?.split_ascii_whitespace().next());
    if let (Some(most), false) = (soft(own, "Max processes"), uid == Some("0")) {
        left.push((most.saturating_sub(now), named("RLIMIT_NPROC")));
    }
    left
}

/// The soft limit in a line of `/proc/PID/limits`; nothing where it is unlimited.
pub(crate) fn soft(limits: &str, name: &str) -> Option<u64> {
    limits.lines().find_map(|line| line.strip_prefix(name))?.split_ascii_whitespace().next()?.parse().ok()
}

fn read_text(path: &Path) -> Option<String> {
    String::from_utf8(text::read_optional(path)?).ok()
}

fn number(path: &Path) -> Option<u64> {
    read_text(path)?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const MIB: u64 = 1 << 20;
    const OWN: &str = "Limit                     Soft Limit           Hard Limit           Units     \n\
                       Max processes             96365                96365                processes \n\
                       Max open files            20000                1048576              files     \n\
                       Max address space         unlimited            unlimited            bytes     \n";

    fn host(files: &[(&str, &str)]) -> (tempfile::TempDir, Roots) {
        let folder = tempfile::tempdir().unwrap();
        let roots = Roots { proc: folder.path().join("proc"), sys: folder.path().join("sys") };
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        (folder, roots)
    }

    fn now() -> TreeUsage {
        TreeUsage { rss_bytes: 100 * MIB, threads: 7, processes: 1, ..TreeUsage::default() }
    }

    #[test]
    fn the_tightest_group_of_version_2_is_the_limit() {
        let (_folder, roots) = host(&[
            ("proc/7/limits", OWN),
            ("proc/7/cgroup", "0::/a/b\n"),
            ("proc/7/status", "Name:\tx\nUid:\t1000\t1000\t1000\t1000\n"),
            ("proc/meminfo", "MemTotal: 9999999 kB\nMemAvailable:    1048576 kB\n"),
            ("proc/loadavg", "0.1 0.2 0.3 2/500 99\n"),
            ("proc/sys/kernel/threads-max", "100000\n"),
            ("sys/fs/cgroup/a/memory.max", "536870912\n"),
            ("sys/fs/cgroup/a/memory.current", "314572800\n"),
            ("sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file 104857600\n"),
            ("sys/fs/cgroup/a/b/memory.max", "max\n"),
            ("sys/fs/cgroup/a/b/pids.max", "64\n"),
            ("sys/fs/cgroup/a/b/pids.current", "10\n"),
        ]);
        let found = read(&roots, 7, &now());
        // 512 MiB less 300 MiB in use, of which 100 MiB can be dropped.
        let memory = found.memory.unwrap();
        assert_eq!(memory.value, ((100 + 312) * MIB) as f64);
        assert!(memory.source.starts_with("memory.max of ") && memory.source.ends_with("cgroup/a"));
        assert_eq!(found.descriptors, Some(Limit { value: 20_000.0, source: named("RLIMIT_NOFILE") }));
        let threads = found.threads.unwrap();
        assert_eq!(threads.value, 61.0);
        assert!(threads.source.starts_with("pids.max of "));
    }

    #[test]
    fn version_1_and_the_host_where_no_group_limits() {
        let files = [
            ("proc/7/limits", OWN),
            ("proc/7/cgroup", "4:memory:/x\n8:pids:/\n0::/\n"),
            ("proc/7/status", "Uid:\t0\t0\t0\t0\n"),
            ("proc/meminfo", "MemAvailable:    1024 kB\n"),
            ("proc/loadavg", "0.1 0.2 0.3 2/500 99\n"),
            ("proc/sys/kernel/threads-max", "1000\n"),
            ("sys/fs/cgroup/memory/x/memory.limit_in_bytes", "9223372036854771712\n"),
            ("sys/fs/cgroup/memory/x/memory.usage_in_bytes", "1\n"),
        ];
        let (_folder, roots) = host(&files);
        let found = read(&roots, 7, &now());
        assert_eq!(found.memory.unwrap().value, (101 * MIB) as f64);
        assert_eq!(found.threads, Some(Limit { value: 507.0, source: named("kernel.threads-max") }));
    }

    #[test]
    fn what_cannot_be_read_is_absent() {
        let (_folder, roots) = host(&[("proc/7/limits", "Max open files  unlimited unlimited files\n\u{0}")]);
        assert_eq!(read(&roots, 7, &now()), Limits::default());
        assert_eq!(read(&roots, 8, &now()), Limits::default());
    }
}
