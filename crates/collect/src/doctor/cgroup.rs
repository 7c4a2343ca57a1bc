//! Facts about control groups: whether targets can be confined, and whether prony itself is.
//!
//! Both versions are read: v2 has one folder per group, v1 one per group and controller. Limits of a parent bind its
//! children, so they are looked for from prony's own group upwards and the tightest counts.

use super::fact::{About, Judgement, gib, none, read_text};
use super::memory;
use crate::Roots;
use rustix::fs::Access;
use schema::doctor::{Bearing, Fact};
use schema::said;
use schema::said::Arg;
use std::path::{Component, Path, PathBuf};

/// What confinement needs: CPU quota, CPU sets, memory limit.
const NEEDED: [&str; 3] = ["cpu", "cpuset", "memory"];
/// v1 writes "no limit" as the largest number of pages.
pub(crate) const V1_UNLIMITED_BYTES: u64 = 1 << 62;
/// Below this a limit on prony itself is likely to be reached.
const MEMORY_MIN_BYTES: u64 = 1 << 30;

const ABILITIES: About = About {
    id: "cgroup.abilities",
    title: || said!("fact.cgroup_abilities.title", "Control groups"),
    bearing: Bearing::SomeLoads,
    effect: || {
        said!(
            "fact.cgroup_abilities.effect",
            "without the controllers cpu, cpuset and memory a target cannot be confined to, say, 1 CPU and 2 GiB"
        )
    },
};
const CPU_QUOTA: About = About {
    id: "cgroup.cpu_quota",
    title: || said!("fact.cgroup_cpu_quota.title", "CPU quota on prony itself"),
    bearing: Bearing::Numbers,
    effect: || {
        said!(
            "fact.cgroup_cpu_quota.effect",
            "beyond the quota all threads stop until the next period of usually 100 ms, which shows as latency of the target"
        )
    },
};
const MEMORY_LIMIT: About = About {
    id: "cgroup.memory_limit",
    title: || said!("fact.cgroup_memory_limit.title", "Memory limit on prony itself"),
    bearing: Bearing::SomeLoads,
    effect: || {
        said!(
            "fact.cgroup_memory_limit.effect",
            "targets started by prony share it; beyond it pages are reclaimed and processes killed"
        )
    },
};

/// Where prony's own groups are. `/proc/self/cgroup` has lines `id:controllers:path`, with id 0 for v2.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct OwnGroups {
    /// Path of the v2 group.
    unified: Option<String>,
    /// Controller and path of each v1 group.
    legacy: Vec<(String, String)>,
}

/// What was found about confinement.
#[derive(Debug, PartialEq, Eq)]
struct Abilities {
    version: &'static str,
    /// Controller, and whether this user may make groups with it.
    controllers: Vec<(String, bool)>,
}

pub(super) fn facts(roots: &Roots) -> Vec<Fact> {
    let groups = read_text(roots.proc.join("self/cgroup")).map(|text| own_groups(&text));
    let groups = groups.as_ref();
    let meminfo = read_text(roots.proc.join("meminfo"));
    let total = meminfo.and_then(|text| memory::bytes(&text, "MemTotal"));
    vec![
        ABILITIES
            .fact(groups.map(|groups| judge_abilities(&abilities(&roots.sys.join("fs/cgroup"), groups)))),
        CPU_QUOTA.fact(groups.map(|groups| judge_cpu_quota(cpu_quota(roots, groups)))),
        MEMORY_LIMIT.fact(groups.map(|groups| judge_memory_limit(memory_limit(roots, groups), total))),
    ]
}

pub(crate) fn own_groups(text: &str) -> OwnGroups {
    let mut groups = OwnGroups::default();
    for line in text.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(id), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        if id == "0" && controllers.is_empty() {
            groups.unified = Some(path.to_owned());
        } else {
            groups.legacy.extend(controllers.split(',').map(|one| (one.to_owned(), path.to_owned())));
        }
    }
    groups
}

/// The folders of a group and its parents, innermost first. A path that leads out of what is mounted becomes the mount.
fn lineage(mount: &Path, path: &str) -> Vec<PathBuf> {
    let relative: PathBuf =
        Path::new(path).components().filter(|c| matches!(c, Component::Normal(_))).collect();
    let leads_out = Path::new(path).components().any(|c| c == Component::ParentDir);
    let innermost = if leads_out { mount.to_path_buf() } else { mount.join(relative) };
    innermost.ancestors().take_while(|folder| folder.starts_with(mount)).map(Path::to_path_buf).collect()
}

/// The nearest folder of a group that is visible here: in a container the path may not be.
fn visible(mount: &Path, path: &str) -> Option<PathBuf> {
    lineage(mount, path).into_iter().find(|folder| folder.is_dir())
}

fn abilities(mount: &Path, groups: &OwnGroups) -> Abilities {
    let is_writable = |folder: &Path| rustix::fs::access(folder, Access::WRITE_OK).is_ok();
    if mount.join("cgroup.controllers").is_file() {
        let own = visible(mount, groups.unified.as_deref().unwrap_or("/"));
        let offered =
            own.as_ref().and_then(|own| read_text(own.join("cgroup.controllers"))).unwrap_or_default();
        let writable = own.is_some_and(|own| is_writable(&own));
        let controllers = offered.split_ascii_whitespace().map(|name| (name.to_owned(), writable)).collect();
        return Abilities { version: "v2", controllers };
    }
    let controllers: Vec<(String, bool)> = groups
        .legacy
        .iter()
        .filter_map(|(name, path)| Some((name.clone(), is_writable(&visible(&mount.join(name), path)?))))
        .collect();
    Abilities { version: if controllers.is_empty() { "none" } else { "v1" }, controllers }
}

fn judge_abilities(abilities: &Abilities) -> Judgement {
    let having = |writable: bool| -> Vec<&str> {
        let has = |name: &&str| abilities.controllers.contains(&((*name).to_owned(), writable));
        NEEDED.iter().copied().filter(has).collect()
    };
    let (usable, read_only) = (having(true), having(false));
    if usable.len() == NEEDED.len() {
        return Judgement::ok(said!(
            "fact.cgroup_abilities.usable",
            "{version}: {usable} usable",
            version = abilities.version,
            usable = usable.join(", ")
        ));
    }
    let shown: Arg = if usable.is_empty() { none().into() } else { usable.join(", ").into() };
    let value = said!(
        "fact.cgroup_abilities.usable_of",
        "{version}: {shown} of {needed} usable",
        version = if abilities.controllers.is_empty() { none().into() } else { Arg::from(abilities.version) },
        shown,
        needed = NEEDED.join(", ")
    );
    if read_only.is_empty() {
        return Judgement::warning(
            value,
            said!(
                "fact.cgroup_abilities.remedy_enable",
                "boot with cgroup v2 and enable the controllers in cgroup.subtree_control of the parent"
            ),
        );
    }
    Judgement::warning(
        value,
        said!(
            "fact.cgroup_abilities.remedy_delegate",
            "run as root, or with a delegated group: systemd-run --user --scope -p Delegate=yes prony …"
        ),
    )
}

/// Controllers share a folder in v1 (`cpu,cpuacct`) behind a link of each name.
pub(crate) fn legacy_lineage(roots: &Roots, groups: &OwnGroups, controller: &str) -> Vec<PathBuf> {
    let mount = roots.sys.join("fs/cgroup").join(controller);
    let path = groups.legacy.iter().find(|(name, _)| name == controller).map(|(_, path)| path.as_str());
    path.map(|path| lineage(&mount, path)).unwrap_or_default()
}

pub(crate) fn unified_lineage(roots: &Roots, groups: &OwnGroups) -> Vec<PathBuf> {
    let path = groups.unified.as_deref();
    path.map(|path| lineage(&roots.sys.join("fs/cgroup"), path)).unwrap_or_default()
}

/// The tightest quota in cores.
fn cpu_quota(roots: &Roots, groups: &OwnGroups) -> Option<f64> {
    let v2 = unified_lineage(roots, groups).into_iter().filter_map(|folder| {
        let text = read_text(folder.join("cpu.max"))?;
        let (quota, period) = text.trim().split_once(' ')?;
        cores(quota, period)
    });
    let v1 = legacy_lineage(roots, groups, "cpu").into_iter().filter_map(|folder| {
        let quota = read_text(folder.join("cpu.cfs_quota_us"))?;
        cores(quota.trim(), read_text(folder.join("cpu.cfs_period_us"))?.trim())
    });
    v2.chain(v1).min_by(f64::total_cmp)
}

/// Quota over period; nothing for `max` and -1.
fn cores(quota: &str, period: &str) -> Option<f64> {
    let (quota, period): (u64, u64) = (quota.parse().ok()?, period.parse().ok()?);
    (period > 0).then(|| quota as f64 / period as f64)
}

fn judge_cpu_quota(quota: Option<f64>) -> Judgement {
    match quota {
        None => Judgement::ok(none()),
        Some(cores) => Judgement::warning(
            said!("fact.cgroup_cpu_quota.cores", "{cores} cores", cores = format!("{cores:.2}")),
            said!(
                "fact.cgroup_cpu_quota.remedy",
                "start prony outside the limited group or container; limit the target instead"
            ),
        ),
    }
}

/// The tightest limit in bytes.
fn memory_limit(roots: &Roots, groups: &OwnGroups) -> Option<u64> {
    let v2 = unified_lineage(roots, groups).into_iter().map(|folder| folder.join("memory.max"));
    let v1 = legacy_lineage(roots, groups, "memory")
        .into_iter()
        .map(|folder| folder.join("memory.limit_in_bytes"));
    let limits = v2.chain(v1).filter_map(|file| read_text(file)?.trim().parse().ok());
    limits.filter(|bytes| *bytes < V1_UNLIMITED_BYTES).min()
}

fn judge_memory_limit(limit: Option<u64>, total: Option<u64>) -> Judgement {
    let remedy = said!(
        "fact.cgroup_memory_limit.remedy",
        "raise the limit of prony's group or container, or start prony outside of it"
    );
    match limit {
        Some(bytes) if bytes < MEMORY_MIN_BYTES => Judgement::warning(gib(bytes), remedy),
        Some(bytes) if total.is_none_or(|total| bytes < total) => Judgement::note(gib(bytes), remedy),
        _ => Judgement::ok(none()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::*;
    use schema::doctor::Severity::{Note, Ok, Warning};
    use std::fs;
    use tempfile::TempDir;

    /// A host with these files; paths below `fs/cgroup`, and `/proc/self/cgroup`.
    fn host(own: &str, files: &[(&str, &str)]) -> (TempDir, Roots) {
        let folder = tempfile::tempdir().unwrap();
        let roots = Roots { proc: folder.path().join("proc"), sys: folder.path().join("sys") };
        let put = |path: PathBuf, text: &str| {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put(roots.proc.join("self/cgroup"), own);
        put(roots.proc.join("meminfo"), "MemTotal: 8388608 kB\n");
        for (path, text) in files {
            put(roots.sys.join("fs/cgroup").join(path), text);
        }
        (folder, roots)
    }

    #[test]
    fn version_2() {
        let (_folder, roots) = host(
            "0::/user/prony\n",
            &[
                ("cgroup.controllers", "cpuset cpu io memory pids\n"),
                ("user/prony/cgroup.controllers", "cpuset cpu memory\n"),
                ("user/prony/cpu.max", "max 100000\n"),
                ("user/cpu.max", "150000 100000\n"),
                ("user/prony/memory.max", "max\n"),
                ("user/memory.max", "536870912\n"),
            ],
        );
        let facts = facts(&roots);
        check(&facts[0], Ok, Some("v2: cpu, cpuset, memory usable"));
        check(&facts[1], Warning, Some("1.50 cores"));
        check(&facts[2], Warning, Some("0.5 GiB"));
    }

    #[test]
    fn version_1_without_limits_and_with_the_real_list_of_groups() {
        let (_folder, roots) = host(
            include_str!("../../fixtures/proc/cgroup_v1"),
            &[
                ("cpu/cpu.cfs_quota_us", "-1\n"),
                ("cpu/cpu.cfs_period_us", "100000\n"),
                ("cpuset/cpuset.cpus", "0-1\n"),
                ("memory/memory.limit_in_bytes", "9223372036854771712\n"),
                ("unified/cgroup.controllers", "\n"),
            ],
        );
        let facts = facts(&roots);
        check(&facts[0], Ok, Some("v1: cpu, cpuset, memory usable"));
        check(&facts[1], Ok, Some("none"));
        check(&facts[2], Ok, Some("none"));
        fs::write(roots.sys.join("fs/cgroup/cpu/cpu.cfs_quota_us"), "50000\n").unwrap();
        fs::write(roots.sys.join("fs/cgroup/memory/memory.limit_in_bytes"), "4294967296\n").unwrap();
        let facts = super::facts(&roots);
        check(&facts[1], Warning, Some("0.50 cores"));
        check(&facts[2], Note, Some("4.0 GiB"));
    }

    #[test]
    fn what_cannot_be_used_is_a_warning() {
        let of = |controllers: &[(&str, bool)]| {
            let controllers =
                controllers.iter().map(|(name, writable)| ((*name).to_owned(), *writable)).collect();
            ABILITIES.fact(Some(judge_abilities(&Abilities { version: "v2", controllers })))
        };
        check(&of(&[("cpu", true), ("cpuset", true), ("memory", true)]), Ok, Some("usable"));
        let missing = of(&[("cpu", true), ("memory", true)]);
        check(&missing, Warning, Some("v2: cpu, memory of"));
        assert!(missing.remedy.unwrap().contains("subtree_control"));
        let read_only = of(&[("cpu", false), ("cpuset", false), ("memory", false)]);
        check(&read_only, Warning, Some("none of"));
        assert!(read_only.remedy.unwrap().contains("Delegate"));
        let (_folder, roots) = host("0::/\n", &[]);
        check(&facts(&roots)[0], Warning, Some("none: none of"));
    }

    #[test]
    fn a_path_that_leads_out_of_the_mount_is_not_followed() {
        let mount = Path::new("/sys/fs/cgroup");
        assert_eq!(lineage(mount, "/../../../etc"), [mount]);
        assert_eq!(lineage(mount, "/a/b"), [mount.join("a/b"), mount.join("a"), mount.to_path_buf()]);
    }
}
