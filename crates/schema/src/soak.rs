//! Long runs of one cell that look for leaks: the plan, the files of a segment, and the verdict (METHOD §8).
//!
//! A segment is one start of the target: one trial of the run folder. Trends never cross its borders.

use crate::said::Said;
use crate::threshold::ThresholdAnswer;
use crate::version::{SegmentVersion, SoakVersion};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is followed from window to window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SoakCounter {
    /// Resident memory of all processes of the target, in bytes: the lowest reading of the window.
    Memory,
    /// Open descriptors of that process of the target which has most: the lowest reading.
    Descriptors,
    /// Threads of all processes: the lowest reading.
    Threads,
    /// Goroutines: the lowest reading.
    Goroutines,
    /// Bytes that the latest collection of a Go or JVM target found alive, or that Node uses: the lowest reading.
    Heap,
    /// Sockets that the target's processes hold: the lowest reading.
    Connections,
    /// Right answers per second.
    Throughput,
    /// Median response time of the window, in nanoseconds.
    P50,
    /// 99th percentile of response time of the window, in nanoseconds.
    P99,
    /// CPU time of the target per right answer, in nanoseconds.
    CpuPerRequest,
    /// Full collections per hour: of the JVM, or the major ones of Node.
    FullGcs,
}

/// CPU time of all processes of the target.
pub const CPU: &str = "target.process/cpu_ns";
/// Full collections: of the JVM, and what Node calls major ones. Of Go every collection is of the whole heap.
pub const FULL_GCS: [&str; 2] = ["jvm.runtime/gc_full_cycles", "node.runtime/gc_major_cycles"];
/// What the names of the counters of full collections by cause begin with.
pub const FULL_GC_CAUSE: &str = "jvm.runtime/gc_full_cause_";

impl SoakCounter {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 11] = [
        Self::Memory,
        Self::Descriptors,
        Self::Threads,
        Self::Goroutines,
        Self::Heap,
        Self::Connections,
        Self::Throughput,
        Self::P50,
        Self::P99,
        Self::CpuPerRequest,
        Self::FullGcs,
    ];

    /// Whether it is held by the target and can run out, so that it can leak.
    #[must_use]
    pub const fn is_resource(self) -> bool {
        !matches!(self, Self::Throughput | Self::P50 | Self::P99 | Self::CpuPerRequest | Self::FullGcs)
    }
}

/// When a soak ends before its time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopWhen {
    /// Once a leak is certain.
    #[default]
    Leak,
    /// Not before its time.
    Never,
}

/// A soak, resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct SoakPlan {
    /// Length of a window; each is one sample.
    pub window_ns: u64,
    /// Windows in all segments together.
    pub windows: u32,
    /// Between two readings of the counters.
    pub tick_ns: u64,
    /// What is not exhausted within this time is no leak.
    pub horizon_ns: u64,
    /// When it ends before its time.
    pub stop_when: StopWhen,
}

/// `segment.json` of a trial: what was known when its target was up.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct SegmentFile {
    /// Format and version.
    pub schema: SegmentVersion,
    /// Number of the trial.
    pub trial: u32,
    /// When the target was up, RFC 3339 in UTC.
    pub started_wall: String,
    /// What ends each counter; absent where no limit could be read.
    pub limits: BTreeMap<SoakCounter, SoakLimit>,
    /// Why counters or limits are missing, one sentence each.
    pub missing: Vec<Said>,
}

/// The value of a counter at which the target can go no further, and who says so.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct SoakLimit {
    /// In the unit of the counter.
    pub value: f64,
    /// For example `RLIMIT_NOFILE` or `memory.max of /sys/fs/cgroup/prony`.
    pub source: Said,
}

/// A line of `windows.ndjson`: one whole window.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct WindowLine {
    /// From 1 within the segment.
    pub window: u32,
    /// Begin, from the trial's origin.
    pub start_ns: u64,
    /// End.
    pub end_ns: u64,
    /// How often the counters of the target were read in it.
    pub readings: u32,
    /// The lowest reading of each resource; absent where it was never read.
    pub floors: BTreeMap<SoakCounter, f64>,
    /// Right answers per second.
    pub throughput_per_s: f64,
    /// Right answers.
    pub answers: u64,
    /// Failed requests.
    pub failed: u64,
    /// Median response time; absent where the window has too few requests for it.
    pub p50_ns: Option<u64>,
    /// 99th percentile of response time; absent where the window has too few requests for it.
    pub p99_ns: Option<u64>,
    /// Counters that trends and thresholds are made of, by source and name; absent where they were not read.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, WindowCounter>,
}

/// A counter in one window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WindowCounter {
    /// The mean of the readings of a level, the largest of a percentile or maximum, or an increase.
    pub value: f64,
    /// The time over which it increased; absent for a level. A reading belongs to the window in which it was made, so
    /// this may differ from the length of the window by the time between two readings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_ns: Option<u64>,
}

impl WindowCounter {
    /// An increase per second.
    #[must_use]
    pub fn per_second(&self) -> Option<f64> {
        let over_ns = self.over_ns.filter(|over_ns| *over_ns > 0)?;
        Some(self.value * 1e9 / over_ns as f64)
    }
}

impl WindowLine {
    /// The value of a counter in this window.
    #[must_use]
    pub fn value(&self, counter: SoakCounter) -> Option<f64> {
        match counter {
            SoakCounter::Throughput => Some(self.throughput_per_s),
            SoakCounter::P50 => self.p50_ns.map(|ns| ns as f64),
            SoakCounter::P99 => self.p99_ns.map(|ns| ns as f64),
            SoakCounter::CpuPerRequest => self.per_answer(CPU),
            SoakCounter::FullGcs => {
                let found = FULL_GCS.iter().find_map(|key| self.counters.get(*key));
                Some(found?.per_second()? * 3600.0)
            }
            resource => self.floors.get(&resource).copied(),
        }
    }

    /// An increase per right answer; `None` without one.
    #[must_use]
    pub fn per_answer(&self, counter: &str) -> Option<f64> {
        let counter = self.counters.get(counter)?;
        let seconds = (self.end_ns.checked_sub(self.start_ns)?) as f64 / 1e9;
        // Both as rates, because readings and windows begin at other times.
        let answers = self.answers as f64 / seconds;
        (answers > 0.0 && seconds > 0.0).then_some(counter.per_second()? / answers)
    }
}

/// The answer of a soak: part of `analysis.json`, and what `prony soak --format json` prints.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct SoakReport {
    /// Format and version.
    pub schema: SoakVersion,
    /// Name of the run folder.
    pub run: String,
    /// What is followed, for people: the cell's label.
    pub cell: String,
    /// The gravest class of a resource.
    pub verdict: SoakClass,
    /// The answer in one sentence.
    pub answer: Said,
    /// Length of a window.
    pub window_ns: u64,
    /// Windows asked for.
    pub windows_planned: u32,
    /// Whole windows in all segments.
    pub windows: u32,
    /// What is not exhausted within this time is no leak.
    pub horizon_ns: u64,
    /// Starts of the target, in order.
    pub segments: Vec<SoakSegment>,
    /// One entry for each counter that was read, resources first.
    pub trends: Vec<SoakTrend>,
    /// The thresholds of the experiment, held against every window.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thresholds: Vec<ThresholdAnswer>,
    /// What weakens the answer, one sentence each.
    pub notes: Vec<Said>,
}

/// One start of the target.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct SoakSegment {
    /// Number of the trial.
    pub trial: u32,
    /// When the target was up, RFC 3339 in UTC.
    pub started_wall: String,
    /// Whole windows.
    pub windows: u32,
    /// Whether it has enough windows to be judged by itself.
    pub is_judged: bool,
}

/// What a counter does over time (METHOD §8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SoakClass {
    /// It rises in a line and reaches its limit within the horizon.
    Leak,
    /// It rises towards a level below its limit, or has reached it.
    Filling,
    /// No significant trend, and none that matters within the horizon would have been missed.
    Steady,
    /// The windows do not decide.
    CannotTell,
    /// A resource rises, but reaches its limit only after the horizon. Throughput or latency rises by more than 1 % over
    /// the segment.
    Rising,
    /// A resource falls. Throughput or latency falls by more than 1 % over the segment.
    Falling,
}

/// One counter in numbers. What does not apply, or was refused, is null.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct SoakTrend {
    /// Which counter.
    pub counter: SoakCounter,
    /// What it does.
    pub class: SoakClass,
    /// The evidence in words.
    pub text: Said,
    /// The segment that it is judged by: number of its trial.
    pub trial: u32,
    /// Windows of that segment in which it was read.
    pub windows: u32,
    /// Median of the first windows.
    pub first: Option<f64>,
    /// Median of the last windows.
    pub last: Option<f64>,
    /// Theil–Sen slope per hour.
    pub slope_per_h: Option<f64>,
    /// Its lower end at the plan's confidence, widened for autocorrelation.
    pub slope_low_per_h: Option<f64>,
    /// Its upper end.
    pub slope_high_per_h: Option<f64>,
    /// Where these slopes run, for a chart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<SoakLine>,
    /// Two-sided p of no trend: Mann–Kendall with the correction of Hamed and Rao.
    pub p_value: Option<f64>,
    /// Of what is steady: the smallest rise an hour that would have been seen, with a probability of 95 %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smallest_seen_per_h: Option<f64>,
    /// What autocorrelation multiplied the variance by.
    pub variance_factor: Option<f64>,
    /// The value at which the target can go no further.
    pub limit: Option<SoakLimit>,
    /// From the last window to the limit at the slope; null where it is not rising.
    pub exhausted_in_ns: Option<u64>,
    /// The earliest, at the upper slope.
    pub exhausted_in_low_ns: Option<u64>,
    /// The latest, at the lower slope; null where it may never be.
    pub exhausted_in_high_ns: Option<u64>,
    /// BIC of a saturating exponential less BIC of a line: above 6 the line is better.
    pub bic_filling: Option<f64>,
    /// BIC of up to three steps less BIC of a line.
    pub bic_steps: Option<f64>,
    /// BIC of a slow wave less BIC of a line.
    pub bic_wave: Option<f64>,
    /// The level that the saturating exponential tends to.
    pub plateau: Option<f64>,
    /// Its time constant.
    pub time_constant_ns: Option<u64>,
    /// Its values, for a chart: at most some hundreds, in order of time.
    pub series: Vec<SoakPoint>,
}

/// The slopes of a trend as lines over the windows that they are of. Each runs through the median of the values, what
/// it rises to their place taken off (Sen 1968), so they cross in the middle. Values in the unit of the counter, at the
/// first window and at the last.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SoakLine {
    /// End of the first window from the trial's origin, and of the last.
    pub at_ns: [u64; 2],
    /// At the Theil–Sen slope.
    pub slope: [f64; 2],
    /// At its lower end.
    pub low: [f64; 2],
    /// At its upper end.
    pub high: [f64; 2],
}

/// One window of one counter.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct SoakPoint {
    /// The segment: number of its trial.
    pub trial: u32,
    /// End of the window from the trial's origin.
    pub t_ns: u64,
    /// In the unit of the counter.
    pub value: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_keys_and_all_are_listed_once() {
        let names: Vec<String> =
            SoakCounter::ALL.iter().map(|counter| serde_json::to_string(counter).unwrap()).collect();
        assert_eq!(names.len(), names.iter().collect::<std::collections::BTreeSet<_>>().len());
        let line = WindowLine {
            floors: BTreeMap::from([(SoakCounter::Memory, 5.0)]),
            p99_ns: Some(7),
            ..WindowLine::default()
        };
        let text = serde_json::to_string(&line).unwrap();
        assert!(text.contains("\"memory\":5.0"), "{text}");
        assert_eq!(serde_json::from_str::<WindowLine>(&text).unwrap(), line);
        assert_eq!(line.value(SoakCounter::Memory), Some(5.0));
        assert_eq!((line.value(SoakCounter::P99), line.value(SoakCounter::P50)), (Some(7.0), None));
        assert_eq!(line.value(SoakCounter::Heap), None);
        assert_eq!((line.value(SoakCounter::CpuPerRequest), line.value(SoakCounter::FullGcs)), (None, None));
        let increase = |value, over_ns| WindowCounter { value, over_ns: Some(over_ns) };
        let counted = WindowLine {
            end_ns: 60_000_000_000,
            answers: 600,
            counters: BTreeMap::from([
                (CPU.to_owned(), increase(2e9, 50_000_000_000)),
                (FULL_GCS[1].to_owned(), increase(1.0, 60_000_000_000)),
            ]),
            ..line
        };
        // 40 ms of CPU time a second for 10 answers a second.
        assert_eq!(counted.value(SoakCounter::CpuPerRequest), Some(4e6));
        assert!((counted.value(SoakCounter::FullGcs).unwrap() - 60.0).abs() < 1e-9);
    }
}
