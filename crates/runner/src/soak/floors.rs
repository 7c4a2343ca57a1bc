//! The lowest reading of each resource in a window (METHOD §8), and the counters that trends and thresholds are made of,
//! from the lines of the collector.
//!
//! Memory: at most [`READINGS_MAX`] readings of resources and [`READINGS_OF_ONE_MAX`] of each counter wait for the end of
//! their window; older ones are dropped.

use schema::counter_name::is_extreme;
use schema::soak::{CPU, FULL_GC_CAUSE, FULL_GCS, SoakCounter, WindowCounter};
use schema::trial::CounterLine;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

/// Readings that wait at most: ten times those of a window.
pub(crate) const READINGS_MAX: usize = 8_192;
/// The same of one counter: more than a window of a day has, at one a minute.
const READINGS_OF_ONE_MAX: usize = 2_048;
/// Counters of trends: CPU time, full collections, and what caused these.
const OF_TRENDS: usize = 16;

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

/// A counter at one moment: of an increase also the time since its source was read before.
#[derive(Clone, Debug)]
struct Counted {
    t_ns: u64,
    key: String,
    value: f64,
    over_ns: Option<u64>,
}

/// Readings of the window in progress; the thread of the counters adds, the controller takes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Floors(Arc<Mutex<Waiting>>);

#[derive(Debug, Default)]
struct Waiting {
    /// Counters of thresholds, by source and name.
    wanted: BTreeSet<String>,
    floors: VecDeque<Reading>,
    counted: VecDeque<Counted>,
    /// When each source was read last.
    read_at: BTreeMap<String, u64>,
}

/// What a window's readings came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Floor {
    /// Moments at which the target was read.
    pub(crate) readings: u32,
    pub(crate) lowest: BTreeMap<SoakCounter, f64>,
    pub(crate) counters: BTreeMap<String, WindowCounter>,
}

impl Floors {
    /// Floors that keep these counters too.
    pub(crate) fn wanting<'a>(counters: impl IntoIterator<Item = &'a str>) -> Self {
        let wanted = counters.into_iter().map(str::to_owned).collect();
        Self(Arc::new(Mutex::new(Waiting { wanted, ..Waiting::default() })))
    }

    /// Adds what was read at one tick.
    pub(crate) fn add(&self, lines: &[CounterLine]) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for line in lines {
            for (source, gauge, counter) in GAUGES {
                if let (true, Some(value)) = (line.source == source, line.gauges.get(gauge)) {
                    waiting.floors.push_back((line.t_ns, counter, *value));
                }
            }
            waiting.count(line);
        }
        let excess = waiting.floors.len().saturating_sub(READINGS_MAX);
        waiting.floors.drain(..excess);
        let most = READINGS_OF_ONE_MAX * (waiting.wanted.len() + OF_TRENDS);
        let excess = waiting.counted.len().saturating_sub(most);
        waiting.counted.drain(..excess);
    }

    /// The floor of a window, whose readings and all earlier ones are dropped.
    pub(crate) fn take(&self, start_ns: u64, end_ns: u64) -> Floor {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut floor = Floor { counters: waiting.take(start_ns, end_ns), ..Floor::default() };
        let mut last = None;
        while let Some((t_ns, counter, value)) =
            waiting.floors.front().copied().filter(|(t_ns, ..)| *t_ns < end_ns)
        {
            waiting.floors.pop_front();
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
        let waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.floors.len() + waiting.counted.len()
    }
}

impl Waiting {
    fn is_wanted(&self, key: &str) -> bool {
        key == CPU || FULL_GCS.contains(&key) || key.starts_with(FULL_GC_CAUSE) || self.wanted.contains(key)
    }

    fn count(&mut self, line: &CounterLine) {
        let before = self.read_at.insert(line.source.clone(), line.t_ns);
        let over_ns = before.and_then(|before| line.t_ns.checked_sub(before)).filter(|over_ns| *over_ns > 0);
        let all = line.gauges.iter().map(|(name, value)| (name, *value, None));
        // An increase of unknown length has no rate.
        let increases = line.deltas.iter().filter(|_| over_ns.is_some());
        let all = all.chain(increases.map(|(name, value)| (name, *value, over_ns)));
        let t_ns = line.t_ns;
        for (name, value, over_ns) in all {
            let key = format!("{}/{name}", line.source);
            if value.is_finite() && self.is_wanted(&key) {
                self.counted.push_back(Counted { t_ns, key, value, over_ns });
            }
        }
    }

    /// Means of levels, the largest of percentiles and maxima, and sums of increases of a window.
    fn take(&mut self, start_ns: u64, end_ns: u64) -> BTreeMap<String, WindowCounter> {
        let mut found: BTreeMap<String, (WindowCounter, u32)> = BTreeMap::new();
        while self.counted.front().is_some_and(|counted| counted.t_ns < end_ns) {
            let Some(counted) = self.counted.pop_front().filter(|counted| counted.t_ns >= start_ns) else {
                continue;
            };
            let takes_largest = counted.over_ns.is_none() && is_extreme(&counted.key);
            let (sum, readings) = found.entry(counted.key).or_default();
            if takes_largest && *readings == 1 {
                sum.value = sum.value.max(counted.value);
                continue;
            }
            sum.value += counted.value;
            sum.over_ns = counted.over_ns.map(|over_ns| sum.over_ns.unwrap_or(0).saturating_add(over_ns));
            *readings += 1;
        }
        let mean = |(mut counter, readings): (WindowCounter, u32)| {
            if counter.over_ns.is_none() {
                counter.value /= f64::from(readings.max(1));
            }
            counter
        };
        let all = found.into_iter().map(|(key, found)| (key, mean(found)));
        all.filter(|(_, counter)| counter.value.is_finite()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn line(t_ns: u64, source: &str, gauges: &[(&str, f64)]) -> CounterLine {
        let gauges = gauges.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        CounterLine { t_ns, source: source.to_owned(), gauges, ..CounterLine::default() }
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
        let floors = Floors::wanting(["go.runtime/level"]);
        let most = (READINGS_OF_ONE_MAX * (OF_TRENDS + 1)) as u64;
        for t_ns in 0..most + 50 {
            floors.add(&[line(t_ns, "go.runtime", &[("level", t_ns as f64), ("not_asked_for", 1.0)])]);
        }
        assert_eq!(floors.waiting() as u64, most);
        let mean = floors.take(0, u64::MAX).counters["go.runtime/level"].value;
        assert_eq!(mean, 50.0 + (most - 1) as f64 / 2.0, "the latest are kept");
    }

    fn counted(t_ns: u64, source: &str, name: &str, delta: f64) -> CounterLine {
        let deltas = [(name.to_owned(), delta)].into();
        CounterLine { deltas, ..line(t_ns, source, &[("level", delta)]) }
    }

    #[test]
    fn counters_are_summed_over_their_own_time_and_levels_are_means() {
        let floors = Floors::wanting(["go.runtime/level"]);
        for (t_ns, cpu) in [(9, 1.0), (12, 30.0), (18, 60.0), (21, 7.0)] {
            floors.add(&[
                counted(t_ns, "target.process", "cpu_ns", cpu),
                counted(t_ns, "jvm.runtime", "gc_full_cause_system_gc", 1.0),
                counted(t_ns, "go.runtime", "not_asked_for", cpu),
            ]);
        }
        let floor = floors.take(10, 20);
        let increase = |value, over_ns| WindowCounter { value, over_ns: Some(over_ns) };
        let wanted = [
            ("go.runtime/level", WindowCounter { value: 45.0, over_ns: None }),
            ("jvm.runtime/gc_full_cause_system_gc", increase(2.0, 9)),
            ("target.process/cpu_ns", increase(90.0, 9)),
        ];
        assert_eq!(floor.counters, wanted.map(|(key, counter)| (key.to_owned(), counter)).into());
        let next = floors.take(20, 30).counters;
        assert_eq!(next["target.process/cpu_ns"], increase(7.0, 3));
        assert_eq!(floors.take(30, 40), Floor::default());
    }

    #[test]
    fn of_percentiles_and_maxima_the_largest_of_a_window_counts() {
        let names = ["go.runtime/pool_wait_p95_ns", "go.runtime/gc_pause_max_ns", "go.runtime/goroutines"];
        let floors = Floors::wanting(names);
        for (t_ns, value) in [(1, 9.0), (11, 2.0), (12, 6.0), (13, 1.0), (21, 8.0)] {
            let gauges = names.map(|name| (name.split_once('/').unwrap().1, value));
            floors.add(&[line(t_ns, "go.runtime", &gauges)]);
        }
        let found = floors.take(10, 20).counters;
        assert_eq!(names.map(|name| found[name].value), [6.0, 6.0, 3.0]);
    }
}
