//! What a trial did a moment ago: the values that alarms are held against.
//!
//! A percentile is that of the newest intervals which together have enough answers to give it an upper end
//! (METHOD §4: 368 for the 99th), a minute of them at most; without enough it has no value. Where no request ended in the
//! newest intervals although some were in flight all the time, every one of them waits at least that long: that span is
//! a lower bound of every percentile, so that a target that stands still is noticed. The share of errors and the
//! throughput are those of the newest interval, counters those of their newest reading.

use super::watch::Seen;
use crate::stats::order::{fewest_for, rank_of};
use crate::thresholds::window_value;
use schema::alarm::AlarmPlan;
use schema::counter_metric::ClaimMetric;
use schema::metric::Metric;
use schema::soak::{CPU, WindowCounter, WindowLine};
use schema::trial::{CounterLine, IntervalLine};
use std::collections::{BTreeMap, VecDeque};

/// Longest span that a percentile is taken from.
const SPAN_MAX_NS: u64 = 60_000_000_000;
/// Most intervals that are kept, whatever their length.
const INTERVALS_MAX: usize = 600;
/// The target's processes.
const TARGET: &str = "target.process";
const MEMORY: &str = "target.process/rss_bytes";
/// Runtimes that report what their collector does.
const RUNTIMES: [&str; 4] = ["go.runtime", "jvm.runtime", "node.runtime", "php.runtime"];

/// The newest intervals and readings.
#[derive(Debug)]
pub(super) struct Recent {
    /// CPUs that the target may use.
    cpus: f64,
    intervals: VecDeque<Interval>,
    /// By source and name.
    counters: BTreeMap<String, WindowCounter>,
    /// When each source was read last.
    read_at: BTreeMap<String, u64>,
}

#[derive(Debug)]
struct Interval {
    line: IntervalLine,
    /// Times and how often they came, in any order.
    times_ns: Vec<(u64, u64)>,
}

impl Interval {
    fn answers(&self) -> u64 {
        self.times_ns.iter().map(|(_, count)| count).sum()
    }

    fn failed(&self) -> u64 {
        self.line.failed.values().sum()
    }
}

impl Recent {
    pub(super) const fn new(cpus: f64) -> Self {
        Self { cpus, intervals: VecDeque::new(), counters: BTreeMap::new(), read_at: BTreeMap::new() }
    }

    pub(super) fn interval(&mut self, line: &IntervalLine, times_ns: &[(u64, u64)]) {
        self.intervals.push_back(Interval { line: line.clone(), times_ns: times_ns.to_vec() });
        let from_ns = line.end_ns.saturating_sub(SPAN_MAX_NS);
        while self.intervals.len() > INTERVALS_MAX
            || self.intervals.front().is_some_and(|first| first.line.start_ns < from_ns)
        {
            self.intervals.pop_front();
        }
    }

    pub(super) fn counters(&mut self, line: &CounterLine) {
        let before = self.read_at.insert(line.source.clone(), line.t_ns);
        // What was not read again is no value of now.
        let prefix = format!("{}/", line.source);
        self.counters.retain(|key, _| !key.starts_with(&prefix));
        let over_ns = before.and_then(|before| line.t_ns.checked_sub(before)).filter(|over_ns| *over_ns > 0);
        let levels = line.gauges.iter().map(|(name, value)| (name, *value, None));
        // An increase of unknown length has no rate.
        let increases = line.deltas.iter().filter(|_| over_ns.is_some());
        for (name, value, over_ns) in levels.chain(increases.map(|(name, value)| (name, *value, over_ns))) {
            self.counters.insert(format!("{prefix}{name}"), WindowCounter { value, over_ns });
        }
    }

    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        self.intervals.len()
    }

    /// The value of an alarm's metric, where an interval (`None`) or a reading of this source says something new of it.
    pub(super) fn value(&self, plan: &AlarmPlan, source: Option<&str>) -> Option<Seen> {
        let is_new = match (source, &plan.metric) {
            (Some(source), metric) => is_of(metric, source),
            (None, metric) => !is_counted(metric),
        };
        if !is_new {
            return None;
        }
        let newest = self.intervals.back()?;
        let (start_ns, end_ns) = match source {
            Some(source) => {
                let at_ns = *self.read_at.get(source)?;
                (at_ns, at_ns)
            }
            None => (newest.line.start_ns, newest.line.end_ns),
        };
        let value = match &plan.metric {
            ClaimMetric::Named(metric) => self.named(*metric)?,
            counter @ ClaimMetric::Counter(_) => window_value(&self.window()?, counter)?,
        };
        Some(Seen { start_ns, end_ns, value })
    }

    fn named(&self, metric: Metric) -> Option<f64> {
        match metric {
            Metric::Max => self.longest(),
            Metric::Cpu => Some(self.counters.get(CPU)?.per_second()? / 1e9 / self.cpus),
            Metric::Memory => self.level(MEMORY),
            Metric::GcPauseShare => {
                let of = |runtime| self.counters.get(&format!("{runtime}/gc_pause_ns"))?.per_second();
                RUNTIMES.into_iter().find_map(of).map(|per_second| per_second / 1e9)
            }
            Metric::GcPauseMax => {
                RUNTIMES.into_iter().find_map(|runtime| self.level(&format!("{runtime}/gc_pause_max_ns")))
            }
            metric => match metric.quantile() {
                Some(quantile) => self.quantile(quantile),
                None => window_value(&self.window()?, &ClaimMetric::Named(metric)),
            },
        }
    }

    fn level(&self, key: &str) -> Option<f64> {
        self.counters.get(key).filter(|counter| counter.over_ns.is_none()).map(|counter| counter.value)
    }

    /// The newest interval and the newest counters, as a soak has them of a window.
    fn window(&self) -> Option<WindowLine> {
        let newest = self.intervals.back()?;
        let seconds = newest.line.end_ns.checked_sub(newest.line.start_ns).filter(|ns| *ns > 0)? as f64 / 1e9;
        Some(WindowLine {
            start_ns: newest.line.start_ns,
            end_ns: newest.line.end_ns,
            throughput_per_s: newest.line.completed as f64 / seconds,
            answers: newest.line.completed,
            failed: newest.failed(),
            counters: self.counters.clone(),
            ..WindowLine::default()
        })
    }

    fn quantile(&self, quantile: f64) -> Option<f64> {
        let fewest = fewest_for(quantile);
        let (mut answers, mut times_ns) = (0_u64, Vec::new());
        for interval in self.intervals.iter().rev() {
            answers = answers.saturating_add(interval.answers());
            times_ns.extend_from_slice(&interval.times_ns);
            if answers >= fewest {
                break;
            }
        }
        let stands_still = self.silent_ns().map(|ns| ns as f64);
        if answers < fewest {
            return stands_still;
        }
        times_ns.sort_unstable();
        let rank = rank_of(quantile, answers);
        let mut below = 0_u64;
        let found = times_ns.iter().find(|(_, count)| {
            below = below.saturating_add(*count);
            below >= rank
        });
        let value = found.map(|(time_ns, _)| *time_ns as f64)?;
        Some(stands_still.map_or(value, |still| still.max(value)))
    }

    fn longest(&self) -> Option<f64> {
        let newest = self.intervals.back()?;
        let longest = newest.times_ns.iter().map(|(time_ns, _)| *time_ns).max();
        longest.into_iter().chain(self.silent_ns()).max().map(|ns| ns as f64)
    }

    /// How long nothing has ended although requests were in flight at the begin and the end of each interval.
    fn silent_ns(&self) -> Option<u64> {
        let end_ns = self.intervals.back()?.line.end_ns;
        let is_silent = |interval: &&Interval| {
            interval.line.completed == 0 && interval.failed() == 0 && interval.line.in_flight > 0
        };
        let silent = self.intervals.iter().rev().take_while(is_silent).last()?;
        // In the first silent interval requests may have been written at any moment, so it counts from its end.
        let from_ns = silent.line.end_ns;
        Some(end_ns.saturating_sub(from_ns)).filter(|ns| *ns > 0)
    }
}

/// Whether a metric is made of counters alone.
const fn is_counted(metric: &ClaimMetric) -> bool {
    match metric {
        ClaimMetric::Counter(_) => true,
        ClaimMetric::Named(metric) => matches!(
            metric,
            Metric::Cpu | Metric::CpuPerRequest | Metric::Memory | Metric::GcPauseShare | Metric::GcPauseMax
        ),
    }
}

/// Whether a source has what a metric is made of.
fn is_of(metric: &ClaimMetric, source: &str) -> bool {
    match metric {
        ClaimMetric::Counter(counter) => counter.counter.rsplit_once('/').is_some_and(|(of, _)| of == source),
        ClaimMetric::Named(Metric::Cpu | Metric::CpuPerRequest | Metric::Memory) => source == TARGET,
        ClaimMetric::Named(Metric::GcPauseShare | Metric::GcPauseMax) => RUNTIMES.contains(&source),
        ClaimMetric::Named(_) => false,
    }
}
