//! Whether some trials ran on a slower machine than the others, detected by the fixed-work canary (METHOD §9): the
//! clock of a core that wanders, a CPU quota, one slow node among several.
//!
//! The canary's mean time is compared between trials; how well it repeats is shown by its two readings in each.

use super::data::RunData;
use super::trials::value;
use schema::calibration::{Canary, FixedWork};
use schema::metric::Metric;

/// Fewest trials with a canary, for others to be compared with.
const TRIALS_MIN: usize = 4;
/// Longer by this much is slower.
const SLOWER: f64 = 0.05;
/// … and by this many times what the two readings of one trial differ by, in the middle.
const NOISE_TIMES: f64 = 4.0;

/// Trials on a slower machine.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Slow {
    /// Their numbers, ascending.
    pub(super) ids: Vec<u32>,
    /// How many times as long the work took, in the middle of them.
    pub(super) factor: f64,
    /// Their throughput over that of the other trials of their cells, in the middle; `None` without such.
    pub(super) throughput: Option<f64>,
}

/// The trials that the canary sets apart, if any.
pub(super) fn slow(data: &RunData<'_>) -> Option<Slow> {
    let readings: Vec<(u32, f64, f64)> = data
        .trials
        .iter()
        .filter_map(|trial| {
            trial.file.canary.as_ref().and_then(reading).map(|(log, noise)| (trial.file.id, log, noise))
        })
        .collect();
    if readings.len() < TRIALS_MIN {
        return None;
    }
    // The faster half holds the machine at its best; a slow node may have run as much as half of the trials.
    let fast = quantile(readings.iter().map(|(_, log, _)| *log), 0.25);
    let noise = quantile(readings.iter().map(|(_, _, noise)| *noise), 0.5);
    let limit = SLOWER.ln_1p().max(NOISE_TIMES * noise);
    let slow: Vec<&(u32, f64, f64)> = readings.iter().filter(|(_, log, _)| log - fast > limit).collect();
    if slow.is_empty() {
        return None;
    }
    let ids: Vec<u32> = slow.iter().map(|(id, ..)| *id).collect();
    let factor = quantile(slow.iter().map(|(_, log, _)| log - fast), 0.5).exp();
    let throughput = throughput(data, &ids);
    Some(Slow { ids, factor, throughput })
}

/// Logarithm of the time of the work in a trial, and by how much its two readings differ.
fn reading(canary: &Canary) -> Option<(f64, f64)> {
    let time = |work: &FixedWork| if work.mean_ns > 0.0 { work.mean_ns } else { work.median_ns };
    let (before, after) = (time(&canary.before).ln(), time(&canary.after).ln());
    let found = (f64::midpoint(before, after), (after - before).abs());
    (found.0.is_finite() && found.1.is_finite()).then_some(found)
}

/// The middle of the ratios of each slow trial to the geometric mean of the others of its cell.
fn throughput(data: &RunData<'_>, slow: &[u32]) -> Option<f64> {
    let log =
        |trial: &&super::TrialData| value(&trial.file, Metric::Throughput).filter(|v| *v > 0.0).map(f64::ln);
    let mut ratios = Vec::new();
    for cell in &data.plan.cells {
        let (ill, well): (Vec<_>, Vec<_>) =
            data.trials_of(&cell.id).partition(|trial| slow.contains(&trial.file.id));
        let well: Vec<f64> = well.iter().filter_map(log).collect();
        if !well.is_empty() {
            let mean = well.iter().sum::<f64>() / well.len() as f64;
            ratios.extend(ill.iter().filter_map(log).map(|value| value - mean));
        }
    }
    (!ratios.is_empty()).then(|| quantile(ratios.into_iter(), 0.5).exp())
}

/// The value of rank ⌈q n⌉; `values` must not be empty.
fn quantile(values: impl Iterator<Item = f64>, q: f64) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[((values.len() as f64 * q).ceil() as usize).max(1) - 1]
}
