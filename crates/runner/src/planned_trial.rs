//! Runs one trial of the planned order.

use crate::RunnerError;
use crate::bring_up::Prepared;
use crate::environment::Environment;
use crate::observer::Observer;
use crate::trial::{self, TrialOptions};
use record::{RecordError, RunFolder};
use schema::plan::{CellPlan, ScenarioPlan, TrialPlan};
use schema::run::RunFile;
use schema::trial::TrialFile;
use std::collections::BTreeMap;
use units::Nanos;

/// Runs one planned trial; `None` when it was interrupted.
pub(crate) fn run_one(
    folder: &RunFolder,
    run: &RunFile,
    planned: &TrialPlan,
    targets: &BTreeMap<String, Prepared>,
    environment: &Environment,
    observer: &mut dyn Observer,
) -> Result<Option<TrialFile>, RunnerError> {
    let parts = parts(folder, run, planned, targets)?;
    observer.trial_begins(planned, parts.0);
    let trial = folder.trial(planned.id);
    let options =
        TrialOptions { tick: Nanos(run.plan.counters.tick_ns), floors: None, keeps_interrupted: false };
    let ended = trial::run(&run.plan, planned, parts, &trial, environment, observer, &options)?;
    if let Some(file) = &ended {
        observer.trial_ends(file);
    }
    Ok(ended)
}

/// What a trial of the order is made of.
pub(crate) fn parts<'a>(
    folder: &RunFolder,
    run: &'a RunFile,
    planned: &TrialPlan,
    targets: &'a BTreeMap<String, Prepared>,
) -> Result<(&'a CellPlan, &'a ScenarioPlan, &'a Prepared), RunnerError> {
    let cell = run.plan.cells.iter().find(|cell| cell.id == planned.cell);
    let prepared = cell.and_then(|cell| targets.get(&cell.target));
    let scenario = cell.and_then(|cell| run.plan.scenario_of(cell));
    match (cell, scenario, prepared) {
        (Some(cell), Some(scenario), Some(prepared)) => Ok((cell, scenario, prepared)),
        _ => Err(RunnerError::from(RecordError::Damaged {
            path: folder.path().join("run.json"),
            what: "prony.run/2",
            cause: format!("the order names cell {}, which the plan does not have whole", planned.cell),
        })),
    }
}
