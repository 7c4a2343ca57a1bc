//! Drift over blocks: did the machine get faster or slower while the run went on?

use super::MIN_TRIALS;
use super::data::RunData;
use crate::stats::by_position::slope;
use crate::stats::rank::trend;
use schema::metric::Metric;
use std::collections::BTreeMap;

/// A drift of throughput from the first to the last block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Drift {
    /// Ratio of the last block to the first on the fitted line.
    pub(super) ratio: f64,
    /// Two-sided p of no drift.
    pub(super) p_value: f64,
    pub(super) blocks: usize,
}

/// Spearman of throughput against block, each block taken as the mean over cells of the log of throughput relative
/// to the cell's own mean; size by least squares. `None` with fewer than five blocks, or without spread.
pub(super) fn drift(data: &RunData<'_>) -> Option<Drift> {
    let mut deviations: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for cell in &data.plan.cells {
        let logs: Vec<(u32, f64)> = data
            .values_by_block(&cell.id, Metric::Throughput)
            .into_iter()
            .filter(|(_, value)| *value > 0.0)
            .map(|(block, value)| (block, value.ln()))
            .collect();
        let mean = logs.iter().map(|(_, log)| log).sum::<f64>() / logs.len() as f64;
        for (block, log) in logs {
            deviations.entry(block).or_default().push(log - mean);
        }
    }
    let series: Vec<f64> =
        deviations.values().map(|logs| logs.iter().sum::<f64>() / logs.len() as f64).collect();
    if series.len() < MIN_TRIALS {
        return None;
    }
    let found = trend(&series).ok()?;
    let ratio = (slope(&series) * (series.len() - 1) as f64).exp();
    ratio.is_finite().then_some(Drift { ratio, p_value: found.p_value, blocks: series.len() })
}
