//! All combinations of levels, and how those that a file names are found among them.

use schema::design::{DesignKind, DesignUse, LevelsUse};
use schema::experiment::{OneOrMany, TargetUse};
use schema::plan::{CellPlan, TargetPlan};
use schema::text::{Problem, nearest};

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

    pub(super) fn fits(&self, levels: &LevelsUse, cell: &CellPlan) -> bool {
        let target = self.target(cell);
        let values = &self.targets[target].knobs;
        let is_named = |name: &String| *name == cell.target || name == self.base(target);
        levels.target.as_ref().is_none_or(is_named)
            && levels.knobs.iter().all(|(name, value)| values.get(name) == Some(&value.to_string()))
            && levels.scenario.as_ref().is_none_or(|name| *name == cell.scenario)
            && levels.connections.is_none_or(|count| count.0 == u64::from(cell.load.connections))
            && levels.rate.is_none_or(|rate| cell.load.rate_per_s == Some(rate.0))
            && levels.http.is_none_or(|http| cell.load.connection.http == http)
            && levels.streams.is_none_or(|streams| cell.load.connection.streams == streams)
            && levels.trace.is_none_or(|trace| cell.load.trace_level() == trace)
            && levels.cpus.is_none_or(|cpus| cell.limits.cpus == Some(cpus))
    }

    /// Refuses levels that no combination has; `key` is where they stand.
    pub(super) fn check(&self, levels: &LevelsUse, key: &str) -> Result<(), Problem> {
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
    pub(super) fn level(&self, name: &str, cell: &CellPlan) -> Option<String> {
        match name {
            "target" => Some(self.base(self.target(cell)).to_owned()),
            "scenario" => Some(cell.scenario.clone()),
            "connections" => Some(cell.load.connections.to_string()),
            "rate" => cell.load.rate_per_s.map(|rate| rate.to_string()),
            "http" => Some(cell.load.connection.http.key().to_owned()),
            "streams" => Some(cell.load.connection.streams.to_string()),
            "trace" => Some(cell.load.trace_level().to_string()),
            "cpus" => cell.limits.cpus.map(|cpus| cpus.to_string()),
            knob => self.targets[self.target(cell)].knobs.get(knob.strip_prefix("knobs.")?).cloned(),
        }
    }

    /// In how many factors each cell departs from the baseline.
    pub(super) fn departures(&self, design: &DesignUse, kind: DesignKind) -> Result<Vec<usize>, Problem> {
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
        names.extend(
            ["cpus", "scenario", "connections", "rate", "http", "streams", "trace"].map(str::to_owned),
        );
        let departs = |name: &&String| self.level(name, cell) != self.base_level(name, cell, given);
        usize::from(position != base) + names.iter().filter(departs).count()
    }

    /// The baseline of a factor among the cells that share what its levels hang on: those of a target's knobs and quota
    /// on the target, those of the load on the scenario.
    fn base_level(&self, name: &str, cell: &CellPlan, given: &LevelsUse) -> Option<String> {
        let position = self.positions[self.target(cell)];
        let is_alike = |other: &&CellPlan| match name {
            "scenario" => true,
            "connections" | "rate" | "http" | "streams" | "trace" => other.scenario == cell.scenario,
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
        http: levels.http.filter(|_| keep("http")),
        streams: levels.streams.filter(|_| keep("streams")),
        trace: levels.trace.filter(|_| keep("trace")),
        cpus: levels.cpus.filter(|_| keep("cpus")),
    }
}
