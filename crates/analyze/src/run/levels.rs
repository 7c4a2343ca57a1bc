//! Where the spread of a cell comes from: its samples, or its trials (METHOD §3, Kalibera and Jones, ISMM 2013).
//!
//! With r samples x in each of n trials: S₁² = Σ (x − x̄ of its trial)² / (n (r − 1)), S₂² = Σ (x̄ of the trial − x̄)² /
//! (n − 1), T₁² = S₁², T₂² = S₂² − S₁²/r. The best count of samples is ⌈√(c₂/c₁ · T₁²/T₂²)⌉, with c₁ the cost of a
//! sample and c₂ what a trial costs besides.
//! Absent on purpose: intervals of cells, which rest on one value a trial (crate::run::cells).

use super::TrialData;
use super::data::RunData;
use schema::analysis::Levels;
use schema::experiment::LoadModel;
use schema::metric::Metric;
use schema::plan::CellPlan;
use schema::trial::Phase;

/// Most samples that are ever advised.
const SAMPLES_MAX: f64 = 1000.0;

/// `None` with fewer than two valid trials, or fewer than two samples in each.
pub(super) fn levels(data: &RunData<'_>, cell: &CellPlan) -> Option<Levels> {
    let metric = match cell.load.model {
        LoadModel::Closed => Metric::Throughput,
        LoadModel::Open => Metric::Mean,
    };
    let wanted = data.plan.phases.samples as usize;
    let mut trials = Vec::new();
    for trial in data.valid(&cell.id) {
        let samples = samples(trial, metric);
        // One that ended early would weigh like the others.
        if samples.len() == wanted {
            trials.push(samples);
        }
    }
    let parts = Parts::of(&trials)?;
    let costs: Vec<f64> = data.valid(&cell.id).filter_map(besides_ns).collect();
    let besides_ns = costs.iter().sum::<f64>() / costs.len().max(1) as f64;
    let samples_best = (parts.between > 0.0 && data.plan.phases.sample_ns > 0).then(|| {
        let best = (besides_ns / data.plan.phases.sample_ns as f64 * parts.within / parts.between).sqrt();
        best.ceil().clamp(1.0, SAMPLES_MAX) as u32
    });
    let both = parts.within + parts.between;
    Some(Levels {
        metric,
        trials: trials.len() as u32,
        samples: wanted as u32,
        sample_cv: parts.within.sqrt() / parts.mean,
        trial_cv: parts.between.sqrt() / parts.mean,
        clipped: parts.clipped,
        trial_share: (both > 0.0).then(|| parts.between / both),
        samples_best,
    })
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
        let (n, r) = (trials.len() as f64, trials.first()?.len() as f64);
        if n < 2.0 || r < 2.0 {
            return None;
        }
        let means: Vec<f64> = trials.iter().map(|trial| trial.iter().sum::<f64>() / r).collect();
        let mean = means.iter().sum::<f64>() / n;
        if mean <= 0.0 {
            return None;
        }
        let squares = |values: &[f64], mean: f64| values.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
        let inside: f64 = trials.iter().zip(&means).map(|(trial, mean)| squares(trial, *mean)).sum();
        let within = inside / (n * (r - 1.0));
        let between = squares(&means, mean) / (n - 1.0) - within / r;
        Some(Self { mean, within, between: between.max(0.0), clipped: between < 0.0 })
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
