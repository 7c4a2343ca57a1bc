//! `jvm.runtime`: the performance data of the first JVM in the target's process tree ([`hsperfdata`]).
//!
//! | key | kind | from |
//! |---|---|---|
//! | `heap_used_bytes`, `heap_committed_bytes` | gauge | `sun.gc.generation.*.space.*.used`, `.generation.*.capacity`, summed |
//! | `heap_max_bytes` | gauge | `sun.gc.generation.*.maxCapacity`, summed; with G1, whose generations share one heap, the largest |
//! | `old_used_bytes`, `old_max_bytes` | gauge | `sun.gc.generation.1` |
//! | `threads` | gauge | `java.threads.live` |
//! | `gc_cycles` | delta | `sun.gc.collector.*.invocations`, summed; with G1 also the pauses of concurrent cycles |
//! | `gc_full_cycles` | delta | `sun.gc.collector.1.invocations` |
//! | `gc_pause_ns` | delta | `sun.gc.collector.*.time`, ticks by `sun.os.hrt.frequency` |
//! | `safepoints`, `safepoint_ns` | delta | `sun.rt.safepoints`, `sun.rt.safepointTime` |
//! | `contended_locks`, `lock_parks` | delta | `sun.rt._sync_ContendedLockAttempts`, `sun.rt._sync_Parks`, which HotSpot counts late, in batches |
//!
//! HotSpot brings the sizes of spaces up to date at the end of a collection only: between two they stand still.
//! ZGC has no generations here, so its heap is absent. The file is absent under `-XX:-UsePerfData`.
//! Absent on purpose: blocked threads and allocated bytes, which no JVM 17 tells here; jstat and jcmd, since a process
//! at each tick costs CPU time beside the target and jcmd stops its threads.
//!
//! The file is looked for below `/proc/PID/root`, so that one in another mount namespace is found, by the number that
//! the process has in its own namespace.

use super::hsperfdata::{self, PerfData};
use crate::error::CollectError;
use crate::process::followed::RootPid;
use crate::process::parse;
use crate::reading::Reading;
use crate::source::{Differencing, Source};
use crate::{Roots, text};
use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// Name of the source.
pub const NAME: &str = "jvm.runtime";

/// Processes that are looked at for a JVM.
const PROCESSES_MAX: usize = 1024;
/// Users with a folder of performance data in one `/tmp`.
const FOLDERS_MAX: usize = 256;
/// Generations, spaces of one, and collectors; HotSpot has at most 2, 3 and 3.
const PARTS_MAX: usize = 4;

/// Gauges and counters of one file.
#[must_use]
pub fn reading(data: &PerfData) -> Reading {
    let mut reading = Reading::default();
    let mut gauge = |name, value: Option<u64>| {
        reading.gauges.extend(value.map(|value| (name, value as f64)));
    };
    let generation = |part: &str| sums(data, "sun.gc.generation", part);
    let capacity_max = generation("maxCapacity");
    // Both generations of G1 may grow to the whole heap.
    let is_shared = data.texts.get("sun.gc.policy.name").is_some_and(|name| name == "GarbageFirst");
    let heap_max = if is_shared { capacity_max.iter().copied().max() } else { sum(&capacity_max) };
    let used: Vec<u64> =
        (0..PARTS_MAX).flat_map(|k| sums(data, &format!("sun.gc.generation.{k}.space"), "used")).collect();
    gauge("heap_used_bytes", sum(&used));
    gauge("heap_committed_bytes", sum(&generation("capacity")));
    gauge("heap_max_bytes", heap_max);
    gauge("old_used_bytes", long(data, "sun.gc.generation.1.space.0.used"));
    gauge("old_max_bytes", long(data, "sun.gc.generation.1.maxCapacity"));
    gauge("threads", long(data, "java.threads.live"));
    let frequency = long(data, "sun.os.hrt.frequency").filter(|per_second| *per_second > 0);
    let ns = |ticks: Option<u64>| {
        let ns = u128::from(ticks?) * 1_000_000_000 / u128::from(frequency?);
        u64::try_from(ns).ok()
    };
    let collector = |part: &str| sum(&sums(data, "sun.gc.collector", part));
    let counters = [
        ("gc_cycles", collector("invocations")),
        ("gc_full_cycles", long(data, "sun.gc.collector.1.invocations")),
        ("gc_pause_ns", ns(collector("time"))),
        ("safepoints", long(data, "sun.rt.safepoints")),
        ("safepoint_ns", ns(long(data, "sun.rt.safepointTime"))),
        ("contended_locks", long(data, "sun.rt._sync_ContendedLockAttempts")),
        ("lock_parks", long(data, "sun.rt._sync_Parks")),
    ];
    reading.counters = counters.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    reading
}

fn long(data: &PerfData, name: &str) -> Option<u64> {
    u64::try_from(*data.longs.get(name)?).ok()
}

/// The values of `PREFIX.0.PART`, `PREFIX.1.PART`, …
fn sums(data: &PerfData, prefix: &str, part: &str) -> Vec<u64> {
    (0..PARTS_MAX).filter_map(|k| long(data, &format!("{prefix}.{k}.{part}"))).collect()
}

/// Nothing where there are none: no data is not zero.
fn sum(values: &[u64]) -> Option<u64> {
    values.iter().copied().reduce(u64::saturating_add)
}

pub(crate) fn source(roots: &Roots, root: RootPid) -> Box<dyn Source> {
    let roots = roots.clone();
    let mut known: Option<(u32, PathBuf)> = None;
    Box::new(Differencing::new(NAME, move || {
        let pid = root.load(Ordering::Relaxed);
        // A target that was started again has another first process, and its JVM another file.
        if known.as_ref().is_none_or(|(of, file)| *of != pid || !file.exists()) {
            known = find(&roots, pid).map(|file| (pid, file));
        }
        let (_, file) = known.as_ref().ok_or(CollectError::Absent {
            what: "the performance data of a JVM in the target's processes",
            remedy: "there is no JVM, it runs with -XX:-UsePerfData, or another user's files may not be read",
        })?;
        let data = text::read_parsed(file, hsperfdata::parse)?;
        Ok(reading(&data))
    }))
}

/// The file of the first process of the tree that has one, breadth first.
fn find(roots: &Roots, root: u32) -> Option<PathBuf> {
    let mut waiting = VecDeque::from([root]);
    let mut seen = BTreeSet::from([root]);
    while let Some(pid) = waiting.pop_front() {
        let folder = roots.proc.join(pid.to_string());
        if let Some(file) = perf_file(&folder, pid) {
            return Some(file);
        }
        for child in children(&folder) {
            if seen.len() < PROCESSES_MAX && seen.insert(child) {
                waiting.push_back(child);
            }
        }
    }
    None
}

fn children(folder: &Path) -> Vec<u32> {
    let tasks = fs::read_dir(folder.join("task")).into_iter().flatten().flatten();
    let files = tasks.filter_map(|task| text::read_optional(&task.path().join("children")));
    files.filter_map(|bytes| parse::children(&bytes).ok()).flatten().collect()
}

fn perf_file(folder: &Path, pid: u32) -> Option<PathBuf> {
    let inner = inner_pid(folder).unwrap_or(pid);
    let folders = fs::read_dir(folder.join("root/tmp")).ok()?.flatten();
    let is_perf = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with("hsperfdata_");
    let files = folders.filter(is_perf).take(FOLDERS_MAX).map(|entry| entry.path().join(inner.to_string()));
    // A link or a pipe in a folder that everybody may write to is not what a JVM leaves there.
    files.into_iter().find(|file| fs::symlink_metadata(file).is_ok_and(|facts| facts.is_file()))
}

/// The number in the process's own namespace: the last of the line `NSpid`.
fn inner_pid(folder: &Path) -> Option<u32> {
    let status = text::read_optional(&folder.join("status"))?;
    let line = text::utf8(&status).ok()?.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    line.split_ascii_whitespace().next_back()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading;
    use std::sync::atomic::AtomicU32;
    use units::Nanos;

    const FIRST: &[u8] = include_bytes!("../../fixtures/jvm/first.hsperf");
    const SECOND: &[u8] = include_bytes!("../../fixtures/jvm/second.hsperf");
    const MIB: f64 = 1_048_576.0;

    fn of(bytes: &[u8]) -> Reading {
        super::reading(&hsperfdata::parse(bytes).unwrap())
    }

    #[test]
    fn real_files_of_a_g1_with_64_mib_a_second_apart() {
        let (first, second) = (of(FIRST), of(SECOND));
        let gauge = |name| second.gauge(name).unwrap();
        assert!((63.0 * MIB..65.0 * MIB).contains(&gauge("heap_max_bytes")), "{second:?}");
        assert!(gauge("old_used_bytes") <= gauge("heap_used_bytes"), "{second:?}");
        assert!(gauge("heap_used_bytes") <= gauge("heap_committed_bytes"), "{second:?}");
        assert_eq!(gauge("threads"), 8.0);
        let deltas = reading::delta(&first, &second);
        assert!(
            deltas["gc_cycles"] > deltas["gc_full_cycles"] && deltas["gc_full_cycles"] > 0.0,
            "{deltas:?}"
        );
        // One second passed, and a pause is a part of it.
        assert!((1e7..2e9).contains(&deltas["gc_pause_ns"]), "{deltas:?}");
        assert!(deltas["safepoint_ns"] >= 0.5 * deltas["gc_pause_ns"], "{deltas:?}");
    }

    #[test]
    fn what_a_jvm_does_not_tell_is_absent() {
        assert_eq!(super::reading(&PerfData::default()), Reading::default());
    }

    /// A process 7 whose child 8 is a JVM that calls itself 3.
    fn tree() -> (tempfile::TempDir, Roots) {
        let folder = tempfile::tempdir().unwrap();
        let proc = folder.path().join("proc");
        let write = |path: &str, bytes: &[u8]| {
            let path = proc.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        };
        write("7/task/7/children", b"8 ");
        write("7/status", b"NSpid:\t7\n");
        write("8/task/8/children", b"7 ");
        write("8/status", b"Name:\tjava\nNSpid:\t8\t3\n");
        write("8/root/tmp/hsperfdata_me/3", FIRST);
        let roots = Roots { proc, sys: folder.path().join("sys") };
        (folder, roots)
    }

    #[test]
    fn the_jvm_is_found_in_the_tree_and_its_end_is_a_gap() {
        let (_folder, roots) = tree();
        let file = roots.proc.join("8/root/tmp/hsperfdata_me/3");
        let mut source = source(&roots, RootPid::new(AtomicU32::new(7)));
        assert!(source.tick(Nanos(1)).unwrap().gauges.contains_key("threads"));
        fs::write(&file, SECOND).unwrap();
        assert!(source.tick(Nanos(2)).unwrap().deltas["gc_cycles"] > 0.0);
        fs::write(&file, b"garbage").unwrap();
        source.tick(Nanos(3)).unwrap_err();
        fs::remove_file(&file).unwrap();
        let error = source.tick(Nanos(4)).unwrap_err().to_string();
        assert!(error.contains("UsePerfData"), "{error}");
        std::os::unix::fs::symlink("/etc/hostname", &file).unwrap();
        source.tick(Nanos(5)).expect_err("a link is not followed");
    }
}
