//! The listener that reports a run's progress.

use crate::RunnerError;
use schema::finding::Finding;
use schema::plan::{CellPlan, TrialPlan};
use schema::run::RunFile;
use schema::soak::{SoakReport, WindowLine};
use schema::trial::{IntervalLine, PhaseSpan, SampleSummary, TrialFile};
use std::path::Path;

/// Receives the progress of a run.
pub trait Observer {
    /// Something worth knowing that stops nothing.
    fn note(&mut self, text: &str);
    /// A target is being built or tried out before the first trial.
    fn preparing(&mut self, target: &str);
    /// The run folder is there and trials begin.
    fn started(&mut self, folder: &Path, run: &RunFile, left: usize);
    /// The run's length was decided between two blocks: `more` trials follow beyond those announced, a negative number
    /// if trials were dropped.
    fn decided(&mut self, text: &str, more: i64);
    /// A trial begins.
    fn trial_begins(&mut self, trial: &TrialPlan, cell: &CellPlan);
    /// An interval of the present trial has ended.
    fn interval(&mut self, line: &IntervalLine);
    /// A trial has ended.
    fn trial_ends(&mut self, file: &TrialFile);
    /// All findings of the trials so far, worst first, reported before or not. Called between two trials.
    fn found(&mut self, findings: &[Finding]) {
        let _ = findings;
    }
    /// The target of the trial is up; its first process, where prony started it.
    ///
    /// # Errors
    /// What must not go on without what is done here.
    fn target_up(&mut self, pid: Option<u32>) -> Result<(), RunnerError> {
        let _ = pid;
        Ok(())
    }
    /// A sample of the present trial is whole.
    ///
    /// # Errors
    /// What must not go on without what is done here.
    fn sample(&mut self, span: &PhaseSpan, summary: &SampleSummary) -> Result<(), RunnerError> {
        let _ = (span, summary);
        Ok(())
    }
    /// A window of a soak is written; the trends as they were last looked at, which is rarely.
    fn window(&mut self, line: &WindowLine, so_far: Option<&SoakReport>) {
        let _ = (line, so_far);
    }
    /// Whether the present trial may end before its time.
    fn is_enough(&self) -> bool {
        false
    }
}
