//! The load of a cell in words, and whether two cells carry the same one; quota and share of traces belong to its words where they are factors.

use schema::arrival::ArrivalPlan;
use schema::experiment::LoadModel;
use schema::limits::LimitsPlan;
use schema::plan::{CellPlan, ExperimentPlan, LoadPlan};
use units::format::counted;

/// The load in words, for example `128 connections`. It is a name: cells are identified by it.
pub(crate) fn load_in_words(load: &LoadPlan) -> String {
    let connections = counted(load.connections.into(), "connection");
    let connections = format!("{connections}{}", load.connection.stream_words());
    if load.model == LoadModel::Closed {
        let think = load.think.map_or(String::new(), |think| format!(" that think {think}"));
        return format!("{connections}{think}");
    }
    let rate = load.rate_per_s.map_or("an unknown rate".to_owned(), |rate| {
        format!("{} requests per second", crate::words::number(rate))
    });
    let law = match &load.arrivals {
        None | Some(ArrivalPlan::Constant) => String::new(),
        Some(law) => format!(" ({law} arrivals)"),
    };
    let shape = load.shape.as_ref().map_or(String::new(), |shape| format!(" with the shape {}", shape.kind));
    format!("{rate}{law}{shape} over {connections}")
}

/// The load of a cell in words, with its share of traces and its quota where they are factors.
pub(super) fn load_with_factors(plan: &ExperimentPlan, cell: &CellPlan) -> String {
    let trace = cell.load.trace_level();
    let is_factor = plan.cells.iter().any(|other| other.load.trace_level() != trace);
    let traced = if is_factor { format!(", trace {trace}") } else { String::new() };
    let load = load_in_words(&cell.load) + &traced;
    if quota_is_factor(plan, cell) {
        let quota = LimitsPlan { cpus: cell.limits.cpus, ..LimitsPlan::default() };
        format!("{load} with {quota}")
    } else {
        load
    }
}

/// Whether the quota of a cell's target is varied by the experiment.
pub(super) fn quota_is_factor(plan: &ExperimentPlan, cell: &CellPlan) -> bool {
    plan.cells.iter().any(|other| other.target == cell.target && other.limits.cpus != cell.limits.cpus)
}

/// Whether two cells differ in their target only, so that their targets can be compared.
pub(super) fn same_level(plan: &ExperimentPlan, a: &CellPlan, b: &CellPlan) -> bool {
    a.scenario == b.scenario && same_load(&a.load, &b.load) && same_quota(plan, a, b)
}

pub(super) fn same_load(a: &LoadPlan, b: &LoadPlan) -> bool {
    a.model == b.model
        && a.connections == b.connections
        && a.rate_per_s == b.rate_per_s
        && (a.connection.http, a.connection.streams) == (b.connection.http, b.connection.streams)
        && a.trace_level() == b.trace_level()
        && a.think == b.think
        && a.shape == b.shape
        && (a.model == LoadModel::Closed
            || a.arrivals.clone().unwrap_or_default() == b.arrivals.clone().unwrap_or_default())
}

/// Whether two targets are confined alike, as far as the experiment varies it. Limits that only one of them was given
/// are what is compared.
pub(super) fn same_quota(plan: &ExperimentPlan, a: &CellPlan, b: &CellPlan) -> bool {
    a.limits.cpus == b.limits.cpus || !(quota_is_factor(plan, a) || quota_is_factor(plan, b))
}
