//! Every pair of targets at the same load, and in a one-at-a-time design every departure against the baseline, in every
//! metric (METHOD §3).

use super::control;
use super::data::RunData;
use super::load::same_level;
use super::ratio::{Paired, interval_of_logs, interval_of_values, paired, verdict, verdict_of_difference};
use super::resampling::Resampling;
use crate::stats::fieller::{FiellerSet, TwoMeans};
use crate::stats::holm::holm;
use crate::stats::signed_rank::hodges_lehmann;
use crate::stats::student::MeanTest;
use schema::analysis::{Basis, Comparison, Interval, RatioOfMeans, Verdict};
use schema::metric::Metric;
use schema::plan::CellPlan;

/// All pairs in plan order, the earlier cell in the numerator; for each pair every metric.
pub(super) fn all_pairs(data: &RunData<'_>) -> Vec<Comparison> {
    let pairs = pairs(data);
    let resampling = Resampling::new(data, &pairs);
    pairs.into_iter().flat_map(|(a, b)| pair(data, a, b, &resampling)).collect()
}

/// Cells that differ in their target only; then the cells that depart from the baseline in something else, each with it.
fn pairs<'a>(data: &RunData<'a>) -> Vec<(&'a CellPlan, &'a CellPlan)> {
    let cells = &data.plan.cells;
    let mut pairs = Vec::new();
    for (position, a) in cells.iter().enumerate() {
        let like = |b: &&CellPlan| {
            control::is_comparable(data, &a.id, &b.id)
                && a.target != b.target
                && a.id != b.id
                && same_level(data.plan, a, b)
        };
        pairs.extend(cells[position + 1..].iter().filter(like).map(|b| (a, b)));
    }
    let baseline = data.plan.design.baseline.as_deref().and_then(|id| data.cell(id));
    let departures = baseline.into_iter().flat_map(|base| {
        let departs = |cell: &&CellPlan| {
            !same_level(data.plan, cell, base) && control::is_comparable(data, &cell.id, &base.id)
        };
        cells.iter().filter(departs).map(move |cell| (cell, base))
    });
    pairs.extend(departures);
    pairs
}

/// What a cell is called beside another: its target, with its level where that differs too.
fn name(data: &RunData<'_>, cell: &CellPlan, other: &CellPlan) -> String {
    if same_level(data.plan, cell, other) {
        return cell.target.clone();
    }
    format!("{} at {}", cell.target, data.level_in_words(cell))
}

/// One pair in every metric, with Holm's correction over the metrics that have a p.
fn pair(data: &RunData<'_>, a: &CellPlan, b: &CellPlan, resampling: &Resampling) -> Vec<Comparison> {
    let mut comparisons: Vec<_> =
        Metric::ALL.into_iter().map(|metric| comparison(data, a, b, metric, resampling)).collect();
    let p_values: Vec<f64> = comparisons.iter().filter_map(|comparison| comparison.p_value).collect();
    let with_p = comparisons.iter_mut().filter(|comparison| comparison.p_value.is_some());
    for (comparison, adjusted) in with_p.zip(holm(&p_values)) {
        comparison.p_holm = Some(adjusted);
    }
    comparisons
}

fn comparison(
    data: &RunData<'_>,
    a: &CellPlan,
    b: &CellPlan,
    metric: Metric,
    resampling: &Resampling,
) -> Comparison {
    let paired = paired(data, &a.id, &b.id, metric);
    let basis = paired.basis(metric);
    let mut comparison = Comparison {
        a: a.id.clone(),
        b: b.id.clone(),
        a_target: name(data, a, b),
        b_target: name(data, b, a),
        load: if same_level(data.plan, a, b) { data.level_in_words(a) } else { String::new() },
        metric,
        blocks: u32::try_from(paired.blocks).unwrap_or(u32::MAX),
        basis,
        ratio: paired.ratio,
        interval: None,
        hodges_lehmann: None,
        hodges_lehmann_interval: None,
        difference: paired.difference,
        difference_interval: None,
        ratio_of_means: None,
        bootstrap: None,
        p_value: None,
        p_holm: None,
        verdict: Verdict::Refused,
        refused: None,
    };
    if let Ok(test) = &paired.difference_test {
        comparison.difference_interval = Some(interval_of_values(test.interval(data.confidence)));
    }
    let test = match basis {
        Basis::Ratio => &paired.test,
        Basis::Difference => &paired.difference_test,
    };
    match test {
        Err(reason) => comparison.refused = Some(reason.clone()),
        Ok(test) => {
            answer(&mut comparison, data, test);
            add_signed_rank(&mut comparison, &paired, data.confidence);
            comparison.ratio_of_means = ratio_of_means(&paired.pairs, data.confidence);
            comparison.bootstrap = resampling.ratio(data, a, b, metric);
        }
    }
    comparison
}

/// Interval, p and verdict on the scale that the answer rests on.
fn answer(comparison: &mut Comparison, data: &RunData<'_>, test: &MeanTest) {
    comparison.p_value = Some(test.p_value());
    comparison.verdict = match comparison.basis {
        Basis::Ratio => {
            let (low, high) = test.interval(data.confidence);
            comparison.interval = Some(interval_of_logs(low, high));
            verdict(comparison.metric, test, data.confidence, data.margin)
        }
        Basis::Difference => verdict_of_difference(comparison.metric, test, data.confidence),
    };
}

/// With five blocks the exact 95 % interval is unbounded, and is given so: both ends absent.
fn add_signed_rank(comparison: &mut Comparison, paired: &Paired, confidence: f64) {
    let values = match comparison.basis {
        Basis::Ratio => paired.logs.clone(),
        Basis::Difference => paired.differences(),
    };
    let Ok(found) = hodges_lehmann(&values, confidence) else { return };
    let unbounded = Interval { low: None, high: None };
    let ends = found.low.zip(found.high);
    let (estimate, interval) = match comparison.basis {
        Basis::Ratio => (found.estimate.exp(), ends.map(|(low, high)| interval_of_logs(low, high))),
        Basis::Difference => (found.estimate, ends.map(interval_of_values)),
    };
    comparison.hodges_lehmann = Some(estimate).filter(|estimate| estimate.is_finite());
    comparison.hodges_lehmann_interval = Some(interval.unwrap_or(unbounded));
}

/// The ratio of arithmetic means with Fieller's interval.
fn ratio_of_means(pairs: &[(f64, f64)], confidence: f64) -> Option<RatioOfMeans> {
    let means = TwoMeans::paired(pairs).ok()?;
    let ratio = means.ratio()?;
    let (interval, excluded) = match means.fieller(confidence).ok()? {
        FiellerSet::Between(low, high) => (Interval { low: Some(low), high: Some(high) }, None),
        FiellerSet::Outside(low, high) => {
            (Interval { low: None, high: None }, Some(Interval { low: Some(low), high: Some(high) }))
        }
        FiellerSet::Everything => (Interval { low: None, high: None }, None),
    };
    Some(RatioOfMeans { ratio, interval, excluded })
}
