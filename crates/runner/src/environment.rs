//! The inputs of a run from outside its plan, and its outcome.

use crate::RunnerError;
use record::RunFolder;
use record::live::Live;
use schema::calibration::CalibrationSummary;
use schema::run::RunFile;
use schema::trial::TrialOutcome;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

/// What a run needs of the outside.
#[derive(Clone, Debug)]
pub struct Environment {
    /// prony's own binary, which becomes the guard of each target.
    pub launcher: PathBuf,
    /// Where run folders are made.
    pub runs: PathBuf,
    /// Public hosts that the user allowed to load.
    pub consent: Vec<String>,
    /// The command line, for the record.
    pub command: Vec<String>,
    /// What the instrument can do for the run's loads; absent where this host is not calibrated.
    pub calibration: Option<CalibrationSummary>,
    /// Set to end the run after as little as possible.
    pub stop: Arc<AtomicBool>,
    /// Why an alarm ends the run; set before `stop`. The trial in progress is then kept, and void.
    pub aborted: Arc<OnceLock<String>>,
}

/// How a run ended.
#[derive(Debug)]
pub struct Outcome {
    /// Where everything is.
    pub folder: RunFolder,
    /// Trials with a `trial.json`.
    pub ended: usize,
    /// Of these, failed ones.
    pub failed: usize,
    /// Whether it was stopped before its last trial.
    pub interrupted: bool,
    /// Marks the folder as one that is being written, until this is dropped; absent where nothing was to be done.
    pub live: Option<Live>,
}

pub(crate) fn outcome(folder: RunFolder, run: &RunFile, interrupted: bool) -> Result<Outcome, RunnerError> {
    let trials = folder.read_trials(run)?;
    let failed = trials.iter().filter(|trial| trial.file.outcome == TrialOutcome::Failed).count();
    Ok(Outcome { folder, ended: trials.len(), failed, interrupted, live: None })
}
