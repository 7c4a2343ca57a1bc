//! The control groups of a process: `/proc/PID/cgroup` says which (cgroups(7)), `/proc/self/mountinfo` where they are to
//! be seen (proc(5)).
//!
//! Invariants: only folders that exist are given; v2 stands for all controllers that v1 has not taken.
//! In a container the path may lead out of what is mounted; then the mount itself is the nearest group to be seen.

use super::Groups;
use crate::error::ParseError;
use crate::{Roots, text};
use std::path::{Component, Path, PathBuf};

/// The controllers that are read.
const CONTROLLERS: [&str; 5] = ["cpu", "cpuacct", "memory", "io", "blkio"];
/// Most mounts that are looked at; hosts with many containers have thousands.
const MOUNTS_MAX: usize = 20_000;

/// A group as `/proc/PID/cgroup` has it: its controllers (none for v2) and its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    controllers: Vec<String>,
    path: String,
}

/// A mounted hierarchy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// The controllers of a v1 hierarchy; `None` for v2.
    controllers: Option<Vec<String>>,
    /// The group that is mounted.
    root: String,
    at: PathBuf,
}

/// Parses `/proc/PID/cgroup`; lines `id:controllers:path`.
///
/// # Errors
/// Where it is no text or has no group.
pub fn parse_memberships(bytes: &[u8]) -> Result<Vec<Membership>, ParseError> {
    let groups: Vec<Membership> = text::utf8(bytes)?
        .lines()
        .filter_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            let (controllers, path) = (parts.next()?, parts.next()?);
            let controllers = controllers.split(',').filter(|name| !name.is_empty()).map(str::to_owned);
            Some(Membership { controllers: controllers.collect(), path: path.to_owned() })
        })
        .collect();
    if groups.is_empty() { Err(ParseError::Missing("a control group")) } else { Ok(groups) }
}

/// Parses `/proc/self/mountinfo` for hierarchies of groups: `36 35 98:0 /root /at opts - cgroup2 name super-opts`.
///
/// # Errors
/// Where it is no text.
pub fn parse_mounts(bytes: &[u8]) -> Result<Vec<Mount>, ParseError> {
    let mount = |line: &str| {
        let (place, kind) = line.split_once(" - ")?;
        let mut place = place.split(' ').skip(3);
        let (root, at) = (unescaped(place.next()?), unescaped(place.next()?));
        let mut kind = kind.split(' ');
        let controllers = match kind.next()? {
            "cgroup2" => None,
            "cgroup" => Some(kind.nth(1)?.split(',').map(str::to_owned).collect()),
            _ => return None,
        };
        Some(Mount { controllers, root, at: PathBuf::from(at) })
    };
    Ok(text::utf8(bytes)?.lines().take(MOUNTS_MAX).filter_map(mount).collect())
}

/// mountinfo writes blanks, tabs, line ends and backslashes as three octal digits.
fn unescaped(text: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .into_iter()
        .fold(text.to_owned(), |text, (code, sign)| text.replace(code, sign))
}

/// The folder of each controller that is read.
#[must_use]
pub fn folders(memberships: &[Membership], mounts: &[Mount]) -> Groups {
    let folder = |controller: &str| {
        let v1 = memberships.iter().find(|group| group.controllers.iter().any(|name| name == controller));
        let has_controller =
            |mount: &&Mount| mount.controllers.iter().flatten().any(|name| name == controller);
        if let Some(group) = v1 {
            return Some(inside(mounts.iter().find(has_controller)?, &group.path));
        }
        let group = memberships.iter().find(|group| group.controllers.is_empty())?;
        Some(inside(mounts.iter().find(|mount| mount.controllers.is_none())?, &group.path))
    };
    CONTROLLERS.iter().filter_map(|name| Some(((*name).to_owned(), folder(name)?))).collect()
}

fn inside(mount: &Mount, path: &str) -> PathBuf {
    let path = Path::new(path);
    let leads_out = path.components().any(|part| part == Component::ParentDir);
    match path.strip_prefix(&mount.root) {
        Ok(relative) if !leads_out => mount.at.join(relative),
        _ => mount.at.clone(),
    }
}

/// The groups of a process that can be read here; none where it is gone or there are none.
#[must_use]
pub fn of_process(roots: &Roots, pid: u32) -> Groups {
    let parsed = |path: PathBuf| text::read_optional(&path);
    let groups = parsed(roots.proc.join(format!("{pid}/cgroup"))).and_then(|b| parse_memberships(&b).ok());
    let mounts = parsed(roots.proc.join("self/mountinfo")).and_then(|b| parse_mounts(&b).ok());
    let mut found = folders(&groups.unwrap_or_default(), &mounts.unwrap_or_default());
    // A hierarchy of v2 beside those of v1 often has no controllers: then there is nothing to read in it.
    found.retain(|controller, folder| is_readable(controller, folder));
    found
}

fn is_readable(controller: &str, folder: &Path) -> bool {
    let files: &[&str] = match controller {
        "cpu" => &["cpu.stat"],
        "cpuacct" => &["cpuacct.usage"],
        "memory" => &["memory.current", "memory.usage_in_bytes"],
        _ => &["io.stat", "blkio.throttle.io_service_bytes_recursive"],
    };
    files.iter().any(|file| folder.join(file).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_files_of_a_host_with_both_versions() {
        let groups = parse_memberships(include_bytes!("../../fixtures/proc/cgroup_v1")).unwrap();
        let mounts = parse_mounts(include_bytes!("../../fixtures/proc/mountinfo")).unwrap();
        assert_eq!(mounts.len(), 10);
        let folders = folders(&groups, &mounts);
        assert!(folders["cpu"].starts_with("/sys/fs/cgroup/cpu"));
        assert!(folders["memory"].starts_with("/sys/fs/cgroup/memory"));
        assert!(folders["blkio"].starts_with("/sys/fs/cgroup/blkio"));
        let here = of_process(&Roots::default(), std::process::id());
        assert!(here.values().all(|folder| folder.is_dir()), "{here:?}");
        assert!(of_process(&Roots::default(), 1 << 30).is_empty());
    }

    #[test]
    fn version_2_serves_all_controllers_and_containers_see_their_mount() {
        let mounts =
            parse_mounts(b"30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n").unwrap();
        let of = |path: &str| {
            let text = format!("0::{path}\n");
            folders(&parse_memberships(text.as_bytes()).unwrap(), &mounts)["memory"].clone()
        };
        assert_eq!(of("/system.slice/a.service"), Path::new("/sys/fs/cgroup/system.slice/a.service"));
        assert_eq!(of("/../../other"), Path::new("/sys/fs/cgroup"));
        let bound =
            parse_mounts(b"30 23 0:26 /docker/7 /a\\040b rw - cgroup cgroup rw,cpu,cpuacct\n").unwrap();
        let groups = parse_memberships(b"4:cpu,cpuacct:/docker/7/x\n").unwrap();
        assert_eq!(folders(&groups, &bound)["cpuacct"], Path::new("/a b/x"));
        let outside = parse_memberships(b"4:cpu,cpuacct:/other\n").unwrap();
        assert_eq!(folders(&outside, &bound)["cpu"], Path::new("/a b"));
    }

    #[test]
    fn hostile_texts_give_no_groups() {
        assert!(parse_memberships(b"").is_err());
        assert!(parse_memberships(b"1:cpu\n").is_err());
        assert!(parse_memberships(b"\xff").is_err());
        assert!(parse_mounts(b"\xff").is_err());
        for text in
            [&b" - cgroup2"[..], b"1 2 3 - cgroup2 x", b"1 2 3 / /x - cgroup", b"1 2 3 / /x - ext4 y z"]
        {
            assert_eq!(parse_mounts(text), Ok(Vec::new()), "{text:?}");
        }
    }
}
