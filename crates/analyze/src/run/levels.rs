//! Where the spread of a cell comes from: its samples, or its trials (METHOD §3, Kalibera and Jones, ISMM 2013).
//!
//! The formulas are in `stats::levels`, for any number of levels; here there are two, and histories add the third, runs.
//! A sample costs its length, and a trial what it takes besides.
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
    let found = variances(&trials)?;
    let (within, between) = (found.own[0], found.own[1].max(0.0));
    let best = |(sample_ns, besides_ns)| found.best_count(0, &[sample_ns, besides_ns]);
    let samples_best =
        costs_ns(data, cell).and_then(best).map(|best| best.ceil().clamp(1.0, SAMPLES_MAX) as u32);
    let both = within + between;
    Some(Levels {
        metric,
        trials: trials.len() as u32,
        samples: data.plan.phases.samples,
        sample_cv: within.sqrt() / found.mean,
        trial_cv: between.sqrt() / found.mean,
        clipped: found.own[1] < 0.0,
        trial_share: (both > 0.0).then(|| between / both),
        samples_best,
    })
}

/// The metric that samples are kept of.
pub(in crate::run) fn metric_of(cell: &CellPlan) -> Metric {
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

/// Of samples within trials; every trial must have as many.
fn variances(trials: &[Vec<f64>]) -> Option<levels::Levels> {
    let counts = [trials.first()?.len(), trials.len()];
    levels::Levels::of(&trials.concat(), &counts).ok().filter(|found| found.mean > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variances_of_a_worked_example() {
        // Means 2, 4, 9 about 5: S₂² = (9 + 1 + 16) / 2 = 13. Inside 2 + 2 + 2 over 3 · 1: S₁² = 2. T₂² = 13 − 2/2.
        let found = variances(&[vec![1.0, 3.0], vec![3.0, 5.0], vec![8.0, 10.0]]).unwrap();
        assert_eq!((found.mean, found.own), (5.0, vec![2.0, 12.0]));
    }

    #[test]
    fn trials_that_agree_better_than_their_samples_bring_nothing_in() {
        let found = variances(&[vec![1.0, 3.0], vec![3.0, 1.0]]).unwrap();
        assert_eq!((found.mean, found.own.clone()), (2.0, vec![2.0, -1.0]));
        assert_eq!(found.best_count(0, &[1.0, 5.0]), None);
    }

    #[test]
    fn one_trial_or_one_sample_has_no_levels() {
        assert_eq!(variances(&[]), None);
        assert_eq!(variances(&[vec![1.0, 2.0]]), None);
        assert_eq!(variances(&[vec![1.0], vec![2.0]]), None);
        assert_eq!(variances(&[vec![0.0, 0.0], vec![0.0, 0.0]]), None);
    }
}
