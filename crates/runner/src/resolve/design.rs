//! `[design]`: from all combinations of levels to the cells that are run, the hidden control, and when blocks end.
//!
//! Invariants: cells keep the order in which they were written and are numbered from 1 after the choice; a table of
//! levels that no combination has is a mistake, told with the key at fault; a target or scenario of the file that is
//! left without a cell is a mistake, a combination of knobs is just not built.
//! Absent on purpose: the decisions at block borders (crate::sequential).

use super::{layers, order};
use schema::design::{
    ControlPlan, ControlUse, DesignKind, DesignPlan, DesignUse, LevelsUse, Share, StoppingPlan,
};
use schema::experiment::{OneOrMany, TargetUse};
use schema::plan::{CellPlan, ExperimentPlan, ScenarioPlan, TargetPlan};
use schema::text::{Problem, nearest};
use units::{Count, Nanos};

/// Blocks before the first look at the precision: the fewest that give an interval (METHOD §3).
pub(super) const BLOCKS_PILOT: u32 = 5;
/// Most blocks where neither they nor a budget are given.
const BLOCKS_MAX: u64 = 100;
/// Narrowest and widest precision: below, no machine is that quiet; above, nothing is said.
const PRECISION: std::ops::RangeInclusive<f64> = 0.0001..=1.0;

/// All combinations of levels, with what the file says of their targets.
pub(super) struct Grid<'a> {
    /// `[[target]]` as written.
    pub(super) uses: &'a [TargetUse],
    /// For each target the `[[target]]` that it comes from.
    pub(super) positions: &'a [usize],
    /// Resolved, by combination of knobs.
    pub(super) targets: &'a [TargetPlan],
    /// Every combination, in the order written; never empty.
    pub(super) cells: Vec<CellPlan>,
}

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

impl Grid<'_> {
    /// The place of a cell's target.
    pub(super) fn target(&self, cell: &CellPlan) -> usize {
        self.targets.iter().position(|target| target.name == cell.target).unwrap_or_default()
    }

    /// The name of a target without its knobs.
    pub(super) fn base(&self, target: usize) -> &str {
        let wanted = &self.uses[self.positions[target]];
        let name = wanted.name.as_deref().or(wanted.manifest.as_deref());
        name.unwrap_or(&self.targets[target].name)
    }

    fn fits(&self, levels: &LevelsUse, cell: &CellPlan) -> bool {
        let target = self.target(cell);
        let values = &self.targets[target].knobs;
        let is_named = |name: &String| *name == cell.target || name == self.base(target);
        levels.target.as_ref().is_none_or(is_named)
            && levels.knobs.iter().all(|(name, value)| values.get(name) == Some(&value.to_string()))
            && levels.scenario.as_ref().is_none_or(|name| *name == cell.scenario)
            && levels.connections.is_none_or(|count| count.0 == u64::from(cell.load.connections))
            && levels.rate.is_none_or(|rate| cell.load.rate_per_s == Some(rate.0))
            && levels.cpus.is_none_or(|cpus| cell.limits.cpus == Some(cpus))
    }

    /// Refuses levels that no combination has; `key` is where they stand.
    fn check(&self, levels: &LevelsUse, key: &str) -> Result<(), Problem> {
        let keys = levels.keys();
        if keys.is_empty() {
            let remedy = "name levels, for example { target = \"go/gin\", connections = 64 }";
            return Err(Problem::at(key, "the table names no level", remedy));
        }
        if self.cells.iter().any(|cell| self.fits(levels, cell)) {
            return Ok(());
        }
        for name in &keys {
            let alone = only(levels, name);
            if !self.cells.iter().any(|cell| self.fits(&alone, cell)) {
                return Err(self.no_level(&format!("{key}.{name}"), name, levels));
            }
        }
        let remedy = "each level exists, but not together; take one of them out";
        Err(Problem::at(key, "no combination of the experiment has all these levels", remedy))
    }

    /// What a factor's levels are, where one of another value was asked for.
    fn no_level(&self, key: &str, name: &str, levels: &LevelsUse) -> Problem {
        let mut all: Vec<String> = Vec::new();
        for cell in &self.cells {
            let level = self.level(name, cell);
            if let Some(level) = level.filter(|level| !all.contains(level)) {
                all.push(level);
            }
        }
        let wanted = match name {
            "target" => levels.target.clone(),
            "scenario" => levels.scenario.clone(),
            _ => None,
        };
        let near = wanted.as_deref().and_then(|wanted| nearest(wanted, all.iter().map(String::as_str)));
        let remedy = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None if all.is_empty() => "the experiment does not vary it; take it out".to_owned(),
            None => format!("name one of: {}", all.join(", ")),
        };
        Problem::at(key, "the experiment has no such level", remedy)
    }

    /// The level of a factor in a cell, as it is written.
    fn level(&self, name: &str, cell: &CellPlan) -> Option<String> {
        match name {
            "target" => Some(self.base(self.target(cell)).to_owned()),
            "scenario" => Some(cell.scenario.clone()),
            "connections" => Some(cell.load.connections.to_string()),
            "rate" => cell.load.rate_per_s.map(|rate| rate.to_string()),
            "cpus" => cell.limits.cpus.map(|cpus| cpus.to_string()),
            knob => self.targets[self.target(cell)].knobs.get(knob.strip_prefix("knobs.")?).cloned(),
        }
    }

    /// In how many factors each cell departs from the baseline.
    fn departures(&self, design: &DesignUse, kind: DesignKind) -> Result<Vec<usize>, Problem> {
        if kind == DesignKind::Factorial {
            return match &design.baseline {
                None => Ok(vec![0; self.cells.len()]),
                Some(_) => Err(Problem::at(
                    "design.baseline",
                    "only a one-at-a-time design departs from a baseline",
                    "remove it, or write kind = \"one-at-a-time\"",
                )),
            };
        }
        let given = design.baseline.clone().unwrap_or_default();
        if !given.keys().is_empty() {
            self.check(&given, "design.baseline")?;
        }
        let base = self.cells.iter().position(|cell| self.fits(&only(&given, "target"), cell));
        let base = self.positions[self.target(&self.cells[base.unwrap_or_default()])];
        Ok(self.cells.iter().map(|cell| self.departs(cell, base, &given)).collect())
    }

    fn departs(&self, cell: &CellPlan, base: usize, given: &LevelsUse) -> usize {
        let position = self.positions[self.target(cell)];
        let varied =
            self.uses[position].knobs.iter().filter(|(_, values)| matches!(values, OneOrMany::Many(_)));
        let mut names: Vec<String> = varied.map(|(name, _)| format!("knobs.{name}")).collect();
        names.extend(["cpus", "scenario", "connections", "rate"].map(str::to_owned));
        let departs = |name: &&String| self.level(name, cell) != self.base_level(name, cell, given);
        usize::from(position != base) + names.iter().filter(departs).count()
    }

    /// The baseline of a factor among the cells that share what its levels hang on: those of a target's knobs and quota
    /// on the target, those of the load on the scenario.
    fn base_level(&self, name: &str, cell: &CellPlan, given: &LevelsUse) -> Option<String> {
        let position = self.positions[self.target(cell)];
        let is_alike = |other: &&CellPlan| match name {
            "scenario" => true,
            "connections" | "rate" => other.scenario == cell.scenario,
            _ => self.positions[self.target(other)] == position,
        };
        let wanted = only(given, name);
        let named = self
            .cells
            .iter()
            .filter(is_alike)
            .find(|other| !wanted.keys().is_empty() && self.fits(&wanted, other));
        named.or_else(|| self.cells.iter().find(is_alike)).and_then(|other| self.level(name, other))
    }
}

/// The levels without all keys but one.
fn only(levels: &LevelsUse, key: &str) -> LevelsUse {
    let keep = |name: &str| key == name;
    LevelsUse {
        target: levels.target.clone().filter(|_| keep("target")),
        knobs: levels
            .knobs
            .iter()
            .filter(|(name, _)| key.strip_prefix("knobs.") == Some(name.as_str()))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
        scenario: levels.scenario.clone().filter(|_| keep("scenario")),
        connections: levels.connections.filter(|_| keep("connections")),
        rate: levels.rate.filter(|_| keep("rate")),
        cpus: levels.cpus.filter(|_| keep("cpus")),
    }
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
    if design.precision.is_none() && design.budget.is_none() {
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
    let blocks_max =
        blocks.map_or(if design.budget.is_some() { most } else { BLOCKS_MAX.min(most) }, |given| given.0);
    if blocks_max < u64::from(BLOCKS_PILOT) {
        let cause = format!("{blocks_max} blocks at most, and the first look is after {BLOCKS_PILOT}");
        let remedy = "with precision or budget `blocks` is the most that are run; raise it or leave it out";
        return Err(Problem::at("experiment.blocks", cause, remedy));
    }
    Ok(Some(StoppingPlan {
        precision,
        budget_ns: design.budget.map(|budget| budget.0),
        blocks_pilot: BLOCKS_PILOT,
        blocks_max: u32::try_from(blocks_max).unwrap_or(u32::MAX),
        looks: Vec::new(),
        stopped: None,
    }))
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
