//! One trial to the second: its counters, response times over time, events and the end of its log.

use crate::files::read_lines;
use crate::folder::TrialFolder;
use crate::{hlog_merge, segments, signals};
use analyze::{CounterCurves, PauseMaker};
use schema::page::{EventMark, Heat, TrialDetail};
use schema::run::RunFile;
use schema::said;
use schema::said::Said;
use schema::trial::{CounterLine, IntervalLine};

/// Lines of the target's output.
const LOG_LINES_MAX: usize = 40;
/// Longest histogram log that is read for a page.
const HLOG_BYTES_MAX: u64 = 256 << 20;

/// What can be read of trial `id`; what cannot is said.
pub(super) fn read(trial: &TrialFolder, run: &RunFile, id: u32) -> TrialDetail {
    let planned = run.plan.order.iter().find(|planned| planned.id == id);
    let mut detail = TrialDetail {
        id,
        cell: planned.map_or_else(String::new, |planned| planned.cell.clone()),
        ..TrialDetail::default()
    };
    counters(trial, run, &mut detail);
    match heat(trial) {
        Ok(heat) => detail.heat = heat,
        Err(why) => {
            detail.missing.push(said!("missing.map", "there is no map of response times: {why}", why));
        }
    }
    match trial.file() {
        Ok(file) => detail.events = file.events.iter().map(mark).collect(),
        Err(error) => detail.missing.push(said!(
            "missing.outcome",
            "events and outcome cannot be read: {why}",
            why = Said::from(error.to_string())
        )),
    }
    let log = trial.path.join("target.log");
    match launch::last_lines(&log, LOG_LINES_MAX) {
        Ok(lines) => detail.log_tail = lines,
        // A target that prony did not start has none.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => detail.missing.push(said!(
            "missing.log",
            "target.log cannot be read: {why}",
            why = Said::from(error.to_string())
        )),
    }
    detail
}

fn counters(trial: &TrialFolder, run: &RunFile, detail: &mut TrialDetail) {
    let intervals = match intervals(trial, run.plan.soak.is_some()) {
        Ok(intervals) => intervals,
        Err(why) => {
            let why = Said::from(why);
            return detail.missing.push(said!(
                "missing.curves",
                "there are no counters over time: {why}",
                why
            ));
        }
    };
    let mut curves = CounterCurves::new(&intervals);
    detail.t_ns = curves.ends_ns();
    detail.by_request = analyze::request_curves(&intervals, &detail.t_ns);
    let mut pauses = PauseMaker::default();
    let both = |line: &CounterLine| {
        curves.add(line);
        pauses.add(line);
    };
    match signals::each_line(&trial.path.join(signals::COUNTERS), both) {
        Some(()) => {
            detail.counters = curves.finish();
            detail.pauses = pauses.finish();
        }
        None => detail
            .missing
            .push(said!("missing.counters", "counters.ndjson is not there, or too long to be read")),
    }
}

fn intervals(trial: &TrialFolder, is_soak: bool) -> Result<Vec<IntervalLine>, String> {
    if is_soak {
        return segments::as_intervals(trial).map_err(|error| error.to_string());
    }
    let path = trial.path.join("intervals.ndjson");
    if path.is_file() { read_lines(&path).map_err(|error| error.to_string()) } else { Ok(Vec::new()) }
}

/// `None` where none was written, or nothing was answered.
fn heat(trial: &TrialFolder) -> Result<Option<Heat>, Said> {
    let path = trial.path.join("latency.hlog");
    match std::fs::metadata(&path) {
        Ok(found) if found.len() > HLOG_BYTES_MAX => Err(said!(
            "missing.map_too_long",
            "latency.hlog is longer than {most} MiB",
            most = HLOG_BYTES_MAX >> 20
        )),
        Ok(_) => hlog_merge::read_heat(&path, "response").map_err(|error| error.to_string().into()),
        Err(_) => Ok(None),
    }
}

fn mark(event: &schema::event::EventRecord) -> EventMark {
    EventMark { t_ns: event.began_ns, ended_ns: event.ended_ns, name: event.name.clone() }
}
