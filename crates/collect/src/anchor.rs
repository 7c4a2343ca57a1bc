//! A network namespace of which files are read: a thread that stays in it, because `/proc/net` shows the network of
//! whoever is looked at (proc(5)), and the generator's own namespace has no process in it between two loads.
//!
//! Invariant: the thread does nothing and ends with the last of those that need it.

use crate::Roots;
use crate::local_ports::parse_ports;
use rustix::thread::{LinkNameSpaceType, gettid, move_into_link_name_space};
use std::fs::{self, File};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};

/// A namespace of the generator's that is held open for reading.
#[derive(Debug)]
pub(crate) struct Anchor {
    /// Where it is entered.
    pub(crate) namespace: PathBuf,
    /// How many local ports it has, as read inside.
    pub(crate) ports: Option<u32>,
    thread: i32,
    /// Dropped, it ends the thread.
    _end: Sender<()>,
}

impl Anchor {
    /// Enters the namespace.
    pub(crate) fn enter(namespace: &Path) -> std::io::Result<Self> {
        let (tell, told) = channel();
        let (end, ended) = channel::<()>();
        let file = File::open(namespace)?;
        std::thread::Builder::new().name("prony-anchor".to_owned()).spawn(move || {
            let entered = move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network));
            drop(file);
            // What is below /proc/sys/net is that of the reader.
            let range = fs::read("/proc/sys/net/ipv4/ip_local_port_range").ok();
            let ports = range.and_then(|bytes| parse_ports(&bytes).ok());
            let _ = tell.send(entered.map(|()| (gettid().as_raw_nonzero().get(), ports)));
            let _ = ended.recv();
        })?;
        let lost = || std::io::Error::other("the thread inside the namespace was lost");
        let (thread, ports) = told.recv().map_err(|_| lost())??;
        Ok(Self { namespace: namespace.to_owned(), ports, thread, _end: end })
    }

    /// The roots as a thread inside sees its network.
    pub(crate) fn roots(&self, roots: &Roots) -> Roots {
        let proc = roots.proc.join(format!("self/task/{}", self.thread));
        Roots { proc, sys: roots.sys.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_files_are_those_of_the_namespace() {
        // prony's own, which needs no rights where a user namespace allows to enter it; else this is said.
        let anchor = match Anchor::enter(Path::new("/proc/self/ns/net")) {
            Ok(anchor) => anchor,
            Err(error) => return println!("skipped here: {error}"),
        };
        let there = crate::tcp_snmp::read(&anchor.roots(&Roots::default())).unwrap();
        assert!(there.gauge("CurrEstab").is_some());
        assert!(anchor.ports.unwrap() > 1_000);
        assert!(Anchor::enter(Path::new("/nonexistent")).is_err());
    }
}
