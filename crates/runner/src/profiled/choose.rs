//! Which cell is profiled, and what is taken of it where nothing is said.

use crate::RunnerError;
use crate::bring_up::Prepared;
use schema::capacity::Capacity;
use schema::metric::Metric;
use schema::plan::{CellPlan, ExperimentPlan, ScenarioPlan};
use schema::profile::ProfileKind;
use schema::said;
use schema::said::Said;
use std::collections::BTreeMap;

/// A cell and why it is the one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// Its identifier.
    pub cell: String,
    /// The reason in words.
    pub why: Said,
}

/// The cell that is named by identifier, label or target; else that at the knee of the first ladder; else the first.
///
/// # Errors
/// A name that no cell has, or that several have.
pub fn choose(
    plan: &ExperimentPlan,
    capacity: Option<&[Capacity]>,
    named: Option<&str>,
) -> Result<Chosen, RunnerError> {
    if let Some(name) = named {
        return find(plan, name);
    }
    if let Some(knee) = capacity.and_then(|all| all.iter().find_map(at_knee)) {
        return Ok(knee);
    }
    let first =
        plan.cells.first().ok_or_else(|| wrong("the plan has no cell", "run the experiment again"))?;
    let why = match plan.capacity {
        Some(_) => said!("chosen.no_knee", "the first cell: no knee is known"),
        None => said!("chosen.first", "the first cell"),
    };
    Ok(Chosen { cell: first.id.clone(), why })
}

/// All cells but the hidden control, which repeats another.
pub(super) fn all(plan: &ExperimentPlan) -> Vec<Chosen> {
    let control = plan.design.control.as_ref().map(|control| &control.cell);
    let cells = plan.cells.iter().filter(|cell| Some(&cell.id) != control);
    cells.map(|cell| Chosen { cell: cell.id.clone(), why: said!("chosen.all", "all cells") }).collect()
}

fn find(plan: &ExperimentPlan, name: &str) -> Result<Chosen, RunnerError> {
    let by = |key: fn(&CellPlan) -> &String| {
        plan.cells.iter().filter(|cell| key(cell) == name).collect::<Vec<&CellPlan>>()
    };
    let found = [by(|cell| &cell.id), by(|cell| &cell.label), by(|cell| &cell.target)];
    match found.into_iter().find(|found| !found.is_empty()).as_deref() {
        Some([one]) => Ok(Chosen { cell: one.id.clone(), why: said!("chosen.named", "named") }),
        Some(several) => {
            let ids: Vec<&str> = several.iter().map(|cell| cell.id.as_str()).collect();
            Err(wrong(
                &format!("`{name}` is the name of several cells"),
                &format!("name one of {}", ids.join(", ")),
            ))
        }
        None => {
            let known: Vec<String> =
                plan.cells.iter().take(20).map(|cell| format!("{} ({})", cell.id, cell.label)).collect();
            Err(wrong(&format!("there is no cell `{name}`"), &format!("name one of {}", known.join(", "))))
        }
    }
}

fn wrong(cause: &str, remedy: &str) -> RunnerError {
    RunnerError::Profile { cause: cause.to_owned(), remedy: remedy.to_owned() }
}

/// The level nearest to where the throughput of a ladder bends; where no bend is claimed, the lowest level that gives
/// the highest throughput; of a search, the rate that was verified.
fn at_knee(ladder: &Capacity) -> Option<Chosen> {
    let bend = ladder.knees.iter().find(|knee| knee.metric == Metric::Throughput).and_then(|knee| knee.at);
    let verified = ladder.search.as_ref().and_then(|search| search.verified_per_s);
    let highest = ladder.highest.as_ref().map(|highest| highest.from_load);
    let (load, why) = [
        (bend, said!("chosen.knee", "the level nearest to the knee of throughput")),
        (verified, said!("chosen.verified", "the highest rate that was verified")),
        (highest, said!("chosen.highest", "the lowest level of the highest throughput; no knee is claimed")),
    ]
    .into_iter()
    .find_map(|(load, why)| load.filter(|load| *load > 0.0).map(|load| (load, why)))?;
    let distance = |row: f64| (row.max(f64::MIN_POSITIVE) / load).ln().abs();
    let nearest = ladder.rows.iter().min_by(|a, b| distance(a.load).total_cmp(&distance(b.load)))?;
    Some(Chosen {
        cell: nearest.cell.clone(),
        why: said!("chosen.at", "{why} ({load})", why, load = format!("{load:.0}")),
    })
}

/// What a language's own profilers give, and perf where it is installed or nothing else is there.
pub(super) fn usual(target: &Prepared) -> Vec<ProfileKind> {
    let language = target.manifest.as_ref().map_or("", |(manifest, _)| manifest.language.as_str());
    let mut kinds = match language.to_ascii_lowercase().as_str() {
        "go" => vec![ProfileKind::Cpu, ProfileKind::Allocs, ProfileKind::Heap, ProfileKind::Goroutine],
        "java" | "kotlin" | "scala" => vec![ProfileKind::Jfr],
        "node" | "javascript" | "typescript" => vec![ProfileKind::Node],
        "php" => vec![ProfileKind::Php],
        _ => Vec::new(),
    };
    if kinds.is_empty() || has_perf() {
        kinds.push(ProfileKind::Perf);
    }
    kinds
}

fn has_perf() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join("perf").is_file())
}

/// What the load of a cell is made of.
pub(super) fn parts<'a>(
    plan: &'a ExperimentPlan,
    chosen: &Chosen,
    targets: &'a BTreeMap<String, Prepared>,
) -> Result<(&'a CellPlan, &'a ScenarioPlan, &'a Prepared), RunnerError> {
    let cell = plan.cells.iter().find(|cell| cell.id == chosen.cell);
    let prepared = cell.and_then(|cell| targets.get(&cell.target));
    let scenario = cell.and_then(|cell| plan.scenario_of(cell));
    // The identifier becomes the name of a folder.
    let is_plain = chosen.cell.chars().all(|c| c.is_ascii_alphanumeric()) && !chosen.cell.is_empty();
    match (cell, scenario, prepared) {
        (Some(cell), Some(scenario), Some(prepared)) if is_plain => Ok((cell, scenario, prepared)),
        _ => Err(wrong(
            &format!("the plan does not have cell `{}` whole", chosen.cell.escape_debug()),
            "run the experiment again: its run.json is damaged",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::Context;
    use schema::capacity::{CapacityRow, HighestThroughput, Knee, LoadAxis};

    fn plan() -> ExperimentPlan {
        let text = r#"
            [experiment]
            name = "x"
            [[target]]
            name = "one"
            reference = {}
            [scenario]
            request = { path = "/" }
            [load]
            model = "closed"
            connections = [1, 2, 4]
        "#;
        let context =
            Context { project: std::env::temp_dir(), usable_cpus: vec![0], pin: Some("off".to_owned()) };
        plan::experiment("x.toml", text, &context).unwrap()
    }

    fn ladder(at: Option<f64>, highest: Option<f64>) -> Capacity {
        let row = |(cell, load): (&str, f64)| CapacityRow {
            cell: cell.to_owned(),
            load,
            trials_valid: 5,
            throughput_per_s: Default::default(),
            p95_ns: Default::default(),
            error_rate: Default::default(),
            second_difference: None,
            laws: Default::default(),
        };
        let knee = Knee {
            metric: Metric::Throughput,
            at,
            interval: None,
            law: None,
            slope_before: None,
            slope_after: None,
            delta_bic: None,
            kneedle: None,
            sharpest: None,
            refused: None,
        };
        let highest = highest.map(|from_load| HighestThroughput {
            per_s: 1.0,
            interval: None,
            from_load,
            to_load: 4.0,
            refused: None,
        });
        Capacity {
            target: "one".to_owned(),
            level: String::new(),
            axis: LoadAxis::Connections,
            answer: Default::default(),
            rows: [("c1", 1.0), ("c2", 2.0), ("c3", 4.0)].map(row).into(),
            highest,
            highest_refused: None,
            knees: vec![knee],
            scaling: None,
            usl: None,
            usl_refused: None,
            hysteresis: Vec::new(),
            search: None,
        }
    }

    #[test]
    fn the_knee_goes_before_the_highest_and_this_before_the_first() {
        let plan = plan();
        let of = |at, highest| choose(&plan, Some(&[ladder(at, highest)]), None).unwrap();
        assert_eq!(of(Some(2.3), Some(4.0)).cell, "c2");
        assert_eq!(of(None, Some(4.0)).cell, "c3");
        assert_eq!(
            of(None, None),
            Chosen { cell: "c1".to_owned(), why: said!("chosen.first", "the first cell") }
        );
        assert_eq!(choose(&plan, None, None).unwrap().cell, "c1");
    }

    #[test]
    fn names_are_identifiers_labels_or_targets() {
        let plan = plan();
        let of = |name| choose(&plan, None, Some(name));
        assert_eq!(of("c2").unwrap().cell, "c2");
        let label = plan.cells[2].label.clone();
        assert_eq!(of(&label).unwrap().cell, "c3");
        let error = of("one").unwrap_err().to_string();
        assert!(error.contains("several cells") && error.contains("name one of c1, c2, c3"), "{error}");
        let error = of("c9").unwrap_err().to_string();
        assert!(error.contains("no cell `c9`") && error.contains("c1 (one"), "{error}");
        assert_eq!(all(&plan).len(), 3);
    }
}
