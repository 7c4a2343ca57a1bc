//! Progress of `prony run` and `prony targets` on standard error: in place on a terminal, plain lines elsewhere.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use report::format;
use runner::Observer;
use schema::plan::{CellPlan, PhasePlan, TrialPlan};
use schema::run::RunFile;
use schema::trial::{IntervalLine, Phase, TrialFile, TrialOutcome};
use std::path::Path;
use std::time::Duration;

/// How often a bar that nothing moves is drawn again, so that its clock runs.
const TICK: Duration = Duration::from_millis(500);

/// Progress of `prony run`.
pub(crate) struct RunProgress {
    bar: ProgressBar,
    live: bool,
    trials: usize,
    done: usize,
    trial_ns: u64,
    label: String,
}

impl RunProgress {
    pub(crate) fn new(live: bool) -> Self {
        let bar = bar(live, 1, "{spinner} {msg}");
        Self { bar, live, trials: 0, done: 0, trial_ns: 1, label: String::new() }
    }

    pub(crate) fn is_live(&self) -> bool {
        self.live
    }

    /// What stands before the numbers of the present interval.
    pub(crate) fn label(&mut self, text: &str) {
        text.clone_into(&mut self.label);
    }

    /// A line that stays.
    pub(crate) fn say(&self, text: &str) {
        if self.live { self.bar.println(text) } else { eprintln!("{text}") }
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for RunProgress {
    fn note(&mut self, text: &str) {
        self.say(&format!("note: {text}"));
    }

    fn preparing(&mut self, target: &str) {
        if self.live {
            self.bar.set_message(format!("preparing {target}"));
        } else {
            eprintln!("preparing {target}");
        }
    }

    fn started(&mut self, folder: &Path, run: &RunFile, left: usize) {
        self.trials = left;
        self.trial_ns = trial_ns(&run.plan.phases);
        self.say(&format!("{}: {left} trials into {}", run.plan.question, folder.display()));
        self.bar.set_length(left as u64 * self.trial_ns);
        self.bar.set_style(style("{bar:24} {percent:>3} %, about {eta} left  {wide_msg}"));
    }

    fn decided(&mut self, text: &str, more: i64) {
        if !text.is_empty() {
            self.say(text);
        }
        self.trials = self.trials.saturating_add_signed(isize::try_from(more).unwrap_or_default());
        self.bar.set_length(self.trials as u64 * self.trial_ns);
    }

    fn trial_begins(&mut self, trial: &TrialPlan, cell: &CellPlan) {
        self.label = format!("trial {} (block {}): {}", trial.id, trial.block, cell.label);
        self.bar.set_message(self.label.clone());
    }

    fn interval(&mut self, line: &IntervalLine) {
        let within_ns = line.end_ns.min(self.trial_ns);
        self.bar.set_position(self.done as u64 * self.trial_ns + within_ns);
        self.bar.set_message(format!("{}  {}", self.label, interval_words(line)));
    }

    fn trial_ends(&mut self, file: &TrialFile) {
        self.done += 1;
        self.bar.set_position(self.done as u64 * self.trial_ns);
        self.say(&format!("{}/{} {}: {}", self.done, self.trials, self.label, trial_words(file)));
    }
}

/// Progress of `prony targets check` and `build`: one target at a time.
pub(crate) struct TargetProgress {
    bar: ProgressBar,
    live: bool,
    name: String,
}

impl TargetProgress {
    pub(crate) fn new(live: bool, targets: usize) -> Self {
        Self { bar: bar(live, targets as u64, "{spinner} {pos}/{len} {wide_msg}"), live, name: String::new() }
    }

    pub(crate) fn begins(&mut self, name: &str) {
        name.clone_into(&mut self.name);
    }

    pub(crate) fn doing(&self, what: &str) {
        if self.live {
            self.bar.set_message(format!("{}: {what}", self.name));
        } else {
            eprintln!("{}: {what}", self.name);
        }
    }

    /// The result of the present target, on standard output.
    pub(crate) fn above(&self, text: &str) -> std::io::Result<()> {
        self.bar.inc(1);
        self.bar.suspend(|| std::io::Write::write_all(&mut std::io::stdout(), text.as_bytes()))
    }

    /// Does something to the screen beside the bar.
    pub(crate) fn suspended<T>(&self, act: impl FnOnce() -> T) -> T {
        self.bar.suspend(act)
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Progress of `prony calibrate`.
pub(crate) fn calibration_bar(live: bool) -> ProgressBar {
    bar(live, 1, "{bar:24} {pos}/{len} {elapsed:>4}  {wide_msg}")
}

/// What one trial is expected to take: warm-up of unknown length is taken near its shorter end.
fn trial_ns(phases: &PhasePlan) -> u64 {
    let warmup_ns = phases.warmup_at_least_ns + (phases.warmup_at_most_ns - phases.warmup_at_least_ns) / 4;
    warmup_ns + phases.sample_ns * u64::from(phases.samples)
}

fn interval_words(line: &IntervalLine) -> String {
    let length_ns = line.end_ns.saturating_sub(line.start_ns).max(1);
    let rate = line.completed as f64 * 1e9 / length_ns as f64;
    let failed: u64 = line.failed.values().sum();
    let phase = match line.phase {
        Some(Phase::Warmup) => "warm-up",
        Some(Phase::Drain) => "drain",
        _ => "",
    };
    let time = |ns: Option<u64>| ns.map_or_else(|| "-".to_owned(), format::nanos);
    let errors = if failed > 0 { format!(", {} failed", format::count(failed)) } else { String::new() };
    format!("{} p50 {} p99 {}{errors} {phase}", format::rate(rate), time(line.p50_ns), time(line.p99_ns))
}

fn trial_words(file: &TrialFile) -> String {
    let outcome = match file.outcome {
        TrialOutcome::Valid => "valid",
        TrialOutcome::Void => "VOID",
        TrialOutcome::Failed => "FAILED",
    };
    let numbers = file
        .load
        .as_ref()
        .map_or_else(String::new, |load| format!("{}, ", format::rate(load.throughput_per_s)));
    let reasons =
        if file.reasons.is_empty() { String::new() } else { format!(" - {}", file.reasons.join("; ")) };
    format!("{numbers}{outcome}{reasons}")
}

fn bar(live: bool, length: u64, template: &str) -> ProgressBar {
    let target = if live { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(length), target).with_style(style(template));
    if live {
        bar.enable_steady_tick(TICK);
    }
    bar
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the templates in this file are well formed")
}
