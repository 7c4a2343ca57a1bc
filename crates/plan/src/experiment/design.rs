//! `[design]`: from all combinations of levels to the cells that are run, the hidden control, and when blocks end.
//!
//! Invariants: cells keep the order in which they were written and are numbered from 1 after the choice; a table of
//! levels that no combination has is a mistake, reported with the key at fault; a target or scenario of the file that
//! is left without a cell is a mistake, a combination of knobs is just not built.
//! Absent on purpose: the decisions at block borders (crate::sequential).

use super::grid::Grid;
use super::{layers, order};
use schema::design::{
    ControlPlan, ControlUse, DesignKind, DesignPlan, DesignUse, LevelsUse, Share, StoppingPlan,
};
use schema::experiment::TargetUse;
use schema::plan::{CellPlan, ClaimPlan, ClaimTest, ExperimentPlan, ScenarioPlan, TargetPlan};
use schema::text::Problem;
use units::{Count, Nanos};

/// Blocks before the first look at the precision: the fewest that give an interval (METHOD §3).
pub(super) const BLOCKS_PILOT: u32 = 5;
/// Most blocks where neither they nor a budget are given.
const BLOCKS_MAX: u64 = 100;
/// Most blocks of a run that waits for its claims: each further look widens the intervals of all.
const BLOCKS_DECIDED: u64 = 20;
/// Narrowest and widest precision: below, no machine is that quiet; above, nothing is said.
const PRECISION: std::ops::RangeInclusive<f64> = 0.0001..=1.0;

/// The cells that are run, and which of them is the baseline.
pub(super) fn choose(design: &DesignUse, grid: Grid<'_>) -> Result<(Vec<CellPlan>, DesignPlan), Problem> {
    let kind = design.kind.unwrap_or_default();
    for (list, name) in [(&design.include, "include"), (&design.exclude, "exclude")] {
        for (position, levels) in list.iter().enumerate() {
            grid.check(levels, &format!("design.{name}.{position}"))?;
        }
    }
    let departures = grid.departures(design, kind)?;
    let fits_one = |list: &[LevelsUse], cell: &CellPlan| list.iter().any(|levels| grid.fits(levels, cell));
    let is_chosen = |at: usize| {
        let cell = &grid.cells[at];
        let is_included = match kind {
            DesignKind::Factorial => design.include.is_empty() || fits_one(&design.include, cell),
            DesignKind::OneAtATime => departures[at] <= 1 || fits_one(&design.include, cell),
        };
        is_included && !fits_one(&design.exclude, cell)
    };
    let chosen: Vec<usize> = (0..grid.cells.len()).filter(|at| is_chosen(*at)).collect();
    let baseline = chosen.iter().position(|at| kind == DesignKind::OneAtATime && departures[*at] == 0);
    let mut cells: Vec<CellPlan> = chosen.iter().map(|at| grid.cells[*at].clone()).collect();
    for (at, cell) in cells.iter_mut().enumerate() {
        cell.id = format!("c{}", at + 1);
    }
    let baseline = baseline.map(|at| cells[at].id.clone());
    let layers = design.layers.as_deref().map(|name| layers::resolve(name, &grid, &cells)).transpose()?;
    Ok((cells, DesignPlan { kind, baseline, control: None, layers, stopping: None }))
}

/// The targets that are left with a cell. One of the file that has none at all would silently not be measured.
pub(super) fn with_cells(
    targets: Vec<TargetPlan>,
    positions: &[usize],
    scenarios: &[ScenarioPlan],
    cells: &[CellPlan],
) -> Result<(Vec<usize>, Vec<TargetPlan>), Problem> {
    let has_cell = |name: &str| cells.iter().any(|cell| cell.target == name);
    if cells.is_empty() {
        let remedy = "exclude less, or include more";
        return Err(Problem::at("design", "no combination of levels is left", remedy));
    }
    for (target, position) in targets.iter().zip(positions) {
        let mut alike = targets.iter().zip(positions).filter(|(_, other)| *other == position);
        if !alike.any(|(other, _)| has_cell(&other.name)) {
            let cause = format!("the design leaves no cell of the target {}", target.name);
            let remedy = "remove the target, or let include and exclude leave a cell of it";
            return Err(Problem::at(&format!("target.{position}"), cause, remedy));
        }
    }
    if let Some(idle) = scenarios.iter().find(|plan| !cells.iter().any(|cell| cell.scenario == plan.name)) {
        let cause = format!("the design leaves no cell of the scenario {}", idle.name);
        return Err(Problem::at("scenario.use", cause, "remove it from the list, or exclude less"));
    }
    let left = positions.iter().copied().zip(targets).filter(|(_, target)| has_cell(&target.name));
    Ok(left.unzip())
}

/// Adds the hidden control: one more cell and a target of another name that is the same in all else.
///
/// After claims and events are resolved, because it is not for them to name.
pub(super) fn add_control(
    design: &DesignUse,
    uses: &[TargetUse],
    positions: &[usize],
    plan: &mut ExperimentPlan,
) -> Result<(), Problem> {
    let levels = match &design.control {
        None | Some(ControlUse::Is(false)) => return Ok(()),
        Some(ControlUse::Is(true)) => LevelsUse::default(),
        Some(ControlUse::Target(name)) => LevelsUse { target: Some(name.clone()), ..LevelsUse::default() },
        Some(ControlUse::Levels(levels)) => levels.clone(),
    };
    let grid = Grid { uses, positions, targets: &plan.targets, cells: plan.cells.clone() };
    if !levels.keys().is_empty() {
        grid.check(&levels, "design.control")?;
    }
    let Some(of) = grid.cells.iter().find(|cell| grid.fits(&levels, cell)) else { return Ok(()) };
    let name = format!("{} (A/A)", of.target);
    if plan.targets.iter().any(|target| target.name == name) {
        let cause = format!("a target is called `{name}`, which is the name of the control");
        return Err(Problem::at("design.control", cause, "give that target another name = \"…\""));
    }
    let Some(target) = plan.targets.iter().find(|target| target.name == of.target) else { return Ok(()) };
    let target = TargetPlan { name: name.clone(), ..target.clone() };
    let cell = CellPlan {
        id: format!("c{}", plan.cells.len() + 1),
        label: of.label.replacen(&of.target, &name, 1),
        target: name,
        ..of.clone()
    };
    plan.design.control = Some(ControlPlan { cell: cell.id.clone(), of: of.id.clone() });
    plan.targets.push(target);
    plan.cells.push(cell);
    Ok(())
}

/// When blocks end; nothing where their number is fixed. `trials_max` bounds blocks × cells.
pub(super) fn stopping(
    design: &DesignUse,
    blocks: Option<Count>,
    cells: usize,
    trials_max: u64,
) -> Result<Option<StoppingPlan>, Problem> {
    let until_decided = design.until_decided.unwrap_or_default();
    if design.precision.is_none() && design.budget.is_none() && !until_decided {
        return Ok(None);
    }
    let precision = design.precision.map(|Share(value)| value);
    if let Some(value) = precision.filter(|value| !PRECISION.contains(value)) {
        let remedy = "give the half-width of the interval, from \"0.01%\" to \"100%\", for example \"2%\"";
        return Err(Problem::at("design.precision", format!("{value} is out of range"), remedy));
    }
    if design.budget.is_some_and(|Nanos(ns)| ns == 0) {
        return Err(Problem::at("design.budget", "no time is no budget", "give a time such as \"20m\""));
    }
    let cells = cells.max(1) as u64;
    let most = trials_max / cells;
    let usual = match (until_decided, design.budget.is_some()) {
        (true, _) => BLOCKS_DECIDED.min(most),
        (false, true) => most,
        (false, false) => BLOCKS_MAX.min(most),
    };
    let blocks_max = blocks.map_or(usual, |given| given.0);
    if blocks_max < u64::from(BLOCKS_PILOT) {
        let cause = format!("{blocks_max} blocks at most, and the first look is after {BLOCKS_PILOT}");
        let remedy = "with precision or budget `blocks` is the most that are run; raise it or leave it out";
        return Err(Problem::at("experiment.blocks", cause, remedy));
    }
    Ok(Some(StoppingPlan {
        precision,
        budget_ns: design.budget.map(|budget| budget.0),
        until_decided,
        blocks_pilot: BLOCKS_PILOT,
        blocks_max: u32::try_from(blocks_max).unwrap_or(u32::MAX),
        looks: Vec::new(),
        stopped: None,
    }))
}

/// A run can wait only for claims that the trials of a run decide.
pub(super) fn check_decided(design: &DesignUse, plan: &ExperimentPlan) -> Result<(), Problem> {
    if design.until_decided != Some(true) {
        return Ok(());
    }
    let of_runs =
        |claim: &ClaimPlan| !claim.test.is_about_knee() && !matches!(claim.test, ClaimTest::NoLeak { .. });
    if plan.claims.iter().any(of_runs) && plan.claims.iter().all(of_runs) {
        return Ok(());
    }
    let remedy = "write a [[claim]] about targets that are compared or bounded, or leave the key out";
    let cause = match plan.claims.is_empty() {
        true => "there is no claim to be decided",
        false => "a claim about a knee or a leak is not decided by blocks of trials",
    };
    Err(Problem::at("design.until_decided", cause, remedy))
}

/// Fills in the order of the blocks that are sure to be run.
pub(super) fn begin(plan: &mut ExperimentPlan, blocks: u32) {
    plan.blocks = 0;
    plan.order.clear();
    let first = plan.design.stopping.as_ref().map_or(blocks, |stopping| stopping.blocks_pilot);
    order::extend(plan, first);
}

#[cfg(test)]
#[path = "design_tests.rs"]
mod tests;
