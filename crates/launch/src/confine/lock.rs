//! How much memory the target may lock (`RLIMIT_MEMLOCK`, getrlimit(2)): set before its program, read back after.
//!
//! Invariant: soft and hard limit are the same, so the target cannot raise it; and it is without CAP_IPC_LOCK, which
//! root has and which would lift the limit.

use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::thread::{CapabilitySet, remove_capability_from_bounding_set};
use schema::limits::MemoryLock;
use schema::said;
use schema::said::Said;
use std::fs;
use std::path::Path;

/// Number of CAP_IPC_LOCK (linux/capability.h).
const CAP_IPC_LOCK: u32 = 14;

/// Sets the limit of the calling process, and of all that it becomes.
///
/// # Errors
/// It would be raised and prony has no right to (CAP_SYS_RESOURCE).
pub(super) fn set(lock: MemoryLock) -> Result<(), String> {
    let value = match lock {
        MemoryLock::Unlimited => None,
        MemoryLock::Bytes(bytes) => Some(bytes),
    };
    if value.is_some() {
        // Refused to whoever is not root and so has nothing to lose; what is held is read back.
        let _ = remove_capability_from_bounding_set(CapabilitySet::IPC_LOCK);
    }
    setrlimit(Resource::Memlock, Rlimit { current: value, maximum: value })
        .map_err(|error| format!("cannot set the limit of locked memory to {lock}: {error}"))
}

/// The soft limit of a process, from `limits` in its folder below `proc`.
///
/// # Errors
/// The process is gone, or the file has no such line.
pub(super) fn of(proc: &Path, pid: u32) -> Result<MemoryLock, String> {
    let path = proc.join(pid.to_string()).join("limits");
    let text =
        fs::read_to_string(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    parse(&text).ok_or_else(|| format!("{} does not tell the limit of locked memory", path.display()))
}

/// The line is `Max locked memory         8388608              8388608              bytes`.
fn parse(text: &str) -> Option<MemoryLock> {
    let rest = text.lines().find_map(|line| line.strip_prefix("Max locked memory"))?;
    match rest.split_ascii_whitespace().next()? {
        "unlimited" => Some(MemoryLock::Unlimited),
        bytes => bytes.parse().ok().map(MemoryLock::Bytes),
    }
}

/// Whether a process is above the limit (`CapEff` of its `status`); not where that cannot be read.
pub(super) fn is_exempt(proc: &Path, pid: u32) -> bool {
    let text = fs::read_to_string(proc.join(pid.to_string()).join("status")).unwrap_or_default();
    has_lock_capability(&text)
}

fn has_lock_capability(status: &str) -> bool {
    let set = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok())
        .is_some_and(|set| set >> CAP_IPC_LOCK & 1 == 1)
}

/// What is to be said where the limit is not the one that was asked for.
pub(super) fn weakness(wanted: MemoryLock, held: MemoryLock, is_exempt: bool) -> Option<Said> {
    if wanted != held {
        return Some(said!(
            "weakness.memory_lock",
            "the target may lock {held} of memory where {wanted} were asked for: raising the limit needs root \
             (CAP_SYS_RESOURCE), or `ulimit -l` before prony",
            held = held.to_string(),
            wanted = wanted.to_string()
        ));
    }
    (is_exempt && held != MemoryLock::Unlimited).then(|| {
        said!(
            "weakness.memory_lock_exempt",
            "the limit of {held} of locked memory does not bind the target: it has CAP_IPC_LOCK",
            held = held.to_string()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_s_table_is_read() {
        let line = |value: &str| {
            format!("Limit  Soft Limit  Hard Limit  Units\nMax locked memory  {value}  {value}  bytes\n")
        };
        assert_eq!(parse(&line("8388608")), Some(MemoryLock::Bytes(8 << 20)));
        assert_eq!(parse(&line("unlimited")), Some(MemoryLock::Unlimited));
        assert_eq!(parse(&line("much")), None);
        assert_eq!(parse(""), None);
        assert!(of(Path::new("/proc"), std::process::id()).is_ok());
        assert!(of(Path::new("/nowhere"), 1).is_err());
    }

    #[test]
    fn another_limit_than_asked_for_is_told() {
        let (small, large) = (MemoryLock::Bytes(1 << 20), MemoryLock::Unlimited);
        assert_eq!(weakness(small, small, false), None);
        assert_eq!(weakness(large, large, true), None);
        assert!(weakness(small, small, true).unwrap().contains("CAP_IPC_LOCK"));
        assert!(weakness(large, small, false).unwrap().contains("1MiB of memory where unlimited"));
        assert!(has_lock_capability("CapPrm:\t0\nCapEff:\t0000000000004000\n"));
        assert!(!has_lock_capability("CapEff:\t0000000000003fff\n") && !has_lock_capability(""));
    }
}
