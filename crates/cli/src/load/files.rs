//! The files that a load leaves beside its result: series, percentile distribution, interval log.
//!
//! Invariants: that they can be written is looked at before the load, so that no measurement is lost to a misspelt
//! folder; each appears whole or not at all, also after Ctrl-C; what is no ordinary file is written to directly.

use crate::args::ResultArgs;
use anyhow::{Result, bail};
use engine::{IntervalData, new_histogram};
use hdrhistogram::Histogram;
use report::LoadSeries;
use runner::RunnerError;
use runner::folder::{beside, write_whole};
use runner::hgrm::hgrm;
use runner::hlog;
use schema::load::LoadReport;
use schema::trial::{IntervalLine, Phase};
use std::path::{Path, PathBuf};

/// Gathers what the files need while the load runs.
pub(super) struct Recorder {
    intervals: Vec<IntervalLine>,
    /// Of the measured window and the drain after it.
    response: Histogram<u64>,
    service: Histogram<u64>,
    hlog: Option<Log>,
}

struct Log {
    writer: hlog::Writer,
    written: PathBuf,
    path: PathBuf,
}

/// Refuses files that could not be written when the load is over.
pub(super) fn check(args: &ResultArgs) -> Result<()> {
    for path in [&args.output, &args.timeseries, &args.hgrm, &args.hlog].into_iter().flatten() {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !folder.is_dir() {
            bail!("cannot write {}: there is no folder {}; make it first", path.display(), folder.display());
        }
        if path.is_dir() {
            bail!("cannot write {}: it is a folder; name a file", path.display());
        }
    }
    Ok(())
}

impl Recorder {
    pub(super) fn new(args: &ResultArgs) -> Result<Self, RunnerError> {
        let hlog = args.hlog.as_deref().map(Log::create).transpose()?;
        Ok(Self { intervals: Vec::new(), response: new_histogram(), service: new_histogram(), hlog })
    }

    pub(super) fn interval(&mut self, line: &IntervalLine, data: &IntervalData) -> Result<(), RunnerError> {
        if let Some(log) = &mut self.hlog {
            log.writer.append(data)?;
        }
        if line.phase != Some(Phase::Warmup) {
            let same = "all time histograms have the same bounds";
            self.response.add(&data.times.response).expect(same);
            self.service.add(&data.times.service).expect(same);
        }
        self.intervals.push(line.clone());
        Ok(())
    }

    /// Writes the files and gives what the page needs.
    pub(super) fn finish(self, args: &ResultArgs, report: &LoadReport) -> Result<LoadSeries> {
        if let Some(log) = self.hlog {
            log.finish()?;
        }
        if let Some(path) = &args.hgrm {
            write_whole(path, hgrm(&self.response).as_bytes())?;
        }
        if let Some(path) = &args.timeseries {
            write_whole(path, series(path, &self.intervals)?.as_bytes())?;
        }
        let curve = |histogram, censored| analyze::curve(histogram, censored);
        let latency = &report.latency_ns;
        Ok(LoadSeries {
            curves: vec![
                ("response", curve(&self.response, latency.response.censored)),
                ("service", curve(&self.service, latency.service.censored)),
            ],
            intervals: self.intervals,
        })
    }
}

/// The intervals in the format of the file's ending.
fn series(path: &Path, intervals: &[IntervalLine]) -> Result<String> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
    Ok(match ending.as_str() {
        "json" => serde_json::to_string_pretty(intervals)? + "\n",
        "ndjson" | "jsonl" => {
            let lines: Vec<String> = intervals.iter().map(serde_json::to_string).collect::<Result<_, _>>()?;
            lines.into_iter().map(|line| line + "\n").collect()
        }
        _ => report::series_csv(intervals)?,
    })
}

impl Log {
    fn create(path: &Path) -> Result<Self, RunnerError> {
        let is_special = std::fs::metadata(path).is_ok_and(|found| !found.is_file());
        let written = if is_special { path.to_owned() } else { beside(path) };
        Ok(Self { writer: hlog::Writer::create(&written)?, written, path: path.to_owned() })
    }

    fn finish(self) -> Result<(), RunnerError> {
        if self.written != self.path {
            std::fs::rename(&self.written, &self.path).map_err(|source| RunnerError::Io {
                what: "rename",
                path: self.written,
                source,
            })?;
        }
        Ok(())
    }
}
