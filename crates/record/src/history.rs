//! Run folders of an experiment, in the order in which they were begun.
//!
//! Invariants: a folder that cannot be read is reported and left out; no more folders are looked at than a person could
//! have made. Absent on purpose: intervals and histograms, which nothing across runs needs.

use crate::RecordError;
use crate::folder::RunFolder;
use analyze::Past;
use jiff::Timestamp;
use schema::run::RunFile;
use std::path::{Path, PathBuf};

/// Most folders that are looked at.
const FOLDERS_MAX: usize = 100_000;
/// Most runs that are read whole; the newest count.
pub const RUNS_MAX: usize = 1_000;

/// The runs that were found.
#[derive(Debug, Default)]
pub struct Found {
    /// Oldest first.
    pub runs: Vec<Past>,
    /// Folders that were left out, and why.
    pub notes: Vec<String>,
}

/// The runs of an experiment under a folder; those of all experiments where no name is given.
///
/// # Errors
/// The folder cannot be read.
pub fn runs(folder: &Path, experiment: Option<&str>) -> Result<Found, RecordError> {
    Ok(runs_in(folders(folder)?, experiment))
}

/// The same of folders that are known already, such as those of an index.
#[must_use]
pub fn runs_in(folders: Vec<PathBuf>, experiment: Option<&str>) -> Found {
    let mut found = Found::default();
    let mut heads: Vec<(Timestamp, RunFolder, RunFile)> = Vec::new();
    for path in folders {
        match head(&path) {
            Ok((_, _, run)) if experiment.is_some_and(|name| run.plan.name != name) => {}
            Ok(head) => heads.push(head),
            Err(reason) => found.notes.push(format!("left out {}: {reason}", path.display())),
        }
    }
    heads.sort_by(|a, b| (a.0, &a.2.id).cmp(&(b.0, &b.2.id)));
    let too_many = heads.len().saturating_sub(RUNS_MAX);
    if too_many > 0 {
        found.notes.push(format!("left out the oldest {too_many} of {} runs", heads.len()));
    }
    for (_, folder, run) in heads.into_iter().skip(too_many) {
        match folder.read_numbers(&run) {
            Ok(trials) => found.runs.push(Past { run, trials }),
            Err(error) => found.notes.push(format!("left out {}: {error}", folder.path().display())),
        }
    }
    found
}

/// Folders that may hold a run, by name.
///
/// # Errors
/// The folder cannot be read.
pub fn folders(folder: &Path) -> Result<Vec<PathBuf>, RecordError> {
    let entries = std::fs::read_dir(folder).map_err(RecordError::io("read", folder))?;
    let mut paths: Vec<PathBuf> =
        entries.take(FOLDERS_MAX).filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.join("run.json").is_file());
    paths.sort();
    Ok(paths)
}

/// When a run was begun, with its folder and file; else why it cannot be read.
fn head(path: &Path) -> Result<(Timestamp, RunFolder, RunFile), String> {
    let folder = RunFolder::open(path).map_err(|error| error.to_string())?;
    let run = folder.read_run().map_err(|error| error.to_string())?;
    match run.started_wall.parse() {
        Ok(started) => Ok((started, folder, run)),
        Err(_) => Err(format!("`{}` is not a time: run.json is damaged", run.started_wall)),
    }
}

/// What a trial took with its start and stop: the median, over runs, of the time from one trial's load to the next's.
/// `None` with fewer than two trials in a row.
#[must_use]
pub fn trial_ns(runs: &[Past]) -> Option<u64> {
    let mut gaps: Vec<u64> = Vec::new();
    for past in runs {
        let origins: Vec<(u32, Timestamp)> = past
            .trials
            .iter()
            .filter_map(|trial| Some((trial.file.id, trial.file.origin_wall.parse().ok()?)))
            .collect();
        for pair in origins.windows(2).filter(|pair| pair[1].0 == pair[0].0 + 1) {
            let gap = pair[1].1.as_nanosecond() - pair[0].1.as_nanosecond();
            gaps.extend(u64::try_from(gap).ok().filter(|gap| *gap > 0));
        }
    }
    gaps.sort_unstable();
    gaps.get(gaps.len().saturating_sub(1) / 2).copied()
}

/// What a run took besides its trials: the median, over runs, of the time from its beginning to its first trial's start.
/// Builds, checks and the look at the host are in it. `None` where no run has its first trial.
#[must_use]
pub fn run_ns(runs: &[Past]) -> Option<u64> {
    let of = |past: &Past| -> Option<u64> {
        let began: Timestamp = past.run.started_wall.parse().ok()?;
        let first = past.trials.iter().find(|trial| trial.file.id == 1)?;
        let origin: Timestamp = first.file.origin_wall.parse().ok()?;
        let before = u64::try_from(origin.as_nanosecond() - began.as_nanosecond()).ok()?;
        // Its own start is a trial's.
        Some(before.saturating_sub(first.file.ready_ns.unwrap_or_default()))
    };
    let mut all: Vec<u64> = runs.iter().filter_map(of).collect();
    all.sort_unstable();
    all.get(all.len().saturating_sub(1) / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_that_cannot_be_read_are_told_and_others_are_no_runs() {
        let parent = tempfile::tempdir().unwrap();
        std::fs::create_dir(parent.path().join("notes")).unwrap();
        std::fs::write(parent.path().join("file"), "x").unwrap();
        let bad = parent.path().join("2026-x");
        std::fs::create_dir(&bad).unwrap();
        std::fs::write(bad.join("run.json"), "{\"schema\":\"prony.run/9\"}").unwrap();
        let found = runs(parent.path(), None).unwrap();
        assert!(found.runs.is_empty() && found.notes.len() == 1, "{found:?}");
        assert!(found.notes[0].contains("2026-x") && found.notes[0].contains("another version"), "{found:?}");
        assert!(runs(&parent.path().join("none"), None).unwrap_err().to_string().contains("cannot read"));
        assert_eq!(trial_ns(&[]), None);
    }
}
