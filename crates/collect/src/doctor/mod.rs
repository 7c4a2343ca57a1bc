//! Facts about the host that decide what a measurement on it is worth, each with its effect and its remedy.
//!
//! Invariants: a fact that cannot be read has no value and severity `Note`, never a guess; every judgement is a pure
//! function from text to fact; thresholds come from METHOD §9 where it has one; nothing on the host is changed.
//! Absent on purpose: target counters (the sources), and the decision whether to run in spite of a problem.

mod activity;
mod cgroup;
mod cpu;
mod fact;
mod kernel;
mod machine;
mod memory;
mod network;

pub use machine::{Machine, machine};

use crate::{Roots, text};
use schema::doctor::DoctorReport;
use std::thread;
use std::time::Duration;

/// Shortest time between the two readings of `/proc/stat`.
const PAUSE_MIN: Duration = Duration::from_millis(200);
/// Core seconds between the two readings, so that one clock tick stays below the 1 % at which steal is a warning.
const PAUSE_CORE_MS: u64 = 1_200;

/// Looks at the host. Takes between 0.2 s and 1.2 s, the fewer cores the longer, because steal needs two readings.
#[must_use]
pub fn doctor(roots: &Roots) -> DoctorReport {
    let stat_path = roots.proc.join("stat");
    let before = text::read_optional(&stat_path);
    if before.is_some() {
        let cores = thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
        thread::sleep(Duration::from_millis(PAUSE_CORE_MS / cores).max(PAUSE_MIN));
    }
    let after = text::read_optional(&stat_path);
    let mut report = DoctorReport::default();
    report.facts.extend(cpu::facts(roots));
    report.facts.extend(activity::facts(roots, before.as_deref(), after.as_deref()));
    report.facts.extend(memory::facts(roots));
    report.facts.extend(network::facts(roots));
    report.facts.extend(kernel::facts(roots));
    report.facts.extend(cgroup::facts(roots));
    report
}

#[cfg(test)]
mod tests;
