//! Whether a gauge grows within every trial. Shared by the rules of threads, memory and descriptors.

use super::Scene;
use crate::stats::rising::rising;

/// p of no rise from which it is taken for one; each rule asks for a size as well.
pub(super) const P_MAX: f64 = 0.02;

/// How a gauge grew within the trials.
pub(super) struct Grown {
    /// Mean over trials of the last less the first.
    pub(super) by: f64,
    /// The same over the first.
    pub(super) share: f64,
    /// Mean of the last.
    pub(super) last: f64,
    /// p of no rise.
    pub(super) p: f64,
    /// Whether the second half of the trials' time brought at least half as much as the first, so that it does not
    /// look like something that fills up.
    pub(super) goes_on: bool,
}

impl Grown {
    pub(super) fn is_sure(&self) -> bool {
        self.p <= P_MAX
    }
}

/// `None` where the gauge was not read often enough.
pub(super) fn grown(scene: &Scene<'_>, key: &str) -> Option<Grown> {
    let series = scene.series(key);
    let p = rising(&series)?;
    let whole: Vec<&Vec<f64>> = series.iter().filter(|series| series.len() >= 4).collect();
    let mean =
        |of: &dyn Fn(&[f64]) -> f64| whole.iter().map(|series| of(series)).sum::<f64>() / whole.len() as f64;
    let first = mean(&|series| series[0]);
    let last = mean(&|series| series[series.len() - 1]);
    // Two spans of the same length, whatever the number of values.
    let early = mean(&|series| series[half(series)] - series[0]);
    let late = mean(&|series| series[series.len() - 1] - series[series.len() - 1 - half(series)]);
    let by = last - first;
    let share = if first > 0.0 { by / first } else { 0.0 };
    (by.is_finite() && share.is_finite()).then_some(Grown {
        by,
        share,
        last,
        p,
        goes_on: late >= 0.5 * early,
    })
}

/// Steps in half of a series of at least four values.
fn half(series: &[f64]) -> usize {
    (series.len() - 1) / 2
}
