//! The lowest reading of each counter in a window (METHOD §8), from the lines of the collector.
//!
//! Memory: at most [`READINGS_MAX`] readings wait for the end of their window; older ones are dropped.

use schema::soak::SoakCounter;
use schema::trial::CounterLine;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

/// Readings that wait at most: ten times those of a window.
pub(crate) const READINGS_MAX: usize = 8_192;

/// Source and gauge of each counter. The heap of Go and the JVM is what the latest collection left alive, so it needs no floor
/// of its own; that of Node is what is in use, whose lowest reading of a window comes near to it.
const GAUGES: [(&str, &str, SoakCounter); 8] = [
    (collect::process::TARGET, "rss_bytes", SoakCounter::Memory),
    (collect::process::TARGET, "threads", SoakCounter::Threads),
    (collect::holdings::NAME, "descriptors", SoakCounter::Descriptors),
    (collect::holdings::NAME, "sockets", SoakCounter::Connections),
    (collect::go_runtime::NAME, "goroutines", SoakCounter::Goroutines),
    (collect::go_runtime::NAME, "heap_live_bytes", SoakCounter::Heap),
    // A JVM brings it up to date at the end of a collection only.
    ("jvm.runtime", "heap_used_bytes", SoakCounter::Heap),
    ("node.runtime", "heap_used_bytes", SoakCounter::Heap),
];

/// One value at one moment.
type Reading = (u64, SoakCounter, f64);

/// Readings of the window in progress; the thread of the counters adds, the controller takes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Floors(Arc<Mutex<VecDeque<Reading>>>);

/// What a window's readings came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Floor {
    /// Moments at which the target was read.
    pub(crate) readings: u32,
    pub(crate) lowest: BTreeMap<SoakCounter, f64>,
}

impl Floors {
    /// Adds what was read at one tick.
    pub(crate) fn add(&self, lines: &[CounterLine]) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for line in lines {
            for (source, gauge, counter) in GAUGES {
                if let (true, Some(value)) = (line.source == source, line.gauges.get(gauge)) {
                    waiting.push_back((line.t_ns, counter, *value));
                }
            }
        }
        let excess = waiting.len().saturating_sub(READINGS_MAX);
        waiting.drain(..excess);
    }

    /// The floor of a window, whose readings and all earlier ones are dropped.
    pub(crate) fn take(&self, start_ns: u64, end_ns: u64) -> Floor {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut floor = Floor::default();
        let mut last = None;
        while let Some((t_ns, counter, value)) = waiting.front().copied().filter(|(t_ns, ..)| *t_ns < end_ns)
        {
            waiting.pop_front();
            if t_ns < start_ns || !value.is_finite() {
                continue;
            }
            floor.readings += u32::from(last != Some(t_ns));
            last = Some(t_ns);
            floor.lowest.entry(counter).and_modify(|lowest| *lowest = lowest.min(value)).or_insert(value);
        }
        floor
    }

    /// Readings that wait.
    #[cfg(test)]
    pub(crate) fn waiting(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn line(t_ns: u64, source: &str, gauges: &[(&str, f64)]) -> CounterLine {
        let gauges = gauges.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        CounterLine { t_ns, source: source.to_owned(), gauges, deltas: BTreeMap::new() }
    }

    #[test]
    fn the_floor_is_the_lowest_reading_within_the_window() {
        let floors = Floors::default();
        for (t_ns, rss) in [(5, 1.0), (10, 70.0), (15, 50.0), (19, 60.0), (20, 10.0)] {
            floors.add(&[
                line(t_ns, "target.process", &[("rss_bytes", rss), ("fds", 1.0)]),
                line(t_ns, "generator.process", &[("rss_bytes", 0.0)]),
                line(t_ns, "go.runtime", &[("goroutines", rss + 1.0)]),
            ]);
        }
        let floor = floors.take(10, 20);
        assert_eq!(floor.readings, 3);
        assert_eq!(
            floor.lowest,
            BTreeMap::from([(SoakCounter::Memory, 50.0), (SoakCounter::Goroutines, 51.0)])
        );
        assert_eq!(floors.waiting(), 2, "those of the next window stay");
        assert_eq!(floors.take(20, 30).lowest[&SoakCounter::Memory], 10.0);
        assert_eq!(floors.take(30, 40), Floor::default());
    }

    #[test]
    fn memory_does_not_grow_with_readings_that_nobody_takes() {
        let floors = Floors::default();
        for t_ns in 0..3 * READINGS_MAX as u64 {
            floors.add(&[line(t_ns, "target.process", &[("rss_bytes", 1.0), ("threads", 2.0)])]);
        }
        assert_eq!(floors.waiting(), READINGS_MAX);
        assert_eq!(floors.take(0, u64::MAX).readings as usize, READINGS_MAX / 2, "the latest are kept");
    }
}
