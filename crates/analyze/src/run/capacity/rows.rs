//! The baseline table: throughput, p95 and errors by load, with the operational laws held against each row.

use super::ladder::{Ladder, Rung};
use crate::run::data::RunData;
use crate::stats::kneedle::second_differences;
use crate::stats::laws::{concurrency, throughput_bound, utilisation};
use schema::analysis::CellSummary;
use schema::arrival::ThinkPlan;
use schema::capacity::{CapacityRow, Estimate, Laws, LoadAxis};
use schema::metric::Metric;

/// Deviation from Little's law that is rounding and the window's borders (as the gate `littles_law` allows).
const LITTLE: f64 = 0.02;
/// Nanoseconds of a second.
const SECOND: f64 = 1e9;

pub(super) fn rows(
    data: &RunData<'_>,
    ladder: &Ladder<'_>,
    cells: &[CellSummary],
    axis: LoadAxis,
) -> Vec<CapacityRow> {
    let of = |rung: &Rung<'_>, metric| estimate(cells, &rung.cell.id, metric);
    // A request of the lightest load waits for nothing, or as little as any that was measured.
    let lightest = ladder.rungs.iter().find_map(|rung| of(rung, Metric::Mean).value);
    let bends = bends(ladder, cells);
    ladder
        .rungs
        .iter()
        .zip(bends)
        .map(|(rung, second_difference)| {
            let errors = of(rung, Metric::ErrorRate);
            let mut laws = laws(data, rung, cells, axis, lightest.map(|ns| ns / SECOND));
            if errors.value.is_none_or(|share| share > 0.0) {
                laws.holds = None;
            }
            CapacityRow {
                cell: rung.cell.id.clone(),
                load: rung.load,
                trials_valid: data.valid(&rung.cell.id).count() as u32,
                throughput_per_s: of(rung, Metric::Throughput),
                p95_ns: of(rung, Metric::P95),
                error_rate: errors,
                second_difference,
                laws,
            }
        })
        .collect()
}

fn estimate(cells: &[CellSummary], cell: &str, metric: Metric) -> Estimate {
    let summary = cells.iter().find(|summary| summary.cell == cell);
    let found = summary.and_then(|summary| summary.metrics.iter().find(|found| found.metric == metric));
    found.map_or_else(Estimate::default, |found| Estimate { value: found.center, interval: found.interval })
}

/// Second differences of ln throughput over ln load; none of them where a level has no throughput.
fn bends(ladder: &Ladder<'_>, cells: &[CellSummary]) -> Vec<Option<f64>> {
    let none = vec![None; ladder.rungs.len()];
    let logs = ladder.rungs.iter().map(|rung| {
        let value = estimate(cells, &rung.cell.id, Metric::Throughput).value?;
        (value > 0.0).then(|| value.ln())
    });
    let y: Option<Vec<f64>> = logs.collect();
    let Some(y) = y else { return none };
    let x: Vec<f64> = ladder.rungs.iter().map(|rung| rung.load.ln()).collect();
    second_differences(&x, &y).unwrap_or(none)
}

fn laws(
    data: &RunData<'_>,
    rung: &Rung<'_>,
    cells: &[CellSummary],
    axis: LoadAxis,
    lightest_s: Option<f64>,
) -> Laws {
    let value = |metric| estimate(cells, &rung.cell.id, metric).value;
    let Some(throughput) = value(Metric::Throughput) else { return Laws::default() };
    let think_s = rung.cell.load.think.as_ref().map_or(0.0, ThinkPlan::mean_ns) / SECOND;
    let response_s = value(Metric::Mean).map(|ns| ns / SECOND);
    let demand_s = value(Metric::CpuPerRequest).map(|ns| ns / SECOND);
    let concurrency = response_s.and_then(|response| concurrency(throughput, response, think_s));
    let is_closed = axis == LoadAxis::Connections;
    let ratio = concurrency.filter(|_| is_closed).map(|n| n / rung.load);
    let cpus = rung.cell.limits.cpus.or_else(|| data.plan.pin.target.as_ref().map(|cpus| cpus.len() as f64));
    let demand_max_s = demand_s.zip(cpus).map(|(demand, cpus)| demand / cpus);
    // An open load has no users that could wait for each other.
    let bound = match is_closed {
        true => throughput_bound(rung.load, think_s, lightest_s, demand_max_s),
        false => demand_max_s.and_then(|demand| throughput_bound(0.0, 0.0, None, Some(demand))),
    };
    Laws {
        concurrency,
        concurrency_ratio: ratio,
        holds: ratio.map(|ratio| (ratio - 1.0).abs() <= LITTLE),
        cpus_busy: demand_s.and_then(|demand| utilisation(throughput, demand)),
        bound_per_s: bound,
        bound_share: bound.map(|bound| throughput / bound).filter(|share| share.is_finite()),
    }
}
