//! The cells that a claim means: a target's name and a level.

use super::suggest::suggestion;
use schema::experiment::At;
use schema::plan::{CellPlan, TargetPlan};
use schema::text::Problem;

/// What names and levels are looked up in.
#[derive(Clone, Copy)]
pub(super) struct Names<'a> {
    pub(super) targets: &'a [TargetPlan],
    pub(super) cells: &'a [CellPlan],
}

/// A target by its name.
pub(super) fn target(name: &str, key: &str, names: Names<'_>) -> Result<String, Problem> {
    if names.targets.iter().any(|target| target.name == name) {
        return Ok(name.to_owned());
    }
    let remedy = suggestion(name, names.targets.iter().map(|target| target.name.as_str()));
    Err(Problem::at(key, format!("there is no target `{name}`"), remedy))
}

/// The one cell of the target at the level; `key` names the target, `at.1` the level.
pub(super) fn cell(name: &str, key: &str, at: (&At, &str), names: Names<'_>) -> Result<String, Problem> {
    target(name, key, names)?;
    let (at, at_key) = at;
    let mut fitting = names.cells.iter().filter(|cell| cell.target == name && is_at(cell, at));
    match (fitting.next(), fitting.next()) {
        (Some(cell), None) => Ok(cell.id.clone()),
        (None, _) => {
            let remedy = "name levels that [scenario] and [load] list";
            Err(Problem::at(at_key, "no cell has this scenario and load", remedy))
        }
        (Some(_), Some(_)) => {
            let last = at_key.rsplit('.').next().unwrap_or(at_key);
            let remedy = format!("add {last} = {{ {} }}", varied(names.cells).join(", "));
            Err(Problem::at(at_key, "scenario or load have several levels", remedy))
        }
    }
}

/// The same for the second target of a claim: what `than_at` says goes before `at`.
pub(super) fn second_cell(
    name: &str,
    key: &str,
    (at, at_key, than_at, than_at_key): (&At, &str, &At, String),
    names: Names<'_>,
) -> Result<String, Problem> {
    let level = over(than_at, at);
    let at_key = if *than_at == At::default() { at_key } else { &than_at_key };
    cell(name, key, (&level, at_key), names)
}

/// What `at` can name, as it is written there: the factors of which the cells have several levels.
fn varied(cells: &[CellPlan]) -> Vec<&'static str> {
    let several = |differs: fn(&CellPlan, &CellPlan) -> bool| {
        cells.first().is_some_and(|first| cells.iter().any(|cell| differs(first, cell)))
    };
    [
        ("scenario = \"…\"", several(|a, b| a.scenario != b.scenario)),
        ("connections = …", several(|a, b| a.load.connections != b.load.connections)),
        ("rate = …", several(|a, b| a.load.rate_per_s != b.load.rate_per_s)),
        ("http = \"…\"", several(|a, b| a.load.connection.http != b.load.connection.http)),
        ("streams = …", several(|a, b| a.load.connection.streams != b.load.connection.streams)),
        ("trace = \"…\"", several(|a, b| a.load.trace_level() != b.load.trace_level())),
        ("cpus = …", several(|a, b| a.limits.cpus != b.limits.cpus)),
    ]
    .into_iter()
    .filter_map(|(text, varies)| varies.then_some(text))
    .collect()
}

/// The level of `first`, and where it says nothing, of `rest`.
fn over(first: &At, rest: &At) -> At {
    At {
        scenario: first.scenario.clone().or_else(|| rest.scenario.clone()),
        connections: first.connections.or(rest.connections),
        rate: first.rate.or(rest.rate),
        http: first.http.or(rest.http),
        streams: first.streams.or(rest.streams),
        trace: first.trace.or(rest.trace),
        cpus: first.cpus.or(rest.cpus),
    }
}

fn is_at(cell: &CellPlan, at: &At) -> bool {
    at.scenario.as_ref().is_none_or(|wanted| *wanted == cell.scenario)
        && at.connections.is_none_or(|wanted| wanted.0 == u64::from(cell.load.connections))
        && at.rate.is_none_or(|wanted| cell.load.rate_per_s == Some(wanted.0))
        && at.http.is_none_or(|wanted| cell.load.connection.http == wanted)
        && at.streams.is_none_or(|wanted| cell.load.connection.streams == wanted)
        && at.trace.is_none_or(|wanted| cell.load.trace_level() == wanted)
        && at.cpus.is_none_or(|wanted| cell.limits.cpus == Some(wanted))
}
