//! The fact which programs compete for the cores: the busiest processes between two readings of `/proc/PID/stat`.
//!
//! Invariants: names of processes are untrusted and lose their control characters; prony itself is left out.
//! Absent on purpose: processes that began or ended between the readings, which only the whole host's load shows.

use super::fact::{About, Judgement};
use crate::process::parse;
use crate::{Roots, text};
use schema::doctor::{Bearing, Fact, Severity};
use schema::said;
use schema::said::{Joint, Said};
use std::collections::BTreeMap;
use std::time::Duration;

/// More processes than this are not looked at.
const PROCESSES_MAX: usize = 32_768;
/// How many are named.
const NAMED_MAX: usize = 3;
/// Cores that one process takes, from which it is named, and from which it is a warning.
const NAMED_CORES: f64 = 0.05;
const WARNING_CORES: f64 = 0.50;

const BUSIEST: About = About {
    id: "host.busiest",
    title: || said!("fact.host_busiest.title", "Busiest processes"),
    bearing: Bearing::Moment,
    effect: || {
        said!(
            "fact.host_busiest.effect",
            "these programs take the cores' time and caches from target and generator"
        )
    },
};

/// The processes at one moment.
pub(super) type Snapshot = BTreeMap<u32, Process>;

/// A process's name and what it has used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Process {
    name: String,
    start_ticks: u64,
    ticks: u64,
}

/// Reads all processes but this one; nothing where there is no proc file system.
pub(super) fn snapshot(roots: &Roots) -> Option<Snapshot> {
    let own = std::process::id();
    let entries = std::fs::read_dir(&roots.proc).ok()?;
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let found: Snapshot = pids
        .filter(|pid| *pid != own)
        .take(PROCESSES_MAX)
        .filter_map(|pid| {
            Some((pid, process(&text::read_optional(&roots.proc.join(format!("{pid}/stat")))?)?))
        })
        .collect();
    (!found.is_empty()).then_some(found)
}

/// The name stands between the first and the last bracket.
fn process(stat: &[u8]) -> Option<Process> {
    let parsed = parse::stat(stat).ok()?;
    let line = String::from_utf8_lossy(stat);
    let name = line.get(line.find('(')? + 1..line.rfind(')')?)?;
    Some(Process {
        name: name.chars().map(|c| if c.is_control() { '?' } else { c }).collect(),
        start_ticks: parsed.start_ticks,
        ticks: parsed.user_ticks.saturating_add(parsed.system_ticks),
    })
}

pub(super) fn fact(before: Option<&Snapshot>, after: Option<&Snapshot>, between: Duration) -> Fact {
    BUSIEST.fact(judge(before, after, between, text::tick_ns()))
}

fn judge(
    before: Option<&Snapshot>,
    after: Option<&Snapshot>,
    between: Duration,
    tick_ns: u64,
) -> Option<Judgement> {
    let (before, after) = (before?, after?);
    if between.is_zero() {
        return None;
    }
    let cores = |pid: &u32, now: &Process| {
        let then = before.get(pid).filter(|then| then.start_ticks == now.start_ticks)?;
        let used_ns = now.ticks.saturating_sub(then.ticks).saturating_mul(tick_ns);
        Some(used_ns as f64 / between.as_nanos() as f64)
    };
    let mut busy: Vec<(f64, u32, &str)> = after
        .iter()
        .filter_map(|(pid, now)| Some((cores(pid, now)?, *pid, now.name.as_str())))
        .filter(|(cores, ..)| *cores >= NAMED_CORES)
        .collect();
    busy.sort_by(|a, b| b.0.total_cmp(&a.0));
    let Some((most, ..)) = busy.first() else {
        let none = said!("fact.host_busiest.none", "none takes {least} of a core", least = NAMED_CORES);
        return Some(Judgement::ok(none));
    };
    let severity = if *most >= WARNING_CORES { Severity::Warning } else { Severity::Note };
    let named: Vec<Said> = busy
        .iter()
        .take(NAMED_MAX)
        .map(|(cores, pid, name)| {
            let cores = format!("{cores:.2}");
            said!("fact.host_busiest.process", "{name} (process {pid}) takes {cores} cores", name, pid, cores)
        })
        .collect();
    let others = busy.len() - named.len();
    let named = Said::list(Joint::Comma, named);
    let value = match others {
        0 => named,
        _ => said!("fact.host_busiest.more", "{named}, and {others} more", named, others),
    };
    let remedy =
        said!("fact.host_busiest.remedy", "stop them, or wait for their end, then run prony doctor again");
    Some(Judgement::of(severity, value, remedy))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Planted, check};
    use super::*;
    use Severity::{Note, Ok, Warning};

    const TICK_NS: u64 = 10_000_000;

    fn stat(pid: u32, name: &str, ticks: u64, start: u64) -> String {
        format!("{pid} ({name}) R 1 1 1 0 -1 0 0 0 0 0 {ticks} 0 0 0 20 0 1 0 {start} 0 0 0\n")
    }

    /// Processes with these ticks.
    fn host(processes: &[(u32, &str, u64, u64)]) -> Option<Snapshot> {
        let planted = Planted::new();
        for (pid, name, ticks, start) in processes {
            planted.proc(&format!("{pid}/stat"), &stat(*pid, name, *ticks, *start));
        }
        snapshot(&planted.roots)
    }

    fn of(before: &[(u32, &str, u64, u64)], after: &[(u32, &str, u64, u64)]) -> Fact {
        let (before, after) = (host(before), host(after));
        BUSIEST.fact(judge(before.as_ref(), after.as_ref(), Duration::from_secs(1), TICK_NS))
    }

    #[test]
    fn the_busiest_are_named_in_order() {
        check(&of(&[(7, "idle", 5, 1)], &[(7, "idle", 6, 1)]), Ok, Some("none takes"));
        check(
            &of(&[(7, "a b) c", 5, 1)], &[(7, "a b) c", 15, 1)]),
            Note,
            Some("a b) c (process 7) takes 0.10"),
        );
        let before = [(1, "one", 0, 1), (2, "two", 0, 1), (3, "three", 0, 1), (4, "four", 0, 1)];
        let after = [(1, "one", 10, 1), (2, "two", 90, 1), (3, "three", 20, 1), (4, "four", 30, 1)];
        let found = of(&before, &after);
        check(&found, Warning, Some("two (process 2) takes 0.90 cores, four"));
        assert!(found.value.unwrap().ends_with("and 1 more"));
    }

    #[test]
    fn a_reused_number_a_strange_name_and_no_process_at_all() {
        check(&of(&[(7, "old", 5, 1)], &[(7, "new", 95, 2)]), Ok, Some("none takes"));
        check(&of(&[(7, "x\u{1b}[2J", 0, 1)], &[(7, "x\u{1b}[2J", 50, 1)]), Warning, Some("x?[2J (process"));
        check(&of(&[], &[]), Note, None);
    }

    #[test]
    fn this_process_is_left_out() {
        let found = host(&[(std::process::id(), "prony", 1, 1), (u32::MAX, "other", 1, 1)]).unwrap();
        assert_eq!(found.into_keys().collect::<Vec<_>>(), [u32::MAX]);
    }
}
