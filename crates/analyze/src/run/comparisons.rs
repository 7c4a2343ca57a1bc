//! Every pair of targets at the same load, and in a one-at-a-time design every departure against the baseline, in every
//! metric (METHOD §3). Interval and verdict of each are those of one family (`families`); the checks beside it (ranks,
//! ratio of means, bootstrap) stand alone at the run's confidence.

use super::data::RunData;
use super::families::{Families, Level};
use super::load::same_level;
use super::pairs::pairs;
use super::ratio::{Paired, interval_of_logs, interval_of_values, paired, verdict, verdict_of_difference};
use super::resampling::Resampling;
use crate::stats::fieller::{FiellerSet, TwoMeans};
use crate::stats::signed_rank::hodges_lehmann;
use crate::stats::student::MeanTest;
use schema::analysis::{Basis, Comparison, Interval, RatioOfMeans, Verdict};
use schema::metric::Metric;
use schema::plan::CellPlan;

/// All pairs in plan order, the earlier cell in the numerator; for each pair every metric.
pub(super) fn all_pairs(data: &RunData<'_>, families: &Families) -> Vec<Comparison> {
    let pairs = pairs(data);
    let resampling = Resampling::new(data, &pairs);
    let metrics = |(a, b)| Metric::ALL.into_iter().map(move |metric| (a, b, metric));
    let all = pairs.into_iter().flat_map(metrics);
    all.map(|(a, b, metric)| comparison(data, families, (a, b), metric, &resampling)).collect()
}

/// What a cell is called beside another: its target, with its level where that differs too.
fn name(data: &RunData<'_>, cell: &CellPlan, other: &CellPlan) -> String {
    if same_level(data.plan, cell, other) {
        return cell.target.clone();
    }
    format!("{} at {}", cell.target, data.level_in_words(cell))
}

fn comparison(
    data: &RunData<'_>,
    families: &Families,
    (a, b): (&CellPlan, &CellPlan),
    metric: Metric,
    resampling: &Resampling,
) -> Comparison {
    let paired = paired(data, &a.id, &b.id, metric);
    let basis = paired.basis(metric);
    let (part, level) = families.comparison(data, (&a.id, &b.id), metric, basis);
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
        p_family: None,
        part,
        level: None,
        alone: None,
        verdict: Verdict::Refused,
        refused: None,
    };
    if let Ok(test) = &paired.difference_test {
        let confidence = if basis == Basis::Difference { level.confidence } else { data.confidence };
        comparison.difference_interval = Some(interval_of_values(test.interval(confidence)));
    }
    let test = match basis {
        Basis::Ratio => &paired.test,
        Basis::Difference => &paired.difference_test,
    };
    match test {
        Err(reason) => comparison.refused = Some(reason.clone()),
        Ok(test) => {
            answer(&mut comparison, data, level, test);
            add_signed_rank(&mut comparison, &paired, data.confidence);
            comparison.ratio_of_means = ratio_of_means(&paired.pairs, data.confidence);
            comparison.bootstrap = resampling.ratio(data, a, b, metric);
        }
    }
    comparison
}

/// Interval, p and verdict on the scale that the answer rests on, all at the level of its part in the family.
fn answer(comparison: &mut Comparison, data: &RunData<'_>, level: Level, test: &MeanTest) {
    let p = test.p_value();
    comparison.p_value = Some(p);
    comparison.p_family = Some((p * (1.0 - data.confidence) / level.alpha()).min(1.0));
    comparison.level = Some(level.confidence);
    let alone = test.interval(data.confidence);
    (comparison.verdict, comparison.alone) = match comparison.basis {
        Basis::Ratio => {
            let (low, high) = test.interval(level.confidence);
            comparison.interval = Some(interval_of_logs(low, high));
            let verdict = verdict(comparison.metric, test, level.confidence, data.margin);
            (verdict, Some(interval_of_logs(alone.0, alone.1)))
        }
        Basis::Difference => {
            let verdict = verdict_of_difference(comparison.metric, test, level.confidence);
            (verdict, Some(interval_of_values(alone)))
        }
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
