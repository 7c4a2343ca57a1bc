//! Progress of `prony targets` and `prony calibrate`: a bar on standard error, plain lines elsewhere.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;

/// How often a bar that nothing moves is drawn again, so that its clock runs.
const TICK: Duration = Duration::from_millis(500);

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
            crate::output::say!("{}: {what}", self.name);
        }
    }

    /// The result of the present target, on standard output.
    pub(crate) fn above(&self, text: &str) -> std::io::Result<()> {
        self.bar.inc(1);
        self.bar.suspend(|| std::io::Write::write_all(&mut crate::output::stdout(), text.as_bytes()))
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
