//! Progress of `prony run` and its kin on standard error: a view in place on a terminal, plain lines elsewhere.
//!
//! Invariants: nothing goes to standard output; nothing is read from the terminal and no mode of it is changed; every
//! text is cleaned before it is shown, because reasons and names may come from targets; what cannot be written is given
//! up in silence, because progress is never worth a run. The view is drawn by a thread of its own twice a second and
//! where something happens, on the generator's CPUs like everything of prony.

mod bars;
mod parts;
mod screen_thread;
mod state;
mod view;
mod words;

pub(crate) use bars::{TargetProgress, calibration_bar};

use crate::view::Tone;
use runner::Observer;
use schema::finding::Finding;
use schema::plan::{CellPlan, TrialPlan};
use schema::run::RunFile;
use schema::trial::{IntervalLine, TrialFile};
use screen_thread::ScreenThread;
use state::State;
use std::path::Path;

/// Progress of a run.
pub(crate) struct RunProgress {
    /// Absent where nothing can be drawn in place.
    screen: Option<ScreenThread>,
    /// What prints a line where there is no view.
    state: State,
}

impl RunProgress {
    pub(crate) fn new(live: bool) -> Self {
        Self { screen: live.then(ScreenThread::start), state: State::default() }
    }

    pub(crate) fn is_live(&self) -> bool {
        self.screen.is_some()
    }

    /// What stands before the numbers of the present interval.
    pub(crate) fn label(&mut self, text: &str) {
        let text = report::clean_line(text);
        self.change(|state, _| state.label = text);
    }

    /// A line that stays.
    pub(crate) fn say(&self, text: &str) {
        self.say_toned(Tone::Plain, text);
    }

    fn say_toned(&self, tone: Tone, text: &str) {
        let text = report::clean_lines(text);
        match &self.screen {
            Some(screen) => screen.say(tone, &text),
            None => crate::output::say!("{text}"),
        }
    }

    pub(crate) fn finish(&self) {
        if let Some(screen) = &self.screen {
            screen.finish();
        }
    }

    /// Changes what is known, and shows it.
    fn change(&mut self, change: impl FnOnce(&mut State, u64)) {
        match &self.screen {
            Some(screen) => screen.change(change),
            None => change(&mut self.state, 0),
        }
    }

    /// Something that is known.
    fn known<T>(&self, ask: impl FnOnce(&State) -> T) -> T {
        match &self.screen {
            Some(screen) => screen.known(ask),
            None => ask(&self.state),
        }
    }
}

impl Observer for RunProgress {
    fn note(&mut self, text: &str) {
        self.say(&format!("note: {text}"));
    }

    fn preparing(&mut self, target: &str) {
        if self.is_live() {
            let text = report::clean_line(&format!("preparing {target}"));
            self.change(|state, _| state.doing = text);
        } else {
            self.say(&format!("preparing {target}"));
        }
    }

    fn started(&mut self, folder: &Path, run: &RunFile, left: usize) {
        self.say(&format!("{}: {left} trials into {}", run.plan.question, folder.display()));
        if let Some(plan) = words::plan(&run.plan) {
            self.say(&plan);
        }
        self.change(|state, _| state.started(run, left));
    }

    fn decided(&mut self, text: &str, more: i64) {
        if !text.is_empty() {
            self.say(text);
        }
        self.change(|state, _| state.decided(more));
    }

    fn trial_begins(&mut self, trial: &TrialPlan, cell: &CellPlan) {
        self.change(|state, now_ns| state.trial_begins(trial, cell, now_ns));
    }

    fn interval(&mut self, line: &IntervalLine) {
        self.change(|state, _| state.interval(line));
    }

    fn trial_ends(&mut self, file: &TrialFile) {
        let label = self.known(|state| state.label.clone());
        self.change(|state, now_ns| state.trial_ends(file, now_ns));
        let (done, trials) = self.known(|state| (state.done, state.trials));
        let words = words::trial(file);
        self.say_toned(words::tone(file.outcome), &format!("{done}/{trials} {label}: {words}"));
    }

    fn found(&mut self, findings: &[Finding]) {
        let mut lines = Vec::new();
        self.change(|state, _| lines = state.found(findings));
        lines.iter().for_each(|(tone, line)| self.say_toned(*tone, line));
    }
}

#[cfg(test)]
mod tests;
