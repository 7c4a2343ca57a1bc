//! The highest throughput that a target gave: its capacity, where the ladder reached it.
//!
//! It is given only where load no longer helps: a knee is claimed, or throughput is flat throughout, and the last step
//! of the ladder gained next to nothing. It is the highest of the true throughputs at the levels: by the law that fits all
//! levels (`scaling`), so that no level is chosen for its noise. Where no law fits it is the mean over the levels that do
//! not differ from the highest one, by block, with an interval that allows for the choice.

use super::ladder::Ladder;
use super::scaling::{Fitted, LevelBlocks, by_block, interval};
use crate::run::MIN_TRIALS;
use crate::run::data::{RunData, too_few};
use crate::run::ratio::interval_of_logs;
use crate::stats::student::MeanTest;
use crate::words::{number, percent};
use schema::capacity::{HighestThroughput, Knee};
use schema::metric::Metric;
use schema::said;
use schema::said::Said;
use std::collections::BTreeMap;

/// Slope of ln throughput over ln load from which it still rises: a doubling that gains more than 3.5 %.
const RISES: f64 = 0.05;
/// Without an interval, levels within this of the highest count as equal to it.
const EQUAL: f64 = 0.01;

pub(super) fn highest(
    data: &RunData<'_>,
    ladder: &Ladder<'_>,
    knee: &Knee,
    fitted: Option<&Fitted>,
) -> Result<HighestThroughput, Said> {
    let levels = ladder.levels(data, Metric::Throughput);
    let (Some(first), Some(last)) = (levels.first(), levels.last()) else {
        return Err(said!(
            "capacity.highest.no_level_has_valid",
            "no level has a valid trial: see the reasons of the trials"
        ));
    };
    let slope =
        |a: &super::ladder::Level, b: &super::ladder::Level| (b.mean() - a.mean()) / (b.load / a.load).ln();
    if levels.len() < 3 {
        return Err(said!(
            "capacity.highest.levels_needed_had_lengthen",
            "3 levels needed, had {levels}: lengthen the ladder",
            levels = levels.len()
        ));
    }
    let last_step = slope(&levels[levels.len() - 2], last);
    let is_flat = slope(first, last).abs() < RISES;
    let blocks = by_block(data, ladder);
    // One step is noisy; all levels beyond a claimed knee together are less so.
    let rises_after_knee = knee.at.is_none() || knee.slope_after.is_none_or(|slope| slope > RISES);
    if last_step > RISES && rises_after_knee && is_higher(&blocks, data.confidence) {
        let gained = percent((last_step * std::f64::consts::LN_2).exp() - 1.0);
        return Err(said!(
            "capacity.highest.throughput_may_rise_further",
            "throughput may rise further beyond {load}: its last step gained {gained} per \
             doubling; raise the ladder",
            load = number(last.load),
            gained
        ));
    }
    if knee.at.is_none() && !is_flat {
        return Err(said!(
            "capacity.highest.no_knee_claimed_throughput",
            "no knee is claimed and throughput is not flat, so the ladder may \
             not have reached the end: raise the ladder, or run more blocks"
        ));
    }
    let spanned = spanned(&blocks, data.confidence);
    let chosen = like_the_highest(blocks, data.confidence);
    let (Some(low), Some(high)) = (chosen.first(), chosen.last()) else {
        return Err(said!(
            "capacity.highest.no_level_has_valid",
            "no level has a valid trial: see the reasons of the trials"
        ));
    };
    let blocks = block_means(&chosen);
    let mean = blocks.iter().sum::<f64>() / blocks.len() as f64;
    let highest = |per_s: f64, interval, refused| HighestThroughput {
        per_s,
        interval,
        from_load: low.load,
        to_load: high.load,
        refused,
    };
    if blocks.len() < MIN_TRIALS {
        let few = too_few(said!("noun.blocks", "blocks"), blocks.len());
        return Ok(highest(mean.exp(), None, Some(few)));
    }
    if let Some(found) = fitted.and_then(|fitted| fitted.highest(data.confidence)) {
        return Ok(highest(found.value.exp(), Some(interval(&found)), None));
    }
    Ok(match (spanned, MeanTest::of_logs(&blocks)) {
        (Some((from, to)), _) => {
            highest(mean.exp(), Some(interval_of_logs(from.min(mean), to.max(mean))), None)
        }
        (None, Err(refusal)) => highest(mean.exp(), None, Some(refusal.said())),
        (None, Ok(test)) => {
            let (from, to) = test.interval(data.confidence);
            highest(mean.exp(), Some(interval_of_logs(from, to)), None)
        }
    })
}

/// The interval of the highest true level, without a law. Above: that level's own upper end lies below the highest of all
/// upper ends, so each at α/2 will do. Below: no lower end may lie above its level, so they share α/2 (Bonferroni).
/// `None` where a level has no spread.
fn spanned(levels: &[LevelBlocks], confidence: f64) -> Option<(f64, f64)> {
    let alpha = 1.0 - confidence;
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
    for level in levels {
        let logs: Vec<f64> = level.logs.values().copied().collect();
        let test = MeanTest::of_logs(&logs).ok()?;
        low = low.max(test.interval(1.0 - alpha / levels.len() as f64).0);
        high = high.max(test.interval(confidence).1);
    }
    (low.is_finite() && high.is_finite()).then_some((low, high))
}

/// Whether the last level is above the one before by more than the trials differ.
fn is_higher(levels: &[LevelBlocks], confidence: f64) -> bool {
    let [.., before, last] = levels else { return true };
    differs(&apart(&last.logs, &before.logs), confidence)
}

/// a less b in the blocks that have both.
fn apart(a: &BTreeMap<u32, f64>, b: &BTreeMap<u32, f64>) -> Vec<f64> {
    a.iter().filter_map(|(block, log)| Some(log - b.get(block)?)).collect()
}

/// Whether differences are above 0 by more than chance; with too few blocks, by more than is equal.
fn differs(apart: &[f64], confidence: f64) -> bool {
    match MeanTest::of(apart) {
        Ok(test) if test.n >= MIN_TRIALS => test.interval(confidence).0 > 0.0,
        _ => apart.iter().sum::<f64>() / apart.len().max(1) as f64 > EQUAL,
    }
}

/// The highest level and those that do not differ from it, by load.
fn like_the_highest(mut levels: Vec<LevelBlocks>, confidence: f64) -> Vec<LevelBlocks> {
    let best = levels.iter().max_by(|a, b| a.mean().total_cmp(&b.mean())).map(|best| best.logs.clone());
    let best = best.unwrap_or_default();
    levels.retain(|level| {
        let apart = apart(&best, &level.logs);
        !apart.is_empty() && !differs(&apart, confidence)
    });
    levels
}

/// The mean of the levels in each block that has any of them, each level less its own mean first, so that a block that
/// lacks a level is not taken for a slow one.
fn block_means(levels: &[LevelBlocks]) -> Vec<f64> {
    let all = levels.iter().map(LevelBlocks::mean).sum::<f64>() / levels.len() as f64;
    let mut deviations: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for level in levels {
        let mean = level.mean();
        for (block, log) in &level.logs {
            deviations.entry(*block).or_default().push(log - mean);
        }
    }
    deviations.values().map(|logs| all + logs.iter().sum::<f64>() / logs.len() as f64).collect()
}
