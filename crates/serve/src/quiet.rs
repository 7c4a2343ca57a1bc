//! What serves or sends values of runs keeps out of the way of what is measured: lower priority, and other CPUs than generators have.
//!
//! Invariants: experiments that are started from here inherit none of it, for the thread that starts them is left as it
//! was; where no other CPU is left, nothing is confined.

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_setaffinity};
use schema::plan::PinPlan;
use std::collections::BTreeSet;
use std::fs;
use std::sync::Mutex;

/// Steps below the priority of everything else.
const NICE: i32 = 10;

/// The threads of this process that serve.
#[derive(Debug)]
pub struct Quiet {
    usable: Vec<u32>,
    /// The thread that starts experiments, which stays as it is.
    spared: Option<Pid>,
    /// What they are confined to now.
    now: Mutex<Vec<u32>>,
}

impl Quiet {
    /// Lowers the priority of the calling thread and of all that it makes. `None` where the system refuses.
    /// `spared` keeps its CPUs.
    #[must_use]
    pub fn begin(spared: Option<Pid>) -> Option<Self> {
        rustix::process::setpriority_process(None, NICE).ok()?;
        let usable = launch::pin::usable_cpus().ok()?;
        Some(Self { now: Mutex::new(usable.clone()), usable, spared })
    }

    /// Leaves the CPUs of the runs in progress.
    pub fn keep_off<'a>(&self, pins: impl Iterator<Item = &'a PinPlan>) {
        let wanted = left(&self.usable, pins);
        let Ok(mut now) = self.now.lock() else { return };
        if *now == wanted {
            return;
        }
        let mut set = CpuSet::new();
        wanted.iter().for_each(|cpu| set.set(*cpu as usize));
        for thread in threads().into_iter().filter(|thread| Some(*thread) != self.spared) {
            // A thread may have ended meanwhile; priority alone keeps the others harmless.
            let _ = sched_setaffinity(Some(thread), &set);
        }
        *now = wanted;
    }
}

/// CPUs that nobody who is measured uses; else those that no generator uses; else all.
fn left<'a>(usable: &[u32], pins: impl Iterator<Item = &'a PinPlan>) -> Vec<u32> {
    let (mut generators, mut all) = (BTreeSet::new(), BTreeSet::new());
    for pin in pins {
        generators.extend(pin.generator.iter().flatten().copied());
        all.extend([&pin.generator, &pin.target, &pin.services].into_iter().flatten().flatten().copied());
    }
    let without = |taken: &BTreeSet<u32>| -> Vec<u32> {
        usable.iter().copied().filter(|cpu| !taken.contains(cpu)).collect()
    };
    let choices = [without(&all), without(&generators), usable.to_vec()];
    choices.into_iter().find(|cpus| !cpus.is_empty()).unwrap_or_default()
}

fn threads() -> Vec<Pid> {
    let Ok(entries) = fs::read_dir("/proc/self/task") else { return Vec::new() };
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    numbers.filter_map(Pid::from_raw).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pin(generator: &[u32], target: &[u32]) -> PinPlan {
        PinPlan { generator: Some(generator.to_vec()), target: Some(target.to_vec()), ..PinPlan::default() }
    }

    #[test]
    fn it_goes_where_nobody_is_measured_and_never_to_a_generator_while_there_is_another() {
        let four = [0, 1, 2, 3];
        assert_eq!(left(&four, [].iter()), four);
        assert_eq!(left(&four, [pin(&[0], &[1, 2])].iter()), [3]);
        assert_eq!(left(&[0, 1], [pin(&[0], &[1])].iter()), [1]);
        assert_eq!(left(&four, [pin(&[0], &[1, 2, 3]), pin(&[1], &[2])].iter()), [2, 3]);
        assert_eq!(left(&[0], [pin(&[0], &[0])].iter()), [0]);
        assert_eq!(left(&four, [PinPlan::default()].iter()), four);
    }
}
