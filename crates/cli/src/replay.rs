//! `prony replay`: the requests of access logs at their recorded times, as an open load of `prony load`.
//!
//! The times and the targets become files in a folder of their own, which is removed when the load has ended.

use crate::args::{Args, Command, LoadArgs, ReplayArgs};
use anyhow::{Context as _, Result, bail};
use clap::Parser as _;
use std::fs;
use std::path::Path;
use traffic::replay::{Wanted, prepare};
use units::Seed;

/// Shortest window of a load.
const WINDOW_NS_MIN: u64 = 1_000_000;

pub(crate) fn replay(args: &ReplayArgs) -> Result<u8> {
    let folder = tempfile::tempdir().context("cannot make a folder for the times and targets of the log")?;
    let rows = folder.path().join("requests.jsonl");
    let wanted = if args.writes { Wanted::All } else { Wanted::Reads };
    let replay = prepare(&args.logs, args.format.wanted(), &rows, Seed(args.seed), wanted)?;
    for note in &replay.notes {
        crate::output::say!("note: {note}");
    }
    let times_ns: Vec<u64> = replay.times_ns.iter().map(|ns| (*ns as f64 / args.speed) as u64).collect();
    let Some(last_ns) = times_ns.last() else {
        bail!(
            "the log has no request that can be sent again\n  remedy: replay a log with GET requests, or send its other methods, too (--writes)"
        );
    };
    let times = folder.path().join("times.txt");
    fs::write(&times, traffic::write::times_text(&times_ns, 0))?;
    let scenario = folder.path().join("replay.toml");
    fs::write(&scenario, replay.scenario_text("replay", &rows.display().to_string()))?;
    let window_ns = window_ns(*last_ns, times_ns.len());
    crate::load::load(&load_args(args, &scenario, &times, window_ns)?)
}

/// The window of a log: up to its last request, and the mean gap after it, so that its rate is that of its gaps.
fn window_ns(last_ns: u64, requests: usize) -> u64 {
    let gaps = requests.saturating_sub(1).max(1) as u64;
    last_ns.saturating_add(last_ns / gaps).max(last_ns.saturating_add(1)).max(WINDOW_NS_MIN)
}

/// The load as a user would type it.
fn load_args(args: &ReplayArgs, scenario: &Path, times: &Path, window_ns: u64) -> Result<LoadArgs> {
    let words = [
        "prony".to_owned(),
        "load".to_owned(),
        args.url.clone(),
        "--scenario".to_owned(),
        scenario.display().to_string(),
        "--arrivals".to_owned(),
        format!("recorded:{}", times.display()),
        "-d".to_owned(),
        format!("{window_ns}ns"),
    ];
    let fleet = args.fleet.iter().flat_map(|fleet| ["--fleet".to_owned(), fleet.clone()]);
    let words = words.into_iter().chain(fleet).chain(args.load.iter().cloned());
    match Args::try_parse_from(words)?.command {
        Command::Load(load) => Ok(*load),
        _ => unreachable!("the second word is `load`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_is_the_logs() {
        // 180 requests over 2.493 s are 71.8 gaps a second, and so many requests a second of the window.
        assert_eq!(window_ns(2_493_000_000, 180), 2_493_000_000 + 13_927_374);
        assert_eq!(window_ns(1_000_000_000, 2), 2_000_000_000);
        assert_eq!(window_ns(1, 50), WINDOW_NS_MIN);
    }
}
