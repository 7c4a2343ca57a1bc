//! The layout of a run folder (DESIGN). `files` writes and reads single files, `trials` reads what the analysis needs.

use crate::files::{Lines, read_json, write_json, write_whole};
use crate::{RecordError, signals};
use jiff::Timestamp;
use schema::run::RunFile;
use schema::trial::{TrialFile, TrialOutcome};
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};

/// One run folder.
#[derive(Clone, Debug)]
pub struct RunFolder {
    path: PathBuf,
}

/// The folder of one trial within a run folder.
#[derive(Clone, Debug)]
pub struct TrialFolder {
    /// Where it is.
    pub path: PathBuf,
}

/// The name of a run folder: when it was begun, in UTC, then what it is of, so that names sort by time.
#[must_use]
pub fn run_name(began: Timestamp, of: &str) -> String {
    format!("{}-{of}", began.strftime("%Y-%m-%dT%H-%M-%SZ"))
}

impl RunFolder {
    /// Makes a new, empty run folder `parent/id`.
    ///
    /// # Errors
    /// When it exists already or cannot be made.
    pub fn create(parent: &Path, id: &str) -> Result<Self, RecordError> {
        fs::create_dir_all(parent).map_err(RecordError::io("make", parent))?;
        let path = parent.join(id);
        fs::create_dir(&path).map_err(RecordError::io("make", &path))?;
        let folder = Self { path };
        let trials = folder.path.join("trials");
        fs::create_dir(&trials).map_err(RecordError::io("make", &trials))?;
        Ok(folder)
    }

    /// Opens an existing one.
    ///
    /// # Errors
    /// When it has no `run.json`.
    pub fn open(path: &Path) -> Result<Self, RecordError> {
        if path.join("run.json").is_file() {
            return Ok(Self { path: path.to_owned() });
        }
        Err(RecordError::NoRun(path.to_owned()))
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
    pub fn read_run(&self) -> Result<RunFile, RecordError> {
        read_json(&self.path.join("run.json"), "prony.run/2")
    }

    /// Writes one file of the run whole or not at all.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<(), RecordError> {
        write_whole(&self.path.join(name), content)
    }

    /// Writes one JSON file of the run whole or not at all.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn write_json(&self, name: &str, value: &impl Serialize) -> Result<(), RecordError> {
        write_json(&self.path.join(name), value)
    }

    /// The folder of a trial by its number, whether it is there or not.
    #[must_use]
    pub fn trial(&self, id: u32) -> TrialFolder {
        TrialFolder { path: self.path.join("trials").join(format!("{id:04}")) }
    }
}

impl TrialFolder {
    /// Whether the trial ended: its `trial.json` is there.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.path.join("trial.json").is_file()
    }

    /// Whether the trial is still to be run: it never ended, or its target failed.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        let read = |path| read_json::<TrialFile>(path, "prony.trial/4");
        !self.has_ended()
            || read(&self.path.join("trial.json")).is_ok_and(|file| file.outcome == TrialOutcome::Failed)
    }

    /// Creates the folder, discarding whatever an interrupted attempt left in it.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn begin(&self) -> Result<(), RecordError> {
        self.discard()?;
        fs::create_dir_all(&self.path).map_err(RecordError::io("make", &self.path))
    }

    /// Removes a trial that did not end.
    ///
    /// # Errors
    /// When the system refuses; a folder that is not there is no error.
    pub fn discard(&self) -> Result<(), RecordError> {
        match fs::remove_dir_all(&self.path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(RecordError::io("remove", &self.path)(error))
            }
            _ => Ok(()),
        }
    }

    /// Writes the file that says that the trial ended, after all others.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn end(&self, trial: &TrialFile) -> Result<(), RecordError> {
        signals::write(&self.path);
        write_json(&self.path.join("trial.json"), trial)
    }

    /// Begins a file of JSON lines.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub fn lines(&self, name: &str) -> Result<Lines, RecordError> {
        Lines::create(&self.path.join(name))
    }

    /// Reads `trial.json`.
    ///
    /// # Errors
    /// When the trial has not ended, or the file is damaged.
    pub fn file(&self) -> Result<TrialFile, RecordError> {
        read_json(&self.path.join("trial.json"), "prony.trial/4")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_whole_or_absent_and_damage_is_told() {
        let parent = tempfile::tempdir().unwrap();
        let folder = RunFolder::create(parent.path(), "r1").unwrap();
        assert!(RunFolder::create(parent.path(), "r1").is_err(), "a run is never written over");
        assert!(matches!(RunFolder::open(folder.path()), Err(RecordError::NoRun(_))));
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
