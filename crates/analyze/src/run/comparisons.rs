//! Every pair of targets at the same load, in every metric (METHOD §3).

use super::control;
use super::data::{RunData, same_level};
use super::ratio::{interval_of_logs, paired, verdict};
use crate::stats::holm::holm;
use crate::stats::signed_rank::hodges_lehmann;
use schema::analysis::{Comparison, Interval, Verdict};
use schema::metric::Metric;
use schema::plan::CellPlan;

/// All pairs in plan order, the earlier cell in the numerator; for each pair every metric.
pub(super) fn all_pairs(data: &RunData<'_>) -> Vec<Comparison> {
    let cells = &data.plan.cells;
    let mut comparisons = Vec::new();
    for (position, a) in cells.iter().enumerate() {
        for b in &cells[position + 1..] {
            let is_pair = control::is_comparable(data, &a.id, &b.id);
            if is_pair && a.target != b.target && a.id != b.id && same_level(data.plan, a, b) {
                comparisons.extend(pair(data, a, b));
            }
        }
    }
    comparisons
}

/// One pair in every metric, with Holm's correction over the metrics that have a p.
fn pair(data: &RunData<'_>, a: &CellPlan, b: &CellPlan) -> Vec<Comparison> {
    let mut comparisons: Vec<_> =
        Metric::ALL.into_iter().map(|metric| comparison(data, a, b, metric)).collect();
    let p_values: Vec<f64> = comparisons.iter().filter_map(|comparison| comparison.p_value).collect();
    let with_p = comparisons.iter_mut().filter(|comparison| comparison.p_value.is_some());
    for (comparison, adjusted) in with_p.zip(holm(&p_values)) {
        comparison.p_holm = Some(adjusted);
    }
    comparisons
}

fn comparison(data: &RunData<'_>, a: &CellPlan, b: &CellPlan, metric: Metric) -> Comparison {
    let paired = paired(data, &a.id, &b.id, metric);
    let mut comparison = Comparison {
        a: a.id.clone(),
        b: b.id.clone(),
        a_target: a.target.clone(),
        b_target: b.target.clone(),
        load: data.level_in_words(a),
        metric,
        blocks: u32::try_from(paired.blocks).unwrap_or(u32::MAX),
        ratio: paired.ratio,
        interval: None,
        hodges_lehmann: None,
        hodges_lehmann_interval: None,
        p_value: None,
        p_holm: None,
        verdict: Verdict::Refused,
        refused: None,
    };
    match paired.test {
        Err(reason) => comparison.refused = Some(reason),
        Ok(test) => {
            let (low, high) = test.interval(data.confidence);
            comparison.interval = Some(interval_of_logs(low, high));
            comparison.p_value = Some(test.p_value());
            comparison.verdict = verdict(metric, &test, data.confidence, data.margin);
            add_signed_rank(&mut comparison, &paired.logs, data.confidence);
        }
    }
    comparison
}

/// With five blocks the exact 95 % interval is unbounded, and is given so: both ends absent.
fn add_signed_rank(comparison: &mut Comparison, logs: &[f64], confidence: f64) {
    let Ok(found) = hodges_lehmann(logs, confidence) else { return };
    let ends = |low: f64, high: f64| interval_of_logs(low, high);
    comparison.hodges_lehmann = Some(found.estimate.exp()).filter(|ratio| ratio.is_finite());
    comparison.hodges_lehmann_interval = Some(
        found.low.zip(found.high).map_or(Interval { low: None, high: None }, |(low, high)| ends(low, high)),
    );
}
