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
//! | `gc_full_cause_*` | delta | full collections by `sun.gc.lastCause`: `system_gc`, `ergonomics`, `compaction`, `allocation`, `metadata`, `diagnostic`, `heap_dump`, `other`; `unknown` where another collection ended after the full one before the reading |
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
use crate::reading::{self, Reading, Values};
use crate::source::{Comparable, Differencing, Source};
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

/// What HotSpot calls the causes of collections (openjdk/jdk, src/hotspot/share/gc/shared/gcCause.cpp), and what their
/// counters are called here. Closed, so that a file cannot make names.
const CAUSES: [(&str, &str); 10] = [
    ("System.gc()", "gc_full_cause_system_gc"),
    ("JvmtiEnv ForceGarbageCollection", "gc_full_cause_diagnostic"),
    ("Diagnostic Command", "gc_full_cause_diagnostic"),
    ("Heap Inspection Initiated GC", "gc_full_cause_diagnostic"),
    ("Heap Dump Initiated GC", "gc_full_cause_heap_dump"),
    ("Ergonomics", "gc_full_cause_ergonomics"),
    ("Allocation Failure", "gc_full_cause_allocation"),
    ("G1 Compaction Pause", "gc_full_cause_compaction"),
    ("Metadata GC Threshold", "gc_full_cause_metadata"),
    ("Metadata GC Clear Soft References", "gc_full_cause_metadata"),
];

/// One reading with the cause of the latest collection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JvmReading {
    /// Gauges and counters.
    pub plain: Reading,
    /// The counter of full collections of that cause; absent where the JVM names none.
    pub last_cause: Option<&'static str>,
}

impl Comparable for JvmReading {
    fn gauges(&self, _: Option<&Self>) -> Values {
        reading::named(&self.plain.gauges)
    }

    fn deltas(&self, previous: &Self) -> Values {
        let mut deltas = reading::delta(&previous.plain, &self.plain);
        let of = |key: &str| deltas.get(key).copied().unwrap_or_default();
        let (all, full) = (of("gc_cycles"), of("gc_full_cycles"));
        if let (Some(cause), true) = (self.last_cause, full > 0.0) {
            // Only the latest collection has its cause named: where younger ones ended too, it may be one of theirs.
            let cause = if all > full { "gc_full_cause_unknown" } else { cause };
            deltas.insert(cause.to_owned(), full);
        }
        deltas
    }
}

/// Gauges, counters and the latest cause of one file.
#[must_use]
pub fn jvm_reading(data: &PerfData) -> JvmReading {
    let named = |text: &String| {
        let found = CAUSES.into_iter().find(|(cause, _)| cause == text);
        found.map_or("gc_full_cause_other", |(_, counter)| counter)
    };
    let last_cause = data.texts.get("sun.gc.lastCause").map(named);
    JvmReading { plain: reading(data), last_cause }
}

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
        Ok(jvm_reading(&data))
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

    fn collected(all: u64, full: u64, cause: &str) -> JvmReading {
        let data = PerfData {
            longs: [("sun.gc.collector.0.invocations", all - full), ("sun.gc.collector.1.invocations", full)]
                .map(|(name, count)| (name.to_owned(), count as i64))
                .into(),
            texts: [("sun.gc.lastCause".to_owned(), cause.to_owned())].into(),
        };
        jvm_reading(&data)
    }

    #[test]
    fn full_collections_are_told_by_cause_where_it_can_be_theirs() {
        let before = collected(10, 2, "No GC");
        for (now, wanted) in [
            (collected(13, 5, "System.gc()"), Some(("gc_full_cause_system_gc", 3.0))),
            (collected(12, 3, "G1 Evacuation Pause"), Some(("gc_full_cause_unknown", 1.0))),
            (collected(11, 3, "A cause of tomorrow"), Some(("gc_full_cause_other", 1.0))),
            (collected(15, 2, "G1 Evacuation Pause"), None),
        ] {
            let deltas = now.deltas(&before);
            let found: Vec<(&str, f64)> = deltas
                .iter()
                .filter(|(name, _)| name.starts_with("gc_full_cause_"))
                .map(|(name, count)| (name.as_str(), *count))
                .collect();
            assert_eq!(found, wanted.into_iter().collect::<Vec<_>>());
        }
        let (first, second) = (FIRST, SECOND);
        let [first, second] = [first, second].map(|bytes| jvm_reading(&hsperfdata::parse(bytes).unwrap()));
        assert_eq!(second.last_cause, Some("gc_full_cause_other"), "a young one was the latest");
        assert!(
            second.deltas(&first)["gc_full_cause_unknown"] > 0.0,
            "young ones ended beside the full ones"
        );
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
