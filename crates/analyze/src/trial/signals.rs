//! Counters of one trial laid on the intervals of its samples, so that they can be held against response times.
//!
//! A gauge belongs to the interval in which it was read; a tick that comes a little after an interval's end still
//! belongs to it; of several the mean counts, or the largest of a percentile or maximum. An increase belongs to the time
//! since its source was read before, and is shared out over the intervals in proportion; an interval of which less than
//! half is covered has no value.
//! Invariants: every value is finite; the number of counters is bounded, whatever a target serves.

use schema::counter_name::is_extreme;
use schema::signals::Signals;
use schema::trial::{CounterLine, IntervalLine, Phase};
use schema::version::SignalsVersion;
use std::collections::BTreeMap;

/// Most counters of each kind that are kept; the first ones that come.
const KEPT_MAX: usize = 1_000;
/// Share of an interval by which a tick may come late.
const LATE: f64 = 0.2;
/// Least share of an interval that increases must cover.
const COVERED_MIN: f64 = 0.5;

/// Takes lines in order of time.
#[derive(Clone, Debug)]
pub struct SignalsMaker {
    spans: Vec<(u64, u64)>,
    gauges: BTreeMap<String, Vec<(f64, u32)>>,
    deltas: BTreeMap<String, Vec<(f64, f64)>>,
    /// When each source was read last.
    read_at: BTreeMap<String, u64>,
}

impl SignalsMaker {
    /// For the samples among these intervals.
    #[must_use]
    pub fn new(intervals: &[IntervalLine]) -> Self {
        let is_measured =
            |line: &&IntervalLine| line.phase == Some(Phase::Sample) && line.end_ns > line.start_ns;
        Self::on(intervals.iter().filter(is_measured).map(|line| (line.start_ns, line.end_ns)).collect())
    }

    /// For any spans of time in order, none of which is empty.
    pub(super) fn on(spans: Vec<(u64, u64)>) -> Self {
        Self { spans, gauges: BTreeMap::new(), deltas: BTreeMap::new(), read_at: BTreeMap::new() }
    }

    /// Takes one line.
    pub fn add(&mut self, line: &CounterLine) {
        self.add_gauges(line);
        let before = self.read_at.insert(line.source.clone(), line.t_ns);
        if let Some(before) = before.filter(|before| *before < line.t_ns) {
            self.add_deltas(line, before);
        }
    }

    fn add_gauges(&mut self, line: &CounterLine) {
        let Some(at) = self.place(line.t_ns) else { return };
        let places = self.spans.len();
        for (key, value) in line.gauges.iter().filter(|(_, value)| value.is_finite()) {
            if let Some(series) = kept(&mut self.gauges, &line.source, key, || vec![(0.0, 0); places]) {
                series[at] = match series[at] {
                    (largest, 1) if is_extreme(key) => (largest.max(*value), 1),
                    (sum, count) => (sum + value, count + 1),
                };
            }
        }
    }

    fn add_deltas(&mut self, line: &CounterLine, before: u64) {
        let places = self.spans.len();
        let first = self.spans.partition_point(|(_, end)| *end <= before);
        let last = self.spans.partition_point(|(start, _)| *start < line.t_ns);
        if first >= last {
            return;
        }
        let length = (line.t_ns - before) as f64;
        for (key, value) in line.deltas.iter().filter(|(_, value)| value.is_finite()) {
            let Some(series) = kept(&mut self.deltas, &line.source, key, || vec![(0.0, 0.0); places]) else {
                continue;
            };
            for (at, (start, end)) in self.spans.iter().enumerate().take(last).skip(first) {
                let overlap = (line.t_ns.min(*end).saturating_sub(before.max(*start))) as f64;
                series[at].0 += value * overlap / length;
                series[at].1 += overlap / (end - start) as f64;
            }
        }
    }

    /// The interval that a tick covers.
    fn place(&self, t_ns: u64) -> Option<usize> {
        self.spans.iter().position(|(start, end)| {
            let late = ((end - start) as f64 * LATE) as u64;
            t_ns > start.saturating_add(late) && t_ns <= end.saturating_add(late)
        })
    }

    /// What came together.
    #[must_use]
    pub fn finish(self) -> Signals {
        let mean = |(sum, count): (f64, u32)| (count > 0).then(|| sum / f64::from(count));
        let whole = |(sum, covered): (f64, f64)| (covered >= COVERED_MIN).then(|| sum / covered.min(1.0));
        Signals {
            schema: SignalsVersion::default(),
            ends_ns: self.spans.iter().map(|(_, end)| *end).collect(),
            gauges: self.gauges.into_iter().map(|(key, series)| (key, finite(series, mean))).collect(),
            deltas: self.deltas.into_iter().map(|(key, series)| (key, finite(series, whole))).collect(),
        }
    }
}

fn finite<T>(series: Vec<T>, value: impl Fn(T) -> Option<f64>) -> Vec<Option<f64>> {
    series.into_iter().map(|found| value(found).filter(|value| value.is_finite())).collect()
}

/// The series of a counter, made where it is new and there is room.
fn kept<'a, T>(
    all: &'a mut BTreeMap<String, Vec<T>>,
    source: &str,
    key: &str,
    empty: impl FnOnce() -> Vec<T>,
) -> Option<&'a mut Vec<T>> {
    let name = format!("{source}/{key}");
    if !all.contains_key(&name) && all.len() >= KEPT_MAX {
        return None;
    }
    Some(all.entry(name).or_insert_with(empty))
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    fn maker() -> SignalsMaker {
        let line = |second: u64, phase| IntervalLine {
            start_ns: second * S,
            end_ns: (second + 1) * S,
            phase: Some(phase),
            ..IntervalLine::default()
        };
        SignalsMaker::new(&[
            line(0, Phase::Warmup),
            line(1, Phase::Sample),
            line(2, Phase::Sample),
            line(3, Phase::Drain),
        ])
    }

    fn line(t_ns: u64, gauge: f64, delta: f64) -> CounterLine {
        CounterLine {
            t_ns,
            source: "s".to_owned(),
            gauges: BTreeMap::from([("g".to_owned(), gauge)]),
            deltas: BTreeMap::from([("d".to_owned(), delta)]),
            ..CounterLine::default()
        }
    }

    #[test]
    fn ticks_belong_to_the_time_that_they_tell_of() {
        let mut maker = maker();
        for (second, gauge, delta) in [(0, 1.0, 0.0), (1, 2.0, 10.0), (2, 3.0, 20.0), (3, 4.0, 40.0)] {
            maker.add(&line(second * S + S / 100, gauge, delta));
        }
        let signals = maker.finish();
        assert_eq!(signals.gauges["s/g"], [Some(3.0), Some(4.0)]);
        let found: Vec<f64> = signals.deltas["s/d"].iter().map(|value| value.unwrap()).collect();
        assert!((found[0] - (0.99 * 20.0 + 0.01 * 10.0)).abs() < 0.2, "{found:?}");
        assert!((found[1] - (0.99 * 40.0 + 0.01 * 20.0)).abs() < 0.3, "{found:?}");
    }

    #[test]
    fn of_levels_the_mean_counts_and_of_percentiles_the_largest() {
        let mut maker = maker();
        for (at, value) in [(12, 4.0), (15, 1.0), (18, 1.0)] {
            let gauges = ["open", "wait_p95_ns", "wait_max_ns"].map(|name| (name.to_owned(), value)).into();
            maker.add(&CounterLine { gauges, ..line(at * S / 10 + S / 100, 0.0, 0.0) });
        }
        let signals = maker.finish();
        assert_eq!(signals.gauges["s/open"], [Some(2.0), None]);
        for name in ["s/wait_p95_ns", "s/wait_max_ns"] {
            assert_eq!(signals.gauges[name], [Some(4.0), None], "{name}");
        }
    }

    #[test]
    fn a_gap_is_absent_for_gauges_and_shared_out_for_increases() {
        let mut maker = maker();
        maker.add(&line(S, 1.0, 0.0));
        maker.add(&line(3 * S, 9.0, 30.0));
        let signals = maker.finish();
        assert_eq!(signals.gauges["s/g"], [None, Some(9.0)]);
        assert_eq!(signals.deltas["s/d"], [Some(15.0), Some(15.0)]);
    }

    #[test]
    fn hostile_lines_cost_nothing() {
        let mut maker = maker();
        maker.add(&line(u64::MAX, f64::NAN, f64::INFINITY));
        maker.add(&line(0, 1.0, 1.0));
        maker.add(&line(2 * S, f64::MAX, f64::MAX));
        maker.add(&line(2 * S, f64::MAX, f64::MAX));
        for number in 0..2_000 {
            let gauges = BTreeMap::from([(format!("k{number}"), 1.0)]);
            maker.add(&CounterLine { gauges, ..line(2 * S + 5, 0.0, 0.0) });
        }
        let signals = maker.finish();
        assert!(signals.gauges.len() <= KEPT_MAX);
        assert!(
            signals.gauges.values().chain(signals.deltas.values()).flatten().flatten().all(|v| v.is_finite())
        );
    }
}
