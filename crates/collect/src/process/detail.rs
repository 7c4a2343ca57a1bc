//! What a reading of a process tree shows beyond sums: its busiest threads, how evenly its workers are busy, and what
//! is dear to read and therefore read rarely.
//!
//! Invariants: shares are of threads and processes that both readings saw; what is read rarely is absent in between
//! (memory) or as it was last seen (limits of descriptors).

use super::account::Snapshot;
use super::parse::{self, Name};
use super::tree::ProcessTree;
use super::usage::TreeUsage;
use crate::error::CollectError;
use crate::reading::{Reading, Values};
use crate::source::Comparable;
use crate::text;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Limits and shared memory are read at the first of so many readings.
const RARELY: u64 = 10;
/// Trees with more resident memory are not asked for their share of it: the kernel walks over every page, under a lock
/// that the process itself may need.
const PSS_RSS_BYTES_MAX: u64 = 4 << 30;
/// Threads with a gauge of their own.
pub(super) const TOP: usize = 5;
/// Their names.
pub(super) const TOP_NAMES: [&str; TOP] =
    ["top1_percent", "top2_percent", "top3_percent", "top4_percent", "top5_percent"];

/// Process number and start time, and thread number.
type ThreadKey = (u32, u64, u32);

/// One reading of a tree with all that is published.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Detailed {
    at_ns: u64,
    usage: TreeUsage,
    /// CPU time of each thread.
    threads: BTreeMap<ThreadKey, u64>,
    /// Parent, name and CPU time of each process.
    processes: BTreeMap<(u32, u64), (u32, Name, u64)>,
    fd_limit: Option<u64>,
    pss_bytes: Option<u64>,
}

/// Reads a tree again and again.
pub(super) struct Details {
    proc: PathBuf,
    tree: ProcessTree,
    readings: u64,
    fd_limit: Option<u64>,
}

impl Details {
    pub(super) fn new(proc: &Path, tree: ProcessTree) -> Self {
        Self { proc: proc.to_owned(), tree, readings: 0, fd_limit: None }
    }

    pub(super) fn tree(&mut self) -> &mut ProcessTree {
        &mut self.tree
    }

    pub(super) fn read(&mut self) -> Result<Detailed, CollectError> {
        let at = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        let (usage, snapshots) = self.tree.observe()?;
        let mut pss_bytes = None;
        if self.readings.is_multiple_of(RARELY) {
            self.fd_limit = self.smallest_fd_limit(&snapshots);
            let is_shared = usage.processes > 1 && usage.rss_bytes <= PSS_RSS_BYTES_MAX;
            pss_bytes = if is_shared { self.pss_bytes(&snapshots) } else { None };
        }
        self.readings += 1;
        let processes = snapshots.iter().filter_map(|snapshot| {
            let key = (snapshot.pid, snapshot.stat.start_ticks);
            Some((key, (snapshot.stat.parent, snapshot.name, self.tree.cpu_ns(key)?)))
        });
        Ok(Detailed {
            at_ns: at.tv_sec.unsigned_abs() * 1_000_000_000 + at.tv_nsec.unsigned_abs(),
            usage,
            threads: snapshots.iter().flat_map(threads).collect(),
            processes: processes.collect(),
            fd_limit: self.fd_limit,
            pss_bytes,
        })
    }

    fn smallest_fd_limit(&self, snapshots: &[Snapshot]) -> Option<u64> {
        let limits = snapshots.iter().filter_map(|snapshot| {
            parse::limit_of_files(&text::read_optional(&self.proc.join(format!("{}/limits", snapshot.pid)))?)
        });
        limits.min()
    }

    /// Nothing where one process cannot be read: a sum without it would be too low.
    fn pss_bytes(&self, snapshots: &[Snapshot]) -> Option<u64> {
        let living = snapshots.iter().filter(|snapshot| !snapshot.stat.zombie);
        living
            .map(|snapshot| {
                let path = self.proc.join(format!("{}/smaps_rollup", snapshot.pid));
                match text::read_parsed(&path, parse::pss_bytes) {
                    Err(error) if text::is_vanished(&error) => Some(0),
                    other => other.ok(),
                }
            })
            .try_fold(0_u64, |sum, bytes| Some(sum.saturating_add(bytes?)))
            .filter(|bytes| *bytes > 0)
    }
}

fn threads(snapshot: &Snapshot) -> impl Iterator<Item = (ThreadKey, u64)> + '_ {
    let (pid, start) = (snapshot.pid, snapshot.stat.start_ticks);
    let threads = snapshot.threads.iter().flatten();
    threads.filter_map(move |thread| Some(((pid, start, thread.tid), thread.sched?.run_ns)))
}

impl Comparable for Detailed {
    fn gauges(&self, previous: Option<&Self>) -> Values {
        let mut values = Reading::from(self.usage).gauges(None);
        let mut add = |name: &str, value: Option<f64>| {
            values.extend(value.map(|value| (name.to_owned(), value)));
        };
        add("fd_limit", self.fd_limit.map(|limit| limit as f64));
        add("pss_bytes", self.pss_bytes.map(|bytes| bytes as f64));
        if let Some(previous) = previous {
            add("processes_busy_cv", self.unevenness(previous));
            let shares = self.busiest_threads(previous);
            add("busiest_thread_percent", shares.first().copied());
            for (name, share) in TOP_NAMES.into_iter().zip(shares) {
                add(name, Some(share));
            }
        }
        values
    }

    fn deltas(&self, previous: &Self) -> Values {
        crate::reading::delta(&Reading::from(previous.usage), &Reading::from(self.usage))
    }
}

impl Detailed {
    /// Shares of one core of the busiest threads, falling.
    fn busiest_threads(&self, previous: &Self) -> Vec<f64> {
        let elapsed = self.at_ns.saturating_sub(previous.at_ns);
        if elapsed == 0 {
            return Vec::new();
        }
        let rise = |(key, now): (&ThreadKey, &u64)| now.checked_sub(*previous.threads.get(key)?);
        let mut rises: Vec<u64> = self.threads.iter().filter_map(rise).collect();
        rises.sort_unstable_by(|a, b| b.cmp(a));
        rises.truncate(TOP);
        // Threads are read a little after the clock was, so that one may seem to use more than a core.
        rises.into_iter().map(|rise| (rise as f64 / elapsed as f64 * 100.0).min(100.0)).collect()
    }

    /// Coefficient of variation of the CPU time of the workers: the processes with one parent and one name, two or
    /// more; where there are several such families, of the one that used most. The master is not one of them.
    fn unevenness(&self, previous: &Self) -> Option<f64> {
        let mut families: BTreeMap<(u32, Name), Vec<f64>> = BTreeMap::new();
        for (key, (parent, name, now)) in &self.processes {
            let Some((_, _, before)) = previous.processes.get(key) else { continue };
            families.entry((*parent, *name)).or_default().push(now.saturating_sub(*before) as f64);
        }
        let sum = |family: &Vec<f64>| family.iter().sum::<f64>();
        let family = families
            .into_values()
            .filter(|family| family.len() > 1)
            .max_by(|a, b| sum(a).total_cmp(&sum(b)))?;
        let mean = sum(&family) / family.len() as f64;
        let variance = family.iter().map(|used| (used - mean).powi(2)).sum::<f64>() / family.len() as f64;
        (mean > 0.0).then(|| variance.sqrt() / mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn family(used_ms: &[u64], parent: u32) -> Detailed {
        let name = |parent| parse::name(if parent == 1 { b"1 (master) S" } else { b"2 (worker) S" });
        let processes = used_ms.iter().enumerate().map(|(at, used)| {
            let parent = if at == 0 { 1 } else { parent };
            ((at as u32, 0), (parent, name(parent), used * MS))
        });
        Detailed { processes: processes.collect(), ..Detailed::default() }
    }

    #[test]
    fn uneven_workers_show_and_the_master_does_not_count() {
        let before = family(&[0, 0, 0, 0], 7);
        let cv = |used: &[u64]| family(used, 7).gauges(Some(&before)).get("processes_busy_cv").copied();
        assert_eq!(cv(&[0, 100, 100, 100]), Some(0.0));
        assert!((cv(&[500, 300, 0, 0]).unwrap() - 2_f64.sqrt()).abs() < 1e-12);
        assert_eq!(cv(&[500, 0, 0, 0]), None, "idle workers have no unevenness");
        let single = family(&[0, 100], 7);
        assert_eq!(single.unevenness(&family(&[0, 0], 7)), None, "one worker compares with none");
    }

    #[test]
    fn the_busiest_threads_are_told_by_share_of_a_core() {
        let of = |at_ms: u64, used: &[(u32, u64)]| Detailed {
            at_ns: at_ms * MS,
            threads: used.iter().map(|(tid, ms)| ((1, 0, *tid), ms * MS)).collect(),
            ..Detailed::default()
        };
        let before = of(0, &[(1, 0), (2, 10), (3, 0), (4, 0), (5, 0), (6, 0)]);
        let now = of(1_000, &[(1, 100), (2, 960), (3, 1), (4, 0), (5, 3), (6, 2), (9, 5_000)]);
        let gauges = now.gauges(Some(&before));
        assert_eq!((gauges["busiest_thread_percent"], gauges["top1_percent"]), (95.0, 95.0));
        assert_eq!((gauges["top2_percent"], gauges["top5_percent"]), (10.0, 0.1));
        assert_eq!(of(1_000, &[(1, 1_001)]).busiest_threads(&before), [100.0]);
        assert!(of(0, &[(1, 5)]).busiest_threads(&before).is_empty(), "no time went by");
        assert!(!now.gauges(None).contains_key("busiest_thread_percent"));
    }

    #[test]
    fn this_process_has_a_limit_of_files() {
        let roots = crate::Roots::default();
        let mut details = Details::new(&roots.proc, ProcessTree::new(&roots, std::process::id()));
        let first = details.read().unwrap();
        let own = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        assert_eq!(first.fd_limit, own);
        let second = details.read().unwrap();
        assert_eq!(second.fd_limit, own, "kept between two readings");
        assert!(second.pss_bytes.is_none());
        assert!(second.usage.minor_faults >= first.usage.minor_faults && first.usage.minor_faults > 0);
    }
}
