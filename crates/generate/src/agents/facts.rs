//! What an agent says of its host.

use collect::doctor::kernel_clock;
use schema::agents::AgentFacts;
use schema::calibration::CalibrationSummary;
use std::fs;

/// The facts of this host and this prony, with what a calibration found.
#[must_use]
pub fn facts(calibration: Option<CalibrationSummary>) -> AgentFacts {
    let system = rustix::system::uname();
    let text = |part: &std::ffi::CStr| part.to_string_lossy().into_owned();
    AgentFacts {
        prony: env!("CARGO_PKG_VERSION").to_owned(),
        host: text(system.nodename()),
        boot_id: boot_id(),
        kernel: text(system.release()),
        arch: text(system.machine()),
        cpus: launch::pin::usable_cpus().map_or(0, |cpus| cpus.len() as u32),
        memory_bytes: fs::read_to_string("/proc/meminfo").ok().and_then(|text| memory_bytes(&text)),
        calibration,
        kernel_clock: kernel_clock(),
    }
}

/// The same facts with those that change while an agent waits as they are now.
pub(super) fn as_of_now(facts: &AgentFacts) -> AgentFacts {
    AgentFacts { kernel_clock: kernel_clock(), ..facts.clone() }
}

/// Identifies this start of this host's kernel; empty where the system does not tell.
pub(super) fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

fn memory_bytes(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_says_what_it_is() {
        let found = facts(None);
        assert!(!found.host.is_empty() && found.cpus > 0 && found.boot_id.len() == 36, "{found:?}");
        assert_eq!(memory_bytes("MemFree: 1 kB\nMemTotal:       3 kB\n"), Some(3072));
        assert_eq!(memory_bytes("MemTotal: many kB\n"), None);
        assert_eq!(memory_bytes("MemTotal: 18446744073709551615 kB\n"), None);
    }
}
