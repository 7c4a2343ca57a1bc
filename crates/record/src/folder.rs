//! The run folder (DESIGN): where its files are, how they are written so that a crash leaves whole ones, and how
//! they are read back.

use crate::{RunnerError, hlog_merge, signals};
use analyze::TrialData;
use schema::run::RunFile;
use schema::trial::{IntervalLine, Phase, TrialFile, TrialOutcome};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

/// One run folder.
#[derive(Clone, Debug)]
pub struct RunFolder {
    path: PathBuf,
}

/// The folder of one trial within a run folder.
#[derive(Clone, Debug)]
pub(crate) struct TrialFolder {
    pub(crate) path: PathBuf,
}

impl RunFolder {
    /// Makes a new, empty run folder `parent/id`.
    ///
    /// # Errors
    /// When it exists already or cannot be made.
    pub fn create(parent: &Path, id: &str) -> Result<Self, RunnerError> {
        fs::create_dir_all(parent).map_err(RunnerError::io("make", parent))?;
        let path = parent.join(id);
        fs::create_dir(&path).map_err(RunnerError::io("make", &path))?;
        let folder = Self { path };
        let trials = folder.path.join("trials");
        fs::create_dir(&trials).map_err(RunnerError::io("make", &trials))?;
        Ok(folder)
    }

    /// Opens an existing one.
    ///
    /// # Errors
    /// When it has no `run.json`.
    pub fn open(path: &Path) -> Result<Self, RunnerError> {
        if path.join("run.json").is_file() {
            return Ok(Self { path: path.to_owned() });
        }
        Err(RunnerError::NoRun(path.to_owned()))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads `run.json`.
    ///
    /// # Errors
    /// When it cannot be read, or is of another version.
    pub fn read_run(&self) -> Result<RunFile, RunnerError> {
        read_json(&self.path.join("run.json"), "prony.run/1")
    }

    /// Writes one file of the run whole or not at all.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<(), RunnerError> {
        write_whole(&self.path.join(name), content)
    }

    /// Writes one JSON file of the run whole or not at all.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn write_json(&self, name: &str, value: &impl Serialize) -> Result<(), RunnerError> {
        write_json(&self.path.join(name), value)
    }

    /// All trials that ended, in order of their number, with what the analysis needs of them.
    ///
    /// # Errors
    /// When a trial that ended cannot be read.
    pub fn read_trials(&self, run: &RunFile) -> Result<Vec<TrialData>, RunnerError> {
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
    pub fn read_numbers(&self, run: &RunFile) -> Result<Vec<TrialData>, RunnerError> {
        let planned = run.plan.order.iter().map(|planned| self.trial(planned.id));
        let files = planned.filter(TrialFolder::has_ended).map(|trial| trial.file());
        files
            .map(|file| Ok(TrialData { file: file?, intervals: Vec::new(), response: None, signals: None }))
            .collect()
    }

    pub(crate) fn trial(&self, id: u32) -> TrialFolder {
        TrialFolder { path: self.path.join("trials").join(format!("{id:04}")) }
    }
}

impl TrialFolder {
    /// Whether the trial ended: its `trial.json` is there.
    pub(crate) fn has_ended(&self) -> bool {
        self.path.join("trial.json").is_file()
    }

    /// Whether the trial is still to be run: it never ended, or its target failed.
    pub(crate) fn is_missing(&self) -> bool {
        let read = |path| read_json::<TrialFile>(path, "prony.trial/1");
        !self.has_ended()
            || read(&self.path.join("trial.json")).is_ok_and(|file| file.outcome == TrialOutcome::Failed)
    }

    /// Makes the folder anew, without what an earlier, cut-off try left in it.
    pub(crate) fn begin(&self) -> Result<(), RunnerError> {
        self.discard()?;
        fs::create_dir_all(&self.path).map_err(RunnerError::io("make", &self.path))
    }

    /// Removes a trial that did not end.
    pub(crate) fn discard(&self) -> Result<(), RunnerError> {
        match fs::remove_dir_all(&self.path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(RunnerError::io("remove", &self.path)(error))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn end(&self, trial: &TrialFile) -> Result<(), RunnerError> {
        signals::write(&self.path);
        write_json(&self.path.join("trial.json"), trial)
    }

    pub(crate) fn lines(&self, name: &str) -> Result<Lines, RunnerError> {
        let path = self.path.join(name);
        let file = File::create(&path).map_err(RunnerError::io("create", &path))?;
        Ok(Lines { path, file })
    }

    pub(crate) fn file(&self) -> Result<TrialFile, RunnerError> {
        read_json(&self.path.join("trial.json"), "prony.trial/1")
    }

    /// A segment of a soak: its windows stand for its intervals, of which there are too many to hold.
    fn read_soak(&self) -> Result<TrialData, RunnerError> {
        let intervals = crate::soak::as_intervals(self)?;
        Ok(TrialData { file: self.file()?, intervals, response: None, signals: None })
    }

    pub(crate) fn read(&self) -> Result<TrialData, RunnerError> {
        let file = self.file()?;
        let intervals_path = self.path.join("intervals.ndjson");
        let intervals: Vec<IntervalLine> =
            if intervals_path.is_file() { read_lines(&intervals_path)? } else { Vec::new() };
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

/// A file of JSON lines; each line reaches the system whole.
#[derive(Debug)]
pub(crate) struct Lines {
    path: PathBuf,
    file: File,
}

impl Lines {
    pub(crate) fn append(&mut self, value: &impl Serialize) -> Result<(), RunnerError> {
        let line = to_json(value, schema::json::line) + "\n";
        self.file.write_all(line.as_bytes()).map_err(RunnerError::io("write", &self.path))
    }
}

/// Our own file types always serialise: they have text keys and no failing parts.
fn to_json<T>(value: &T, render: impl Fn(&T) -> serde_json::Result<String>) -> String {
    render(value).expect("prony's own file types serialise")
}

pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), RunnerError> {
    write_whole(path, to_json(value, schema::json::pretty).as_bytes())
}

/// Writes beside the file, flushes to disk, then renames: readers see the old content or the new. What is no ordinary
/// file, such as `/dev/stdout` or a pipe, is written to directly.
///
/// # Errors
/// When the system refuses.
pub fn write_whole(path: &Path, content: &[u8]) -> Result<(), RunnerError> {
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return fs::write(path, content).map_err(RunnerError::io("write", path));
    }
    let beside = beside(path);
    let write = || {
        let mut file = File::create(&beside)?;
        file.write_all(content)?;
        file.sync_all()?;
        fs::rename(&beside, path)
    };
    write().map_err(|source| {
        // Half a file is of no use, and on a full disk it is in the way.
        let _ = fs::remove_file(&beside);
        RunnerError::io("write", path)(source)
    })
}

/// The name under which a file is written until it is whole.
#[must_use]
pub fn beside(path: &Path) -> PathBuf {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".tmp");
    PathBuf::from(beside)
}

pub(crate) fn read_json<T: DeserializeOwned>(path: &Path, what: &'static str) -> Result<T, RunnerError> {
    let text = fs::read(path).map_err(RunnerError::io("read", path))?;
    serde_json::from_slice(&text).map_err(|error| RunnerError::Damaged {
        path: path.to_owned(),
        what,
        cause: error.to_string(),
    })
}

pub(crate) fn read_lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, RunnerError> {
    let text = fs::read_to_string(path).map_err(RunnerError::io("read", path))?;
    let parse = |(number, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| RunnerError::Damaged {
            path: path.to_owned(),
            what: "JSON lines",
            cause: format!("line {}: {error}", number + 1),
        })
    };
    text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_whole_or_absent_and_damage_is_told() {
        let parent = tempfile::tempdir().unwrap();
        let folder = RunFolder::create(parent.path(), "r1").unwrap();
        assert!(RunFolder::create(parent.path(), "r1").is_err(), "a run is never written over");
        assert!(matches!(RunFolder::open(folder.path()), Err(RunnerError::NoRun(_))));
        folder.write("run.json", b"{\"schema\":\"prony.run/9\"}").unwrap();
        let error = RunFolder::open(folder.path()).unwrap().read_run().unwrap_err().to_string();
        assert!(error.contains("run.json") && error.contains("another version"), "{error}");
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert!(!left.iter().any(|name| name.to_string_lossy().ends_with(".tmp")), "{left:?}");
    }

    #[test]
    fn a_trial_begun_again_is_empty() {
        let parent = tempfile::tempdir().unwrap();
        let trial = RunFolder::create(parent.path(), "r1").unwrap().trial(7);
        trial.begin().unwrap();
        trial.lines("intervals.ndjson").unwrap().append(&1).unwrap();
        trial.begin().unwrap();
        assert_eq!(fs::read_dir(&trial.path).unwrap().count(), 0);
        assert!(!trial.has_ended());
    }
}
