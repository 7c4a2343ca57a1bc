//! What is known of a run while it goes on. Pure: the caller says what time it is.
//!
//! Invariant: every text in it is clean already. The times of one interval are for looking at only.

use super::parts::{Found, trial_ns};
use super::words;
use crate::view::Tone;
use analyze::quantile_floor;
use schema::finding::{Finding, FindingLevel};
use schema::plan::{CellPlan, TrialPlan};
use schema::run::RunFile;
use schema::trial::{IntervalLine, Phase, TrialFile, TrialOutcome};
use std::collections::{BTreeMap, VecDeque};

/// Intervals kept for the sparklines: as many as the widest view shows.
const KEPT: usize = 100;

/// A run so far.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) question: String,
    /// What goes on between trials.
    pub(super) doing: String,
    /// The present trial, or the last one.
    pub(super) label: String,
    pub(super) trials: usize,
    pub(super) done: usize,
    pub(super) valid: usize,
    pub(super) void: usize,
    pub(super) failed: usize,
    pub(super) phase: Option<Phase>,
    pub(super) sample: Option<u32>,
    pub(super) rate_now: f64,
    pub(super) p50_ns: Option<u64>,
    pub(super) p99_ns: Option<u64>,
    /// Failed requests of the present trial.
    pub(super) errors: u64,
    /// Answers per second and p99 in nanoseconds of the last intervals of the present trial.
    pub(super) rates: VecDeque<u64>,
    pub(super) p99s: VecDeque<u64>,
    /// What the trials so far show, worst first.
    pub(super) found: Vec<Found>,
    /// Targets by cell.
    targets: BTreeMap<String, String>,
    /// When the present trial began; none between trials.
    began_ns: Option<u64>,
    /// What a trial takes by its phases.
    planned_ns: u64,
    /// What the trials so far took, by the clock.
    took_ns: u64,
}

impl State {
    pub(super) fn started(&mut self, run: &RunFile, left: usize) {
        self.question = report::clean_line(&run.plan.question);
        self.trials = left;
        self.planned_ns = trial_ns(&run.plan.phases);
        self.doing = "starting".to_owned();
        self.targets.clear();
        run.plan.cells.iter().for_each(|cell| self.learn(cell));
    }

    fn learn(&mut self, cell: &CellPlan) {
        self.targets.insert(cell.id.clone(), report::clean_line(&cell.target));
    }

    pub(super) fn decided(&mut self, more: i64) {
        self.trials = self.trials.saturating_add_signed(isize::try_from(more).unwrap_or_default());
    }

    pub(super) fn trial_begins(&mut self, trial: &TrialPlan, cell: &CellPlan, now_ns: u64) {
        let label = format!("trial {} (block {}): {}", trial.id, trial.block, cell.label);
        self.label = report::clean_line(&label);
        // A search adds cells as it goes.
        self.learn(cell);
        self.began_ns = Some(now_ns);
        (self.phase, self.sample, self.errors) = (None, None, 0);
        (self.rate_now, self.p50_ns, self.p99_ns) = (0.0, None, None);
        self.rates.clear();
        self.p99s.clear();
    }

    pub(super) fn interval(&mut self, line: &IntervalLine) {
        (self.phase, self.sample) = (line.phase, line.sample);
        self.errors += line.failed.values().sum::<u64>();
        if line.phase == Some(Phase::Drain) {
            return;
        }
        let length_ns = line.end_ns.saturating_sub(line.start_ns).max(1);
        self.rate_now = line.completed as f64 * 1e9 / length_ns as f64;
        // As every percentile, those of an interval need enough answers in it (METHOD §4).
        let of = |ns: Option<u64>, quantile: f64| ns.filter(|_| line.completed >= quantile_floor(quantile));
        (self.p50_ns, self.p99_ns) = (of(line.p50_ns, 0.5), of(line.p99_ns, 0.99));
        keep(&mut self.rates, self.rate_now.round() as u64);
        keep(&mut self.p99s, self.p99_ns.unwrap_or(0));
    }

    pub(super) fn trial_ends(&mut self, file: &TrialFile, now_ns: u64) {
        self.done += 1;
        match file.outcome {
            TrialOutcome::Valid => self.valid += 1,
            TrialOutcome::Void => self.void += 1,
            TrialOutcome::Failed => self.failed += 1,
        }
        let began_ns = self.began_ns.take().unwrap_or(now_ns);
        self.took_ns = self.took_ns.saturating_add(now_ns.saturating_sub(began_ns));
        self.phase = None;
        self.doing = "between two trials".to_owned();
    }

    /// Takes what the trials so far show; gives a line for each cause that was not reported before, and for each that
    /// was and is not found any more. What was asked for, such as a limit that was set, is no news.
    pub(super) fn found(&mut self, findings: &[Finding]) -> Vec<(Tone, String)> {
        let news = || findings.iter().filter(|finding| finding.level == FindingLevel::Finding);
        let found: Vec<Found> = news().map(|finding| self.found_at(finding)).collect();
        let new = news().zip(&found).filter(|(_, at)| !self.found.contains(at));
        let mut lines: Vec<(Tone, String)> = new.map(|(finding, at)| words::found(finding, at)).collect();
        let gone = self.found.iter().filter(|at| !found.contains(at));
        lines.extend(gone.map(|at| (Tone::Plain, words::gone(at))));
        self.found = found;
        lines
    }

    fn found_at(&self, finding: &Finding) -> Found {
        let target = self.targets.get(&finding.cell).cloned().unwrap_or_default();
        Found { target, cause: finding.cause }
    }

    /// Whether a trial goes on.
    pub(super) const fn is_running(&self) -> bool {
        self.began_ns.is_some()
    }

    /// What a trial takes: by those so far, before the first has ended by its phases.
    fn each_ns(&self) -> u64 {
        let done = u64::try_from(self.done).unwrap_or(u64::MAX);
        self.took_ns.checked_div(done).unwrap_or(self.planned_ns).max(1)
    }

    /// How much of the present trial is over; 0 between trials.
    fn within_ns(&self, now_ns: u64) -> u64 {
        self.began_ns.map_or(0, |began| now_ns.saturating_sub(began).min(self.each_ns()))
    }

    /// Time left; none before there are trials.
    pub(super) fn left_ns(&self, now_ns: u64) -> Option<u64> {
        let left = u64::try_from(self.trials.checked_sub(self.done)?).ok()?;
        let whole = left.saturating_mul(self.each_ns());
        (self.trials > 0).then(|| whole.saturating_sub(self.within_ns(now_ns)))
    }

    /// Share of the run that is over.
    pub(super) fn share(&self, now_ns: u64) -> f64 {
        let within = self.within_ns(now_ns) as f64 / self.each_ns() as f64;
        ((self.done as f64 + within) / self.trials.max(1) as f64).clamp(0.0, 1.0)
    }
}

fn keep(values: &mut VecDeque<u64>, value: u64) {
    if values.len() == KEPT {
        values.pop_front();
    }
    values.push_back(value);
}
