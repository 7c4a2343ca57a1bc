//! From snapshots of a process tree to totals that never go backwards. Pure.
//!
//! CPU time of one process has two witnesses. The sum of its threads' `run_ns` is exact but forgets what a thread did
//! between the last reading and its end. utime + stime remembers ended threads but is cut to whole ticks, each of the
//! two by less than one. So the total is the sum of the threads, held within [ticks, ticks + 2).
//!
//! A child that ended between two readings is found again in the cutime and cstime of the process that waited for it:
//! their increase, less what was already counted of the processes that vanished, is added.

use super::parse::{Name, ProcessStat, SchedStat, Status, Switches};
use super::usage::TreeUsage;
use std::collections::{BTreeMap, BTreeSet};

/// One process as it was read. The number alone may be reused; with the start time it is one process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Snapshot {
    pub(super) pid: u32,
    pub(super) name: Name,
    pub(super) stat: ProcessStat,
    /// Absent where threads could not be read this time.
    pub(super) threads: Option<Vec<ThreadSnapshot>>,
    pub(super) fds: Option<u64>,
}

/// One thread as it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ThreadSnapshot {
    pub(super) tid: u32,
    pub(super) sched: Option<SchedStat>,
    pub(super) status: Status,
}

/// Lengths that the files give in other units.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    pub(super) tick_ns: u64,
    pub(super) page_bytes: u64,
}

/// Process number and start time.
type Key = (u32, u64);

/// Time in user mode and in the kernel.
#[derive(Clone, Copy, Debug, Default)]
struct UserSystem {
    user_ticks: u64,
    system_ticks: u64,
}

/// Page faults.
#[derive(Clone, Copy, Debug, Default)]
struct Faults {
    minor: u64,
    major: u64,
}

/// Totals of one process.
#[derive(Clone, Debug, Default)]
struct Member {
    cpu_ns: u64,
    faults: Faults,
    own: UserSystem,
    children: UserSystem,
    threads: BTreeMap<u32, (SchedStat, Switches)>,
    /// Threads that ended.
    ended: (SchedStat, Switches),
}

/// Totals of several processes.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    cpu_ns: u64,
    faults: Faults,
    times: UserSystem,
    threads: (SchedStat, Switches),
}

/// The memory of a tree.
#[derive(Clone, Debug)]
pub(super) struct Account {
    scale: Scale,
    /// Whether children that were waited for count.
    counts_reaped: bool,
    members: BTreeMap<Key, Member>,
    /// Totals of what has left the tree, and of ended children that were never seen.
    past: Sums,
}

impl Account {
    pub(super) fn new(scale: Scale) -> Self {
        Self { scale, counts_reaped: true, members: BTreeMap::new(), past: Sums::default() }
    }

    pub(super) fn ignore_reaped(&mut self) {
        self.counts_reaped = false;
    }

    /// The processes that were there at the last reading.
    pub(super) fn known(&self) -> impl Iterator<Item = Key> + '_ {
        self.members.keys().copied()
    }

    /// CPU time of one process of the last reading.
    pub(super) fn cpu_ns(&self, key: Key) -> Option<u64> {
        self.members.get(&key).map(|member| member.cpu_ns)
    }

    /// Takes a new reading of the whole tree and gives the totals.
    pub(super) fn absorb(&mut self, snapshots: &[Snapshot]) -> TreeUsage {
        let vanished = self.retire_missing(snapshots);
        let mut reaped = UserSystem::default();
        for snapshot in snapshots {
            let member = self.members.entry((snapshot.pid, snapshot.stat.start_ticks)).or_default();
            reaped.add(member.update(snapshot, self.scale));
        }
        if self.counts_reaped {
            let unseen = reaped.less(vanished);
            self.past.times.add(unseen);
            self.past.cpu_ns = self.past.cpu_ns.saturating_add(unseen.ns(self.scale));
        }
        self.total(snapshots)
    }

    /// Moves members that are not in the snapshots to the past; gives what was already counted of them.
    fn retire_missing(&mut self, snapshots: &[Snapshot]) -> UserSystem {
        let present: BTreeSet<Key> = snapshots.iter().map(|s| (s.pid, s.stat.start_ticks)).collect();
        let (kept, gone): (BTreeMap<Key, Member>, BTreeMap<Key, Member>) =
            std::mem::take(&mut self.members).into_iter().partition(|(key, _)| present.contains(key));
        self.members = kept;
        let mut vanished = UserSystem::default();
        for member in gone.values() {
            self.past.add(member);
            vanished.add(member.own);
            vanished.add(member.children);
        }
        vanished
    }

    fn total(&self, snapshots: &[Snapshot]) -> TreeUsage {
        let mut sums = self.past;
        self.members.values().for_each(|member| sums.add(member));
        let living = || snapshots.iter().filter(|snapshot| !snapshot.stat.zombie);
        let sum = |of: &dyn Fn(&Snapshot) -> u64| living().fold(0, |sum: u64, s| sum.saturating_add(of(s)));
        // A sum that lacks a process or a thread would be too low, so it is absent then.
        let all_threads = |have: fn(&ThreadSnapshot) -> bool| {
            living().all(|s| s.threads.as_ref().is_some_and(|threads| threads.iter().all(have)))
        };
        let (sched, switches) = sums.threads;
        TreeUsage {
            cpu_ns: sums.cpu_ns,
            user_ns: sums.times.user_ticks.saturating_mul(self.scale.tick_ns),
            system_ns: sums.times.system_ticks.saturating_mul(self.scale.tick_ns),
            minor_faults: sums.faults.minor,
            major_faults: sums.faults.major,
            run_delay_ns: all_threads(|thread| thread.sched.is_some()).then_some(sched.delay_ns),
            voluntary_switches: all_threads(|_| true).then_some(switches.voluntary),
            involuntary_switches: all_threads(|_| true).then_some(switches.involuntary),
            rss_bytes: sum(&|s| s.resident_bytes(self.scale)),
            threads: sum(&|s| s.stat.threads),
            processes: living().count() as u64,
            disk_waits: all_threads(|thread| thread.status.waits_for_disk.is_some()).then(|| {
                let waits = |thread: &&ThreadSnapshot| thread.status.waits_for_disk == Some(true);
                sum(&|s| s.threads.iter().flatten().filter(waits).count() as u64)
            }),
            fds: living().try_fold(0, |sum: u64, s| Some(sum.saturating_add(s.fds?))),
        }
    }
}

impl Snapshot {
    /// `status` is exact on newer kernels, `stat` is off by up to some MiB on hosts with many cores.
    fn resident_bytes(&self, scale: Scale) -> u64 {
        let exact = self.threads.iter().flatten().find_map(|thread| thread.status.rss_bytes);
        exact.unwrap_or_else(|| self.stat.rss_pages.saturating_mul(scale.page_bytes))
    }
}

impl Member {
    /// Takes the values of a new reading; gives the increase of what its waited-for children used.
    fn update(&mut self, snapshot: &Snapshot, scale: Scale) -> UserSystem {
        let stat = &snapshot.stat;
        if let Some(threads) = &snapshot.threads {
            self.update_threads(threads);
        }
        self.faults.minor = self.faults.minor.max(stat.minor_faults);
        self.faults.major = self.faults.major.max(stat.major_faults);
        self.own.user_ticks = self.own.user_ticks.max(stat.user_ticks);
        self.own.system_ticks = self.own.system_ticks.max(stat.system_ticks);
        let least_ns = self.own.ns(scale);
        let most_ns = least_ns.saturating_add(2 * scale.tick_ns - 1);
        // Without schedstat the sum of the threads is zero and the ticks decide.
        self.cpu_ns = self.cpu_ns.max(self.thread_sum().0.run_ns.clamp(least_ns, most_ns));

        let children =
            UserSystem { user_ticks: stat.children_user_ticks, system_ticks: stat.children_system_ticks };
        let increase = children.less(self.children);
        self.children = children;
        increase
    }

    fn update_threads(&mut self, threads: &[ThreadSnapshot]) {
        let mut before = std::mem::take(&mut self.threads);
        for thread in threads {
            let last = before.remove(&thread.tid).unwrap_or_default();
            let now = (thread.sched.unwrap_or(last.0), thread.status.switches);
            if now.0.run_ns < last.0.run_ns || now.1.voluntary < last.1.voluntary {
                // Another thread has the number of one that ended.
                accumulate(&mut self.ended, last);
            }
            self.threads.insert(thread.tid, now);
        }
        before.into_values().for_each(|last| accumulate(&mut self.ended, last));
    }

    fn thread_sum(&self) -> (SchedStat, Switches) {
        let mut sum = self.ended;
        self.threads.values().for_each(|thread| accumulate(&mut sum, *thread));
        sum
    }
}

impl Sums {
    fn add(&mut self, member: &Member) {
        self.cpu_ns = self.cpu_ns.saturating_add(member.cpu_ns);
        self.faults.minor = self.faults.minor.saturating_add(member.faults.minor);
        self.faults.major = self.faults.major.saturating_add(member.faults.major);
        self.times.add(member.own);
        accumulate(&mut self.threads, member.thread_sum());
    }
}

impl UserSystem {
    fn add(&mut self, other: Self) {
        self.user_ticks = self.user_ticks.saturating_add(other.user_ticks);
        self.system_ticks = self.system_ticks.saturating_add(other.system_ticks);
    }

    fn ns(self, scale: Scale) -> u64 {
        self.user_ticks.saturating_add(self.system_ticks).saturating_mul(scale.tick_ns)
    }

    fn less(self, other: Self) -> Self {
        Self {
            user_ticks: self.user_ticks.saturating_sub(other.user_ticks),
            system_ticks: self.system_ticks.saturating_sub(other.system_ticks),
        }
    }
}

fn accumulate(sum: &mut (SchedStat, Switches), more: (SchedStat, Switches)) {
    sum.0.run_ns = sum.0.run_ns.saturating_add(more.0.run_ns);
    sum.0.delay_ns = sum.0.delay_ns.saturating_add(more.0.delay_ns);
    sum.1.voluntary = sum.1.voluntary.saturating_add(more.1.voluntary);
    sum.1.involuntary = sum.1.involuntary.saturating_add(more.1.involuntary);
}

#[cfg(test)]
mod tests;
