//! Which cells are compared with which, and in which metric first.

use super::control;
use super::data::RunData;
use super::load::same_level;
use schema::experiment::LoadModel;
use schema::metric::Metric;
use schema::plan::{CellPlan, ExperimentPlan};

/// All pairs in plan order, the earlier cell in the numerator: cells that differ in their target only; then the cells
/// that depart from the baseline in something else, each with it.
pub(super) fn pairs<'a>(data: &RunData<'a>) -> Vec<(&'a CellPlan, &'a CellPlan)> {
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

/// The headline metric of a cell and its pairs, or those to take the first of that has values: that of the first claim
/// about one that is compared; else throughput, which an open load fixes itself, so there the p99 response time, or the mean where
/// trials are too short for a p99.
pub(super) fn headline(plan: &ExperimentPlan, cell: &CellPlan) -> Vec<Metric> {
    // Metrics that are computed for claims only are compared in no pair.
    let claimed = plan
        .claims
        .iter()
        .filter_map(|claim| claim.metric.as_ref()?.named())
        .find(|metric| Metric::ALL.contains(metric));
    match (claimed, cell.load.model) {
        (Some(metric), _) => vec![metric],
        (None, LoadModel::Closed) => vec![Metric::Throughput],
        (None, LoadModel::Open) => vec![Metric::P99, Metric::Mean],
    }
}
