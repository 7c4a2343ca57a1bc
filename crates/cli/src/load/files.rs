//! The files that a load leaves beside its result: series, percentile distribution, interval log.
//!
//! Invariants: that they can be written is tried before the load, so that no measurement is lost to a misspelt folder
//! or a full disk; each appears whole or not at all, also after Ctrl-C, and one that fails stops neither the load nor
//! the others; what is no ordinary file is written to directly.

use crate::args::ResultArgs;
use crate::output::{self, OutputError};
use anyhow::Result;
use engine::{IntervalData, LazyHistogram};
use record::RecordError;
use record::hgrm::hgrm;
use record::hlog;
use record::{beside, write_whole};
use report::LoadSeries;
use schema::load::{LoadReport, Time};
use schema::trial::{IntervalLine, Phase};
use std::path::{Path, PathBuf};

/// Gathers what the files need while the load runs.
pub(super) struct Recorder {
    intervals: Vec<IntervalLine>,
    /// Of the measured window and the drain after it.
    response: LazyHistogram,
    service: LazyHistogram,
    /// The log, or why there is none any more.
    hlog: Option<Result<Log, RecordError>>,
}

struct Log {
    writer: hlog::Writer,
    written: PathBuf,
    path: PathBuf,
}

/// Refuses files that could not be written when the load is over.
pub(super) fn check(args: &ResultArgs) -> Result<()> {
    [&args.output, &args.timeseries, &args.hgrm, &args.hlog, &args.each]
        .into_iter()
        .flatten()
        .try_for_each(|path| output::check(path))
}

impl Recorder {
    pub(super) fn new(args: &ResultArgs) -> Result<Self, RecordError> {
        let hlog = args.hlog.as_deref().map(Log::create).transpose()?.map(Ok);
        let (response, service) = (LazyHistogram::default(), LazyHistogram::default());
        Ok(Self { intervals: Vec::new(), response, service, hlog })
    }

    pub(super) fn interval(&mut self, line: &IntervalLine, data: &IntervalData) {
        if let Some(Ok(log)) = &mut self.hlog
            && let Err(error) = log.append(data)
        {
            // The load goes on: what it measures is worth more than one of its files. The half log goes.
            self.hlog = Some(Err(error));
        }
        if line.phase != Some(Phase::Warmup) {
            let same = "all time histograms have the same bounds";
            self.response.add(&data.times[Time::Response]).expect(same);
            self.service.add(&data.times[Time::Service]).expect(same);
        }
        self.intervals.push(line.clone());
    }

    /// What the page needs.
    pub(super) fn series(&self, report: &LoadReport) -> LoadSeries {
        let latency = &report.latency_ns;
        LoadSeries {
            curves: vec![
                ("response", analyze::curve(&self.response, latency.response.censored)),
                ("service", analyze::curve(&self.service, latency.service.censored)),
            ],
            intervals: self.intervals.clone(),
        }
    }

    /// Writes each file, whatever becomes of the others; the first error.
    pub(super) fn finish(&mut self, args: &ResultArgs) -> Result<()> {
        let log = self.hlog.take().map_or(Ok(()), |log| log.and_then(Log::finish));
        let write_hgrm = |path| write_whole(path, hgrm(&self.response).as_bytes());
        let hgrm = args.hgrm.as_deref().map_or(Ok(()), write_hgrm);
        let write_series = |path| output::write(Some(path), &series(path, &self.intervals)?);
        let series = args.timeseries.as_deref().map_or(Ok(()), write_series);
        log.and(hgrm).map_err(|error| OutputError::File(error.into()))?;
        series
    }
}

/// The intervals in the format of the file's ending.
fn series(path: &Path, intervals: &[IntervalLine]) -> Result<String> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
    Ok(match ending.as_str() {
        "json" => schema::json::pretty(intervals)?,
        "ndjson" | "jsonl" => {
            let lines: Vec<String> = intervals.iter().map(schema::json::line).collect::<Result<_, _>>()?;
            lines.into_iter().map(|line| line + "\n").collect()
        }
        _ => report::series_csv(intervals)?,
    })
}

impl Log {
    fn create(path: &Path) -> Result<Self, RecordError> {
        let is_special = std::fs::metadata(path).is_ok_and(|found| !found.is_file());
        let written = if is_special { path.to_owned() } else { beside(path) };
        Ok(Self { writer: hlog::Writer::create(&written)?, written, path: path.to_owned() })
    }

    fn append(&mut self, data: &IntervalData) -> Result<(), RecordError> {
        let span_ns = data.counts.start_ns..data.counts.end_ns;
        self.writer.append(span_ns, &data.times.tagged(), engine::give_way)
    }

    fn finish(self) -> Result<(), RecordError> {
        if self.written == self.path {
            return Ok(());
        }
        std::fs::rename(&self.written, &self.path).map_err(|source| RecordError::Io {
            what: "rename",
            path: self.written.clone(),
            source,
        })
    }
}

impl Drop for Log {
    /// Half a log is of no use, and on a full disk it is in the way. After [`Log::finish`] it has another name.
    fn drop(&mut self) {
        if self.written != self.path {
            let _ = std::fs::remove_file(&self.written);
        }
    }
}
