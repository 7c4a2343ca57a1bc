//! Requests about experiments: the files of the lab's folder, their history, and starting one.
//!
//! Invariant: what is started is chosen by equality with the list that is read again from the folder; links are not
//! followed.

use crate::blocking::blocking;
use crate::downloads;
use crate::error::{ApiError, json};
use crate::lab::{Lab, Shared};
use analyze::HistorySettings;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use index::Query;
use record::history;
use schema::experiment::ExperimentFile;
use schema::lab::{Accepted, ExperimentCard, ExperimentList, RunCard, RunState};
use schema::said;
use schema::said::Said;
use schema::version::LabVersion;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path as FilePath, PathBuf};

const FILES_MAX: usize = 1_000;
const DEPTH_MAX: usize = 3;
const FILE_BYTES_MAX: u64 = 1 << 20;
/// As `prony history` has them without options.
const HISTORY: HistorySettings = HistorySettings { significance: 0.05, permutations: 999, seed: 1 };

pub(crate) async fn list(State(lab): State<Shared>) -> Result<Response, ApiError> {
    Ok(json(&blocking(move || experiments(&lab)).await?))
}

fn experiments(lab: &Lab) -> Result<ExperimentList, ApiError> {
    let known = lab.index()?.experiments()?;
    let runs: BTreeMap<&str, _> = known.iter().map(|found| (found.name.as_str(), found)).collect();
    let mut notes = Vec::new();
    let mut cards: Vec<ExperimentCard> = Vec::new();
    for file in files(lab, &mut notes) {
        let mut card = card(lab, &file);
        if let Some(found) = runs.get(card.name.as_str()) {
            card.runs = found.runs;
            card.last_run = Some(found.last.clone());
        }
        cards.push(card);
    }
    let have_files: BTreeSet<String> = cards.iter().map(|card| card.name.clone()).collect();
    for found in known.iter().filter(|found| !have_files.contains(&found.name)) {
        cards.push(ExperimentCard {
            file: None,
            name: found.name.clone(),
            question: String::new(),
            error: None,
            runs: found.runs,
            last_run: Some(found.last.clone()),
        });
    }
    let running = running(lab)?;
    let starts = lab.starts.cards(|launched_by| begun_by(lab, &running, launched_by));
    Ok(ExperimentList {
        schema: LabVersion::default(),
        experiments: cards,
        busy: busy(lab, &running),
        starts,
        notes,
    })
}

fn running(lab: &Lab) -> Result<Vec<RunCard>, ApiError> {
    let query = Query { state: Some(RunState::Running), limit: 50, ..Query::default() };
    Ok(lab.index()?.search(&query)?.0)
}

/// The run that a start made, while it is in progress.
fn begun_by(lab: &Lab, running: &[RunCard], launched_by: &str) -> Option<String> {
    let by = |card: &&RunCard| record::live::writer(&lab.runs.join(&card.id))?.launched_by;
    running.iter().find(|card| by(card).as_deref() == Some(launched_by)).map(|card| card.id.clone())
}

/// Two loads on one host spoil each other.
fn busy(lab: &Lab, running: &[RunCard]) -> Option<Said> {
    if let Some(run) = running.first() {
        return Some(said!(
            "lab.in_progress",
            "{run} is in progress, and a second load on this host would spoil both",
            run = &run.id
        ));
    }
    let file = lab.starts.running()?;
    Some(said!(
        "lab.started_in_progress",
        "{file} was started and is in progress, and a second load on this host would spoil both",
        file
    ))
}

/// Experiment files by name within the lab's folder.
fn files(lab: &Lab, notes: &mut Vec<Said>) -> Vec<String> {
    let Some(folder) = &lab.experiments else { return Vec::new() };
    let mut found = Vec::new();
    let mut folders = vec![(folder.clone(), 0)];
    while let Some((path, depth)) = folders.pop() {
        let Ok(entries) = fs::read_dir(&path) else {
            notes.push(said!("lab.unreadable", "{path} cannot be read", path = path.display().to_string()));
            continue;
        };
        for entry in entries.flatten() {
            let (path, kind) = (entry.path(), entry.file_type().ok());
            let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
            if kind.is_some_and(|kind| kind.is_dir()) && depth < DEPTH_MAX && !is_hidden {
                folders.push((path, depth + 1));
            } else if kind.is_some_and(|kind| kind.is_file())
                && path.extension().is_some_and(|end| end == "toml")
            {
                found.extend(path.strip_prefix(folder).ok().and_then(FilePath::to_str).map(str::to_owned));
            }
        }
    }
    found.sort_by_key(|name| (name.matches('/').count(), name.clone()));
    if found.len() > FILES_MAX {
        notes.push(said!(
            "lab.files_shown",
            "only {shown} of {files} experiment files are shown",
            shown = FILES_MAX,
            files = found.len()
        ));
        found.truncate(FILES_MAX);
    }
    found
}

fn card(lab: &Lab, file: &str) -> ExperimentCard {
    let folder = lab.experiments.clone().unwrap_or_default();
    let read = read(&folder.join(file), file);
    let (name, question) = read.as_ref().cloned().unwrap_or_default();
    ExperimentCard { file: Some(file.to_owned()), name, question, error: read.err(), runs: 0, last_run: None }
}

/// Name and question of an experiment file.
fn read(path: &FilePath, name: &str) -> Result<(String, String), Said> {
    let length = fs::metadata(path).map_err(|error| Said::from(error.to_string()))?.len();
    if length > FILE_BYTES_MAX {
        return Err(said!(
            "lab.file_too_long",
            "it is {length} bytes long, {most} is the most",
            length,
            most = FILE_BYTES_MAX
        ));
    }
    let text = fs::read_to_string(path).map_err(|error| Said::from(error.to_string()))?;
    let file = ExperimentFile::from_toml(name, &text).map_err(|error| Said::from(error.to_string()))?;
    Ok((file.experiment.name, file.experiment.question.unwrap_or_default()))
}

pub(crate) async fn start(State(lab): State<Shared>, Path(file): Path<String>) -> Result<Response, ApiError> {
    let started = blocking(move || {
        let path = listed(&lab, &file)?;
        let _one_at_a_time = lab.starting.lock();
        lab.outdate();
        if let Some(cause) = busy(&lab, &running(&lab)?) {
            return Err(ApiError::new(
                StatusCode::CONFLICT,
                cause,
                said!("lab.wait_or_stop", "wait for its end, or stop it"),
            ));
        }
        let card = lab.starts.start(&path, &file).map_err(|error| {
            ApiError::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                said!(
                    "lab.cannot_start",
                    "{file} cannot be started: {why}",
                    file = &file,
                    why = Said::from(error.to_string())
                ),
                said!(
                    "lab.see_binary",
                    "see that prony's binary is still there and the folder of runs can be written"
                ),
            )
        })?;
        lab.outdate();
        Ok(card)
    });
    let card = started.await?;
    let text =
        said!("lab.started", "{file} was started; it goes on when prony serve ends", file = &card.file);
    let accepted = Accepted { schema: LabVersion::default(), text, start: Some(card.id) };
    Ok((StatusCode::ACCEPTED, json(&accepted)).into_response())
}

/// The path of a file, if it is one of those that are listed and can be read.
fn listed(lab: &Lab, file: &str) -> Result<PathBuf, ApiError> {
    let is_listed = files(lab, &mut Vec::new()).iter().any(|known| known == file);
    let folder = lab.experiments.as_ref().filter(|_| is_listed);
    let folder = folder.ok_or_else(|| {
        ApiError::not_found(said!("lab.no_experiment", "such experiment file in the lab's folder"))
    })?;
    match card(lab, file).error {
        Some(error) => Err(ApiError::told(StatusCode::UNPROCESSABLE_ENTITY, error)),
        None => Ok(folder.join(file)),
    }
}

pub(crate) async fn history(
    State(lab): State<Shared>,
    Path(name): Path<String>,
) -> Result<Response, ApiError> {
    let history = blocking(move || {
        let folders = lab.index()?.folders_of(&name)?;
        let found = history::runs_in(folders, Some(&name));
        if found.runs.is_empty() {
            return Err(ApiError::new(
                StatusCode::NOT_FOUND,
                said!("lab.no_run_of", "there is no run of {name}", name = &name),
                said!("lab.run_first", "run it first; GET /api/experiments lists what has runs"),
            ));
        }
        Ok(analyze::history(&name, &found.runs, HISTORY))
    });
    Ok(json(&history.await?))
}

pub(crate) async fn values(
    State(lab): State<Shared>,
    Path(name): Path<String>,
) -> Result<Response, ApiError> {
    let values = blocking(move || Ok(lab.index()?.history_values(&name)?));
    Ok(json(&values.await?))
}

pub(crate) async fn log(State(lab): State<Shared>, Path(id): Path<String>) -> Result<Response, ApiError> {
    let path = lab.starts.log(&id).ok_or_else(|| ApiError::not_found(said!("lab.no_start", "such start")))?;
    downloads::log(path, "prony-run.log").await
}
