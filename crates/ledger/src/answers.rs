//! The answers of run folders: every run with published claims is analysed again.
//!
//! A folder that cannot be read is reported and left out.

use record::RunFolder;
use schema::analysis::ClaimResult;
use schema::plan::ExperimentPlan;
use schema::run::RunFile;
use std::collections::BTreeMap;
use std::path::Path;

/// A run with its answers.
#[derive(Clone, Debug)]
pub struct Answered {
    /// Name of the run folder.
    pub run: String,
    /// When it was begun, RFC 3339.
    pub started: String,
    /// Whether every planned trial has ended.
    pub whole: bool,
    /// CPUs of its host, where they are known.
    pub cores: Option<u32>,
    /// Versions of what took part, by name.
    pub versions: BTreeMap<String, String>,
    /// Its plan.
    pub plan: ExperimentPlan,
    /// The answers to its claims.
    pub claims: Vec<ClaimResult>,
}

/// All runs under a folder that claim something published, and why others could not be read. No folder is no run.
#[must_use]
pub fn answered(runs: &Path) -> (Vec<Answered>, Vec<String>) {
    let Ok(paths) = record::history::folders(runs) else { return Default::default() };
    let (mut found, mut notes) = (Vec::new(), Vec::new());
    for path in paths {
        match one(&path) {
            Ok(answered) => found.extend(answered),
            Err(error) => notes.push(format!("left out {}: {error}", path.display())),
        }
    }
    (found, notes)
}

fn one(path: &Path) -> Result<Option<Answered>, record::RecordError> {
    let folder = RunFolder::open(path)?;
    if !folder.read_run()?.plan.claims.iter().any(|claim| claim.published.is_some()) {
        return Ok(None);
    }
    let (run, analysis) = record::analysed(&folder)?;
    Ok(Some(Answered {
        run: run.id.clone(),
        started: run.started_wall.clone(),
        whole: analysis.trials.len() >= run.plan.order.len(),
        cores: cores(&run),
        claims: analysis.claims,
        versions: run.versions,
        plan: run.plan,
    }))
}

/// The first number of the fact about cores, `2` or `2 usable of 4`.
fn cores(run: &RunFile) -> Option<u32> {
    let fact = run.environment.facts.iter().find(|fact| fact.id == "cpu.cores")?;
    let text = fact.value.as_ref()?.as_str();
    text.split(|c: char| !c.is_ascii_digit()).find(|part| !part.is_empty())?.parse().ok()
}
