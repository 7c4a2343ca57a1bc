//! What each layer costs: the level of an ordered factor against the level before it, all else equal (METHOD §3, paired
//! by block).
//!
//! Costs are differences and not ratios, because what a layer adds is added. Each difference is over the blocks that
//! have both levels, so that one void trial takes a block from two layers and not from all.
//! Invariants: a layer whose interval holds 0 is never said to cost anything (Holm's correction only takes away); the
//! order of levels is the plan's; the hidden control is no level.

use super::control;
use super::data::RunData;
use super::load::{load_with_factors, same_load, same_quota};
use super::ratio::{Paired, interval_of_values, paired};
use crate::stats::holm::holm;
use schema::analysis::Interval;
use schema::design::{LayerFactor, LayersPlan};
use schema::layers::{LayerCost, LayerCosts, LayerMetric, LayerPlace, LayerVerdict};
use schema::metric::Metric;
use schema::plan::{CellPlan, ExperimentPlan, TargetPlan};
use schema::said;
use std::collections::BTreeMap;

/// The times in which layers are reported.
const METRICS: [Metric; 3] = [Metric::CpuPerRequest, Metric::Mean, Metric::P50];

/// One entry for each combination of everything but the factor, in plan order; none without an ordered factor.
pub(super) fn layers(data: &RunData<'_>) -> Vec<LayerCosts> {
    let Some(plan) = &data.plan.design.layers else { return Vec::new() };
    let chains = chains(data, plan);
    let mut found: Vec<LayerCosts> = chains.iter().map(|chain| costs(data, plan, chain)).collect();
    correct(data, &mut found);
    found
}

/// The levels at one combination of everything else, in the plan's order, with their cells.
type Chain<'a> = Vec<(&'a str, &'a CellPlan)>;

/// Combinations with two levels or more.
fn chains<'a>(data: &RunData<'a>, plan: &'a LayersPlan) -> Vec<Chain<'a>> {
    let cells = data.plan.cells.iter().filter(|cell| !control::is_control(data, &cell.id));
    let mut groups: Vec<Vec<&CellPlan>> = Vec::new();
    for cell in cells {
        match groups.iter_mut().find(|group| is_alike(data.plan, &plan.factor, group[0], cell)) {
            Some(group) => group.push(cell),
            None => groups.push(vec![cell]),
        }
    }
    let chain = |group: Vec<&'a CellPlan>| -> Chain<'a> {
        let of_level = |level: &'a String| {
            let has = |cell: &&&CellPlan| self::level(data.plan, &plan.factor, cell) == Some(level.as_str());
            group.iter().find(has).map(|cell| (level.as_str(), *cell))
        };
        plan.levels.iter().filter_map(of_level).collect()
    };
    groups.into_iter().map(chain).filter(|chain| chain.len() > 1).collect()
}

fn target<'a>(plan: &'a ExperimentPlan, cell: &CellPlan) -> Option<&'a TargetPlan> {
    plan.targets.iter().find(|target| target.name == cell.target)
}

/// The name of a cell's target without the knobs that were given lists.
fn base<'a>(plan: &'a ExperimentPlan, cell: &'a CellPlan) -> &'a str {
    let variant = target(plan, cell).and_then(|target| target.variant.as_ref());
    variant.map_or(&cell.target, |variant| &variant.of)
}

/// The knobs that were given lists, without the factor.
fn other_knobs<'a>(
    plan: &'a ExperimentPlan,
    factor: &LayerFactor,
    cell: &CellPlan,
) -> BTreeMap<&'a str, &'a str> {
    let variant = target(plan, cell).and_then(|target| target.variant.as_ref());
    let is_other = |name: &str| !matches!(factor, LayerFactor::Knob { name: knob } if knob == name);
    let knobs = variant.into_iter().flat_map(|variant| &variant.knobs);
    knobs.map(|(name, value)| (name.as_str(), value.as_str())).filter(|(name, _)| is_other(name)).collect()
}

fn level<'a>(plan: &'a ExperimentPlan, factor: &LayerFactor, cell: &'a CellPlan) -> Option<&'a str> {
    match factor {
        LayerFactor::Target => Some(base(plan, cell)),
        LayerFactor::Scenario => Some(&cell.scenario),
        LayerFactor::Knob { name } => {
            target(plan, cell)?.variant.as_ref()?.knobs.get(name).map(String::as_str)
        }
    }
}

/// Whether two cells are the same in everything but the factor.
fn is_alike(plan: &ExperimentPlan, factor: &LayerFactor, a: &CellPlan, b: &CellPlan) -> bool {
    (*factor == LayerFactor::Target || base(plan, a) == base(plan, b))
        && (*factor == LayerFactor::Scenario || a.scenario == b.scenario)
        && other_knobs(plan, factor, a) == other_knobs(plan, factor, b)
        && same_load(&a.load, &b.load)
        && same_quota(plan, a, b)
}

/// Everything but the factor, in words.
fn at(data: &RunData<'_>, factor: &LayerFactor, cell: &CellPlan) -> String {
    let knobs = other_knobs(data.plan, factor, cell);
    let knobs = knobs.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ");
    let target = if *factor == LayerFactor::Target { "" } else { base(data.plan, cell) };
    let target = [target, &knobs].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    let several = data.plan.scenarios.len() > 1 && *factor != LayerFactor::Scenario;
    let scenario = if several { cell.scenario.clone() } else { String::new() };
    let load = load_with_factors(data.plan, cell);
    [target, scenario, load].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

fn costs(data: &RunData<'_>, plan: &LayersPlan, chain: &Chain<'_>) -> LayerCosts {
    LayerCosts {
        factor: plan.factor.name().to_owned(),
        at: at(data, &plan.factor, chain[0].1),
        metrics: METRICS.into_iter().map(|metric| in_metric(data, metric, chain)).collect(),
    }
}

fn in_metric(data: &RunData<'_>, metric: Metric, chain: &Chain<'_>) -> LayerMetric {
    let (base, base_cell) = chain[0];
    let base_ns = mean(&data.values(&base_cell.id, metric));
    let mut sum = base_ns;
    let mut layers = Vec::new();
    for step in chain.windows(2) {
        let mut layer = cost(data, metric, step[0], step[1]);
        layer.place = sum.zip(layer.cost_ns).map(|(from, cost)| place(from, cost, layer.interval));
        // Where a layer has no cost at all, what follows stands on the mean of its own level.
        let own = || mean(&data.values(&layer.cell, metric));
        sum = layer.place.map_or_else(own, |place| Some(place.to_ns));
        layers.push(layer);
    }
    let total = (layers.len() > 1).then(|| {
        let mut all = cost(data, metric, chain[0], chain[chain.len() - 1]);
        all.p_holm = all.p_value;
        judge(&mut all, data.confidence);
        all
    });
    LayerMetric {
        metric,
        base: base.to_owned(),
        base_cell: base_cell.id.clone(),
        base_refused: base_ns.is_none().then(|| {
            let missing = data.why_missing(&base_cell.id, metric);
            missing.unwrap_or_else(|| {
                said!("layers.no_valid_trial_look", "no valid trial: look at the reasons of its trials")
            })
        }),
        base_ns,
        layers,
        total,
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    Some(mean).filter(|mean| mean.is_finite())
}

/// A level less the one before it, not yet judged.
fn cost(
    data: &RunData<'_>,
    metric: Metric,
    (against, before): (&str, &CellPlan),
    (level, cell): (&str, &CellPlan),
) -> LayerCost {
    let Paired { blocks, difference, difference_test, .. } = paired(data, &cell.id, &before.id, metric);
    let mut layer = LayerCost {
        level: level.to_owned(),
        cell: cell.id.clone(),
        against: against.to_owned(),
        blocks: u32::try_from(blocks).unwrap_or(u32::MAX),
        cost_ns: difference,
        ..LayerCost::default()
    };
    match difference_test {
        Ok(test) => {
            layer.interval = Some(interval_of_values(test.interval(data.confidence)));
            layer.p_value = Some(test.p_value());
        }
        Err(why) => layer.refused = Some(why),
    }
    layer
}

fn place(from: f64, cost: f64, interval: Option<Interval>) -> LayerPlace {
    let end = |end: Option<f64>| end.map(|end| from + end);
    LayerPlace {
        from_ns: from,
        to_ns: from + cost,
        to_low_ns: interval.and_then(|interval| end(interval.low)),
        to_high_ns: interval.and_then(|interval| end(interval.high)),
    }
}

/// Holm's correction over all layers of the run in all metrics, and the verdicts.
fn correct(data: &RunData<'_>, found: &mut [LayerCosts]) {
    let metrics = found.iter_mut().flat_map(|costs| &mut costs.metrics);
    let mut layers: Vec<&mut LayerCost> = metrics.flat_map(|of| &mut of.layers).collect();
    let p_values: Vec<f64> = layers.iter().filter_map(|layer| layer.p_value).collect();
    let tested = layers.iter_mut().filter(|layer| layer.p_value.is_some());
    for (layer, adjusted) in tested.zip(holm(&p_values)) {
        layer.p_holm = Some(adjusted);
        judge(layer, data.confidence);
    }
}

fn judge(layer: &mut LayerCost, confidence: f64) {
    let (Some(p), Some(cost)) = (layer.p_holm, layer.cost_ns) else { return };
    layer.verdict = match p < 1.0 - confidence {
        true if cost > 0.0 => LayerVerdict::Costs,
        true => LayerVerdict::Saves,
        false => LayerVerdict::NotShown,
    };
}
