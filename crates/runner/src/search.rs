//! A search under an objective: trials one by one, each at the rate that `analyze` asks for (METHOD §6).
//!
//! Invariants: every trial is an ordinary trial in the run folder; its cell and its place in the order are in `run.json`
//! before it begins; what comes next follows from plan and trials alone, so a search that was cut off goes on with
//! `--resume`. Absent on purpose: judging and choosing, which are `analyze`'s.

use crate::RunnerError;
use crate::bring_up::Prepared;
use crate::environment::{Environment, Outcome, outcome};
use crate::interim::Interim;
use crate::observer::Observer;
use crate::planned_trial::run_one;
use analyze::RunningSearch;
use plan::load_words;
use record::{RecordError, RunFolder};
use schema::capacity::SearchStep;
use schema::plan::{CellPlan, ExperimentPlan, TrialPlan};
use schema::run::RunFile;
use schema::said::{Joint, Said};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Runs the trials of a search until it ends, its budget is used up, or the user interrupts.
pub(crate) fn trials(
    folder: RunFolder,
    run: &RunFile,
    targets: &BTreeMap<String, Prepared>,
    environment: &Environment,
    observer: &mut dyn Observer,
) -> Result<Outcome, RunnerError> {
    let mut run = run.clone();
    // A trial that was cut off is chosen again.
    run.plan.order.retain(|planned| folder.trial(planned.id).has_ended());
    let earlier = folder.read_trials(&run)?;
    let damaged = || {
        RunnerError::from(RecordError::Damaged {
            path: folder.path().join("run.json"),
            what: "prony.run/2",
            cause: "the plan has no search".to_owned(),
        })
    };
    let mut search = RunningSearch::of(&run.plan, &earlier).ok_or_else(damaged)?;
    let wanted = run.plan.search().ok_or_else(damaged)?.clone();
    observer.started(
        folder.path(),
        &run,
        wanted.trials_max as usize - earlier.len().min(wanted.trials_max as usize),
    );
    let until = wanted.budget_ns.map(|budget_ns| Instant::now() + Duration::from_nanos(budget_ns));
    let mut interrupted = false;
    let mut interim = Interim::default();
    while let Some(rate) = search.next_rate() {
        interim.look(&folder, observer);
        if environment.stop.load(Ordering::Relaxed) {
            interrupted = true;
            break;
        }
        if until.is_some_and(|until| Instant::now() >= until) {
            observer.note("the budget is used up");
            break;
        }
        let planned = plan_trial(&mut run.plan, rate).ok_or_else(damaged)?;
        folder.write_json("run.json", &run)?;
        if run_one(&folder, &run, &planned, targets, environment, observer)?.is_none() {
            run.plan.order.retain(|other| other.id != planned.id);
            folder.write_json("run.json", &run)?;
            interrupted = true;
            break;
        }
        search.observe(&run.plan, &folder.trial(planned.id).read()?);
        if let Some(step) = search.last() {
            observer.note(&words(step));
        }
    }
    outcome(folder, &run, interrupted)
}

/// Adds the next trial to the plan, with its cell where the rate is new. The block is how often the rate was visited.
fn plan_trial(plan: &mut ExperimentPlan, rate: f64) -> Option<TrialPlan> {
    let cell = match plan.cells.iter().find(|cell| cell.load.rate_per_s == Some(rate)) {
        Some(cell) => cell.id.clone(),
        None => {
            let pattern = plan.cells.first()?;
            let mut load = pattern.load.clone();
            load.rate_per_s = Some(rate);
            let cell = CellPlan {
                id: format!("c{}", plan.cells.len() + 1),
                label: format!("{}, {}", pattern.target, load_words(&load)),
                load,
                ..pattern.clone()
            };
            plan.cells.push(cell);
            plan.cells.last()?.id.clone()
        }
    };
    let visits = plan.order.iter().filter(|planned| planned.cell == cell).count() as u32;
    let id = plan.order.iter().map(|planned| planned.id).max().unwrap_or_default() + 1;
    let planned = TrialPlan { id, block: visits + 1, cell };
    plan.blocks = plan.blocks.max(planned.block);
    plan.order.push(planned.clone());
    Some(planned)
}

fn words(step: &SearchStep) -> String {
    let rate = step.rate_per_s;
    match step.passed {
        Some(true) => {
            format!("{rate} requests per second: passes ({})", Said::list(Joint::Semicolon, &step.reasons))
        }
        Some(false) => {
            format!("{rate} requests per second: fails ({})", Said::list(Joint::Semicolon, &step.reasons))
        }
        // Why a trial is void was said when it ended.
        None => format!("{rate} requests per second: cannot be judged"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::plan::LoadPlan;

    #[test]
    fn a_rate_has_one_cell_however_often_it_is_visited() {
        let text = r#"
            [experiment]
            name = "x"
            [[target]]
            url = "http://127.0.0.1:1"
            [scenario]
            request = { path = "/" }
            [load]
            model = "open"
            rate = 100
        "#;
        let context = plan::Context {
            project: std::env::temp_dir(),
            usable_cpus: vec![0],
            pin: Some("off".to_owned()),
        };
        let mut plan = plan::experiment("x.toml", text, &context).unwrap();
        plan.order.clear();
        plan.blocks = 1;
        let got: Vec<(u32, u32, String)> = [100.0, 200.0, 100.0, 200.0, 100.0]
            .into_iter()
            .map(|rate| plan_trial(&mut plan, rate).unwrap())
            .map(|planned| (planned.id, planned.block, planned.cell))
            .collect();
        let wanted = [(1, 1, "c1"), (2, 1, "c2"), (3, 2, "c1"), (4, 2, "c2"), (5, 3, "c1")];
        assert_eq!(got, wanted.map(|(id, block, cell)| (id, block, cell.to_owned())));
        assert_eq!(plan.blocks, 3);
        let loads: Vec<&LoadPlan> = plan.cells.iter().map(|cell| &cell.load).collect();
        assert_eq!(loads.iter().map(|load| load.rate_per_s).collect::<Vec<_>>(), [Some(100.0), Some(200.0)]);
        assert!(plan.cells[1].label.contains("200/s"), "{}", plan.cells[1].label);
    }
}
