//! What the analysis needs of the trials of a run.

use crate::folder::{RunFolder, TrialFolder};
use crate::{RecordError, files, hlog_merge, segments, signals};
use analyze::TrialData;
use schema::run::RunFile;
use schema::trial::{IntervalLine, Phase};

impl RunFolder {
    /// All trials that ended, in order of their number, with what the analysis needs of them.
    ///
    /// # Errors
    /// When a trial that ended cannot be read.
    pub fn read_trials(&self, run: &RunFile) -> Result<Vec<TrialData>, RecordError> {
        run.plan
            .order
            .iter()
            .map(|planned| self.trial(planned.id))
            .filter(TrialFolder::has_ended)
            .map(|t| if run.plan.soak.is_some() { t.read_soak() } else { t.read() })
            .collect()
    }

    /// The same from `trial.json` alone, without intervals and histograms: enough for the values of metrics.
    ///
    /// # Errors
    /// As [`RunFolder::read_trials`].
    pub fn read_numbers(&self, run: &RunFile) -> Result<Vec<TrialData>, RecordError> {
        let planned = run.plan.order.iter().map(|planned| self.trial(planned.id));
        let files = planned.filter(TrialFolder::has_ended).map(|trial| trial.file());
        files
            .map(|file| Ok(TrialData { file: file?, intervals: Vec::new(), response: None, signals: None }))
            .collect()
    }
}

impl TrialFolder {
    /// A segment of a soak: its windows stand for its intervals, of which there are too many to hold.
    fn read_soak(&self) -> Result<TrialData, RecordError> {
        let intervals = segments::as_intervals(self)?;
        Ok(TrialData { file: self.file()?, intervals, response: None, signals: None })
    }

    /// What the analysis needs of a trial that ended.
    ///
    /// # Errors
    /// When one of its files cannot be read.
    pub fn read(&self) -> Result<TrialData, RecordError> {
        let file = self.file()?;
        let intervals_path = self.path.join("intervals.ndjson");
        let intervals: Vec<IntervalLine> =
            if intervals_path.is_file() { files::read_lines(&intervals_path)? } else { Vec::new() };
        let hlog_path = self.path.join("latency.hlog");
        let first_sample =
            file.phases.iter().find(|span| span.phase == Phase::Sample).map(|span| span.start_ns);
        let response = match first_sample {
            Some(from_ns) if hlog_path.is_file() => hlog_merge::read_merged(&hlog_path, "response", from_ns)?,
            _ => None,
        };
        let signals = signals::read(&self.path, &intervals);
        Ok(TrialData { file, intervals, response, signals })
    }
}
