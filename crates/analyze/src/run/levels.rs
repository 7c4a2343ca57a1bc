//! Where the spread of a cell comes from: its samples, or its trials (METHOD §3, Kalibera and Jones, ISMM 2013).
//!
//! With r samples x in each of n trials: S₁² = Σ (x − x̄ of its trial)² / (n (r − 1)), S₂² = Σ (x̄ of the trial − x̄)² /
//! (n − 1), T₁² = S₁², T₂² = S₂² − S₁²/r. The best count of samples is ⌈√(c₂/c₁ · T₁²/T₂²)⌉, with c₁ the cost of a
//! sample and c₂ what a trial costs besides.
//! The formulas are in `stats::levels`, for any number of levels; histories add the third, runs.
//! Absent on purpose: intervals of cells, which rest on one value a trial (crate::run::cells).

use super::TrialData;
use super::data::RunData;
use crate::stats::levels;
use schema::analysis::Levels;
use schema::experiment::LoadModel;
use schema::metric::Metric;
use schema::plan::CellPlan;
use schema::trial::Phase;

/// Most samples that are ever advised.
const SAMPLES_MAX: f64 = 1000.0;

/// `None` with fewer than two valid trials, or fewer than two samples in each.
pub(super) fn levels(data: &RunData<'_>, cell: &CellPlan) -> Option<Levels> {
    let metric = metric_of(cell);
    let trials = samples_of(data, cell, metric)?;
    let parts = Parts::of(&trials)?;
    let costs = costs_ns(data, cell).filter(|_| parts.between > 0.0);
    let samples_best = costs.map(|(sample_ns, besides_ns)| {
        let best = (besides_ns / sample_ns * parts.within / parts.between).sqrt();
        best.ceil().clamp(1.0, SAMPLES_MAX) as u32
    });
    let both = parts.within + parts.between;
    Some(Levels {
        metric,
        trials: trials.len() as u32,
        samples: data.plan.phases.samples,
        sample_cv: parts.within.sqrt() / parts.mean,
        trial_cv: parts.between.sqrt() / parts.mean,
        clipped: parts.clipped,
        trial_share: (both > 0.0).then(|| parts.between / both),
        samples_best,
    })
}

/// The metric that samples are kept of.
fn metric_of(cell: &CellPlan) -> Metric {
    match cell.load.model {
        LoadModel::Closed => Metric::Throughput,
        LoadModel::Open => Metric::Mean,
    }
}

/// The samples of each valid trial that has all of them; `None` for a metric that samples are not kept of.
pub(in crate::run) fn samples_of(
    data: &RunData<'_>,
    cell: &CellPlan,
    metric: Metric,
) -> Option<Vec<Vec<f64>>> {
    let wanted = data.plan.phases.samples as usize;
    let all = data.valid(&cell.id).map(|trial| samples(trial, metric));
    // One that ended early would weigh like the others.
    (metric == metric_of(cell)).then(|| all.filter(|samples| samples.len() == wanted).collect())
}

/// What a sample costs, and a trial besides its samples, in nanoseconds.
pub(in crate::run) fn costs_ns(data: &RunData<'_>, cell: &CellPlan) -> Option<(f64, f64)> {
    let costs: Vec<f64> = data.valid(&cell.id).filter_map(besides_ns).collect();
    let besides_ns = costs.iter().sum::<f64>() / costs.len().max(1) as f64;
    let sample_ns = data.plan.phases.sample_ns as f64;
    (sample_ns > 0.0).then_some((sample_ns, besides_ns))
}

fn samples(trial: &TrialData, metric: Metric) -> Vec<f64> {
    let value = |sample: &schema::trial::SampleSummary| match metric {
        Metric::Throughput => Some(sample.throughput_per_s),
        _ => sample.mean_ns,
    };
    trial.file.samples.iter().filter_map(value).filter(|value| value.is_finite()).collect()
}

/// What a trial takes besides its samples: start, warm-up and drain.
fn besides_ns(trial: &TrialData) -> Option<f64> {
    let others = trial.file.phases.iter().filter(|span| span.phase != Phase::Sample);
    let time: u64 = others.map(|span| span.end_ns.saturating_sub(span.start_ns)).sum();
    Some(time as f64 + trial.file.ready_ns.unwrap_or_default() as f64)
}

/// Variances by level.
#[derive(Debug, PartialEq)]
struct Parts {
    mean: f64,
    /// T₁².
    within: f64,
    /// T₂².
    between: f64,
    clipped: bool,
}

impl Parts {
    /// Every trial must have as many samples.
    fn of(trials: &[Vec<f64>]) -> Option<Self> {
        let counts = [trials.first()?.len(), trials.len()];
        let found = levels::Levels::of(&trials.concat(), &counts).ok()?;
        let (within, between) = (found.own[0], found.own[1]);
        let (mean, clipped) = (found.mean, between < 0.0);
        (mean > 0.0).then_some(Self { mean, within, between: between.max(0.0), clipped })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variances_of_a_worked_example() {
        // Means 2, 4, 9 about 5: S₂² = (9 + 1 + 16) / 2 = 13. Inside 2 + 2 + 2 over 3 · 1: S₁² = 2. T₂² = 13 − 2/2.
        let found = Parts::of(&[vec![1.0, 3.0], vec![3.0, 5.0], vec![8.0, 10.0]]).unwrap();
        assert_eq!(found, Parts { mean: 5.0, within: 2.0, between: 12.0, clipped: false });
    }

    #[test]
    fn trials_that_agree_better_than_their_samples_are_clipped() {
        let found = Parts::of(&[vec![1.0, 3.0], vec![3.0, 1.0]]).unwrap();
        assert_eq!(found, Parts { mean: 2.0, within: 2.0, between: 0.0, clipped: true });
    }

    #[test]
    fn one_trial_or_one_sample_has_no_levels() {
        assert_eq!(Parts::of(&[]), None);
        assert_eq!(Parts::of(&[vec![1.0, 2.0]]), None);
        assert_eq!(Parts::of(&[vec![1.0], vec![2.0]]), None);
        assert_eq!(Parts::of(&[vec![0.0, 0.0], vec![0.0, 0.0]]), None);
    }
}
