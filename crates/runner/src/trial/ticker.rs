//! The clock of the counters: reads all sources of a trial at each tick and writes their lines.
//!
//! Invariants: the readings happen on a thread of their own, at whole multiples of the tick since the trial's origin; a
//! tick that was missed is left out, never made up for.
//! Absent on purpose: what is read (crate collect).

use super::options::TrialOptions;
use crate::allocation::Allocations;
use crate::steady;
use analyze::Beside;
use collect::Collector;
use record::Lines;
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use units::{Clock, MonotonicClock, Nanos};

/// Reads the counters at each tick on a thread of its own: an endpoint that hangs delays nothing else.
pub(super) struct Ticker {
    stop: Sender<()>,
    thread: JoinHandle<Ticked>,
}

/// What is left of all ticks.
#[derive(Default)]
pub(super) struct Ticked {
    /// How often each source could not be read.
    pub(super) gaps: BTreeMap<String, u64>,
    /// Why the latest of these was.
    pub(super) errors: BTreeMap<String, String>,
    /// What the target's runtime allocated.
    pub(super) allocations: Allocations,
}

impl Ticked {
    fn of(collector: &Collector, allocations: Allocations) -> Self {
        let errors = collector.last_errors().iter();
        Self {
            gaps: collector.gaps().clone(),
            errors: errors.map(|(source, error)| (source.clone(), error.to_string())).collect(),
            allocations,
        }
    }
}

impl Ticker {
    pub(super) fn start(
        collector: Collector,
        lines: Lines,
        clock: MonotonicClock,
        options: &TrialOptions,
        beside: Sender<Beside>,
    ) -> Self {
        let (stop, stopped) = channel();
        let options = options.clone();
        let thread = std::thread::spawn(move || tick(collector, lines, clock, &options, &beside, &stopped));
        Self { stop, thread }
    }

    /// Ends the readings.
    pub(super) fn stop(self) -> Ticked {
        drop(self.stop);
        self.thread.join().unwrap_or_default()
    }
}

fn tick(
    mut collector: Collector,
    mut lines: Lines,
    clock: MonotonicClock,
    options: &TrialOptions,
    beside: &Sender<Beside>,
    stopped: &Receiver<()>,
) -> Ticked {
    let every = options.tick;
    let mut allocations = Allocations::default();
    loop {
        let now = clock.now();
        let read = collector.tick(now);
        // Nobody listens once the trial is over.
        let _ = beside.send(steady::beside(now, &read));
        if let Some(floors) = &options.floors {
            floors.add(&read);
        }
        for line in read {
            allocations.add(&line);
            // A full disk shows when the trial's own files are written; counters are only ever extra.
            if lines.append(&line).is_err() {
                return Ticked::of(&collector, allocations);
            }
        }
        let now = clock.now();
        let next = Nanos((now.0 / every.0.max(1) + 1) * every.0.max(1));
        match stopped.recv_timeout(next.since(now).to_duration()) {
            Err(RecvTimeoutError::Timeout) => {}
            _ => return Ticked::of(&collector, allocations),
        }
    }
}
