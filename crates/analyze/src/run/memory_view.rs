//! Memory, garbage collection and p99 of a cell's middle trial on one time axis, and what each request allocates.
//!
//! Invariants: what was not read is absent, never zero; a share or a rate counts only the intervals that have its
//! counter, with their own time and answers.

use super::TrialData;
use super::data::RunData;
use super::trials::value;
use schema::memory_view::{MemoryKind, MemorySeries, MemoryView};
use schema::metric::Metric;
use schema::plan::CellPlan;
use schema::signals::Signals;
use schema::trial::{IntervalLine, Phase};
use std::collections::BTreeMap;

const RESIDENT: &str = "target.process/rss_bytes";
const CPU: &str = "target.process/cpu_ns";
/// Where runtimes report their heap, the first that is there.
const HEAPS: [&str; 4] = [
    "go.runtime/heap_live_bytes",
    "go.runtime/heap_bytes",
    "jvm.runtime/heap_used_bytes",
    "node.runtime/heap_used_bytes",
];
const RUNTIMES: [&str; 3] = ["go.runtime", "jvm.runtime", "node.runtime"];
/// More points than this say no more on a page.
const POINTS_MAX: usize = 1_000;

/// `None` where no valid trial has counters of the target's memory.
pub(super) fn memory_view(data: &RunData<'_>, cell: &CellPlan) -> Option<MemoryView> {
    let mut told: Vec<(f64, &TrialData, Scale<'_>)> = data
        .valid(&cell.id)
        .filter_map(|trial| Some((value(&trial.file, Metric::Throughput)?, trial, Scale::of(trial)?)))
        .collect();
    // The lower middle; among equals the earlier trial.
    told.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.file.id.cmp(&b.1.file.id)));
    let (_, trial, scale) = told.get(told.len().checked_sub(1)? / 2)?;
    Some(view(trial.file.id, scale))
}

/// The intervals of one trial's samples with its counters.
struct Scale<'a> {
    signals: &'a Signals,
    /// One for each end of the signals; `None` where the trial has no such interval.
    lines: Vec<Option<&'a IntervalLine>>,
}

impl<'a> Scale<'a> {
    /// `None` where the target's memory was not read at all.
    fn of(trial: &'a TrialData) -> Option<Self> {
        let signals = trial.signals.as_ref()?;
        let is_measured =
            |line: &&IntervalLine| line.phase == Some(Phase::Sample) && line.end_ns > line.start_ns;
        let by_end: BTreeMap<u64, &IntervalLine> =
            trial.intervals.iter().filter(is_measured).map(|line| (line.end_ns, line)).collect();
        let lines = signals.ends_ns.iter().map(|end| by_end.get(end).copied()).collect();
        let scale = Self { signals, lines };
        (!scale.memory().is_empty()).then_some(scale)
    }

    /// Everything but the response times.
    fn memory(&self) -> Vec<MemorySeries> {
        let heap = HEAPS.iter().find_map(|key| self.gauge(MemoryKind::Heap, key));
        let rate = |kind, name: &str| {
            RUNTIMES.iter().find_map(|runtime| self.rates(kind, &format!("{runtime}/{name}")))
        };
        let all = [
            self.gauge(MemoryKind::Resident, RESIDENT),
            heap,
            rate(MemoryKind::AllocRate, "alloc_bytes"),
            rate(MemoryKind::Collections, "gc_cycles"),
            rate(MemoryKind::Pauses, "gc_pause_ns"),
        ];
        all.into_iter().flatten().collect()
    }

    fn gauge(&self, kind: MemoryKind, key: &str) -> Option<MemorySeries> {
        let values = self.signals.gauges.get(key)?;
        series(kind, key, (0..self.lines.len()).map(|at| values.get(at).copied().flatten()))
    }

    /// Increases per second.
    fn rates(&self, kind: MemoryKind, key: &str) -> Option<MemorySeries> {
        let values = self.signals.deltas.get(key)?;
        let rate = |(at, line): (usize, &Option<&IntervalLine>)| {
            Some(values.get(at).copied().flatten()? / seconds((*line)?))
        };
        series(kind, key, self.lines.iter().enumerate().map(rate))
    }

    fn p99(&self) -> Option<MemorySeries> {
        let values = self.lines.iter().map(|line| line.and_then(|line| line.p99_ns).map(|ns| ns as f64));
        series(MemoryKind::P99, "intervals/p99_ns", values)
    }

    /// Sum of a counter over the sum of something else, in the intervals that have the counter; of the first runtime
    /// that tells.
    fn over(&self, name: &str, other: impl Fn(&IntervalLine) -> f64) -> Option<f64> {
        let of = |runtime: &str| {
            let values = self.signals.deltas.get(&format!("{runtime}/{name}"))?;
            let told = self.lines.iter().zip(values).filter_map(|(line, value)| Some(((*line)?, (*value)?)));
            let (sum, all) =
                told.fold((0.0, 0.0), |(sum, all), (line, value)| (sum + value, all + other(line)));
            ratio(sum, all)
        };
        RUNTIMES.iter().find_map(|runtime| of(runtime))
    }

    /// Go brings its figure up to date when a cycle ends, so intervals without one have none and add nothing.
    fn gc_cpu_share(&self) -> Option<f64> {
        let sum = |key: &str| {
            let told: Vec<f64> = self.signals.deltas.get(key)?.iter().copied().flatten().collect();
            (!told.is_empty()).then(|| told.iter().sum::<f64>())
        };
        ratio(sum("go.runtime/gc_cpu_ns")?, sum(CPU)?).map(|share| share.min(1.0))
    }
}

fn seconds(line: &IntervalLine) -> f64 {
    line.end_ns.saturating_sub(line.start_ns) as f64 / 1e9
}

fn ratio(sum: f64, all: f64) -> Option<f64> {
    (all > 0.0).then(|| sum / all).filter(|ratio| ratio.is_finite() && *ratio >= 0.0)
}

/// `None` where nothing was read.
fn series(kind: MemoryKind, from: &str, values: impl Iterator<Item = Option<f64>>) -> Option<MemorySeries> {
    let values: Vec<Option<f64>> = values.map(|value| value.filter(|value| value.is_finite())).collect();
    let found = MemorySeries { kind, from: from.to_owned(), values };
    found.values.iter().any(Option::is_some).then_some(found)
}

fn view(trial: u32, scale: &Scale<'_>) -> MemoryView {
    let step = scale.signals.ends_ns.len().div_ceil(POINTS_MAX).max(1);
    let thinned = |mut series: MemorySeries| {
        series.values = series.values.into_iter().step_by(step).collect();
        series
    };
    MemoryView {
        trial,
        begin_ns: scale.lines.iter().flatten().next().map_or(0, |line| line.start_ns),
        ends_ns: scale.signals.ends_ns.iter().copied().step_by(step).collect(),
        series: scale.memory().into_iter().chain(scale.p99()).map(thinned).collect(),
        alloc_per_request_bytes: scale.over("alloc_bytes", |line| line.completed as f64),
        alloc_per_request_objects: scale.over("alloc_objects", |line| line.completed as f64),
        collections_per_s: scale.over("gc_cycles", seconds),
        pause_share: scale.over("gc_pause_ns", |line| seconds(line) * 1e9),
        gc_cpu_share: scale.gc_cpu_share(),
    }
}
