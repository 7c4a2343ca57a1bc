//! The helper of the themes' tests, and the whole report on hosts with nothing and with everything.

use super::*;
use schema::doctor::{Fact, Severity};
use std::collections::BTreeSet;
use std::fs;
use tempfile::TempDir;

/// A host of our own making: trees of files in the places of `/proc` and `/sys`.
pub(super) struct Planted {
    pub(super) roots: Roots,
    _folder: TempDir,
}

impl Planted {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let roots = Roots { proc: folder.path().join("proc"), sys: folder.path().join("sys") };
        Self { roots, _folder: folder }
    }

    pub(super) fn proc(&self, path: &str, text: &str) {
        put(&self.roots.proc.join(path), text);
    }

    pub(super) fn sys(&self, path: &str, text: &str) {
        put(&self.roots.sys.join(path), text);
    }

    /// A path with its root: `proc/…` or `sys/…`.
    pub(super) fn put(&self, path: &str, text: &str) {
        match path.split_once('/').unwrap() {
            ("proc", path) => self.proc(path, text),
            ("sys", path) => self.sys(path, text),
            _ => panic!("{path}"),
        }
    }

    /// All facts, with these two readings of `/proc/stat` a second apart.
    pub(super) fn facts(&self, before: &str, after: &str) -> Vec<Fact> {
        let moment = |stat: &str| Moment {
            stat: (!stat.is_empty()).then(|| stat.as_bytes().to_vec()),
            processes: busiest::snapshot(&self.roots),
        };
        facts(&self.roots, &moment(before), &moment(after), Duration::from_secs(1), None)
    }
}

fn put(path: &std::path::Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Severity and a part of the value; and that whatever needs doing comes with a remedy.
pub(super) fn check(fact: &Fact, severity: Severity, value_part: Option<&str>) {
    assert_eq!(fact.severity, severity, "{fact:?}");
    match (value_part, &fact.value) {
        (Some(part), Some(value)) => assert!(value.contains(part), "{fact:?} lacks {part}"),
        (None, None) => assert_eq!(fact.severity, Severity::Note, "what is unknown is no more than a note"),
        _ => panic!("{fact:?}, wanted value {value_part:?}"),
    }
    if fact.value.is_some() {
        assert_eq!(
            fact.remedy.is_some(),
            severity > Severity::Ok,
            "a remedy where something is to do: {fact:?}"
        );
    }
}

#[test]
fn a_host_that_tells_nothing_has_notes_without_values() {
    let empty = tempfile::tempdir().unwrap();
    let mut report = doctor(&Roots { proc: empty.path().join("proc"), sys: empty.path().join("sys") });
    report.facts.extend(timing(&[]));
    for fact in &report.facts {
        check(fact, Severity::Note, None);
    }
    let ids: Vec<&str> = report.facts.iter().map(|fact| fact.id.as_str()).collect();
    insta::assert_snapshot!(ids.join("\n"), @r"
    cpu.cores
    cpu.model
    cpu.frequency
    cpu.governor
    cpu.turbo
    cpu.smt
    cpu.numa
    host.virtualisation
    cpu.mitigations
    cpu.microcode
    host.steal
    host.load
    host.busiest
    memory.available
    memory.swap
    memory.swappiness
    memory.thp
    memory.proactive_reclaim
    net.somaxconn
    net.syn_backlog
    net.port_range
    net.tw_reuse
    net.fin_timeout
    net.slow_start_after_idle
    net.congestion_control
    kernel.version
    kernel.clock_source
    limits.descriptors
    limits.file_max
    kernel.clock_sync
    cgroup.abilities
    cgroup.cpu_quota
    cgroup.memory_limit
    cpu.speed
    host.timing
    ");
}

#[test]
fn this_host_has_values_effects_and_unique_names() {
    let report = doctor(&Roots::default());
    let ids: BTreeSet<&str> = report.facts.iter().map(|fact| fact.id.as_str()).collect();
    assert_eq!(ids.len(), report.facts.len());
    for fact in &report.facts {
        assert!(!fact.title.is_empty() && !fact.effect.is_empty(), "{fact:?}");
    }
    for id in [
        "cpu.cores",
        "host.steal",
        "host.busiest",
        "memory.available",
        "net.port_range",
        "limits.descriptors",
    ] {
        let fact = report.facts.iter().find(|fact| fact.id == id).unwrap();
        assert!(fact.value.is_some(), "{fact:?}");
    }
}

/// `fact | file | good | bad | severity of the bad`: the path from a file of the kernel to a fact, for each fact that
/// one file decides; those with more files, and the judges' finer steps, have tests beside them.
const TREES: &[(&str, &str, &str, &str, Severity)] = &[
    (
        "cpu.cores",
        "proc/self/status",
        "Cpus_allowed_list:\t0-7\n",
        "Cpus_allowed_list:\t3\n",
        Severity::Problem,
    ),
    ("cpu.frequency", "proc/cpuinfo", "cpu MHz : 3000\n", "cpu MHz : 1500\ncpu MHz : 3500\n", Severity::Note),
    (
        "cpu.governor",
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
        "performance\n",
        "powersave\n",
        Severity::Warning,
    ),
    ("cpu.turbo", "sys/devices/system/cpu/intel_pstate/no_turbo", "1\n", "0\n", Severity::Note),
    ("cpu.turbo", "sys/devices/system/cpu/cpufreq/boost", "0\n", "1\n", Severity::Note),
    ("cpu.smt", "sys/devices/system/cpu/smt/active", "0\n", "1\n", Severity::Note),
    ("cpu.numa", "sys/devices/system/node/online", "0\n", "0-1\n", Severity::Note),
    ("host.virtualisation", "proc/cpuinfo", "flags : fpu\n", "flags : fpu hypervisor\n", Severity::Note),
    (
        "cpu.mitigations",
        "sys/devices/system/cpu/vulnerabilities/mds",
        "Mitigation: Clear CPU buffers\n",
        "Vulnerable\n",
        Severity::Note,
    ),
    (
        "cpu.microcode",
        "proc/cpuinfo",
        "microcode : 0x1\n",
        "microcode : 0x1\nmicrocode : 0x2\n",
        Severity::Warning,
    ),
    (
        "memory.available",
        "proc/meminfo",
        "MemTotal: 9 kB\nMemAvailable: 8 kB\n",
        "MemTotal: 99 kB\nMemAvailable: 1 kB\n",
        Severity::Warning,
    ),
    (
        "memory.swap",
        "proc/meminfo",
        "SwapTotal: 0 kB\nSwapFree: 0 kB\n",
        "SwapTotal: 9 kB\nSwapFree: 1 kB\n",
        Severity::Warning,
    ),
    ("memory.swappiness", "proc/sys/vm/swappiness", "1\n", "60\n", Severity::Note),
    (
        "memory.thp",
        "sys/kernel/mm/transparent_hugepage/enabled",
        "always [madvise] never\n",
        "[always] madvise never\n",
        Severity::Note,
    ),
    ("net.somaxconn", "proc/sys/net/core/somaxconn", "4096\n", "128\n", Severity::Warning),
    ("net.syn_backlog", "proc/sys/net/ipv4/tcp_max_syn_backlog", "4096\n", "128\n", Severity::Warning),
    (
        "net.port_range",
        "proc/sys/net/ipv4/ip_local_port_range",
        "1024\t65535\n",
        "60000\t60999\n",
        Severity::Warning,
    ),
    ("net.tw_reuse", "proc/sys/net/ipv4/tcp_tw_reuse", "2\n", "0\n", Severity::Note),
    ("net.fin_timeout", "proc/sys/net/ipv4/tcp_fin_timeout", "60\n", "120\n", Severity::Note),
    (
        "net.slow_start_after_idle",
        "proc/sys/net/ipv4/tcp_slow_start_after_idle",
        "0\n",
        "1\n",
        Severity::Note,
    ),
    (
        "net.congestion_control",
        "proc/sys/net/ipv4/tcp_congestion_control",
        "cubic\n",
        "bbr\n",
        Severity::Note,
    ),
    ("kernel.version", "proc/sys/kernel/osrelease", "6.12.1\n", "5.10.0\n", Severity::Note),
    (
        "kernel.clock_source",
        "sys/devices/system/clocksource/clocksource0/current_clocksource",
        "tsc\n",
        "hpet\n",
        Severity::Warning,
    ),
    (
        "limits.descriptors",
        "proc/self/limits",
        "Max open files  1048576  1048576  files\n",
        "Max open files  1024  1024  files\n",
        Severity::Warning,
    ),
    ("limits.file_max", "proc/sys/fs/file-max", "1000000\n", "8192\n", Severity::Warning),
];

#[test]
fn a_planted_file_decides_its_fact() {
    for (id, file, good, bad, severity) in TREES {
        let of = |text: Option<&str>| {
            let host = Planted::new();
            text.inspect(|text| host.put(file, text));
            host.facts("", "").into_iter().find(|fact| fact.id == *id).unwrap()
        };
        assert_eq!(of(Some(good)).severity, Severity::Ok, "{id}");
        assert!(of(Some(good)).value.is_some(), "{id}");
        check(&of(Some(bad)), *severity, Some(""));
        check(&of(None), Severity::Note, None);
        check(&of(Some("\u{0}\u{ff}")), Severity::Note, None);
    }
}

#[test]
fn steal_and_load_come_from_two_readings() {
    let host = Planted::new();
    host.proc("loadavg", "0.10 0 0 1/9 1\n");
    let stat = |user: u64, idle: u64, steal: u64| {
        format!("cpu {user} 0 0 {idle} 0 0 0 {steal}\ncpu0 0 0 0 0\ncpu1 0 0 0 0\n")
    };
    let of = |id: &str, after: &str| {
        let facts = host.facts(&stat(0, 0, 0), after);
        facts.into_iter().find(|fact| fact.id == id).unwrap()
    };
    check(&of("host.steal", &stat(2, 198, 0)), Severity::Ok, Some("0.0 % now"));
    check(&of("host.steal", &stat(2, 178, 20)), Severity::Problem, Some("10.0 % now"));
    check(&of("host.load", &stat(2, 198, 0)), Severity::Ok, Some("1 % of CPU"));
    check(&of("host.load", &stat(150, 50, 0)), Severity::Problem, Some("75 % of CPU"));
    check(&of("host.load", ""), Severity::Note, None);
}
