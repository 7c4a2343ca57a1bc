//! The ladders of a run: cells that differ in their load only, rising.

use crate::run::data::RunData;
use crate::run::instrument::ends_of;
use schema::capacity::LoadAxis;
use schema::experiment::LoadModel;
use schema::metric::Metric;
use schema::plan::{CellPlan, LoadPlan};
use schema::trace_level::TraceLevel;

/// One target, scenario and set of limits over rising load.
pub(super) struct Ladder<'a> {
    pub(super) target: &'a str,
    /// Scenario, limits and fixed connections in words.
    pub(super) level: String,
    /// By load; each load once.
    pub(super) rungs: Vec<Rung<'a>>,
}

/// One cell of a ladder.
#[derive(Clone, Copy)]
pub(super) struct Rung<'a> {
    pub(super) cell: &'a CellPlan,
    /// Connections or users, or requests per second; above 0.
    pub(super) load: f64,
}

/// The valid trials of a rung in one metric, on the log scale.
pub(super) struct Level {
    pub(super) load: f64,
    /// ln of each value above 0.
    pub(super) logs: Vec<f64>,
}

impl Level {
    /// Mean of the logs; NaN without any.
    pub(super) fn mean(&self) -> f64 {
        self.logs.iter().sum::<f64>() / self.logs.len() as f64
    }
}

/// All ladders in plan order. Cells without a usable load belong to none.
pub(super) fn ladders<'a>(data: &RunData<'a>, axis: LoadAxis) -> Vec<Ladder<'a>> {
    let mut ladders: Vec<Ladder<'a>> = Vec::new();
    for cell in &data.plan.cells {
        let Some(load) = load_of(&cell.load, axis) else { continue };
        let level = level(cell, axis);
        let rung = Rung { cell, load };
        match ladders.iter_mut().find(|ladder| ladder.target == cell.target && ladder.level == level) {
            Some(ladder) => ladder.rungs.push(rung),
            None => ladders.push(Ladder { target: &cell.target, level, rungs: vec![rung] }),
        }
    }
    for ladder in &mut ladders {
        ladder.rungs.sort_by(|a, b| a.load.total_cmp(&b.load));
        ladder.rungs.dedup_by(|later, kept| later.load == kept.load);
    }
    ladders
}

/// Requests that a cell keeps in the system, or offers per second.
pub(super) fn load_of(load: &LoadPlan, axis: LoadAxis) -> Option<f64> {
    let load = match axis {
        LoadAxis::Connections if load.model == LoadModel::Closed => {
            let users = f64::from(load.users.unwrap_or(load.connections));
            Some(users * f64::from(load.connection.at_once()))
        }
        LoadAxis::Connections => None,
        LoadAxis::Rate => load.rate_per_s,
    };
    load.filter(|load| load.is_finite() && *load > 0.0)
}

fn level(cell: &CellPlan, axis: LoadAxis) -> String {
    let mut parts = vec![cell.scenario.clone(), cell.limits.to_string()];
    let streams = cell.load.connection.stream_words();
    match axis {
        LoadAxis::Rate => parts.push(format!("{} connections{streams}", cell.load.connections)),
        LoadAxis::Connections if !streams.is_empty() => parts.push(format!("connections{streams}")),
        LoadAxis::Connections => {}
    }
    if let TraceLevel::Share(_) = cell.load.trace_level() {
        parts.push(format!("trace {}", cell.load.trace_level()));
    }
    parts.retain(|part| !part.is_empty());
    parts.join(", ")
}

impl Ladder<'_> {
    /// The rungs that have values above 0 of a metric.
    pub(super) fn levels(&self, data: &RunData<'_>, metric: Metric) -> Vec<Level> {
        self.rungs
            .iter()
            .map(|rung| {
                let values = data.values(&rung.cell.id, metric);
                let logs = values.into_iter().filter(|value| *value > 0.0).map(f64::ln).collect();
                Level { load: rung.load, logs }
            })
            .filter(|level| !level.logs.is_empty())
            .collect()
    }

    /// The same with every time as short, and as long, as the instrument's error allows; `None` where that moves none.
    pub(super) fn levels_by_instrument(&self, data: &RunData<'_>, metric: Metric) -> Option<[Vec<Level>; 2]> {
        let mut ends = [self.levels(data, metric), self.levels(data, metric)];
        let mut moved = false;
        for rung in &self.rungs {
            let own = |level: &&mut Level| level.load == rung.load;
            for (at, levels) in ends.iter_mut().enumerate() {
                let Some(level) = levels.iter_mut().find(own) else { continue };
                for log in &mut level.logs {
                    let (short, long) = ends_of(data, &rung.cell.id, metric, log.exp());
                    let end = if at == 0 { short } else { long }.ln();
                    if short < long {
                        *log = end;
                        moved = true;
                    }
                }
            }
        }
        moved.then_some(ends)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made;
    use schema::plan::HttpVersion;

    #[test]
    fn streams_count_as_load_and_make_a_ladder_of_their_own() {
        let streams = |connections, streams| {
            let mut load = made::closed(connections);
            (load.connection.http, load.connection.streams) = (HttpVersion::V2, streams);
            load
        };
        assert_eq!(load_of(&made::closed(4), LoadAxis::Connections), Some(4.0));
        assert_eq!(load_of(&streams(4, 8), LoadAxis::Connections), Some(32.0));
        let run = made::run(&["a"], &[made::closed(4), streams(4, 1), streams(4, 8), streams(8, 8)], 1);
        for (axis, wanted) in [(LoadAxis::Connections, 3), (LoadAxis::Rate, 4)] {
            let mut levels: Vec<String> = run.plan.cells.iter().map(|cell| level(cell, axis)).collect();
            levels.sort_unstable();
            levels.dedup();
            assert_eq!(levels.len(), wanted, "{levels:?}");
        }
    }
}
