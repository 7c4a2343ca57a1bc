//! What the index keeps of one run folder, read from its files.
//!
//! Invariants: no file longer than its limit is read; a folder that cannot be read is a card with the cause; a stamp
//! changes when any of the files does that the card rests on.

use crate::IndexError;
use record::RunFolder;
use record::live;
use schema::analysis::BeliefLevel;
use schema::lab::{HistoryValue, RunCard, RunState};
use schema::metric::{Metric, Unit};
use schema::plan::ExperimentPlan;
use schema::run::RunFile;
use schema::said;
use schema::said::Said;
use schema::version::AnalysisVersion;
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Largest `run.json` that is read.
const RUN_BYTES_MAX: u64 = 64 << 20;
/// Largest `analysis.json` that is read.
const ANALYSIS_BYTES_MAX: u64 = 512 << 20;

/// A run as the index keeps it.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Without labels.
    pub(crate) card: RunCard,
    /// Time of its begin since 1970; 0 where damaged.
    pub(crate) started_ns: i64,
    /// Centres of metrics by cell.
    pub(crate) values: Vec<HistoryValue>,
}

/// The folder of a run by its name, which must be one plain name of a folder in `runs`, and no link.
///
/// # Errors
/// There is no such folder.
pub fn run_folder(runs: &Path, id: &str) -> Result<PathBuf, IndexError> {
    let is_plain = !id.is_empty() && !id.starts_with('.') && !id.contains(['/', '\\', '\0']);
    let path = runs.join(if is_plain { id } else { "." });
    // Not followed: a link could lead out of the folder of runs.
    let is_folder = fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir());
    if is_plain && is_folder && path.join("run.json").is_file() {
        return Ok(path);
    }
    Err(IndexError::NoRun {
        name: id.to_owned(),
        runs: runs.to_owned(),
        remedy: "name a folder there that has a run.json and is no link; the list of runs has them"
            .to_owned(),
    })
}

/// The card of one run as it is now, without labels.
#[must_use]
pub fn card_of(path: &Path) -> RunCard {
    read(path).card
}

/// Folders under `runs` that may hold a run, by name; and how many were left out.
pub(crate) fn folders(runs: &Path) -> Result<(Vec<String>, usize), IndexError> {
    let entries = fs::read_dir(runs).map_err(IndexError::io("read", runs))?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut found: Vec<String> = names.filter(|name| run_folder(runs, name).is_ok()).collect();
    found.sort();
    let too_many = found.len().saturating_sub(crate::FOLDERS_MAX);
    // Names begin with the time: the oldest go.
    found.drain(..too_many);
    Ok((found, too_many))
}

/// Changes when a file does that the card rests on; `None` for a run whose process may be there, which is always read.
pub(crate) fn stamp(path: &Path) -> Option<String> {
    if path.join(live::FILE).exists() {
        return None;
    }
    let of = |path: PathBuf| {
        let found = fs::metadata(path).ok();
        let changed = found.as_ref().and_then(|found| found.modified().ok()?.duration_since(UNIX_EPOCH).ok());
        let length = found.filter(|found| found.is_file()).map_or(0, |found| found.len());
        format!("{}/{length}", changed.map_or(0, |at| at.as_nanos()))
    };
    let parts = [path.to_owned(), path.join("run.json"), path.join("analysis.json"), path.join("trials")];
    Some(parts.map(of).join(" "))
}

pub(crate) fn read(path: &Path) -> Entry {
    let id = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    match read_run(path) {
        Ok((folder, run, started_ns)) => entry(id, &folder, &run, started_ns),
        Err(cause) => Entry { card: damaged(id, cause), started_ns: 0, values: Vec::new() },
    }
}

fn read_run(path: &Path) -> Result<(RunFolder, RunFile, i64), Said> {
    let folder = RunFolder::open(path).map_err(|error| Said::from(error.to_string()))?;
    let length = fs::metadata(path.join("run.json")).map_or(0, |found| found.len());
    if length > RUN_BYTES_MAX {
        return Err(said!(
            "damaged.run_too_long",
            "run.json is {length} bytes long, {most} is the most",
            length,
            most = RUN_BYTES_MAX
        ));
    }
    let run = folder.read_run().map_err(|error| Said::from(error.to_string()))?;
    match run.started_wall.parse::<jiff::Timestamp>() {
        Ok(at) => Ok((folder, run, i64::try_from(at.as_nanosecond()).unwrap_or_default())),
        // In the words of `record::history`, which reads the same files.
        Err(_) => Err(said!(
            "damaged.no_time",
            "`{time}` is not a time: run.json is damaged",
            time = run.started_wall
        )),
    }
}

fn entry(id: String, folder: &RunFolder, run: &RunFile, started_ns: i64) -> Entry {
    let is_running = live::writer(folder.path()).is_some();
    let (done, unreadable) = trials(folder, run, is_running);
    let analysis = read_analysis(&folder.path().join("analysis.json"));
    let state = match (&unreadable, is_running) {
        (Some(_), _) => RunState::Damaged,
        (None, true) => RunState::Running,
        (None, false) if done as usize >= run.plan.order.len() => RunState::Done,
        (None, false) => RunState::Interrupted,
    };
    let told = analysis.as_ref().err().filter(|_| !is_running).cloned().flatten();
    let analysis = analysis.ok();
    let values = analysis.as_ref().map(|read| read.values(&id, &run.started_wall)).unwrap_or_default();
    let card = RunCard {
        id,
        name: run.plan.name.clone(),
        question: run.plan.question.clone(),
        answer: analysis.as_ref().map(|read| read.answer.clone()),
        belief: analysis.as_ref().map(|read| read.belief.level),
        started_wall: run.started_wall.clone(),
        state,
        cause: unreadable.or(told),
        trials_done: done,
        trials_planned: u32::try_from(run.plan.order.len()).unwrap_or(u32::MAX),
        targets: targets(&run.plan),
        tags: Vec::new(),
        note: String::new(),
    };
    Entry { card, started_ns, values }
}

/// Trials that ended, and why one of them cannot be read. Those of a run in progress are only counted.
fn trials(folder: &RunFolder, run: &RunFile, is_running: bool) -> (u32, Option<Said>) {
    let file = |id: u32| folder.path().join("trials").join(format!("{id:04}")).join("trial.json");
    let ended = run.plan.order.iter().filter(|planned| file(planned.id).is_file()).count();
    let unreadable = if is_running { None } else { folder.read_numbers(run).err() };
    (u32::try_from(ended).unwrap_or(u32::MAX), unreadable.map(|error| error.to_string().into()))
}

fn targets(plan: &ExperimentPlan) -> Vec<String> {
    plan.targets.iter().map(|target| target.name.clone()).collect()
}

fn damaged(id: String, cause: Said) -> RunCard {
    RunCard {
        id,
        name: String::new(),
        question: String::new(),
        answer: None,
        belief: None,
        started_wall: String::new(),
        state: RunState::Damaged,
        cause: Some(cause),
        trials_done: 0,
        trials_planned: 0,
        targets: Vec::new(),
        tags: Vec::new(),
        note: String::new(),
    }
}

/// What the index takes of `analysis.json`.
#[derive(Deserialize)]
struct Analysis {
    #[serde(rename = "schema")]
    _schema: AnalysisVersion,
    answer: Said,
    belief: BeliefHead,
    cells: Vec<CellHead>,
}

#[derive(Deserialize)]
struct BeliefHead {
    level: BeliefLevel,
}

#[derive(Deserialize)]
struct CellHead {
    label: String,
    metrics: Vec<MetricHead>,
}

#[derive(Deserialize)]
struct MetricHead {
    metric: Metric,
    unit: Unit,
    values: Vec<f64>,
    center: Option<f64>,
}

impl Analysis {
    fn values(&self, run: &str, started_wall: &str) -> Vec<HistoryValue> {
        let of_cell = |cell: &CellHead| {
            let label = cell.label.clone();
            let values = cell.metrics.iter().filter_map(move |found| {
                Some(HistoryValue {
                    run: run.to_owned(),
                    started_wall: started_wall.to_owned(),
                    cell: label.clone(),
                    metric: found.metric,
                    unit: found.unit,
                    value: found.center?,
                    trials: u32::try_from(found.values.len()).unwrap_or(u32::MAX),
                })
            });
            values.collect::<Vec<_>>()
        };
        self.cells.iter().flat_map(of_cell).collect()
    }
}

/// The analysis; `Err(None)` where there is none yet, else why it cannot be read.
fn read_analysis(path: &Path) -> Result<Analysis, Option<Said>> {
    let Ok(found) = fs::metadata(path) else { return Err(None) };
    let remedy = said!("damaged.report_again", "`prony report RUN` makes it again");
    if found.len() > ANALYSIS_BYTES_MAX {
        let length = found.len();
        return Err(Some(said!(
            "damaged.analysis_too_long",
            "analysis.json is {length} bytes long; {remedy}",
            length,
            remedy
        )));
    }
    let text = fs::read(path).map_err(|error| {
        let why = Said::from(error.to_string());
        Some(said!(
            "damaged.analysis_unreadable",
            "cannot read analysis.json: {why}; {remedy}",
            why,
            remedy = &remedy
        ))
    })?;
    serde_json::from_slice(&text).map_err(|error| {
        let why = Said::from(error.to_string());
        Some(said!("damaged.analysis", "analysis.json is damaged: {why}; {remedy}", why, remedy))
    })
}
