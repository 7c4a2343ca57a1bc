//! Pauses of the collector over one trial, as counts: a row for each time between two readings, a column a range of
//! lengths.
//!
//! Go counts its pauses by length, and each counts at the middle of its bucket. The JVM, Node and PHP count how many there
//! were and how long together: one in the time between two readings has its own length, several count at their mean.
//! Invariants: no pause is lost; of several runtimes the first one that was read counts; memory is that of the map.

use super::heat::HeatMaker;
use schema::page::Heat;
use schema::trial::{CounterLine, PauseCount};

/// Columns in a doubling: as fine as Go's buckets, which are a fifth to a quarter of it wide.
const FINE: u32 = 4;
/// Runtimes whose pauses are known.
const RUNTIMES: [&str; 4] = ["go.runtime", "jvm.runtime", "node.runtime", "php.runtime"];

/// Takes lines of counters in order of time.
#[derive(Clone, Debug)]
pub struct PauseMaker {
    maker: HeatMaker,
    /// The runtime, and when it was read last.
    of: Option<(String, u64)>,
}

impl Default for PauseMaker {
    fn default() -> Self {
        Self { maker: HeatMaker::with(FINE), of: None }
    }
}

impl PauseMaker {
    /// Takes one line; those of other sources are no pauses.
    pub fn add(&mut self, line: &CounterLine) {
        let Some((of, at)) = &mut self.of else {
            if RUNTIMES.contains(&line.source.as_str()) {
                self.of = Some((line.source.clone(), line.t_ns));
            }
            return;
        };
        if *of != line.source || line.t_ns <= *at {
            return;
        }
        let before = std::mem::replace(at, line.t_ns);
        self.maker.interval(before, line.t_ns);
        if line.pauses.is_empty() {
            self.by_mean(line);
        }
        line.pauses.iter().for_each(|pauses| self.maker.count(middle(*pauses), pauses.count));
    }

    fn by_mean(&mut self, line: &CounterLine) {
        let of = |key: &str| line.deltas.get(key).copied().filter(|value| value.is_finite() && *value >= 0.0);
        // Go has pauses beside its cycles, which would count twice.
        let (None, Some(count), Some(ns)) = (of("gc_pauses"), of("gc_cycles"), of("gc_pause_ns")) else {
            return;
        };
        if count >= 1.0 {
            self.maker.count((ns / count) as u64, count as u64);
        }
    }

    /// The map; `None` where no pause was seen.
    #[must_use]
    pub fn finish(self) -> Option<Heat> {
        self.maker.finish()
    }
}

fn middle(pauses: PauseCount) -> u64 {
    pauses.from_ns.midpoint(pauses.to_ns.max(pauses.from_ns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    const S: u64 = 1_000_000_000;

    fn line(second: u64, source: &str) -> CounterLine {
        CounterLine { t_ns: second * S, source: source.to_owned(), ..CounterLine::default() }
    }

    fn total(heat: &Heat) -> u64 {
        heat.rows.iter().flatten().sum()
    }

    /// The row and the shortest length of the column in which there is something.
    fn places(heat: &Heat) -> Vec<(usize, u64, u64)> {
        let row = |(at, row): (usize, &Vec<u64>)| {
            let place =
                |(column, count): (usize, &u64)| (*count > 0).then_some((at, heat.edges_ns[column], *count));
            row.iter().enumerate().filter_map(place).collect::<Vec<_>>()
        };
        heat.rows.iter().enumerate().flat_map(row).collect()
    }

    #[test]
    fn pauses_of_go_are_where_their_bucket_is() {
        let mut maker = PauseMaker::default();
        maker.add(&line(0, "target.process"));
        for second in 1..=4 {
            let pauses = match second {
                // The first line has none to compare with; a planted long pause comes in the third second.
                3 => vec![
                    PauseCount { from_ns: 40_960, to_ns: 49_152, count: 12 },
                    PauseCount { from_ns: 83_886_080, to_ns: 100_663_296, count: 1 },
                ],
                _ => Vec::new(),
            };
            let deltas = BTreeMap::from([("gc_pauses".to_owned(), 99.0), ("gc_cycles".to_owned(), 99.0)]);
            maker.add(&CounterLine { pauses, deltas, ..line(second, "go.runtime") });
            maker.add(&line(second, "host.stat"));
            maker.add(&CounterLine {
                deltas: BTreeMap::from([("gc_cycles".into(), 5.0), ("gc_pause_ns".into(), 5e6)]),
                ..line(second, "jvm.runtime")
            });
        }
        let heat = maker.finish().unwrap();
        assert_eq!((heat.start_ns, &heat.t_ns[..]), (S, &[2 * S, 3 * S, 4 * S][..]));
        let places = places(&heat);
        assert_eq!((places.len(), total(&heat)), (2, 13), "{places:?}");
        assert!(places.iter().all(|(row, ..)| *row == 1), "{places:?}");
        assert!(places[0].1 <= 45_056 && places[1].1 > 60_000_000 && places[1].2 == 1, "{places:?}");
    }

    #[test]
    fn the_jvm_has_the_mean_of_those_between_two_readings() {
        let mut maker = PauseMaker::default();
        for (second, count, ns) in [(1, 7.0, 7e6), (2, 1.0, 2e8), (3, 4.0, 8e6), (4, 0.0, 0.0), (4, 9.0, 9e9)]
        {
            let deltas = BTreeMap::from([("gc_cycles".to_owned(), count), ("gc_pause_ns".to_owned(), ns)]);
            maker.add(&CounterLine { deltas, ..line(second, "jvm.runtime") });
        }
        let heat = maker.finish().unwrap();
        let places = places(&heat);
        assert_eq!(total(&heat), 5, "{places:?}");
        assert_eq!((places[0].0, places[0].2, places[1].0, places[1].2), (0, 1, 1, 4));
        assert!((1e8..=2e8).contains(&(places[0].1 as f64)) && (1e6..=2e6).contains(&(places[1].1 as f64)));
    }

    #[test]
    fn without_a_pause_there_is_no_map_and_hostile_numbers_cost_nothing() {
        assert_eq!(PauseMaker::default().finish(), None);
        let mut maker = PauseMaker::default();
        for (second, value) in [(1, 0.0), (2, f64::NAN), (3, f64::INFINITY), (4, -1.0)] {
            let deltas = BTreeMap::from([("gc_cycles".to_owned(), value), ("gc_pause_ns".to_owned(), value)]);
            maker.add(&CounterLine { deltas, ..line(second, "node.runtime") });
        }
        assert_eq!(maker.clone().finish(), None);
        let pauses = vec![PauseCount { from_ns: u64::MAX, to_ns: 0, count: u64::MAX }; 2];
        maker.add(&CounterLine { pauses, ..line(5, "node.runtime") });
        assert_eq!(maker.finish().unwrap().count_max, u64::MAX);
    }
}
