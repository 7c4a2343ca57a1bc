//! `target.cgroup`: what the kernel tells of the control groups of a confined target, v1 or v2
//! (Documentation/admin-guide/cgroup-v2.rst, Documentation/scheduler/sched-bwc.rst).
//!
//! | key | kind | from (v2, v1) | meaning |
//! |---|---|---|---|
//! | `periods` | delta | `cpu.stat` nr_periods | periods of the quota in which the target wanted to run |
//! | `throttled_periods` | delta | `cpu.stat` nr_throttled | of these, periods in which it was stopped |
//! | `throttled_ns` | delta | `cpu.stat` throttled_usec, throttled_time | time stopped, added up over its CPUs |
//! | `cpu_ns` | delta | `cpu.stat` usage_usec, `cpuacct.usage` | CPU time of all that ran in the group |
//! | `oom_kills` | delta | `memory.events`, `memory.oom_control` oom_kill | processes killed at the memory limit |
//! | `memory_bytes` | gauge | `memory.current`, `memory.usage_in_bytes` | memory now, cached file pages included |
//! | `memory_peak_bytes` | gauge | `memory.peak`, `memory.max_usage_in_bytes` | the most since the group was made |
//!
//! What the kernel at hand does not have is absent. The groups outlive a restart of the target, so do the counts.

use crate::error::{CollectError, ParseError};
use crate::reading::Reading;
use crate::source::{Differencing, Source};
use crate::text;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Name of the source.
pub const NAME: &str = "target.cgroup";

/// Folders of the groups by controller.
pub type Groups = BTreeMap<String, PathBuf>;

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

/// Adds the kills that `memory.events` (v2) or `memory.oom_control` (v1) tells; old kernels do not.
///
/// # Errors
/// The value is no number.
pub fn parse_kills(bytes: &[u8], reading: &mut Reading) -> Result<(), ParseError> {
    if let Some((_, value)) = pairs(text::utf8(bytes)?).find(|(key, _)| *key == "oom_kill") {
        reading.counters.insert("oom_kills", text::number("oom_kill", value)?);
    }
    Ok(())
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
    Ok(reading)
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
    let kills = ["memory.events", "memory.oom_control"].map(|file| folder.join(file));
    match kills.iter().find(|file| file.is_file()) {
        Some(file) => text::read_parsed(file, |bytes| parse_kills(bytes, reading)),
        None => Ok(()),
    }
}

/// A file of one number, where it is there.
fn number(folder: &Path, file: &str) -> Option<u64> {
    std::str::from_utf8(&text::read_optional(&folder.join(file))?).ok()?.trim().parse().ok()
}

pub(crate) fn source(groups: Groups) -> Box<dyn Source> {
    Box::new(Differencing::new(NAME, move || read(&groups)))
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
            &[("cpu.stat", "nr_periods 40\nnr_throttled 10\nthrottled_time 5000000\nwait_sum 3\n")],
        );
        let cpuacct = group(&folder.path().join("cpuacct"), &[("cpuacct.usage", "2000000\n")]);
        let memory = group(
            &folder.path().join("memory"),
            &[
                ("memory.usage_in_bytes", "4096\n"),
                ("memory.max_usage_in_bytes", "8192\n"),
                ("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n"),
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
                ("memory.events", "low 0\noom 3\noom_kill 3\noom_group_kill 0\n"),
            ],
        );
        let named = |pairs: &[(&str, &PathBuf)]| -> Groups {
            pairs.iter().map(|(name, folder)| ((*name).to_owned(), (*folder).clone())).collect()
        };
        let first = read(&named(&[("cpu", &cpu), ("cpuacct", &cpuacct), ("memory", &memory)])).unwrap();
        let second = read(&named(&[("cpu", &v2), ("memory", &v2)])).unwrap();
        assert_eq!(first, second);
        assert_eq!(
            (first.counter("throttled_ns"), first.counter("cpu_ns")),
            (Some(5_000_000), Some(2_000_000))
        );
        assert_eq!((first.gauge("memory_peak_bytes"), first.counter("oom_kills")), (Some(8192.0), Some(3)));
    }

    #[test]
    fn what_is_wrong_is_said_and_what_is_not_there_is_absent() {
        let mut reading = Reading::default();
        assert!(parse_cpu(b"nr_periods many\n", &mut reading).is_err());
        assert!(parse_cpu(b"\xff", &mut reading).is_err());
        assert!(parse_cpu(b"", &mut reading).is_err());
        assert!(parse_cpu(b"throttled_usec 18446744073709551615\n", &mut reading).is_err(), "too large");
        assert!(parse_kills(b"oom_kill -1\n", &mut reading).is_err());
        assert_eq!(parse_kills(b"oom 1\n", &mut reading), Ok(()));
        let gone = Groups::from([("cpu".to_owned(), PathBuf::from("/nonexistent-of-prony"))]);
        assert!(read(&gone).unwrap_err().to_string().contains("cpu.stat"));
        assert_eq!(read(&Groups::new()).unwrap(), Reading::default());
    }
}
