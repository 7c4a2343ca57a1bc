//! `prony compare` and `prony history`: run folders of one experiment against each other and over time.

use crate::args::{CompareArgs, HistoryArgs, TextOrJson};
use crate::{exit, output, screen};
use analyze::{HistorySettings, Past};
use anyhow::{Result, bail};
use runner::folder::RunFolder;
use runner::past;
use schema::text::nearest;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

pub(crate) fn compare(args: &CompareArgs) -> Result<u8> {
    let read = |path: &Path| -> Result<Past> {
        let folder = RunFolder::open(path)?;
        let run = folder.read_run()?;
        let trials = folder.read_numbers(&run)?;
        Ok(Past { run, trials })
    };
    let found = analyze::compare(&read(&args.a)?, &read(&args.b)?, args.across_hosts)?;
    write(args.format, &found, || report::compare_text(&found, screen::style()))
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
    let all = past::runs(&args.runs, args.experiment.as_deref())?;
    all.notes.iter().for_each(|note| eprintln!("note: {note}"));
    let Some(name) = &args.experiment else { return list(&all.runs) };
    if all.runs.is_empty() {
        bail!(unknown(name, &args.runs)?);
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
        TextOrJson::Json => serde_json::to_string_pretty(found)? + "\n",
        TextOrJson::Text => text(),
    };
    output::write(None, &text)?;
    Ok(exit::DONE)
}

/// The experiments with their numbers of runs.
fn list(runs: &[Past]) -> Result<u8> {
    let mut text = String::new();
    for (name, count) in counted(runs) {
        let _ = writeln!(text, "{count:>5} runs  {name}");
    }
    if text.is_empty() {
        bail!(
            "there are no runs\n  remedy: run an experiment first, or name the folder of its runs with --runs"
        );
    }
    output::write(None, &text)?;
    Ok(exit::DONE)
}

fn counted(runs: &[Past]) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    runs.iter().for_each(|past| *counts.entry(past.run.plan.name.as_str()).or_default() += 1);
    counts
}

fn unknown(name: &str, folder: &Path) -> Result<String> {
    let all = past::runs(folder, None)?;
    let names = counted(&all.runs);
    let remedy = match nearest(name, names.keys().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if names.is_empty() => "run it first, or name the folder of its runs with --runs".to_owned(),
        None => format!("name one of: {}", names.into_keys().collect::<Vec<_>>().join(", ")),
    };
    Ok(format!("there is no run of {name} under {}\n  remedy: {remedy}", folder.display()))
}
