//! What a soak does beside its load: read the limits, write the windows, look at the trends so far, end when it is
//! certain or the target is gone.
//!
//! Looks are rare (`analyze::looks`): they compute for some 10 ms to 100 ms on the generator's CPUs.

use super::floors::{Floor, Floors};
use crate::RunnerError;
use crate::observer::Observer;
use analyze::SegmentData;
use collect::limits::{self, Limit};
use collect::{ProcessTree, Roots};
use record::segments::{SEGMENT, WINDOWS};
use record::{Lines, TrialFolder, write_json};
use schema::plan::{CellPlan, TrialPlan};
use schema::run::RunFile;
use schema::said;
use schema::said::Said;
use schema::soak::{
    SegmentFile, SoakClass, SoakCounter, SoakLimit, SoakPlan, SoakReport, StopWhen, WindowLine,
};
use schema::trial::{IntervalLine, PhaseSpan, SampleSummary, TrialFile};
use schema::version::SegmentVersion;
use std::collections::BTreeSet;
use std::path::Path;

/// A goroutine has at least this much stack (`stackMin`, runtime/stack.go of Go), so memory bounds their number.
const GOROUTINE_BYTES: f64 = 2048.0;
/// Windows in a row without one reading of the target after which it counts as gone.
const SILENT_WINDOWS: u32 = 2;
/// And so long at least: a busy host may hold up the one who reads for some windows of a fraction of a second.
const SILENT_NS: u64 = 5_000_000_000;

/// The observer of a segment; tells the user's observer everything.
pub(super) struct SoakWatch<'a> {
    run: &'a RunFile,
    soak: SoakPlan,
    /// Earlier segments, then this one.
    segments: Vec<SegmentData>,
    trial: u32,
    folder: TrialFolder,
    floors: Floors,
    windows: Option<Lines>,
    looks: Vec<usize>,
    latest: Option<SoakReport>,
    /// How many windows in a row had no reading, and how long they were.
    silent: u32,
    silent_ns: u64,
    is_watched: bool,
    enough: bool,
    /// Thresholds, by place in the plan, whose crossing was reported.
    reported: BTreeSet<usize>,
    observer: &'a mut dyn Observer,
}

impl<'a> SoakWatch<'a> {
    pub(super) fn new(
        run: &'a RunFile,
        soak: SoakPlan,
        mut segments: Vec<SegmentData>,
        trial: u32,
        folder: TrialFolder,
        floors: Floors,
        observer: &'a mut dyn Observer,
    ) -> Self {
        segments.push(SegmentData::default());
        let looks = analyze::looks(soak.windows as usize);
        Self {
            run,
            soak,
            segments,
            trial,
            folder,
            floors,
            windows: None,
            looks,
            latest: None,
            silent: 0,
            silent_ns: 0,
            is_watched: false,
            enough: false,
            reported: BTreeSet::new(),
            observer,
        }
    }

    fn present(&mut self) -> &mut SegmentData {
        self.segments.last_mut().expect("the present segment is there from the begin")
    }

    /// The first floor of goroutines, heap and sockets tells where their limits lie: they share those of memory and
    /// descriptors.
    fn derive_limits(&mut self, floor: &Floor) -> Result<(), RunnerError> {
        let file = &mut self.present().file;
        let before = file.limits.len();
        derived_limits(file, floor);
        if file.limits.len() > before {
            write_json(&self.folder.path.join(SEGMENT), &self.present().file.clone())?;
        }
        Ok(())
    }

    /// The first window that crosses a threshold is reported at once: whoever watches may act before the soak ends.
    fn report_crossings(&mut self, line: &WindowLine) {
        for (place, threshold) in self.run.plan.thresholds.iter().enumerate() {
            if !self.reported.contains(&place)
                && let Some(crossing) = analyze::crossing(threshold, line)
            {
                self.observer.note(&crossing);
                self.reported.insert(place);
            }
        }
    }

    /// A look at the trends, where one is due.
    fn look(&mut self) {
        let windows = self.present().windows.len();
        if !self.looks.contains(&windows) {
            return;
        }
        self.latest = analyze::soak_so_far(self.run, &self.segments);
        let leaks = self.latest.as_ref().is_some_and(|report| report.verdict == SoakClass::Leak);
        self.enough |= leaks && self.soak.stop_when == StopWhen::Leak;
    }
}

/// Adds limits that follow from those of memory and descriptors and a floor; those that are there stay.
fn derived_limits(file: &mut SegmentFile, floor: &Floor) {
    let lowest = |counter: SoakCounter| floor.lowest.get(&counter).copied();
    let left = |counter: SoakCounter| {
        let limit = file.limits.get(&counter)?;
        Some(((limit.value - lowest(counter)?).max(0.0), limit.source.clone()))
    };
    let memory = left(SoakCounter::Memory);
    let descriptors = left(SoakCounter::Descriptors);
    let stacks = memory
        .clone()
        .map(|(left, source)| (left / GOROUTINE_BYTES, said!("limit.each", "{source}, 2 KiB each", source)));
    for (counter, left) in [
        (SoakCounter::Heap, memory),
        (SoakCounter::Goroutines, stacks),
        (SoakCounter::Connections, descriptors),
    ] {
        if let (Some(now), Some((left, source))) = (lowest(counter), left) {
            file.limits.entry(counter).or_insert(SoakLimit { value: now + left, source });
        }
    }
}

/// What is known of the target's limits when it is up.
fn segment_file(trial: u32, pid: Option<u32>) -> SegmentFile {
    let mut file = SegmentFile {
        schema: SegmentVersion::default(),
        trial,
        started_wall: jiff::Timestamp::now().to_string(),
        ..SegmentFile::default()
    };
    let Some(pid) = pid else {
        file.missing.push(said!(
            "segment.not_started",
            "prony did not start the target, so what it holds cannot be read: name it by `use` or `command`"
        ));
        return file;
    };
    let roots = Roots::default();
    match ProcessTree::new(&roots, pid).read() {
        Ok(now) => {
            let found = limits::read(&roots, pid, &now);
            for (counter, limit) in [
                (SoakCounter::Memory, found.memory),
                (SoakCounter::Descriptors, found.descriptors),
                (SoakCounter::Threads, found.threads),
            ] {
                if let Some(Limit { value, source }) = limit {
                    file.limits.insert(counter, SoakLimit { value, source });
                }
            }
        }
        Err(error) => file.missing.push(said!(
            "segment.no_limits",
            "the target's limits could not be read: {cause}",
            cause = Said::from(error.to_string())
        )),
    }
    file
}

impl Observer for SoakWatch<'_> {
    fn note(&mut self, text: &str) {
        self.observer.note(text);
    }

    fn preparing(&mut self, target: &str) {
        self.observer.preparing(target);
    }

    fn decided(&mut self, text: &str, more: i64) {
        self.observer.decided(text, more);
    }

    fn started(&mut self, folder: &Path, run: &RunFile, left: usize) {
        self.observer.started(folder, run, left);
    }

    fn trial_begins(&mut self, trial: &TrialPlan, cell: &CellPlan) {
        self.observer.trial_begins(trial, cell);
    }

    fn interval(&mut self, line: &IntervalLine) {
        self.observer.interval(line);
    }

    fn trial_ends(&mut self, file: &TrialFile) {
        self.observer.trial_ends(file);
    }

    fn target_up(&mut self, pid: Option<u32>) -> Result<(), RunnerError> {
        let file = segment_file(self.trial, pid);
        self.is_watched = pid.is_some();
        write_json(&self.folder.path.join(SEGMENT), &file)?;
        self.windows = Some(self.folder.lines(WINDOWS)?);
        self.present().file = file;
        self.observer.target_up(pid)
    }

    fn sample(&mut self, span: &PhaseSpan, summary: &SampleSummary) -> Result<(), RunnerError> {
        let floor = self.floors.take(span.start_ns, span.end_ns);
        self.derive_limits(&floor)?;
        if floor.lowest.contains_key(&SoakCounter::Memory) {
            (self.silent, self.silent_ns) = (0, 0);
        } else {
            self.silent += 1;
            self.silent_ns += span.end_ns.saturating_sub(span.start_ns);
        }
        let line = WindowLine {
            window: summary.sample,
            start_ns: span.start_ns,
            end_ns: span.end_ns,
            readings: floor.readings,
            floors: floor.lowest,
            throughput_per_s: summary.throughput_per_s,
            answers: summary.answers,
            failed: summary.failed,
            p50_ns: summary.p50_ns,
            p99_ns: summary.p99_ns,
            counters: floor.counters,
        };
        if let Some(windows) = &mut self.windows {
            windows.append(&line)?;
        }
        self.present().windows.push(line.clone());
        self.report_crossings(&line);
        self.look();
        if self.is_watched && self.silent >= SILENT_WINDOWS && self.silent_ns >= SILENT_NS {
            self.observer.note("the target could not be read any more; the soak ends here");
            self.enough = true;
        }
        self.observer.window(&line, self.latest.as_ref());
        self.observer.sample(span, summary)
    }

    fn is_enough(&self) -> bool {
        self.enough || self.observer.is_enough()
    }
}

#[cfg(test)]
#[path = "watch_tests.rs"]
mod tests;
