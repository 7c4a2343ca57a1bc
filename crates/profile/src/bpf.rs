//! What prony's bpftrace programs print (`-f json`): one JSON object a line, of which three maps matter.
//!
//! | map | value | kind of line |
//! |---|---|---|
//! | `@ns[key]` | histogram of times, buckets of powers of two | hist |
//! | `@total[key]` | their sum | map |
//! | `@failed[key]` | how often it failed | map |
//!
//! Invariants: lines that are not understood are passed over (bpftrace prints notices between them); the number of keys
//! and buckets is bounded; a name of a thread is the target's and may hold anything.

use crate::folded::clean;
use crate::{BYTES_MAX, Folded, ProfileError};
use schema::profile::{ProfileKind, ProfileUnit};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The watched processes; put before each program.
const WATCHED: &str = include_str!("bpf/watched.bt");
/// Most processes that can be named as parameters of a program.
pub const PIDS_MAX: usize = 64;
/// Most keys that are kept.
const KEYS_MAX: usize = 4096;

/// The text of the program of a kind; `None` for kinds that bpftrace does not give.
#[must_use]
pub fn program(kind: ProfileKind) -> Option<String> {
    let own = match kind {
        ProfileKind::Syscalls => include_str!("bpf/syscalls.bt"),
        ProfileKind::OffCpu => include_str!("bpf/off_cpu.bt"),
        ProfileKind::Connect => include_str!("bpf/connect.bt"),
        _ => return None,
    };
    Some(format!("{WATCHED}{own}"))
}

/// One key of a trace: a system call, a thread with its state, a port.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// What it is, in words, from general to special.
    pub name: Vec<String>,
    /// How often it ended.
    pub count: u64,
    /// How often it failed.
    pub failed: u64,
    /// Sum of all times.
    pub total_ns: u64,
    /// Upper bounds of the times of half and of 99 % of them, powers of two.
    pub p50_below_ns: u64,
    /// As `p50_below_ns`.
    pub p99_below_ns: u64,
}

/// What a program saw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// By total time, longest first.
    pub rows: Vec<Row>,
    /// Events that bpftrace lost.
    pub lost: u64,
}

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type")]
    kind: String,
    data: serde_json::Value,
}

#[derive(Clone, Debug, Default)]
struct Sums {
    buckets: Vec<(u64, u64)>,
    total_ns: u64,
    failed: u64,
}

/// Reads what a program of [`program`] printed.
///
/// # Errors
/// Too many bytes, or no line of bpftrace's JSON at all.
pub fn read(data: &[u8], kind: ProfileKind) -> Result<Trace, ProfileError> {
    if data.len() > BYTES_MAX {
        return Err(ProfileError::too_long(BYTES_MAX));
    }
    let text = String::from_utf8_lossy(data);
    let mut keys: BTreeMap<String, Sums> = BTreeMap::new();
    let (mut understood, mut lost) = (false, 0_u64);
    for line in text.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok()) {
        understood = true;
        match line.kind.as_str() {
            "hist" => each(&line.data, "@ns", &mut keys, |sums, value| sums.buckets.extend(buckets(value))),
            "map" => {
                each(&line.data, "@total", &mut keys, |sums, value| {
                    sums.total_ns = sums.total_ns.saturating_add(number(value));
                });
                each(&line.data, "@failed", &mut keys, |sums, value| {
                    sums.failed = sums.failed.saturating_add(number(value));
                });
            }
            "lost_events" => lost = lost.saturating_add(line.data.get("events").map_or(0, number)),
            _ => {}
        }
    }
    if !understood {
        return Err(ProfileError::new(
            "bpftrace printed no JSON",
            "look at the raw file; use bpftrace 0.17 or later",
        ));
    }
    let mut rows: Vec<Row> = keys.into_iter().map(|(key, sums)| row(&key, sums, kind)).collect();
    rows.sort_by(|a, b| b.total_ns.cmp(&a.total_ns).then_with(|| a.name.cmp(&b.name)));
    Ok(Trace { rows, lost })
}

/// Hands the values of one map to `put`.
fn each(
    data: &serde_json::Value,
    map: &str,
    keys: &mut BTreeMap<String, Sums>,
    put: impl Fn(&mut Sums, &serde_json::Value),
) {
    let Some(values) = data.get(map).and_then(serde_json::Value::as_object) else { return };
    for (key, value) in values {
        if keys.len() < KEYS_MAX || keys.contains_key(&same(key)) {
            put(keys.entry(same(key)).or_default(), value);
        }
    }
}

/// Two states of a thread mean one thing: it could have run on (0, and 256 where it was made to stop).
fn same(key: &str) -> String {
    match key.rsplit_once(',') {
        Some((thread, "256")) => format!("{thread},0"),
        _ => key.to_owned(),
    }
}

fn number(value: &serde_json::Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

/// Upper bound (not reached) and count of each bucket.
fn buckets(value: &serde_json::Value) -> Vec<(u64, u64)> {
    let all = value.as_array().map_or(&[][..], Vec::as_slice).iter().take(128);
    let bucket = |one: &serde_json::Value| {
        // The first bucket has no lower bound, the last may have no upper one.
        let max = one.get("max").and_then(serde_json::Value::as_u64);
        (max.map_or(u64::MAX, |max| max.saturating_add(1)), one.get("count").map_or(0, number))
    };
    all.map(bucket).collect()
}

fn row(key: &str, mut sums: Sums, kind: ProfileKind) -> Row {
    sums.buckets.sort_unstable();
    let count = sums.buckets.iter().fold(0_u64, |sum, (_, count)| sum.saturating_add(*count));
    Row {
        name: name(key, kind),
        count,
        failed: sums.failed,
        total_ns: sums.total_ns,
        p50_below_ns: below(&sums.buckets, count, 0.5),
        p99_below_ns: below(&sums.buckets, count, 0.99),
    }
}

/// The bound below which a share of the times lies.
fn below(buckets: &[(u64, u64)], count: u64, share: f64) -> u64 {
    let wanted = (count as f64 * share).ceil() as u64;
    let mut seen = 0_u64;
    let reached = buckets.iter().find(|(_, count)| {
        seen = seen.saturating_add(*count);
        seen >= wanted
    });
    reached.map_or(0, |(bound, _)| *bound)
}

fn name(key: &str, kind: ProfileKind) -> Vec<String> {
    match kind {
        ProfileKind::Syscalls => vec!["system calls".to_owned(), syscall(key)],
        ProfileKind::OffCpu => {
            // A thread's name may have a comma; a state has none.
            let (thread, state) = key.rsplit_once(',').unwrap_or((key, ""));
            vec![clean(thread), state_words(state.trim()).to_owned()]
        }
        _ => vec!["connect".to_owned(), format!("to port {}", clean(key))],
    }
}

/// The name of a system call on this machine.
fn syscall(key: &str) -> String {
    let known = key.parse().ok().and_then(syscalls::Sysno::new);
    known.map_or_else(|| format!("system call {}", clean(key)), |known| known.name().to_owned())
}

fn state_words(state: &str) -> &'static str {
    match state {
        "0" => "waiting for a CPU",
        "1" => "sleeping",
        "2" => "in the kernel, not to be woken",
        _ => "stopped or ending",
    }
}

impl Trace {
    /// As folded stacks with the total times.
    #[must_use]
    pub fn folded(&self, unit: ProfileUnit) -> Folded {
        let mut folded = Folded::new(unit);
        for row in &self.rows {
            folded.add(&row.name.iter().map(String::as_str).collect::<Vec<_>>(), row.total_ns);
        }
        folded
    }

    /// As a table.
    #[must_use]
    pub fn table(&self, title: &str) -> String {
        let mut text = format!("{}\n\n", clean(title));
        let _ = writeln!(
            text,
            "{:>10} {:>8} {:>12} {:>12} {:>12} {:>12}  what",
            "count", "failed", "total ms", "mean us", "p50 < us", "p99 < us"
        );
        for row in &self.rows {
            let mean_us = if row.count == 0 { 0.0 } else { row.total_ns as f64 / row.count as f64 / 1e3 };
            let _ = writeln!(
                text,
                "{:>10} {:>8} {:>12.3} {:>12.1} {:>12.1} {:>12.1}  {}",
                row.count,
                row.failed,
                row.total_ns as f64 / 1e6,
                mean_us,
                row.p50_below_ns as f64 / 1e3,
                row.p99_below_ns as f64 / 1e3,
                row.name.join(": ")
            );
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_a_system_call_are_put_together() {
        let text = r#"Lost something
{"type": "attached_probes", "data": {"probes": 6}}
{"type": "map", "data": {"@failed": {"202": 3}}}
{"type": "hist", "data": {"@ns": {"202": [{"min": 1024, "max": 2047, "count": 98}, {"min": 4096, "max": 8191, "count": 2}], "9999": []}}}
{"type": "map", "data": {"@total": {"202": 500000}}}
{"type": "lost_events", "data": {"events": 7}}
"#;
        let trace = read(text.as_bytes(), ProfileKind::Syscalls).unwrap();
        assert_eq!(trace.lost, 7);
        let futex = Row {
            name: vec!["system calls".to_owned(), "futex".to_owned()],
            count: 100,
            failed: 3,
            total_ns: 500_000,
            p50_below_ns: 2048,
            p99_below_ns: 8192,
        };
        assert_eq!(trace.rows[0], futex);
        assert_eq!(trace.rows[1].name[1], "system call 9999");
        assert_eq!(trace.folded(ProfileUnit::ElapsedNs).text(), "system calls;futex 500000\n");
        assert!(
            trace.table("t").contains(
                "100        3        0.500          5.0          2.0          8.2  system calls: futex"
            ),
            "{}",
            trace.table("t")
        );
    }

    #[test]
    fn hostile_thread_names_stay_names() {
        let text =
            r#"{"type": "map", "data": {"@total": {"a,b;c\u001b[2J,1": 5, ",256": 4, ",0": 2, "x": -1}}}"#;
        let trace = read(text.as_bytes(), ProfileKind::OffCpu).unwrap();
        let names: Vec<String> = trace.rows.iter().map(|row| row.name.join("|")).collect();
        assert_eq!(names, ["[unnamed]|waiting for a CPU", "a,b:c [2J|sleeping", "x|stopped or ending"]);
        assert_eq!(trace.rows[0].total_ns, 6, "one row for both states");
        assert!(read(b"ERROR: no\n", ProfileKind::OffCpu).is_err());
    }

    #[test]
    fn each_program_watches_the_parameters() {
        for kind in [ProfileKind::Syscalls, ProfileKind::OffCpu, ProfileKind::Connect] {
            let text = program(kind).unwrap();
            assert!(
                text.contains(&format!("@watched[${PIDS_MAX}]"))
                    && !text.contains(&format!("${}]", PIDS_MAX + 1))
            );
            assert!(text.contains("@ns[") && text.contains("@total["));
        }
        assert_eq!(program(ProfileKind::Cpu), None);
    }
}
