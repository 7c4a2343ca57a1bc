//! `prony replay`: the requests of access logs at their recorded times, as an open load of `prony load`.
//!
//! The times and the targets become files in a folder of their own, which is removed when the load has ended.

use crate::args::{Args, Command, LoadArgs, ReplayArgs};
use anyhow::{Context as _, Result, bail};
use clap::Parser as _;
use std::fs;
use std::path::Path;
use units::Seed;

/// Added to the time of the last request: its answer comes after it, and the samples are whole seconds.
const AFTER_LAST_S: f64 = 1.0;

pub(crate) fn replay(args: &ReplayArgs) -> Result<u8> {
    let folder = tempfile::tempdir().context("cannot make a folder for the times and targets of the log")?;
    let rows = folder.path().join("requests.csv");
    let replay = traffic::replay::prepare(&args.logs, args.format.wanted(), &rows, Seed(args.seed))?;
    for note in &replay.notes {
        crate::output::say!("note: {note}");
    }
    let times_ns: Vec<u64> = replay.times_ns.iter().map(|ns| (*ns as f64 / args.speed) as u64).collect();
    let Some(last_ns) = times_ns.last() else {
        bail!("the log has no request that can be sent again\n  remedy: replay a log with GET requests");
    };
    let times = folder.path().join("times.txt");
    fs::write(&times, traffic::write::times_text(&times_ns, 0))?;
    let scenario = folder.path().join("replay.toml");
    fs::write(&scenario, replay.scenario_text("replay", &rows.display().to_string()))?;
    let duration_s = (*last_ns as f64 / 1e9 + AFTER_LAST_S).ceil();
    crate::load::load(&load_args(args, &scenario, &times, duration_s)?)
}

/// The load as a user would type it.
fn load_args(args: &ReplayArgs, scenario: &Path, times: &Path, duration_s: f64) -> Result<LoadArgs> {
    let words = [
        "prony".to_owned(),
        "load".to_owned(),
        args.url.clone(),
        "--scenario".to_owned(),
        scenario.display().to_string(),
        "--arrivals".to_owned(),
        format!("recorded:{}", times.display()),
        "-d".to_owned(),
        format!("{duration_s}s"),
    ];
    match Args::try_parse_from(words.into_iter().chain(args.load.iter().cloned()))?.command {
        Command::Load(load) => Ok(*load),
        _ => unreachable!("the second word is `load`"),
    }
}
