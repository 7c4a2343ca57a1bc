//! The thin read of a process tree: which processes belong to it, and their files.
//!
//! Invariants: a process belongs to the tree if it descends from the root or ever did (a daemon that moved to init
//! stays); children are found by `/proc/PID/task/*/children`, or by the parents of all processes on kernels without
//! it; both can miss a process for a moment, so known members are looked up by number each time; a process that ends
//! while it is read is skipped.

use super::account::{Account, Scale, Snapshot, ThreadSnapshot};
use super::parse::{self, Name, ProcessStat};
use super::usage::TreeUsage;
use crate::error::CollectError;
use crate::{Roots, text};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

/// Most processes that are followed in one tree.
const PROCESSES_MAX: usize = 4096;
/// Most threads of one process that are read one by one; with more, CPU time comes in ticks only.
const THREADS_MAX: usize = 2048;

/// A process and all its descendants, read whenever the caller asks.
#[derive(Debug)]
pub struct ProcessTree {
    proc: PathBuf,
    root: u32,
    except: Vec<u32>,
    account: Account,
    /// Whether the root was ever seen; afterwards its number alone proves nothing, it may be reused.
    begun: bool,
    /// The kernel tells the number of descriptors as the size of `/proc/PID/fd` (since Linux 6.2).
    fd_by_size: bool,
    /// Called between processes: a reading takes long for a core under load.
    pause: fn(),
}

impl ProcessTree {
    /// The tree under process `root`. Nothing is read yet.
    #[must_use]
    pub fn new(roots: &Roots, root: u32) -> Self {
        let scale = Scale { tick_ns: text::tick_ns(), page_bytes: rustix::param::page_size() as u64 };
        let fd_by_size = fs::metadata(roots.proc.join("self/fd")).is_ok_and(|entry| entry.len() > 0);
        Self {
            proc: roots.proc.clone(),
            root,
            except: Vec::new(),
            account: Account::new(scale),
            begun: false,
            fd_by_size,
            pause: || {},
        }
    }

    /// Calls `pause` between the steps of each reading.
    #[must_use]
    pub fn pausing(mut self, pause: fn()) -> Self {
        self.pause = pause;
        self
    }

    /// Leaves out the trees under `except` and their process groups: prony is the parent of its target and its services,
    /// and their work is not the generator's. Children that the root waited for no longer count, since they may be just
    /// those.
    #[must_use]
    pub fn without(mut self, except: Vec<u32>) -> Self {
        self.except = except;
        self.account.ignore_reaped();
        self
    }

    /// Changes what [`ProcessTree::without`] leaves out.
    pub(crate) fn leave_out(&mut self, except: Vec<u32>) {
        self.except = except;
    }

    /// Reads the whole tree once. Only differences between two readings of one `ProcessTree` have a meaning.
    ///
    /// # Errors
    /// Where no live process is left, or a file of a living process cannot be read or understood.
    pub fn read(&mut self) -> Result<TreeUsage, CollectError> {
        self.observe().map(|(usage, _)| usage)
    }

    /// [`ProcessTree::read`] with what it was made of.
    pub(super) fn observe(&mut self) -> Result<(TreeUsage, Vec<Snapshot>), CollectError> {
        let snapshots = self.snapshots()?;
        self.begun |= !snapshots.is_empty();
        let usage = self.account.absorb(&snapshots);
        if usage.processes == 0 {
            return Err(CollectError::Gone { pid: self.root });
        }
        Ok((usage, snapshots))
    }

    /// CPU time of a process of the last reading, by its number and start.
    pub(super) fn cpu_ns(&self, key: (u32, u64)) -> Option<u64> {
        self.account.cpu_ns(key)
    }

    /// The processes that were there at the last reading.
    pub(crate) fn pids(&self) -> impl Iterator<Item = u32> + '_ {
        self.account.known().map(|(pid, _)| pid)
    }

    /// All processes of the tree, breadth first from the root and the known members.
    fn snapshots(&self) -> Result<Vec<Snapshot>, CollectError> {
        let known: BTreeMap<u32, u64> = self.account.known().collect();
        let parents = if self.has_children_files() { None } else { Some(self.children_by_parent()?) };
        let mut waiting: VecDeque<u32> =
            if self.begun { known.keys().copied().collect() } else { VecDeque::from([self.root]) };
        let mut seen: BTreeSet<u32> = waiting.iter().copied().collect();
        // A known number counts only with the same start time; a child that was just found counts as it is.
        let mut discovered: BTreeSet<u32> = if self.begun { BTreeSet::new() } else { seen.clone() };
        let mut snapshots = Vec::new();
        while let Some(pid) = waiting.pop_front() {
            let Some((stat, name)) = self.stat(pid)? else { continue };
            let is_member = known.get(&pid) == Some(&stat.start_ticks) || discovered.contains(&pid);
            if !is_member || self.is_excepted(pid, &stat) {
                continue;
            }
            let folder = self.proc.join(pid.to_string());
            let tids = thread_ids(&folder);
            let children = match &parents {
                Some(parents) => parents.get(&pid).cloned().unwrap_or_default(),
                None => tids.iter().flatten().flat_map(|tid| children(&folder, *tid)).collect(),
            };
            (self.pause)();
            discovered.extend(&children);
            waiting.extend(children.into_iter().filter(|child| seen.insert(*child)));
            if snapshots.len() == PROCESSES_MAX {
                return Err(CollectError::TooManyProcesses { pid: self.root, limit: PROCESSES_MAX });
            }
            let threads =
                tids.filter(|tids| tids.len() <= THREADS_MAX).and_then(|tids| threads(&folder, &tids));
            snapshots.push(Snapshot { pid, name, stat, threads, fds: self.fds(&folder) });
            (self.pause)();
        }
        Ok(snapshots)
    }

    /// Nothing where the process has ended.
    fn stat(&self, pid: u32) -> Result<Option<(ProcessStat, Name)>, CollectError> {
        let both = |bytes: &[u8]| Ok((parse::stat(bytes)?, parse::name(bytes)));
        match text::read_parsed(&self.proc.join(pid.to_string()).join("stat"), both) {
            Ok(stat) => Ok(Some(stat)),
            Err(error) if text::is_vanished(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn is_excepted(&self, pid: u32, stat: &ProcessStat) -> bool {
        self.except.contains(&pid) || self.except.contains(&stat.group)
    }

    fn has_children_files(&self) -> bool {
        self.account
            .known()
            .map(|(pid, _)| pid)
            .chain([self.root])
            .any(|pid| self.proc.join(format!("{pid}/task/{pid}/children")).exists())
    }

    /// Children of every process of the host, for kernels without `children` files.
    fn children_by_parent(&self) -> Result<BTreeMap<u32, Vec<u32>>, CollectError> {
        let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for pid in
            numbers_in(&self.proc).map_err(|source| CollectError::Read { path: self.proc.clone(), source })?
        {
            if let Some((stat, _)) = self.stat(pid)? {
                children.entry(stat.parent).or_default().push(pid);
            }
        }
        Ok(children)
    }

    fn fds(&self, folder: &Path) -> Option<u64> {
        let path = folder.join("fd");
        if self.fd_by_size {
            return Some(fs::metadata(path).ok()?.len());
        }
        Some(fs::read_dir(path).ok()?.count() as u64)
    }
}

/// The numbers of a process's threads; nothing where they cannot be listed.
fn thread_ids(folder: &Path) -> Option<Vec<u32>> {
    numbers_in(&folder.join("task")).ok()
}

/// The children that one thread made; none where it has ended.
fn children(folder: &Path, tid: u32) -> Vec<u32> {
    let bytes = text::read_optional(&folder.join(format!("task/{tid}/children")));
    bytes.and_then(|bytes| parse::children(&bytes).ok()).unwrap_or_default()
}

/// All threads, without those that ended meanwhile. Nothing where one cannot be read for another reason, so that a
/// passing failure is not taken for the end of a thread.
fn threads(folder: &Path, tids: &[u32]) -> Option<Vec<ThreadSnapshot>> {
    let mut threads = Vec::with_capacity(tids.len());
    for tid in tids {
        let task = folder.join("task").join(tid.to_string());
        let status = match text::read_parsed(&task.join("status"), parse::status) {
            Ok(status) => status,
            Err(error) if text::is_vanished(&error) => continue,
            Err(_) => return None,
        };
        let sched = match text::read_parsed(&task.join("schedstat"), parse::schedstat) {
            Ok(sched) => Some(sched),
            // A kernel without CONFIG_SCHED_INFO has no schedstat; else the thread has just ended.
            Err(error) if text::is_vanished(&error) && task.exists() => None,
            Err(error) if text::is_vanished(&error) => continue,
            Err(_) => return None,
        };
        threads.push(ThreadSnapshot { tid: *tid, sched, status });
    }
    Some(threads)
}

/// The entries of a folder whose names are numbers.
fn numbers_in(folder: &Path) -> std::io::Result<Vec<u32>> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(folder)? {
        let Ok(entry) = entry else { continue };
        numbers.extend(entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()));
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests;
