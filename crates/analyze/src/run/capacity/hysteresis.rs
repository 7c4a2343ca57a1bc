//! Up against down: whether a level gives something else when it is reached from above.
//!
//! Odd blocks rise and even blocks fall, so blocks 2k − 1 and 2k make a pair. The interval is paired t on the log ratio;
//! a difference is shown where it is beyond the margin and stands after Holm's correction over all levels.

use super::BENT;
use super::ladder::Ladder;
use crate::run::MIN_TRIALS;
use crate::run::data::RunData;
use crate::run::ratio::interval_of_logs;
use crate::stats::holm::holm;
use crate::stats::student::MeanTest;
use crate::words::{Noun, count};
use schema::capacity::Hysteresis;
use schema::metric::Metric;
use schema::said;
use schema::said::Said;

pub(super) fn hysteresis(data: &RunData<'_>, ladder: &Ladder<'_>) -> Vec<Hysteresis> {
    let mut found = Vec::new();
    for metric in BENT {
        let tested: Vec<_> =
            ladder.rungs.iter().map(|rung| (rung.load, pairs(data, &rung.cell.id, metric))).collect();
        let tests: Vec<_> = tested.iter().map(|(_, logs)| test(logs)).collect();
        let p_values: Vec<f64> = tests.iter().flatten().map(MeanTest::p_value).collect();
        let mut corrected = holm(&p_values).into_iter();
        for ((load, logs), test) in tested.iter().zip(tests) {
            let p = test.as_ref().ok().and_then(|_| corrected.next());
            found.push(one(data, *load, metric, logs, test, p));
        }
    }
    found
}

fn one(
    data: &RunData<'_>,
    load: f64,
    metric: Metric,
    logs: &[f64],
    test: Result<MeanTest, Said>,
    p: Option<f64>,
) -> Hysteresis {
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    let ratio = (!logs.is_empty()).then(|| mean.exp()).filter(|ratio| ratio.is_finite());
    let is_beyond_margin = mean.abs() > data.margin.ln_1p();
    let (interval, refused) = match test {
        Ok(test) => {
            let (low, high) = test.interval(data.confidence);
            (Some(interval_of_logs(low, high)), None)
        }
        Err(reason) => (None, Some(reason)),
    };
    Hysteresis {
        load,
        metric,
        pairs: logs.len() as u32,
        ratio,
        interval,
        is_shown: is_beyond_margin && p.is_some_and(|p| p < 1.0 - data.confidence),
        refused,
    }
}

/// ln(up/down) of each pair of passes that has both.
fn pairs(data: &RunData<'_>, cell: &str, metric: Metric) -> Vec<f64> {
    let by_block = data.values_by_block(cell, metric);
    let up = by_block.iter().filter(|(block, value)| *block % 2 == 1 && **value > 0.0);
    up.filter_map(|(block, up)| {
        let down = by_block.get(&block.checked_add(1)?).filter(|down| **down > 0.0)?;
        Some(up.ln() - down.ln())
    })
    .collect()
}

fn test(logs: &[f64]) -> Result<MeanTest, Said> {
    if logs.len() < MIN_TRIALS {
        let missing = 2 * (MIN_TRIALS - logs.len());
        return Err(said!(
            "capacity.hysteresis.pairs_passes_needed_had",
            "{least} pairs of passes needed, had {had}: run {blocks} more",
            least = MIN_TRIALS,
            had = logs.len(),
            blocks = count(missing, Noun::Block)
        ));
    }
    MeanTest::of_logs(logs).map_err(|refusal| refusal.said())
}
