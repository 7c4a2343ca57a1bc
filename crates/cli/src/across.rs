//! `prony compare` and `prony history`: run folders of one experiment against each other and over time.

use crate::args::{CompareArgs, HistoryArgs, TextOrJson};
use crate::{exit, output, screen};
use analyze::{HistorySettings, Past};
use anyhow::{Result, bail};
use index::Index;
use record::RunFolder;
use record::history;
use schema::text::nearest;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

pub(crate) fn compare(args: &CompareArgs) -> Result<u8> {
    let read = |named: &Path| -> Result<Past> {
        let folder = RunFolder::open(&found(named, &args.runs)?)?;
        let run = folder.read_run()?;
        let trials = folder.read_numbers(&run)?;
        Ok(Past { run, trials })
    };
    let compared = analyze::compare(&read(&args.a)?, &read(&args.b)?, args.across_hosts)?;
    write(args.format, &compared, || report::compare_text(&compared, screen::style()))
}

/// The run folder that is named by its path, or else by its name or a part of it among the runs.
fn found(named: &Path, runs: &Path) -> Result<PathBuf> {
    match named.to_str().filter(|name| !named.exists() && !name.contains('/')) {
        Some(name) if runs.is_dir() => Ok(indexed(runs)?.resolve(name)?),
        _ => Ok(named.to_owned()),
    }
}

fn indexed(runs: &Path) -> Result<Index> {
    let mut index = Index::open(runs)?;
    index.refresh()?;
    Ok(index)
}

pub(crate) fn history(args: &HistoryArgs) -> Result<u8> {
    if !(args.significance.0 > 0.0 && args.significance.0 < 1.0) {
        bail!(
            "--significance {} is out of range\n  remedy: give a p above 0 and below 1",
            args.significance.0
        );
    }
    if !args.runs.is_dir() {
        bail!(
            "there is no folder {}\n  remedy: name the folder of the runs with --runs",
            args.runs.display()
        );
    }
    let index = indexed(&args.runs)?;
    let Some(name) = &args.experiment else { return list(&index) };
    let all = history::runs_in(index.folders_of(name)?, Some(name));
    all.notes.iter().for_each(|note| crate::output::say!("note: {note}"));
    if all.runs.is_empty() {
        bail!(unknown(name, &args.runs, &index)?);
    }
    let settings = HistorySettings {
        significance: args.significance.0,
        permutations: args.permutations,
        seed: args.seed,
    };
    let found = analyze::history(name, &all.runs, settings);
    write(args.format, &found, || report::history_text(&found, screen::style()))
}

fn write(format: TextOrJson, found: &impl Serialize, text: impl FnOnce() -> String) -> Result<u8> {
    let text = match format {
        TextOrJson::Json => schema::json::pretty(found)?,
        TextOrJson::Text => text(),
    };
    output::write(None, &text)?;
    Ok(exit::DONE)
}

/// The experiments with their numbers of runs.
fn list(index: &Index) -> Result<u8> {
    for (folder, cause) in index.damaged()? {
        crate::output::say!("note: left out {}: {cause}", folder.display());
    }
    let mut text = String::new();
    for known in index.experiments()? {
        let _ = writeln!(text, "{:>5} runs  {}", known.runs, known.name);
    }
    if text.is_empty() {
        bail!(
            "there are no runs\n  remedy: run an experiment first, or name the folder of its runs with --runs"
        );
    }
    output::write(None, &text)?;
    Ok(exit::DONE)
}

fn unknown(name: &str, folder: &Path, index: &Index) -> Result<String> {
    let known = index.experiments()?;
    let names = || known.iter().map(|known| known.name.as_str());
    let remedy = match nearest(name, names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "run it first, or name the folder of its runs with --runs".to_owned(),
        None => format!("name one of: {}", names().collect::<Vec<_>>().join(", ")),
    };
    Ok(format!("there is no run of {name} under {}\n  remedy: {remedy}", folder.display()))
}
