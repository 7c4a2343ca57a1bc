//! Facts about the host that decide what a measurement on it is worth, each with its effect and its remedy.
//!
//! Invariants: a fact that cannot be read has no value and severity `Note`, never a guess; every judgement is a pure
//! function from text to fact; thresholds come from METHOD §9 where it has one; nothing on the host is changed.
//! Absent on purpose: target counters (the sources), the decision whether to run in spite of a problem, and the work
//! of the canary (crate engine does it, [`timing()`] judges it).

mod activity;
mod busiest;
pub(crate) mod cgroup;
mod clock;
mod cpu;
mod fact;
mod kernel;
mod machine;
mod memory;
mod mitigations;
mod network;
mod reclaim;
mod timing;

pub use clock::kernel_clock;
pub use machine::{Machine, machine};
pub use timing::timing;

use crate::{Roots, text};
use busiest::Snapshot;
use schema::doctor::{DoctorReport, Fact};
use schema::kernel_clock::KernelClock;
use std::thread;
use std::time::{Duration, Instant};

/// Shortest time between the two readings of `/proc/stat`.
const PAUSE_MIN: Duration = Duration::from_millis(200);
/// Core seconds between the two readings, so that one clock tick stays below the 1 % at which steal is a warning.
const PAUSE_CORE_MS: u64 = 1_200;

/// What is read at two moments, for facts about what goes on between them.
struct Moment {
    stat: Option<Vec<u8>>,
    processes: Option<Snapshot>,
}

impl Moment {
    fn now(roots: &Roots) -> Self {
        Self { stat: text::read_optional(&roots.proc.join("stat")), processes: busiest::snapshot(roots) }
    }
}

/// Looks at the host. Takes between 0.2 s and 1.2 s, the fewer cores the longer, because steal needs two readings.
#[must_use]
pub fn doctor(roots: &Roots) -> DoctorReport {
    let before = Moment::now(roots);
    let start = Instant::now();
    if before.stat.is_some() {
        let cores = thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
        thread::sleep(Duration::from_millis(PAUSE_CORE_MS / cores).max(PAUSE_MIN));
    }
    let between = start.elapsed();
    let after = Moment::now(roots);
    // Trees that were planted are another host, whose clock cannot be asked.
    let clock = (*roots == Roots::default()).then(kernel_clock).flatten();
    let facts = facts(roots, &before, &after, between, clock.as_ref());
    DoctorReport { facts, ..DoctorReport::default() }
}

fn facts(
    roots: &Roots,
    before: &Moment,
    after: &Moment,
    between: Duration,
    clock: Option<&KernelClock>,
) -> Vec<Fact> {
    let mut facts = cpu::facts(roots);
    facts.extend(mitigations::facts(roots));
    facts.extend(activity::facts(roots, before.stat.as_deref(), after.stat.as_deref()));
    facts.push(busiest::fact(before.processes.as_ref(), after.processes.as_ref(), between));
    facts.extend(memory::facts(roots));
    facts.push(reclaim::fact(roots));
    facts.extend(network::facts(roots));
    facts.extend(kernel::facts(roots));
    facts.push(clock::fact(clock));
    facts.extend(cgroup::facts(roots));
    facts
}

#[cfg(test)]
mod tests;
