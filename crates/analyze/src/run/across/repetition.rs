//! Three levels of repetition over runs: samples in trials in runs, what each brings in, and how many of each give the
//! narrowest interval for the time spent (METHOD §3; Kalibera & Jones, ISMM 2013).
//!
//! A run is the outermost level: another day, another host, whatever else differs from one `prony run` to the next. A
//! trial is a restart, or a build and a restart where the experiment says `replicas = "rebuild"`.
//! Invariant: only the metric that samples are kept of has levels; runs with fewer trials shorten all.

use super::same_cell;
use crate::run::MIN_TRIALS;
use crate::run::data::RunData;
use crate::run::levels::{costs_ns, samples_of};
use crate::stats::levels::Levels;
use crate::stats::student::t_quantile;
use crate::words::percent;
use schema::advice::LevelsAdvice;
use schema::metric::Metric;
use schema::plan::{CellPlan, ExperimentPlan, Replicas};
use schema::said;
use schema::said::Said;

/// Most repetitions that are ever advised.
const BEST_MAX: f64 = 1_000.0;

/// The levels of one cell and metric, and what a repetition of each costs.
pub(super) struct Repetition {
    pub(super) levels: Levels,
    /// A sample, a trial besides its samples, nanoseconds; `None` where no trial tells.
    pub(super) costs_ns: Option<(f64, f64)>,
}

/// `None` with fewer than two runs, of two trials, of two samples.
pub(super) fn repetition(seen: &[RunData<'_>], cell: &CellPlan, metric: Metric) -> Option<Repetition> {
    let own = |data: &RunData<'_>| -> Option<CellPlan> {
        data.plan.cells.iter().find(|other| same_cell(cell, other)).cloned()
    };
    let runs: Vec<Vec<Vec<f64>>> =
        seen.iter().filter_map(|data| samples_of(data, &own(data)?, metric)).collect();
    let trials = runs.iter().map(Vec::len).min().filter(|trials| *trials >= 2)?;
    let samples = runs.first()?.first()?.len();
    let values: Vec<f64> = runs.iter().flat_map(|run| run.iter().take(trials)).flatten().copied().collect();
    let levels = Levels::of(&values, &[samples, trials, runs.len()]).ok().filter(|found| found.mean > 0.0)?;
    Some(Repetition { levels, costs_ns: seen.last().and_then(|data| costs_ns(data, &own(data)?)) })
}

impl Repetition {
    /// The best count at a level (0: samples in a trial, 1: trials in a run), for what a run costs besides its trials.
    pub(super) fn best(&self, level: usize, run_ns: f64) -> Option<u32> {
        let (sample, trial) = self.costs_ns?;
        let best = self.levels.best_count(level, &[sample, trial, run_ns])?;
        Some(best.ceil().clamp(1.0, BEST_MAX) as u32)
    }

    /// Standard deviation that a level brings in by itself, over the mean; 0 where clipped.
    pub(super) fn cv(&self, level: usize) -> f64 {
        self.levels.own[level].max(0.0).sqrt() / self.levels.mean
    }

    /// Fewest runs whose interval is at most ± `precision` of the mean: t₍ᵣ₋₁₎ √(S₃²/r₃) with S₃² = T₃² + T₂²/r₂ +
    /// T₁²/(r₁ r₂) of these counts. `None` where no number up to the most does.
    fn runs_for(&self, precision: f64, confidence: f64, samples: u32, trials: u32) -> Option<u32> {
        let (samples, trials) = (f64::from(samples), f64::from(trials));
        let spread =
            self.cv(2).powi(2) + self.cv(1).powi(2) / trials + self.cv(0).powi(2) / (samples * trials);
        let half = |runs: u32| {
            t_quantile(0.5 + confidence / 2.0, runs as usize - 1) * (spread / f64::from(runs)).sqrt()
        };
        (MIN_TRIALS as u32..=BEST_MAX as u32).find(|runs| half(*runs) <= precision)
    }
}

/// What past runs say of a plan: of the cell whose runs differ most. `run_ns` is what a run costs besides its trials,
/// where it was measured; else it is taken for as much as a trial costs besides its samples.
pub(super) fn advice(
    plan: &ExperimentPlan,
    seen: &[RunData<'_>],
    (precision, confidence): (f64, f64),
    run_ns: Option<u64>,
) -> Option<LevelsAdvice> {
    let of = |cell: &CellPlan| {
        let metric = crate::run::levels::metric_of(cell);
        Some((cell.label.clone(), metric, repetition(seen, cell, metric)?))
    };
    let (of, metric, found) =
        plan.cells.iter().filter_map(of).max_by(|a, b| a.2.cv(2).total_cmp(&b.2.cv(2)))?;
    let (sample_ns, trial_ns) = found.costs_ns?;
    // All cells of a run share what it costs.
    let cells = plan.cells.len().max(1) as f64;
    let run_each = run_ns.map_or(trial_ns, |ns| ns as f64 / cells);
    // Where a level brings nothing in, nothing is gained by repeating it: two tell that it still does not.
    let samples = found.best(0, run_each).unwrap_or(plan.phases.samples.max(1));
    let trials = found.best(1, run_each).unwrap_or(plan.blocks.max(1));
    let runs = found.runs_for(precision, confidence, samples, trials);
    let one_run = cells * (run_each + f64::from(trials) * (trial_ns + f64::from(samples) * sample_ns));
    Some(LevelsAdvice {
        runs_seen: *found.levels.counts.get(2)? as u32,
        trials_seen: *found.levels.counts.get(1)? as u32,
        samples_seen: *found.levels.counts.first()? as u32,
        run_cv: found.cv(2),
        trial_cv: found.cv(1),
        sample_cv: found.cv(0),
        run_ns: run_each,
        run_is_measured: run_ns.is_some(),
        trial_ns,
        sample_ns,
        samples_best: found.best(0, run_each),
        trials_best: found.best(1, run_each),
        runs_for_precision: runs,
        time_ns: runs.map(|runs| (f64::from(runs) * one_run).min(u64::MAX as f64) as u64),
        how: how(plan, (samples, trials, runs), &of, precision),
        of,
        metric,
    })
}

/// How to run it, by the keys of the experiment file.
fn how(
    plan: &ExperimentPlan,
    (samples, trials, runs): (u32, u32, Option<u32>),
    of: &str,
    precision: f64,
) -> Said {
    let unit = match plan.replicas {
        Replicas::Restart => {
            said!("repetition.restart", "each a restart; `replicas = \"rebuild\"` makes each a build")
        }
        Replicas::Rebuild => said!("repetition.rebuild", "each a build and a restart"),
    };
    let Some(runs) = runs else {
        return said!(
            "repetition.too_many",
            "no number of runs up to {most} gives ± {precision} for {of}: its runs differ too much; find out why first",
            most = BEST_MAX,
            precision = percent(precision),
            of
        );
    };
    said!(
        "repetition.how",
        "cheapest for ± {precision} of {of} over days and hosts: `samples = {samples}`, `blocks = {trials}` ({unit}), and \
         `prony run` {runs} times, on other days or hosts; `prony history` reads them together",
        precision = percent(precision),
        of,
        samples,
        trials,
        unit,
        runs
    )
}
