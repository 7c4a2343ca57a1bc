//! Cross-checks that no single trial can make (METHOD §9): CPU per request constant below the knee, and whether the
//! target's own counts could be read where it has them.
//!
//! A ladder is all cells of one target that differ in connections or rate only. Below the knee stand, for this purpose,
//! cells with at most [`BELOW_KNEE`] of the highest throughput of their ladder; where the knee really is, is not asked.
//! Absent on purpose: gates. What differs between cells may be the target's nature, so it is said and voids nothing.

use super::data::RunData;
use crate::words::{Listed, Noun, count, duration, listed, percent};
use schema::analysis::{BeliefLevel, BeliefNote, CellSummary, MetricSummary};
use schema::metric::Metric;
use schema::plan::{CellPlan, LoadPlan};
use schema::said;

/// Share of the highest throughput of a ladder up to which a cell counts as below its knee.
const BELOW_KNEE: f64 = 0.8;
/// Difference of CPU per request that is worth saying: U = X·D (METHOD §6) then bends visibly.
const CPU_DIFFERENCE: f64 = 0.2;
/// Fewest cells of a ladder, and fewest of them below the knee.
const LADDER_MIN: usize = 3;
const BELOW_MIN: usize = 2;

pub(super) fn notes(data: &RunData<'_>, cells: &[CellSummary]) -> Vec<BeliefNote> {
    let mut notes: Vec<BeliefNote> = ladders(data).iter().filter_map(|ladder| cpu(ladder, cells)).collect();
    notes.extend(unread(data));
    notes
}

/// Cells of one target, scenario and confinement, under loads that differ in connections and rate only.
fn ladders<'a>(data: &RunData<'a>) -> Vec<Vec<&'a CellPlan>> {
    let mut ladders: Vec<Vec<&CellPlan>> = Vec::new();
    for cell in &data.plan.cells {
        match ladders.iter_mut().find(|ladder| is_of(ladder[0], cell)) {
            Some(ladder) => ladder.push(cell),
            None => ladders.push(vec![cell]),
        }
    }
    ladders
}

fn is_of(a: &CellPlan, b: &CellPlan) -> bool {
    // Workers and processes follow from the connections.
    let bare = |load: &LoadPlan| LoadPlan {
        connections: 0,
        connections_max: 0,
        users: None,
        rate_per_s: None,
        workers: 0,
        processes: 0,
        ..load.clone()
    };
    a.target == b.target && a.scenario == b.scenario && a.limits == b.limits && bare(&a.load) == bare(&b.load)
}

/// One cell in numbers: its load in words, its throughput, its CPU per request with what is known of its spread.
struct Step<'a> {
    load: &'a str,
    throughput: f64,
    cpu_ns: f64,
    low: f64,
    high: f64,
}

fn step<'a>(cell: &'a CellSummary) -> Option<Step<'a>> {
    let of = |wanted: Metric| cell.metrics.iter().find(|metric| metric.metric == wanted);
    let cpu: &MetricSummary = of(Metric::CpuPerRequest)?;
    let values = cpu.values.iter().copied();
    let (low, high) = (values.clone().reduce(f64::min)?, values.reduce(f64::max)?);
    let is_usable = |value: &f64| value.is_finite() && *value > 0.0;
    Some(Step {
        load: &cell.load,
        throughput: of(Metric::Throughput)?.center.filter(is_usable)?,
        cpu_ns: cpu.center.filter(is_usable)?,
        low,
        high,
    })
}

fn cpu(ladder: &[&CellPlan], cells: &[CellSummary]) -> Option<BeliefNote> {
    let of = |cell: &&CellPlan| cells.iter().find(|summary| summary.cell == cell.id).and_then(step);
    let steps: Vec<Step<'_>> = ladder.iter().filter_map(of).collect();
    let most = steps.iter().map(|step| step.throughput).reduce(f64::max)?;
    let below: Vec<&Step<'_>> = steps.iter().filter(|step| step.throughput <= BELOW_KNEE * most).collect();
    if steps.len() < LADDER_MIN || below.len() < BELOW_MIN {
        return None;
    }
    let least = below.iter().min_by(|a, b| a.cpu_ns.total_cmp(&b.cpu_ns))?;
    let most = below.iter().max_by(|a, b| a.cpu_ns.total_cmp(&b.cpu_ns))?;
    let difference = most.cpu_ns / least.cpu_ns - 1.0;
    let target = &ladder[0].target;
    // Trials that overlap do not tell the two apart.
    if difference <= CPU_DIFFERENCE || most.low <= least.high {
        let text = said!(
            "cross_checks.cpu_per_request_constant",
            "CPU per request of {target} is constant below its knee, within {difference} over \
             {loads}",
            target,
            difference = percent(difference),
            loads = count(below.len(), Noun::Load)
        );
        return Some(BeliefNote { level: BeliefLevel::Yes, text, remedy: None });
    }
    let text = said!(
        "cross_checks.cpu_per_request_not",
        "CPU per request of {target} is not constant below its knee: {least} at {low}, {most} at \
         {high}",
        target,
        least = duration(least.cpu_ns),
        low = least.load,
        most = duration(most.cpu_ns),
        high = most.load
    );
    let remedy = said!(
        "cross_checks.compare_cpu_equal_loads",
        "compare its CPU at equal loads only; look for work that requests do not cause (timers, \
         collection) where it is high at low load, and for costs of connections where it grows"
    );
    Some(BeliefNote { level: BeliefLevel::WithReservations, text, remedy: Some(remedy) })
}

/// Trials in which the target's own counts were to be read and could not be.
fn unread(data: &RunData<'_>) -> Option<BeliefNote> {
    let mut reason = None;
    let mut ids = Vec::new();
    for trial in &data.trials {
        let missing = trial.file.target.server.iter().flat_map(|server| &server.missing).next();
        if let Some(first) = missing {
            reason.get_or_insert(first);
            ids.push(trial.file.id);
        }
    }
    let text = said!(
        "cross_checks.target_own_counts_could",
        "the target's own counts could not be held against the client's in {trials}: {reason}",
        trials = listed(Listed::Trial, &ids),
        reason = reason?
    );
    let remedy = said!(
        "cross_checks.mend_target_endpoint_metrics",
        "mend the target's endpoint, or `[metrics]` of its manifest or of the experiment"
    );
    Some(BeliefNote { level: BeliefLevel::WithReservations, text, remedy: Some(remedy) })
}
