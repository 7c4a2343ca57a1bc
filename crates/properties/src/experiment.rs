//! The experiment file: any text is a plan that survives JSON and stays within bounds, or an error that says where,
//! why and what to do.
//!
//! Files that the text names are sought in this repository. The other files that people write: `files`.

use crate::Broken;
use plan::{Context, PlanError};
use schema::plan::ExperimentPlan;
use schema::text::FileError;
use std::path::PathBuf;

const FILE: &str = "fuzzed.toml";
/// As `plan` has it.
const TRIALS_MAX: usize = 100_000;

/// Resolves the text of an experiment file, as [`plan::experiment`] does.
pub type Resolver = dyn Fn(&str) -> Result<ExperimentPlan, PlanError>;

/// The property of the target `experiment`.
///
/// # Errors
/// The plan is out of bounds or changes in JSON, or the error does not help.
pub fn check(input: &[u8]) -> Result<(), Broken> {
    check_with(input, &|text| plan::experiment(FILE, text, &context()))
}

/// The repository, with four CPUs wherever it runs, so that a find means the same everywhere.
fn context() -> Context {
    let project = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    Context { project, usable_cpus: vec![0, 1, 2, 3], pin: None }
}

/// [`check`] of any resolver.
///
/// # Errors
/// As [`check`].
pub fn check_with(input: &[u8], resolver: &Resolver) -> Result<(), Broken> {
    let Ok(text) = std::str::from_utf8(input) else { return Ok(()) };
    match resolver(text) {
        Ok(plan) => bounded(&plan).and_then(|()| survives_json(&plan)),
        Err(PlanError::File(error)) if error.file == FILE => helps(&error, text),
        // About a file that the text names: where to look is in the message.
        Err(other) => {
            let shown = other.to_string();
            let helps = shown.contains("remedy") || shown.contains(';');
            Broken::unless(helps, || format!("no remedy: {shown:?}"))
        }
    }
}

/// Cause, remedy, and a place within the text; without one only where the file has nothing of the kind.
pub(crate) fn helps(error: &FileError, text: &str) -> Result<(), Broken> {
    Broken::unless(!error.cause.trim().is_empty(), || format!("no cause: {error:?}"))?;
    let remedy = error.remedy.as_deref().unwrap_or_default();
    Broken::unless(!remedy.trim().is_empty(), || format!("no remedy: {error:?}"))?;
    match error.at {
        None => Broken::unless(remedy.starts_with("add"), || format!("no place: {error:?}")),
        Some((line, column)) => {
            let lines = text.split('\n').count();
            let within = (1..=lines).contains(&line) && column >= 1;
            Broken::unless(within, || format!("no such place among {lines} lines: {error:?}"))
        }
    }
}

fn bounded(plan: &ExperimentPlan) -> Result<(), Broken> {
    let (cells, trials) = (plan.cells.len(), plan.order.len());
    Broken::unless(cells >= 1 && trials >= cells, || format!("{cells} cells, {trials} trials"))?;
    Broken::unless(trials <= TRIALS_MAX, || format!("{trials} trials"))?;
    let phases = &plan.phases;
    let trial_ns = u128::from(phases.warmup_at_most_ns)
        + u128::from(phases.sample_ns) * u128::from(phases.samples)
        + u128::from(phases.drain_ns);
    let run_ns = trial_ns * trials as u128;
    Broken::unless(run_ns <= u64::MAX.into(), || format!("a run of {run_ns} ns"))?;
    let levels_fit = plan.cells.iter().all(|cell| {
        let load = &cell.load;
        load.workers >= 1 && load.workers <= load.connections && load.rate_per_s.is_none_or(f64::is_finite)
    });
    Broken::unless(levels_fit, || format!("a load that cannot be made: {:?}", plan.cells))
}

/// The plan is stored in `run.json`; a run is resumed from there.
fn survives_json(plan: &ExperimentPlan) -> Result<(), Broken> {
    let wrong = |error: serde_json::Error| Broken(format!("JSON: {error}"));
    let text = serde_json::to_string(plan).map_err(wrong)?;
    let back: ExperimentPlan = serde_json::from_str(&text).map_err(wrong)?;
    let again = serde_json::to_string(&back).map_err(wrong)?;
    Broken::unless(again == text, || format!("{text} became {again}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &[u8] = include_bytes!("../../../experiments/demo.toml");

    fn resolved(text: &str) -> Result<ExperimentPlan, PlanError> {
        plan::experiment(FILE, text, &context())
    }

    /// `text` with `line` in the place of the first line that starts with `start`: what else that line says
    /// (how many blocks, say) is free to change.
    fn with_line(text: &str, start: &str, line: &str) -> String {
        let old = text.lines().find(|each| each.starts_with(start)).expect("the demo has such a line");
        text.replacen(old, line, 1)
    }

    #[test]
    fn what_would_not_fit_is_refused_before_it_costs() {
        let good = std::str::from_utf8(GOOD).unwrap();
        let levels = format!("[{}]", vec!["1"; 1000].join(", "));
        let many = format!("model = \"open\"\nconnections = {levels}\nrate = {levels}");
        let many = with_line(&with_line(good, "model", &many), "connections = 8", "");
        let endless = with_line(good, "request", "request = { path = \"/\", body_file = \"/dev/zero\" }");
        let long = with_line(good, "better", &format!("better = \"{}\"", "x".repeat(1 << 20)));
        let forever = "warmup = { at_least = \"2s\", at_most = \"106000d\" }";
        for (text, cause) in [
            (many, "2000000 combinations".to_owned()),
            (endless, "no regular file".to_owned()),
            (long, "there is no target `x".to_owned()),
            (with_line(good, "blocks", "blocks = 1000000000000000000"), "out of range".to_owned()),
            (with_line(good, "warmup", forever), "more than 10 years".to_owned()),
            (with_line(good, "blocks", "blocks = 50001"), "more than 100000 trials".to_owned()),
        ] {
            let error = resolved(&text).expect_err("must be refused").to_string();
            assert!(error.contains(&cause), "{cause}: {}", &error[..error.len().min(500)]);
            assert_eq!(check(text.as_bytes()), Ok(()));
        }
    }

    #[test]
    fn a_resolver_without_bounds_or_remedies_is_caught() {
        assert_eq!(check(GOOD), Ok(()));
        let unbounded = |text: &str| {
            resolved(text).map(|mut plan| {
                plan.order = vec![plan.order[0].clone(); TRIALS_MAX + 1];
                plan
            })
        };
        assert!(check_with(GOOD, &unbounded).is_err());
        let endless = |text: &str| {
            resolved(text).map(|mut plan| {
                plan.phases.samples = u32::MAX;
                plan
            })
        };
        assert!(check_with(GOOD, &endless).is_err());
        let lossy = |text: &str| {
            resolved(text).map(|mut plan| {
                plan.margin = f64::INFINITY;
                plan
            })
        };
        assert!(check_with(GOOD, &lossy).is_err(), "JSON has no infinity");
        for (at, remedy) in
            [(None, Some("mend it")), (Some((9999, 1)), Some("mend it")), (Some((1, 1)), None)]
        {
            let curt = move |_: &str| {
                let remedy = remedy.map(str::to_owned);
                Err(PlanError::File(FileError { file: FILE.to_owned(), at, cause: "no".to_owned(), remedy }))
            };
            assert!(check_with(GOOD, &curt).is_err(), "{at:?} {remedy:?}");
        }
    }
}
