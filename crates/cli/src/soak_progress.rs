//! Progress of `prony soak` on standard error: what the target holds in each window, and the verdict so far.

use crate::progress::RunProgress;
use report::format;
use runner::Observer;
use schema::plan::{CellPlan, TrialPlan};
use schema::run::RunFile;
use schema::soak::{SoakClass, SoakCounter, SoakReport, WindowLine};
use schema::trial::{IntervalLine, TrialFile};
use std::path::Path;

/// Windows that are printed line by line where nothing can be drawn in place: more are printed at each look.
const LINES_MAX: u32 = 120;

pub(crate) struct SoakProgress {
    shown: RunProgress,
    windows: u32,
    verdict: String,
}

impl SoakProgress {
    pub(crate) fn new(live: bool) -> Self {
        Self { shown: RunProgress::new(live), windows: 0, verdict: String::new() }
    }

    pub(crate) fn finish(&self) {
        self.shown.finish();
    }
}

impl Observer for SoakProgress {
    fn note(&mut self, text: &str) {
        self.shown.note(text);
    }

    fn preparing(&mut self, target: &str) {
        self.shown.preparing(target);
    }

    fn started(&mut self, folder: &Path, run: &RunFile, left: usize) {
        self.windows = run.plan.soak.map_or(0, |soak| soak.windows);
        self.shown.started(folder, run, left);
    }

    fn decided(&mut self, text: &str, more: i64) {
        self.shown.decided(text, more);
    }

    fn trial_begins(&mut self, trial: &TrialPlan, cell: &CellPlan) {
        self.shown.trial_begins(trial, cell);
    }

    fn interval(&mut self, line: &IntervalLine) {
        self.shown.interval(line);
    }

    fn trial_ends(&mut self, file: &TrialFile) {
        self.shown.trial_ends(file);
    }

    fn window(&mut self, line: &WindowLine, so_far: Option<&SoakReport>) {
        let verdict = so_far.map_or_else(String::new, verdict_words);
        let is_news = verdict != self.verdict;
        let every = self.windows.div_ceil(LINES_MAX).max(1);
        if !self.shown.is_live() && (is_news || line.window.is_multiple_of(every)) {
            let so_far = if verdict.is_empty() { "too early to tell" } else { &verdict };
            self.shown.say(&format!("{}: {so_far}", window_words(line, self.windows)));
        } else if self.shown.is_live() {
            if is_news {
                self.shown.say(&verdict);
            }
            self.shown.label(&format!("{}  {verdict}", window_words(line, self.windows)));
        }
        self.verdict = verdict;
    }
}

/// `window 31/480  memory 52.3 MiB, descriptors 12, threads 4  1,000/s p50 1.2 ms`
fn window_words(line: &WindowLine, windows: u32) -> String {
    let held: Vec<String> = SoakCounter::ALL
        .into_iter()
        .filter(|counter| counter.is_resource())
        .filter_map(|counter| {
            Some(format!("{} {}", counter.title(), report::held(counter, line.value(counter)?)))
        })
        .collect();
    let p50 = line.p50_ns.map_or_else(String::new, |ns| format!(" p50 {}", format::nanos(ns)));
    format!(
        "window {}/{windows}  {}  {}{p50}",
        line.window,
        if held.is_empty() { "nothing can be read".to_owned() } else { held.join(", ") },
        format::rate(line.throughput_per_s)
    )
}

/// `so far: memory leaks`, `so far: no leak`, `so far: cannot tell yet (memory)`.
fn verdict_words(report: &SoakReport) -> String {
    let of = |class: SoakClass| -> Vec<&str> {
        let found = report.trends.iter().filter(|trend| trend.counter.is_resource() && trend.class == class);
        found.map(|trend| trend.counter.title()).collect()
    };
    let verdict = match report.verdict {
        SoakClass::Leak => format!("leak ({})", of(SoakClass::Leak).join(", ")),
        SoakClass::CannotTell => format!("cannot tell yet ({})", of(SoakClass::CannotTell).join(", ")),
        SoakClass::Filling => format!("no leak, filling up ({})", of(SoakClass::Filling).join(", ")),
        SoakClass::Rising => {
            format!("no leak within the horizon, rising ({})", of(SoakClass::Rising).join(", "))
        }
        SoakClass::Steady | SoakClass::Falling => "no leak".to_owned(),
    };
    format!("after {} windows: {verdict}", report.windows)
}
