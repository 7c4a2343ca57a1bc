//! What the target's own process does before it becomes the program: enter its groups, then its network, and take
//! its limit of locked memory.

use super::lock;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use schema::limits::MemoryLock;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// Where a process is to go.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Join {
    /// Folders of control groups.
    pub(crate) groups: Vec<PathBuf>,
    /// A network namespace.
    pub(crate) network: Option<PathBuf>,
    /// How much memory it may lock.
    pub(crate) memory_lock: Option<MemoryLock>,
}

impl Join {
    /// Takes the calling process, which must have one thread only, there.
    ///
    /// # Errors
    /// What could not be entered, and why.
    pub(crate) fn enter(&self) -> Result<(), String> {
        let me = std::process::id().to_string();
        for group in &self.groups {
            fs::write(group.join("cgroup.procs"), &me)
                .map_err(|error| format!("cannot enter the control group {}: {error}", group.display()))?;
        }
        self.network.as_deref().map_or(Ok(()), enter_network)?;
        if let Some(lock) = self.memory_lock
            && let Err(cause) = lock::set(lock)
        {
            // No reason not to start: the guard reads the limit back and tells what is missing.
            eprintln!("prony guard: {cause}");
        }
        Ok(())
    }
}

/// Takes the calling thread, and all that it starts from now on, into a network namespace.
pub(super) fn enter_network(path: &Path) -> Result<(), String> {
    let cannot = |error: std::io::Error| format!("cannot enter the network namespace: {error}");
    let file = File::open(path).map_err(cannot)?;
    move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))
        .map_err(|error| cannot(error.into()))
}
