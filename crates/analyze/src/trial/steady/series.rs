//! The series that are looked at, one value an interval or a tick, and what counts as a change in each.
//!
//! Invariants: values are finite, times rise; times and sizes are logarithms, so that a change is a ratio. A value
//! that is missing is left out, never zero.

use crate::stats::order::median;
use schema::load::ErrorClass;
use schema::steady::SteadySeries;
use schema::trial::IntervalLine;
use std::collections::BTreeMap;

/// The smallest change that is material: 1 % (METHOD §5), for errors one request in a hundred.
const MATERIAL: f64 = 0.01;
/// The same for memory, which grows by whole arenas and is no part of an answer's time.
const MATERIAL_MEMORY: f64 = 0.05;
/// Longer series are replaced by the medians of blocks, so that a day of seconds takes no longer than half an hour.
const VALUES_MAX: usize = 2_000;
/// Answers in an interval for a 99th percentile worth following: ten lie above it.
const ANSWERS_FOR_P99: u64 = 1_000;

/// What was read of the target beside the load, at one tick. What cannot be read is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Beside {
    /// When it was read, on the trial's clock.
    pub t_ns: u64,
    /// CPU time of the target's processes since the tick before.
    pub cpu_ns: Option<f64>,
    /// Their resident memory.
    pub rss_bytes: Option<f64>,
    /// Garbage collections since the tick before.
    pub gc_cycles: Option<f64>,
}

/// One series.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Series {
    pub(super) name: SteadySeries,
    /// End of each interval, rising.
    pub(super) times_ns: Vec<u64>,
    pub(super) values: Vec<f64>,
    /// The smallest change that counts, in units of the values.
    pub(super) material: f64,
    /// Whether the values are logarithms.
    pub(super) is_log: bool,
}

impl Series {
    fn new(name: SteadySeries, points: impl Iterator<Item = (u64, f64)>) -> Self {
        let is_log = name != SteadySeries::Errors;
        let share = if name == SteadySeries::Memory { MATERIAL_MEMORY } else { MATERIAL };
        let points = points.map(|(at, value)| (at, if is_log { value.ln() } else { value }));
        let (times_ns, values) = thinned(points.filter(|(_, value)| value.is_finite()).unzip());
        Self { name, times_ns, values, material: if is_log { share.ln_1p() } else { share }, is_log }
    }

    /// A difference of values as people read it: a ratio less 1, or a difference of shares.
    pub(super) fn change(&self, difference: f64) -> f64 {
        if self.is_log { difference.exp_m1().min(f64::MAX) } else { difference }
    }
}

/// At most [`VALUES_MAX`] values: medians of blocks, at the end of each block.
fn thinned((times_ns, values): (Vec<u64>, Vec<f64>)) -> (Vec<u64>, Vec<f64>) {
    let block = values.len().div_ceil(VALUES_MAX).max(1);
    if block == 1 {
        return (times_ns, values);
    }
    let ends = times_ns.chunks(block).filter_map(|times| times.last().copied()).collect();
    (ends, values.chunks(block).filter_map(median).collect())
}

/// Every series that these lines and ticks have, in a fixed order; one without values is absent.
pub(super) fn all(lines: &[IntervalLine], beside: &[Beside]) -> Vec<Series> {
    let lines: Vec<&IntervalLine> = lines.iter().filter(|line| line.end_ns > line.start_ns).collect();
    let busy = || lines.iter().filter(|line| line.completed > 0);
    // A median below the clock's step reads 0; half a nanosecond stands for it.
    let time = |ns: u64| (ns as f64).max(0.5);
    let p50 = busy().filter_map(|line| Some((line.end_ns, time(line.p50_ns?))));
    let mut series = vec![Series::new(SteadySeries::P50, p50)];
    if lines.iter().all(|line| line.completed >= ANSWERS_FOR_P99) {
        let p99 = busy().filter_map(|line| Some((line.end_ns, time(line.p99_ns?))));
        series.push(Series::new(SteadySeries::P99, p99));
    }
    // Half an answer stands for none: a stall has no logarithm.
    let rate =
        |line: &&IntervalLine| (line.completed as f64).max(0.5) * 1e9 / (line.end_ns - line.start_ns) as f64;
    series.push(Series::new(SteadySeries::Throughput, lines.iter().map(|line| (line.end_ns, rate(line)))));
    series.push(Series::new(
        SteadySeries::Errors,
        lines.iter().filter_map(|line| Some((line.end_ns, failed_share(line)?))),
    ));
    series.push(Series::new(SteadySeries::CpuPerRequest, cpu_per_request(&lines, beside)));
    let memory = within(&lines, beside).filter_map(|tick| Some((tick.t_ns, tick.rss_bytes?)));
    series.push(Series::new(SteadySeries::Memory, memory));
    series.retain(|series| !series.values.is_empty());
    series
}

fn failed_share(line: &IntervalLine) -> Option<f64> {
    let failed = total(&line.failed) as f64;
    let ended = failed + line.completed as f64;
    (ended > 0.0).then(|| failed / ended)
}

fn total(failed: &BTreeMap<ErrorClass, u64>) -> u64 {
    failed.values().fold(0, |sum, count| sum.saturating_add(*count))
}

/// The ticks from the begin of the first line to half a second after the end of the last.
fn within<'a>(lines: &[&IntervalLine], beside: &'a [Beside]) -> impl Iterator<Item = &'a Beside> {
    let begin = lines.first().map_or(u64::MAX, |line| line.start_ns);
    let end = lines.last().map_or(0, |line| line.end_ns.saturating_add(500_000_000));
    beside.iter().filter(move |tick| tick.t_ns >= begin && tick.t_ns <= end)
}

/// The target's CPU time between two ticks over the answers between them; ticks and intervals need not agree, so
/// answers are taken to come evenly within an interval.
fn cpu_per_request(lines: &[&IntervalLine], beside: &[Beside]) -> impl Iterator<Item = (u64, f64)> {
    let ticks: Vec<&Beside> = within(lines, beside).collect();
    let end = lines.last().map_or(0, |line| line.end_ns);
    let pairs: Vec<(u64, f64)> = ticks
        .windows(2)
        .filter_map(|pair| {
            // The last tick may come a little after the last interval, whose answers then stand for it.
            let to = pair[1].t_ns.min(end);
            let answers = answers_until(lines, to) - answers_until(lines, pair[0].t_ns.min(end));
            Some((pair[1].t_ns, pair[1].cpu_ns.filter(|_| answers >= 1.0)? / answers))
        })
        .collect();
    pairs.into_iter()
}

/// Answers from the begin of the lines to a moment.
fn answers_until(lines: &[&IntervalLine], t_ns: u64) -> f64 {
    let share = |line: &&&IntervalLine| {
        let length = line.end_ns - line.start_ns;
        let passed = t_ns.clamp(line.start_ns, line.end_ns) - line.start_ns;
        line.completed as f64 * passed as f64 / length as f64
    };
    lines.iter().take_while(|line| line.start_ns < t_ns).map(|line| share(&line)).sum()
}
