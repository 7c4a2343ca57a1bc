//! One load from its first connection to its report: phases, intervals, sums. Used by trials and by `prony load`.
//!
//! The validity of the report is left to the caller, who knows more (whether the target lived, steal).

pub use crate::measured::Measured;

use crate::GenerateError;
use crate::each::wall_clock_of;
use crate::fold::{Fold, empty_report, line};
use crate::orders::timeline;
use crate::phases::Phases;
use crate::source::Source;
use analyze::Beside;
use engine::{
    Clocks, IntervalData, Look, MachineClocks, Scripts, Step, give_back_pages, give_way, machine_ns,
};
use plan::LoadJob;
use schema::load::{Connections, ErrorClass, LoadReport, Requests};
use schema::trial::{IntervalLine, Phase, PhaseSpan, SampleSummary};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use units::{Clock as _, MonotonicClock};

/// How often the wish to stop is looked at while the load runs.
const STOP_POLL: Duration = Duration::from_millis(50);

/// Listens to a load that runs, on the caller's thread.
pub trait Watch {
    /// What ends the load when the listener fails.
    type Error: From<GenerateError>;

    /// So many connections are open; called several times a second while they are being opened.
    fn opening(&mut self, opened: u64) {
        let _ = opened;
    }
    /// The connections are open, as far as they could be; no request has been sent.
    fn connected(&mut self, asked: u64, established: u64) {
        let _ = (asked, established);
    }
    /// The trial's time is zero now.
    fn begun(&mut self, clock: MonotonicClock) -> Result<(), Self::Error> {
        let _ = clock;
        Ok(())
    }
    /// The measured window begins now.
    fn samples_begin(&mut self) {}
    /// The measured window has just ended.
    fn samples_end(&mut self) {}
    /// What was read of the target since the load began, oldest first; asked for at the end of each interval of a
    /// warm-up that may end.
    fn beside(&mut self) -> &[Beside] {
        &[]
    }
    /// Nothing has happened for a moment; called several times a second, so that a clock on a screen can run.
    fn waiting(&mut self) {}
    /// An interval has ended.
    fn interval(&mut self, line: &IntervalLine, data: &IntervalData) -> Result<(), Self::Error>;
    /// A sample has ended. Called after its last interval.
    fn sample(&mut self, span: &PhaseSpan, summary: &SampleSummary) -> Result<(), Self::Error> {
        let _ = (span, summary);
        Ok(())
    }
    /// Whether enough has been seen: then the load ends as if its time were over.
    fn is_enough(&self) -> bool {
        false
    }
}

/// Makes a load until its timeline or budget ends it, or `stop` is set. `scripts` has one for each worker, where scripts
/// make the requests.
///
/// # Errors
/// The request cannot be encoded, the engine failed, or the watch did.
pub fn measure<W: Watch>(
    job: &LoadJob,
    scripts: Option<&Scripts>,
    watch: &mut W,
    stop: &AtomicBool,
) -> Result<Measured, W::Error> {
    measure_by(&mut MachineClocks, job, scripts, watch, stop)
}

/// [`measure`] with the clocks that are held against each other before and after the load.
///
/// # Errors
/// As [`measure`].
pub fn measure_by<W: Watch>(
    clocks: &mut impl Clocks,
    job: &LoadJob,
    scripts: Option<&Scripts>,
    watch: &mut W,
    stop: &AtomicBool,
) -> Result<Measured, W::Error> {
    let timeline = timeline(job);
    let mut source = Source::start(job, scripts, timeline, &mut |opened| watch.opening(opened))?;
    let (asked, established) = source.connections();
    watch.connected(asked, established);
    give_back_pages();
    let mut phases = Phases::new(&job.phases, timeline);
    let begin = Look::at(clocks);
    let clock = source.begin(phases.from);
    watch.begun(clock)?;
    let mut fold = Fold::new(job.phases.samples);
    let mut origin_unix_ns = None;
    let mut warmup = Vec::new();
    let mut sampling = phases.from == Some(0);
    if sampling {
        watch.samples_begin();
    }
    loop {
        if stop.load(Ordering::Relaxed) || watch.is_enough() {
            source.stop();
        }
        let (step, agents) = source.next(STOP_POLL)?;
        let ended = match step {
            Step::Waiting => {
                watch.waiting();
                continue;
            }
            Step::Ended => break,
            Step::Interval(data) => {
                let phase = phases.of(data.counts.index);
                let mut line = line(data, phase, &job.scenario.requests, job.load.trace);
                line.agents = agents;
                // The origin has passed by now.
                line.origin_unix_ns = job.load.trace.map(|_| {
                    *origin_unix_ns
                        .get_or_insert_with(|| wall_clock_of(machine_ns().saturating_sub(clock.now().0)))
                });
                fold.add(&line, data);
                give_way();
                watch.interval(&line, data)?;
                give_way();
                phases.seen(&line);
                if let (true, Some(span)) = (phases.ends_sample(data), phases.spans.last()) {
                    watch.sample(span, fold.close_sample())?;
                }
                let index = data.counts.index;
                if line.phase == Some(Phase::Warmup) {
                    warmup.push(line);
                }
                index
            }
        };
        if phases.is_asking(ended) && phases.may_end_warmup(ended, &warmup, watch.beside()) {
            phases.from = Some(source.measure_soon());
        }
        match phases.from {
            Some(from) if from == ended + 1 => {
                sampling = true;
                watch.samples_begin();
            }
            Some(from) if from.saturating_add(timeline.measured_intervals) == ended + 1 => {
                sampling = false;
                watch.samples_end();
            }
            _ => {}
        }
    }
    if sampling {
        // Stopped before its time.
        watch.samples_end();
    }
    let end = Look::at(clocks);
    let stopped_by = source.stopped_by().map(str::to_owned);
    let interrupted = stop.load(Ordering::Relaxed) || stopped_by.is_some();
    let mut measured = fold.finish(job, phases, asked, established, interrupted);
    measured.facts.clocks = begin.until(&end);
    measured.report.plan.driver = source.driver().key().to_owned();
    measured.report.generator.peak_rss_bytes = source.peak_rss_bytes();
    measured.report.fleet = source.fleet(job.load.model);
    measured.stopped_by = stopped_by;
    match source.finish_rows() {
        Ok(each) => measured.report.each = each,
        Err(error) => measured.rows_error = Some(error),
    }
    Ok(measured)
}

/// The report of a load of which not one connection could be opened: each attempt is a request that failed.
#[must_use]
pub fn nothing_connected(
    job: &LoadJob,
    asked: u64,
    failures: &BTreeMap<ErrorClass, u64>,
    example: &str,
) -> LoadReport {
    let failed = failures.values().sum();
    let first = failures.keys().next().copied();
    LoadReport {
        requests: Requests { scheduled: failed, failed, ..Requests::default() },
        errors: failures.clone(),
        error_examples: first.map(|class| (class, vec![example.to_owned()])).into_iter().collect(),
        connections: Connections { asked, ..Connections::default() },
        latency_ns: Fold::new(1).latencies(),
        ..empty_report(job)
    }
}
