//! A network namespace without a name, and work done inside one.
//!
//! Invariant: the file keeps the namespace alive; no thread stays in it.

use super::join::enter_network;
use super::tool;
use rustix::thread::UnshareFlags;
use std::fs::{self, File};
use std::net::Ipv4Addr;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A namespace that lives while this does, or while a process is in it.
pub(super) struct Space {
    file: File,
}

impl Space {
    /// Makes one, with its loopback device up, from a thread that ends at once.
    #[expect(
        deprecated,
        reason = "rustix warns of sharing file descriptors, which a network namespace does not touch"
    )]
    pub(super) fn make() -> Result<Self, String> {
        let made = std::thread::spawn(|| {
            rustix::thread::unshare(UnshareFlags::NEWNET)
                .map_err(|error| format!("cannot make a network namespace: {error}"))?;
            tool::run("ip", "link set dev lo up", "")?;
            File::open("/proc/thread-self/ns/net")
                .map_err(|error| format!("cannot hold the namespace: {error}"))
        });
        let lost = Err("the thread that makes the namespace was lost".to_owned());
        made.join().unwrap_or(lost).map(|file| Self { file })
    }

    /// A path by which any process of this host opens the namespace while its owner lives.
    pub(super) fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd()))
    }

    /// Whether a process is inside.
    pub(super) fn holds(&self, pid: u32) -> bool {
        let of_process = fs::metadata(format!("/proc/{pid}/ns/net")).map(|facts| facts.ino());
        let own = self.file.metadata().map(|facts| facts.ino());
        matches!((of_process, own), (Ok(a), Ok(b)) if a == b)
    }
}

/// One end of a pair of devices.
#[derive(Clone, Debug)]
pub(super) struct End {
    /// Where it is; the host's own network where absent.
    pub(super) namespace: Option<PathBuf>,
    /// Its name there.
    pub(super) device: String,
    /// Its address, in a network of four.
    pub(super) address: Ipv4Addr,
}

impl End {
    pub(super) fn new(namespace: Option<PathBuf>, device: &str, address: Ipv4Addr) -> Self {
        Self { namespace, device: device.to_owned(), address }
    }

    /// Does `work` where this end is.
    pub(super) fn within<T: Send>(
        &self,
        work: impl FnOnce() -> Result<T, String> + Send,
    ) -> Result<T, String> {
        match &self.namespace {
            Some(path) => within(path, work),
            None => work(),
        }
    }

    /// Gives the device its address and takes it up, without addresses of IPv6 and so without traffic that nobody
    /// asked for.
    pub(super) fn take_up(&self) -> Result<(), String> {
        let (device, address) = (&self.device, self.address);
        self.within(|| {
            ip(&format!("link set dev {device} addrgenmode none"))?;
            ip(&format!("addr add {address}/30 dev {device}"))?;
            ip(&format!("link set dev {device} up"))
        })
    }

    /// Makes a pair of virtual devices of this end and another.
    pub(super) fn join(&self, other: &Self) -> Result<(), String> {
        let peer = match &other.namespace {
            Some(path) => format!(" netns {}", path.display()),
            // `ip` runs in the other end's namespace here, and the host's is that of the first process.
            None => format!(" netns /proc/{}/ns/net", std::process::id()),
        };
        let (own, peer) = (&self.device, format!("peer name {}{peer}", other.device));
        self.within(|| ip(&format!("link add {own} type veth {peer}")))?;
        self.take_up()?;
        other.take_up()
    }

    /// Removes the device, and with it its partner, where it is there.
    pub(super) fn remove(&self) -> Result<(), String> {
        self.within(|| ip(&format!("link delete dev {}", self.device)))
    }

    /// Removes a device of the host's network, and names it where it stays. One in another network goes with that.
    pub(super) fn clear(&self) -> Option<String> {
        let is_there = || Path::new("/sys/class/net").join(&self.device).exists();
        if self.namespace.is_some() || !is_there() {
            return None;
        }
        let cause = self.remove().err()?;
        is_there().then(|| format!("network device {}: {cause}", self.device))
    }
}

/// Runs `ip`, of which only the success matters.
pub(super) fn ip(words: &str) -> Result<(), String> {
    tool::run("ip", words, "").map(drop)
}

/// Does `work` on a thread inside the namespace; what it starts is inside, too.
pub(super) fn within<T: Send>(
    path: &Path,
    work: impl FnOnce() -> Result<T, String> + Send,
) -> Result<T, String> {
    let work = || enter_network(path).and_then(|()| work());
    std::thread::scope(|scope| {
        scope
            .spawn(work)
            .join()
            .unwrap_or_else(|_| Err("the thread inside the namespace was lost".to_owned()))
    })
}
