//! The helper of the themes' tests, and the whole report on hosts with nothing and with everything.

use super::*;
use schema::doctor::{Fact, Severity};
use std::collections::BTreeSet;

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
    let report = doctor(&Roots { proc: empty.path().join("proc"), sys: empty.path().join("sys") });
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
    host.steal
    host.load
    memory.available
    memory.swap
    memory.thp
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
    cgroup.abilities
    cgroup.cpu_quota
    cgroup.memory_limit
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
    for id in ["cpu.cores", "host.steal", "memory.available", "net.port_range", "limits.descriptors"] {
        let fact = report.facts.iter().find(|fact| fact.id == id).unwrap();
        assert!(fact.value.is_some(), "{fact:?}");
    }
}
