//! `prony load`: one URL, one load, one result.

mod around;
pub(crate) mod compat;
mod files;
mod live;
mod request;
mod resolve;
mod words;

use crate::alarms::{self, Alarms, LoadTo, Subject};
use crate::args::{LoadArgs, ResultFormat};
use crate::monitor::{LoadFiles, Monitor};
use crate::{calibrate, exit, interrupt, output, screen};
use analyze::Threshold;
use anyhow::Result;
use engine::{EngineError, IntervalData, give_back_pages};
use files::Recorder;
use generate::GenerateError;
use generate::measure::{Watch, measure, nothing_connected};
use generate::script::{Output, Scripted};
use live::Progress;
use output::OutputError;
use plan::LoadJob;
use report::LoadSeries;
use resolve::resolve;
use runner::RunnerError;
use schema::alarm::AlarmLine;
use schema::analysis::BeliefLevel;
use schema::calibration::CalibrationSummary;
use schema::load::LoadReport;
use schema::plan::PinPlan;
use schema::said;
use schema::said::Said;
use schema::trial::{IntervalLine, Phase};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use units::MonotonicClock;

pub(crate) fn load(args: &LoadArgs) -> Result<u8> {
    files::check(&args.result)?;
    let job = resolve(args)?;
    // What read arguments and checked them is not needed again; without this the start would be the peak of memory.
    give_back_pages();
    let stop = interrupt::stop_flag()?;
    around::around(args, &stop, || load_resolved(args, job, &stop))
}

/// From a resolved load to its printed result.
fn load_resolved(args: &LoadArgs, job: LoadJob, stop: &Arc<AtomicBool>) -> Result<u8> {
    let script = Scripted::load(&job, script_output(args))?;
    if !args.result.quiet {
        output::say_text(&words::plan_line(&job));
    }
    let pin = PinPlan { generator: job.cpus.clone(), ..PinPlan::default() };
    let limit = calibrate::limit_of(&[&job.load], &pin, launch::pin::usable_cpus()?.len());
    let warnings = calibrate::warnings(limit.as_ref());
    if !warnings.is_empty() {
        output::say_text(&warnings);
    }
    for note in plan::notes(&job) {
        output::say!("note: {note}");
    }
    let watched = alarms::of_flags(&args.alarms)?;
    let monitored = LoadFiles::begin(&args.monitor, !watched.is_empty())?;
    let mut monitor = monitored
        .as_ref()
        .map(|files| Monitor::begin(&args.monitor, &args.consent, files.runs()))
        .transpose()?;
    let runs = monitored.as_ref().map_or(Path::new(""), LoadFiles::runs);
    let aborted = Arc::default();
    let subject = Subject {
        runs,
        load: Some(LoadTo { address: job.proxy.is_none().then_some(job.to) }),
        consent: &args.consent,
        stop: stop.clone(),
        aborted: Arc::clone(&aborted),
    };
    let alarms = Alarms::begin(&args.alarms, &watched, &subject)?;
    let mut watcher = Watcher {
        monitored,
        progress: Progress::new(&args.result, &job),
        stop,
        recorder: Recorder::new(&args.result)?,
        script,
    };
    watcher.progress.begins(&job);
    let measured = measure_or_refuse(&job, &mut watcher, stop);
    watcher.progress.finish();
    let fired = alarms.map(Alarms::end).unwrap_or_default();
    let code = measured.and_then(|measured| tell(args, measured, &fired, limit, &mut watcher));
    // Last of all: a receiver that hangs keeps no result back.
    if let (Some(monitor), Some(files)) = (&mut monitor, &watcher.monitored) {
        monitor.end(files.run());
    }
    Ok(match code? {
        _ if aborted.get().is_some() => exit::CLAIM,
        code => code,
    })
}

/// Prints the result and writes its files; gives the exit code.
fn tell(
    args: &LoadArgs,
    (mut report, code, rows): Measured,
    fired: &[AlarmLine],
    limit: Option<CalibrationSummary>,
    watcher: &mut Watcher<'_>,
) -> Result<u8> {
    report.notes.extend(fired.iter().map(note));
    report.instrument_limit = limit;
    report.thresholds = args.result.fail.iter().map(|threshold| threshold.check(&report)).collect();
    let printed = match is_told_whole(args, &report) {
        true => Ok(()),
        false => print(args, &report, &watcher.recorder.series(&report)),
    };
    let written = watcher.recorder.finish(&args.result);
    if let Some(script) = &mut watcher.script {
        script.done(&report)?;
    }
    printed.and(written).and(rows)?;
    Ok(match code {
        exit::DONE => judged(args, &report),
        code => code,
    })
}

/// An alarm that fired, in the report.
fn note(fired: &AlarmLine) -> Said {
    let (alarm, evidence) = (fired.when.as_str(), fired.evidence.as_str());
    if fired.abort {
        said!("note.alarm.ended", "the alarm {alarm} fired and ended the load: {evidence}", alarm, evidence)
    } else {
        said!("note.alarm", "the alarm {alarm} fired: {evidence}", alarm, evidence)
    }
}

/// Whether the error on standard error says all that people need: nothing could connect, so every number is missing.
/// Files, and formats for machines, are written all the same.
fn is_told_whole(args: &LoadArgs, report: &LoadReport) -> bool {
    let is_for_people = args.result.output.is_none() && matches!(args.result.format(), ResultFormat::Text);
    is_for_people && report.connections.established == 0 && report.requests.completed == 0
}

/// The exit code of a load with right answers: the user's own limits first, then the gates, then the share of failures
/// where the user neither set a limit for them nor accepted them.
fn judged(args: &LoadArgs, report: &LoadReport) -> u8 {
    let own_limit = args.result.fail.iter().any(Threshold::is_about_errors);
    let failures = report.validity.failures.as_ref();
    let misleads = failures.is_some_and(|failures| failures.level == BeliefLevel::No);
    if report.thresholds.iter().any(|threshold| threshold.failed) {
        exit::CLAIM
    } else if !report.validity.ok {
        output::say!("prony: {}", words::unusable(&report.validity));
        exit::FAILED
    } else if misleads && !own_limit && !args.result.errors_ok {
        exit::FAILED
    } else {
        exit::DONE
    }
}

/// Progress on the screen and what the files need.
struct Watcher<'a> {
    progress: Progress,
    /// Set by a signal or a key.
    stop: &'a AtomicBool,
    recorder: Recorder,
    /// What monitoring sees.
    monitored: Option<LoadFiles>,
    script: Option<Scripted>,
}

impl Watch for Watcher<'_> {
    type Error = GenerateError;

    fn opening(&mut self, opened: u64) {
        self.progress.opening(opened);
    }

    fn connected(&mut self, asked: u64, established: u64) {
        self.progress.connected(asked, established);
    }

    fn begun(&mut self, clock: MonotonicClock) -> Result<(), GenerateError> {
        self.progress.begun(clock);
        Ok(())
    }

    fn waiting(&mut self) {
        self.progress.waiting(self.stop);
    }

    fn interval(&mut self, line: &IntervalLine, data: &IntervalData) -> Result<(), GenerateError> {
        self.recorder.interval(line, data);
        if let Some(files) = &mut self.monitored {
            files.interval(line, data);
        }
        if let Some(script) = &mut self.script
            && line.phase != Some(Phase::Warmup)
        {
            script.interval(line, data);
        }
        self.progress.interval(line, data);
        Ok(())
    }
}

/// The report, its exit code, and whether the file of rows is there.
type Measured = (LoadReport, u8, Result<()>);

/// A load of which nothing could connect has a report, too.
fn measure_or_refuse(job: &LoadJob, watcher: &mut Watcher<'_>, stop: &AtomicBool) -> Result<Measured> {
    let scripts = watcher.script.as_ref().map(|script| script.workers().clone());
    match measure(job, scripts.as_ref(), watcher, stop) {
        Ok(mut measured) => {
            if let Some(agent) = &measured.stopped_by {
                output::say!(
                    "agent {agent} was stopped by `prony fleet stop`: all end, and the results are kept"
                );
            }
            measured.report.validity = analyze::validity(&measured.report, &measured.facts);
            let code = match measured.report.requests.completed {
                _ if measured.interrupted => exit::INTERRUPTED,
                0 => exit::FAILED,
                _ => exit::DONE,
            };
            let rows =
                measured.rows_error.map_or(Ok(()), |error| Err(OutputError::File(error.into()).into()));
            Ok((measured.report, code, rows))
        }
        Err(GenerateError::Engine(EngineError::NothingConnected { .. })) if stop.load(Ordering::Relaxed) => {
            Err(RunnerError::Interrupted.into())
        }
        Err(GenerateError::Engine(EngineError::NothingConnected { asked, failures, example })) => {
            let mut report = nothing_connected(job, asked, &failures, &example);
            report.validity = analyze::validity(&report, &analyze::TrialFacts::default());
            watcher.progress.finish();
            output::say!("prony: {}", words::nothing_connected(&failures, &example, job));
            Ok((report, exit::FAILED, Ok(())))
        }
        Err(error) => Err(error.into()),
    }
}

/// Where a script prints to: not among what machines read.
fn script_output(args: &LoadArgs) -> Output {
    let is_for_people = args.result.output.is_some() || matches!(args.result.format(), ResultFormat::Text);
    if is_for_people { Output::Stdout } else { Output::Stderr }
}

/// Prints the result, or writes it to its file. Where that fails, the text goes to the terminal, so that nothing that
/// was measured is lost.
fn print(args: &LoadArgs, report: &LoadReport, series: &LoadSeries) -> Result<()> {
    let file = args.result.output.as_deref();
    let text = match args.result.format() {
        ResultFormat::Text => report::load_text(report, output::style(file), args.result.latency),
        ResultFormat::Json => schema::json::pretty(report)?,
        ResultFormat::Csv => report::load_csv(report)?,
        ResultFormat::Markdown => report::load_markdown(report),
        ResultFormat::Html => report::load_html(report, series)?,
    };
    let written = output::write(file, &text);
    if written.is_err() {
        match file {
            Some(_) => {
                output::write(None, &report::load_text(report, screen::style(), args.result.latency))?;
            }
            None => output::say_text(&report::load_text(report, report::Style::PLAIN, args.result.latency)),
        }
    }
    written
}
