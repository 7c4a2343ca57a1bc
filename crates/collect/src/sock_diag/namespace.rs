//! Whose sockets are asked for: prony's own network namespace, or that of a target in an isolated network.

use super::{Answer, Family, Query, TcpSocket, ask, open};
use crate::Roots;
use crate::anchor::Anchor;
use crate::error::CollectError;
use crate::process::followed::RootPid;
use netlink_packet_sock_diag::inet::StateFlags;
use netlink_sys::Socket;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::{self, File};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// A network namespace that can be asked for its sockets.
pub(crate) struct Namespace {
    proc: PathBuf,
    /// Where it is entered, if it is neither prony's own nor a process's.
    at: Option<PathBuf>,
    /// The process that lives in it; prony itself where absent.
    process: Option<RootPid>,
    /// The connection to the kernel, and the process it was made for.
    open: Option<(u32, Socket)>,
}

impl Namespace {
    /// prony's own.
    pub(crate) fn own(roots: &Roots) -> Self {
        Self { proc: roots.proc.clone(), at: None, process: None, open: None }
    }

    /// The generator's: prony's own, or the one that an anchor holds.
    pub(crate) fn of_generator(roots: &Roots, anchor: Option<&Anchor>) -> Self {
        Self { at: anchor.map(|anchor| anchor.namespace.clone()), ..Self::own(roots) }
    }

    /// That of whatever process `root` names at each question.
    pub(crate) fn of(roots: &Roots, root: RootPid) -> Self {
        Self { process: Some(root), ..Self::own(roots) }
    }

    /// Whether it is prony's own after all; false where that cannot be seen.
    pub(crate) fn is_own(&self) -> bool {
        let Some(root) = &self.process else { return self.at.is_none() };
        let link = |process: &str| fs::read_link(self.proc.join(process).join("ns/net")).ok();
        let theirs = link(&root.load(Ordering::Relaxed).to_string());
        theirs.is_some() && theirs == link("self")
    }

    /// Whether it can be asked: some kernels do not have the part that answers, and others' networks need root.
    pub(crate) fn answers(&mut self) -> bool {
        let query = Query { states: StateFlags::LISTEN, local_port: 1, remote_port: 0, with_info: false };
        self.sockets(&query, Family::V4).is_ok()
    }

    /// The sockets that are wanted, and whether there are more.
    pub(crate) fn sockets(
        &mut self,
        query: &Query,
        family: Family,
    ) -> Result<(Vec<TcpSocket>, bool), CollectError> {
        let answer = ask(self.socket()?, query, family);
        let is_whole = answer.as_ref().is_ok_and(|answer| !answer.is_cut);
        if !is_whole {
            // What is left of the answer must not be taken for the next one.
            self.open = None;
        }
        answer.map(|Answer { sockets, is_cut }| (sockets, is_cut))
    }

    fn socket(&mut self) -> Result<&Socket, CollectError> {
        let pid = self.process.as_ref().map_or(0, |root| root.load(Ordering::Relaxed));
        let failed = |error: std::io::Error| CollectError::Sockets { cause: error.to_string() };
        let known = self.open.take().filter(|(known, _)| *known == pid);
        let open = match known {
            Some(open) => open,
            None => (pid, self.connect(pid).map_err(failed)?),
        };
        Ok(&self.open.insert(open).1)
    }

    fn connect(&self, pid: u32) -> std::io::Result<Socket> {
        let namespace = self.at.clone().unwrap_or_else(|| self.proc.join(format!("{pid}/ns/net")));
        let is_own = || {
            Ok::<_, std::io::Error>(
                fs::read_link(&namespace)? == fs::read_link(self.proc.join("self/ns/net"))?,
            )
        };
        if self.at.is_none() && (pid == 0 || is_own()?) {
            return open();
        }
        let inside = std::thread::scope(|scope| scope.spawn(|| open_within(&namespace)).join());
        inside.unwrap_or_else(|_| Err(std::io::Error::other("the thread inside the namespace was lost")))
    }
}

/// Takes the calling thread, which must do nothing else afterwards, into the namespace.
fn open_within(namespace: &Path) -> std::io::Result<Socket> {
    let file = File::open(namespace)?;
    move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))?;
    open()
}
