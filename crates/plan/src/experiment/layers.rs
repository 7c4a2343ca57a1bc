//! `design.layers`: which factor's levels are layers, in which order, and that there is something to take apart.
//!
//! Invariants: the order of levels is the order of the file, never that of cells; a factor with fewer than two levels, and
//! one of which no two levels stand at the same of everything else, is a mistake and no empty table in the report.

use super::grid::Grid;
use schema::design::{LayerFactor, LayersPlan};
use schema::plan::CellPlan;
use schema::text::{Problem, nearest};
use std::collections::BTreeMap;

const KEY: &str = "design.layers";

/// The factor of this name with its levels among the cells that are run.
pub(super) fn resolve(name: &str, grid: &Grid<'_>, cells: &[CellPlan]) -> Result<LayersPlan, Problem> {
    let known = factors(grid, cells);
    let wanted = |(known, _): &&(LayerFactor, Vec<String>)| match known {
        LayerFactor::Knob { name: knob } => name == knob || name.strip_prefix("knobs.") == Some(knob),
        plain => name == plain.name(),
    };
    let Some((factor, levels)) = known.iter().find(wanted) else { return Err(unknown(name, &known)) };
    let plan = LayersPlan { factor: factor.clone(), levels: levels.clone() };
    check_order(&plan, grid)?;
    if cells.iter().enumerate().any(|(at, cell)| has_partner(&plan, grid, cell, &cells[at + 1..])) {
        return Ok(plan);
    }
    let cause = format!("no two levels of `{name}` are measured with everything else equal");
    Err(Problem::at(KEY, cause, "exclude less, or give the levels the same knobs, scenarios and loads"))
}

/// Every factor that could be one of layers: those with several levels, in words and by their levels in the order of
/// the file. A knob counts where it was given a list.
fn factors(grid: &Grid<'_>, cells: &[CellPlan]) -> Vec<(LayerFactor, Vec<String>)> {
    let used = |at: &usize| cells.iter().any(|cell| cell.target == grid.targets[*at].name);
    let targets: Vec<usize> = (0..grid.targets.len()).filter(used).collect();
    let bases = targets.iter().map(|at| grid.base(*at).to_owned());
    let scenarios = grid.cells.iter().map(|cell| cell.scenario.clone());
    let scenarios = scenarios.filter(|name| cells.iter().any(|cell| cell.scenario == *name));
    let mut found =
        vec![(LayerFactor::Target, distinct(bases)), (LayerFactor::Scenario, distinct(scenarios))];
    let mut knobs: BTreeMap<&String, Vec<String>> = BTreeMap::new();
    let variants = targets.iter().filter_map(|at| grid.targets[*at].variant.as_ref());
    for (name, value) in variants.flat_map(|variant| &variant.knobs) {
        knobs.entry(name).or_default().push(value.clone());
    }
    let knobs = knobs.into_iter();
    found.extend(
        knobs.map(|(name, values)| (LayerFactor::Knob { name: name.clone() }, distinct(values.into_iter()))),
    );
    found.retain(|(_, levels)| levels.len() > 1);
    found
}

/// Each once, in the order of first appearance.
fn distinct(all: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = Vec::new();
    for one in all {
        if !seen.contains(&one) {
            seen.push(one);
        }
    }
    seen
}

fn unknown(name: &str, known: &[(LayerFactor, Vec<String>)]) -> Problem {
    let names: Vec<&str> = known.iter().map(|(factor, _)| factor.name()).collect();
    let remedy = match nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if names.is_empty() => {
            "give a knob a list, or name several targets or scenarios; each one adds a layer to the one before".to_owned()
        }
        None => format!("name one of: {}", names.join(", ")),
    };
    let cause = match name.strip_prefix("knobs.").unwrap_or(name) {
        "connections" | "rate" | "http" | "streams" | "trace" | "cpus" => {
            format!("the levels of `{name}` are loads and limits, and no layers of a program")
        }
        _ => format!("the experiment has no factor `{name}` with two levels or more"),
    };
    Problem::at(KEY, cause, remedy)
}

/// Two targets may not order the levels of a knob in two ways: there would be no level before.
fn check_order(plan: &LayersPlan, grid: &Grid<'_>) -> Result<(), Problem> {
    let LayerFactor::Knob { name } = &plan.factor else { return Ok(()) };
    for position in 0..grid.uses.len() {
        let of_use = grid.positions.iter().zip(grid.targets).filter(|(at, _)| **at == position);
        let values = of_use.filter_map(|(_, target)| target.variant.as_ref()?.knobs.get(name).cloned());
        let given = distinct(values.filter(|value| plan.levels.contains(value)));
        if !plan.levels.iter().filter(|level| given.contains(*level)).eq(given.iter()) {
            let cause = format!(
                "the targets give the levels of `{name}` in different orders, so none is the layer below"
            );
            let remedy = format!("list them as {} in every target", plan.levels.join(", "));
            return Err(Problem::at(&format!("target.{position}.knobs.{name}"), cause, remedy));
        }
    }
    Ok(())
}

/// Whether one of the others has another level and the same of everything else.
fn has_partner(plan: &LayersPlan, grid: &Grid<'_>, cell: &CellPlan, others: &[CellPlan]) -> bool {
    let Some(level) = level(plan, grid, cell) else { return false };
    let is_partner = |other: &&CellPlan| {
        self::level(plan, grid, other).is_some_and(|of_other| of_other != level)
            && rest(plan, grid, cell) == rest(plan, grid, other)
    };
    others.iter().any(|other| is_partner(&other))
}

fn level(plan: &LayersPlan, grid: &Grid<'_>, cell: &CellPlan) -> Option<String> {
    let target = grid.target(cell);
    match &plan.factor {
        LayerFactor::Target => Some(grid.base(target).to_owned()),
        LayerFactor::Scenario => Some(cell.scenario.clone()),
        LayerFactor::Knob { name } => grid.targets[target].variant.as_ref()?.knobs.get(name).cloned(),
    }
}

/// Everything but the factor, in words: as `analyze` groups cells.
fn rest(plan: &LayersPlan, grid: &Grid<'_>, cell: &CellPlan) -> String {
    let target = grid.target(cell);
    let mut knobs =
        grid.targets[target].variant.as_ref().map(|variant| variant.knobs.clone()).unwrap_or_default();
    let mut base = grid.base(target);
    let mut scenario = cell.scenario.as_str();
    match &plan.factor {
        LayerFactor::Target => base = "",
        LayerFactor::Scenario => scenario = "",
        LayerFactor::Knob { name } => drop(knobs.remove(name)),
    }
    let load = &cell.load;
    let spoken = (load.connection.http.key(), load.connection.streams, load.trace_level());
    let (connections, rate, cpus) = (load.connections, load.rate_per_s, cell.limits.cpus);
    format!("{base} {knobs:?} {scenario} {connections} {rate:?} {spoken:?} {cpus:?}")
}
