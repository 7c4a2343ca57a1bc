//! `target.holdings`: what the target's processes hold that can run out, from `/proc/PID/fd` (proc(5)).
//!
//! | key | kind | meaning |
//! |---|---|---|
//! | `descriptors` | gauge | open descriptors of the process that has most: the limit is each process's own |
//! | `sockets` | gauge | descriptors of all processes that are sockets |
//!
//! Each descriptor is looked at, so this is for rare ticks: with more than [`LINKS_MAX`] the sockets are absent.
//! The tree is followed to its next root when the target is started again.

use crate::Roots;
use crate::error::CollectError;
use crate::process::ProcessTree;
use crate::process::followed::RootPid;
use crate::reading::Reading;
use crate::source::{Differencing, Source};
use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;

/// Name of the source.
pub const NAME: &str = "target.holdings";
/// Most descriptors that are looked at in one tick: some 20 ms.
pub const LINKS_MAX: usize = 16_384;

/// What the processes hold now. A process that ends meanwhile holds nothing.
#[must_use]
pub fn read(roots: &Roots, pids: impl Iterator<Item = u32>) -> Reading {
    let (mut most, mut sockets, mut seen) = (0_u64, 0_u64, 0_usize);
    for pid in pids {
        let Some((descriptors, of_them)) = descriptors(&roots.proc.join(format!("{pid}/fd")), &mut seen)
        else {
            continue;
        };
        most = most.max(descriptors);
        sockets += of_them;
    }
    let mut reading = Reading::default();
    if most > 0 {
        reading.gauges.insert("descriptors", most as f64);
    }
    if seen <= LINKS_MAX && most > 0 {
        reading.gauges.insert("sockets", sockets as f64);
    }
    reading
}

/// All descriptors in a folder, and how many of them are sockets as long as not too many were `seen`.
fn descriptors(folder: &Path, seen: &mut usize) -> Option<(u64, u64)> {
    let (mut all, mut sockets) = (0, 0);
    for entry in fs::read_dir(folder).ok()?.flatten() {
        all += 1;
        *seen += 1;
        let is_socket =
            |link: std::path::PathBuf| link.to_str().is_some_and(|text| text.starts_with("socket:"));
        if *seen <= LINKS_MAX && fs::read_link(entry.path()).is_ok_and(is_socket) {
            sockets += 1;
        }
    }
    Some((all, sockets))
}

/// The source for whatever process `root` names at each tick.
#[must_use]
pub fn source(roots: &Roots, root: RootPid) -> Box<dyn Source> {
    let roots = roots.clone();
    let mut tree: Option<(u32, ProcessTree)> = None;
    Box::new(Differencing::new(NAME, move || {
        let pid = root.load(Ordering::Relaxed);
        let (_, tree) = match &mut tree {
            Some(known) if known.0 == pid => known,
            other => other.insert((pid, ProcessTree::new(&roots, pid))),
        };
        tree.read()?;
        let reading = read(&roots, tree.pids());
        if reading.gauges.is_empty() { Err(CollectError::Gone { pid }) } else { Ok(reading) }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use units::Nanos;

    #[test]
    fn descriptors_and_sockets_of_this_process_are_counted() {
        let pid = std::process::id();
        let gauge = |name: &str| read(&Roots::default(), std::iter::once(pid)).gauge(name).unwrap();
        let before = (gauge("descriptors"), gauge("sockets"));
        let held: Vec<TcpListener> = (0..40).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        let after = (gauge("descriptors"), gauge("sockets"));
        // Other tests of this process open and close a few meanwhile.
        assert!((after.0 - before.0 - 40.0).abs() < 20.0, "{before:?} {after:?}");
        assert!((after.1 - before.1 - 40.0).abs() < 20.0, "{before:?} {after:?}");
        drop(held);
    }

    #[test]
    fn a_process_that_is_gone_gives_a_gap() {
        assert!(read(&Roots::default(), std::iter::once(u32::MAX)).gauges.is_empty());
        let mut source = source(&Roots::default(), RootPid::new(u32::MAX.into()));
        assert!(source.tick(Nanos(1)).is_err());
    }

    #[test]
    fn a_fixture_is_read_without_the_links_that_cannot_be() {
        let folder = tempfile::tempdir().unwrap();
        let roots = Roots { proc: folder.path().to_owned(), sys: folder.path().to_owned() };
        fs::create_dir_all(folder.path().join("5/fd")).unwrap();
        fs::create_dir_all(folder.path().join("6/fd")).unwrap();
        std::os::unix::fs::symlink("socket:[1]", folder.path().join("5/fd/0")).unwrap();
        std::os::unix::fs::symlink("/dev/null", folder.path().join("5/fd/1")).unwrap();
        fs::write(folder.path().join("6/fd/0"), "").unwrap();
        let reading = read(&roots, [5, 6, 7].into_iter());
        assert_eq!((reading.gauge("descriptors"), reading.gauge("sockets")), (Some(2.0), Some(1.0)));
    }
}
