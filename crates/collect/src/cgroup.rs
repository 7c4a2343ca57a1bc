//! `target.cgroup`, `generator.cgroup` and `service.<name>.cgroup`: what the kernel reports on control groups, v1 or v2
//! (Documentation/admin-guide/cgroup-v2.rst, Documentation/scheduler/sched-bwc.rst,
//! Documentation/admin-guide/cgroup-v1/).
//!
//! | key | kind | from (v2, v1) | meaning |
//! |---|---|---|---|
//! | `periods` | delta | `cpu.stat` nr_periods | periods of the quota in which the group wanted to run |
//! | `throttled_periods` | delta | `cpu.stat` nr_throttled | of these, periods in which it was stopped |
//! | `throttled_ns` | delta | `cpu.stat` throttled_usec, throttled_time | time stopped, added up over its CPUs |
//! | `cpu_ns` | delta | `cpu.stat` usage_usec, `cpuacct.usage` | CPU time of all that ran in the group |
//! | `oom_kills` | delta | `memory.events`, `memory.oom_control` oom_kill | processes killed at the memory limit |
//! | `memory_reclaims` | delta | `memory.events` high + max, `memory.failcnt` | times that the group met its limit and
//! had to give memory back |
//! | `io_read_bytes`, `io_written_bytes` | delta | `io.stat` rbytes, wbytes;
//! `blkio.throttle.io_service_bytes_recursive` | what it read from and wrote to disks |
//! | `memory_bytes` | gauge | `memory.current`, `memory.usage_in_bytes` | memory now, cached file pages included |
//! | `memory_peak_bytes` | gauge | `memory.peak`, `memory.max_usage_in_bytes` | the most since the group was made |
//! | `memory_limit_bytes` | gauge | `memory.max`, `memory.limit_in_bytes` | the smallest limit up the tree |
//! | `cpus_limit` | gauge | `cpu.max`, `cpu.cfs_quota_us` / `cpu.cfs_period_us` | the smallest quota up the tree, in
//! CPUs |
//!
//! What the kernel at hand does not have is absent, and so is a limit where there is none. The groups outlive a restart
//! of the target, so do the counts. The group at the root counts the whole host. Throttling by the quota of a group
//! further up is counted there only. Where a process's groups are is found in [`find`].

pub mod find;

use crate::error::{CollectError, ParseError};
use crate::reading::Reading;
use crate::source::{Differencing, Source};
use crate::text;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Name of the source for the system under test.
pub const TARGET: &str = "target.cgroup";
/// Name of the source for prony's own load generator.
pub const GENERATOR: &str = "generator.cgroup";

/// Folders of the groups by controller.
pub type Groups = BTreeMap<String, PathBuf>;

/// A controller by the names that v1 and v2 give to it.
const BLOCK_IO: [&str; 2] = ["io", "blkio"];
/// v1 writes "no limit" as the largest number of pages.
const UNLIMITED_BYTES: u64 = 1 << 62;

/// The kernel's key in `cpu.stat`, prony's, and nanoseconds in one unit where it is a time.
const CPU: [(&str, &str, u64); 5] = [
    ("nr_periods", "periods", 1),
    ("nr_throttled", "throttled_periods", 1),
    ("throttled_time", "throttled_ns", 1),
    ("throttled_usec", "throttled_ns", 1_000),
    ("usage_usec", "cpu_ns", 1_000),
];

/// Adds what `cpu.stat` tells.
///
/// # Errors
/// A known value is no number, or there is none at all.
pub fn parse_cpu(bytes: &[u8], reading: &mut Reading) -> Result<(), ParseError> {
    let mut any = false;
    for (key, value) in pairs(text::utf8(bytes)?) {
        if let Some((_, name, unit_ns)) = CPU.iter().find(|(kernel, _, _)| *kernel == key) {
            reading.counters.insert(name, text::scaled(name, value, *unit_ns)?);
            any = true;
        }
    }
    if any { Ok(()) } else { Err(ParseError::Missing("nr_periods")) }
}

/// Adds the kills that `memory.events` (v2) or `memory.oom_control` (v1) tells, where the kernel is not too old, and
/// the times that the limit was met (v2).
///
/// # Errors
/// A known value is no number.
pub fn parse_events(bytes: &[u8], reading: &mut Reading) -> Result<(), ParseError> {
    let (mut reclaims, mut tells) = (0_u64, false);
    for (key, value) in pairs(text::utf8(bytes)?) {
        match key {
            "oom_kill" => {
                reading.counters.insert("oom_kills", text::number("oom_kill", value)?);
            }
            "high" | "max" => {
                reclaims = reclaims.saturating_add(text::number("memory.events", value)?);
                tells = true;
            }
            _ => {}
        }
    }
    if tells {
        reading.counters.insert("memory_reclaims", reclaims);
    }
    Ok(())
}

/// Adds what `io.stat` (v2) tells: lines `8:0 rbytes=1 wbytes=2 rios=…`, one for each disk.
///
/// # Errors
/// A known value is no number.
pub fn parse_io(bytes: &[u8], reading: &mut Reading) -> Result<(), ParseError> {
    let (mut read, mut written) = (0_u64, 0_u64);
    for (key, value) in text::utf8(bytes)?.split_ascii_whitespace().filter_map(|word| word.split_once('=')) {
        let sum = match key {
            "rbytes" => &mut read,
            "wbytes" => &mut written,
            _ => continue,
        };
        *sum = sum.saturating_add(text::number("io.stat", value)?);
    }
    reading.counters.extend([("io_read_bytes", read), ("io_written_bytes", written)]);
    Ok(())
}

/// Adds what `blkio.throttle.io_service_bytes_recursive` (v1) tells: lines `8:0 Read 1`, `8:0 Write 2`.
///
/// # Errors
/// A known value is no number.
pub fn parse_blkio(bytes: &[u8], reading: &mut Reading) -> Result<(), ParseError> {
    let (mut read, mut written) = (0_u64, 0_u64);
    for line in text::utf8(bytes)?.lines() {
        let mut words = line.split_ascii_whitespace().skip(1);
        let sum = match words.next() {
            Some("Read") => &mut read,
            Some("Write") => &mut written,
            _ => continue,
        };
        *sum = sum.saturating_add(text::number("blkio", words.next().unwrap_or_default())?);
    }
    reading.counters.extend([("io_read_bytes", read), ("io_written_bytes", written)]);
    Ok(())
}

/// The CPUs of `cpu.max` (v2): `50000 100000`; nothing for `max 100000` or where it cannot be understood.
#[must_use]
pub fn parse_quota(bytes: &[u8]) -> Option<f64> {
    let mut words = text::utf8(bytes).ok()?.split_ascii_whitespace();
    let (quota, period): (u64, u64) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    (period > 0).then(|| quota as f64 / period as f64)
}

fn pairs(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().filter_map(|line| line.trim().split_once(' '))
}

/// Reads all groups once.
///
/// # Errors
/// A group of the CPU controller that cannot be read: it has gone, with the target.
pub fn read(groups: &Groups) -> Result<Reading, CollectError> {
    let mut reading = Reading::default();
    if let Some(folder) = groups.get("cpu") {
        text::read_parsed(&folder.join("cpu.stat"), |bytes| parse_cpu(bytes, &mut reading))?;
    }
    if let Some(usage) = groups.get("cpuacct").and_then(|folder| number(folder, "cpuacct.usage")) {
        reading.counters.insert("cpu_ns", usage);
    }
    if let Some(folder) = groups.get("memory") {
        read_memory(folder, &mut reading)?;
    }
    if let Some(folder) = BLOCK_IO.iter().find_map(|name| groups.get(*name)) {
        read_io(folder, &mut reading)?;
    }
    read_limits(groups, &mut reading);
    Ok(reading)
}

fn read_io(folder: &Path, reading: &mut Reading) -> Result<(), CollectError> {
    let v1 = folder.join("blkio.throttle.io_service_bytes_recursive");
    if v1.is_file() {
        return text::read_parsed(&v1, |bytes| parse_blkio(bytes, reading));
    }
    let v2 = folder.join("io.stat");
    if v2.is_file() { text::read_parsed(&v2, |bytes| parse_io(bytes, reading)) } else { Ok(()) }
}

/// The smallest limits of the groups and those above them.
fn read_limits(groups: &Groups, reading: &mut Reading) {
    let cpus = lineage(groups.get("cpu")).filter_map(quota).min_by(f64::total_cmp);
    reading.gauges.extend(cpus.map(|cpus| ("cpus_limit", cpus)));
    let bytes = lineage(groups.get("memory")).filter_map(|folder| {
        ["memory.max", "memory.limit_in_bytes"].iter().find_map(|file| number(folder, file))
    });
    let bytes = bytes.filter(|bytes| *bytes < UNLIMITED_BYTES).min();
    reading.gauges.extend(bytes.map(|bytes| ("memory_limit_bytes", bytes as f64)));
}

/// A group and those above it: every folder that is a group has this file.
fn lineage(folder: Option<&PathBuf>) -> impl Iterator<Item = &Path> {
    let ancestors = folder.into_iter().flat_map(|folder| folder.ancestors());
    ancestors.take_while(|folder| folder.join("cgroup.procs").exists())
}

fn quota(folder: &Path) -> Option<f64> {
    if let Some(bytes) = text::read_optional(&folder.join("cpu.max")) {
        return parse_quota(&bytes);
    }
    // -1 is no quota.
    let (quota, period) = (number(folder, "cpu.cfs_quota_us")?, number(folder, "cpu.cfs_period_us")?);
    (period > 0).then(|| quota as f64 / period as f64)
}

fn read_memory(folder: &Path, reading: &mut Reading) -> Result<(), CollectError> {
    for (name, files) in [
        ("memory_bytes", ["memory.current", "memory.usage_in_bytes"]),
        ("memory_peak_bytes", ["memory.peak", "memory.max_usage_in_bytes"]),
    ] {
        if let Some(bytes) = files.iter().find_map(|file| number(folder, file)) {
            reading.gauges.insert(name, bytes as f64);
        }
    }
    if let Some(times) = number(folder, "memory.failcnt") {
        reading.counters.insert("memory_reclaims", times);
    }
    let kills = ["memory.events", "memory.oom_control"].map(|file| folder.join(file));
    match kills.iter().find(|file| file.is_file()) {
        Some(file) => text::read_parsed(file, |bytes| parse_events(bytes, reading)),
        None => Ok(()),
    }
}

/// A file of one number, where it is there.
fn number(folder: &Path, file: &str) -> Option<u64> {
    std::str::from_utf8(&text::read_optional(&folder.join(file))?).ok()?.trim().parse().ok()
}

/// A source of this name for these groups; for a service, `service.<name>.cgroup`.
#[must_use]
pub fn source(name: String, groups: Groups) -> Box<dyn Source> {
    Box::new(Differencing::new(name, move || read(&groups)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn group(folder: &Path, files: &[(&str, &str)]) -> PathBuf {
        fs::create_dir_all(folder).unwrap();
        for (file, text) in files {
            fs::write(folder.join(file), text).unwrap();
        }
        folder.to_owned()
    }

    #[test]
    fn both_versions_give_the_same_names_and_units() {
        let folder = tempfile::tempdir().unwrap();
        let cpu = group(
            &folder.path().join("cpu"),
            &[
                ("cpu.stat", "nr_periods 40\nnr_throttled 10\nthrottled_time 5000000\nwait_sum 3\n"),
                ("cpu.cfs_quota_us", "150000\n"),
                ("cpu.cfs_period_us", "100000\n"),
                ("cgroup.procs", ""),
            ],
        );
        let cpuacct = group(&folder.path().join("cpuacct"), &[("cpuacct.usage", "2000000\n")]);
        let blkio = group(
            &folder.path().join("blkio"),
            &[(
                "blkio.throttle.io_service_bytes_recursive",
                "8:0 Read 100\n8:0 Write 7\n8:0 Sync 107\n8:0 Total 107\n8:16 Read 1\nTotal 108\n",
            )],
        );
        let memory = group(
            &folder.path().join("memory"),
            &[
                ("memory.usage_in_bytes", "4096\n"),
                ("memory.max_usage_in_bytes", "8192\n"),
                ("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n"),
                ("memory.failcnt", "12\n"),
                ("memory.limit_in_bytes", "16384\n"),
                ("cgroup.procs", ""),
            ],
        );
        let v2 = group(
            &folder.path().join("v2"),
            &[
                (
                    "cpu.stat",
                    "usage_usec 2000\nuser_usec 1\nnr_periods 40\nnr_throttled 10\nthrottled_usec 5000\n",
                ),
                ("memory.current", "4096\n"),
                ("memory.peak", "8192\n"),
                ("memory.events", "low 0\nhigh 2\nmax 10\noom 3\noom_kill 3\noom_group_kill 0\n"),
                ("memory.max", "16384\n"),
                ("cpu.max", "150000 100000\n"),
                ("io.stat", "8:0 rbytes=100 wbytes=7 rios=1 wios=1 dbytes=0 dios=0\n8:16 rbytes=1\n"),
                ("cgroup.procs", ""),
            ],
        );
        let named = |pairs: &[(&str, &PathBuf)]| -> Groups {
            pairs.iter().map(|(name, folder)| ((*name).to_owned(), (*folder).clone())).collect()
        };
        let first =
            read(&named(&[("cpu", &cpu), ("cpuacct", &cpuacct), ("memory", &memory), ("blkio", &blkio)]))
                .unwrap();
        let second = read(&named(&[("cpu", &v2), ("memory", &v2), ("io", &v2)])).unwrap();
        assert_eq!(first, second);
        assert_eq!(
            (first.counter("throttled_ns"), first.counter("cpu_ns")),
            (Some(5_000_000), Some(2_000_000))
        );
        assert_eq!((first.gauge("memory_peak_bytes"), first.counter("oom_kills")), (Some(8192.0), Some(3)));
        assert_eq!(
            (first.gauge("cpus_limit"), first.gauge("memory_limit_bytes")),
            (Some(1.5), Some(16384.0))
        );
        assert_eq!((first.counter("io_read_bytes"), first.counter("io_written_bytes")), (Some(101), Some(7)));
        assert_eq!(first.counter("memory_reclaims"), Some(12));
    }

    #[test]
    fn what_is_wrong_is_said_and_what_is_not_there_is_absent() {
        let mut reading = Reading::default();
        assert!(parse_cpu(b"nr_periods many\n", &mut reading).is_err());
        assert!(parse_cpu(b"\xff", &mut reading).is_err());
        assert!(parse_cpu(b"", &mut reading).is_err());
        assert!(parse_cpu(b"throttled_usec 18446744073709551615\n", &mut reading).is_err(), "too large");
        assert!(parse_events(b"oom_kill -1\n", &mut reading).is_err());
        assert_eq!(parse_events(b"oom 1\n", &mut reading), Ok(()));
        let gone = Groups::from([("cpu".to_owned(), PathBuf::from("/nonexistent-of-prony"))]);
        assert!(read(&gone).unwrap_err().to_string().contains("cpu.stat"));
        assert_eq!(read(&Groups::new()).unwrap(), Reading::default());
    }
    #[test]
    fn the_smallest_limit_up_the_tree_counts() {
        let folder = tempfile::tempdir().unwrap();
        let of = |path: &str, cpus: &str, memory: &str| {
            group(
                &folder.path().join(path),
                &[
                    ("cpu.max", cpus),
                    ("memory.max", memory),
                    ("cgroup.procs", ""),
                    ("cpu.stat", "usage_usec 1\n"),
                ],
            )
        };
        of("a", "200000 100000", "max");
        of("a/b", "max 100000", "1000");
        let inner = of("a/b/c", "400000 100000", "5000");
        let groups = Groups::from([("cpu".to_owned(), inner.clone()), ("memory".to_owned(), inner)]);
        let reading = read(&groups).unwrap();
        assert_eq!(
            (reading.gauge("cpus_limit"), reading.gauge("memory_limit_bytes")),
            (Some(2.0), Some(1000.0))
        );
        let free = of("free", "max 100000", "max");
        let free =
            read(&Groups::from([("cpu".to_owned(), free.clone()), ("memory".to_owned(), free)])).unwrap();
        assert!(free.gauge("cpus_limit").is_none() && free.gauge("memory_limit_bytes").is_none());
    }

    #[test]
    fn hostile_limits_and_counts() {
        for hostile in [&b""[..], b"max", b"1", b"1 0", b"x 1", b"-1 100000", b"\xff 1"] {
            assert_eq!(parse_quota(hostile), None, "{hostile:?}");
        }
        let mut reading = Reading::default();
        assert!(parse_io(b"8:0 rbytes=x", &mut reading).is_err());
        assert!(parse_io(b"\xff", &mut reading).is_err());
        assert!(parse_blkio(b"8:0 Read\n", &mut reading).is_err());
        assert!(parse_events(b"high 18446744073709551615\nmax 9\n", &mut reading).is_ok());
        assert_eq!(reading.counter("memory_reclaims"), Some(u64::MAX));
    }
}
