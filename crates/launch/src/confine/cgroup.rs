//! Control groups of one target: v2 where it has the controllers, else the v1 hierarchies.
//!
//! Invariants: a group is made below prony's own one (v1) or below its nearest parent that has the controller enabled
//! (v2, where a group with processes cannot pass controllers on), so limits of the surroundings keep binding; nothing
//! that exists already is changed; every limit is read back.
//! Absent on purpose: enabling controllers in groups of others (`cgroup.subtree_control` is the host's).

use super::name::Owner;
use super::{Wanted, node};
use crate::pin;
use schema::limits::{Confinement, LimitsPlan};
use schema::said;
use schema::said::Said;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

/// Period of the CPU quota (METHOD §9: 100 ms is what containers have).
const PERIOD_US: u64 = 100_000;
/// The kernel rounds a memory limit to pages, of at most 64 KiB.
const PAGE_BYTES_MAX: u64 = 64 << 10;
/// A group whose last process was just reaped may be busy for a moment.
const REMOVE_TIMEOUT: Duration = Duration::from_secs(2);
const REMOVE_PAUSE: Duration = Duration::from_millis(5);

/// Where the kernel's files are; other places are given in tests.
#[derive(Clone, Debug)]
pub(super) struct Roots {
    pub(super) proc: PathBuf,
    pub(super) cgroup: PathBuf,
}

impl Default for Roots {
    fn default() -> Self {
        Self { proc: PathBuf::from("/proc"), cgroup: PathBuf::from("/sys/fs/cgroup") }
    }
}

/// The groups that were made, by controller.
#[derive(Debug, Default)]
pub(super) struct Groups {
    folders: BTreeMap<&'static str, PathBuf>,
    name: String,
}

/// The version of the mounted hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    V1,
    V2,
}

impl Roots {
    fn version(&self) -> Version {
        if self.cgroup.join("cgroup.controllers").is_file() { Version::V2 } else { Version::V1 }
    }

    /// Path of prony's own group for a controller, from `/proc/self/cgroup` (lines `id:controllers:path`, id 0 is v2).
    fn own(&self, controller: &str, version: Version) -> Option<String> {
        let text = fs::read_to_string(self.proc.join("self/cgroup")).ok()?;
        path_of(&text, controller, version)
    }

    /// Folders under which groups of prony may be: own ones and their parents.
    pub(super) fn lineage(&self, controller: &str) -> Vec<PathBuf> {
        let version = self.version();
        let mount = match version {
            Version::V1 => self.cgroup.join(controller),
            Version::V2 => self.cgroup.clone(),
        };
        let own = self.own(controller, version).unwrap_or_default();
        let relative: PathBuf =
            Path::new(&own).components().filter(|part| matches!(part, Component::Normal(_))).collect();
        let leads_out = Path::new(&own).components().any(|part| part == Component::ParentDir);
        let innermost = if leads_out { mount.clone() } else { mount.join(relative) };
        let inside = innermost.ancestors().take_while(|folder| folder.starts_with(&mount));
        inside.filter(|folder| folder.is_dir()).map(Path::to_path_buf).collect()
    }

    /// The folder in which a group with this controller is made.
    fn parent(&self, controller: &str) -> Result<PathBuf, String> {
        let folders = self.lineage(controller);
        let parent = match self.version() {
            Version::V1 => folders.into_iter().next(),
            Version::V2 => folders.into_iter().find(|folder| passes_on(folder, controller)),
        };
        let parent = parent.ok_or_else(|| format!("no control group with the controller {controller}"))?;
        // Two controllers may share one hierarchy behind links.
        parent.canonicalize().map_err(|error| format!("{}: {error}", parent.display()))
    }
}

fn path_of(text: &str, controller: &str, version: Version) -> Option<String> {
    text.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (id, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let fits = match version {
            Version::V2 => id == "0" && controllers.is_empty(),
            Version::V1 => controllers.split(',').any(|one| one == controller),
        };
        fits.then(|| path.to_owned())
    })
}

/// Whether groups made in this folder have the controller (v2).
fn passes_on(folder: &Path, controller: &str) -> bool {
    fs::read_to_string(folder.join("cgroup.subtree_control"))
        .is_ok_and(|text| text.split_ascii_whitespace().any(|one| one == controller))
}

impl Groups {
    /// Makes the groups that the limits need and sets them; what fails becomes a weakness and has no group.
    pub(super) fn make(roots: &Roots, owner: &Owner, wanted: &Wanted, held: &mut Confinement) -> Self {
        let mut groups = Self { folders: BTreeMap::new(), name: owner.to_string() };
        let limits = &wanted.limits;
        if limits.is_none() {
            return groups;
        }
        groups.add(roots, "cpu", limits.cpus.is_some(), held, |folder, held| match limits.cpus {
            Some(cpus) => set_quota(folder, cpus).map(|read| held.cpus = Some(read)),
            None => Ok(()),
        });
        // Usage is in cpu.stat with v2; with v1 it has a hierarchy of its own, which is only ever extra.
        if roots.version() == Version::V1 {
            groups.add(roots, "cpuacct", false, held, |_, _| Ok(()));
        }
        let wants_memory = limits.memory_bytes.is_some() || limits.swap == Some(false);
        if wants_memory {
            groups.add(roots, "memory", true, held, |folder, held| set_memory(folder, limits, held));
        }
        if let Some(cpus) = &wanted.cpus {
            groups.add(roots, "cpuset", false, held, |folder, held| set_cpus(folder, cpus, held));
        }
        groups.check_memory(limits, held);
        held.groups = groups
            .folders
            .iter()
            .map(|(name, folder)| ((*name).to_owned(), folder.display().to_string()))
            .collect();
        groups
    }

    /// Makes one group and sets it up. A failure is reported where it was `asked` for, else where setting up fails.
    fn add(
        &mut self,
        roots: &Roots,
        controller: &'static str,
        asked: bool,
        held: &mut Confinement,
        set: impl FnOnce(&Path, &mut Confinement) -> Result<(), String>,
    ) {
        let made = roots.parent(controller).and_then(|parent| {
            let folder = parent.join(&self.name);
            match fs::create_dir(&folder) {
                Ok(()) => Ok(folder),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(folder),
                Err(error) => Err(format!("{}: {error}", folder.display())),
            }
        });
        let outcome = made.and_then(|folder| {
            self.folders.insert(controller, folder.clone());
            set(&folder, held)
        });
        if let Err(cause) = outcome {
            let is_shared =
                |folder: &PathBuf| self.folders.values().filter(|other| *other == folder).count() > 1;
            if let Some(folder) = self.folders.get(controller).cloned() {
                if !is_shared(&folder) {
                    let _ = fs::remove_dir(&folder);
                }
                self.folders.remove(controller);
            }
            if asked {
                held.weaknesses.push(weakness(controller, cause.into()));
            }
        }
    }

    /// A limit beside what was asked for is reported.
    fn check_memory(&self, limits: &LimitsPlan, held: &mut Confinement) {
        if let (Some(asked), Some(read)) = (limits.memory_bytes, held.memory_bytes)
            && asked.abs_diff(read) > PAGE_BYTES_MAX
        {
            held.weaknesses.push(said!(
                "weakness.memory_limit",
                "the memory limit is {read} bytes where {asked} were asked for",
                read,
                asked
            ));
        }
    }

    /// Each folder once.
    pub(super) fn folders(&self) -> Vec<PathBuf> {
        let mut folders: Vec<PathBuf> = self.folders.values().cloned().collect();
        folders.sort();
        folders.dedup();
        folders
    }

    /// Controllers in whose group the process is not.
    pub(super) fn outside(&self, roots: &Roots, pid: u32) -> Vec<&'static str> {
        let text = fs::read_to_string(roots.proc.join(pid.to_string()).join("cgroup")).unwrap_or_default();
        let version = roots.version();
        let is_in = |controller: &str| {
            path_of(&text, controller, version)
                .is_some_and(|path| path.rsplit('/').next() == Some(self.name.as_str()))
        };
        self.folders.keys().copied().filter(|controller| !is_in(controller)).collect()
    }

    /// Processes killed because the memory limit was reached; absent without a group of memory.
    pub(super) fn oom_kills(&self) -> Option<u64> {
        let folder = self.folders.get("memory")?;
        // v2, then v1; both have lines `name number`.
        ["memory.events", "memory.oom_control"].iter().find_map(|file| {
            let text = fs::read_to_string(folder.join(file)).ok()?;
            text.lines().find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok())
        })
    }

    /// Changes the quota of the group that has one; as read back, in CPUs.
    pub(super) fn set_cpus(&self, cpus: f64) -> Result<f64, String> {
        match self.folders.get("cpu") {
            Some(folder) => set_quota(folder, cpus),
            None => Err("the target has no control group with a CPU quota".to_owned()),
        }
    }

    /// Removes all groups, waiting a moment for those that are still busy; names those that stay.
    pub(super) fn remove(self) -> Vec<String> {
        self.folders().iter().filter_map(|folder| remove_group(folder).err()).collect()
    }
}

/// Removes one group, and those that its processes made below it.
pub(super) fn remove_group(folder: &Path) -> Result<(), String> {
    let deadline = Instant::now() + REMOVE_TIMEOUT;
    loop {
        for below in fs::read_dir(folder).into_iter().flatten().flatten() {
            if below.file_type().is_ok_and(|kind| kind.is_dir()) {
                remove_group(&below.path())?;
            }
        }
        match fs::remove_dir(folder) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) if Instant::now() >= deadline => {
                return Err(format!("control group {}: {error}", folder.display()));
            }
            Err(_) => std::thread::sleep(REMOVE_PAUSE),
        }
    }
}

fn weakness(controller: &str, cause: Said) -> Said {
    match controller {
        "cpu" => said!(
            "weakness.no_quota",
            "the CPU quota could not be set, so the target may use whole CPUs: {cause}",
            cause
        ),
        "memory" => said!(
            "weakness.no_memory_limit",
            "the memory limit could not be set, so the target may use all memory: {cause}",
            cause
        ),
        _ => said!("weakness.no_group", "a control group could not be made: {cause}", cause),
    }
}

fn write(folder: &Path, file: &str, value: &str) -> Result<(), String> {
    fs::write(folder.join(file), value)
        .map_err(|error| format!("cannot write {value} to {}: {error}", folder.join(file).display()))
}

fn read(folder: &Path, file: &str) -> Result<String, String> {
    fs::read_to_string(folder.join(file))
        .map(|text| text.trim().to_owned())
        .map_err(|error| format!("cannot read {}: {error}", folder.join(file).display()))
}

fn has(folder: &Path, file: &str) -> bool {
    folder.join(file).is_file()
}

/// Sets the quota and returns it as read back, in CPUs.
fn set_quota(folder: &Path, cpus: f64) -> Result<f64, String> {
    let quota_us = (cpus * PERIOD_US as f64).round() as u64;
    let (quota, period) = if has(folder, "cpu.max") {
        write(folder, "cpu.max", &format!("{quota_us} {PERIOD_US}"))?;
        let text = read(folder, "cpu.max")?;
        let (quota, period) = text.split_once(' ').ok_or_else(|| format!("cpu.max is `{text}`"))?;
        (quota.to_owned(), period.to_owned())
    } else {
        write(folder, "cpu.cfs_period_us", &PERIOD_US.to_string())?;
        write(folder, "cpu.cfs_quota_us", &quota_us.to_string())?;
        (read(folder, "cpu.cfs_quota_us")?, read(folder, "cpu.cfs_period_us")?)
    };
    let number = |text: &str| text.parse::<u64>().map_err(|_| format!("the quota reads back as `{text}`"));
    let (quota, period) = (number(&quota)?, number(&period)?);
    if (quota, period) != (quota_us, PERIOD_US) {
        return Err(format!("the quota reads back as {quota} of {period} µs"));
    }
    Ok(quota as f64 / period as f64)
}

/// Sets limit and swap; records both as read back.
fn set_memory(folder: &Path, limits: &LimitsPlan, held: &mut Confinement) -> Result<(), String> {
    let is_v2 = has(folder, "memory.max");
    let file = if is_v2 { "memory.max" } else { "memory.limit_in_bytes" };
    if let Some(bytes) = limits.memory_bytes {
        write(folder, file, &bytes.to_string())?;
        let text = read(folder, file)?;
        held.memory_bytes = Some(text.parse().map_err(|_| format!("{file} reads back as `{text}`"))?);
    }
    if limits.swap == Some(false) {
        match forbid_swap(folder, is_v2, held.memory_bytes) {
            Ok(()) => held.swap = Some(false),
            Err(cause) => {
                let cause = Said::from(cause);
                held.weaknesses.push(said!(
                    "weakness.swap",
                    "swapping could not be forbidden: {cause}",
                    cause
                ));
            }
        }
    } else {
        held.swap = limits.swap;
    }
    Ok(())
}

/// v2 has a limit of swap; v1 has one of memory and swap together, and an inclination of which 0 means "only to avoid
/// running out".
fn forbid_swap(folder: &Path, is_v2: bool, limit: Option<u64>) -> Result<(), String> {
    if is_v2 {
        write(folder, "memory.swap.max", "0")?;
        return expect(folder, "memory.swap.max", "0");
    }
    write(folder, "memory.swappiness", "0")?;
    expect(folder, "memory.swappiness", "0")?;
    let Some(limit) = limit.filter(|_| has(folder, "memory.memsw.limit_in_bytes")) else { return Ok(()) };
    write(folder, "memory.memsw.limit_in_bytes", &limit.to_string())?;
    expect(folder, "memory.memsw.limit_in_bytes", &limit.to_string())
}

fn expect(folder: &Path, file: &str, wanted: &str) -> Result<(), String> {
    let found = read(folder, file)?;
    if found == wanted { Ok(()) } else { Err(format!("{file} reads back as `{found}`")) }
}

/// Binds the group to CPUs and, where the host has several memory nodes, to theirs. The affinity of each process says
/// the same of CPUs, but the process may widen that itself.
fn set_cpus(folder: &Path, cpus: &[u32], held: &mut Confinement) -> Result<(), String> {
    let list = pin::list(cpus);
    write(folder, "cpuset.cpus", &list)?;
    expect(folder, "cpuset.cpus", &list)?;
    let all = node::online(&node::system());
    let nodes = if all.len() > 1 { node::of_cpus(&node::system(), cpus) } else { all.clone() };
    // v1 takes no process before its nodes are set; v2 inherits them.
    let parent = folder.parent().unwrap_or(folder);
    let mems = if nodes.is_empty() { read(parent, "cpuset.mems")? } else { pin::list(&nodes) };
    write(folder, "cpuset.mems", &mems)?;
    expect(folder, "cpuset.mems", &mems)?;
    held.cpu_set = Some(list);
    held.memory_nodes = (all.len() > 1).then_some(mems);
    Ok(())
}

#[cfg(test)]
#[path = "cgroup_tests.rs"]
mod tests;
