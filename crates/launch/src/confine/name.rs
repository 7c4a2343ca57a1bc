//! Names of what a guard makes: `prony-PID-START-PIDNS`, so that a later prony can tell whether the guard lives.
//!
//! START (clock ticks since boot, proc_pid_stat(5) field 22) tells a guard from a later process with its number;
//! PIDNS (inode of the process namespace) keeps a prony in one container from judging the guards of another.

use std::fmt;
use std::fs;
use std::path::Path;
use std::str::FromStr;

const PREFIX: &str = "prony-";

/// A process that made something which may outlive it: a guard, or a prony that tunes the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Its number.
    pub pid: u32,
    /// When it began, in clock ticks since boot.
    pub start_ticks: u64,
    /// Inode of the namespace that its number is from.
    pub pid_namespace: u64,
}

impl Owner {
    /// The calling process.
    ///
    /// # Errors
    /// It cannot be read from `/proc`.
    pub fn this_process() -> Result<Self, String> {
        let pid = std::process::id();
        let proc = Path::new("/proc");
        let start_ticks = start_of(proc, pid).ok_or("cannot read the own start from /proc/PID/stat")?;
        let pid_namespace = own_pid_namespace(proc).ok_or("cannot read /proc/self/ns/pid")?;
        Ok(Self { pid, start_ticks, pid_namespace })
    }

    /// Whether a sweep may remove what this owner made: it is of our own process namespace, and dead.
    #[must_use]
    pub fn is_gone(&self, proc: &Path) -> bool {
        own_pid_namespace(proc) == Some(self.pid_namespace)
            && start_of(proc, self.pid) != Some(self.start_ticks)
    }

    /// Whether this very process is there, as far as can be seen: one of another process namespace is not.
    #[must_use]
    pub fn is_alive(&self, proc: &Path) -> bool {
        own_pid_namespace(proc) == Some(self.pid_namespace)
            && start_of(proc, self.pid) == Some(self.start_ticks)
    }

    /// The name as a table of nftables, which has no hyphens.
    pub(crate) fn table(&self) -> String {
        self.to_string().replace('-', "_")
    }

    /// Reads a table's name.
    pub(crate) fn of_table(name: &str) -> Option<Self> {
        name.replace('_', "-").parse().ok()
    }

    /// A device's name, which has at most 15 characters: unique while the guard lives.
    pub(crate) fn device(&self) -> String {
        format!("prony{}", self.pid)
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}-{}-{}", self.pid, self.start_ticks, self.pid_namespace)
    }
}

impl FromStr for Owner {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut parts = text.strip_prefix(PREFIX).ok_or(())?.split('-');
        let mut next = || parts.next().filter(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
        let pid = next().and_then(|part| part.parse().ok()).ok_or(())?;
        let start_ticks = next().and_then(|part| part.parse().ok()).ok_or(())?;
        let pid_namespace = next().and_then(|part| part.parse().ok()).ok_or(())?;
        if parts.next().is_some() { Err(()) } else { Ok(Self { pid, start_ticks, pid_namespace }) }
    }
}

/// Field 22 of `/proc/PID/stat`, counted after the name, which may hold spaces and brackets. A process that has ended
/// and waits to be reaped has none: it holds nothing any more.
fn start_of(proc: &Path, pid: u32) -> Option<u64> {
    let stat = fs::read(proc.join(pid.to_string()).join("stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X") {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

/// The number in the link `pid:[4026531836]`.
fn own_pid_namespace(proc: &Path) -> Option<u64> {
    let link = fs::read_link(proc.join("self/ns/pid")).ok()?;
    link.to_str()?.strip_prefix("pid:[")?.strip_suffix(']')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        let owner = Owner { pid: 4_194_304, start_ticks: 99, pid_namespace: 4_026_531_836 };
        assert_eq!(owner.to_string().parse(), Ok(owner));
        assert_eq!(Owner::of_table(&owner.table()), Some(owner));
        assert!(owner.device().len() <= 15);
        for wrong in ["", "prony-", "prony-1-2", "prony-1-2-3-4", "prony-a-2-3", "prony--2-3", "system.slice"]
        {
            assert!(wrong.parse::<Owner>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_living_owner_is_not_gone_and_others_are_judged_only_in_our_own_namespace() {
        let proc = Path::new("/proc");
        let me = Owner::this_process().unwrap();
        assert!(!me.is_gone(proc));
        assert!(Owner { start_ticks: me.start_ticks + 1, ..me }.is_gone(proc), "a reused number");
        assert!(!Owner { start_ticks: 1, pid_namespace: 1, ..me }.is_gone(proc), "somebody else's");
    }
}
